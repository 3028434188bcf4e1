// What every program of several stages has to do: its text reads back as what it was.
#pragma once

#include <doctest/doctest.h>

#include "impl/fusion.h"

namespace morello {

inline void check_same_graph(const Graph& a, const Graph& b) {
  CHECK(a.stages == b.stages);
  CHECK(a.tensors == b.tensors);
  CHECK(a.dims == b.dims);
  CHECK(a.in_result == b.in_result);
  CHECK(a.apart == b.apart);
  CHECK(a.online == b.online);
  CHECK(a.in_place == b.in_place);
}

inline void check_reads_back(const Fusion& f, const KernelSpec& spec, const Machine& machine,
                             const Isa& isa) {
  const std::string text = print(f);
  CAPTURE(text);
  const Result<Fusion> read = parse_fusion(text, spec, machine, isa);
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().str()));
  CHECK(print(*read) == text);
  CHECK(verify(*read) == "");
  CHECK(read->threads == f.threads);
  check_same_graph(*read->graph, *f.graph);
  REQUIRE(read->programs.size() == f.programs.size());
  for (size_t i = 0; i < f.programs.size(); ++i) {
    const StageProgram &a = f.programs[i], &b = read->programs[i];
    CHECK(a.stage == b.stage);
    CHECK(*a.computation == *b.computation);
    CHECK(b.problem.computation == b.computation.get());
    CHECK(a.problem.family == b.problem.family);
    CHECK(a.problem.threads == b.problem.threads);
    CHECK(a.problem.part == b.problem.part);
    CHECK(a.cost_cycles == b.cost_cycles);
    CHECK(equal(*a.impl, *b.impl));
  }
}

}  // namespace morello
