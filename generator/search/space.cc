#include "search/space.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "impl/shares.h"

namespace morello {
namespace {

// Reductions shorter than this are not worth the reload and store of the accumulators; small
// problems use a lower floor so that they have a choice at all.
constexpr i64 kReductionFloor = 32;
constexpr i64 kSmallReductionFloor = 8;
constexpr i64 kSmallReduction = 512;
// Tiles of a dim that all operands share: no reuse to gain, only locality between layouts.
constexpr i64 kSharedTiles[] = {1, 16, 256};
// Extents of all dims multiplied are to be no more: past this the tile menus get coarser, because
// every remainder is a Spec of its own and odd sizes leave many. Menus of powers of 4 instead of 2
// lost 0.1 to 0.2 % of the model's cost on products and convolutions, and took a tenth of the time
// on odd sizes.
constexpr size_t kMostShapes = 512;
constexpr i64 kCoarsest = 64;
// From here on powers of 4 in any case, where three dims or more have a size to choose: at most
// 0.4 % dearer on thirteen kernels, in half the time.
constexpr i64 kLargeExtent = 1024;
// The same where fewer dims have: at most 0.05 % dearer on four matrix-vector products, in 0.5 to
// 0.75 of the time.
constexpr i64 kHugeExtent = 8192;
// Pages whose addresses the first-level TLB holds, and what each page costs a region whose rows lie
// in more.
constexpr i64 kPagesAtHand = 64;
constexpr i64 kPageMilli = 4000;
// Percent of the latency of a stream's first line that does not overlap with what was before.
constexpr i64 kSeenLatency = 10;
// Per mille of it for every row that a loop comes to anew: its page is another one, and no
// prefetcher follows it yet. They follow the rows of so many pages. (G: bf16 1x2048x2048, rows of
// 4 KiB: 348 to 355 us where a loop along them has 32 rows, 398 to 418 with 64.)
constexpr i64 kRowLatency = 12;
constexpr i64 kStreams = 32;
// Copying, in millicycles: a vector of a run; an element that is shuffled within a run, or
// transposed, by rows of the ISA; one that moves by itself. And a call. Measured on what GCC 12
// makes of the emitted copies with AVX2 (an Intel server of 2 MiB of L2; 96 x 32 elements, both
// sides in L1), cycles an element: runs of 16 and 24 f32 0.14, of 96 f32 0.06, bf16 to f32 0.15;
// even/odd split of bf16 0.09 to 0.12; transposing f32 to panels of 16 0.20, of 6 0.26, bf16 0.13
// and 0.22, 8-bit pairs 0.06 and 0.11; by itself 0.55 (8-bit, panels of 6) to 0.84 (8-bit to 16-bit
// pairs).
constexpr i64 kRunMilli = 1100;
constexpr i64 kShuffleMilli = 120;
constexpr i64 kTransposeMilli = 200;
constexpr i64 kElementMilli = 700;
constexpr i64 kCopyCallMilli = 4000;
// Lines that one touch of a line costs which was evicted since the last one.
constexpr i64 kRevisitLines = 2;
// Share of a cache promised to operands, in quarters. (G: 16x2048x512 in parts of the reduction,
// b's 1 MiB parts read three times each: 643 us, as if from nowhere near; 256 KiB parts 567, and
// 534 where they are read once. L2 has 2 MiB.)
constexpr i64 kUsableQuarters[kLevels] = {0, 2, 2, 3, 0};
// A reduction is divided among threads only where the inputs have this many times the elements of
// all copies of the output.
constexpr i64 kInputsPerCopies = 4;
// Adding an element of a copy, in millicycles: 0.14 to 0.18 cycles measured on what GCC 12 and
// Clang 14 make of the emitted loop with AVX2, copies in L1 and L2.
constexpr i64 kAddCopyMilli = 150;

size_t saturating_power(size_t base, int exponent) {
  size_t power = 1;
  for (int i = 0; i < exponent && power <= kMostShapes; ++i) power *= base;
  return power;
}
i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }

// Those greater than 1, ascending.
std::vector<int> divisors(int n) {
  std::vector<int> out;
  for (int d = 2; d <= n; ++d)
    if (n % d == 0) out.push_back(d);
  return out;
}

i64 least_step(const AddressMap& map, int dim) {
  i64 step = 1;
  for (const AddressTerm& t : map.terms)
    if (t.dim == dim) step = std::lcm(step, t.mod == 0 ? t.div : t.div * t.mod);
  return step;
}

}  // namespace

