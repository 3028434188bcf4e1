// Runs a hook of docs/recipes.md by itself and with a generated kernel.
#ifndef ADAPTER_H_
#define ADAPTER_H_

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "product.h"

namespace adapter {

static inline bool calls_every_index_once(const morello::Parallel& pool, std::size_t n) {
  std::vector<std::atomic<int>> calls(n);
  for (std::atomic<int>& count : calls) count = 0;
  pool.run(
      pool.context, n,
      [](void* data, std::size_t i) noexcept { ++static_cast<std::atomic<int>*>(data)[i]; },
      calls.data());
  for (const std::atomic<int>& count : calls) {
    if (count != 1) return false;
  }
  return true;
}

// With the hook and without, the same bits.
static inline bool elements_are_right(const morello::Parallel& pool) {
  std::vector<float> a(64 * 32), b(32 * 192), with(64 * 192), without(64 * 192);
  std::vector<unsigned char> packed(morello::product_info::packed_b_bytes);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 2;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 1;
  morello::product_pack_b(b.data(), packed.data());
  morello::product(a.data(), packed.data(), with.data(), pool);
  morello::product(a.data(), packed.data(), without.data());
  float first = 0;
  for (std::size_t k = 0; k < 32; ++k) first += a[k] * b[k * 192];
  return with == without && with[0] == first;
}

static inline int test(const morello::Parallel& pool) {
  for (const std::size_t n : {0, 1, 2, 3, 4, 17}) {
    if (!calls_every_index_once(pool, n)) {
      std::printf("of %zu indices not each was called once\n", n);
      return 1;
    }
  }
  for (int round = 0; round < 20; ++round) {
    if (!elements_are_right(pool)) {
      std::printf("an element is wrong\n");
      return 1;
    }
  }
  std::printf("every index once, all elements right\n");
  return 0;
}

}  // namespace adapter

#endif  // ADAPTER_H_
