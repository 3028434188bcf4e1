// Solver: the dynamic program over one family. Memoised, top-down; the definition of correct.
#pragma once

#include <atomic>
#include <optional>

#include "search/memo.h"
#include "search/rewrite.h"
#include "search/spatial_memo.h"

namespace morello {

struct SearchStats {
  i64 specs = 0;       // Specs solved (a Spec counts again for another box of limits)
  i64 candidates = 0;  // proposals looked at
  i64 memo_hits = 0;
  MemoSize memo;
  void operator+=(const SearchStats& o) {
    specs += o.specs;
    candidates += o.candidates;
    memo_hits += o.memo_hits;
    memo += o.memo;
  }
};

// How far a search has come; written by it, read by whoever shows it.
struct SearchProgress {
  std::atomic<int> done{0}, families{0};  // families done (or skipped), of how many
  std::atomic<i64> specs{0};              // solved
  std::atomic<i64> entries{0};            // stored in memos
  std::atomic<std::uint64_t> best{Cost::infinite().value()};
};

struct SolverOptions {
  // Gives up (costs become infinite, exhausted() true) after as many solved Specs; 0: never. With a
  // budget only one thread may solve.
  i64 max_specs = 0;
  Pruning pruning = {};
  SearchProgress* progress = nullptr;
};

class Solver {
 public:
  // The memo must be safe for as many threads as help. Specs that may still be divided among
  // threads are kept apart and forgotten with the Solver: how they divide depends on the root, and
  // they are few.
  Solver(const Space& space, Memo& memo) : Solver(space, memo, SolverOptions()) {}
  // What is known of Specs that keep sums in a copy may have a table of its own
  // (Space::signature_of_sums()), which is to outlive the Solver, too.
  Solver(const Space& space, Memo& memo, const SolverOptions& options, Memo* sums = nullptr)
      : space_(space), memo_(memo), sums_(sums ? *sums : memo), options_(options) {
    if (space.problem().threads > 1) divided_.emplace(2);
  }

  Entry solve(const Spec& spec, const Limits& limits);
  // Joins in a solve(spec, limits) of another thread, as number `worker` > 0 of `workers`, until
  // that is done: looks at candidates in another order and shares the memo.
  void help(const Spec& spec, const Limits& limits, int worker, int workers);

  // The cost of the best program that begins with a candidate; infinite if there is none. Not while
  // others help.
  Cost price(const Candidate& c, const Limits& limits);

  // The program behind solve()'s answer, by a canonical walk: at every Spec the first candidate, in
  // the order of the rewrites, that attains the optimum. Depends on neither the history of the memo
  // nor the number of threads. Not while others help.
  ImplPtr extract(const Spec& spec, const Limits& limits);

  bool exhausted() const { return options_.max_specs > 0 && specs_.load() >= options_.max_specs; }
  SearchStats stats() const;

 private:
  Memo& memo(const Spec& s) {
    if (s.threads > 1) return *divided_;
    return space_.keeps_sums(s) ? sums_ : memo_;
  }

  struct Trial;
  class Worker;

  const Space& space_;
  Memo &memo_, &sums_;
  std::optional<SpatialMemo> divided_;
  SolverOptions options_;
  std::atomic<bool> done_{false};  // some thread has the answer that all are looking for
  std::atomic<i64> specs_{0}, candidates_{0}, memo_hits_{0};
};

}  // namespace morello
