// Eigen: templates, for the instruction set of the compiler's options.
#include "bench/peers/eigen.h"

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {

Contenders eigen(const Product& p) {
  if (!p.is_plain_f32()) return {};
  return {{"Eigen", kEigenIsa, [=] {
             const Eigen::Map<const RowMajor> a(p.f32_a(), p.m(), p.k());
             const Eigen::Map<const RowMajor> b(p.f32_b(), p.k(), p.n());
             Eigen::Map<RowMajor> c(p.f32_out(), p.m(), p.n());
             c.noalias() = a * b;
           }}};
}

}  // namespace morello::bench
