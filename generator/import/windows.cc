// convolution and pad. The language's conv2d has its axes in the order of NHWC and HWIO and keeps
// the window inside: other orders are layouts of parameters, and zeros around are pads.

#include <algorithm>
#include <array>

#include "import/lower.h"

namespace morello::hlo {

struct Lowering::Window {
  // By axis of the operands and the result: its number in NHWC or HWIO.
  std::array<std::vector<int>, 3> axes;
  Numbers stride, pad, dilation, groups;
};

// `b01f_01io->b01f` and `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: three times four letters.
static bool read_labels(std::string_view text, std::array<std::vector<int>, 3>& axes) {
  static constexpr std::string_view kOrders[] = {"b01f", "01io", "b01f"};
  if (const size_t open = text.find('<'); open != std::string_view::npos) {
    if (!text.ends_with(">") || text.find("raw") != std::string_view::npos) return false;
    text = text.substr(open + 1, text.size() - open - 2);
  }
  std::string letters;
  for (const char c : text)
    if (std::string_view("[], _x->\n\t").find(c) == std::string_view::npos) letters += c;
  if (letters.size() != 12) return false;
  for (size_t part = 0; part < 3; ++part)
    for (const char c : letters.substr(part * 4, 4)) {
      const size_t axis = kOrders[part].find(c);
      const auto n = static_cast<int>(axis);
      if (axis == std::string_view::npos || std::count(axes[part].begin(), axes[part].end(), n) > 0)
        return false;
      axes[part].push_back(n);
    }
  return true;
}

bool Lowering::window_of(const Instruction& in, Window& w) {
  const auto labels = in.words.find("labels");
  if (labels == in.words.end() || !read_labels(labels->second.text, w.axes) ||
      operand(in, 0).shape.size() != 4 || operand(in, 1).shape.size() != 4 ||
      in.type.shape.size() != 4)
    return fail(in.at,
                "convolution is supported with two spatial dimensions, which are named 0 and "
                "1 in dim_labels: b01f_01io->b01f, bf01_oi01->bf01 and so on");
  Numbers ones, whole;
  if (!numbers(in, "stride", 2, 1, w.stride, 1) || !numbers(in, "pad", 4, 0, w.pad) ||
      !numbers(in, "rhs_dilation", 2, 1, w.dilation, 1) ||
      !numbers(in, "groups", 1, 1, w.groups, 1) || !numbers(in, "lhs_dilation", 2, 1, ones, 1) ||
      !numbers(in, "batch_groups", 1, 1, whole, 1))
    return false;
  if (ones != Numbers{1, 1} || whole[0] != 1)
    return fail(in.at,
                "convolution with lhs_dilation or batch_group_count is not supported: those "
                "belong to the gradients of another one");
  if (!numbers(in, "reversal", 2, 0, ones)) return false;
  return ones == Numbers{0, 0} ||
         fail(in.at, "convolution with a reversed window is not supported");
}

// Places of the window along each axis.
bool Lowering::window_shape(const Instruction& in, const Window& w) {
  std::array<i64, 4> x{}, k{}, made{};
  for (size_t i = 0; i < 4; ++i) {
    x[w.axes[0][i]] = operand(in, 0).shape[i];
    k[w.axes[1][i]] = operand(in, 1).shape[i];
  }
  made = {x[0], 0, 0, k[3]};
  for (size_t i = 0; i < 2; ++i) {
    const i64 reach = (k[i] - 1) * w.dilation[i] + 1,
              along = x[i + 1] + w.pad[2 * i] + w.pad[2 * i + 1];
    if (reach > along)
      return fail(in.at,
                  fmt::format("a window of {} does not fit {} in this convolution", reach, along));
    made[i + 1] = (along - reach) / w.stride[i] + 1;
  }
  std::vector<i64> shape;
  for (const int axis : w.axes[2]) shape.push_back(made[axis]);
  return has_shape(in, shape);
}

void Lowering::window_orders(const Instruction& in) {
  Window w;
  if (!window_of(in, w)) return;
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
  Window w;
  if (!window_of(in, w) || !window_shape(in, w) || !dot_types(in)) return false;
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
  Numbers low, high, interior;
  if (!numbers(in, "low", rank, 0, low) || !numbers(in, "high", rank, 0, high) ||
      !numbers(in, "interior", rank, 0, interior))
    return false;
  const Node& zero = nodes_[value(in, 1).node];
  if (zero.kind != Expr::Kind::kNumber || zero.number != 0)
    return fail(in.at, "pad is supported with the constant 0");
  out = value(in, 0);
  nodes_.decide(out.node);
  for (int& axis : out.axes) axis = nodes_.position(out.node, axis);
  std::vector<i64> shape = from.shape;
  for (size_t h = 0; h < rank; ++h) {
    shape[h] += low[h] + high[h];
    if (interior[h] != 0) return fail(in.at, "pad between elements (interior) is not supported");
    if (low[h] + high[h] == 0) continue;
    if (out.axes[h] < 0)
      return fail(in.at,
                  fmt::format("axis {} of {} is only a repetition here, and cannot be padded", h,
                              str(from)));
    out.node = padded(in.at, out.node, out.axes[h], low[h], high[h]);
  }
  return has_shape(in, shape);
}

}  // namespace morello::hlo