i64 Region::footprint(Level l) const {
  const i64 bytes = lines * line_bytes;
  if (rows < 2 || l > kL2 || row_stride < line_bytes) return bytes;
  // Of an L1 whose ways are as large as a page, and of an L2 below pages that lie anywhere, rows
  // can use the lines of a page that they cover.
  const i64 places = kPage / line_bytes >> spread_of(row_stride, line_bytes);
  if (rows <= places) return bytes;
  return bytes * kPage / std::min(kPage, places * (lines / rows) * line_bytes);
}

i64 Region::pages() const {
  if (row_stride < line_bytes) return 1;
  const auto lines = static_cast<std::uint64_t>(row_stride / line_bytes);
  return rows * std::min(kPage, static_cast<i64>(std::bit_floor(lines)) * line_bytes) / kPage;
}

Space::Space(const Problem& problem, const Pruning& pruning)
    : problem_(problem), pruning_(pruning) {
  for (int o = 0; o < operands(); ++o) {
    const AddressMap map = problem_.root_address(o);
    const bool given = !problem_.root().place[o].packed;
    blocked_[o] = given && !map.is_plain();
    given_[o] = map.plain_terms();
    for (int d = 0; d < dims(); ++d) {
      touches_[o][d] = touches(computation().operands[o], d);
      block_[o][d] = given ? least_step(map, d) : 1;
    }
    // Operands in a user's blocked layout are always copied: leaves step through the reduction in
    // strides that its blocks would cut.
    if (o < computation().inputs())
      loads_given_[o] = loads_given(family(), computation(), o) && !blocked_[o];
  }
  stores_given_ = !blocked_[computation().inputs()];
  const int lane = family().lane;
  stores_adjacent_ =
      lane >= 0 && problem_.root_address(computation().inputs()).unit_stride(lane) == 1;
  for (int o = 0; o < operands(); ++o) {
    packs_[o] = packing_pays(o);
    copies_in_runs_[o] = copies_in_runs(o);
    copies_within_runs_[o] = copies_within_runs(o);
    copies_in_registers_[o] = copies_in_registers(o);
  }
  make_menus();
  coordinates_ = Coordinates(problem_, menus_text(), pruning_.keys);
}

// The output is packed only where the leaf cannot accumulate and store it as it is (bf16, strided,
// blocked): a plain f32 tile of it would only cost.
bool Space::packing_pays(int o) const {
  if (family().packed[o].digits.empty()) return false;
  if (o < computation().inputs()) return true;
  const bool accumulates = computation().combine == Combine::kSum &&
                           computation().output().dtype == family().kernel->output;
  return !accumulates || problem_.root_address(o).unit_stride(family().lane) != 1;
}

// Tiles of every dim in powers of 2; in powers of 4, 8, ... where that leaves too many extents. A
// dim decides for itself, so that the same dim of another kernel has the same menu.
void Space::make_menus() {
  int wide = 0;  // dims that have a size to choose
  for (const Dim& d : computation().dims) wide += d.extent > 1;
  size_t most = 1;
  while (saturating_power(most + 1, std::max(1, wide)) <= kMostShapes) ++most;
  for (int d = 0; d < dims(); ++d) {
    const i64 extent = computation().dims[d].extent;
    const bool large = extent >= (wide > 2 ? kLargeExtent : kHugeExtent);
    for (ratio_[d] = large ? 4 : 2;; ratio_[d] *= 2) {
      make_extents(d);
      if (extents_[d].size() <= most || ratio_[d] >= kCoarsest) break;
    }
  }
}

// What tiles_ are made from, without the extents that only end the lists: any two Spaces with this
// text have the same tiles below any extent.
std::string Space::menus_text() const {
  std::string out;
  if (!pruning_.keys) out += " all";
  for (int d = 0; d < dims(); ++d) {
    out += fmt::format(" {}^{}", first_tile(d), ratio_[d]);
    for (int o = 0; o < operands(); ++o)
      if (block_[o][d] > 1) out += fmt::format(",{}", block_[o][d]);
  }
  return out;
}

