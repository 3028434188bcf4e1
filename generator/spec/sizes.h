// Products of sizes that a user wrote: they saturate instead of overflowing, so that a check
// against a limit is always meaningful.
#pragma once

#include <span>

#include "support/diag.h"

namespace morello {

inline constexpr i64 kHuge = i64{1} << 62;            // "2^62 or more"
inline constexpr i64 kMaxExtent = 2147483647;         // of one dimension
inline constexpr i64 kMaxTensorBytes = i64{1} << 46;  // of one tensor, padding included

// For 0 <= a, 0 < b.
constexpr i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }

// For 0 <= a, b; kHuge when the product is not below it.
constexpr i64 saturating_product(i64 a, i64 b) {
  return a != 0 && b > (kHuge - 1) / a ? kHuge : a * b;
}

constexpr i64 saturating_product(std::span<const i64> factors) {
  i64 product = 1;
  for (const i64 f : factors) product = saturating_product(product, f);
  return product;
}

}  // namespace morello
