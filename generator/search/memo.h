// Memo: what is known of every Spec of one signature (search/coordinates.h).
//
// Promise of a hit: entry {cost, peak, limit, decision} of Spec s answers every query q with
// peak <= q <= limit (component-wise): `cost` is the optimum of the space at q and `decision` is
// the first step of a program that attains it and needs `peak` bytes. Why: more memory never makes
// the optimum dearer, so optimum(q) >= optimum(limit) = cost; and q >= peak makes the program
// feasible. An infinite cost ("no implementation") has peak zero and answers every q <= limit.
//
// The upper corner comes from what blocked a better choice, not from the limit that was asked: a
// candidate refused for want of `a` bytes at a level bounds the box there by a - 1, a child's limit
// plus the bytes allocated above it bounds it too, and where nothing blocked the box is open.
//
// Worked example: at L1 limit 4096 the best program of a Spec needs 1024 bytes and a better one was
// refused because it needs 6144. The entry's box is [1024, 6143]: a query with 2048 or with 6000 is
// answered without search, one with 8192 is searched anew and stored as a second box.
//
// Costs are exact and do not depend on what was asked before; which of several equally good
// decisions an entry names does. Programs are therefore extracted by a walk that looks at costs
// only (Solver::extract).
#pragma once

#include <cstdint>

#include "search/coordinates.h"
#include "search/cost.h"
#include "search/limits.h"

namespace morello {

// The first step of a program: a rewrite and its own parameters, in absolute sizes. Semantic on
// purpose: never an index into an enumeration.
struct Decision {
  std::int16_t rewrite = -1;  // row of the rewrite table
  std::int16_t subject = 0;   // dim or operand; of a leaf, whether it stores past the caches
  std::int32_t detail = 0;    // level, or operand asked for ahead of time + 1
  i64 value = 0;              // tile, or bytes
  bool operator==(const Decision&) const = default;
};

struct Entry {
  Cost cost = Cost::infinite();
  Limits peak;
  Limits limit;
  Decision decision;
};

struct MemoSize {
  i64 specs = 0;
  i64 boxes = 0;
  i64 bytes = 0;  // as allocated
  void operator+=(const MemoSize& o) {
    specs += o.specs;
    boxes += o.boxes;
    bytes += o.bytes;
  }
  void operator-=(const MemoSize& o) {
    specs -= o.specs;
    boxes -= o.boxes;
    bytes -= o.bytes;
  }
};

class Memo {
 public:
  virtual ~Memo() = default;
  // An entry whose box holds `limits`.
  virtual bool find(const Key& key, const Limits& limits, Entry& found) const = 0;
  // `asked` are the limits the entry was computed for; they lie in its box.
  virtual void insert(const Key& key, const Limits& asked, const Entry& entry) = 0;
  virtual MemoSize size() const = 0;
};

}  // namespace morello
