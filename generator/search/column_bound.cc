// What columns of leaves cannot take less than, because of what they read again and again: for
// Space::lower_bound(). README.md has the proofs.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "search/bound_parts.h"
#include "search/leaf_work.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// So many vectors or rows of a dim are divided among leaves exactly; of more the last leaf hardly
// counts.
constexpr i64 kExactUnits = 64;
// Steps of a sum that a number of bytes in L1 may be multiplied with.
constexpr i64 kMostCounted = i64{1} << 31;

// The least that so many units cost in parts, of which `part` has the costs of 1, 2, ... units.
Cost cover(const std::vector<Cost>& part, i64 units) {
  const i64 most = static_cast<i64>(part.size());
  if (units > kExactUnits) {
    Cost least = Cost::infinite();
    for (i64 n = 1; n <= most; ++n)
      if (part[n - 1].finite())
        least = std::min(least, in_proportion(static_cast<i64>(part[n - 1].value()), units, n));
    return least;
  }
  std::vector<Cost> least(static_cast<size_t>(units) + 1, Cost::infinite());
  least[0] = Cost();
  for (i64 all = 1; all <= units; ++all)
    for (i64 n = 1; n <= most; ++n)
      least[all] = std::min(least[all], part[n - 1] + least[std::max<i64>(0, all - n)]);
  return least[units];
}

}  // namespace

// What a column of leaves reads of an input that is in L1.
struct Space::Held {
  i64 bytes = 0;        // of the whole column; 0: it is not there
  Cost view{}, copy{};  // what bringing all of that takes, by moves of either kind,
  Cost copied{};        // ... and how much of the latter counts elsewhere, beside `moved`
};

// How a column of leaves has an input that it reads over and over, or all of those, and what that
// takes of the whole column.
struct Space::Way {
  std::array<Held, kMaxOperands> held{};
  Cost beside{};  // lines that overlap with arithmetic in part,
  Cost eased{};   // ... of which it hides that much more (Compulsory::eased)
  Cost hidden{};  // ... and those from memory, if all of them are asked for ahead of time,
  Cost alone{};   // ... or none of them,
  i64 shown = 0;  // percent of what is asked for that does not overlap
  i64 most_steps = kAnySteps;                       // that a leaf sums at a time
  std::array<const Reread*, kMaxOperands> moved{};  // what has been brought nearer than it lies
  Cost far{};                                       // its share of copies that lie as far away
};

// An input of which every step of a sum reads other elements.
struct Space::Reread {
  int operand;
  i64 size;                   // bytes of an element, at least
  std::optional<i64> near{};  // millicycles of a line from the nearest level behind L1, if any,
  std::optional<i64> home{};  // ... and from where it lies, as a stream, if that is another,
  i64 near_beyond = 0, home_beyond = 0;  // ... and what of those arithmetic may hide besides
  i64 waited = 0;                        // ... and what is no stream there
  i64 asked = 0, alone = 0;     // ... and if it may be asked for there, ahead of time, or is not
  bool given = false;           // leaves read it where it lies, in rows if it lies in such
  std::vector<Mover> movers{};  // of all of it
  Cost far{};                   // copying all of it to where it lies; infinite: nobody does
  Cost copying{};               // the work of copying all of it; infinite: nobody does
};

// The part of all that is computed which a column of leaves has.
struct Space::Portion {
  i64 part = 1, whole = 1;
};

// How a sum is in pieces.
struct Space::Pieces {
  i64 rooms;  // rooms_of_pieces()
  i64 steps;  // of a piece; 1: nobody knows
};

// A line of what leaves read as it lies, and of leaves of how many steps.
struct Space::GivenLine {
  i64 millicycles;
  i64 most_steps = kAnySteps;
};

Space::Percent Space::least_percent(const Place& place, int operand) const {
  const int streams = percent_of_streams();
  const int rows = std::min(streams, least_percent_of_rows(place));
  // Rows far apart are so many streams where they are asked for, too.
  return {rows, rows_apart(family(), computation(), operand) > 1 ? rows : streams};
}

