#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "bench/sweep/draw.h"

namespace morello::bench {

const std::vector<Kind> kKinds = {
    {"products", draw_product, 2e4, 6e8},
    {"bytes", draw_bytes, 2e4, 8e8},
    {"bf16", draw_bf16, 2e4, 8e8},
    {"convolutions", draw_convolution, 2e4, 1e9},
    {"layers", draw_layer, 2e4, 1e9},  // of networks
    {"softmax", draw_softmax, 5e2, 8e6},
    {"norms", draw_norm, 5e2, 8e6},
    {"reductions", draw_reduction, 5e2, 8e6},
    {"functions", draw_function, 5e2, 8e6},
    {"pairs", draw_pair, 5e2, 8e6},
    {"orders", draw_order, 5e2, 8e6},
    {"stages", draw_stages, 3e3, 6e8},
};

i64 Tensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies());
}

std::vector<i64> Tensor::strides() const {
  std::vector<i64> out(shape.size());
  i64 next = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const size_t axis = order.empty() ? i : static_cast<size_t>(order[i]);
    out[axis] = next;
    next *= shape[axis];
  }
  return out;
}

static std::string layout(const Tensor& t) {
  if (t.packed) return " packed";
  return t.order.empty() ? "" : fmt::format(" order({})", fmt::join(t.order, ", "));
}

std::string Tensor::text() const {
  return fmt::format("{}: {}[{}]{}", name, morello::name(type), fmt::join(shape, ","),
                     layout(*this));
}

static std::string kernel(const std::vector<std::string>& operands, const Tensor& result,
                          const std::string& expr) {
  return fmt::format("({}): {}[{}]{} = {}", fmt::join(operands, ", "), name(result.type),
                     fmt::join(result.shape, ","), layout(result), expr);
}

std::string Case::spec() const {
  std::vector<std::string> in, where;
  for (const Tensor& t : operands) in.push_back(t.text());
  for (size_t s = 0; s + 1 < steps.size(); ++s)
    where.push_back(fmt::format("{} = {}", steps[s].result.name, steps[s].expr));
  return kernel(in, result(), steps.back().expr) +
         (where.empty() ? "" : fmt::format(" where {}", fmt::join(where, ", ")));
}

// Whether an expression has a name in it.
static bool mentions(const std::string& expr, const std::string& name) {
  const auto part_of_name = [&](size_t i) {
    return i < expr.size() && (std::isalnum(static_cast<unsigned char>(expr[i])) || expr[i] == '_');
  };
  for (size_t at = expr.find(name); at != std::string::npos; at = expr.find(name, at + 1))
    if (!(at > 0 && part_of_name(at - 1)) && !part_of_name(at + name.size())) return true;
  return false;
}

std::string Case::spec(size_t step, std::vector<std::string>& uses) const {
  std::vector<std::string> in;
  const auto use = [&](const Tensor& t) {
    if (!mentions(steps[step].expr, t.name)) return;
    uses.push_back(t.name);
    in.push_back(t.text());
  };
  for (const Tensor& t : operands) use(t);
  for (size_t s = 0; s < step; ++s) use(steps[s].result);
  return kernel(in, steps[step].result, steps[step].expr);
}

View view(const Tensor& t, int number) { return {number, t.shape, t.strides(), t.packed}; }

}  // namespace morello::bench
