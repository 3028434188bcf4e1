// Memo: what is known of every Spec, within one family of one kernel.
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
// Here: an open-addressing table from a 128-bit key to a chain of boxes. Insert and find are
// expected O(1 + boxes of the Spec); 1.2 to 1.6 boxes per Spec were measured.
#pragma once

#include <cstdint>
#include <vector>

#include "search/cost.h"
#include "search/limits.h"

namespace morello {

// The first step of a program: a rewrite and its own parameters, in absolute sizes. Semantic on
// purpose: never an index into an enumeration.
struct Decision {
  std::int16_t rewrite = -1;  // row of the rewrite table
  std::int16_t subject = 0;   // dim or operand
  std::int32_t detail = 0;    // level, or operand to prefetch + 1
  i64 value = 0;              // tile, or bytes
  bool operator==(const Decision&) const = default;
};

struct Entry {
  Cost cost = Cost::infinite();
  Limits peak;
  Limits limit;
  Decision decision;
};

// A Spec as coordinates (search/grid.h).
struct Key {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Key&) const = default;
};

class Memo {
 public:
  Memo();
  // The entry whose box holds `limits`, or null. The pointer is valid until the next insert.
  const Entry* find(const Key& key, const Limits& limits) const;
  void insert(const Key& key, const Entry& entry);

  i64 specs() const { return specs_; }
  i64 boxes() const { return static_cast<i64>(entries_.size()); }
  i64 bytes() const;

 private:
  struct Slot {
    Key key;
    std::int32_t first = -1;
  };
  struct Chained {
    Entry entry;
    std::int32_t next = -1;
  };
  size_t slot_of(const Key& key) const;
  void grow();

  std::vector<Slot> slots_;
  std::vector<Chained> entries_;
  i64 specs_ = 0;
};

}  // namespace morello
