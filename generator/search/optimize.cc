#include "search/optimize.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
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
  bool done = false;
};

// What threads need to work on one task together.
struct Search {
  Search(const Task& t, const SearchOptions& o, Tables* tables)
      : space(t.problem, o.pruning),
        memo(tables ? tables->open(space.signature(), o.jobs)
                    : std::make_unique<SpatialMemo>(o.jobs)),
        of_sums(tables ? space.signature_of_sums() : ""),
        sums(of_sums.empty() ? nullptr : tables->open(of_sums, o.jobs)),
        solver(space, *memo, {o.max_specs, o.pruning, o.progress}, sums.get()) {}

  void close(Tables& tables) {
    tables.close(space.signature(), std::move(memo));
    if (sums) tables.close(of_sums, std::move(sums));
  }

  Space space;
  std::unique_ptr<SpatialMemo> memo;
  std::string of_sums;
  std::unique_ptr<SpatialMemo> sums;
  Solver solver;
  int helpers = 0;
};

// Tasks are independent; what they share is the best cost so far, which only ever lets a task be
// skipped whose bound is worse. A task with an equal bound is not skipped, so the winner (least
// cost, then first in order) is the same whatever the timing. A thread that finds no task left
// helps with one that is under way.
class Race {
 public:
  Race(std::vector<Task>& tasks, const SearchOptions& options)
      : tasks_(tasks),
        options_(options),
        tables_(options.max_specs > 0 ? nullptr : options.tables) {
    if (options_.progress) options_.progress->families = static_cast<int>(tasks.size());
  }

  void run() {
    std::vector<std::thread> others;
    const int jobs = options_.max_specs > 0
                         ? std::min(options_.jobs, static_cast<int>(tasks_.size()))
                         : options_.jobs;
    for (int i = 1; i < jobs; ++i) others.emplace_back([this, i] { work(i); });
    work(0);
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
  void work(int self) {
    for (int i; !lost_ && (i = next_.fetch_add(1)) < static_cast<int>(tasks_.size());) {
      if (options_.pruning.bounds && cannot_win(tasks_[i].result.lower_bound)) {
        tasks_[i].result.skipped = true;
        finish(i, {});
      } else {
        finish(i, solve(i));
      }
    }
    if (options_.max_specs == 0)
      while (help(self)) continue;
  }

  SearchStats solve(int i) {
    Task& t = tasks_[i];
    Search search(t, options_, tables_);
    const MemoSize known = search.solver.stats().memo;  // by searches before this one
    start(search);
    const Spec root = t.problem.root();
    const Limits capacity = search.space.capacity();
    t.result.cost = search.solver.solve(root, capacity).cost;
    stop(search);
    t.exhausted = search.solver.exhausted();
    if (t.exhausted) t.result.cost = Cost::infinite();
    if (t.result.cost.finite() && t.result.cost <= best_cost())
      t.impl = search.solver.extract(root, capacity);
    SearchStats done = search.solver.stats();
    done.memo -= known;
    if (tables_) search.close(*tables_);
    return done;
  }

  // Helpers may join between start and stop; stop waits until they have left.
  void start(Search& s) {
    std::lock_guard lock(mutex_);
    running_.push_back(&s);
  }
  void stop(Search& s) {
    std::unique_lock lock(mutex_);
    std::erase(running_, &s);
    left_.wait(lock, [&] { return s.helpers == 0; });
  }
  // Helps with a task until it is solved; false if there is none.
  bool help(int self) {
    Search* s = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (running_.empty()) return false;
      s = running_[static_cast<size_t>(self) % running_.size()];
      ++s->helpers;
    }
    s->solver.help(s->space.problem().root(), s->space.capacity(), self + 1, options_.jobs + 1);
    std::unique_lock lock(mutex_);
    --s->helpers;
    left_.notify_all();
    // Its owner is about to stop; until then there is nothing more to do here.
    std::erase(running_, s);
    return true;
  }

  // Whether undecided() will hold whatever the tasks that are not done find: one ran out of budget,
  // none before it is cheaper than its bound, and none behind it can be.
  bool is_lost() const {
    Cost before = Cost::infinite();
    for (const Task& t : tasks_) {
      if (!t.done) return false;
      if (t.exhausted && t.result.lower_bound <= before) return true;
      before = std::min(before, t.result.cost);
    }
    return false;
  }

  bool cannot_win(Cost bound) { return bound > best_cost() || bound >= options_.bounds_below; }
  Cost best_cost() {
    std::lock_guard lock(mutex_);
    return winner < 0 ? Cost::infinite() : tasks_[winner].result.cost;
  }
  void finish(int i, const SearchStats& s) {
    std::lock_guard lock(mutex_);
    stats += s;
    tasks_[i].done = true;
    lost_ = lost_ || is_lost();
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
    if (!options_.progress) return;
    ++options_.progress->done;
    if (winner >= 0) options_.progress->best = tasks_[winner].result.cost.value();
  }

  std::vector<Task>& tasks_;
  const SearchOptions& options_;
  Tables* tables_;
  std::atomic<int> next_{0};
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::vector<Search*> running_;
  std::condition_variable left_;
};

}  // namespace

