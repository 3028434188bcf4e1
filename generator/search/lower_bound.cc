// What no program of a family can beat. README.md has the proofs.

#include <algorithm>
#include <utility>
#include <vector>

#include "search/bound_parts.h"
#include "search/leaf_work.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// The parts of a root with windows to clip: no leaf is in two of them.
std::vector<Spec> boxes_of(const std::vector<Clipped>& clips, const Spec& root) {
  std::vector<Spec> boxes = {root};
  for (const Clipped& x : clips) {
    std::vector<Spec> cut;
    for (const Spec& box : boxes)
      for (const Segment& segment : x.segments) cut.push_back(spec_of(segment, x, box));
    boxes = std::move(cut);
  }
  return boxes;
}

}  // namespace

// Elements along a parallel dim that leaves take as one.
i64 Space::unit(int dim) const {
  const Kernel& k = *family().kernel;
  const bool lanes = k.lanes > 1 && !k.lanes_reduce && family().joined < 0;
  return lanes && dim == family().lane ? k.lanes : 1;
}

// By how much it is less than whole ones.
i64 Space::short_of_units(const Spec& s, int dim) const {
  if (computation().dims[dim].reduction) return 0;
  return ceil_div(s.extent[dim], unit(dim)) * unit(dim) - s.extent[dim];
}

// A packed copy of the output has the kernel's own type, and is finished later; it is written back
// once at least, and what that takes does not depend on in what parts. Vectors that are not
// adjacent where they are stored go there one element after the other.
std::vector<Space::Ends> Space::least_ends(const Spec& root, const Extents& tile, const Work& w,
                                           Rounding rounding) const {
  const int out = computation().inputs();
  const Place& place = root.place[out];
  std::vector<Ends> ends;
  Spec s = root;
  s.extent = tile;
  for (const bool packed : {false, true}) {
    if (packed ? !packs_[out] && !place.packed : place.packed) continue;
    s.place[out].packed = packed;
    Work edges;
    const i64 vectors = add_whole_edges(s, edges, rounding);
    if (!packed) add_apart(vectors, edges);
    const i64 together = leaf_millicycles(w, edges, rounding);
    const i64 beyond = together - work_millicycles(w) + kCallMilli;
    ends.push_back({Cost::milli(beyond) + least_loop(), Cost()});
    if (packed && !place.packed) ends.back().written = least_written(root, tile);
  }
  return ends;
}

// Of a tile, or what there is of it.
Cost Space::least_written(const Spec& root, const Extents& tile) const {
  const int out = computation().inputs();
  Region r;
  r.row_bytes = bytes(packed_dtype(family(), computation(), out));
  for (int d = 0; d < dims(); ++d)
    if (touches_[out][d]) r.row_bytes *= std::max<i64>(1, tile[d] - short_of_units(root, d));
  return copy_work(out, root.extent, r);
}

// The step of a loop that runs a leaf, and no other: README.md. Segments are not run by loops.
Cost Space::least_loop() const { return Cost::milli(clips_.empty() ? kLoopMilli : 0); }

// Leaves along a dim that together do the least: as few as there can be, as even as rows and
// vectors allow. What a leaf takes is convex in their number (the longest of what its instructions
// take, each in proportion), so neither more leaves nor uneven ones take less. (Before, whole
// quanta and a remainder: 28 rows and 4 take longer than 16 and 16.) Splitting the reduction only
// adds edges and calls.
std::vector<Space::Leaves> Space::even_leaves(const Spec& s, int d) const {
  const i64 extent = s.extent[d];
  if (computation().dims[d].reduction) return {{extent, 1}};
  const i64 unit = this->unit(d);
  const i64 units = ceil_div(extent, unit), short_by = short_of_units(s, d);
  const i64 leaves = ceil_div(units, family().quantum[d] / unit);
  const i64 least = units / leaves, more = units % leaves;
  return {{(least + 1) * unit, more},
          {least * unit, leaves - more - (short_by > 0 ? 1 : 0)},
          {least * unit - short_by, short_by > 0 ? 1 : 0}};
}

// The leaves that every program of the family must run for a Spec, all they read being near.
Cost Space::least_compute(const Spec& s) const {
  std::vector<std::pair<Extents, i64>> tiles(1);
  tiles[0].first.fill(1);
  tiles[0].second = 1;
  for (int d = 0; d < dims(); ++d) {
    std::vector<std::pair<Extents, i64>> next;
    for (auto [tile, count] : tiles)
      for (const Leaves& l : even_leaves(s, d)) {
        tile[d] = l.extent;
        if (l.count > 0) next.emplace_back(tile, count * l.count);
      }
    tiles = std::move(next);
  }
  Cost sum;
  for (const auto& [tile, count] : tiles) {
    const Work w = least_leaf_work(tile);
    Cost least = Cost::infinite();
    for (const Ends& e : least_ends(s, tile, w, Rounding::kDown))
      least = std::min(least, e.edges + e.written);
    sum = sum + count * (Cost::milli(work_millicycles(w)) + least);
  }
  return sum;
}

