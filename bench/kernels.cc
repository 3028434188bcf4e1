// Times generated kernels against the limits of the machine, in the same rounds. CMakeLists.txt
// lists the kernels and has them searched for and generated while this program is built.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>

#include "bench/generated.h"
#include "bench/limits.h"
#include "bench_kernels.h"  // generated: includes every kernel

namespace morello::bench {
namespace {

// A kernel and what came out of the measurement.
struct Subject : Generated {
  double seconds = 0;
  std::optional<double> of_peak = {}, of_read = {};
};

// One pool per number of threads.
ThreadPool& pool_of(std::size_t count) {
  const int threads = static_cast<int>(count);
  static std::vector<std::unique_ptr<ThreadPool>> pools;
  for (const auto& pool : pools)
    if (pool->size() == threads) return *pool;
  return *pools.emplace_back(std::make_unique<ThreadPool>(threads));
}

std::vector<Subject> all_subjects() {
  std::vector<Subject> out;
#define MORELLO_GIVEN(name, ...)                                                         \
  out.push_back({given<kernels::name##_info>(&kernels::name, kernels::name##_selected(), \
                                             pool_of(kernels::name##_info::threads))});
#define MORELLO_PACKED(name, ...)                                       \
  out.push_back({packed<kernels::name##_info, &kernels::name##_pack_b>( \
      &kernels::name, kernels::name##_selected(), pool_of(kernels::name##_info::threads))});
  MORELLO_BENCH_KERNELS(MORELLO_GIVEN, MORELLO_PACKED)
#undef MORELLO_GIVEN
#undef MORELLO_PACKED
  return out;
}

// Appends the limit to the tasks and returns its index; the same limit only once.
int limit(std::vector<Task>& tasks, std::optional<Task> task, int threads) {
  if (!task) return -1;
  task->name += fmt::format(", threads: {}, {}", threads, task->amount);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (tasks[i].name == task->name) return static_cast<int>(i);
  tasks.push_back(std::move(*task));
  return static_cast<int>(tasks.size()) - 1;
}

void measure(std::vector<Subject>& subjects, const Rounds& how) {
  struct Limits {
    int fma = -1;
    std::vector<int> reads;
  };
  std::vector<Task> tasks;
  std::vector<Limits> limits(subjects.size());
  std::size_t most = 0;
  for (const Subject& s : subjects)
    if (s.reads_once()) most = std::max(most, static_cast<std::size_t>(s.bytes));
  const Bytes data(most);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& s = subjects[i];
    ThreadPool& pool = pool_of(static_cast<std::size_t>(s.threads));
    tasks.push_back({s.name, s.operations, s.run});
    // The peak of the vectors that it uses.
    const int bits = s.isa.starts_with("avx512") ? 512 : 256;
    if (s.a->is_float()) limits[i].fma = limit(tasks, fma_task(bits, pool), s.threads);
    if (!s.reads_once()) continue;
    for (const int streams : {1, 2, 4})
      if (const int task =
              limit(tasks, read_task(data.data(), static_cast<std::size_t>(s.bytes), streams, pool),
                    s.threads);
          task >= 0)
        limits[i].reads.push_back(task);
  }
  const std::vector<double> medians = median_seconds(tasks, how);
  const auto rate = [&](int task) {
    return tasks[static_cast<std::size_t>(task)].amount / medians[static_cast<std::size_t>(task)];
  };
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    Subject& s = subjects[i];
    const auto own =
        std::find_if(tasks.begin(), tasks.end(), [&](const Task& t) { return t.name == s.name; });
    s.seconds = medians[static_cast<std::size_t>(own - tasks.begin())];
    if (limits[i].fma >= 0) s.of_peak = s.operations / s.seconds / rate(limits[i].fma);
    double best = 0;
    for (const int task : limits[i].reads) best = std::max(best, rate(task));
    if (best > 0) s.of_read = s.bytes / s.seconds / best;
  }
}

std::string share(const std::optional<double>& of) {
  return of ? fmt::format("{:.1f} %", 100 * *of) : "-";
}

void print(const std::vector<Subject>& subjects) {
  fmt::print("{:<22}{:<13}{:>8}{:>12}{:>10}{:>10}{:>9}{:>10}\n", "kernel", "isa", "threads",
             "median us", "GFLOP/s", "of peak", "GB/s", "of read");
  for (const Subject& s : subjects)
    fmt::print("{:<22}{:<13}{:>8}{:>12.2f}{:>10.1f}{:>10}{:>9.1f}{:>10}\n", s.name, s.isa,
               s.threads, s.seconds * 1e6, s.operations / s.seconds * 1e-9, share(s.of_peak),
               s.bytes / s.seconds * 1e-9, share(s.of_read));
}

std::string json(const std::vector<Subject>& subjects, const Rounds& how) {
  const auto number = [](const std::optional<double>& v) {
    return v ? fmt::format("{:.4f}", *v) : "null";
  };
  std::vector<std::string> rows;
  for (const Subject& s : subjects)
    rows.push_back(
        fmt::format("    {{\"name\": \"{}\", \"spec\": \"{}\", \"isa\": \"{}\", \"threads\": {}, "
                    "\"seconds\": {:.6g}, "
                    "\"operations_per_second\": {:.6g}, \"bytes_per_second\": {:.6g}, "
                    "\"share_of_fma_peak\": {}, \"share_of_read_bandwidth\": {}}}",
                    s.name, s.spec, s.isa, s.threads, s.seconds, s.operations / s.seconds,
                    s.bytes / s.seconds, number(s.of_peak), number(s.of_read)));
  return fmt::format("{{\n  \"rounds\": {},\n  \"kernels\": [\n{}\n  ]\n}}\n", how.rounds,
                     fmt::join(rows, ",\n"));
}

// "name=75": the kernel must reach 75 % of the FMA peak in one of several measurements.
int check_floor(std::vector<Subject>& subjects, const std::string& floor, const Rounds& how) {
  constexpr int kTries = 8, kSkipped = 77;
  if (!fma_peak(256, 1)) {
    fmt::print("skipped: this processor has no AVX2 and FMA\n");
    return kSkipped;
  }
  const std::size_t equals = floor.find('=');
  const double wanted = std::stod(floor.substr(equals + 1)) / 100;
  std::erase_if(subjects, [&](const Subject& s) { return s.name != floor.substr(0, equals); });
  if (subjects.size() != 1) {
    fmt::print(stderr, "no kernel is named as in `{}`\n", floor);
    return 2;
  }
  double best = 0;
  for (int t = 0; t < kTries && best < wanted; ++t) {
    measure(subjects, how);
    best = std::max(best, subjects[0].of_peak.value_or(0));
    fmt::print("{}: {:.1f} % of the FMA peak\n", subjects[0].name, 100 * *subjects[0].of_peak);
  }
  return best >= wanted ? 0 : 1;
}

// Every kernel is right before it is timed.
bool verified(const std::vector<Subject>& subjects) {
  bool all = true;
  for (const Subject& s : subjects) {
    s.run();
    const double error = s.error();
    if (error <= 1) continue;
    fmt::print(stderr, "{}: wrong; {:.3g} times the error that is allowed\n", s.name, error);
    all = false;
  }
  return all;
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  Rounds how;
  std::string json_file, floor, only;
  CLI::App app("Generated kernels and the limits of this machine");
  app.add_option("--rounds", how.rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", only, "Kernels whose name contains this");
  app.add_option("--json", json_file, "Write the results there");
  app.add_option("--floor", floor, "name=percent: fail below this share of the FMA peak");
  CLI11_PARSE(app, argc, argv);

  std::vector<Subject> subjects = all_subjects();
  std::erase_if(subjects, [&](const Subject& s) { return s.name.find(only) == std::string::npos; });
  if (!verified(subjects)) return 1;
  if (!floor.empty()) return check_floor(subjects, floor, how);
  measure(subjects, how);
  print(subjects);
  if (!json_file.empty()) std::ofstream(json_file) << json(subjects, how);
  return 0;
}