// From where it lies, and from all that is nearer.
void Space::add_lines(const Place& place, Reread& r) const {
  const Percent percent = least_percent(place, r.operand);
  for (Level l = kL2; l <= place.level; ++l) {
    if (l < place.level && machine().levels[l].bytes == 0) continue;
    // From memory rows come in ways of their own.
    const bool hides = l == kMemory && machine().prefetch_bytes > 0;
    const i64 line = least_line({l, place.packed || hides}, percent.streamed, percent.asked);
    const bool far = l > kL2 && l == place.level;
    std::optional<i64>& price = far ? r.home : r.near;
    price = price ? std::min(*price, line) : line;
    i64& beyond = far ? r.home_beyond : r.near_beyond;
    beyond = std::max(beyond, beyond_percent(l));
  }
  r.asked = line_at(place.level, Coming::kPrefetched, percent.asked);
  r.alone = line_at(place.level, Coming::kAsked, percent.asked);
  r.waited = std::min(r.asked, r.alone);
  if (place.level == kMemory && machine().prefetch_bytes > 0) return;
  r.asked = r.alone = 0;
  if (const i64 next = least_next_line(place.level); next > 0) r.waited = std::min(r.waited, next);
}

std::vector<Space::Reread> Space::reread(const Spec& root) const {
  std::vector<Reread> out;
  const Computation& c = computation();
  if (!c.reduces()) return out;
  for (int o = 0; o < c.inputs(); ++o) {
    const Place& place = root.place[o];
    bool others = !has_windows(o);
    for (int d = 0; d < dims(); ++d)
      others &= !c.dims[d].reduction || c.dims[d].extent == 1 || touches_[o][d];
    if (place.level <= kL1 || !others) continue;
    const int packed = bytes(packed_dtype(family(), c, o));
    const bool must = must_copy(root, o);
    Reread r{.operand = o, .size = must ? packed : std::min(bytes(c.operands[o].dtype), packed)};
    add_lines(place, r);
    r.given = !place.packed && !must;
    r.movers = movers(root, o);
    r.far = r.copying = Cost::infinite();
    if (packs_[o] && !place.packed) {
      r.copying = least_copy_work(o, root.extent);
      const Cost counted = must ? least_copy(root, o) : Cost();
      if (place.level >= kL3)
        r.far = reads_zeros(root, o) ? Cost() : beyond(least_far_copy(root, o), counted);
    }
    out.push_back(std::move(r));
  }
  return out;
}

// From where it lies, as it lies: as streams, or not. Rows along the sum are streams only of so few
// steps, or where a leaf has all of them.
std::vector<Space::GivenLine> Space::given_lines(const Spec& least, const Reread& r) const {
  const int o = r.operand;
  const i64 stream = r.home.value_or(0);
  if (blocked_[o] || rows_apart(family(), computation(), o) > 1) return {{stream}};
  const Region rows = rows_of(least, o, -1, 0);
  const i64 side = rows_side_by_side(least, o);
  std::vector<GivenLine> out;
  if (side > 1)
    out.push_back({least_row_line(least.place[o].level, o, side, stream, r.waited)});
  else
    out.push_back({rows.rows == 1 ? stream : r.waited});
  if (rows.rows == 1) return out;
  // Of sums along several dims nobody knows what parts of rows a leaf has.
  const bool known = sum_of_one_dim(least) >= 0;
  const bool along = dim_of_rows(least, o) >= 0 || !known;
  const bool one = side == 1 && (rows.row_bytes >= kPage || !known);
  if (along && (pieces_are_streams(least.place[o]) || one)) out.push_back({stream, kRowsAtOnce});
  return out;
}