// Of what a stream of packed panels takes, by those of the family.
int Space::percent_of_streams() const {
  return family().streams > 1 ? machine().streams_percent(family().streams) : 100;
}

// The lowest price of a line of an input, by streams that take so many percent of one, or asked for
// by such.
i64 Space::least_line(const Place& place, int streamed, int asked) const {
  const Level from = place.level;
  const i64 least = std::min(line_at(from, Coming::kStreamed, streamed),
                             line_at(from, Coming::kPrefetched, asked));
  const i64 next = place.packed ? 0 : least_next_line(from);
  return next > 0 ? std::min(least, next) : least;
}

// One transfer of every operand from where it lies at the root.
struct Space::Compulsory {
  Cost traffic, longest;  // of all that leaves can read as it lies, and of one of them
  Cost eased;             // how much of it arithmetic may hide besides, in hundredths
  Cost viewed;            // how much of it views hide behind the first use
  Cost copies;            // of the others, which are copied
};

Space::Compulsory Space::compulsory(const Spec& whole) const {
  Compulsory out;
  const Cost all = arithmetic(whole);
  const Cost half = Cost::milli(static_cast<i64>(all.value()) / 2);
  const Spec cut = inside(whole);
  for (int o = 0; o < operands(); ++o) {
    const Spec& root = reads_zeros(whole, o) ? cut : whole;
    const Level from = root.place[o].level;
    const bool input = o < computation().inputs();
    if (!input && from <= kL3 && problem_.part.in_place) continue;  // see stored()
    if (must_copy(root, o)) {
      out.copies = out.copies + least_copy(root, o);
    } else if (from > kL1) {
      i64 each = asked_line(o, from);
      if (input) each = std::min(each, least_asked_line(root, o).value_or(each));
      if (input) {
        const Percent percent = least_percent(root.place[o], o);
        each = std::min(each, least_line(root.place[o], percent.streamed, percent.asked));
      } else {
        each = std::min(each, line_millicycles(from, Coming::kPrefetched));
        if (streams_) each = std::min(each, streamed_millicycles());
      }
      const Cost bring = region(root, o).lines * Cost::milli(each);
      out.traffic = out.traffic + bring;
      out.longest = std::max(out.longest, bring);
      out.eased = out.eased + eased(from, bring);
      if (input && may_be_reused(o) && !first_use_waits(root, o))
        out.viewed = out.viewed + overlap(bring, has_windows(o) ? all : half);
    }
  }
  return out;
}

// Proved in README.md. Without prefetch overlapped() is subadditive, so that the sum over leaves is
// at least its value at the sum of all arithmetic and of one compulsory transfer of every operand;
// where operands start in memory, and any of them might be prefetched, a leaf takes no less than
// its arithmetic, than what it brings of any one operand, or than half of all that it brings. Views
// hide behind half of the arithmetic at most, because what they bring is used twice; of windows,
// which may share it, behind all. An operand that no leaf can read where the user put it is copied
// at least once, which overlaps with nothing but itself where it is a stream, unless a view has
// brought it. Nor do leaves take less than what they read again and again allows (least_columns()).
// Threads share all of it at best.
Cost Space::lower_bound() const {
  const Spec& whole = root_;
  const Compulsory once = compulsory(whole);
  const std::vector<Spec> boxes = boxes_of(clips_, whole);
  Cost compute;
  for (const Spec& box : boxes) compute = compute + least_compute(box);
  const auto hidden_from = [](const Place& p) { return p.level == kMemory; };
  const bool hides =
      std::any_of(whole.place.begin(), whole.place.begin() + operands(), hidden_from) &&
      machine().prefetch_bytes > 0;
  const Cost traffic = once.traffic;
  const Cost exposed = hides ? Cost() : traffic - overlap(traffic, traffic);
  const Cost longest = std::max(once.longest, Cost::milli(static_cast<i64>(traffic.value()) / 2));
  const Cost together = hides ? std::max(compute, longest) : overlapped(compute, traffic);
  const Cost most = std::max(compute + exposed, together - std::min(together, once.viewed));
  const Cost least = std::max(most - hidden_beyond(compute, once.eased), least_columns(boxes));
  // But of one leaf, or of one in each share of threads, of which there are two for each at most.
  const Cost unlooped = (whole.threads == 1 ? 1 : 2 * whole.threads) * least_loop();
  const Cost serial = least + once.copies - std::min(least, kRoundedOff + unlooped);
  if (whole.threads == 1) return serial;
  return region_start() + Cost::milli(static_cast<i64>(serial.value()) / whole.threads);
}

}  // namespace morello
