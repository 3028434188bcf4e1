// matmul: out[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]
//
// Leading dimensions are batch dimensions: equal in both operands, or missing in one of them, which
// then is the same for all. (A dimension of 1 is not stretched: it would hide mistakes in shapes.)

#include <algorithm>

#include "spec/build.h"

namespace morello::ops {

static std::string shape_problem(std::span<const Size> a, std::span<const Size> b) {
  const std::string got = fmt::format("got {} and {}", shape_text(a), shape_text(b));
  if (a.size() < 2 || b.size() < 2) return "matmul needs operands of rank 2 or more; " + got;
  if (a[a.size() - 1] != b[b.size() - 2])
    return fmt::format(
        "the last dimension of a ({}) must equal the last but one of b ({}) in matmul; {}",
        str(a[a.size() - 1]), str(b[b.size() - 2]), got);
  const size_t batch = std::min(a.size(), b.size()) - 2;
  const auto a_end = a.end() - 2, b_end = b.end() - 2;
  if (!std::equal(a_end - batch, a_end, b_end - batch))
    return "the leading (batch) dimensions must be equal, or missing in one operand, in matmul; " +
           got;
  return "";
}

static Result<Computation> build(const OpCall& call) {
  const Param &a = call.args[0], &b = call.args[1];
  std::string problem = shape_problem(a.shape, b.shape);
  if (!problem.empty()) return error(std::move(problem));
  if (!multiplies(a.dtype, b.dtype))
    return error(fmt::format(
        "matmul of {} and {} is not supported; allowed: floats with floats; u8, i8 or i7 with "
        "u8, i8 or i7",
        name(a.dtype), name(b.dtype)));
  Computation c{.dims = {},
                .operands = {},
                .body = {},
                .combine = Combine::kSum,
                .compute = accumulator(a.dtype)};
  c.body = product_of_inputs(c.compute);
  const std::vector<Size>& longer = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  const int batch = static_cast<int>(longer.size()) - 2;
  const int m = batch, n = batch + 1, k = batch + 2;
  for (int i = 0; i < batch; ++i) c.dims.push_back(make_dim(numbered("b", i), longer[i]));
  c.dims.push_back(make_dim("m", a.shape[a.shape.size() - 2]));
  c.dims.push_back(make_dim("n", b.shape.back()));
  c.dims.push_back(make_dim("k", a.shape.back(), true));
  // The batch dims an operand of this rank has (the innermost ones), then its own two.
  const auto dims = [&](size_t rank, int row, int column) {
    std::vector<int> d;
    for (int i = batch - (static_cast<int>(rank) - 2); i < batch; ++i) d.push_back(i);
    d.insert(d.end(), {row, column});
    return axes_of(d);
  };
  c.operands = {make_operand(a, dims(a.shape.size(), m, k)),
                make_operand(b, dims(b.shape.size(), k, n)),
                make_output(c, c.compute, dims(longer.size(), m, n))};
  return c;
}

extern const OpDef matmul = {.name = "matmul",
                             .arity = 2,
                             .usage = "matmul(a[..., m, k], b[..., k, n])",
                             .attributes = {},
                             .build = build};

}  // namespace morello::ops
