// What bringing all of an input nearer than it lies cannot take less than: for lower_bound.cc and
// column_bound.cc. README.md has the proofs.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "search/bound_parts.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Widths of the parts of a row that are looked at together: a power of so much.
constexpr i64 kWiden = 4;

// Those that a part can have, from the narrowest to the widest, all rows as a whole apart.
std::vector<std::pair<i64, i64>> widths(i64 quantum, i64 whole) {
  std::vector<std::pair<i64, i64>> out;
  i64 least = 1;
  for (i64 most = quantum; most < whole; most *= kWiden) {
    out.emplace_back(least, most);
    least = most + 1;
  }
  if (least < whole) out.emplace_back(least, whole - 1);
  out.emplace_back(whole, whole);
  return out;
}

// Without those of no steps, and those that another is no dearer than for as many; the cheapest
// first.
template <class Mover>
std::vector<Mover> best_of(std::vector<Mover> all) {
  std::stable_sort(all.begin(), all.end(), [](const Mover& a, const Mover& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.most_steps > b.most_steps;
  });
  std::vector<Mover> out;
  for (const Mover& m : all)
    if (m.most_steps > (out.empty() ? 0 : out.back().most_steps)) out.push_back(m);
  return out;
}

}  // namespace

// Of an input that no leaf can read where it lies at the root.
bool Space::must_copy(const Spec& root, int operand) const {
  return operand < computation().inputs() && !root.place[operand].packed && !loads_given_[operand];
}

// Views of all of an input: what they bring hides behind those who use it first, if these do not
// wait for it, and is used twice, if only by windows. It comes by the rows of leaves, which are no
// wider than the widest leaf's.
Cost Space::least_view(const Spec& root, int operand) const {
  const Level from = root.place[operand].level;
  if (from <= kL1) return Cost();
  const i64 work = static_cast<i64>(arithmetic(root).value());
  const Spec leaf = leaf_of(root);
  i64 first = 1, all = 1;  // of those who use an element
  i64 parts = 1, whole = 1;
  for (int d = 0; d < dims(); ++d) {
    if (touches_[operand][d]) {
      parts = saturating_product(parts, leaf.extent[d]);
      whole = saturating_product(whole, root.extent[d]);
      continue;
    }
    first *= std::min(root.extent[d], used_at_once(d, root.extent[d]));
    all = saturating_product(all, root.extent[d]);
  }
  Cost beside = in_proportion(work, first, all);
  if (!has_windows(operand)) beside = std::min(beside, Cost::milli(work / 2));
  const Cost starts = row_starts(root, operand, rows_of(leaf, operand, -1, 0));
  const Cost rows =
      has_windows(operand) ? Cost() : in_proportion(static_cast<i64>(starts.value()), whole, parts);
  const Cost lines = region(root, operand).lines * Cost::milli(asked_line(operand, from)) + rows;
  return first_use_waits(root, operand) ? lines : lines - overlap(lines, beside);
}

// What somebody asks for a step ahead, if anybody does, beside arithmetic.
std::optional<i64> Space::least_asked_line(const Spec& root, int operand) const {
  const Level from = root.place[operand].level;
  std::optional<i64> least;
  Spec part = root;
  part.extent = easily_copied(operand, root.extent);
  if (copies_ask(part, operand)) least = line_millicycles(from, Coming::kAskedAhead);
  if (const i64 view = asked_view_line(root.place[operand]); views_ask(root, operand))
    least = std::min(view, least.value_or(view));
  return least;
}

// All of an input in parts that somebody asks for, at the price of a line beside arithmetic: in no
// less time than the level has them but for the arithmetic of those who read it, each once.
Cost Space::least_asked(const Spec& root, int operand, i64 lines, i64 each) const {
  const Level from = root.place[operand].level;
  const Cost asked = lines * Cost::milli(each + kAskMilli);
  const Cost come = lines * Cost::milli(line_millicycles(from, Coming::kPrefetched) + kAskMilli);
  return std::max(asked, come - std::min(come, arithmetic(root)));
}

