// Calls every kernel of kernels.spec and compares with plain loops, on whole numbers: every order
// of a sum gives the same. Included by two translation units that may have other flags, so that
// every function is static.
#ifndef CHECK_H_
#define CHECK_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "kernels.h"

namespace check {

// Pieces of the work one by one, last one first: an order that no kernel may depend on.
static inline morello::Parallel backwards() {
  morello::Parallel pool;
  pool.run = [](void*, std::size_t n, void (*body)(void*, std::size_t) noexcept,
                void* data) noexcept {
    while (n > 0) body(data, --n);
  };
  return pool;
}

static inline std::uint16_t bf16(int whole) {  // of few bits
  const float value = static_cast<float>(whole);
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

// a[m,k] and b[k,n] hold (i % 7) - 2 and (i % 5) - 1; one element of their product.
static inline int product(int row, int column, int k, int n) {
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += ((row * k + i) % 7 - 2) * ((i * n + column) % 5 - 1);
  return sum;
}

template <class Got>
static int differing(const char* name, const Got* got, int m, int n, int k, int offset) {
  int count = 0;
  for (int i = 0; i < m * n; ++i) {
    int want = product(i / n, i % n, k, n);
    for (int j = 0; j < k; ++j) want += offset * ((j * n + i % n) % 5 - 1);
    count += got[i] != static_cast<Got>(want);
  }
  if (count != 0) std::printf("%s: %d elements are wrong\n", name, count);
  return count;
}

static inline int wrong_floats() {
  static float a[7 * 33], b[33 * 20], out[7 * 20];
  alignas(64) static unsigned char packed[morello::floats_info::packed_b_bytes];
  static_assert(morello::floats_info::workspace_bytes == 0, "the calls here give none");
  for (int i = 0; i < 7 * 33; ++i) a[i] = static_cast<float>(i % 7 - 2);
  for (int i = 0; i < 33 * 20; ++i) b[i] = static_cast<float>(i % 5 - 1);
  morello::floats_pack_b(b, packed);
  morello::floats(a, packed, out, backwards());
  return differing("floats", out, 7, 20, 33, 0);
}

static inline int wrong_halves() {
  static std::uint16_t a[64], b[64 * 40];
  static float out[40];
  alignas(64) static unsigned char packed[morello::halves_info::packed_b_bytes];
  for (int i = 0; i < 64; ++i) a[i] = bf16(i % 7 - 2);
  for (int i = 0; i < 64 * 40; ++i) b[i] = bf16(i % 5 - 1);
  morello::halves_pack_b(b, packed);
  morello::halves(a, packed, out, backwards());
  return differing("halves", out, 1, 40, 64, 0);
}

static inline int wrong_bytes() {
  static std::uint8_t a[5 * 30];
  static std::int8_t b[30 * 17];
  static std::int32_t out[5 * 17];
  for (int i = 0; i < 5 * 30; ++i) a[i] = static_cast<std::uint8_t>(i % 7 + 200);
  for (int i = 0; i < 30 * 17; ++i) b[i] = static_cast<std::int8_t>(i % 5 - 1);
  morello::bytes(a, b, out, backwards());
  return differing("bytes", out, 5, 17, 30, 202);
}

static inline int wrong_sums() {
  static float a[19 * 31], out[19];
  for (int i = 0; i < 19 * 31; ++i) a[i] = static_cast<float>(i % 7 - 2);
  morello::sums(a, out, backwards());
  int count = 0;
  for (int row = 0; row < 19; ++row) {
    int want = 0;
    for (int i = row * 31; i < (row + 1) * 31; ++i) want += i % 7 - 2;
    count += out[row] != static_cast<float>(want);
  }
  if (count != 0) std::printf("sums: %d elements are wrong\n", count);
  return count;
}

static inline int wrong_results() {
  return wrong_floats() + wrong_halves() + wrong_bytes() + wrong_sums();
}

}  // namespace check

#endif  // CHECK_H_
