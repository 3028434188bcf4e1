// What everybody writes first, left to the compiler.
#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

void by_rows(const float* __restrict a, const float* __restrict b, float* __restrict c, i64 m,
             i64 n, i64 k) {
  for (i64 i = 0; i < m; ++i) {
    for (i64 j = 0; j < n; ++j) c[i * n + j] = 0;
    for (i64 p = 0; p < k; ++p)
      for (i64 j = 0; j < n; ++j) c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}

}  // namespace

Contenders loops(const Product& p) {
  if (!p.is_plain_f32()) return {};
  return {{"loops", "i-k-j, -O3",
           [=] { by_rows(p.f32_a(), p.f32_b(), p.f32_out(), p.m(), p.n(), p.k()); }}};
}

}  // namespace morello::bench
