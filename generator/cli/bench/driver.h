// A kernel of a generated header, compared with the reference and timed: the programs of
// `morello bench`, morello_add_test() and morello_add_benchmark(). What a kernel computes is said
// by a type S that `morello` writes (subject.cc); this file knows no kernel.
#ifndef MORELLO_TESTBENCH_DRIVER_H_
#define MORELLO_TESTBENCH_DRIVER_H_

#include <chrono>
#include <cstdio>
#include <string>

#include "morello/thread_pool.h"
#include "reference.h"

namespace morello::testbench {

using Clock = std::chrono::steady_clock;

template <class S, class... Hook>
double seconds_of(Data<S>& data, int repeats, Hook... hook) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < repeats; ++i) data.run(hook...);
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

// A cache with an adaptive policy takes a dozen passes over data that are not much smaller than it
// to settle on what it keeps of them (64 MiB in a large L3: 15 GB/s at first, 29 in the end).
template <class S, class... Hook>
void settle(Data<S>& data, Hook... hook) {
  constexpr int kCalls = 24;
  constexpr double kSeconds = 0.5;
  double spent = 0;
  for (int i = 0; i < kCalls && spent < kSeconds; ++i) spent += seconds_of(data, 1, hook...);
}

struct Times {
  double median = 0, best = 0;
};

// Rounds of at least 5 ms each, so that the clock's resolution does not matter.
template <class S, class... Hook>
Times measure(Data<S>& data, int rounds, Hook... hook) {
  int repeats = 1;
  while (seconds_of(data, repeats, hook...) * repeats < 0.005 && repeats < 1 << 28) repeats *= 2;
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) times.push_back(seconds_of(data, repeats, hook...));
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[0]};
}

struct Report {
  Checked checked;
  Times times;
};

// `rounds` 0: verifies only. Nothing is timed that is wrong.
template <class S>
Report run(const Inputs& inputs, int rounds) {
  Data<S> data(inputs);
  Report report;
  const auto go = [&](auto... hook) {
    data.run(hook...);
    report.checked = verify(data);
    if (report.checked.wrong > 0 || rounds == 0) return;
    settle(data, hook...);
    report.times = measure(data, rounds, hook...);
  };
  if constexpr (S::kThreads > 1) {
    ThreadPool pool(S::kThreads);
    go(static_cast<Parallel>(pool));
  } else {
    go();
  }
  return report;
}

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_DRIVER_H_