// ... or in a copy as far away, which has been made.
void Space::add_from_home(const Spec& least, const Extents& tile, const Reread& r, i64 lines,
                          std::vector<Way>& out) const {
  const Place& place = least.place[r.operand];
  const auto all = [&](i64 line) { return lines * Cost::milli(line); };
  const auto add = [&](i64 line, i64 most_steps, Cost far) {
    const Cost home = all(line);
    out.push_back({.beside = home, .eased = r.home_beyond * home, .most_steps = most_steps});
    out.back().far = far;
  };
  const auto asked = [&](i64 line, i64 alone, bool next_rows, Cost far) {
    const Cost hidden = all(line - 1);  // rounded down, line by line
    out.push_back({.hidden = hidden, .alone = all(alone), .shown = least_shown_percent(next_rows)});
    out.back().far = far;
  };
  if (r.given)
    for (const GivenLine& l : given_lines(least, r)) add(l.millicycles, l.most_steps, Cost());
  if (place.packed || r.far.finite()) {
    const Cost far = place.packed ? Cost() : r.far;
    add(*r.home, kAnySteps, far);
    if (r.asked > 0 && !r.given) asked(r.asked, r.alone, false, far);
  }
  if (r.asked > 0 && r.given) asked(r.asked, r.alone, false, Cost());
  const bool rows = r.given && r.asked > 0;
  const i64 next_rows = rows ? least_next_rows(place, tile, r.operand) : 0;
  if (next_rows > 0) asked(next_rows, next_rows, true, Cost());
}

// Those of one input. A leaf's last vector may not be whole.
std::vector<Space::Way> Space::ways(const Spec& root, const Extents& tile, const Reread& r) const {
  i64 elements = 1, there = 1;
  Spec least = root;
  for (int d = 0; d < dims(); ++d) {
    const i64 extent = least.extent[d] = tile[d] - short_of_units(root, d);
    if (!touches_[r.operand][d]) continue;
    elements *= extent, there = saturating_product(there, root_.extent[d]);
  }
  const i64 lines = elements * r.size / machine().levels[kL1].line;
  const auto all = [&](i64 line) { return lines * Cost::milli(line); };
  const Cost near = all(r.near.value_or(0)), home = all(r.home.value_or(0));
  const Cost nearest = !r.home || (r.near && *r.near < *r.home) ? near : home;
  const Portion column = portion_of(tile, root);
  Way held;
  held.moved[r.operand] = &r;
  held.held[r.operand] = {.bytes = elements * r.size,
                          .view = nearest - overlap(nearest, nearest),
                          .copy = Cost::infinite()};
  if (r.copying.finite()) {
    const i64 copying = static_cast<i64>(r.copying.value());
    held.held[r.operand].copy = in_proportion(copying, elements, there);
    if (must_copy(root, r.operand))
      held.held[r.operand].copied = in_proportion(copying, column.part, column.whole);
  }
  std::vector<Way> out = {held};
  if (r.near) {
    out.push_back({.beside = near, .eased = r.near_beyond * near});
    if (r.home) out.back().moved[r.operand] = &r;
  }
  if (r.home) add_from_home(least, tile, r, lines, out);
  return out;
}

// With each of those of one more input; a leaf asks for one at most.
std::vector<Space::Way> Space::combined(const std::vector<Way>& ways,
                                        const std::vector<Way>& more) {
  std::vector<Way> out;
  for (const Way& a : ways)
    for (const Way& b : more)
      if (a.hidden == Cost() || b.hidden == Cost()) {
        out.push_back({a.held, a.beside + b.beside, a.eased + b.eased, a.hidden + b.hidden,
                       a.alone + b.alone, std::max(a.shown, b.shown),
                       std::min(a.most_steps, b.most_steps), a.moved, a.far + b.far});
        for (int o = 0; o < kMaxOperands; ++o) {
          if (b.held[o].bytes > 0) out.back().held[o] = b.held[o];
          if (b.moved[o]) out.back().moved[o] = b.moved[o];
        }
      }
  return out;
}

// What has brought an input nearer for leaves that sum so many steps at a time, a column's part.
Cost Space::least_moved(const Way& way, int operand, const Portion& column, i64 steps) {
  if (!way.moved[operand]) return Cost();
  for (const Mover& m : way.moved[operand]->movers)
    if (m.most_steps >= steps)
      return in_proportion(static_cast<i64>(m.cost.value()), column.part, column.whole);
  return Cost::infinite();
}

