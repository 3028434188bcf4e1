// Leaves that take rows of a few elements, which follow one another, as one run: vectors run across
// the ends of rows. What is the same for every row is repeated in a buffer of the leaf's, up to
// where rows begin with a vector again.
//
//   (x: f32[50176,3], m: f32[3]): f32 = x - m     by 8 lanes: m m m m m m m m, three vectors
//
// What has one number for each row of very few elements is spread over rows, from one such place to
// the next.
//
//   (x: f32[50176,3], s: f32[50176]): f32 = x * broadcast(s, axis=1)     s0 s0 s0 s1 s1 s1 s2 s2,
//                                                                        s2 s3 s3 s3 s4 s4 s4 s5
//
// A row at a time took a call and a part of a vector each. (Zen 4, normalising 224x224x3, f32: 39
// us by AVX2 and 29 by AVX-512, lanes along pixels; a plain loop by GCC -O3, 17.)
#pragma once

#include <optional>

#include "impl/family.h"

namespace morello {

// How a tensor lies along the rows of such a leaf.
enum class AlongRows {
  kRun,    // as its results do
  kRow,    // one row, for all of them
  kEach,   // one element for each row
  kNumber  // one element, for all
};

// Of a tensor of a family with joined rows.
AlongRows along_rows(const Computation& c, const Family& f, int tensor);

// The family that joins rows, whose elements are along the lane dim of `f`; f has its loads. None
// where no rows follow one another, or nothing is the same for all of them or one number for each.
std::optional<Family> joined(Family f, const Computation& c);

// Elements from where a row begins with a vector to where one does again.
i64 joined_period(const Family& f, const Computation& c);

// The extents of a leaf as its vectors see them: all elements along the lane dim. Of other families
// as they are.
Extents run_extents(const Family& f, Extents e);

// What a leaf computes of a run of so many elements, by the same family with one dim.
Computation computation_of_run(const Computation& c, const Family& f, i64 elements);
Family family_of_run(Family f, i64 elements);

}  // namespace morello
