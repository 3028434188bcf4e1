// Random kernels end to end: drawn, searched for, emitted, compiled with every compiler, run
// between guard pages and compared with plain loops.
//
//   run_random [--compositions|--convolutions] [--count N] [--seed S] [--batch B] [--jobs J]
//              [--cxx A,B] [--dir D] [--flags F]
//   run_random --spec TEXT [--threads N] [--isa LIST] [--odd SEED]      one, for a closer look
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>

#include "run/build.h"

namespace morello::run {
namespace {

// Specs per family, of which there are a few dozen.
constexpr i64 kSearchBudget = 200'000;
// CPU seconds for a header alone.
constexpr double kMostCompileSeconds = 3;
// One kernel in so many may be a function of which the reference knows little: softmax of squares
// of sums of bytes, which are 1e9 and rounded to 64.
constexpr int kKnownForUnknown = 50;

struct Args {
  int count = 40;
  std::uint64_t seed = 0;
  int batch = 10;
  int jobs = 2;
  std::vector<std::string> compilers = known_compilers();
  std::string directory = MORELLO_RUN_DIRECTORY;
  bool verbose = false;
  bool compositions = false, convolutions = false;
  std::string flags;
  std::string spec;
  int threads = 1;
  std::string isas = "avx2,scalar";
  std::uint64_t odd = 0;
};

// The most that anything took, and what it was.
class Longest {
 public:
  void take(double seconds, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (seconds > seconds_) std::tie(seconds_, what_) = std::tie(seconds, what);
  }
  std::string str() const { return fmt::format("{:.1f} s: {}", seconds_, what_); }

 private:
  std::mutex mutex_;
  double seconds_ = 0;
  std::string what_;
};

struct Totals {
  explicit Totals(size_t compilers) : compile(compilers) {}
  std::atomic<i64> search_milliseconds{0};
  Longest search;
  std::vector<Longest> compile;                      // per compiler
  std::vector<std::pair<size_t, Batch::Slow>> slow;  // with this compiler
  std::atomic<int> passed_over{0}, failed{0}, refused{0};
  // Kernels of several stages, and with several results; programs that do several stages tile by
  // tile.
  std::atomic<int> staged{0}, results{0}, fused{0};
  // Programs with parallel loops, with such in such, with shares of a reduction.
  std::atomic<int> parallel{0}, nested{0}, shares{0};
  // Outputs, with plain and with hard values, and those that the reference could not check.
  std::atomic<i64> outputs{0}, unchecked{0}, hard{0}, hard_unchecked{0};
  std::atomic<int> kernels{0}, unknown{0};
  std::mutex mutex;
  std::vector<double> widths;  // of the reference's intervals
  void count(const Batch::Outputs& o) {
    outputs += o.all;
    unchecked += o.unchecked;
    hard += o.hard;
    hard_unchecked += o.hard_unchecked;
    kernels += o.kernels;
    unknown += o.unknown;
    const std::lock_guard lock(mutex);
    widths.insert(widths.end(), o.widths.begin(), o.widths.end());
  }
  void count(size_t compiler, const std::vector<Batch::Slow>& headers) {
    const std::lock_guard lock(mutex);
    for (const Batch::Slow& s : headers) slow.emplace_back(compiler, s);
  }
  bool too_many_unknown() const {
    return unknown > kernels / kKnownForUnknown + static_cast<int>(compile.size());
  }
  void count(const Batch& batch) {
    staged += batch.stages() > 1;
    results += batch.results() > 1;
    for (const std::string& text : batch.programs()) {
      fused += batch.stages() > 1 && (text.starts_with("loop ") || text.starts_with("parallel "));
      parallel += text.find("parallel ") != std::string::npos;
      nested += text.find(" leaving ") != std::string::npos;
      shares += text.find("parallel split ") != std::string::npos;
    }
  }
};

// What models are made of.
const std::vector<Step> kKnown[] = {
    {Step::kMatmulLeft, Step::kSoftmax, Step::kMatmulLeft},
    {Step::kMatmulLeft, Step::kBinary, Step::kSoftmax, Step::kMatmulLeft},
    {Step::kMatmulRight, Step::kSoftmax, Step::kMatmulRight},
    {Step::kRmsNorm, Step::kBinary, Step::kStore, Step::kMatmulLeft},
    {Step::kMatmulLeft, Step::kUnary, Step::kBinary, Step::kStore, Step::kMatmulLeft},
    {Step::kBinary, Step::kLayerNorm, Step::kBinary, Step::kBinary},
};

// Two operators, one after the other, three of them, or one of these.
Drawn composed(Random& random, const std::string& name, Totals& totals) {
  std::vector<Step> steps(pick(random, 0, 3) == 0 ? 3 : 2);
  for (Step& s : steps) s = static_cast<Step>(pick(random, 0, kSteps - 1));
  const i64 known = pick(random, 0, 8 * static_cast<i64>(std::size(kKnown)) - 1);
  if (known < static_cast<i64>(std::size(kKnown))) steps = kKnown[known];
  int refused = 0;
  Drawn drawn = draw_composition(random, name, steps, refused);
  totals.refused += refused;
  return drawn;
}

// Draws and searches. A kernel whose search takes long is passed over: its turn is in shapes_test.
std::string fill(Batch& batch, int first, int size, Random& random, const Machine& odd,
                 const Args& a, Totals& totals) {
  static const Machine generic = *load_machine("x86-64-v3");
  batch.set_budget(kSearchBudget);
  for (int i = first; i < first + size;) {
    const std::string name = fmt::format("k{}", i);
    const Drawn drawn = a.compositions   ? composed(random, name, totals)
                        : a.convolutions ? draw_convolution(random, name)
                                         : draw(random, name);
    if (a.verbose) {
      fmt::print("{} threads={} isa={}\n", drawn.spec, drawn.threads, drawn.isas);
      std::fflush(stdout);
    }
    const std::string problem = batch.add(drawn, i % 2 == 0 ? generic : odd);
    if (problem == Batch::kTooLong) {
      ++totals.passed_over;
      continue;
    }
    if (!problem.empty()) return problem;
    ++i;
    totals.count(batch);
    const auto milliseconds = static_cast<i64>(batch.search_seconds() * 1000);
    totals.search_milliseconds += milliseconds;
    totals.search.take(batch.search_seconds(), batch.spec());
  }
  return "";
}

// Another one for every pair of the run's seed and the batch's number. (Their sum was: runs with
// seeds that follow one another drew nearly the same kernels.)
std::uint64_t batch_seed(std::uint64_t seed, int number) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(number)};
  return Random(words)();
}

