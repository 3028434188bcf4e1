#include "bench/peers/ours.h"

#include "bench_kernels.h"  // generated: includes every kernel

namespace morello::bench {

std::vector<Ours> ours() {
  // oneDNN adds pairs of products in 16 bits where it has only AVX2, and saturates: with 8-bit
  // weights its results would be wrong.
  constexpr int kBits = 7;
  std::vector<Ours> out;
#define MORELLO_GIVEN(name, m, k, n, beside)                                                      \
  out.push_back({#name, beside, kernels::name##_info::threads, [](ThreadPool& pool) {             \
                   return given<kernels::name##_info>(&kernels::name, kernels::name##_selected(), \
                                                      pool, At{m, k, n}, kBits);                  \
                 }});
#define MORELLO_PACKED(name, m, k, n, beside)                                                 \
  out.push_back({#name, beside, kernels::name##_info::threads, [](ThreadPool& pool) {         \
                   return packed<kernels::name##_info, &kernels::name##_pack_b>(              \
                       &kernels::name, kernels::name##_selected(), pool, At{m, k, n}, kBits); \
                 }});
  MORELLO_BENCH_KERNELS(MORELLO_GIVEN, MORELLO_PACKED)
#undef MORELLO_GIVEN
#undef MORELLO_PACKED
  return out;
}

}  // namespace morello::bench
