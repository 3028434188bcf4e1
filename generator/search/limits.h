// Limits: bytes a Spec may still use at each cache level. An Entry of the memo answers every limit
// from its peak (what its program needs) to its own limit (below which nothing better fits).
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "target/machine.h"

namespace morello {

// Index: level - 1, for L1, L2, L3. (Registers are counted by the family; memory has no limit.)
struct Limits {
  static constexpr int kCount = 3;
  static constexpr i64 kUnlimited = std::numeric_limits<i64>::max() / 4;
  std::array<i64, kCount> bytes{};

  static Limits zero() { return {}; }
  static Limits unlimited() { return {{kUnlimited, kUnlimited, kUnlimited}}; }
  i64& at(Level l) { return bytes[l - 1]; }
  i64 at(Level l) const { return bytes[l - 1]; }
  bool operator==(const Limits&) const = default;
};

// a fits into b: component-wise at most.
inline bool fits(const Limits& a, const Limits& b) {
  for (int i = 0; i < Limits::kCount; ++i)
    if (a.bytes[i] > b.bytes[i]) return false;
  return true;
}
inline Limits max(Limits a, const Limits& b) {
  for (int i = 0; i < Limits::kCount; ++i) a.bytes[i] = std::max(a.bytes[i], b.bytes[i]);
  return a;
}
inline Limits min(Limits a, const Limits& b) {
  for (int i = 0; i < Limits::kCount; ++i) a.bytes[i] = std::min(a.bytes[i], b.bytes[i]);
  return a;
}
// Both together; unlimited stays unlimited.
inline Limits plus(Limits a, const Limits& b) {
  for (int i = 0; i < Limits::kCount; ++i)
    if (a.bytes[i] < Limits::kUnlimited) a.bytes[i] += b.bytes[i];
  return a;
}

}  // namespace morello