// Of two inputs in L1 one has been moved there below the other, and is moved again whenever those
// who read it have read what there is of the other: `room`, in bytes of the columns of both, has
// one piece of each column, and of the other's as many as fit. Which of the two, and what moved it,
// nobody knows.
Cost Space::least_again(const Way& way, const Extents& extent, const Portion& column,
                        const Pieces& next) const {
  Cost least = Cost::infinite();
  for (int inner = 0; inner < computation().inputs(); ++inner)
    for (int outer = 0; outer < computation().inputs(); ++outer) {
      const Held& in = way.held[inner];
      const Held& out = way.held[outer];
      if (inner == outer || in.bytes == 0 || out.bytes == 0) continue;
      for (int d = 0; d < dims(); ++d)  // along which nothing bounds how often it is read
        if (extent[d] > 1 && !touches_[inner][d] && !touches_[outer][d]) return Cost();
      const Cost moved = least_moved(way, inner, column, next.steps);
      const auto again = [&](Cost all, Cost counted) {
        if (!all.finite()) return all;
        const auto t = static_cast<i64>(all.value());
        return beyond(in_proportion(t, out.bytes, next.rooms - in.bytes), counted);
      };
      least = std::min({least, again(in.view, moved), again(in.copy, moved + in.copied)});
    }
  return least.finite() ? least : Cost();
}

// However much of what may be asked for is: README.md.
Cost Space::least_with(Cost compute, const Way& way) const {
  const auto shown = [&](Cost t) {
    return Cost::milli(static_cast<i64>(t.value()) * way.shown / 100);
  };
  const auto kept = [](Cost t) { return t - overlap(t, t); };
  const Cost covered = hidden_beyond(compute, way.eased);
  const Cost others = overlapped(compute, way.beside) - covered;
  const Cost exposed = std::min(kept(way.alone), shown(way.hidden));
  const Cost in_turn = std::min(way.alone, way.hidden + shown(way.hidden));
  const Cost longer = std::max({others, compute + kept(way.beside) + exposed - covered, in_turn});
  if (way.alone < others) return longer;
  return std::min(longer, std::max(others, way.hidden) + shown(others));
}

// The dim that a sum is along, if it is one of which it is known in what parts it may be.
int Space::sum_of_one_dim(const Spec& root) const {
  int dim = -1, count = 0;
  for (int d = 0; d < dims(); ++d)
    if (computation().dims[d].reduction && root.extent[d] > 1) dim = d, ++count;
  const bool counts = count == 1 && clips_.empty() && root.extent[dim] <= kMostCounted;
  return counts ? dim : -1;
}

// Pieces of a sum of which each fits into L1, as the bytes that the whole sum may have then, times
// their number: the least that are `rooms` or more, rounded down; 0: there are none. Sums have the
// parts that tiles make.
Space::Pieces Space::rooms_of_pieces(const Spec& root, i64 room, i64 rooms) const {
  const int d = sum_of_one_dim(root);
  if (d < 0) return {rooms, 1};
  const i64 all = saturating_product(room, root.extent[d]);
  const auto end = std::upper_bound(extents_[d].begin(), extents_[d].end(), all / rooms);
  return end == extents_[d].begin() ? Pieces{0, 0} : Pieces{all / end[-1], end[-1]};
}

Space::Portion Space::portion_of(const Extents& tile, const Spec& root) const {
  Portion column;
  for (int d = 0; d < dims(); ++d) {
    if (computation().dims[d].reduction) continue;
    column.part *= tile[d] - short_of_units(root, d);
    column.whole = saturating_product(column.whole, root_.extent[d]);
  }
  return column;
}

// What a column of leaves takes, one behind the other along the whole sum: each of its operands is
// in L1, where only so much fits that the sum is in more pieces; or it comes from farther away.
Cost Space::least_column(const Spec& root, const Extents& tile,
                         const std::vector<Reread>& reread) const {
  const Work w = least_leaf_work(tile);
  i64 arithmetic = work_millicycles(w);
  for (int d = 0; d < dims(); ++d) {  // the last step of a sum may have less to do
    if (!computation().dims[d].reduction) continue;
    const i64 steps = ceil_div(tile[d], reduction_step(d)) * reduction_step(d);
    arithmetic -= ceil_div(arithmetic * (steps - tile[d]), steps);
  }
  std::vector<Way> all(1);
  for (const Reread& r : reread) all = combined(all, ways(root, tile, r));
  Cost least = Cost::infinite();
  for (const Ends& ends : least_ends(root, tile, w, Rounding::kUp))
    for (const Way& way : all)
      least = std::min(least, least_pieces(root, tile, Cost::milli(arithmetic), ends, way, least));
  return least;
}

