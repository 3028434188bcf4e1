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

// With b by columns: the order of the sums is the compiler's to keep.
void by_columns(const float* __restrict a, const float* __restrict b, float* __restrict c, i64 m,
                i64 n, i64 k) {
  for (i64 i = 0; i < m; ++i)
    for (i64 j = 0; j < n; ++j) {
      float sum = 0;
      for (i64 p = 0; p < k; ++p) sum += a[i * k + p] * b[j * k + p];
      c[i * n + j] = sum;
    }
}

}  // namespace

Contenders loops(const Product& p) {
  if (!p.is_plain_f32()) return {};
  if (!p.b_by_rows())
    return {{"loops", "i-j-k, -O3",
             [=] { by_columns(p.f32_a(), p.f32_b(), p.f32_out(), p.m(), p.n(), p.k()); }}};
  return {{"loops", "i-k-j, -O3",
           [=] { by_rows(p.f32_a(), p.f32_b(), p.f32_out(), p.m(), p.n(), p.k()); }}};
}

}  // namespace morello::bench