// Steps of a sum that a part has at most, no narrower than this one, for which something holds of
// a part of so many.
template <class F>
i64 Space::most_steps(Spec narrow, int operand, F holds) const {
  const int d = sum_of_one_dim(narrow);
  if (d < 0 || !touches_[operand][d]) return kAnySteps;
  for (auto k = extents_[d].rbegin(); k != extents_[d].rend(); ++k) {
    narrow.extent[d] = *k;
    if (holds(narrow)) return *k == root_.extent[d] ? kAnySteps : *k;
  }
  return 0;
}

// What leaves ask for lies in L2, or L1.
i64 Space::most_steps_asked(const Spec& narrow, int operand) const {
  return most_steps(narrow, operand, [&](const Spec& s) {
    const Region r = region(s, operand);
    return worth_asking(r) &&
           (r.footprint(kL2) <= capacity().at(kL2) || r.footprint(kL1) <= capacity().at(kL1));
  });
}

// What is copied has room in L2 or in L1, and what is asked for lies in L2. Not of a copy into L3.
i64 Space::most_steps_copied(const Spec& narrow, int operand, bool asked) const {
  const i64 size = bytes(packed_dtype(family(), computation(), operand));
  const i64 room = std::max(capacity().at(kL1), capacity().at(kL2));
  return most_steps(narrow, operand, [&](const Spec& s) {
    i64 elements = 1;
    for (int d = 0; d < dims(); ++d)
      if (touches_[operand][d]) elements = saturating_product(elements, s.extent[d]);
    return elements <= room / size &&
           (!asked || region(s, operand).footprint(kL2) <= capacity().at(kL2));
  });
}

int Space::dim_along_rows(const Spec& s, int operand) const {
  const AddressTerm* inner = nullptr;
  for (const AddressTerm& g : given_[operand])
    if (s.extent[g.dim] > 1 && (!inner || g.stride < inner->stride)) inner = &g;
  return inner && inner->stride == 1 ? inner->dim : -1;
}

int Space::dim_of_rows(const Spec& root, int operand) const {
  const int dim = dim_along_rows(root, operand);
  return dim >= 0 && !computation().dims[dim].reduction ? dim : -1;
}

// Parts of rows that are looked at together, as Specs with the narrowest and with the widest.
std::vector<std::pair<Spec, Spec>> Space::parts_of_rows(const Spec& root, int operand) const {
  Spec narrow = root, wide = root;
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction) narrow.extent[d] = 1;
  const int dim = dim_of_rows(root, operand);
  if (dim < 0) return {{narrow, wide}};
  std::vector<std::pair<Spec, Spec>> out;
  for (const auto& [least, most] :
       widths(std::max<i64>(1, family().quantum[dim]), root.extent[dim])) {
    narrow.extent[dim] = least;
    wide.extent[dim] = most;
    out.emplace_back(narrow, wide);
  }
  return out;
}

// What such parts cost that are no streams, of all of an input.
Cost Space::starts_of_rows(const Spec& root, const Spec& wide, int operand) const {
  const int dim = dim_of_rows(root, operand);
  const auto starts = static_cast<i64>(row_starts(wide, operand, region(wide, operand)).value());
  return dim < 0 ? Cost::milli(starts) : in_proportion(starts, root.extent[dim], wide.extent[dim]);
}

// Copies by themselves, or asked for. Narrow parts have many rows, each of which begins anew; of
// wide ones few steps of a sum fit into L2.
void Space::add_copies(const Spec& root, const Spec& narrow, const Spec& wide, int operand,
                       std::vector<Mover>& out) const {
  const Level from = root.place[operand].level;
  const Cost rows = starts_of_rows(root, wide, operand);
  const Cost own = least_copy_work(operand, root.extent);
  const i64 lines = region(root, operand).lines;
  const auto all = [&](Coming how) { return lines * Cost::milli(line_millicycles(from, how)); };
  Cost plain = all(Coming::kAsked) + rows + own;
  if (copies_stream(wide, operand, region(wide, operand)))
    plain = std::min(plain, overlapped(all(Coming::kStreamed), own));
  out.push_back({most_steps_copied(narrow, operand, false), plain});
  if (const std::optional<i64> each = least_asked_line(root, operand))
    out.push_back({most_steps_copied(narrow, operand, true),
                   least_asked(root, operand, lines, *each) + rows + own});
}

