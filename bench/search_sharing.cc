#include "bench/search_sharing.h"

#include <fmt/format.h>

#include "bench/layers.h"
#include "bench/rounds.h"
#include "search/kept_tables.h"
#include "search/optimize.h"
#include "spec/kernel_spec.h"

namespace morello::bench {
namespace {

struct Total {
  double seconds = 0;
  i64 solved = 0;
  MemoSize size;
  std::string answers;
};

// `shared`: where tables come from; null: new ones for every kernel.
void solve(const char* form, const Machine& machine, const Isa& isa, Tables* shared, Total& total) {
  for (const auto& [k, n] : kWeights)
    for (int m : kRows) {
      const Result<KernelSpec> kernel = parse_spec(fmt::format(fmt::runtime(form), m, k, n));
      MORELLO_CHECK(kernel.ok(), "{}", form);
      SearchOptions options;
      KeptTables own;
      options.tables = shared != nullptr ? shared : &own;
      Optimum best;
      total.seconds += process_seconds([&] {
        best = std::get<Optimum>(optimize(kernel->computation(), machine, isa, options));
      });
      total.solved += best.stats.specs;
      total.answers += print(best.problem, *best.impl);
      total.size += own.size();
    }
}

}  // namespace

int compare_sharing(const Machine& machine, const Isa& isa) {
  const char* const forms[] = {
      "(a: f32[{0},{1}], b: f32[{1},{2}] packed): f32 = matmul(a, b)",
      "(a: f32[{0},{1}], b: f32[{1},{2}]): f32 = matmul(a, b)",
      "(a: bf16[{0},{1}], b: bf16[{1},{2}] packed): f32 = matmul(a, b)",
  };
  fmt::print("{} kernels each, all families whose bound can win\n{:<12}{:>9}{:>12}{:>12}{:>9}\n",
             std::size(kWeights) * std::size(kRows), "", "CPU s", "solved", "boxes", "MiB");
  for (const char* form : forms) {
    Total alone, together;
    KeptTables tables;
    solve(form, machine, isa, nullptr, alone);
    solve(form, machine, isa, &tables, together);
    together.size = tables.size();
    fmt::print("{}\n", form);
    const auto print_line = [](const char* name, const Total& t) {
      fmt::print("{:<12}{:>9.2f}{:>12}{:>12}{:>9.1f}\n", name, t.seconds, t.solved, t.size.boxes,
                 static_cast<double>(t.size.bytes) / (1 << 20));
    };
    print_line("one by one", alone);
    print_line("together", together);
    fmt::print("{:<12}{:>9.2f}{:>12.2f}{:>12.2f}\n", "times", alone.seconds / together.seconds,
               static_cast<double>(alone.solved) / static_cast<double>(together.solved),
               static_cast<double>(alone.size.boxes) / static_cast<double>(together.size.boxes));
    std::fflush(stdout);
    if (alone.answers != together.answers) {
      fmt::print(stderr, "other programs with shared tables\n");
      return 1;
    }
  }
  return 0;
}

}  // namespace morello::bench
