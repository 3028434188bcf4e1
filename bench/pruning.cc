// What each pruning of the search saves: the same searches with all of it and with one left out.
// Every search is a process of its own, so that one which takes too long can be ended, and its CPU
// time is its own. The costs found must be equal.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "search/optimize.h"
#include "spec/kernel_spec.h"

namespace {

using namespace morello;

constexpr const char* kSpecs[] = {
    "(a: f32[256,256], b: f32[256,256]): f32 = matmul(a, b)",
    "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)",
    "(a: f32[100,300], b: f32[300,77]): f32 = matmul(a, b)",
    "(a: bf16[512,2048], b: bf16[2048,2048]): f32 = matmul(a, b)",
};

struct Switch {
  const char* name;
  bool Pruning::*off;
};
constexpr Switch kSwitches[] = {
    {"all", nullptr},
    {"no bounds", &Pruning::bounds},
    {"no incumbents", &Pruning::incumbents},
    {"no boxes", &Pruning::boxes},
    {"no short keys", &Pruning::keys},
};

struct Measured {
  double seconds = 0;
  SearchStats stats;
  Cost cost;
};

double cpu_seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

[[noreturn]] void search(const KernelSpec& spec, const Isa& isa, const Machine& machine,
                         const Switch& s, int most_seconds, int result) {
  const auto limit = static_cast<rlim_t>(most_seconds);
  const rlimit cpu{limit, limit};
  setrlimit(RLIMIT_CPU, &cpu);
  SearchOptions options;
  if (s.off != nullptr) options.pruning.*s.off = false;
  const auto found = optimize(spec.computation(), machine, isa, options);
  Measured m;
  if (const Optimum* best = std::get_if<Optimum>(&found)) {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    m = {cpu_seconds(used.ru_utime) + cpu_seconds(used.ru_stime), best->stats, best->cost};
  }
  const bool written = write(result, &m, sizeof m) == sizeof m;
  _exit(written ? 0 : 1);
}

// Nothing if it took too long.
std::optional<Measured> measure(const KernelSpec& spec, const Isa& isa, const Machine& machine,
                                const Switch& s, int most_seconds) {
  std::fflush(stdout);
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) search(spec, isa, machine, s, most_seconds, ends[1]);
  close(ends[1]);
  Measured m;
  const bool whole = child > 0 && read(ends[0], &m, sizeof m) == sizeof m;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return whole ? std::optional(m) : std::nullopt;
}

// The run with the median time.
std::optional<Measured> median(std::vector<std::optional<Measured>> runs) {
  if (std::find(runs.begin(), runs.end(), std::nullopt) != runs.end()) return std::nullopt;
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a->seconds < b->seconds; });
  return runs[runs.size() / 2];
}

// Whether all costs are equal.
bool print_spec(const KernelSpec& spec, const Isa& isa, const Machine& machine, int rounds,
                int most_seconds) {
  std::vector<std::optional<Measured>> runs[std::size(kSwitches)];
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < std::size(kSwitches); ++i)
      if (round == 0 || runs[i].front())
        runs[i].push_back(measure(spec, isa, machine, kSwitches[i], most_seconds));
  fmt::print("{}\n{:<15}{:>8}{:>8}{:>12}{:>8}{:>13}{:>12}{:>10}{:>14}\n", spec.str(), "", "CPU s",
             "factor", "specs", "factor", "candidates", "boxes", "memo MB", "cycles");
  std::optional<Measured> all;
  bool equal = true;
  for (size_t i = 0; i < std::size(kSwitches); ++i) {
    const std::optional<Measured> m = median(runs[i]);
    if (i == 0) all = m;
    if (!m || !all) {
      fmt::print("{:<15}  more than {} s\n", kSwitches[i].name, most_seconds);
      continue;
    }
    fmt::print("{:<15}{:>8.2f}{:>8.2f}{:>12}{:>8.2f}{:>13}{:>12}{:>10.1f}{:>14.6g}\n",
               kSwitches[i].name, m->seconds, m->seconds / all->seconds, m->stats.specs,
               static_cast<double>(m->stats.specs) / static_cast<double>(all->stats.specs),
               m->stats.candidates, m->stats.memo.boxes,
               static_cast<double>(m->stats.memo.bytes) / (1 << 20), m->cost.as_cycles());
    equal &= m->cost == all->cost;
  }
  if (!equal) fmt::print("the costs differ\n");
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  std::string machine_name = "zen5", isa_name, text;
  int rounds = 3, most_seconds = 60;
  CLI::App app("What each pruning of the search saves");
  app.add_option("--machine", machine_name, "A shipped name, a file, or native");
  app.add_option("--isa", isa_name, "Instruction set (default: the machine's)");
  app.add_option("--spec", text, "This kernel instead of the table's");
  app.add_option("--rounds", rounds, "Medians over as many")->check(CLI::Range(1, 100));
  app.add_option("--seconds", most_seconds, "End a search after as many")
      ->check(CLI::Range(1, 10'000));
  CLI11_PARSE(app, argc, argv);
  const Result<Machine> machine = load_machine(machine_name);
  if (!machine) {
    fmt::print(stderr, "{}\n", machine.error().str());
    return 2;
  }
  const Isa* isa = find_isa(isa_name.empty() ? machine->isa : isa_name);
  std::vector<const char*> texts(std::begin(kSpecs), std::end(kSpecs));
  if (!text.empty()) texts = {text.c_str()};
  bool equal = true;
  for (const char* t : texts) {
    const Result<KernelSpec> spec = parse_spec(t);
    if (!spec || isa == nullptr) {
      fmt::print(stderr, "{}\n", spec ? "unknown instruction set" : spec.error().str());
      return 3;
    }
    equal &= print_spec(*spec, *isa, *machine, rounds, most_seconds);
  }
  return equal ? 0 : 1;
}
