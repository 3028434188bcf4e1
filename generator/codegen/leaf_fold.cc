// Sums of lanes, four registers at a time (impl/folding.h).
#include <algorithm>

#include "codegen/access.h"
#include "codegen/leaf_writer.h"

namespace morello {

// Registers whose elements lie side by side follow one another.
void LeafWriter::fold_all(const Folding& how) {
  Extents counts = output_instances();
  const int last = how.together;
  const i64 along = last < 0 ? 1 : std::exchange(counts[last], 1);
  std::vector<Extents> registers;
  each(counts, [&](const Extents& first) {
    for (i64 i = 0; i < along; ++i) {
      registers.push_back(first);
      if (last >= 0) registers.back()[last] = i;
    }
  });
  for (std::span<const Extents> left = registers; !left.empty();) {
    const size_t n = std::min<size_t>(left.size(), kFold);
    if (n >= kLeastFold)
      fold(how, left.first(n));
    else
      for (const Extents& instance : left) store_scalar(instance);
    left = left.subspan(n);
  }
}

// Into the first of two registers.
void LeafWriter::join_lanes(const std::string& to, const std::string& from) {
  if (k_.join.empty()) return join(to, from, k_.lanes);
  w_.code(expand(k_.join, {{"c", to}, {"a", to}, {"b", from}}));
}

// What `shuffle` makes of two registers, joined.
std::string LeafWriter::folded(std::string_view shuffle, const std::string& a,
                               const std::string& b) {
  const std::string x = names_.fresh("f"), y = names_.fresh("f");
  w_.line("{} {}, {};", reg_type(k_.output), x, y);
  w_.code(expand(shuffle, {{"x", x}, {"y", y}, {"a", a}, {"b", b}}));
  join_lanes(x, y);
  return x;
}

void LeafWriter::fold(const Folding& how, std::span<const Extents> registers) {
  const auto sum = [&](size_t i) {
    return reg(out_, registers[std::min(i, registers.size() - 1)]);
  };
  const std::array<std::string, kFold> sums = {sum(0), sum(1), sum(2), sum(3)};
  if (k_.ordered.empty()) return fold_four(how, registers, sums);
  const std::string ordered =
      expand(k_.ordered, {{"a", sums[0]}, {"b", sums[1]}, {"c", sums[2]}, {"d", sums[3]}});
  const auto loaded = extras_;  // what one branch loads the other has not, nor who comes after
  w_.open("if ({})", ordered);
  fold_four(how, registers, sums);
  w_.otherwise();
  extras_ = loaded;
  for (const Extents& instance : registers) store_scalar(instance);
  w_.close();
  extras_ = loaded;
}

void LeafWriter::fold_four(const Folding& how, std::span<const Extents> registers,
                           const std::array<std::string, kFold>& sums) {
  const Fold& row = *how.row;
  const std::string ab = folded(row.singles, sums[0], sums[1]);
  const std::string cd = folded(row.singles, sums[2], sums[3]);
  const std::string all = folded(row.pairs, ab, cd);
  for (const std::string_view half : row.halves) {
    const std::string y = names_.fresh("f");
    w_.line("{} {};", reg_type(k_.output), y);
    w_.code(expand(half, {{"y", y}, {"a", all}}));
    join_lanes(all, y);
  }
  std::vector<Offset> offsets;
  for (const Extents& instance : registers) offsets.push_back(output_offsets(instance)[0]);
  const bool together = how.together >= 0 && !job_.refs[out_].packed;
  if (together && offsets.size() == kFold && adjacent(offsets) && beside_four(how, registers))
    return store_four(how, registers[0], offsets[0], all);
  const std::string four = names_.fresh("sums");
  w_.line("alignas(16) {} {}[{}];", c_type(k_.output), four, kFold);
  w_.code(expand(row.store, {{"p", four}, {"r", all}}));
  for (size_t i = 0; i < registers.size(); ++i)
    store_sum(registers[i], fmt::format("{}[{}]", four, i));
}

// Whether what is read beside `registers` lies as folding() expects. It does not where the last
// ones of a row of the tile are followed by the first ones of the next.
bool LeafWriter::beside_four(const Folding& how, std::span<const Extents> registers) const {
  if (how.extras.empty()) return true;
  Extents next = registers[0];
  for (const Extents& at : registers) {
    if (at != next) return false;
    ++next[how.together];
  }
  return true;
}

void LeafWriter::store_four(const Folding& how, const Extents& first, const Offset& offset,
                            const std::string& sums) {
  const Fold& row = *how.row;
  const std::string p = at(pointer(out_), offset);
  const auto add_old = [&] {
    const std::string old = names_.fresh("f");
    w_.line("{} {};", reg_type(k_.output), old);
    w_.code(expand(row.load, {{"p", p}, {"r", old}}));
    join(sums, old, k_.lanes);
  };
  w_.either(
      "accumulate", job_.accumulate, [] {}, add_old);
  const Beside vectors{how.extras, c_.result(), k_.lanes, &row};
  const std::string value = finishes_ ? terms(c_.finish, vectors, first, sums).back() : sums;
  w_.code(expand(row.store, {{"p", p}, {"r", value}}));
}

}  // namespace morello
