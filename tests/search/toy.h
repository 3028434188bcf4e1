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

// One of every kind of kernel, small enough to be searched by all families.
inline constexpr std::string_view kSmallSpecs[] = {
    "(a: f32[7,20], b: f32[20,19]): f32 = matmul(a, b)",
    "(a: bf16[3,16], b: bf16[16,24] packed): bf16 = matmul(a, b)",
    "(a: u8[2,5,18], b: i8[2,18,9]): i32 = matmul(a, b)",
    "(x: f32[40,30] col): f32 = reduce_sum(x, axis=0)",
    "(x: f32[40,30], y: f32[40,30] col): f32 = add(x, y)",
    "(x: f32[40,30]): f32 col = convert(x)",
    "(x: bf16[3,70]): bf16 = transpose(x)",
    "(a: bf16[1,300], b: bf16[300,1]): bf16 = matmul(a, b)",
    "(a: f32[7,20], b: f32[20,19], c: f32[19], d: bf16[7,19]): f32 = gelu(matmul(a, b) + c) * d",
    "(x: f32[40,30], y: f32[40,30] col, z: f32[40,30]): f32 = tanh(x) * y - z",
    "(x: f32[1,7,8,3], k: f32[3,2,3,9]): f32 = conv2d(x, k, stride_h=2)",
    "(x: f32[1,6,9,8] order(0, 3, 1, 2), k: f32[2,3,1,8]): f32 order(0, 3, 1, 2) = "
    "conv2d(x, k, groups=8)",
    "(x: f32[1,5,4,2], k: f32[3,2,2,9]): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1), k, stride_h=2)",
    "(x: f32[1,6,5,3] order(0, 3, 1, 2), k: f32[5,3,1,3] packed): f32 order(0, 3, 1, 2) = "
    "conv2d(pad(pad(x, axis=1, low=2, high=2), axis=2, low=1, high=1), k, groups=3)",
};

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
