// Solver: the dynamic program over one family. Memoised, top-down; the definition of correct.
#pragma once

#include "search/rewrite.h"

namespace morello {

struct SearchStats {
  i64 specs = 0;       // Specs solved (a Spec counts again for another box of limits)
  i64 candidates = 0;  // proposals looked at
  i64 memo_hits = 0;
  i64 boxes = 0;
  i64 memo_bytes = 0;
  void operator+=(const SearchStats& o) {
    specs += o.specs;
    candidates += o.candidates;
    memo_hits += o.memo_hits;
    boxes += o.boxes;
    memo_bytes += o.memo_bytes;
  }
};

class Solver {
 public:
  // Gives up (costs become infinite, exhausted() true) after max_specs solved Specs; 0: never.
  Solver(const Space& space, i64 max_specs) : space_(space), max_specs_(max_specs) {}

  Entry solve(const Spec& spec, const Limits& limits);
  // The program behind solve()'s answer, by walking the memo's decisions.
  ImplPtr extract(const Spec& spec, const Limits& limits);

  bool exhausted() const { return max_specs_ > 0 && stats_.specs >= max_specs_; }
  SearchStats stats() const;

 private:
  struct Trial;

  const Space& space_;
  i64 max_specs_;
  Memo memo_;
  SearchStats stats_;
};

}  // namespace morello
