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
  std::vector<Extents> four(registers.begin(), registers.end());
  std::vector<Offset> offsets;
  for (const Extents& instance : four) offsets.push_back(output_offsets(instance)[0]);
  const bool at_once =
      how.together >= 0 && !job_.refs[out_].packed && offsets.size() == kFold && adjacent(offsets);
  if (!at_once && !(finishes_ && how.made)) {
    const auto sums_of = elements(row, k_.output, all);
    for (size_t i = 0; i < registers.size(); ++i) store_sum(registers[i], sums_of[i]);
    return;
  }
  const std::string p = at(pointer(out_), offsets[0]);
  if (at_once) add_old_four(row, p, all);
  four.resize(kFold, four.back());
  const std::string made = finishes_ ? finished_four(*how.made, four, all) : all;
  if (at_once) return w_.code(expand(how.made->store, {{"p", p}, {"r", made}}));
  const auto results = elements(*how.made, c_.result(), made);
  for (size_t i = 0; i < registers.size(); ++i) store_element(registers[i], results[i]);
}

void LeafWriter::add_old_four(const Fold& row, const std::string& p, const std::string& sums) {
  w_.either(
      "accumulate", job_.accumulate, [] {},
      [&] {
        const std::string old = names_.fresh("f");
        w_.line("{} {};", reg_type(k_.output), old);
        w_.code(expand(row.load, {{"p", p}, {"r", old}}));
        join(sums, old, k_.lanes);
      });
}

// A register of four elements.
void LeafWriter::set_four(const Fold& row, const std::string& reg,
                          const std::array<std::string, kFold>& e) {
  w_.code(expand(row.set, {{"r", reg}, {"a", e[0]}, {"b", e[1]}, {"c", e[2]}, {"d", e[3]}}));
}

std::string LeafWriter::finished_four(const Fold& made, std::span<const Extents> four,
                                      const std::string& sums) {
  const Beside vectors{f_.extras, c_.result(), k_.lanes, four, &made};
  return terms(c_.finish, vectors, four[0], sums).back();
}

// An operand beside four sums: by one load, if they have the same element or neighbours.
std::string LeafWriter::extra_of_four(int e, const Beside& b) {
  const int tensor = static_cast<int>(c_.operands.size()) + e;
  std::vector<Extents> index;
  std::vector<Offset> offsets;
  for (const Extents& instance : b.four) {
    index.push_back(index_of_extra(e, instance));
    offsets.push_back(along_lanes(tensor, index.back(), 1)[0]);
  }
  const auto [found, added] = extras_.try_emplace({e, index});
  if (!added) return found->second;
  const std::string name = found->second = names_.fresh("e");
  const Dtype type = job_.refs[tensor].dtype;
  const bool same = std::equal(index.begin() + 1, index.end(), index.begin());
  if (const Access* one = splat_row(*f_.isa, b.lanes, type, b.type); one && same) {
    w_.line("{} {};", reg_type(b.type), name);
    read_vector(w_, names_, *one, type, stem(tensor), {offsets[0]}, name);
  } else if (type == b.type && adjacent(offsets)) {
    w_.line("{} {};", reg_type(b.type), name);
    w_.code(expand(b.fold->load, {{"p", at(stem(tensor), offsets[0])}, {"r", name}}));
  } else {
    std::array<std::string, kFold> each;
    for (size_t i = 0; i < each.size(); ++i) each[i] = extra(e, at_end(), b.four[i]);
    w_.line("{} {};", reg_type(b.type), name);
    set_four(*b.fold, name, each);
  }
  return name;
}

// The first lanes of a register, in memory.
std::array<std::string, kFold> LeafWriter::elements(const Fold& row, Dtype type,
                                                    const std::string& value) {
  const std::string four = names_.fresh("four");
  w_.line("alignas(16) {} {}[{}];", c_type(type), four, kFold);
  w_.code(expand(row.store, {{"p", four}, {"r", value}}));
  std::array<std::string, kFold> out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = fmt::format("{}[{}]", four, i);
  return out;
}

}  // namespace morello