// Whether rows far apart can be better than neighbours: where several streams are known to be
// faster than one, of what comes from where prefetchers follow streams, and goes on for long
// enough. Arithmetic of more rows hides what streams save (Zen 5, f32 8x1024x1024 by AVX-512, five
// rows and four of b: 1.16 of the time of neighbours). A family of another size may find no parts
// in this one.
constexpr i64 kMostUsesApart = 2;
static bool reads_apart(const Problem& p) {
  const i64 extent = p.computation->dims[p.family.apart].extent;
  const i64 parts = p.family.quantum[p.family.apart];
  if (extent <= parts || extent % parts != 0) return false;
  if (p.machine->four_streams_percent == 0 || p.part.is_tile() || p.part.is_elastic(p.family.apart))
    return false;
  i64 uses = 1;
  for (size_t d = 0; d < p.computation->dims.size(); ++d)
    if (!p.computation->dims[d].reduction && static_cast<int>(d) != p.family.apart)
      uses *= p.family.quantum[d];
  if (uses > kMostUsesApart) return false;
  for (int o = 0; o < p.computation->inputs(); ++o) {
    const Operand& operand = p.computation->operands[o];
    if (rows_apart(p.family, *p.computation, o) == 1 || p.home(o) < kL3) continue;
    i64 part = bytes(operand.dtype);
    for (size_t d = 0; d < p.computation->dims.size(); ++d)
      if (touches(operand, static_cast<int>(d))) part *= p.computation->dims[d].extent;
    if (part / parts >= p.machine->levels[p.home(o)].far_part_bytes) return true;
  }
  return false;
}

// Several streams are searched for where they save at least one in so many cycles: elsewhere they
// are a third to a half of what there is to search.
constexpr i64 kStreamsShare = 64;

// But for how many streams they read in, and how that is packed.
static bool same_leaf(const Family& a, const Family& b) {
  return a.kernel == b.kernel && a.lane == b.lane && a.loads == b.loads && a.store == b.store &&
         a.quantum == b.quantum && a.apart == b.apart && a.joined == b.joined &&
         a.overlap == b.overlap;
}

static bool cheaper(const Bounded& a, const Bounded& b) { return a.bound < b.bound; }

std::vector<Bounded> by_bound(const Computation& c, const Machine& machine,
                              std::span<const Family> families,
                              const std::map<int, Part>& by_threads, Space::Copies* known) {
  std::vector<Bounded> out;
  Space::Copies own;
  const Family* single = nullptr;  // the last one in one stream
  for (const Family& f : families) {
    if (f.streams == 1) single = &f;
    if (machine.streams_percent(f.streams) == 0) continue;
    const bool also_single = f.streams > 1 && single && same_leaf(f, *single);
    for (const auto& [threads, part] : by_threads) {
      const Problem problem{&c, &machine, f, threads, part};
      if (f.apart >= 0 && !reads_apart(problem)) continue;
      if (f.joined >= 0 && part.is_tile()) continue;
      const Space space(problem, {}, known ? known : &own);
      const Cost bound = space.lower_bound();
      if (also_single && kStreamsShare * space.saved_by_streams() < bound) continue;
      out.push_back({problem, bound});
    }
  }
  std::stable_sort(out.begin(), out.end(), cheaper);
  return out;
}

std::vector<Bounded> by_bound(const Computation& c, const Machine& machine,
                              std::span<const Family> families, int threads, const Part& part,
                              Space::Copies* known) {
  std::map<int, Part> by_threads = {{threads, part}};
  if (!part.beside) by_threads[1] = part;
  return by_bound(c, machine, families, by_threads, known);
}

std::vector<Bounded> by_bound(const Computation& c, const Machine& machine, const Isa& isa,
                              int threads) {
  return by_bound(c, machine, families(c, isa), threads);
}

std::variant<Optimum, StopReason> optimize(const Computation& c, const Machine& machine,
                                           const Isa& isa, const SearchOptions& options) {
  return c.sizes.empty() ? optimize_known(c, machine, isa, options)
                         : optimize_patchwork(c, machine, isa, options);
}

std::variant<Optimum, StopReason> optimize_known(const Computation& c, const Machine& machine,
                                                 const Isa& isa, const SearchOptions& options) {
  const std::vector<Family> all = options.families.empty() ? families(c, isa) : options.families;
  return optimize_among(by_bound(c, machine, all, options.threads, options.part), options);
}

// Those of whose operands some lie in L1, with these in the next cache.
static std::vector<Bounded> farther_from_l1(std::span<const Bounded> problems) {
  std::vector<Bounded> out;
  for (const auto& [near, bound] : problems) {
    Level next = kL2;
    while (next < kMemory && near.machine->levels[next].bytes == 0) ++next;
    Problem far = near;
    bool moved = false;
    for (int o = 0; o <= kMaxOperands; ++o) {
      const Level home = near.home(o);
      moved |= home <= kL1;
      far.part.home[o] = home <= kL1 ? next : home;
    }
    if (moved) out.push_back({far, Space(far).lower_bound()});
  }
  std::stable_sort(out.begin(), out.end(), cheaper);
  return out;
}

std::variant<Optimum, StopReason> optimize_among(std::span<const Bounded> problems,
                                                 const SearchOptions& options) {
  std::vector<Task> tasks;
  for (const auto& [problem, bound] : problems)
    tasks.push_back({problem, {problem.family, problem.threads, bound}, nullptr});
  Race race(tasks, options);
  race.run();
  if (race.undecided()) return StopReason::kBudget;
  if (race.winner < 0) {
    // Copies lie no farther away than what they are of, and L1 may lack room for what a leaf needs
    // of them (a product of f16, 16 x 13 in blocks of 3 within blocks of 12, L1 of 1 KiB).
    const bool all = !options.bounds_below.finite();
    const std::vector<Bounded> far = all ? farther_from_l1(problems) : std::vector<Bounded>();
    if (far.empty()) return StopReason::kNoImplementation;
    return optimize_among(far, options);
  }
  Task& t = tasks[race.winner];
  Optimum best{t.problem, t.impl, t.result.cost, race.stats, 0, {}};
  if (options.count_programs) best.log10_programs = log10_programs(Space(t.problem));
  for (Task& task : tasks) best.families.push_back(std::move(task.result));
  return best;
}

}  // namespace morello
