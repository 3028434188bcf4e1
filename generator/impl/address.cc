#include "impl/address.h"

#include <algorithm>

namespace morello {

// "%1" is a digit that is always 0.
static bool is_constant(const AddressTerm& t) { return t.mod == 1; }

i64 AddressMap::offset(const Extents& index) const {
  i64 sum = 0;
  for (const AddressTerm& t : terms) {
    const i64 digit = index[t.dim] / t.div;
    sum += (t.mod == 0 ? digit : digit % t.mod) * t.stride;
  }
  return sum;
}

Offset AddressMap::place(const Extents& index) const {
  Offset sum;
  for (const AddressTerm& t : terms) {
    const i64 digit = index[t.dim] / t.div;
    sum += t.steps(t.mod == 0 ? digit : digit % t.mod);
  }
  return sum;
}

bool AddressMap::run_time() const {
  return std::any_of(terms.begin(), terms.end(),
                     [](const AddressTerm& t) { return t.symbol >= 0; });
}

Offset AddressMap::advance(int dim, i64 step) const {
  Offset sum;
  for (const AddressTerm& t : terms) {
    if (t.dim != dim || is_constant(t)) continue;
    const i64 block = t.mod == 0 ? t.div : t.div * t.mod;
    MORELLO_CHECK(step % block == 0, "step {} of dim {} cuts a block of {}", step, dim, block);
    // A digit with a modulus has come round to the value it had.
    if (t.mod == 0) sum += t.steps(step / t.div);
  }
  return sum;
}

i64 AddressMap::unit_stride(int dim) const {
  i64 sum = 0;
  for (const AddressTerm& t : terms)
    if (t.dim == dim && t.div == 1 && !is_constant(t)) sum += t.stride;
  return sum;
}

bool AddressMap::touches(int dim) const {
  for (const AddressTerm& t : terms)
    if (t.dim == dim) return true;
  return false;
}

bool AddressMap::is_plain() const {
  return std::all_of(terms.begin(), terms.end(), [](const AddressTerm& t) { return t.is_plain(); });
}

std::vector<AddressTerm> AddressMap::plain_terms() const {
  std::vector<AddressTerm> plain;
  for (const AddressTerm& t : terms)
    if (t.is_plain()) plain.push_back(t);
  std::stable_sort(plain.begin(), plain.end(),
                   [](const AddressTerm& a, const AddressTerm& b) { return a.stride < b.stride; });
  return plain;
}

// The terms of one layout digit that covers a whole axis: the axis' index is a sum over dims.
static void add_plain_axis(const AxisMap& axis, i64 stride, int symbol,
                           std::vector<AddressTerm>& terms) {
  for (const AxisTerm& t : axis)
    terms.push_back(
        {.dim = t.dim, .stride = t.coefficient * stride, .symbol = symbol, .times = t.coefficient});
}

AddressMap given_address(const Computation& c, int operand) {
  const Operand& o = c.tensor(operand);
  // A packed operand that no family packs stays in the order the packer reads: row.
  const Layout layout = o.packed ? Layout::row(static_cast<int>(o.shape.size())) : o.layout;
  AddressMap map;
  MORELLO_CHECK(layout.digits.size() <= kMostDigits, "{} digits", layout.digits.size());
  i64 stride = 1, last = 0;
  for (auto d = layout.digits.rbegin(); d != layout.digits.rend(); ++d) {
    const AxisMap& axis = o.axes[d->axis];
    const size_t digit = static_cast<size_t>(layout.digits.rend() - d) - 1;
    int symbol = -1;
    if (!o.strides.empty()) {
      stride = o.strides[digit].elements;
      if (o.strides[digit].run_time) symbol = stride_symbol(operand, static_cast<int>(digit));
    }
    if (d->div == 1 && d->mod == 0) {
      add_plain_axis(axis, stride, symbol, map.terms);
    } else if (!axis.empty()) {
      // Blocks of an axis are blocks of a dim only where the two are the same.
      MORELLO_CHECK(axis.size() == 1 && axis[0].coefficient == 1,
                    "blocked layout of {} along an axis that is not one dim", o.name);
      map.terms.push_back(
          {.dim = axis[0].dim, .div = d->div, .mod = d->mod, .stride = stride, .symbol = symbol});
    }
    last += (layout.extent(*d, o.shape) - 1) * stride;
    stride *= layout.extent(*d, o.shape);
  }
  // Outermost first, like the layout.
  std::vector<AddressTerm>(map.terms.rbegin(), map.terms.rend()).swap(map.terms);
  map.elements = last + 1;
  return map;
}

AddressMap in_parts(const AddressMap& map, int dim, i64 extent, i64 n) {
  MORELLO_CHECK(extent % n == 0, "{} in {} parts", extent, n);
  AddressMap out{.terms = {}, .elements = map.elements};
  for (const AddressTerm& t : map.terms) {
    out.terms.push_back(t);
    if (t.dim != dim) continue;
    MORELLO_CHECK(t.is_plain(), "a block of dim {} in parts", dim);
    out.terms.back().div = n;
    AddressTerm part = t;
    part.mod = n;
    part.stride *= extent / n;
    part.times *= extent / n;
    out.terms.push_back(part);
  }
  return out;
}

static i64 digit_extent(const Digit& d, const Extents& tile) {
  return d.mod != 0 ? d.mod : (tile[d.axis] + d.div - 1) / d.div;
}

i64 PackedOrder::elements(const Extents& tile) const {
  i64 n = 1;
  for (const Digit& d : digits) n *= digit_extent(d, tile);
  return n;
}

AddressMap PackedOrder::address(const Extents& tile) const {
  AddressMap map;
  map.terms.resize(digits.size());
  i64 stride = 1;
  for (size_t i = digits.size(); i-- > 0;) {
    const Digit& d = digits[i];
    map.terms[i] = {.dim = d.axis, .div = d.div, .mod = d.mod, .stride = stride};
    stride *= digit_extent(d, tile);
  }
  map.elements = stride;
  return map;
}

}  // namespace morello
