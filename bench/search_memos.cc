#include "bench/search_memos.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "bench/rounds.h"
#include "search/optimize.h"
#include "search/plain_memo.h"
#include "spec/kernel_spec.h"

namespace morello::bench {
namespace {

constexpr const char* kSpecs[] = {
    "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)",
    "(a: f32[64,64], b: f32[64,64]): f32 = matmul(a, b)",
    "(a: f32[256,256], b: f32[256,256]): f32 = matmul(a, b)",
};

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Memo>()> make;
};

// Bytes that malloc has given out, with what it adds to every block.
double allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

struct Total {
  double seconds = 0, bytes = 0, entries = 0;
  std::vector<Cost> costs;  // per family searched
};

// All families whose bound can win, cheapest bound first, one after the other.
Total search(const KernelSpec& k, const Machine& machine, const Isa& isa, const Kind& kind) {
  Total total;
  Cost best = Cost::infinite();
  for (const auto& [problem, bound] : by_bound(k.computation, machine, isa, 1)) {
    if (bound > best) break;
    const Space space(problem);
    const double before = allocated();
    const std::unique_ptr<Memo> memo = kind.make();
    Solver solver(space, *memo);
    Cost cost;
    total.seconds += process_seconds(
        [&] { cost = solver.solve(space.problem().root(), space.capacity()).cost; });
    total.bytes += allocated() - before;
    total.entries += static_cast<double>(memo->size().boxes);
    total.costs.push_back(cost);
    best = std::min(best, cost);
  }
  return total;
}

}  // namespace

int compare_memos(const Machine& machine, const Isa& isa) {
  const Kind kinds[] = {{"spatial", [] { return std::make_unique<SpatialMemo>(); }},
                        {"flat boxes", [] { return std::make_unique<FlatMemo>(); }},
                        {"exact limits", [] { return std::make_unique<ExactMemo>(); }}};
  fmt::print("{:<14}{:>10}{:>12}{:>10}{:>10}{:>12}{:>10}\n", "memo", "CPU s", "entries", "MiB",
             "B/entry", "bytes x", "time x");
  for (const char* text : kSpecs) {
    const Result<KernelSpec> k = parse_spec(text);
    MORELLO_CHECK(k.ok(), "{}", text);
    fmt::print("{}\n", text);
    Total ours;
    for (const Kind& kind : kinds) {
      const Total t = search(*k, machine, isa, kind);
      if (ours.costs.empty()) ours = t;
      fmt::print("{:<14}{:>10.3f}{:>12.0f}{:>10.2f}{:>10.1f}{:>12.1f}{:>10.2f}\n", kind.name,
                 t.seconds, t.entries, t.bytes / (1 << 20), t.bytes / t.entries,
                 t.bytes / ours.bytes, t.seconds / ours.seconds);
      std::fflush(stdout);
      if (t.costs != ours.costs) {
        fmt::print(stderr, "{}: other costs\n", kind.name);
        return 1;
      }
    }
  }
  return 0;
}

}  // namespace morello::bench
