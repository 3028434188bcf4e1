// Sums of lanes, four registers at a time.
//
// A leaf whose lanes run along the reduction has a register for every element of its output. Alone,
// its lanes take a shuffle and a join for every halving, and the element a store. Four registers
// are folded into one by seven or eight shuffles and five joins or six, and their elements are
// stored at once where they lie side by side. (Zen 5, sums of rows of f32 in L1, AVX2, cycles a
// row: of 8 elements alone 2.65, four by four 1.90, with eight rows in a leaf 1.52; of 16 3.0, 2.2
// and 1.8; of 32 3.9 and 3.3; of 64 and more the same.)
#pragma once

#include "impl/family.h"

namespace morello {

// Registers that a fold takes; of three it takes the last one twice.
inline constexpr i64 kFold = 4;
inline constexpr i64 kLeastFold = 3;

struct Folding {
  const Fold* row = nullptr;       // null: lanes are not summed
  const Function* join = nullptr;  // of two registers
  // Dim of the tile along which elements of the result lie side by side, so that four are stored at
  // once; -1: one by one.
  int together = -1;
  // Has elements of what is made of the sums, where that is made of four at once; null: one by one,
  // which takes less.
  const Fold* made = nullptr;
  Uops finish_of_four;  // by `made`, with what it reads beside the sums
};

// Of an output that lies as `map` says.
Folding folding(const Family& f, const Computation& c, const AddressMap& map);

// How the registers of such a tile become elements: so many folds of four (or three, one of them
// twice), of which so many are stored at once, and registers by themselves.
struct Folds {
  i64 folds = 0, together = 0, alone = 0;
};
Folds folds_of(const Folding& how, const Computation& c, const Extents& tile);

}  // namespace morello
