// What generate writes beside the header: the programs as text, and statistics.
#pragma once

#include "cli/request.h"

namespace morello {

// Everything found for one kernel, one per instruction set.
struct KernelFound {
  const KernelSpec* spec = nullptr;
  std::vector<Found> variants;
};

// "fma_f32x8 lane=n ...", "3 stages"
std::string family_text(const KernelSpec& spec, const Found& found);
// "ffw avx2: 1.23 s CPU, 123456 specs, 1.9e+06 cycles, fma_f32x8 lane=n ..."
std::string summary(const KernelSpec& spec, const Found& found);
std::string impl_text(const std::vector<KernelFound>& kernels);
// JSON, described in docs/cli.md. Counts programs, which takes time.
std::string stats_json(const std::vector<KernelFound>& kernels, const Machine& machine);

// A JSON string with its quotes.
std::string json_string(std::string_view text);

// 64-bit FNV-1a, for telling machine files apart.
std::string digest(std::string_view text);

}  // namespace morello
