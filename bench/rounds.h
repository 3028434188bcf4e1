// Timing of several tasks against each other on a machine that does other things, too.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace morello::bench {

// Something to time. `amount` is what one call does, in operations or bytes.
struct Task {
  std::string name;
  double amount = 1;
  std::function<void()> run;
};

struct Rounds {
  int rounds = 11;
  // Each task runs this long without, then this long with the clock, once a round. A task on more
  // data than the nearer caches hold wants a dozen calls in it: adaptive caches settle slowly.
  double slot_seconds = 5e-3;
  // Counts what the calling thread computes, not what passes: other programs on its processor cost
  // it caches only. For tasks of one thread.
  bool cpu_time = false;
};

struct Times {
  double median = 0;
  double spread = 0;  // third quartile minus first, as a share of the median
};
// Not of an empty list.
Times times_of(std::vector<double> seconds);

// Lets a task run for its part of a round, and says what a call took, in seconds.
using Turn = std::function<double()>;
// Finds out how many calls that are.
Turn turn_of(Task task, const Rounds& how = {});

// The times of each task's calls over the rounds, in the order of `tasks`. A round runs every task
// once, so what disturbs the machine for longer than a round disturbs all of them.
std::vector<Times> times_of_rounds(const std::vector<Task>& tasks, const Rounds& how = {});
std::vector<double> median_seconds(const std::vector<Task>& tasks, const Rounds& how = {});

// Sorts; the upper one of two middle values. Not for an empty list.
double median(std::vector<double> values);

// What `call` takes, in seconds, by the steady clock.
double seconds(const std::function<void()>& call);
// The same by the clock of the calling thread; and by that of all threads of the process.
double cpu_seconds(const std::function<void()>& call);
double process_seconds(const std::function<void()>& call);

}  // namespace morello::bench
