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

bool Lowering::broadcast(const Instruction& in, Value& out) {
  const TensorType& from = operand(in, 0);
  std::vector<int> dims;
  if (!axes(in, "dimensions", in.type.shape.size(), dims)) return false;
  if (dims.size() != from.shape.size())
    return fail(in.at, fmt::format("{} says where {} axes go, and its operand {} has {}",
                                   in.op->name, dims.size(), str(from), from.shape.size()));
  out = {value(in, 0).node, std::vector<int>(in.type.shape.size(), -1)};
  for (size_t i = 0; i < dims.size(); ++i) {
    const i64 extent = in.type.shape[dims[i]];
    if (from.shape[i] != 1 && from.shape[i] != extent)
      return fail(in.at, fmt::format("axis {} of {} cannot become one of {} elements", i, str(from),
                                     extent));
    if (from.shape[i] == extent) out.axes[dims[i]] = value(in, 0).axes[i];
  }
  return true;
}

bool Lowering::transpose(const Instruction& in, Value& out) {
  const TensorType& from = operand(in, 0);
  std::vector<int> dims;
  if (!axes(in, "dimensions", from.shape.size(), dims)) return false;
  if (dims.size() != from.shape.size())
    return fail(in.at, fmt::format("transpose names each axis of {} once", str(from)));
  std::vector<i64> shape;
  out.node = value(in, 0).node;
  for (const int axis : dims) {
    shape.push_back(from.shape[axis]);
    out.axes.push_back(value(in, 0).axes[axis]);
  }
  return has_shape(in, shape);
}

// For every axis of the result the operand's, -1 for one that is new; nothing where more than
// dimensions of 1 come and go.
static std::optional<std::vector<int>> reshaped(const std::vector<i64>& from,
                                                const std::vector<i64>& to) {
  std::vector<int> axes;
  size_t i = 0;
  for (const i64 extent : to) {
    if (extent == 1) {
      axes.push_back(i < from.size() && from[i] == 1 ? static_cast<int>(i++) : -1);
      continue;
    }
    while (i < from.size() && from[i] == 1) ++i;
    if (i == from.size() || from[i] != extent) return std::nullopt;
    axes.push_back(static_cast<int>(i++));
  }
  while (i < from.size() && from[i] == 1) ++i;
  if (i < from.size()) return std::nullopt;
  return axes;
}

bool Lowering::reshape(const Instruction& in, Value& out) {
  const auto from = reshaped(operand(in, 0).shape, in.type.shape);
  if (!from)
    return fail(in.at, fmt::format("a reshape of {} to {} is not supported; allowed: those that "
                                   "insert or drop dimensions of 1. Reshape arguments and results "
                                   "outside of the function",
                                   str(operand(in, 0)), str(in.type)));
  out.node = value(in, 0).node;
  for (const int axis : *from) out.axes.push_back(axis < 0 ? -1 : value(in, 0).axes[axis]);
  return true;
}

// From the sums back to the parameters: the order of axes in which they are read. The first sum
// that reads a tensor decides.
void Lowering::choose_orders() {
  wanted_.assign(in_.size(), {});
  for (size_t i = in_.size(); i-- > 0;) {
    const Instruction& in = in_[i];
    if (in.op->kind == Kind::kDot)
      product_orders(in);
    else if (in.op->kind == Kind::kConvolution)
      window_orders(in);
    else if (!wanted_[i].empty())
      pass_on(in, wanted_[i]);
  }
}

void Lowering::want(int instruction, std::vector<int> order, bool by_sum) {
  if (!by_sum && !wanted_[instruction].empty()) return;
  const size_t rank = type(instruction).shape.size();
  for (const int axis : order)
    if (axis < 0 || axis >= static_cast<int>(rank)) return;  // an error that is found later
  wanted_[instruction] = std::move(order);
}

void Lowering::pass_on(const Instruction& in, const std::vector<int>& order) {
  const auto dimensions = in.numbers.find("dimensions");
  const Numbers dims = dimensions == in.numbers.end() ? Numbers{} : dimensions->second;
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
      return keep(mapped([&](int axis) {
        return axis < static_cast<int>(dims.size()) ? static_cast<int>(dims[axis]) : -1;
      }));
    case Kind::kBroadcast:
      return keep(mapped([&](int axis) {
        const auto at = std::find(dims.begin(), dims.end(), axis);
        const auto i = at - dims.begin();
        const std::vector<i64>& from = operand(in, 0).shape;
        const bool same = at != dims.end() && i < static_cast<std::ptrdiff_t>(from.size()) &&
                          from[i] > 1 && from[i] == in.type.shape[axis];
        return same ? static_cast<int>(i) : -1;
      }));
    case Kind::kReshape:
      if (const auto from = reshaped(operand(in, 0).shape, in.type.shape))
        keep(mapped([&](int axis) { return (*from)[axis]; }));
      return;
    default:
      return;
  }
}

}  // namespace morello::hlo
