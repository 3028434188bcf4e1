// A machine small enough for the head, and shorthands for tests of the search.
#pragma once

#include <doctest/doctest.h>

#include "search/count.h"
#include "search/explain.h"
#include "search/optimize.h"
#include "search/spatial_memo.h"
#include "spec/algebra.h"
#include "spec/kernel_spec.h"

namespace morello {

// L1 of l1 bytes, L2 of l2 (0: absent), no L3; every pipe one wide, every line one cycle a level.
inline Machine toy_machine(i64 l1 = 1024, i64 l2 = 4096, i64 l3 = 0) {
  Machine m;
  m.name = "toy";
  m.isa = "avx2";
  m.levels[kL1] = {.bytes = l1, .line_millicycles = 0};
  m.levels[kL2] = {l2, 64, 1, 1000, 1000, 4000, 0};
  m.levels[kL3] = {l3, 64, 1, 3000, 3000, 10'000, 0};
  m.levels[kMemory] = {0, 64, 1, 8000, 6000, 100'000, 0};
  m.parallel_millicycles = 100'000;
  m.prefetch_bytes = 4096;
  return m;
}

// The same, where results of so many bytes leave the caches, and a line past them costs so much.
inline Machine streaming(Machine m, i64 bytes, i64 line_millicycles) {
  m.streamed_bytes = bytes;
  m.streamed_line_millicycles = line_millicycles;
  return m;
}

// The same, where copies ask for what the next ones read; lines are short, so that L2 holds some.
inline Machine asking(Machine m) {
  for (LevelDesc& level : m.levels) level.line = 16;
  m.levels[kMemory].asked_copy_millicycles = 3000;
  return m;
}

// A Space, a memo and a solver.
struct Searcher {
  explicit Searcher(const Problem& p) : space(p) {}
  Space space;
  SpatialMemo memo;
  Solver solver{space, memo};

  Spec root() const { return space.problem().root(); }
  Cost cost() { return solver.solve(root(), space.capacity()).cost; }
};

inline KernelSpec spec(std::string_view text) {
  Result<KernelSpec> k = parse_spec(text);
  REQUIRE_MESSAGE(k.ok(), (k.ok() ? "" : k.error().str()));
  return std::move(*k);
}

// What is searched of a kernel: its only stage; of a padded one that without the pads.
inline Computation computation_of(const KernelSpec& k) {
  if (k.stages.size() == 1) return k.computation();
  const std::optional<Graph> g = unpadded(graph_of(k));
  REQUIRE((g && g->stages.size() == 1));
  return g->stages[0].computation;
}

inline Optimum found(std::variant<Optimum, StopReason> r) {
  REQUIRE(std::holds_alternative<Optimum>(r));
  return std::get<Optimum>(std::move(r));
}

// All of an answer that is promised; `specs` counts what was solved for it.
inline std::string answer(const KernelSpec& k, const Machine& machine, const Isa& isa,
                          const SearchOptions& options, i64* specs = nullptr) {
  const Optimum o = found(optimize(k.computation(), machine, isa, options));
  if (specs) *specs += o.stats.specs;
  return fmt::format("{} {} threads {}\n{}", o.cost.value(), o.problem.family.str(k.computation()),
                     o.problem.threads, print(o.problem, *o.impl));
}

}  // namespace morello
