// What an expert writes by hand for a vector times a matrix of bf16: the yardstick where no library
// has anything. AVX2 has no arithmetic on bf16, so 16 weights are split into their even (shift) and
// odd (mask) elements, and the vector is split the same way once per call. The weights are one
// sequential stream, prefetched 16 KiB ahead.
#include <immintrin.h>

#include <cstring>
#include <memory>

#include "bench/peers/peer.h"
#include "bench_peers.h"
#include "morello/cpu.h"

namespace morello::bench {
namespace {

using Word = std::uint16_t;

__m256i load(const Word* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
__m256 even(__m256i v) { return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16)); }
__m256 odd(__m256i v) {
  return _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(-0x10000)));
}
void ahead(const Word* p) {
  constexpr i64 kAhead = 8192;
  _mm_prefetch(reinterpret_cast<const char*>(p + kAhead), _MM_HINT_T0);
}
float sum(__m256 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

// 16 words -> 8 even, then 8 odd ones.
void widen(const Word* a, float* out, i64 k) {
  for (i64 p = 0; p < k; p += 16) {
    const __m256i v = load(a + p);
    _mm256_storeu_ps(out + p, even(v));
    _mm256_storeu_ps(out + p + 8, odd(v));
  }
}

// One column of b; eight sums.
float dot(const float* a, const Word* w, i64 k) {
  __m256 acc[8] = {};
  for (i64 p = 0; p < k; p += 64)
    for (i64 u = 0; u < 4; ++u) {
      if (u % 2 == 0) ahead(w + p + 16 * u);
      const __m256i v = load(w + p + 16 * u);
      const float* x = a + p + 16 * u;
      acc[2 * u] = _mm256_fmadd_ps(even(v), _mm256_loadu_ps(x), acc[2 * u]);
      acc[2 * u + 1] = _mm256_fmadd_ps(odd(v), _mm256_loadu_ps(x + 8), acc[2 * u + 1]);
    }
  for (int i = 1; i < 8; ++i) acc[0] = _mm256_add_ps(acc[0], acc[i]);
  return sum(acc[0]);
}

// Four columns, interleaved by 16 words: the vector is loaded once for all.
void dot_4(const float* a, const Word* w, i64 k, float* c) {
  __m256 acc[4][2] = {};
  for (i64 p = 0; p < k; p += 16, w += 64) {
    const __m256 ae = _mm256_loadu_ps(a + p), ao = _mm256_loadu_ps(a + p + 8);
    for (int j = 0; j < 4; ++j) {
      if (j % 2 == 0) ahead(w + 16 * j);
      const __m256i v = load(w + 16 * j);
      acc[j][0] = _mm256_fmadd_ps(even(v), ae, acc[j][0]);
      acc[j][1] = _mm256_fmadd_ps(odd(v), ao, acc[j][1]);
    }
  }
  for (int j = 0; j < 4; ++j) c[j] = sum(_mm256_add_ps(acc[j][0], acc[j][1]));
}

// What gemma.cpp does with AVX2: four columns as they are, both operands split in every step, one
// sum a column.
void four_sums(const Word* a, const Word* w, i64 stride, i64 k, float* c) {
  __m256 acc[4] = {};
  for (i64 p = 0; p < k; p += 16) {
    const __m256i x = load(a + p);
    for (int j = 0; j < 4; ++j) {
      const __m256i v = load(w + j * stride + p);
      acc[j] = _mm256_fmadd_ps(even(v), even(x), acc[j]);
      acc[j] = _mm256_fmadd_ps(odd(v), odd(x), acc[j]);
    }
  }
  for (int j = 0; j < 4; ++j) c[j] = sum(acc[j]);
}

__attribute__((target("avx512f,avx512bf16"))) float dot_512(const Word* a, const Word* w, i64 k) {
  __m512 acc[4] = {};
  for (i64 p = 0; p < k; p += 128)
    for (i64 u = 0; u < 4; ++u) {
      ahead(w + p + 32 * u);
      acc[u] = _mm512_dpbf16_ps(acc[u], (__m512bh)_mm512_loadu_si512(a + p + 32 * u),
                                (__m512bh)_mm512_loadu_si512(w + p + 32 * u));
    }
  return _mm512_reduce_add_ps(
      _mm512_add_ps(_mm512_add_ps(acc[0], acc[1]), _mm512_add_ps(acc[2], acc[3])));
}

// [n/4][k/16][4][16] of b by columns.
std::shared_ptr<AlignedBuffer<Word>> interleaved(const Operand& b) {
  const Operand columns = b.in(Order::columns);
  const auto* from = static_cast<const Word*>(columns.data());
  const i64 k = b.rows(), n = b.columns();
  auto out = std::make_shared<AlignedBuffer<Word>>(static_cast<std::size_t>(k * n));
  for (i64 j = 0; j < n; ++j)
    for (i64 p = 0; p < k; p += 16)
      std::memcpy(out->data() + (j / 4 * k + p) * 4 + j % 4 * 16, from + j * k + p,
                  16 * sizeof(Word));
  return out;
}

}  // namespace

Contenders expert(const Product& p) {
  const i64 n = p.n(), k = p.k();
  if (!p.is(Operand::Kind::bf16) || p.m() != 1 || p.threads != 1 || n % 4 != 0 || k % 128 != 0)
    return {};
  const auto* a = static_cast<const Word*>(p.a.data());
  const auto wide = std::make_shared<AlignedBuffer<float>>(static_cast<std::size_t>(k));
  float* out = p.f32_out();
  if (p.packed)
    return {{"expert", "AVX2, columns by 4", [=, w = interleaved(p.b)] {
               widen(a, wide->data(), k);
               for (i64 j = 0; j < n; j += 4) dot_4(wide->data(), w->data() + j * k, k, out + j);
             }}};
  if (p.b.order() != Order::columns) return {};
  const auto* w = static_cast<const Word*>(p.b.data());
  const i64 stride = p.b.stride();
  if (kAvx512 && has_avx512_bf16())
    return {{"expert", "vdpbf16ps", [=] {
               for (i64 j = 0; j < n; ++j) out[j] = dot_512(a, w + j * stride, k);
             }}};
  return {{"expert", "AVX2",
           [=] {
             widen(a, wide->data(), k);
             for (i64 j = 0; j < n; ++j) out[j] = dot(wide->data(), w + j * stride, k);
           }},
          {"4 sums", "AVX2, four columns at a time", [=] {
             for (i64 j = 0; j < n; j += 4) four_sums(a, w + j * stride, stride, k, out + j);
           }}};
}

}  // namespace morello::bench
