// Values of a part of a computation, for programs that are called for one part after another
// (patchwork.h, fusion.h).
#pragma once

#include <vector>

#include "spec/computation.h"

namespace morello {

// Calls visit(position in the part, position in the whole tensor), both row-major, for each element
// of a part of an operand that begins at `at`, which is given per dim of the computation.
void each_element(const Operand& whole, const Operand& part, const std::vector<i64>& at,
                  auto visit) {
  std::vector<i64> index(part.shape.size(), 0), begin;
  for (const AxisMap& axis : part.axes) {
    begin.push_back(0);
    for (const AxisTerm& t : axis) begin.back() += t.coefficient * at[t.dim];
  }
  for (i64 i = 0;; ++i) {
    i64 there = 0;
    for (size_t a = 0; a < index.size(); ++a) there = there * whole.shape[a] + begin[a] + index[a];
    visit(static_cast<size_t>(i), static_cast<size_t>(there));
    size_t a = index.size();
    while (a > 0 && ++index[a - 1] == part.shape[a - 1]) index[--a] = 0;
    if (a == 0) return;
  }
}

// The values of the part, of those of the whole.
inline std::vector<double> values_of_part(const Operand& whole, const Operand& part,
                                          const std::vector<i64>& at,
                                          const std::vector<double>& values) {
  std::vector<double> out(static_cast<size_t>(count_elements(part.shape)));
  each_element(whole, part, at, [&](size_t i, size_t there) { out[i] = values.at(there); });
  return out;
}

}  // namespace morello
