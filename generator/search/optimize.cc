#include "search/optimize.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "search/count.h"

namespace morello {
namespace {

// One family, with or without threads: a search of its own.
struct Task {
  Problem problem;
  FamilyResult result;
  ImplPtr impl;
  bool exhausted = false;
};

// Tasks are independent; what they share is the best cost so far, which only ever lets a task be
// skipped whose bound is worse. A task with an equal bound is not skipped, so the winner (least
// cost, then first in order) is the same whatever the timing.
class Race {
 public:
  Race(std::vector<Task>& tasks, const SearchOptions& options) : tasks_(tasks), options_(options) {}

  void run() {
    std::vector<std::thread> others;
    const int jobs = std::min(options_.jobs, static_cast<int>(tasks_.size()));
    for (int i = 1; i < jobs; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& t : others) t.join();
  }

  // Whether a family that ran out of budget might have won. One whose bound is worse than the
  // winner does not count: other timing would have skipped it.
  bool undecided() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [&](const Task& t) {
      return t.exhausted && (winner < 0 || t.result.lower_bound <= tasks_[winner].result.cost);
    });
  }

  SearchStats stats;
  int winner = -1;

 private:
  void work() {
    for (int i; (i = next_.fetch_add(1)) < static_cast<int>(tasks_.size());) {
      Task& t = tasks_[i];
      if (t.result.lower_bound > best_cost()) {
        t.result.skipped = true;
        finish(i, {});
        continue;
      }
      const Space space(t.problem);
      Solver solver(space, options_.max_specs);
      const Spec root = t.problem.root();
      const Limits capacity = space.capacity();
      t.result.cost = solver.solve(root, capacity).cost;
      t.exhausted = solver.exhausted();
      if (t.exhausted) t.result.cost = Cost::infinite();
      if (t.result.cost.finite() && t.result.cost <= best_cost())
        t.impl = solver.extract(root, capacity);
      finish(i, solver.stats());
    }
  }
  Cost best_cost() {
    std::lock_guard lock(mutex_);
    return winner < 0 ? Cost::infinite() : tasks_[winner].result.cost;
  }
  void finish(int i, const SearchStats& s) {
    std::lock_guard lock(mutex_);
    stats += s;
    const Cost cost = tasks_[i].result.cost;
    if (cost.finite() && !tasks_[i].result.skipped) {
      const bool better = winner < 0 || cost < tasks_[winner].result.cost ||
                          (cost == tasks_[winner].result.cost && i < winner);
      if (better) {
        if (winner >= 0) tasks_[winner].impl.reset();
        winner = i;
      } else {
        tasks_[i].impl.reset();
      }
    }
    ++done_;
    if (options_.progress)
      options_.progress(done_, static_cast<int>(tasks_.size()),
                        winner < 0 ? Cost::infinite() : tasks_[winner].result.cost);
  }

  std::vector<Task>& tasks_;
  const SearchOptions& options_;
  std::atomic<int> next_{0};
  std::mutex mutex_;
  int done_ = 0;
};

std::vector<Task> make_tasks(const Computation& c, const Machine& machine, const Isa& isa,
                             const SearchOptions& options) {
  std::vector<Task> tasks;
  for (const Family& f : families(c, isa))
    for (int threads : {1, options.threads}) {
      if (threads == 1 && !tasks.empty() && tasks.back().problem.threads == 1 &&
          tasks.back().problem.family == f)
        continue;
      Task t;
      t.problem = {&c, &machine, f, threads};
      t.result = {f, threads, Space(t.problem).lower_bound()};
      tasks.push_back(std::move(t));
    }
  // Cheapest bound first; the table's order decides among equals.
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
    return a.result.lower_bound < b.result.lower_bound;
  });
  return tasks;
}

}  // namespace

std::variant<Optimum, StopReason> optimize(const Computation& c, const Machine& machine,
                                           const Isa& isa, const SearchOptions& options) {
  std::vector<Task> tasks = make_tasks(c, machine, isa, options);
  Race race(tasks, options);
  race.run();
  if (race.undecided()) return StopReason::kBudget;
  if (race.winner < 0) return StopReason::kNoImplementation;
  Task& t = tasks[race.winner];
  Optimum best{t.problem, t.impl, t.result.cost, race.stats, 0, {}};
  if (options.count_programs) best.log10_programs = log10_programs(Space(t.problem));
  for (Task& task : tasks) best.families.push_back(std::move(task.result));
  return best;
}

}  // namespace morello
