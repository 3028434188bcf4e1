#include "run/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/values.h"

namespace morello::run {
namespace {

bool is_nan(const Interval& a) { return std::isnan(a.lo) && std::isnan(a.hi); }
bool unknown(const Interval& a, const Interval& b) { return a.unchecked || b.unchecked; }

Interval no_number() { return Interval::exactly(std::numeric_limits<double>::quiet_NaN()); }
Interval anything() { return {.lo = 0, .hi = 0, .unchecked = true}; }

// The least and the greatest of some values; of these NaNs are certain only where all are.
template <std::size_t N>
Interval hull(const double (&values)[N]) {
  const auto nan = [](double x) { return std::isnan(x); };
  if (std::all_of(values, values + N, nan)) return no_number();
  if (std::any_of(values, values + N, nan)) return anything();
  return {.lo = *std::min_element(values, values + N), .hi = *std::max_element(values, values + N)};
}

Interval rounded(const Interval& a) {
  if (a.unchecked || is_nan(a)) return a;
  return Interval::between(a.lo, a.hi);
}

// Of two sums that are both right.
Interval both(const Interval& a, const Interval& b) {
  if (a.unchecked || b.unchecked || is_nan(a) != is_nan(b)) return anything();
  return is_nan(a) ? a : Interval{.lo = std::min(a.lo, b.lo), .hi = std::max(a.hi, b.hi)};
}

Interval whole(const Interval& a) { return {.lo = a.whole_lo, .hi = a.whole_hi}; }

Interval plain_sum(const Interval& a, const Interval& b) {
  const double ends[] = {a.lo + b.lo, a.lo + b.hi, a.hi + b.lo, a.hi + b.hi};
  return rounded(hull(ends));
}

// With a product that is not rounded: what a double loses of the sum may decide how a tie of f32 is
// rounded.
Interval joined_sum(const Interval& a, const Interval& b) {
  const Interval sum = plain_sum(a, b);
  if (sum.unchecked || is_nan(sum) || !std::isfinite(sum.lo) || !std::isfinite(sum.hi)) return sum;
  return Interval::between(std::nextafter(a.lo + b.lo, -HUGE_VAL),
                           std::nextafter(a.hi + b.hi, HUGE_VAL));
}

}  // namespace

Interval Interval::between(double lo, double hi) {
  return {.lo = round_to(Type::f32, lo), .hi = round_to(Type::f32, hi)};
}

Interval add(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  Interval sum = plain_sum(a, b);
  if (a.product) sum = both(sum, joined_sum(whole(a), b));
  if (b.product) sum = both(sum, joined_sum(a, whole(b)));
  return sum;
}

Interval sub(const Interval& a, const Interval& b) { return add(a, negative(b)); }

Interval mul(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  const double ends[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  const Interval unrounded = hull(ends);
  Interval out = rounded(unrounded);
  if (!out.unchecked && !is_nan(out)) {
    out.product = true;
    out.whole_lo = unrounded.lo;
    out.whole_hi = unrounded.hi;
  }
  return out;
}

Interval div(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  if (!b.exact() && b.lo <= 0 && b.hi >= 0) return anything();
  const double ends[] = {a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi};
  return rounded(hull(ends));
}

Interval largest(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  if (is_nan(a) || is_nan(b)) return no_number();
  return {.lo = std::max(a.lo, b.lo), .hi = std::max(a.hi, b.hi)};
}

Interval smallest(const Interval& a, const Interval& b) {
  return negative(largest(negative(a), negative(b)));
}

Interval negative(const Interval& a) {
  return {.lo = -a.hi,
          .hi = -a.lo,
          .unchecked = a.unchecked,
          .product = a.product,
          .whole_lo = -a.whole_hi,
          .whole_hi = -a.whole_lo};
}

Interval square_root(const Interval& a) {
  if (a.unchecked || is_nan(a)) return a;
  if (a.hi < 0) return no_number();
  if (a.lo < 0) return anything();
  return Interval::between(std::sqrt(a.lo), std::sqrt(a.hi));
}

Interval growing(double (*f)(double), const Interval& a, double ulps, double least, double most) {
  if (a.unchecked || is_nan(a)) return a;
  const auto off = [&](double x) {  // so many units in the last place
    return std::isfinite(x) ? ulps * (std::fabs(x) * 0x1p-23 + 0x1p-149) : 0;
  };
  const double lo = f(a.lo), hi = f(a.hi);
  return Interval::between(std::max(lo - off(lo), least), std::min(hi + off(hi), most));
}

}  // namespace morello::run
