#include "spec/layout.h"

#include <algorithm>
#include <numeric>

#include "spec/sizes.h"

namespace morello {

static std::string str(const Digit& d) {
  std::string out = fmt::format("{}", d.axis);
  if (d.div != 1) out += fmt::format("/{}", d.div);
  if (d.mod != 0) out += fmt::format("%{}", d.mod);
  return out;
}

Layout Layout::row(int rank) {
  Layout l;
  for (int axis = 0; axis < rank; ++axis) l.digits.push_back({axis, 1, 0});
  return l;
}

Layout Layout::col(int rank) {
  Layout l = row(rank);
  if (rank >= 2) std::swap(l.digits[rank - 1], l.digits[rank - 2]);
  return l;
}

i64 Layout::extent(const Digit& d, std::span<const i64> shape) const {
  return d.mod != 0 ? d.mod : (shape[d.axis] + d.div - 1) / d.div;
}

i64 count_elements(std::span<const i64> shape) {
  i64 n = 1;
  for (const i64 extent : shape) n *= extent;
  return n;
}

i64 Layout::elements(std::span<const i64> shape) const {
  i64 product = 1;
  for (const Digit& d : digits) product = saturating_product(product, extent(d, shape));
  return product;
}

i64 Layout::offset(std::span<const i64> index, std::span<const i64> shape) const {
  i64 offset = 0;
  for (const Digit& d : digits) {
    i64 value = index[d.axis] / d.div;
    if (d.mod != 0) value %= d.mod;
    offset = offset * extent(d, shape) + value;
  }
  return offset;
}

std::string Layout::str(int rank) const {
  if (is_row(rank)) return "row";
  if (is_col(rank)) return "col";
  std::string out;
  for (const Digit& d : digits) out += (out.empty() ? "" : ", ") + morello::str(d);
  return "order(" + out + ")";
}

// The digits of one axis, least significant first, must chain: 1 -> mod -> div of the next.
static std::string axis_problem(std::vector<Digit> digits, int axis) {
  if (digits.empty()) return fmt::format("axis {} is missing", axis);
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
    return std::pair(a.div, a.mod == 0) < std::pair(b.div, b.mod == 0);
  });
  i64 div = 1;
  for (const Digit& d : digits) {
    const bool leading = &d == &digits.back();
    if (d.div != div)
      return fmt::format("axis {} needs a digit `{}`, got `{}`", axis, str(Digit{axis, div, 0}),
                         str(d));
    if (leading && d.mod != 0)
      return fmt::format("axis {} needs a leading digit `{}`", axis,
                         str(Digit{axis, saturating_product(d.div, d.mod), 0}));
    if (!leading && d.mod == 0) return fmt::format("axis {} is covered twice", axis);
    if (!leading && d.mod < 2) return fmt::format("`{}` has a modulus below 2", str(d));
    div = saturating_product(d.div, d.mod);
  }
  return "";
}

std::string layout_problem(const Layout& layout, int rank) {
  for (const Digit& d : layout.digits)
    if (d.axis < 0 || d.axis >= rank)
      return fmt::format("there is no axis {}; the last one is {}", d.axis, rank - 1);
  for (int axis = 0; axis < rank; ++axis) {
    std::vector<Digit> digits;
    for (const Digit& d : layout.digits)
      if (d.axis == axis) digits.push_back(d);
    std::string problem = axis_problem(std::move(digits), axis);
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace morello