// One program's worth of kernels, with its own seed: the same whatever the number of jobs.
std::string run_batch(const Args& a, int number, Totals& totals) {
  const std::uint64_t seed = batch_seed(a.seed, number);
  Random random(seed);
  const Machine odd = odd_machine(random);
  Batch batch(fmt::format("{}/{}", a.directory, number));
  const int first = number * a.batch;
  std::string problems =
      fill(batch, first, std::min(a.batch, a.count - first), random, odd, a, totals);
  if (!problems.empty()) return problems;
  for (size_t c = 0; c < a.compilers.size(); ++c) {
    // Every kernel with every compiler; optimised with one of them, and with the other next time,
    // which has to be quick with the longest header, too.
    const bool optimise = (static_cast<size_t>(number) + c) % 2 == 0;
    const std::string flags = !a.flags.empty() ? a.flags : optimise ? "-O2" : "-O0";
    const Toolchain toolchain = {a.compilers[c], flags};
    problems += batch.check(toolchain, fmt::format("{} unknown", seed));
    if (!a.flags.empty()) continue;
    const Batch::Longest alone =
        batch.compile_alone({a.compilers[c], "-O2"}, optimise, kMostCompileSeconds);
    problems += alone.problem;
    totals.compile[c].take(alone.seconds, alone.spec);
    totals.count(c, alone.slow);
  }
  totals.count(batch.outputs());
  return problems;
}

void print(const Args& a, int batches, Totals& totals) {
  fmt::print("{} failures in {} batches; search: {:.1f} s CPU, {} passed over\n",
             totals.failed.load(), batches, static_cast<double>(totals.search_milliseconds) / 1000,
             totals.passed_over.load());
  fmt::print("longest search, {}\n", totals.search.str());
  if (a.flags.empty())
    for (size_t c = 0; c < a.compilers.size(); ++c)
      fmt::print("longest to compile with {}, {}\n", a.compilers[c], totals.compile[c].str());
  fmt::print("unchecked: {} of {} outputs, of hard values {} of {}\n", totals.unchecked.load(),
             totals.outputs.load(), totals.hard_unchecked.load(), totals.hard.load());
  fmt::print("mostly unchecked: {} of {} kernels{}\n", totals.unknown.load(), totals.kernels.load(),
             totals.too_many_unknown() ? ", too many" : "");
  std::vector<double>& widths = totals.widths;
  std::sort(widths.begin(), widths.end());
  if (!widths.empty())
    fmt::print(
        "relative width of what is allowed: {:.1e} for half of the kernels, {:.1e} for nine "
        "of ten, at most {:.1e}\n",
        widths[widths.size() / 2], widths[widths.size() * 9 / 10], widths.back());
  fmt::print("programs with parallel loops: {}, in one another: {}, with shares of a sum: {}\n",
             totals.parallel.load(), totals.nested.load(), totals.shares.load());
  if (a.compositions)
    fmt::print(
        "kernels of several stages: {}, their programs in tiles: {}; with several results: {}; "
        "refused by the language: {}\n",
        totals.staged.load(), totals.fused.load(), totals.results.load(), totals.refused.load());
}

