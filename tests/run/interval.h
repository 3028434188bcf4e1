// Arithmetic on numbers that are known up to the rounding of f32: what a kernel may compute.
#pragma once

#include <vector>

#include "run/values.h"

namespace morello::run {

// Everything from lo to hi is right. NaN in both: NaN is. A product also knows itself unrounded:
// compilers may add it to something without rounding it first.
struct Interval {
  double lo = 0, hi = 0;
  bool unchecked = false;  // nothing can be said
  bool product = false;
  double whole_lo = 0, whole_hi = 0;

  static Interval exactly(double x) { return {.lo = x, .hi = x}; }
  // Rounded to f32.
  static Interval between(double lo, double hi);
  bool exact() const { return lo == hi && !unchecked; }
};

Interval add(const Interval& a, const Interval& b);
Interval sub(const Interval& a, const Interval& b);
Interval mul(const Interval& a, const Interval& b);
Interval div(const Interval& a, const Interval& b);
Interval largest(const Interval& a, const Interval& b);
Interval smallest(const Interval& a, const Interval& b);
Interval negative(const Interval& a);
Interval square_root(const Interval& a);
Interval logarithm(const Interval& a);
Interval square(const Interval& a);  // mul(a, a), which knows that both are the same
// What both allow: an operation that may be done in one of two ways.
Interval either(const Interval& a, const Interval& b);
Interval rounded_to(Type t, const Interval& a);  // and stored
Interval or_zero(const Interval& a);             // where it may be subnormal in f32

// 1 where it holds, 0 where it does not, or both.
Interval compared(Word w, const Interval& a, const Interval& b);
bool holds(Word w, double a, double b);
Interval select(const Interval& c, const Interval& a, const Interval& b);

// In any order. A product may be added without rounding it first.
Interval float_sum(const std::vector<Interval>& terms);
// Of a float sum of so many terms, with or without fused multiply-adds: (terms + 2) * 2^-24 *
// sum|terms| (denormals: of 2^-149 per term besides).
double sum_error(double magnitude, i64 terms);

// Of a function that grows, computed to `ulps` units in the last place of f32, with values from
// `least` to `most`.
Interval growing(double (*f)(double), const Interval& a, double ulps, double least, double most);

}  // namespace morello::run
