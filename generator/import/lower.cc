#include "import/lower.h"

#include <algorithm>
#include <numeric>

namespace morello::hlo {

bool Lowering::numbers(const Instruction& in, std::string_view name, size_t count, i64 otherwise,
                       Numbers& out, i64 least) {
  const auto given = in.numbers.find(name);
  out = given == in.numbers.end() ? Numbers{} : given->second;
  if (out.empty()) out.assign(count, otherwise);
  if (out.size() == 1) out.assign(count, out[0]);
  if (out.size() != count)
    return fail(in.at, fmt::format("{} of {} has {} numbers here, not {}", name, in.op->name, count,
                                   out.size()));
  constexpr i64 kMost = 2147483647;
  for (const i64 n : out)
    if (n < least || n > kMost)
      return fail(in.at, fmt::format("{} of {} cannot be {}; allowed: {} to {}", name, in.op->name,
                                     n, least, kMost));
  return true;
}

// Different axes of a tensor of this rank.
bool Lowering::axes(const Instruction& in, std::string_view name, size_t rank,
                    std::vector<int>& out) {
  const auto given = in.numbers.find(name);
  if (given == in.numbers.end()) return true;
  for (const i64 axis : given->second) {
    if (axis < 0 || axis >= static_cast<i64>(rank))
      return fail(in.at, fmt::format("{} of {} names axis {}, and there are {}", name, in.op->name,
                                     axis, rank));
    if (std::count(out.begin(), out.end(), static_cast<int>(axis)) > 0)
      return fail(in.at, fmt::format("{} of {} names axis {} twice", name, in.op->name, axis));
    out.push_back(static_cast<int>(axis));
  }
  return true;
}

bool Lowering::has_shape(const Instruction& in, const std::vector<i64>& expected) {
  if (in.type.shape == expected) return true;
  return fail(in.at, fmt::format("the result of {} has the shape [{}], not [{}]", in.op->name,
                                 fmt::join(expected, ","), fmt::join(in.type.shape, ",")));
}

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
      return broadcast(in, out);
    case Kind::kReshape:
      return reshape(in, out);
    case Kind::kTranspose:
      return transpose(in, out);
    case Kind::kSame:
      out = value(in, 0);
      return has_shape(in, operand(in, 0).shape);
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