// The least tile of a dim; 0 for one that all operands touch, which has a menu of its own.
i64 Space::first_tile(int d) const {
  const Dim& dim = computation().dims[d];
  const i64 quantum = family().quantum[d];
  if (dim.reduction) {
    const i64 floor = dim.extent < kSmallReduction ? kSmallReductionFloor : kReductionFloor;
    return quantum * std::max<i64>(1, ceil_div(floor, quantum));
  }
  const bool shared = std::all_of(touches_, touches_ + operands(), [&](auto& t) { return t[d]; });
  return shared && quantum == 1 ? 0 : quantum;
}

void Space::make_tiles(int d) {
  const Dim& dim = computation().dims[d];
  std::set<i64> sizes;
  auto add_powers = [&](i64 first) {
    for (i64 t = first; t < dim.extent; t *= ratio_[d]) sizes.insert(t);
  };
  const i64 first = first_tile(d);
  if (first > 0) add_powers(first);
  if (first == 0)
    for (i64 t : kSharedTiles)
      if (t < dim.extent) sizes.insert(t);
  for (int o = 0; o < operands(); ++o)
    if (block_[o][d] > 1) add_powers(std::lcm(family().quantum[d], block_[o][d]));
  // A parallel loop may also step by an equal share of the dim (rewrites/parallel*.cc).
  tiles_[d].assign(sizes.begin(), sizes.end());
}

// Extents are closed under tiling: tiles, remainders, remainders of remainders.
void Space::make_extents(int d) {
  make_tiles(d);
  const Dim& dim = computation().dims[d];
  std::set<i64> closed;
  std::vector<i64> open = {dim.extent};
  auto add_share = [&](i64 n) {
    if (dim.reduction && !divides_reduction(d, n)) return;
    open.push_back(std::min(share_tile(d, n), dim.extent));
    if (dim.extent % open.back() > 0) open.push_back(dim.extent % open.back());
  };
  for (int n : divisors(problem_.threads)) {
    add_share(n);
    if (!dim.reduction) add_share(2 * n);
  }
  while (!open.empty()) {
    const i64 e = open.back();
    open.pop_back();
    if (!closed.insert(e).second) continue;
    for (i64 t : tiles_[d]) {
      if (t >= e) break;
      open.push_back(t);
      if (e % t > 0) open.push_back(e % t);
    }
  }
  extents_[d].assign(closed.begin(), closed.end());
  MORELLO_CHECK(extents_[d].size() < 4096, "{} extents of dim {}", extents_[d].size(), dim.name);
}

std::vector<Share> Space::shares(const Spec& s) const {
  std::vector<Share> out = {{s.threads, 1}, {2 * s.threads, 1}};
  if (s.threads < problem_.threads) return out;
  for (int p : divisors(s.threads))
    if (p < s.threads) out.push_back({p, s.threads / p});
  return out;
}

i64 Space::share_tile(int dim, i64 n) const {
  const i64 quantum = family().quantum[dim];
  return ceil_div(ceil_div(computation().dims[dim].extent, n), quantum) * quantum;
}

bool Space::divides_reduction(int dim, i64 n) const {
  const Computation& c = computation();
  if (!c.dims[dim].reduction || c.combine != Combine::kSum) return false;
  if (share_tile(dim, n) >= c.dims[dim].extent) return false;
  i64 inputs = 0;
  for (int o = 0; o < c.inputs(); ++o) inputs += problem_.root_address(o).elements;
  return n * problem_.root_address(c.inputs()).elements <= inputs / kInputsPerCopies;
}

Limits Space::capacity() const {
  Limits l;
  for (Level level = kL1; level <= kL3; ++level) {
    const LevelDesc& desc = machine().levels[level];
    const i64 users = std::max(1, std::min(problem_.threads, desc.shared_by));
    l.at(level) = desc.bytes * kUsableQuarters[level] / 4 / users;
  }
  return l;
}

bool Space::steps_whole_blocks(const Spec& s, int dim, i64 tile) const {
  for (int o = 0; o < operands(); ++o)
    if (!s.place[o].packed && tile % block_[o][dim] != 0) return false;
  return true;
}

Region Space::packed_region(const Extents& e, int operand) const {
  Region r;
  r.line_bytes = machine().levels[kL1].line;
  const i64 bytes = problem_.packed_bytes(operand, e);
  r.row_bytes = bytes;
  r.lines = ceil_div(bytes, r.line_bytes);
  return r;
}

