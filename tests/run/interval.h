// Arithmetic on numbers that are known up to the rounding of f32: what a kernel may compute.
#pragma once

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
// Of a function that grows, computed to `ulps` units in the last place of f32, with values from
// `least` to `most`.
Interval growing(double (*f)(double), const Interval& a, double ulps, double least, double most);

}  // namespace morello::run
