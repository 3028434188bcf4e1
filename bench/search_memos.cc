#include "bench/search_memos.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <string_view>

#include "bench/rounds.h"
#include "search/optimize.h"
#include "search/plain_memo.h"
#include "spec/kernel_spec.h"

namespace morello::bench {
namespace {

struct Row {
  const char* name;
  const char* spec;
};
constexpr Row kRows[] = {
    {"matvec_packed", "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)"},
    {"f32_64", "(a: f32[64,64], b: f32[64,64]): f32 = matmul(a, b)"},
    {"f32_256", "(a: f32[256,256], b: f32[256,256]): f32 = matmul(a, b)"},
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

double cpu_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Ends a search that takes too long by throwing out of it. What the memo takes by then is less than
// the whole search would have needed.
struct OutOfTime {};
class TimedMemo final : public Memo {
 public:
  TimedMemo(Memo& memo, double until) : memo_(memo), until_(until) {}
  bool find(const Key& key, const Limits& limits, Entry& found) const override {
    return memo_.find(key, limits, found);
  }
  void insert(const Key& key, const Limits& asked, const Entry& entry) override {
    memo_.insert(key, asked, entry);
    if (++inserts_ % 4096 == 0 && cpu_now() > until_) throw OutOfTime();
  }
  MemoSize size() const override { return memo_.size(); }

 private:
  Memo& memo_;
  double until_;
  i64 inserts_ = 0;
};

struct Total {
  double seconds = 0, bytes = 0, entries = 0;
  std::vector<Cost> costs;  // per family searched
  bool whole = true;        // else stopped: all of the above would be more
};

// All families whose bound can win, cheapest bound first, one after the other.
Total search(const KernelSpec& k, const Machine& machine, const Isa& isa, const Kind& kind,
             double most_seconds) {
  Total total;
  const double until = cpu_now() + most_seconds;
  Cost best = Cost::infinite();
  for (const auto& [problem, bound] : by_bound(k.computation(), machine, isa, 1)) {
    if (bound > best) break;
    const Space space(problem);
    const double before = allocated();
    const std::unique_ptr<Memo> memo = kind.make();
    TimedMemo timed(*memo, until);
    Solver solver(space, timed);
    Cost cost;
    total.seconds += process_seconds([&] {
      try {
        cost = solver.solve(space.problem().root(), space.capacity()).cost;
      } catch (OutOfTime) {
        total.whole = false;
      }
    });
    total.bytes += allocated() - before;
    total.entries += static_cast<double>(memo->size().boxes);
    if (!total.whole) break;
    total.costs.push_back(cost);
    best = std::min(best, cost);
  }
  return total;
}

void print_total(const char* name, const Total& t, const Total& ours) {
  fmt::print("{:<14}{:>10.3f}{:>12.0f}{:>10.2f}{:>10.1f}{:>12.1f}{:>10.2f}{}\n", name, t.seconds,
             t.entries, t.bytes / (1 << 20), t.bytes / t.entries, t.bytes / ours.bytes,
             t.seconds / ours.seconds, t.whole ? "" : "  stopped: at least");
  std::fflush(stdout);
}

// Whether every memo gives the costs that ours does, as far as it came.
bool compare(const Row& row, const Machine& machine, const Isa& isa, double most_seconds) {
  const Kind kinds[] = {{"spatial", [] { return std::make_unique<SpatialMemo>(); }},
                        {"flat boxes", [] { return std::make_unique<FlatMemo>(); }},
                        {"exact limits", [] { return std::make_unique<ExactMemo>(); }}};
  const Result<KernelSpec> k = parse_spec(row.spec);
  MORELLO_CHECK(k.ok(), "{}", row.spec);
  fmt::print("{}: {}\n", row.name, row.spec);
  Total ours;
  for (const Kind& kind : kinds) {
    const Total t = search(*k, machine, isa, kind, most_seconds);
    if (ours.costs.empty()) ours = t;
    print_total(kind.name, t, ours);
    const bool equal = std::equal(t.costs.begin(), t.costs.end(), ours.costs.begin());
    if (!ours.whole || !equal || (t.whole && t.costs.size() != ours.costs.size())) {
      fmt::print(stderr, "{}: {}\n", kind.name, ours.whole ? "other costs" : "no time");
      return false;
    }
  }
  return true;
}

}  // namespace

int compare_memos(const Machine& machine, const Isa& isa, const std::string& only,
                  double most_seconds) {
  fmt::print("{:<14}{:>10}{:>12}{:>10}{:>10}{:>12}{:>10}\n", "memo", "CPU s", "entries", "MiB",
             "B/entry", "bytes x", "time x");
  bool equal = true;
  for (const Row& row : kRows)
    if (std::string_view(row.name).find(only) != std::string_view::npos)
      equal &= compare(row, machine, isa, most_seconds);
  return equal ? 0 : 1;
}

}  // namespace morello::bench
