// Sums of products, as matmul has them, of numbers that are known up to something.
#pragma once

#include <vector>

#include "run/interval.h"

namespace morello::run {

// An operand of matmul, row-major.
struct Factor {
  std::vector<i64> shape;
  Values value;
  Values radius;  // how far off each may be, infinite where nothing is known; empty: not at all
  bool integers = false;          // exact, and multiplied as such
  bool subnormals_flush = false;  // where they are multiplied, those may count as 0 (docs/spec.md)

  void transpose();  // the last two axes
};

// What is not worth the time is not computed: rows but the last that are no multiple of `every`.
// Instead the sum of each row of outputs is known, which one wrong output shifts.
struct RowSum {
  double value, slack;
};

struct Product {
  std::vector<i64> shape;
  std::vector<Interval> sums;
  i64 every = 1;
  std::vector<RowSum> row_sums;  // where every > 1

  i64 rows() const { return static_cast<i64>(sums.size()) / shape.back(); }
  bool has(i64 row) const { return row % every == 0 || row + 1 == rows(); }
};

// `type` is what sums are stored as where nothing is made of them: only such are sampled.
Product product(const Factor& a, const Factor& b, bool may_sample, Type type);

double wrap(i64 value);  // what 32 bits hold

}  // namespace morello::run
