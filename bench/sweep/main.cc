// Kernels that nobody has chosen beside oneDNN, plain loops and our own kernels of their steps,
// with each instruction set that this processor has (worker.cc).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "bench/peers/compare.h"

namespace morello::bench {
namespace {

double ratio(const Compared& w) {
  const Timed* best = w.best_peer();
  return best == nullptr ? INFINITY : best->seconds / w.times.front().seconds;
}

// The slowest beside others first, with specs: what is to be looked at.
std::string sweep_markdown(const std::vector<Column>& columns) {
  std::string out;
  for (const Column& c : columns) {
    std::vector<const Compared*> rows;
    for (const Compared& w : c.works) rows.push_back(&w);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Compared* a, const Compared* b) { return ratio(*a) < ratio(*b); });
    out += fmt::format(
        "### {}\n\n| ratio | best peer | us | Gop/s | kernel | spec "
        "|\n|---:|---|---:|---:|---|---|\n",
        c.isa);
    for (const Compared* w : rows) {
      const Timed& ours = w->times.front();
      const Timed* best = w->best_peer();
      out += fmt::format("| {} | {} | {:.2f} | {:.1f} | {} | `{}` |\n",
                         best == nullptr ? "" : fmt::format("{:.2f}", ratio(*w)),
                         best == nullptr ? "" : best->name, ours.seconds * 1e6,
                         w->rate(ours) * 1e-9, w->name, w->spec);
    }
    out += means(c) + "\n" + what_ran(c) + "\n";
  }
  return out;
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  CLI::App app("Kernels drawn at random beside other libraries");
  unsigned long seed = 1;
  int count = 10, jobs = 1;
  std::string directory = "sweep", machine = MORELLO_BENCH_MACHINE;
  app.add_option("--seed", seed, "Of the drawing");
  app.add_option("--count", count, "Kernels of each kind")->check(CLI::Range(1, 100000));
  app.add_option("--jobs", jobs, "Searches and compilers at a time")->check(CLI::Range(1, 1024));
  app.add_option("--directory", directory, "Where what is generated goes");
  app.add_option("--machine", machine, "As for morello");
  return compare(app, argc, argv,
                 {{"AVX2", MORELLO_PROGRAM_AVX2, runs_avx2()},
                  {"AVX-512", MORELLO_PROGRAM_AVX512, runs_avx512()}},
                 {.markdown = sweep_markdown, .arguments = [&] {
                    return fmt::format(
                        " --seed {} --count {} --jobs {} --directory '{}' --machine '{}'", seed,
                        count, jobs, directory, machine);
                  }});
}
