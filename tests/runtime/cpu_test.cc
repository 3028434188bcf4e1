#include "morello/cpu.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <string>

namespace morello {
namespace {

// The kernel's list of features, padded with blanks so that whole words can be looked for.
std::string kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) == 0) return fmt::format("{} ", line);
  }
  return "";
}

TEST_CASE("the answers are those of the operating system") {
  const std::string flags = kernel_flags();
  if (flags.empty()) {
    MESSAGE("no list of processor features here; not compared");
    return;
  }
  const struct {
    const char* flag;
    bool has;
  } rows[] = {{"avx", has_avx()},
              {"avx2", has_avx2()},
              {"fma", has_fma()},
              {"avx_vnni", has_avx_vnni()},
              {"avx512f", has_avx512f()},
              {"avx512bw", has_avx512bw()},
              {"avx512dq", has_avx512dq()},
              {"avx512vl", has_avx512vl()},
              {"avx512_bf16", has_avx512_bf16()},
              {"avx512_vnni", has_avx512_vnni()}};
  for (const auto& row : rows) {
    CAPTURE(row.flag);
    const bool listed = flags.find(fmt::format(" {} ", row.flag)) != std::string::npos;
    CHECK(row.has == listed);
  }
}

}  // namespace
}  // namespace morello