// Headers that took long, once nothing else runs.
void compile_again(Totals& totals) {
  for (const auto& [compiler, slow] : totals.slow) {
    const double seconds = compile_seconds(slow.command);
    totals.compile[compiler].take(seconds, slow.spec);
    if (seconds <= kMostCompileSeconds) continue;
    fmt::print("FAILED: {:.1f} s to compile {}\n  {}\n", seconds, slow.spec, slow.command);
    ++totals.failed;
  }
}

int run_random(const Args& a) {
  fmt::print("seed {}, {} kernels, compilers {}\n", a.seed, a.count, fmt::join(a.compilers, ", "));
  for (const Isa* isa : isa_table())
    if (!isa->runs_here()) fmt::print("compiled only: this CPU lacks {}\n", isa->name);
  std::fflush(stdout);
  const int batches = (a.count + a.batch - 1) / a.batch;
  Totals totals(a.compilers.size());
  std::atomic<int> next{0};
  std::mutex printing;
  const auto work = [&] {
    for (int i; (i = next.fetch_add(1)) < batches;) {
      const std::string problems = run_batch(a, i, totals);
      if (problems.empty()) continue;
      std::lock_guard lock(printing);
      fmt::print("FAILED: batch {} of seed {}, its own {}\n{}\n", i, a.seed, batch_seed(a.seed, i),
                 problems);
      std::fflush(stdout);
      ++totals.failed;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < a.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  compile_again(totals);
  print(a, batches, totals);
  return totals.failed == 0 && !totals.too_many_unknown() ? 0 : 1;
}

int run_one(const Args& a) {
  Random random(a.odd);
  const Machine machine = a.odd != 0 ? odd_machine(random) : *load_machine("x86-64-v3");
  Batch batch(a.directory + "/one");
  const std::string named = a.spec.starts_with('(') ? "k" + a.spec : a.spec;
  std::string problems = batch.add({named, a.threads, a.isas}, machine);
  for (const std::string& compiler : a.compilers)
    for (const std::string& flags : {a.flags.empty() ? "-O2" : a.flags, std::string("-O0")})
      if (problems.empty()) problems = batch.check({compiler, flags}, std::to_string(a.seed));
  fmt::print("{}\n", problems.empty() ? "ok" : problems);
  return problems.empty() ? 0 : 1;
}

}  // namespace
}  // namespace morello::run

int main(int argc, char** argv) {
  morello::run::Args a;
  CLI::App app("Random kernels, end to end");
  app.add_option("--count", a.count, "Kernels")->check(CLI::Range(1, 1000000));
  app.add_option("--seed", a.seed, "Of the drawing and of the data");
  app.add_option("--batch", a.batch, "Kernels in one program")->check(CLI::Range(1, 1000));
  app.add_option("--jobs", a.jobs, "Programs at a time")->check(CLI::Range(1, 64));
  app.add_option("--cxx", a.compilers, "Compilers, with commas between them")->delimiter(',');
  app.add_option("--dir", a.directory, "Where files go");
  app.add_flag("--verbose", a.verbose, "Every kernel before it is searched for");
  app.add_flag("--compositions", a.compositions, "Of two or three operators");
  app.add_flag("--convolutions", a.convolutions, "Of pictures, mostly with zeros around them")
      ->excludes("--compositions");
  app.add_option("--flags", a.flags, "For the compilers, instead of -O2 and -O0");
  app.add_option("--spec", a.spec, "Only this kernel");
  app.add_option("--threads", a.threads, "Of --spec")->check(CLI::Range(1, 64));
  app.add_option("--isa", a.isas, "Of --spec");
  app.add_option("--odd", a.odd, "Seed of an odd machine for --spec, a batch's own; 0: x86-64-v3");
  CLI11_PARSE(app, argc, argv);
  return a.spec.empty() ? run_random(a) : run_one(a);
}
