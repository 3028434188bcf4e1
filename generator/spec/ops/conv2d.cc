// conv2d: out[b, h, w, f] = sum over r, s, c of x[b, h*stride + r*dilation, w*stride + s*dilation,
// c] * k[r, s, c, f]
//
// Axes are those of NHWC and HWIO, as XLA and TensorFlow have them; other orders are layouts
// (order(0, 3, 1, 2) is NCHW). The window stays inside x: pad(x, ...) makes room around it. With
// groups, filter f sees the channels of its group only; as many groups as channels is a depthwise
// convolution.

#include <algorithm>

#include "spec/build.h"

namespace morello::ops {
namespace {

constexpr const char* kUsage =
    "conv2d(x[b, h, w, c], k[r, s, c/groups, f], stride=1, dilation=1, groups=1)";

struct Window {
  i64 out, stride, dilation, taps;
};

// Of one axis of x: how many places a window of so many taps has.
std::string window_of(const OpCall& call, const char* letter, const Size& along, const Size& taps,
                      Window& out) {
  const auto value = [&](const char* name) {
    return call.attribute(fmt::format("{}_{}", name, letter))
        .value_or(call.attribute(name).value_or(1));
  };
  out = {.out = 0, .stride = value("stride"), .dilation = value("dilation"), .taps = taps.extent};
  if (out.stride < 1 || out.dilation < 1)
    return fmt::format("strides and dilations are 1 or more; got {} and {}", out.stride,
                       out.dilation);
  const i64 reach = (out.taps - 1) * out.dilation + 1;
  if (reach > along.extent)
    return fmt::format(
        "a window of {} does not fit {} in conv2d; pad(x, axis=n, low=i, high=j) "
        "adds zeros",
        reach, along.extent);
  out.out = (along.extent - reach) / out.stride + 1;
  return "";
}

std::string shape_problem(const Param& x, const Param& k, i64 groups) {
  const std::string got = fmt::format("got {} and {}", shape_text(x.shape), shape_text(k.shape));
  if (x.shape.size() != 4 || k.shape.size() != 4)
    return fmt::format("{} needs operands of rank 4; {}", kUsage, got);
  for (const Param* p : {&x, &k})
    for (const Size& s : p->shape)
      if (!s.name.empty() && &s != x.shape.data())
        return fmt::format(
            "conv2d needs numbers for all dimensions but the number of pictures; got `{}`", s.name);
  const i64 channels = x.shape[3].extent, filters = k.shape[3].extent;
  if (groups < 1 || channels % groups != 0 || filters % groups != 0)
    return fmt::format("groups must divide the channels ({}) and the filters ({}); got {}",
                       channels, filters, groups);
  if (k.shape[2].extent * groups != channels)
    return fmt::format(
        "axis 2 of the filters ({}) must be the channels ({}) by groups ({}) in "
        "conv2d; {}",
        k.shape[2].extent, channels, groups, got);
  if (x.packed)
    return fmt::format("`{}` is read in windows and cannot be packed; write row or order(...)",
                       x.name);
  return "";
}

// The terms whose dims are of one step index nothing.
AxisMap axis(const Computation& c, std::initializer_list<AxisTerm> terms) {
  AxisMap out;
  for (const AxisTerm& t : terms)
    if (t.dim >= 0 && (c.dims[t.dim].extent > 1 || terms.size() == 1)) out.push_back(t);
  return out;
}

AxisTerm times(AxisTerm t, i64 coefficient) { return {t.dim, coefficient}; }

Result<Computation> build(const OpCall& call) {
  const Param &x = call.args[0], &k = call.args[1];
  const i64 groups = call.attribute("groups").value_or(1);
  std::string problem = shape_problem(x, k, groups);
  Window rows{}, columns{};
  if (problem.empty()) problem = window_of(call, "h", x.shape[1], k.shape[0], rows);
  if (problem.empty()) problem = window_of(call, "w", x.shape[2], k.shape[1], columns);
  if (!problem.empty()) return error(std::move(problem));
  if (!multiplies(x.dtype, k.dtype))
    return error(
        fmt::format("conv2d of {} and {} is not supported; allowed: floats with floats; "
                    "u8, i8 or i7 with u8, i8 or i7",
                    name(x.dtype), name(k.dtype)));
  Computation c{.dims = {},
                .operands = {},
                .body = {},
                .combine = Combine::kSum,
                .compute = accumulator(x.dtype)};
  c.body = product_of_inputs(c.compute);
  const auto dim = [&](const char* name, const Size& extent, bool reduction) {
    c.dims.push_back(make_dim(name, extent, reduction));
    return AxisTerm{static_cast<int>(c.dims.size()) - 1, 1};
  };
  const i64 filters = k.shape[3].extent / groups, channels = k.shape[2].extent;
  const AxisTerm none{-1, 0};
  const AxisTerm b = dim("b", x.shape[0], false), h = dim("h", rows.out, false),
                 w = dim("w", columns.out, false), g = groups > 1 ? dim("g", groups, false) : none,
                 f = groups == 1 || filters > 1 ? dim("f", filters, false) : none,
                 r = rows.taps > 1 ? dim("r", rows.taps, true) : none,
                 s = columns.taps > 1 ? dim("s", columns.taps, true) : none,
                 ch = channels > 1 || (r.dim < 0 && s.dim < 0) ? dim("c", channels, true) : none;
  const AxisMap filter = axis(c, {times(g, filters), f});
  c.operands = {
      make_operand(x, Axes{axis(c, {b}), axis(c, {times(h, rows.stride), times(r, rows.dilation)}),
                           axis(c, {times(w, columns.stride), times(s, columns.dilation)}),
                           axis(c, {times(g, channels), ch})}),
      make_operand(k, Axes{axis(c, {r}), axis(c, {s}), axis(c, {ch}), filter}),
      make_output(c, c.compute, {axis(c, {b}), axis(c, {h}), axis(c, {w}), filter})};
  return c;
}

}  // namespace

extern const OpDef conv2d = {.name = "conv2d",
                             .arity = 2,
                             .usage = kUsage,
                             .attributes = {"stride", "dilation", "groups", "stride_h", "stride_w",
                                            "dilation_h", "dilation_w"},
                             .build = build};

}  // namespace morello::ops
