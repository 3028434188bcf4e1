// Generated kernels of matmul beside what a user would call instead, with each instruction set that
// this processor has (worker.cc).
#include <CLI/CLI.hpp>

#include "bench/peers/compare.h"

int main(int argc, char** argv) {
  using namespace morello::bench;
  CLI::App app("Generated kernels beside other libraries");
  return compare(app, argc, argv,
                 {{"AVX2", MORELLO_PROGRAM_AVX2, runs_avx2()},
                  {"AVX2 and AVX-VNNI", MORELLO_PROGRAM_AVX2_VNNI, runs_avx2_vnni()},
                  {"AVX-512", MORELLO_PROGRAM_AVX512, runs_avx512()}},
                 {.markdown = markdown});
}
