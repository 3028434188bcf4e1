// Eigen: templates, for the instruction set of the compiler's options.
#include "bench/peers/eigen.h"

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {

Contenders eigen(const Product& p) {
  if (!p.is_plain_f32()) return {};
  return {{"Eigen", kEigenIsa, [=] {
             const Eigen::Map<const RowMajor> a(p.f32_a(), p.m(), p.k());
             Eigen::Map<RowMajor> c(p.f32_out(), p.m(), p.n());
             if (p.b_by_rows())
               c.noalias() = a * Eigen::Map<const RowMajor>(p.f32_b(), p.k(), p.n());
             else
               c.noalias() = a * Eigen::Map<const RowMajor>(p.f32_b(), p.n(), p.k()).transpose();
           }}};
}

}  // namespace morello::bench
