// Operators that only say how a tensor is read, and the orders in which parameters have their axes.

#include <algorithm>

#include "import/lower.h"

namespace morello::hlo {

bool Lowering::parameter(const Instruction& in, Value& out) {
  Node p{.kind = Expr::Kind::kParam, .at = in.at, .shape = in.type.shape};
  const std::vector<int>& order = wanted_[values_.size()];
  const auto said = [&](size_t axis) {
    return in.type.shape[axis] == 1 ||
           std::count(order.begin(), order.end(), static_cast<int>(axis)) > 0;
  };
  bool all = !order.empty();
  for (size_t i = 0; i < in.type.shape.size() && all; ++i) all = said(i);
  if (all) p.order = order;
  out.node = nodes_.add(std::move(p));
  for (size_t i = 0; i < in.type.shape.size(); ++i) out.axes.push_back(static_cast<int>(i));
  return true;
}

void Lowering::broadcast(const Instruction& in, Value& out) const {
  const std::vector<int> dims = axes_of(in, "dimensions");
  out = {value(in, 0).node, std::vector<int>(in.type.shape.size(), -1)};
  for (size_t i = 0; i < dims.size(); ++i)
    if (operand(in, 0).shape[i] == in.type.shape[dims[i]]) out.axes[dims[i]] = value(in, 0).axes[i];
}

void Lowering::transpose(const Instruction& in, Value& out) const {
  out.node = value(in, 0).node;
  for (const int axis : axes_of(in, "dimensions")) out.axes.push_back(value(in, 0).axes[axis]);
}

// For every axis of the result the operand's, -1 for one that is new. Only dimensions of 1 come and
// go (reshapes.h).
static std::vector<int> reshaped(const std::vector<i64>& from, const std::vector<i64>& to) {
  std::vector<int> axes;
  size_t i = 0;
  for (const i64 extent : to) {
    while (extent > 1 && from[i] == 1) ++i;
    const bool is_new = extent == 1 && (i == from.size() || from[i] != 1);
    axes.push_back(is_new ? -1 : static_cast<int>(i++));
  }
  return axes;
}

void Lowering::reshape(const Instruction& in, Value& out) const {
  out.node = value(in, 0).node;
  for (const int axis : reshaped(operand(in, 0).shape, in.type.shape))
    out.axes.push_back(axis < 0 ? -1 : value(in, 0).axes[axis]);
}

// From the sums back to the parameters: the order of axes in which they are read. The first sum
// that reads a tensor decides.
void Lowering::choose_orders() {
  wanted_.assign(in_.size(), {});
  for (size_t i = in_.size(); i-- > 0;) {
    const Instruction& in = in_[i];
    if (in.op->kind == Kind::kDot)
      product_orders(static_cast<int>(i));
    else if (in.op->kind == Kind::kConvolution)
      window_orders(in);
    else if (!wanted_[i].empty())
      pass_on(in, wanted_[i]);
  }
}

void Lowering::want(int instruction, std::vector<int> order, bool by_sum) {
  if (by_sum || wanted_[instruction].empty()) wanted_[instruction] = std::move(order);
}

void Lowering::pass_on(const Instruction& in, const std::vector<int>& order) {
  const std::vector<int> dims = axes_of(in, "dimensions");
  const auto mapped = [&](auto to) {  // by axes of the result the operand's, or -1
    std::vector<int> out;
    for (const int axis : order)
      if (const int from = to(axis); from >= 0) out.push_back(from);
    return out;
  };
  const auto keep = [&](std::vector<int> to) { want(in.args[0], std::move(to), false); };
  switch (in.op->kind) {
    case Kind::kElements:
    case Kind::kCompare:
      for (const int arg : in.args)
        if (type(arg).shape == in.type.shape) want(arg, order, false);
      return;
    case Kind::kSame:
    case Kind::kConvert:
    case Kind::kRound:
    case Kind::kPad:
      return keep(order);
    case Kind::kTranspose:
      return keep(mapped([&](int axis) { return dims[axis]; }));
    case Kind::kBroadcast:
      return keep(mapped([&](int axis) {
        const auto at = std::find(dims.begin(), dims.end(), axis);
        const auto i = at - dims.begin();
        const std::vector<i64>& from = operand(in, 0).shape;
        const bool same = at != dims.end() && from[i] > 1 && from[i] == in.type.shape[axis];
        return same ? static_cast<int>(i) : -1;
      }));
    case Kind::kReshape:
      return keep(mapped(
          [from = reshaped(operand(in, 0).shape, in.type.shape)](int axis) { return from[axis]; }));
    default:
      return;
  }
}

}  // namespace morello::hlo
