#include "bench/rounds.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>

namespace morello::bench {
namespace {

double seconds_by(clockid_t clock, const std::function<void()>& call) {
  const auto now = [&] {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double start = now();
  call();
  return now() - start;
}

double seconds_of_calls(const Task& task, long calls, bool cpu_time) {
  const auto all = [&] {
    for (long i = 0; i < calls; ++i) task.run();
  };
  return cpu_time ? cpu_seconds(all) : seconds(all);
}

// Before the calls that count: caches are another task's, and one with an adaptive policy takes a
// dozen passes to settle on what it keeps of a large operand (64 MiB: 15 GB/s at first, then 29).
void settle(const Task& task, long calls) {
  constexpr long kPasses = 16;
  constexpr double kSeconds = 0.1;
  double spent = 0;
  for (long i = 0; i < std::max(calls, kPasses) && (i < calls || spent < kSeconds); ++i)
    spent += seconds(task.run);
}

// Calls that fill a slot, found by doubling until a measurable part of it is filled.
long calls_in_slot(const Task& task, const Rounds& how) {
  task.run();
  long calls = 1;
  double spent = seconds_of_calls(task, calls, how.cpu_time);
  while (spent < how.slot_seconds / 4) {
    calls *= 2;
    spent = seconds_of_calls(task, calls, how.cpu_time);
  }
  const double per_call = spent / static_cast<double>(calls);
  return std::max(1L, static_cast<long>(how.slot_seconds / per_call));
}

}  // namespace

double seconds(const std::function<void()>& call) { return seconds_by(CLOCK_MONOTONIC, call); }

double cpu_seconds(const std::function<void()>& call) {
  return seconds_by(CLOCK_THREAD_CPUTIME_ID, call);
}

double process_seconds(const std::function<void()>& call) {
  return seconds_by(CLOCK_PROCESS_CPUTIME_ID, call);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Times times_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const std::size_t n = seconds.size();
  const double middle = seconds[n / 2];
  return {middle, (seconds[n - 1 - n / 4] - seconds[n / 4]) / middle};
}

Turn turn_of(Task task, const Rounds& how) {
  const long calls = calls_in_slot(task, how);
  return [task = std::move(task), calls, cpu_time = how.cpu_time] {
    settle(task, calls);
    return seconds_of_calls(task, calls, cpu_time) / static_cast<double>(calls);
  };
}

std::vector<Times> times_of_rounds(const std::vector<Task>& tasks, const Rounds& how) {
  std::vector<Turn> turns;
  for (const Task& task : tasks) turns.push_back(turn_of(task, how));
  std::vector<std::vector<double>> seconds(tasks.size());
  for (int round = 0; round < how.rounds; ++round)
    for (std::size_t t = 0; t < turns.size(); ++t) seconds[t].push_back(turns[t]());
  std::vector<Times> out;
  for (std::vector<double>& list : seconds) out.push_back(times_of(std::move(list)));
  return out;
}

std::vector<double> median_seconds(const std::vector<Task>& tasks, const Rounds& how) {
  std::vector<double> medians;
  for (const Times& t : times_of_rounds(tasks, how)) medians.push_back(t.median);
  return medians;
}

}  // namespace morello::bench
