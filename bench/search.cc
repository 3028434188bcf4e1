// What the searches for well-known kernels cost, and what they found: a table, one row per kernel
// and instruction set.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

#include "search/count.h"
#include "search/optimize.h"
#include "spec/kernel_spec.h"

namespace {

using namespace morello;

struct Row {
  const char* spec;
  int threads;
};

constexpr Row kRows[] = {
    {"(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)", 1},
    {"(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)", 2},
    {"(a: f32[512,512], b: f32[512,512]): f32 = matmul(a, b)", 1},
    {"(a: f32[512,512], b: f32[512,512]): f32 = matmul(a, b)", 2},
    {"(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)", 1},
    {"(a: f32[3,5], b: f32[5,7]): f32 = matmul(a, b)", 1},
    {"(a: f32[77,300], b: f32[300,100]): f32 = matmul(a, b)", 1},
    {"(a: f32[1,16384], b: f32[16384,2048]): f32 = matmul(a, b)", 1},
    {"(a: f32[4096,64], b: f32[64,4096]): f32 = matmul(a, b)", 1},
    {"(a: u8[512,512], b: i8[512,512] packed): i32 = matmul(a, b)", 1},
    {"(a: bf16[64,2048], b: bf16[2048,2048] packed): f32 = matmul(a, b)", 1},
};

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void print_row(const KernelSpec& spec, int threads, const Isa& isa, const Machine& machine,
               int jobs) {
  SearchOptions options;
  options.threads = threads;
  options.jobs = jobs;
  const double start = cpu_seconds();
  const auto found = optimize(spec.computation, machine, isa, options);
  const double seconds = cpu_seconds() - start;
  const Optimum* best = std::get_if<Optimum>(&found);
  if (best == nullptr) {
    fmt::print("{:>8.2f}  no implementation  {} {}\n", seconds, isa.name, spec.str());
    return;
  }
  // Counting is no part of the search, so it is not in its time.
  const double programs = log10_programs(Space(best->problem));
  fmt::print("{:>8.2f}{:>12}{:>13}{:>12}{:>9.1f}{:>10.1f}{:>13.4g}  {:<7}{:>2}  {}\n", seconds,
             best->stats.specs, best->stats.candidates, best->stats.memo.boxes,
             static_cast<double>(best->stats.memo.bytes) / (1 << 20), programs,
             best->cost.as_cycles(), isa.name, threads, spec.str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string machine_name = "x86-64-v3", text;
  int threads = 1, jobs = 1;
  CLI::App app("What searches cost");
  app.add_option("--machine", machine_name, "A shipped name, a file, or native");
  app.add_option("--spec", text, "This kernel instead of the table's");
  app.add_option("--threads", threads, "Of --spec")->check(CLI::Range(1, 1024));
  app.add_option("-j", jobs, "Threads of the search")->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, argc, argv);
  const Result<Machine> machine = load_machine(machine_name);
  if (!machine) {
    fmt::print(stderr, "{}\n", machine.error().str());
    return 2;
  }
  std::vector<Row> rows(std::begin(kRows), std::end(kRows));
  if (!text.empty()) rows = {{text.c_str(), threads}};
  fmt::print("{:>8}{:>12}{:>13}{:>12}{:>9}{:>10}{:>13}  isa  threads  spec\n", "CPU s", "specs",
             "candidates", "boxes", "memo MB", "log10(n)", "cycles");
  for (const Row& row : rows) {
    const Result<KernelSpec> spec = parse_spec(row.spec);
    if (!spec) {
      fmt::print(stderr, "{}\n", spec.error().str());
      return 3;
    }
    for (const Isa* isa : isa_table()) print_row(*spec, row.threads, *isa, *machine, jobs);
  }
  return 0;
}