// The more pieces a sum is in, the more edges it has, and the less of it has to be in L1 and where
// it was copied. Whatever is `enough` or more need not be exact.
Cost Space::least_pieces(const Spec& root, const Extents& tile, Cost arithmetic, const Ends& ends,
                         const Way& way, Cost enough) const {
  const i64 room = std::max<i64>(1, capacity().at(kL1));
  const auto edges = static_cast<i64>((ends.edges - kRoundedOff).value());
  const Portion column = portion_of(tile, root);
  const auto moved = [&](i64 steps) {
    Cost all = in_proportion(static_cast<i64>(way.far.value()), column.part, column.whole);
    for (int o = 0; o < computation().inputs(); ++o) all = all + least_moved(way, o, column, steps);
    return all;
  };
  const auto most = [&](i64 rooms) { return rooms_of_pieces(root, room, rooms); };
  const bool one_dim = sum_of_one_dim(root) >= 0;
  const Cost moved_least = moved(1);
  i64 held = 0;
  for (const Held& h : way.held) held += h.bytes;
  Cost least = enough;
  for (Pieces p = most(std::max(held, room)); p.rooms > 0;) {
    const Pieces next{one_dim ? p.rooms + 1 : p.rooms + p.rooms / 8 + 1, p.steps};
    if (p.steps <= way.most_steps) {
      const Cost pieces = in_proportion(edges, p.rooms, room);
      const Cost there = least_with(arithmetic + pieces, way) + ends.written;
      if (there + moved_least >= least) break;
      const Cost again = least_again(way, root.extent, column, next);
      const Cost brought = moved(p.steps);
      least = std::min(least, there + brought + again);
      if (again == Cost() && brought == moved_least) break;
    }
    p = most(next.rooms);
  }
  return least;
}

// The same of all leaves, whatever their shapes: of each row (or vector) of a dim, leaves of so
// many rows cost no less than those that are cheapest for their extent along the others.
Cost Space::least_leaves(const Spec& root, const std::vector<Reread>& reread) const {
  std::vector<Cost> part[kMaxDims];
  i64 all = 1;
  std::vector<int> parallel;
  Extents tile = root.extent;
  for (int d = 0; d < dims(); ++d) {
    if (computation().dims[d].reduction) continue;
    parallel.push_back(d);
    all = saturating_product(all, root.extent[d]);
    tile[d] = unit(d);
    const i64 most = std::min(family().quantum[d], ceil_div(root.extent[d], unit(d)) * unit(d));
    part[d].assign(static_cast<size_t>(most / unit(d)), Cost::infinite());
  }
  if (parallel.empty()) return least_column(root, tile, reread);
  for (bool more = true; more;) {
    const i64 column = static_cast<i64>(least_column(root, tile, reread).value());
    i64 volume = 1;
    for (const int d : parallel) volume *= std::min(tile[d], root.extent[d]);
    for (const int d : parallel) {
      const i64 others = volume / std::min(tile[d], root.extent[d]);
      Cost& least = part[d][static_cast<size_t>(tile[d] / unit(d)) - 1];
      least = std::min(least, in_proportion(column, all / root.extent[d], others));
    }
    more = false;
    for (const int d : parallel) {  // the next shape, as numbers are counted
      tile[d] += unit(d);
      more = tile[d] <= static_cast<i64>(part[d].size()) * unit(d);
      if (more) break;
      tile[d] = unit(d);
    }
  }
  Cost least;
  for (const int d : parallel)
    least = std::max(least, cover(part[d], ceil_div(root.extent[d], unit(d))));
  return least;
}

Cost Space::least_columns(const std::vector<Spec>& boxes) const {
  const std::vector<Reread> reread = this->reread(root_);
  Cost leaves;
  if (reread.empty()) return leaves;
  for (const Spec& box : boxes) leaves = leaves + least_leaves(box, reread);
  return leaves;
}

}  // namespace morello
