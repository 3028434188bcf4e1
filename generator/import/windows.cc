// convolution and pad. The language's conv2d has its axes in the order of NHWC and HWIO and keeps
// the window inside: other orders are layouts of parameters, and zeros around are pads.

#include <algorithm>

#include "import/lower.h"

namespace morello::hlo {

void Lowering::window_orders(const Instruction& in) {
  const Window w = window_of(in);
  for (size_t side = 0; side < 2; ++side) {
    std::vector<int> order(4);
    for (size_t i = 0; i < 4; ++i) order[w.axes[side][i]] = static_cast<int>(i);
    want(in.args[side], std::move(order), true);
  }
}

int Lowering::padded(const Token& at, int node, i64 axis, i64 low, i64 high) {
  if (low == 0 && high == 0) return node;
  std::vector<i64> shape = nodes_.shape_of(node);
  shape[static_cast<size_t>(axis)] += low + high;
  const int made = nodes_.along(at, "pad", node, axis, std::move(shape));
  std::vector<AttributeSyntax>& attributes = nodes_[made].attributes;
  attributes.push_back({{Token::Kind::kName, "low", at.offset}, low, {}});
  attributes.push_back({{Token::Kind::kName, "high", at.offset}, high, {}});
  return made;
}

bool Lowering::convolution(const Instruction& in, Value& out) {
  if (!dot_types(in)) return false;
  const Window w = window_of(in);
  std::vector<int> args;
  for (size_t side = 0; side < 2; ++side) {
    nodes_.decide(value(in, side).node);
    const Placed p = nodes_.place(value(in, side), w.axes[side]);
    if (p.ids != std::vector<int>{0, 1, 2, 3})
      return fail(in.at, fmt::format("operand {} of this convolution is computed with its axes in "
                                     "another order than {}: give the arguments of the function "
                                     "that order, or another layout",
                                     side, side == 0 ? "b01f" : "01io"));
    args.push_back(p.node);
  }
  for (size_t i = 0; i < 2; ++i)
    args[0] = padded(in.at, args[0], static_cast<i64>(i) + 1, w.pad[2 * i], w.pad[2 * i + 1]);
  for (size_t side = 0; side < 2; ++side) store_operand(in.args[side], args[side]);
  Joint joint{.ids = {0, 1, 2, 3}, .extents = std::vector<i64>(4)};
  for (size_t i = 0; i < 4; ++i) joint.extents[w.axes[2][i]] = in.type.shape[i];
  out.node = nodes_.call(in.at, "conv2d", args, joint.extents);
  std::vector<AttributeSyntax>& attributes = nodes_[out.node].attributes;
  const auto attribute = [&](std::string_view both, std::string_view h, std::string_view v,
                             const Numbers& n) {
    if (n[0] == 1 && n.back() == 1) return;
    if (n[0] == n.back())
      return attributes.push_back({{Token::Kind::kName, both, in.at.offset}, n[0], {}});
    attributes.push_back({{Token::Kind::kName, h, in.at.offset}, n[0], {}});
    attributes.push_back({{Token::Kind::kName, v, in.at.offset}, n[1], {}});
  };
  attribute("stride", "stride_h", "stride_w", w.stride);
  attribute("dilation", "dilation_h", "dilation_w", w.dilation);
  attribute("groups", {}, {}, w.groups);
  out.axes = w.axes[2];
  return true;
}

bool Lowering::pad(const Instruction& in, Value& out) {
  const TensorType& from = operand(in, 0);
  const size_t rank = from.shape.size();
  const Numbers low = numbers_of(in, "low", rank, 0), high = numbers_of(in, "high", rank, 0);
  const Node& zero = nodes_[value(in, 1).node];
  if (zero.kind != Expr::Kind::kNumber || zero.number != 0)
    return fail(in.at, "pad is supported with the constant 0");
  out = value(in, 0);
  if (in.type.shape == from.shape) return true;
  nodes_.decide(out.node);
  for (int& axis : out.axes) axis = nodes_.position(out.node, axis);
  for (size_t h = 0; h < rank; ++h) {
    if (low[h] + high[h] == 0) continue;
    if (out.axes[h] < 0)
      return fail(in.at,
                  fmt::format("axis {} of {} is only a repetition here, and cannot be padded", h,
                              str(from)));
    out.node = padded(in.at, out.node, out.axes[h], low[h], high[h]);
  }
  return true;
}

}  // namespace morello::hlo
