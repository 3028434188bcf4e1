// What searches cost, and what they find. Every search runs in a process of its own, so that CPU
// time and memory are its alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "bench/search_memos.h"
#include "bench/search_run.h"
#include "bench/search_sharing.h"
#include "search/optimize.h"

namespace {

using namespace morello;
using namespace morello::bench;

// The promise: CPU seconds on one core, cold.
struct Row {
  const char* name;
  const char* spec;
  int threads;
  double limit;  // seconds; 0: none stated
};

constexpr Row kRows[] = {
    {"f32_16", "(a: f32[16,16], b: f32[16,16]): f32 = matmul(a, b)", 1, 0.2},
    {"matvec_packed", "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)", 1, 1},
    {"matvec_n_major", "(x: bf16[1,2048], w: bf16[2048,16384] col): f32 = matmul(x, w)", 1, 1},
    {"matvec_k_major", "(x: bf16[1,2048], w: bf16[2048,16384]): f32 = matmul(x, w)", 1, 0},
    {"f32_100x300x77", "(a: f32[100,77], b: f32[77,300]): f32 = matmul(a, b)", 1, 8},
    {"bf16_512x2048x2048", "(a: bf16[512,2048], b: bf16[2048,2048]): f32 = matmul(a, b)", 1, 6},
    {"f32_2048", "(a: f32[2048,2048], b: f32[2048,2048]): f32 = matmul(a, b)", 1, 6},
    {"matvec_packed_2", "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)", 2, 0},
    {"f32_512_2", "(a: f32[512,512], b: f32[512,512]): f32 = matmul(a, b)", 2, 0},
    {"f32_4096x64x4096", "(a: f32[4096,64], b: f32[64,4096]): f32 = matmul(a, b)", 1, 0},
    {"u8i8_512", "(a: u8[512,512], b: i8[512,512] packed): i32 = matmul(a, b)", 1, 0},
    {"bf16_64x2048x2048", "(a: bf16[64,2048], b: bf16[2048,2048] packed): f32 = matmul(a, b)", 1,
     0},
    {"u8i8_1009x1013x1019", "(a: u8[1009,1013], b: i8[1013,1019]): i32 = matmul(a, b)", 1, 0},
};

struct Args {
  std::string machine = "x86-64-v3", spec, only, isa = "avx2", directory;
  int threads = 1, jobs = 2, repeat = 1;
  double seconds = 60;
  bool nests = false, memos = false, sharing = false;
};

void print_head(int jobs) {
  fmt::print("{:<20}{:>7}{:>9}{:>9}{:>8}{:>9}{:>11}{:>12}{:>9}{:>9}{:>9}{:>12}\n", "kernel",
             "limit s", "CPU s", "wall s", fmt::format("x at {}", jobs), "warm s", "specs", "boxes",
             "B/box", "RSS MiB", "log10 n", "cycles");
}

std::string seconds_or_dash(double s) { return s > 0 ? fmt::format("{:.3g}", s) : "-"; }

// Cold with one thread and with several, then warm from what a cold one has saved; medians.
void print_row(const Row& row, const Args& a, const Isa& isa, const Machine& machine) {
  const Result<KernelSpec> spec = parse_spec(row.spec);
  if (!spec) {
    fmt::print(stderr, "{}\n", spec.error().str());
    std::exit(3);
  }
  SearchRun run{&*spec, &machine, &isa, row.threads};
  std::vector<Measured> one, several, warm;
  const std::string tables = a.directory + "/" + row.name;
  for (int i = 0; i < a.repeat; ++i) {
    run.count = i == 0;
    one.push_back(measure(run));
    run.count = false;
    run.jobs = a.jobs;
    several.push_back(measure(run));
    run.jobs = 1;
    if (a.directory.empty()) continue;
    run.tables = tables;
    if (i == 0) measure(run);
    warm.push_back(measure(run));
    run.tables.clear();
  }
  const Measured& first = one.front();
  const double cpu = median(one, &Measured::cpu), wall = median(one, &Measured::wall);
  fmt::print(
      "{:<20}{:>7}{:>9.3f}{:>9.3f}{:>8.2f}{:>9}{:>11}{:>12}{:>9.1f}{:>9.0f}{:>9.1f}{:>12.5g}\n",
      row.name, seconds_or_dash(row.limit), cpu, wall, wall / median(several, &Measured::wall),
      warm.empty() ? "-" : fmt::format("{:.3f}", median(warm, &Measured::cpu)), first.stats.specs,
      first.stats.memo.boxes,
      static_cast<double>(first.stats.memo.bytes) / static_cast<double>(first.stats.memo.boxes),
      first.rss / (1 << 20), first.log10_programs, first.cycles);
  for (const Measured* m :
       {&std::as_const(several).front(), warm.empty() ? &first : &std::as_const(warm).front()})
    if (m->nest != first.nest || m->cycles != first.cycles) {
      fmt::print(stderr, "{}: another answer with threads or tables\n", row.name);
      std::exit(1);
    }
  if (a.nests) fmt::print("\n{}\n", first.nest);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Args a;
  CLI::App app("What searches cost, and what they find");
  app.add_option("--machine", a.machine, "A shipped name, a file, or native");
  app.add_option("--isa", a.isa, "Instruction set to search for");
  app.add_option("--spec", a.spec, "This kernel instead of the table's");
  app.add_option("--only", a.only, "Rows whose name contains this");
  app.add_option("--threads", a.threads, "Of --spec")->check(CLI::Range(1, 1024));
  app.add_option("-j", a.jobs, "Threads to compare one with")->check(CLI::Range(1, 1024));
  app.add_option("--repeat", a.repeat, "Rounds; medians are printed")->check(CLI::Range(1, 99));
  app.add_option("--tables", a.directory, "Directory for warm searches; without it there are none");
  app.add_flag("--nests", a.nests, "Print what was found");
  app.add_flag("--memos", a.memos, "Compare with a memo by (Spec, exact limits) and a flat one");
  app.add_flag("--sharing", a.sharing, "Layers of language models one by one and together");
  app.add_option("--seconds", a.seconds, "Of --memos: end a search after as many")
      ->check(CLI::Range(1, 100'000));
  CLI11_PARSE(app, argc, argv);
  const Result<Machine> machine = load_machine(a.machine);
  if (!machine) {
    fmt::print(stderr, "{}\n", machine.error().str());
    return 2;
  }
  const Isa* isa = find_isa(a.isa);
  if (isa == nullptr) {
    fmt::print(stderr, "no instruction set {}\n", a.isa);
    return 2;
  }
  if (a.memos) return compare_memos(*machine, *isa, a.only, a.seconds);
  if (a.sharing) return compare_sharing(*machine, *isa);
  std::vector<Row> rows(std::begin(kRows), std::end(kRows));
  if (!a.spec.empty()) rows = {{"spec", a.spec.c_str(), a.threads, 0}};
  print_head(a.jobs);
  for (const Row& row : rows)
    if (std::string_view(row.name).find(a.only) != std::string_view::npos)
      print_row(row, a, *isa, *machine);
  return 0;
}
