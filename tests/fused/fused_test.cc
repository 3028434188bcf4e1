// Kernels of several stages as headers: compiled, run between guard pages with and without threads,
// and compared with their stages in exact arithmetic. The compilers' sanitizers watch the arrays
// that no guard page can: a task's array was once as large as the tile and not as its rest, and the
// kernel crashed in one run of four.
#include <doctest/doctest.h>

#include <span>

#include "codegen/harness.h"
#include "long.h"
#include "search/fused_specs.h"
#include "search/toy.h"
#include "spec/algebra.h"

namespace morello::test {
namespace {

// Without these pads, if there are such; PadsOut::kNone: as is cheapest.
std::unique_ptr<Kernel> kernel(std::string_view text, const std::vector<const char*>& isas,
                               const std::string& name, int threads, const Machine& machine,
                               PadsOut pads_out) {
  auto k = std::make_unique<Kernel>(text, name, threads);
  for (const char* isa : isas) {
    const SearchOptions options{.threads = threads};
    const auto other =
        pads_out == PadsOut::kNone ? std::nullopt : unpadded(graph_of(*k->spec), pads_out);
    const Optimum o = found(other ? optimize_graph(*other, machine, *find_isa(isa), options)
                                  : optimize(*k->spec, machine, *find_isa(isa), options));
    k->code.variants.push_back({o.problem, o.impl, 0, o.patchwork, o.fusion, o.rows});
  }
  return k;
}

constexpr const char* kFlags =
    "-std=c++17 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all";

// The i-th kernel's; the wide and the plain ones take turns where time is short.
std::vector<const char*> isas_of(size_t i) {
  std::vector<const char*> out;
  if (has_turn(i, 3)) out.push_back("avx512");
  out.push_back("avx2");
  if (has_turn(i + 1, 3)) out.push_back("scalar");
  return out;
}

void check_kernels(std::span<const std::string_view> texts, PadsOut pads_out,
                   const std::string& name) {
  const Machine machines[] = {toy_machine(1024, 4096, 16384), toy_machine(4096, 32768, 262144)};
  struct Group {
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<std::vector<std::vector<double>>> inputs;
  };
  Group groups[2];
  for (size_t i = 0; i < texts.size(); ++i) {
    Group& g = groups[i / 4 % 2];
    g.kernels.push_back(kernel(texts[i], isas_of(i), fmt::format("k{}", i), 1 + i % 2,
                               machines[i / 2 % 2], pads_out));
    g.inputs.push_back(small_numbers(graph_of(*g.kernels.back()->spec)));
  }
  // Each group with one compiler; with both where time is not short.
  constexpr const char* kCommands[] = {MORELLO_TEST_CXX, MORELLO_TEST_CLANG};
  const bool both = *kCommands[1] != 0;
  for (size_t g = 0; g < 2; ++g)
    for (size_t c = 0; c < (both ? 2 : 1); ++c)
      if (kLong || !both || g == c)
        CHECK(compile_and_run(groups[g].kernels, {.command = kCommands[c], .flags = kFlags},
                              fmt::format("{}{}", name, g), &groups[g].inputs) == "");
}

TEST_CASE("kernels of several stages") { check_kernels(kFusedSpecs, PadsOut::kNone, "fused"); }

TEST_CASE("kernels without their pads") {
  check_kernels(kPaddedSpecs, PadsOut::kAll, "unpadded");
  check_kernels(kPaddedSpecs, PadsOut::kFirst, "first_unpadded");
}

// Rows from memory, by one thread and by two: by who stores and by who sums. What is asked for
// behind the last row is nobody's.
TEST_CASE("stages that ask for what the next steps read") {
  // Arithmetic to hide memory behind, exact.
  std::string much = "x";
  for (int i = 0; i < 12; ++i) much += fmt::format(" + relu(x - {})", i);
  const std::string specs[] = {
      fmt::format("(x: f32[512,16]): f32 = {} - broadcast(reduce_sum(x, axis=1), axis=1)", much),
      fmt::format("(x: f32[301,36]): f32 = {} - broadcast(reduce_max(x, axis=1), axis=1)", much),
      fmt::format("(x: bf16[700,20]): f32 = {} - broadcast(reduce_sum(x, axis=1), axis=1)", much),
      fmt::format("(x: f32[400,24]): f32 = reduce_max({} - broadcast(reduce_sum(x, axis=1), "
                  "axis=1), axis=1)",
                  much),
  };
  Machine machine = streaming(toy_machine(4096, 8192), 32, 4000);
  machine.prefetch_bytes = 1024;
  machine.levels[kMemory] = {0, 64, 1, 40'000, 24'000, 1000, 0};
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::vector<std::vector<double>>> inputs;
  int asking = 0;
  for (const std::string& text : specs)
    for (const int threads : {1, 2}) {
      kernels.push_back(kernel(text, {"avx512", "avx2"}, fmt::format("k{}", kernels.size()),
                               threads, machine, PadsOut::kNone));
      inputs.push_back(small_numbers(graph_of(*kernels.back()->spec)));
      for (const Variant& v : kernels.back()->code.variants)
        asking += print(*v.fusion).find("asks=") != std::string::npos;
    }
  CHECK(asking == 16);
  CHECK(compile_and_run(kernels, {.flags = kFlags}, "asking", &inputs) == "");
}

}  // namespace
}  // namespace morello::test
