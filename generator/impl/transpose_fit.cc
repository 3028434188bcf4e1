#include "impl/transpose_fit.h"

#include <algorithm>

namespace morello {
namespace {

const Offset& from_stride(const BoxDigit& d, bool into_packed) {
  return into_packed ? d.other : d.packed;
}
const Offset& to_stride(const BoxDigit& d, bool into_packed) {
  return into_packed ? d.packed : d.other;
}

// Fewer columns than these are sooner moved one by one: by parts each row takes two loads or three,
// and as many instructions that put them together.
i64 least_part(const Transpose& t) { return t.columns / 4; }

// Rows are adjacent in the destination: part of one digit, or all of it and part of the next (the
// two registers of an even/odd split, and lanes).
TransposeFit fit(const Transpose& t, Dtype type, std::span<const BoxDigit> digits, bool into) {
  const i64 unit = t.bytes / bytes(type);
  const bool together = digits.back().packed == 1 && digits.back().other == 1;
  if ((together ? digits.back().count : 1) != unit) return {};
  const size_t n = digits.size() - (together ? 1 : 0);
  const auto find = [&](auto matches) {
    const auto fits = [&](const BoxDigit& d) { return d.elastic < 0 && matches(d); };
    return static_cast<size_t>(std::find_if(&digits[0], &digits[0] + n, fits) - &digits[0]);
  };
  const size_t row = find([&](const BoxDigit& d) { return to_stride(d, into) == unit; });
  const size_t column = find([&](const BoxDigit& d) { return from_stride(d, into) == unit; });
  if (row == n || column == n || row == column) return {};
  if (digits[column].count < (t.partial.empty() ? t.columns : least_part(t))) return {};
  if (t.dense_columns && !(to_stride(digits[column], into) == t.rows * unit)) return {};
  const i64 first = std::min<i64>(digits[row].count, t.rows);
  if (t.dense_rows && (first < t.rows || digits[column].count > t.columns ||
                       !(from_stride(digits[row], into) == t.columns * unit)))
    return {};
  size_t next = n;
  if (first < t.rows) {
    next = find([&](const BoxDigit& d) { return to_stride(d, into) == unit * first; });
    if (next == n || next == column || t.rows % first != 0) return {};
    if (digits[next].count < t.rows / first) return {};
  }
  TransposeFit f;
  f.row = &t;
  f.step = next == n ? t.rows : t.rows / first;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i == (next == n ? row : next)) f.rows = f.inside.size();
    if (i == column) f.column = f.inside.size();
    const bool inside = i == row || i == column || i >= n || (i == next && next < n);
    (inside ? f.inside : f.around).push_back(digits[i]);
  }
  for (i64 i = 0; i < (t.dense_rows ? 1 : t.rows); ++i)
    f.sources.push_back(i % first * from_stride(digits[row], into) +
                        (next == n ? Offset() : i / first * from_stride(digits[next], into)));
  return f;
}

}  // namespace

TransposeFit fit_transpose(const Isa& isa, Dtype type, std::span<const BoxDigit> digits,
                           bool into_packed) {
  if (digits.empty()) return {};
  for (const auto& rows : isa.transposes)
    for (const Transpose& t : rows)
      if (TransposeFit f = fit(t, type, digits, into_packed); f.row) return f;
  return {};
}

}  // namespace morello
