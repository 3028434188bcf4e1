#include "run/interval.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace morello::run {
namespace {

bool is_nan(const Interval& a) { return std::isnan(a.lo) && std::isnan(a.hi); }
bool unknown(const Interval& a, const Interval& b) { return a.unchecked || b.unchecked; }

Interval no_number() { return Interval::exactly(std::numeric_limits<double>::quiet_NaN()); }
Interval anything() { return {.lo = 0, .hi = 0, .unchecked = true}; }

// -0 is less than 0: what is divided by them has another sign.
bool less(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

// The least and the greatest of some values; of these NaNs are certain only where all are.
template <std::size_t N>
Interval hull(const double (&values)[N]) {
  const auto nan = [](double x) { return std::isnan(x); };
  if (std::all_of(values, values + N, nan)) return no_number();
  if (std::any_of(values, values + N, nan)) return anything();
  return {.lo = *std::min_element(values, values + N, less),
          .hi = *std::max_element(values, values + N, less)};
}

// Whether a zero lies between its ends: these do not show what happens to that.
bool holds_zero(const Interval& a) { return a.lo < 0 && a.hi > 0; }
bool reaches_infinity(const Interval& a) { return std::isinf(a.lo) || std::isinf(a.hi); }

Interval rounded(const Interval& a) {
  if (a.unchecked || is_nan(a)) return a;
  return Interval::between(a.lo, a.hi);
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

Interval either(const Interval& a, const Interval& b) {
  if (a.unchecked || b.unchecked || is_nan(a) != is_nan(b)) return anything();
  if (is_nan(a)) return a;
  Interval out = a.product ? a : b;
  out.lo = std::min(a.lo, b.lo);
  out.hi = std::max(a.hi, b.hi);
  if (a.product && b.product) {
    out.whole_lo = std::min(a.whole_lo, b.whole_lo);
    out.whole_hi = std::max(a.whole_hi, b.whole_hi);
  }
  return out;
}

Interval or_zero(const Interval& a) {
  Interval out = a;
  if (a.unchecked || std::isnan(a.lo)) return out;
  if (std::fabs(a.lo) < FLT_MIN) out.lo = std::min(a.lo, std::copysign(0.0, a.lo));
  if (std::fabs(a.hi) < FLT_MIN) out.hi = std::max(a.hi, std::copysign(0.0, a.hi));
  return out;
}

Interval rounded_to(Type t, const Interval& a) {
  if (a.unchecked || is_nan(a)) return {.lo = a.lo, .hi = a.hi, .unchecked = a.unchecked};
  if (t == Type::i16)
    return {.lo = std::clamp(a.lo, -32768.0, 32767.0), .hi = std::clamp(a.hi, -32768.0, 32767.0)};
  if (!is_float(t)) return {.lo = a.lo, .hi = a.hi};
  return {.lo = round_to(t, a.lo), .hi = round_to(t, a.hi)};
}

Interval add(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  Interval sum = plain_sum(a, b);
  if (a.product) sum = either(sum, joined_sum(whole(a), b));
  if (b.product) sum = either(sum, joined_sum(a, whole(b)));
  return sum;
}

Interval sub(const Interval& a, const Interval& b) { return add(a, negative(b)); }

Interval mul(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  // 0 * inf
  if ((holds_zero(a) && reaches_infinity(b)) || (reaches_infinity(a) && holds_zero(b)))
    return anything();
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

Interval square(const Interval& a) {
  if (a.unchecked || is_nan(a)) return a.unchecked ? anything() : a;
  const double least = a.lo > 0 ? a.lo : a.hi < 0 ? a.hi : 0;
  const double most = std::max(std::fabs(a.lo), std::fabs(a.hi));
  Interval out = Interval::between(least * least, most * most);
  out.product = true;
  out.whole_lo = least * least;
  out.whole_hi = most * most;
  return out;
}

Interval div(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  if (!b.exact() && b.lo <= 0 && b.hi >= 0) return anything();
  if (b.lo == 0 && holds_zero(a)) return anything();  // 0 / 0
  const double ends[] = {a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi};
  return rounded(hull(ends));
}

Interval largest(const Interval& a, const Interval& b) {
  if (unknown(a, b)) return anything();
  if (is_nan(a) || is_nan(b)) return no_number();
  Interval out{.lo = std::max(a.lo, b.lo), .hi = std::max(a.hi, b.hi)};
  // Of zeros of both signs either is right.
  if (a.lo == b.lo && std::signbit(b.lo)) out.lo = b.lo;
  if (a.hi == b.hi && !std::signbit(b.hi)) out.hi = b.hi;
  return out;
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

Interval logarithm(const Interval& a) {
  if (a.unchecked || is_nan(a)) return a;
  if (a.hi < 0) return no_number();
  if (a.lo < 0) return anything();
  return growing([](double v) { return std::log(v); }, a, 2.5, -HUGE_VAL, HUGE_VAL);
}

bool holds(Word w, double a, double b) {
  switch (w) {
    case Word::lt:
      return a < b;
    case Word::le:
      return a <= b;
    case Word::gt:
      return a > b;
    case Word::ge:
      return a >= b;
    case Word::eq:
      return a == b;
    default:
      return a != b;
  }
}

Interval compared(Word w, const Interval& a, const Interval& b) {
  Interval open{.lo = 0, .hi = 1};
  if (unknown(a, b)) return open;
  const bool nan = is_nan(a) || is_nan(b), apart = a.hi < b.lo || b.hi < a.lo;
  const bool exact = a.exact() && b.exact();
  if (!nan && !exact && !apart) return open;
  return Interval::exactly(holds(w, a.lo, b.lo) ? 1 : 0);
}

Interval select(const Interval& c, const Interval& a, const Interval& b) {
  const bool certain = !c.unchecked && (is_nan(c) || c.exact() || c.lo > 0 || c.hi < 0);
  if (certain) return c.lo != 0 ? a : b;
  if (unknown(a, b) || is_nan(a) || is_nan(b)) return anything();
  return {.lo = std::min(a.lo, b.lo), .hi = std::max(a.hi, b.hi)};
}

double sum_error(double magnitude, i64 terms) {
  return static_cast<double>(terms + 2) * (magnitude * 0x1p-24 + 0x1p-148);
}

Interval float_sum(const std::vector<Interval>& terms) {
  double lo = 0, hi = 0, magnitude = 0;
  for (const Interval& t : terms) {
    if (t.unchecked) return anything();
    const double low = t.product ? std::min(t.lo, t.whole_lo) : t.lo;
    const double high = t.product ? std::max(t.hi, t.whole_hi) : t.hi;
    lo += low;
    hi += high;
    const double size = std::max(std::fabs(low), std::fabs(high));
    if (std::isfinite(size)) magnitude += size;
  }
  if (std::isnan(lo) && std::isnan(hi)) return no_number();
  if (std::isnan(lo) || std::isnan(hi) || !(magnitude < FLT_MAX / 2.0)) return anything();
  const auto count = static_cast<i64>(terms.size());
  const double slack = count > 1 ? sum_error(magnitude, count) : 0;  // one term is the sum
  return Interval::between(lo - slack, hi + slack);
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
