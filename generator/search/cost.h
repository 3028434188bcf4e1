// Cost: predicted time in thousandths of a core cycle, and the affine form rewrites compose.
//
// Laws (tests/search/cost_test.cc): addition and scaling saturate at infinity, infinity absorbs,
// the order is total, and an AffineCost never falls when a child's cost rises (its weights are not
// negative). The last one is what makes dynamic programming right.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "support/diag.h"

namespace morello {

class Cost {
 public:
  constexpr Cost() = default;
  static constexpr Cost milli(i64 thousandths) {
    return Cost(static_cast<std::uint64_t>(thousandths));
  }
  static constexpr Cost cycles(i64 n) { return milli(n * 1000); }
  static constexpr Cost infinite() { return Cost(kInfinite); }

  constexpr bool finite() const { return v_ != kInfinite; }
  constexpr std::uint64_t value() const { return v_; }
  constexpr double as_cycles() const { return static_cast<double>(v_) / 1000; }
  constexpr auto operator<=>(const Cost&) const = default;

  friend constexpr Cost operator+(Cost a, Cost b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.v_, b.v_, &sum) ? infinite() : Cost(sum);
  }
  // Of finite costs, b no more than a.
  friend constexpr Cost operator-(Cost a, Cost b) {
    MORELLO_CHECK(b <= a && a.finite(), "{} less {}", a.v_, b.v_);
    return Cost(a.v_ - b.v_);
  }
  friend constexpr Cost operator*(i64 times, Cost c) {
    std::uint64_t product = 0;
    if (times == 0) return Cost();
    return __builtin_mul_overflow(static_cast<std::uint64_t>(times), c.v_, &product)
               ? infinite()
               : Cost(product);
  }

 private:
  static constexpr std::uint64_t kInfinite = ~std::uint64_t{0};
  constexpr explicit Cost(std::uint64_t v) : v_(v) {}
  std::uint64_t v_ = 0;
};

// floor(value * times / parts), or a little less if that is very much; infinite if too much.
inline Cost in_proportion(i64 value, i64 times, i64 parts) {
  const i64 rest = times % parts;
  const bool fits = rest == 0 || value <= std::numeric_limits<i64>::max() / rest;
  return (times / parts) * Cost::milli(value) +
         Cost::milli(fits ? rest * value / parts : value / parts * rest);
}

// base + sum of weight[i] * child[i].
struct AffineCost {
  static constexpr int kMaxChildren = 4;
  Cost base;
  int children = 0;
  i64 weight[kMaxChildren] = {};

  void add(i64 w) { weight[children++] = w; }
  Cost operator()(const Cost* child) const {
    Cost sum = base;
    for (int i = 0; i < children; ++i) sum = sum + weight[i] * child[i];
    return sum;
  }
};

}  // namespace morello
