// Highway: the few lines that one writes around its exponential function.
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>
// after highway.h
#include <hwy/contrib/math/math-inl.h>

#include "bench/graphs/graph.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Two vectors a step; `n` is a multiple of that.
void softmax(const float* x, float* y, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto top = hn::LoadU(d, x), other_top = top;
  for (std::size_t j = 0; j < n; j += 2 * lanes) {
    top = hn::Max(top, hn::LoadU(d, x + j));
    other_top = hn::Max(other_top, hn::LoadU(d, x + j + lanes));
  }
  top = hn::MaxOfLanes(d, hn::Max(top, other_top));
  auto sum = hn::Zero(d), other_sum = sum;
  for (std::size_t j = 0; j < n; j += 2 * lanes) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, x + j), top));
    const auto other = hn::Exp(d, hn::Sub(hn::LoadU(d, x + j + lanes), top));
    hn::StoreU(e, d, y + j);
    hn::StoreU(other, d, y + j + lanes);
    sum = hn::Add(sum, e);
    other_sum = hn::Add(other_sum, other);
  }
  const auto scale = hn::Div(hn::Set(d, 1.0F), hn::SumOfLanes(d, hn::Add(sum, other_sum)));
  for (std::size_t j = 0; j < n; j += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, y + j), scale), d, y + j);
}

}  // namespace

Contenders highway(const Graph& g) {
  const auto n = static_cast<std::size_t>(g.columns());
  if (!g.is("softmax") || n % (2 * hn::Lanes(hn::ScalableTag<float>())) != 0) return {};
  return {{"Highway", hwy::TargetName(HWY_STATIC_TARGET), [=] {
             over_rows(g, [&](i64 r) {
               softmax(g.f32(0) + r * g.columns(), g.out + r * g.columns(), n);
             });
           }}};
}

}  // namespace morello::bench
