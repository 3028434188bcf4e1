// Highway's Dot, which early gemma.cpp used for vectors times matrices; for the instruction set of
// the compiler's options.
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>
// after highway.h
#include <hwy/contrib/dot/dot-inl.h>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {

Contenders highway(const Product& p) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<hwy::bfloat16_t> d;
  if (!p.is(Operand::Kind::bf16) || p.b.order() != Order::columns || p.m() != 1 || p.threads != 1 ||
      p.k() % static_cast<i64>(hn::Lanes(d)) != 0)
    return {};
  return {{"Highway Dot", hwy::TargetName(HWY_STATIC_TARGET), [=] {
             const auto* a = static_cast<const hwy::bfloat16_t*>(p.a.data());
             const auto* b = static_cast<const hwy::bfloat16_t*>(p.b.data());
             const i64 stride = p.b.stride();
             constexpr int kAssume = hn::Dot::kAtLeastOneVector | hn::Dot::kMultipleOfVector;
             for (i64 j = 0; j < p.n(); ++j)
               p.f32_out()[j] =
                   hn::Dot::Compute<kAssume>(d, a, b + j * stride, static_cast<std::size_t>(p.k()));
           }}};
}

}  // namespace morello::bench
