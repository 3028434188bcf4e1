// What a leaf does, as counts of instructions: for leaf_cost.cc and lower_bound.cc.
#pragma once

#include "search/space.h"

namespace morello {

struct Space::Work {
  i64 fma = 0, bf16 = 0, alu = 0, shuffle = 0, load = 0, store = 0;  // uops
  i64 chain = 0;  // millicycles of the longest dependence

  void add(const Uops& u, i64 times) {
    fma += u.fma * times;
    bf16 += u.bf16 * times;
    alu += u.alu * times;
    shuffle += u.shuffle * times;
    load += u.load * times;
    store += u.store * times;
  }
  void add(const Work& other) {
    fma += other.fma;
    bf16 += other.bf16;
    alu += other.alu;
    shuffle += other.shuffle;
    load += other.load;
    store += other.store;
  }
  // What loads or stores of partial vectors cost beyond whole ones, which are counted already.
  void add_masked(const Access& a, i64 times) {
    add(a.partial_uops, times);
    add(a.uops, -times);
  }
};

// Of a call: itself, pointer set-up, branches. Calls overlap.
inline constexpr i64 kCallMilli = 5'000;

}  // namespace morello