Region Space::rows_of(const Spec& s, int operand, int dim, i64 tile) const {
  Region r;
  r.line_bytes = machine().levels[kL1].line;
  i64 run = 1;
  i64 stride = 0;
  for (const AddressTerm& g : given_[operand]) {
    const i64 e = g.dim == dim ? std::min(tile, s.extent[dim]) : s.extent[g.dim];
    if (e == 1) continue;
    if (g.stride == run && r.rows == 1) {
      run *= e;
      continue;
    }
    r.rows *= e;
    if (computation().dims[g.dim].reduction) r.along_reduction *= e;
    if (stride == 0) stride = g.stride;
  }
  if (blocked_[operand]) {  // close enough: all of it, in one piece
    run = 1;
    for (int d = 0; d < dims(); ++d)
      if (touches_[operand][d]) run *= d == dim ? std::min(tile, s.extent[d]) : s.extent[d];
    r.rows = r.along_reduction = 1;
  }
  const int size = bytes(computation().operands[operand].dtype);
  r.row_bytes = run * size;
  r.row_stride = r.rows > 1 ? stride * size : 0;
  return r;
}

Region Space::region(const Spec& s, int operand) const {
  if (s.place[operand].packed) return packed_region(s.extent, operand);
  Region r = rows_of(s, operand, -1, 0);
  r.lines = r.rows * ceil_div(r.row_bytes, r.line_bytes);
  // Neighbouring rows may share lines (a column of a row-major matrix read in full).
  if (r.row_stride > 0 && r.row_stride < r.line_bytes)
    r.lines = ceil_div(r.rows * r.row_stride, r.line_bytes);
  return r;
}

i64 Space::line_millicycles(Level l, bool prefetched) const {
  const LevelDesc& d = machine().levels[l];
  const i64 alone = prefetched ? d.prefetched_millicycles : d.line_millicycles;
  const i64 users = std::min(problem_.threads, d.shared_by);
  return std::max(alone, d.shared_line_millicycles * users);
}

Cost Space::transfer(const Region& r, Level from, bool prefetched) const {
  if (from <= kL1) return Cost();
  i64 total = r.lines * line_millicycles(from, prefetched);
  if (const i64 pages = r.pages(); pages > kPagesAtHand) total += pages * kPageMilli;
  return Cost::milli(total);
}

// A stream that is prefetched: nobody has asked for its first lines, and a distance less than the
// machine's hides less.
Cost Space::stream(const Region& r, Level from, i64 distance) const {
  const i64 alone = line_millicycles(from, false);
  const i64 saved = (alone - line_millicycles(from, true)) * distance / machine().prefetch_bytes;
  const i64 covered = std::max<i64>(0, r.lines - distance / r.line_bytes);
  return Cost::milli(r.lines * alone - covered * saved);
}

Steps::Steps(const Space& space, const Spec& s) : space_(space), spec_(s) {
  for (int o = 0; o < space.operands(); ++o) {
    if (s.place[o].level <= kL1) continue;
    far_[count_] = o;
    const i64 rows = s.place[o].packed ? 0 : space.rows_of(s, o, -1, 0).rows;
    again_[count_] = space.begin(s.place[o].level, rows);
    ++count_;
  }
}

// The part of an operand that one step reads begins where the last one ended if its rows go on, and
// are few enough for their pages to be remembered.
Cost Steps::at(int dim, i64 tile) const {
  i64 total = 0;
  for (int i = 0; i < count_; ++i) {
    const int o = far_[i];
    if (!space_.touches_[o][dim]) {
      total += again_[i];
    } else if (spec_.place[o].packed) {
      if (!space_.runs_on(spec_, o, dim)) total += again_[i];
    } else {
      const Region part = space_.rows_of(spec_, o, dim, tile);
      const bool remembered = part.rows == 1 || part.pages() <= kStreams;
      if (!remembered || !space_.rows_run_on(spec_, o, dim))
        total += space_.begin(spec_.place[o].level, part.rows);
    }
  }
  return Cost::milli(total);
}

i64 Space::begin(Level from, i64 rows) const {
  return machine().levels[from].latency_millicycles * (kSeenLatency * 10 + kRowLatency * rows) /
         1000;
}