// Views of all of an input, or those whose parts leaves ask for.
std::vector<Space::Mover> Space::least_views(const Spec& root, int operand) const {
  std::vector<Mover> out = {{kAnySteps, least_view(root, operand)}};
  if (!views_ask(root, operand)) return out;
  const Region all = region(root, operand);
  const i64 lines = std::min(all.lines, all.rows * all.row_bytes / all.line_bytes);
  const Place& place = root.place[operand];
  const Spec narrow = parts_of_rows(root, operand).front().first;
  const i64 steps = place.packed ? kAnySteps : most_steps_asked(narrow, operand);
  out.push_back({steps, least_asked(root, operand, lines, asked_view_line(place))});
  return out;
}

// Copies that lie no nearer than L3 have no bounds but what writing them costs, and reading them
// again.
Cost Space::least_far_copy(const Spec& root, int operand) const {
  const Level from = root.place[operand].level;
  i64 there = std::numeric_limits<i64>::max();
  for (Level l = kL3; l <= from; ++l)
    if (machine().levels[l].bytes > 0 || l == from)
      there = std::min(there, line_millicycles(l, Coming::kAsked));
  const Region packed = packed_region(root.extent, operand);
  const i64 lines = region(root, operand).lines;
  i64 come = line_millicycles(from, Coming::kAsked);
  if (copies_are_streams(from)) come = std::min(come, line_millicycles(from, Coming::kStreamed));
  return lines * Cost::milli(come) + least_copy_work(operand, root.extent) +
         2 * packed.lines * Cost::milli(there);
}

// What copying all of an input takes at least, where leaves sum so many steps at a time.
// What somebody has asked for does not overlap with the copying itself, nor does a view from which
// it may be copied.
std::vector<Space::Mover> Space::least_copies(const Spec& root, int operand) const {
  const Level from = root.place[operand].level;
  const Cost own = least_copy_work(operand, root.extent);
  std::vector<Mover> out;
  if (may_be_reused(operand)) out.push_back({kAnySteps, least_view(root, operand) + own});
  if (from < kL3) {
    const i64 lines = from > kL1 ? region(root, operand).lines : 0;
    out.push_back({kAnySteps, lines * Cost::milli(line_millicycles(from, Coming::kAsked)) + own});
    return best_of(std::move(out));
  }
  out.push_back({kAnySteps, least_far_copy(root, operand)});
  for (const auto& [narrow, wide] : parts_of_rows(root, operand))
    add_copies(root, narrow, wide, operand, out);
  return best_of(std::move(out));
}

Cost Space::least_copy(const Spec& root, int operand) const {
  return least_copies(root, operand).front().cost;
}

// ... or, of what leaves read where it lies, a view, which hides behind those who use it first. Of
// what is copied in any case only what is beyond the cheapest copy: that counts elsewhere. Nobody
// brings zeros.
std::vector<Space::Mover> Space::movers(const Spec& root, int operand) const {
  const bool must = must_copy(root, operand);
  const bool copies = packs_[operand] && !root.place[operand].packed;
  if (reads_zeros(root, operand) || (must && !copies)) return {{kAnySteps, Cost()}};
  std::vector<Mover> out;
  if (!must) out = least_views(root, operand);
  if (!copies) return best_of(std::move(out));
  const std::vector<Mover> all = least_copies(root, operand);
  const Cost counted = must ? all.front().cost : Cost();
  for (const Mover& m : all) out.push_back({m.most_steps, beyond(m.cost, counted)});
  return best_of(std::move(out));
}

}  // namespace morello
