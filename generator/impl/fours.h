// Elements that a leaf broadcasts, four of which one load can bring.
//
// A tile of one vector in width loads an element for every multiply-add and a vector besides: more
// than a core loads. Where elements lie side by side along the reduction, as in rows of a matrix, a
// load brings what four steps need of a row to every part of a register, and a shuffle within these
// parts makes a broadcast of each: three loads less. (Zen 5, of the time of loads alone, in L1: f32
// 8x8x8 by AVX2 with two, three and four rows in fours 0.87, 0.78 and 0.76; 6x256x16 by AVX-512
// with one, two, three and four 0.89, 0.86, 0.86 and 0.87.)
#pragma once

#include "impl/family.h"
#include "target/machine.h"

namespace morello {

// Steps that one load brings an element for.
inline constexpr i64 kFour = 4;

// The reduction dim that leaves walk along in their innermost loop; -1: there is none.
int inner_reduction(const Family& f, const Computation& c);

// The input that a leaf might broadcast in fours, where it lies as the user put it; -1: none.
int broadcast_in_fours(const Family& f, const Computation& c);

// Of how many rows of that input a leaf with such a tile had better do so, for the least time by
// the core's pipes and as far as registers go. 0: loads do not keep it waiting.
i64 rows_in_fours(const Family& f, const Computation& c, int operand, const Pipes& p,
                  const Extents& tile);

}  // namespace morello