// Packed panels hold all of the reduction one after the other, so a step along it goes on; whether
// one to the next panel does depends on how much of it was used.
bool Space::runs_on(const Spec& s, int operand, int dim) const {
  const bool along = computation().dims[dim].reduction;
  for (int d = 0; d < dims(); ++d)
    if (touches_[operand][d] && d != dim && s.extent[d] > (along ? family().quantum[d] : 1))
      return false;
  return true;
}

// Rows go on along a dim whose neighbours lie where what is nearer in memory ends.
bool Space::rows_run_on(const Spec& s, int operand, int dim) const {
  if (blocked_[operand]) return true;  // close enough, as in rows_of()
  i64 run = 1;
  for (const AddressTerm& g : given_[operand]) {
    if (g.dim == dim) return g.stride == run;
    if (s.extent[g.dim] == 1) continue;
    if (g.stride != run) return false;
    run *= s.extent[g.dim];
  }
  return false;
}

bool Space::leaf_covers(const Spec& s) const {
  const Computation& c = computation();
  for (int d = 0; d < dims(); ++d)
    if (!c.dims[d].reduction && s.extent[d] > family().quantum[d]) return false;
  for (int o = 0; o < c.inputs(); ++o)
    if (!s.place[o].packed && !loads_given_[o]) return false;
  if (!s.place[c.inputs()].packed && !stores_given_) return false;
  return !s.accumulate || accumulates(s);
}

bool Space::accumulates(const Spec& s) const {
  const Computation& c = computation();
  if (c.combine != Combine::kSum) return false;
  return s.place[c.inputs()].packed || c.output().dtype == family().kernel->output;
}

bool Space::reused(const Spec& s, int operand) const {
  for (int d = 0; d < dims(); ++d) {
    if (touches_[operand][d]) continue;
    const bool reduction = computation().dims[d].reduction;
    const i64 once = !reduction          ? family().quantum[d]
                     : tiles_[d].empty() ? s.extent[d]
                                         : tiles_[d].front();
    if (s.extent[d] > once) return true;
  }
  return false;
}

int Space::prefetchable(const Spec& s) const {
  if (machine().prefetch_bytes == 0 || family().isa->prefetch.empty()) return -1;
  int best = -1;
  i64 most = 0;
  for (int o = 0; o < computation().inputs(); ++o) {
    const Level from = s.place[o].level;
    if (from < kL3 || line_millicycles(from, true) >= line_millicycles(from, false)) continue;
    const Region r = region(s, o);
    if (r.rows == 1 && r.lines > most) {
      most = r.lines;
      best = o;
    }
  }
  return best;
}

// What was packed ahead of time lies in the order of the copy already: only its type changes.
bool Space::copies_in_runs(int operand) const {
  const PackedOrder& order = family().packed[operand];
  if (order.digits.empty()) return false;
  if (computation().operands[operand].packed) return true;
  const Digit& inner = order.digits.back();
  const bool long_run = inner.mod == 0 || inner.mod >= 8;
  return long_run && inner.div == 1 && problem_.root_address(operand).unit_stride(inner.axis) == 1;
}

// Whether the last digits run along the dim that is adjacent in the source, in another order.
bool Space::copies_within_runs(int operand) const {
  const std::vector<Digit>& digits = family().packed[operand].digits;
  if (digits.size() < 2) return false;
  const int axis = digits.back().axis;
  return digits[digits.size() - 2].axis == axis &&
         problem_.root_address(operand).unit_stride(axis) == 1;
}

// Whether the ISA has rows for what is no run: elements that keep their type, so many adjacent in a
// panel as a row has. Those adjacent on both sides (pairs of the reduction) move as one.
bool Space::copies_in_registers(int operand) const {
  std::span<const Digit> digits = family().packed[operand].digits;
  const Dtype type = computation().operands[operand].dtype;
  if (digits.empty() || packed_dtype(family(), computation(), operand) != type) return false;
  i64 unit = bytes(type);
  const Digit& last = digits.back();
  const bool adjacent = last.div == 1 && problem_.root_address(operand).unit_stride(last.axis) == 1;
  if (adjacent && last.mod > 0 && unit * last.mod <= 4 && digits.size() > 1) {
    unit *= last.mod;
    digits = digits.first(digits.size() - 1);
  }
  const i64 panel = digits.back().mod;  // 0: as many as there are
  for (std::span<const Transpose> rows : family().isa->transposes)
    for (const Transpose& t : rows)
      if (t.bytes == unit && (panel == 0 || t.rows <= panel) && (!t.dense || t.rows == panel))
        return true;
  return false;
}

