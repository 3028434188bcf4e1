// Prints what this machine can do at best: multiply-adds, and loads by the number of bytes.
#include <fmt/format.h>

#include <cstdio>

#include "bench/limits.h"

int main() {
  using namespace morello::bench;
  const int processors = morello::ThreadPool(0).size();
  fmt::print("{:<24}{:>10}{:>10}\n", "threads", 1, processors);
  for (const int bits : {256, 512}) {
    const auto one = fma_peak(bits, 1);
    const auto all = fma_peak(bits, processors);
    if (one && all) {
      fmt::print("{:<24}{:>10.1f}{:>10.1f}  GFLOP/s\n", fmt::format("f32 fma, {} bits", bits),
                 *one * 1e-9, *all * 1e-9);
    }
  }
  for (const std::size_t kib : {32, 512, 8192, 65536, 524288}) {
    const auto one = read_bandwidth(kib << 10, 1);
    const auto all = read_bandwidth(kib << 10, processors);
    if (one && all) {
      fmt::print("{:<24}{:>10.1f}{:>10.1f}  GB/s\n", fmt::format("read {} KiB", kib), *one * 1e-9,
                 *all * 1e-9);
    }
    std::fflush(stdout);
  }
  return 0;
}
