// What a leaf does, as counts of instructions: for leaf_cost.cc and lower_bound.cc.
#pragma once

#include <algorithm>

#include "search/space.h"

namespace morello {

struct Space::Work {
  i64 fma = 0, bf16 = 0, alu = 0, shuffle = 0, divide = 0, load = 0, store = 0;  // uops
  i64 chain = 0;  // millicycles of the longest dependence

  // Of Uops, or of other Work: the chain is not of a sum of them.
  void add(const auto& u, i64 times) {
    fma += u.fma * times;
    bf16 += u.bf16 * times;
    alu += u.alu * times;
    shuffle += u.shuffle * times;
    divide += u.divide * times;
    load += u.load * times;
    store += u.store * times;
  }
  // One of so many equal parts, but for what is lost.
  Work share(i64 parts) const {
    return {fma / parts,    bf16 / parts, alu / parts,   shuffle / parts,
            divide / parts, load / parts, store / parts, chain / parts};
  }
  // No more of anything than either has.
  Work least(const Work& o) const {
    return {std::min(fma, o.fma),         std::min(bf16, o.bf16),     std::min(alu, o.alu),
            std::min(shuffle, o.shuffle), std::min(divide, o.divide), std::min(load, o.load),
            std::min(store, o.store),     std::min(chain, o.chain)};
  }
  // Of what waits for operands.
  i64 vector() const { return fma + bf16 + alu + divide; }
  // What loads or stores of partial vectors cost beyond whole ones, which are counted already.
  void add_masked(const Access& a, i64 times) {
    add(a.partial_uops, times);
    add(a.uops, -times);
  }
};

// Of a call: itself, pointer set-up, branches. Calls overlap.
inline constexpr i64 kCallMilli = 5'000;
// One lane through a staging array: load, store, index.
inline constexpr i64 kStagedUopsPerLane = 3;

}  // namespace morello
