// The arithmetic of the reference: element types, and the functions of a spec's expressions, of
// integers exactly, of floats as bounds between which every right result lies.
#ifndef MORELLO_TESTBENCH_NUMBERS_H_
#define MORELLO_TESTBENCH_NUMBERS_H_

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "morello/bf16.h"

namespace morello::testbench {

enum class Type { f32, bf16, f16, i32, i16, u8, i8, i7 };

inline std::size_t size_of(Type t) {
  constexpr std::size_t kSizes[] = {4, 2, 2, 4, 2, 1, 1, 1};
  return kSizes[static_cast<int>(t)];
}

template <class T>
T& at(unsigned char* data, std::int64_t i) {
  return reinterpret_cast<T*>(data)[i];
}

// Element i as a number; integers keep their sign.
inline double load(Type t, unsigned char* data, std::int64_t i) {
  switch (t) {
    case Type::f32:
      return static_cast<double>(at<float>(data, i));
    case Type::bf16:
      return static_cast<double>(bf16_to_float(at<std::uint16_t>(data, i)));
    case Type::f16:
      return static_cast<double>(f16_to_float(at<std::uint16_t>(data, i)));
    case Type::i32:
      return at<std::int32_t>(data, i);
    case Type::i16:
      return at<std::int16_t>(data, i);
    case Type::u8:
      return at<std::uint8_t>(data, i);
    case Type::i8:
    case Type::i7:
      return at<std::int8_t>(data, i);
  }
  std::abort();
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = FLT_MAX;

// What f32 may hold of a number that is computed in it: everything from lo to hi; NaN in both: NaN,
// for certain.
struct Bounds {
  double lo = 0, hi = 0;
  bool open = false;    // nothing can be said
  bool or_nan = false;  // of what a stage makes: that, or NaN

  Bounds() = default;
  Bounds(double low, double high) : lo(low), hi(high) {}
  // A number of the spec: it is an integer, or it is what f32 holds of it.
  explicit Bounds(double x)
      : Bounds(std::min(x, static_cast<double>(static_cast<float>(x))),
               std::max(x, static_cast<double>(static_cast<float>(x)))) {}
  static Bounds exactly(double x) { return {x, x}; }
  static Bounds unknown() {
    Bounds b;
    b.open = true;
    return b;
  }
  bool is_nan() const { return !open && lo != lo; }
  // Whether x is right.
  bool allows(double x) const {
    if (open || (x != x && (or_nan || is_nan()))) return true;
    return lo <= x && x <= hi;
  }
  bool exact() const { return !open && lo == hi; }
};

// What both allow.
inline Bounds either(const Bounds& a, const Bounds& b) {
  if (a.open || b.open) return Bounds::unknown();
  Bounds out = a.is_nan() ? b : a;
  if (!a.is_nan() && !b.is_nan()) out = {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
  out.or_nan = a.or_nan || b.or_nan || a.is_nan() || b.is_nan();
  return out;
}

inline double rounded(double x) { return static_cast<double>(static_cast<float>(x)); }
// From the least to the greatest of exact results that are off by some halves of units in the last
// place of f32. Zero is exact.
inline double below(double x, double halves) {
  if (x == 0 || std::fabs(x) == kInfinity) return x;
  return rounded(x - halves * (std::fabs(x) * 0x1p-24 + 0x1p-150));
}
inline Bounds between(double lo, double hi, double halves) {
  return {below(lo, halves), -below(-hi, halves)};
}
// The results at the corners of two bounds; NaN only where all are.
template <class F>
Bounds corners(const Bounds& a, const Bounds& b, F f) {
  const double at[] = {f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)};
  const auto nans = std::count_if(at, at + 4, [](double x) { return x != x; });
  if (nans > 0) return nans == 4 ? Bounds::exactly(kNan) : Bounds::unknown();
  return {*std::min_element(at, at + 4), *std::max_element(at, at + 4)};
}
inline bool known(const Bounds& b) { return !b.open && !b.is_nan(); }
inline bool any_nan(const Bounds& a, const Bounds& b) { return a.is_nan() || b.is_nan(); }
// An operand decides alone, -> out.
inline bool decided(const Bounds& a, const Bounds& b, Bounds& out) {
  if (any_nan(a, b))
    out = Bounds::exactly(kNan);
  else if (a.open || b.open)
    out = Bounds::unknown();
  else
    return false;
  return true;
}

// Functions of a spec's expression. Integers: of 64 bits, wrapped to 32.
namespace fn {
using Int = std::int64_t;

inline Int wrap(Int x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(x)));
}
inline Int add_of(Int a, Int b) { return wrap(a + b); }
inline Int sub_of(Int a, Int b) { return wrap(a - b); }
inline Int mul_of(Int a, Int b) { return wrap(a * b); }
inline Int max_of(Int a, Int b) { return std::max(a, b); }
inline Int min_of(Int a, Int b) { return std::min(a, b); }
inline Int neg_of(Int a) { return wrap(-a); }
inline Int lt_of(Int a, Int b) { return a < b ? 1 : 0; }
inline Int le_of(Int a, Int b) { return a <= b ? 1 : 0; }
inline Int eq_of(Int a, Int b) { return a == b ? 1 : 0; }
inline Int select_of(Int condition, Int a, Int b) { return condition != 0 ? a : b; }

inline Bounds neg_of(const Bounds& a) {
  Bounds out(-a.hi, -a.lo);
  out.open = a.open;
  return out;
}
inline Bounds add_of(const Bounds& a, const Bounds& b) {
  Bounds out;
  if (decided(a, b, out)) return out;
  out = corners(a, b, [](double x, double y) { return x + y; });
  // The sum is one of doubles: below the exact one by a part of 2^-53 at most.
  const auto down = [](double x) {
    return std::fabs(x) == kInfinity ? x : rounded(x - std::fabs(x) * 0x1p-52);
  };
  return known(out) ? Bounds(down(out.lo), -down(-out.hi)) : out;
}
inline Bounds sub_of(const Bounds& a, const Bounds& b) { return add_of(a, neg_of(b)); }
// A compiler may join a product and a sum without rounding between them, so it is the exact one,
// too.
inline Bounds product(double lo, double hi) {
  return {std::min(lo, rounded(lo)), std::max(hi, rounded(hi))};
}
inline bool zero_inside(const Bounds& b) { return b.lo < 0 && b.hi > 0; }
inline bool infinite(const Bounds& b) { return b.lo == -kInfinity || b.hi == kInfinity; }
inline Bounds mul_of(const Bounds& a, const Bounds& b) {
  Bounds out;
  if (decided(a, b, out)) return out;
  if (a.exact() && b.exact()) {
    const double x = a.lo * b.lo;
    return x != x ? Bounds::exactly(kNan) : product(x, x);
  }
  if ((zero_inside(a) && infinite(b)) || (zero_inside(b) && infinite(a))) return Bounds::unknown();
  out = corners(a, b, [](double x, double y) { return x * y; });
  return known(out) ? product(out.lo, out.hi) : out;
}
// The sign of a zero is not promised, so that of what is divided by one is not known either. The
// quotient may be a product with 1 / b.
inline Bounds div_of(const Bounds& a, const Bounds& b) {
  Bounds out;
  if (decided(a, b, out)) return out;
  if (a.exact() && b.exact() && a.lo == 0 && b.lo == 0) return Bounds::exactly(kNan);
  if (b.lo <= 0 && b.hi >= 0) return Bounds::unknown();
  out = corners(a, b, [](double x, double y) { return x / y; });
  return known(out) ? between(out.lo, out.hi, 3) : out;
}
inline Bounds max_of(const Bounds& a, const Bounds& b) {
  Bounds out;
  if (decided(a, b, out)) return out;
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}
inline Bounds min_of(const Bounds& a, const Bounds& b) {
  return neg_of(max_of(neg_of(a), neg_of(b)));
}

// 1 where it holds, which it does not where one is NaN.
inline Bounds truth(const Bounds& a, const Bounds& b, bool certain, bool impossible) {
  if (any_nan(a, b)) return Bounds::exactly(0);
  if (a.open || b.open || (!certain && !impossible)) return {0, 1};
  return Bounds::exactly(certain ? 1 : 0);
}
inline Bounds lt_of(const Bounds& a, const Bounds& b) {
  return truth(a, b, a.hi < b.lo, a.lo >= b.hi);
}
inline Bounds le_of(const Bounds& a, const Bounds& b) {
  return truth(a, b, a.hi <= b.lo, a.lo > b.hi);
}
inline Bounds eq_of(const Bounds& a, const Bounds& b) {
  return truth(a, b, a.exact() && b.exact() && a.lo == b.lo, a.hi < b.lo || b.hi < a.lo);
}
inline Bounds select_of(const Bounds& condition, const Bounds& a, const Bounds& b) {
  if (condition.is_nan() || (!condition.open && (condition.lo > 0 || condition.hi < 0))) return a;
  if (condition.exact()) return b;
  if (a.is_nan() && b.is_nan()) return a;
  if (a.open || b.open || any_nan(a, b)) return Bounds::unknown();
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// Of functions that grow, with values from `least` to `most`, which f32 has.
template <class F>
Bounds growing(const Bounds& a, F f, double halves, double least, double most) {
  if (a.open || a.is_nan()) return a;
  const Bounds out = between(f(a.lo), f(a.hi), halves);
  return {std::max(out.lo, least), std::min(out.hi, most)};
}
inline Bounds exp_of(const Bounds& a) {
  return growing(
      a, [](double x) { return std::exp(x); }, 5, 0, kInfinity);
}
inline Bounds tanh_of(const Bounds& a) {
  return growing(
      a, [](double x) { return std::tanh(x); }, 7, -1, 1);
}
inline Bounds erf_of(const Bounds& a) {
  return growing(
      a, [](double x) { return std::erf(x); }, 7, -1, 1);
}
inline Bounds log_of(const Bounds& a) {
  if (a.hi < 0 && !a.open) return Bounds::exactly(kNan);
  if (a.lo < 0) return Bounds::unknown();
  return growing(
      a, [](double x) { return std::log(x); }, 5, -kInfinity, kInfinity);
}
inline Bounds sqrt_of(const Bounds& a) {
  if (a.open || a.is_nan() || a.hi < 0) return a.open ? a : Bounds::exactly(kNan);
  if (a.lo < 0) return Bounds::unknown();
  return between(std::sqrt(a.lo), std::sqrt(a.hi), 1);
}
inline Bounds float_of(const Bounds& a) {
  Bounds out(static_cast<double>(static_cast<float>(a.lo)),
             static_cast<double>(static_cast<float>(a.hi)));
  out.open = a.open;
  return out;
}
}  // namespace fn

// What a tensor of this type holds of it: rounding keeps the order of numbers.
inline Bounds stored(Type t, const Bounds& b) {
  if (b.open || b.is_nan()) return b;
  const auto rounded = [&](double x) {
    const auto f = static_cast<float>(x);
    return static_cast<double>(t == Type::bf16 ? bf16_to_float(bf16_from_float(f))
                                               : f16_to_float(f16_from_float(f)));
  };
  if (t == Type::bf16 || t == Type::f16) return {rounded(b.lo), rounded(b.hi)};
  if (t == Type::i16)
    return {std::clamp(b.lo, -32768.0, 32767.0), std::clamp(b.hi, -32768.0, 32767.0)};
  return b;
}

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_NUMBERS_H_
