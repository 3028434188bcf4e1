// Blocks of models from text to results: imported, searched for, compiled, and run between guard
// pages.
#include <doctest/doctest.h>

#include "codegen/harness.h"
#include "import/cases.h"
#include "run/build.h"
#include "search/fused_specs.h"
#include "search/optimize.h"
#include "target/machine.h"

namespace morello::test {
namespace {

// The spec of texts/NAME, which has one kernel.
std::string spec_of(const std::string& name) {
  for (const Case& c : read_cases())
    if (c.in_texts && c.name == name) {
      const std::string text = imported(c);
      return text.substr(0, text.find('\n'));
    }
  FAIL("no ", name);
  return "";
}

TEST_CASE("feed-forward layers and attention, against the reference") {
  const auto machine = load_machine("x86-64-v3");
  REQUIRE(machine.ok());
  run::Batch batch(MORELLO_RUN_DIRECTORY);
  int number = 0;
  for (const char* name :
       {"mlp.mlir", "mlp.hlo", "gated.mlir", "attention.mlir", "attention.hlo"}) {
    CAPTURE(name);
    const std::string spec = "f_" + std::to_string(++number) + "_" + spec_of(name);
    CHECK(batch.add({.spec = spec, .threads = 1 + number % 2, .isas = "avx2,scalar"}, *machine) ==
          "");
  }
  CHECK(batch.check({.compiler = run::known_compilers().front(), .flags = "-O2"}, "once") == "");
}

TEST_CASE("convolutions, exactly") {
  const auto machine = load_machine("x86-64-v3");
  REQUIRE(machine.ok());
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::vector<std::vector<double>>> inputs;
  for (const char* name : {"conv.mlir", "conv.hlo"}) {
    auto k = std::make_unique<Kernel>(spec_of(name), fmt::format("k{}", kernels.size()), 1);
    for (const char* isa : {"avx2", "scalar"}) {
      auto result = optimize(*k->spec, *machine, *find_isa(isa), {.threads = 1});
      REQUIRE(std::holds_alternative<Optimum>(result));
      Optimum o = std::get<Optimum>(std::move(result));
      k->code.variants.push_back({o.problem, o.impl, 0, o.patchwork, o.fusion});
    }
    inputs.push_back(small_numbers(graph_of(*k->spec)));
    kernels.push_back(std::move(k));
  }
  CHECK(compile_and_run(kernels, {}, "convolutions", &inputs) == "");
}

}  // namespace
}  // namespace morello::test