Cost Space::copy_work(int operand, const Region& packed) const {
  const i64 elements = packed.row_bytes / bytes(packed_dtype(family(), computation(), operand));
  const i64 lanes = family().kernel->lanes > 1 ? 8 : 1;
  return Cost::milli(elements * (copies_in_runs_[operand]         ? kRunMilli / lanes
                                 : !copies_in_registers_[operand] ? kElementMilli
                                 : copies_within_runs_[operand]   ? kShuffleMilli
                                                                  : kTransposeMilli));
}

// A copy goes through panels, and through all of the reduction in each. Where a panel is less than
// a line wide in the source, the next one finds its lines again, if they are still there.
Cost Space::revisits(const Spec& s, int operand) const {
  const Level from = s.place[operand].level;
  if (from <= kL1 || s.place[operand].packed || operand == computation().inputs()) return Cost();
  Region column = region(s, operand);
  const i64 size = bytes(computation().operands[operand].dtype);
  i64 lines = 1;  // of all columns that are a line wide
  int unit = -1;
  column.rows = 1;
  column.row_stride = 0;
  for (const AddressTerm& g : given_[operand]) {
    if (g.stride == 1) {
      unit = g.dim;
      continue;
    }
    lines *= s.extent[g.dim];
    if (!computation().dims[g.dim].reduction || s.extent[g.dim] == 1) continue;
    if (column.rows == 1) column.row_stride = g.stride * size;
    column.rows *= s.extent[g.dim];
  }
  if (unit < 0 || computation().dims[unit].reduction || column.rows == 1) return Cost();
  const i64 width = s.extent[unit];
  // Where a panel has one element, rows of the ISA take those of several panels at once.
  const i64 quantum = family().quantum[unit];
  const i64 panel = std::min(quantum > 1 || !copies_in_registers_[operand] ? quantum : 8, width);
  if (panel * size >= column.line_bytes) return Cost();
  column.row_bytes = column.line_bytes;
  column.lines = column.rows;
  if (column.footprint(kL1) <= machine().levels[kL1].bytes) return Cost();
  const bool in_l2 = from == kL2 || column.footprint(kL2) <= capacity().at(kL2);
  return lines * ceil_div(width, panel) * kRevisitLines *
         Cost::milli(line_millicycles(in_l2 ? kL2 : from, false));
}

Cost Space::copy(const Spec& s, int operand, Level to) const {
  const Level from = s.place[operand].level;
  const Region packed = packed_region(s.extent, operand);
  const int ways = operand == computation().inputs() && s.accumulate ? 2 : 1;
  // What is written comes in first and goes out again.
  return ways * (transfer(region(s, operand), from) + 2 * transfer(packed, to) +
                 copy_work(operand, packed)) +
         revisits(s, operand) + Cost::milli(kCopyCallMilli);
}

// Copies were written by other cores, so they come through a cache that all of them share: each
// task reads its part of every share and writes its part of the output.
Cost Space::add_shares(const Spec& s, const Loop& loop) const {
  const Shares shares = shares_of(problem_, s, loop);
  const i64 line = machine().levels[kL1].line;
  const int out = computation().inputs();
  const i64 size = bytes(problem_.place_dtype(out, s.place[out].packed));
  const Level from = std::max(s.place[out].level, shared_level(machine(), problem_.threads));
  Region part;
  part.line_bytes = static_cast<int>(line);
  part.row_bytes = shares.task_elements * size;
  part.lines = ceil_div(part.row_bytes, line);
  const Cost adding = Cost::milli((shares.count - 1) * shares.task_elements * kAddCopyMilli);
  const Cost start = shares.tasks > 1 ? region_start() : Cost();
  return start + (shares.count + 1) * transfer(part, from) + adding +
         Cost::milli(machine().levels[from].latency_millicycles * kSeenLatency / 100) +
         Cost::cycles(20);
}

Cost Space::fill(const Spec& s) const {
  const int out = computation().inputs();
  const Region r = region(s, out);
  return transfer(r, s.place[out].level) + Cost::milli(r.lines * 2000) + Cost::cycles(10);
}

}  // namespace morello
