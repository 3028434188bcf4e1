// Register tiles that are worth a search, and their sets of accumulators.
#include "impl/family.h"

#include <doctest/doctest.h>

#include <set>

#include "spec/kernel_spec.h"

namespace morello {
namespace {

struct Row {
  const char* spec;
  const char* isa;
  const char* kernel;
  const char* quanta;  // of all families with that kernel
};

constexpr Row kRows[] = {
    // All of the output is one tile: sets as long as the pipes want more accumulators and each has
    // four steps.
    {"(a: f32[6,256], b: f32[256,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "m:6,n:16,k:2"},
    {"(a: f32[1,256], b: f32[256,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "n:16,k:8"},
    {"(a: f32[1,31], b: f32[31,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "n:16,k:4"},
    {"(a: f32[1,7], b: f32[7,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "n:16"},
    {"(a: f32[3,64], b: f32[64,24]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "m:3,n:32,k:2"},
    {"(a: bf16[3,64], b: bf16[64,16]): f32 = matmul(a, b)", "avx512_bf16", "dp_bf16x32",
     "m:3,n:16,k:8"},
    {"(a: f32[100,12]): f32 = reduce_max(a, axis=0)", "avx2", "max_f32x8", "i:16,k:4"},
    // Tiles of eight accumulators keep two pipes busy; a tile that does not hold all of the output
    // grows along it.
    {"(a: f32[8,256], b: f32[256,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "m:8,n:16"},
    {"(a: f32[2,100], b: f32[100,33]): f32 = matmul(a, b)", "avx2", "fma_f32x8",
     "m:2,n:32 m:2,n:40"},
    {"(a: f32[9,3,100], b: f32[9,100,8]): f32 = matmul(a, b)", "avx2", "fma_f32x8", "m:3,n:8"},
    // Lanes that reduce.
    {"(a: f32[1,256], b: f32[256,1]): f32 = matmul(a, b)", "avx512", "dot_f32x16", "k:128"},
};

TEST_CASE("register tiles") {
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    std::set<std::string> quanta;
    for (const Family& f : families(c, *find_isa(row.isa))) {
      if (f.kernel->name != row.kernel) continue;
      const std::string text = f.str(c);
      const size_t begin = text.find("quantum=") + 8;
      quanta.insert(text.substr(begin, text.find(' ', begin) - begin));
      CHECK(f.registers < f.isa->vector_registers);
    }
    CHECK(fmt::format("{}", fmt::join(quanta, " ")) == row.quanta);
  }
}

}  // namespace
}  // namespace morello
