#include "import/lower.h"

#include <algorithm>
#include <numeric>

namespace morello::hlo {

bool Lowering::instruction(const Instruction& in, Value& out) {
  switch (in.op->kind) {
    case Kind::kElements:
      return elements(in, in.op->text, out);
    case Kind::kCompare:
      return comparison(in, out);
    case Kind::kParameter:
      return parameter(in, out);
    case Kind::kConstant:
      out = {nodes_.number(in.at, in.constant), std::vector<int>(in.type.shape.size(), -1)};
      return true;
    case Kind::kBroadcast:
      return broadcast(in, out), true;
    case Kind::kReshape:
      return reshape(in, out), true;
    case Kind::kTranspose:
      return transpose(in, out), true;
    case Kind::kSame:
      return out = value(in, 0), true;
    case Kind::kConvert:
      return conversion(in, out);
    case Kind::kRound:
      return rounding(in, out);
    case Kind::kReduce:
      return reduce(in, out);
    case Kind::kDot:
      return dot(in, out);
    case Kind::kConvolution:
      return convolution(in, out);
    case Kind::kPad:
      return pad(in, out);
    case Kind::kCall:
    case Kind::kTuple:
    case Kind::kNone:
      break;
  }
  MORELLO_CHECK(false, "{} is not lowered", in.op->name);
}

Result<KernelSpec> Lowering::run(const Token& name) {
  choose_orders();
  for (const Instruction& in : in_) {
    Value made;
    if (!instruction(in, made)) return error_;
    if (nodes_[made.node].name.text.empty() || in.op->kind == Kind::kParameter)
      nodes_[made.node].name = in.name;
    values_.push_back(std::move(made));
  }
  std::vector<Root> roots;
  for (const int r : results_)
    if (!root(r, roots.emplace_back())) return error_;
  return write(nodes_, in_, roots, name, source_);
}

bool Lowering::root(int instruction, Root& out) {
  const TensorType& made = type(instruction);
  if (made.pred) return fail(made.at, "the result cannot be pred: convert it to a number");
  nodes_.decide(values_[instruction].node);
  std::vector<int> ids(made.shape.size());
  std::iota(ids.begin(), ids.end(), 0);
  const Placed placed = nodes_.place(values_[instruction], ids);
  out.made = &in_[instruction];
  out.order = placed.ids;
  for (const int id : ids)  // those along which it is the same
    if (!placed.has(id) && made.shape[id] > 1)
      out.order.insert(
          std::find_if(out.order.begin(), out.order.end(), [&](int other) { return other > id; }),
          id);
  return nodes_.fit(made.at, placed, out.order, true, out.node) || fail_in_nodes();
}

}  // namespace morello::hlo
