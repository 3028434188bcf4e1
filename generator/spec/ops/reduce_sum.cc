// reduce_sum: out[i...] = sum over k of a[i..., k, i...]: the sum along one axis, which disappears.
// A vector becomes a tensor of shape [1]; its one element keeps a dim of its own, so that every
// axis of every operand has a dim.

#include "spec/build.h"

namespace morello::ops {

static Result<Computation> build(const OpCall& call) {
  const Param& a = call.args[0];
  const std::optional<i64> axis = call.attribute("axis");
  const i64 last = static_cast<i64>(a.shape.size()) - 1;
  if (!axis) return error("reduce_sum needs the axis to sum over, such as axis=0");
  if (*axis > last)
    return error(fmt::format("there is no axis {} in {} to sum over; the last one is {}", *axis,
                             shape_text(a.shape), last));
  Computation c{.dims = {},
                .operands = {},
                .body = {},
                .combine = Combine::kSum,
                .compute = accumulator(a.dtype)};
  c.body = {{.fn = Fn::kInput, .type = c.compute, .a = 0}};
  std::vector<int> in, out;
  for (i64 i = 0; i <= last; ++i) {
    if (i != *axis) out.push_back(static_cast<int>(out.size()));
    in.push_back(i == *axis ? -1 : out.back());
    if (i != *axis) c.dims.push_back(make_dim(numbered("i", out.back()), a.shape[i]));
  }
  if (out.empty()) {
    out.push_back(0);
    c.dims.push_back(make_dim(numbered("i", 0), 1));
  }
  in[*axis] = static_cast<int>(c.dims.size());
  c.dims.push_back(make_dim("k", a.shape[*axis], true));
  c.operands = {make_operand(a, in), make_output(c, c.compute, out)};
  return c;
}

extern const OpDef reduce_sum = {.name = "reduce_sum",
                                 .arity = 1,
                                 .usage = "reduce_sum(a[...], axis=n)",
                                 .attributes = {"axis"},
                                 .build = build};

}  // namespace morello::ops
