// What bringing all of an input nearer than it lies cannot take less than: for lower_bound.cc and
// column_bound.cc. README.md has the proofs.

#include <algorithm>
#include <limits>
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

// Views of all of an input: what they bring hides behind those who use it first, and is used twice,
// if only by windows. It comes by the rows of leaves, which are no wider than the widest leaf's.
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
  return lines - overlap(lines, beside);
}

// One that asks for its lines: in no less time than the level has them but for the arithmetic of
// those who read what it copies, which are all that read the input, each once.
Cost Space::least_asked_copy(const Spec& root, int operand, i64 lines) const {
  const Level from = root.place[operand].level;
  const Cost asked = lines * Cost::milli(line_millicycles(from, Coming::kAskedAhead) + kAskMilli);
  const Cost come = lines * Cost::milli(line_millicycles(from, Coming::kPrefetched) + kAskMilli);
  return std::max(asked, come - std::min(come, arithmetic(root)));
}

// Steps of a sum that a copy has at most, of parts no narrower than this one: what is copied has
// room in L2 or in L1, and what is asked for lies in L2. Not of one into L3.
i64 Space::most_steps_copied(Spec narrow, int operand, bool asked) const {
  const int d = sum_of_one_dim(narrow);
  if (d < 0 || !touches_[operand][d]) return kAnySteps;
  const i64 size = bytes(packed_dtype(family(), computation(), operand));
  const i64 room = std::max(capacity().at(kL1), capacity().at(kL2));
  i64 width = 1;
  for (int e = 0; e < dims(); ++e)
    if (touches_[operand][e] && e != d) width = saturating_product(width, narrow.extent[e]);
  for (auto k = extents_[d].rbegin(); k != extents_[d].rend(); ++k) {
    narrow.extent[d] = *k;
    if (saturating_product(width, *k) > room / size) continue;
    if (asked && region(narrow, operand).footprint(kL2) > capacity().at(kL2)) continue;
    return *k == root_.extent[d] ? kAnySteps : *k;
  }
  return 0;
}

// The innermost dim along which an input has parts of rows; -1: none.
int Space::dim_of_rows(const Spec& root, int operand) const {
  const AddressTerm* inner = nullptr;
  for (const AddressTerm& g : given_[operand])
    if (root.extent[g.dim] > 1 && (!inner || g.stride < inner->stride)) inner = &g;
  return inner && !computation().dims[inner->dim].reduction ? inner->dim : -1;
}

// Copies whose parts of rows are no narrower than those of one Spec, and no wider than those of
// another: by themselves, or asked for. Narrow parts have many rows, each of which begins anew; of
// wide ones few steps of a sum fit into L2.
void Space::add_copies(const Spec& root, const Spec& narrow, const Spec& wide, int operand,
                       std::vector<Mover>& out) const {
  const Level from = root.place[operand].level;
  const int dim = dim_of_rows(root, operand);
  const Region r = region(wide, operand);
  const auto starts = static_cast<i64>(row_starts(wide, operand, r).value());
  const Cost rows =
      dim < 0 ? Cost::milli(starts) : in_proportion(starts, root.extent[dim], wide.extent[dim]);
  const Cost own = copy_work(operand, root.extent, packed_region(root.extent, operand));
  const i64 lines = region(root, operand).lines;
  const auto all = [&](Coming how) { return lines * Cost::milli(line_millicycles(from, how)); };
  Cost plain = all(Coming::kAsked) + rows + own;
  if (copies_stream(wide, operand, r))
    plain = std::min(plain, overlapped(all(Coming::kStreamed), own));
  out.push_back({most_steps_copied(narrow, operand, false), plain});
  if (!copies_ask(root, operand)) return;
  out.push_back({most_steps_copied(narrow, operand, true),
                 least_asked_copy(root, operand, lines) + rows + own});
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
  return lines * Cost::milli(come) + copy_work(operand, root.extent, packed) +
         2 * packed.lines * Cost::milli(there);
}

// What copying all of an input takes at least, where leaves sum so many steps at a time.
// What somebody has asked for does not overlap with the copying itself, nor does a view from which
// it may be copied.
std::vector<Space::Mover> Space::least_copies(const Spec& root, int operand) const {
  const Level from = root.place[operand].level;
  const Cost own = copy_work(operand, root.extent, packed_region(root.extent, operand));
  std::vector<Mover> out;
  if (may_be_reused(operand)) out.push_back({kAnySteps, least_view(root, operand) + own});
  if (from < kL3) {
    const i64 lines = from > kL1 ? region(root, operand).lines : 0;
    out.push_back({kAnySteps, lines * Cost::milli(line_millicycles(from, Coming::kAsked)) + own});
    return best_of(std::move(out));
  }
  out.push_back({kAnySteps, least_far_copy(root, operand)});
  Spec narrow = root;
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction) narrow.extent[d] = 1;
  const int dim = dim_of_rows(root, operand);
  if (dim < 0) {
    add_copies(root, narrow, root, operand, out);
    return best_of(std::move(out));
  }
  for (const auto& [least, most] :
       widths(std::max<i64>(1, family().quantum[dim]), root.extent[dim])) {
    Spec wide = root;
    narrow.extent[dim] = least;
    wide.extent[dim] = most;
    add_copies(root, narrow, wide, operand, out);
  }
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
  if (!must) out.push_back({kAnySteps, least_view(root, operand)});
  if (!copies) return out;
  const std::vector<Mover> all = least_copies(root, operand);
  const Cost counted = must ? all.front().cost : Cost();
  for (const Mover& m : all) out.push_back({m.most_steps, beyond(m.cost, counted)});
  return best_of(std::move(out));
}

}  // namespace morello
