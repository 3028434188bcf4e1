#include "search/space.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "impl/finishing.h"
#include "impl/joined.h"
#include "impl/patchwork.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Leaves that may read a part of a few rows from where they lie; for more it is copied. (With a
// tile more in every reduction, searches of products took 1.2 to 1.8 of the time and found
// nothing.)
constexpr i64 kMostUsesOfPieces = 2;
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
// Percent of a cache promised to operands. (G: 16x2048x512 in parts of the reduction,
// b's 1 MiB parts read three times each: 643 us, as if from nowhere near; 256 KiB parts 567, and
// 534 where they are read once. L2 has 2 MiB.)
constexpr int kUsablePercent[kLevels] = {0, 50, 50, 75, 0};
// Of what is found again where others use the cache as well: how much that is changes, and what a
// program streams goes through it. (Zen 3, 12 of 32 MiB, f32 2048^3 in parts of 512: both operands
// copied to L3, 8 MiB, 243 and 237 ms beside a busy neighbour, a in blocks of 384 rows, 5 MiB, 199
// and 196; when it was quiet 198 and 192. 1024^3, b copied and a of 4 MiB viewed, or 384 rows of
// it, 25.5 and 24.6 ms.)
constexpr int kUsableOfKeptPercent = 50;
// A reduction is divided among threads only where the inputs have this many times the elements of
// all copies of the output.
constexpr i64 kInputsPerCopies = 4;

size_t saturating_power(size_t base, int exponent) {
  size_t power = 1;
  for (int i = 0; i < exponent && power <= kMostShapes; ++i) power *= base;
  return power;
}

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

i64 least_part_of_sum(i64 extent) {
  return extent < kSmallReduction ? kSmallReductionFloor : kReductionFloor;
}

Space::Space(const Problem& problem, const Pruning& pruning, Copies* known)
    : problem_(problem),
      root_(problem.root()),
      pruning_(pruning),
      clips_(clipped(*problem.computation)) {
  std::vector<AddressMap> walked(static_cast<size_t>(operands()));
  for (int o = 0; o < operands(); ++o) {
    const AddressMap map = problem_.given(o);
    walked[o] = family().apart < 0 ? map : problem_.root_address(o);
    const bool given = !root_.place[o].packed;
    blocked_[o] = given && !map.is_plain();
    given_[o] = map.plain_terms();
    whole_rows_[o] = WholeRows(given_[o], computation());
    once_[o] = read_once(problem_, o);
    rows_begin_[o] = rows_begin(given_[o], computation(), bytes(computation().operands[o].dtype),
                                machine().levels[kL1].line);
    for (int d = 0; d < dims(); ++d) {
      touches_[o][d] = touches(computation().operands[o], d);
      block_[o][d] = given ? least_step(walked[o], d) : 1;
    }
    // Operands in a user's blocked layout are always copied: leaves step through the reduction in
    // strides that its blocks would cut.
    if (o < computation().inputs())
      loads_given_[o] = loads_given(family(), computation(), o) && !blocked_[o];
    vectors_begin_[o] =
        vectors_begin(given_[o], computation(), family(), bytes(computation().operands[o].dtype),
                      machine().levels[kL1].line);
  }
  stores_given_ = !blocked_[computation().inputs()];
  const int lane = family().lane;
  describe_folds(walked[computation().inputs()]);
  stores_adjacent_ = lane >= 0 && walked[computation().inputs()].unit_stride(lane) == 1;
  copies_output_ = !root_.place[computation().inputs()].packed;
  output_leaves_ = problem_.output_leaves();
  streams_ = output_leaves_ && !problem_.part.read_again && problem_.streaming_problem().empty();
  for (int o = 0; o < operands(); ++o) {
    packs_[o] = packing_pays(o);
    if (!family().packed[o].digits.empty()) copying_[o] = copying(o, walked[o], known);
  }
  describe_extras();
  loads_all_the_time_ = loads_all_the_time();
  fours_ = fours_of(problem_);
  make_menus();
  Menus menus;
  for (int d = 0; d < dims(); ++d) {
    const std::vector<i64> firsts = first_tiles(d);
    const auto least = std::min_element(firsts.begin(), firsts.end());
    menus[d] = {least_tile(d), least == firsts.end() ? 0 : *least, ratio_[d], pieces_[d]};
  }
  coordinates_ = Coordinates(problem_, menus, pruning_.keys);
}

// The output is packed only where the leaf cannot accumulate and store it as it is (bf16, finished,
// strided, blocked): a plain f32 tile of it would only cost.
bool Space::packing_pays(int o) const {
  if (family().packed[o].digits.empty() || o == problem_.part.asked) return false;
  for (int d = 0; d < dims(); ++d)
    if (touches_[o][d] && elastic(d) && !can_copy_elastic(problem_, o, d)) return false;
  if (o < computation().inputs()) return true;
  const bool accumulates = computation().reduces() && computation().gathers_in_output();
  return !accumulates || problem_.root_address(o).unit_stride(family().lane) != 1;
}

void Space::describe_extras() {
  const Computation& c = computation();
  const Isa& isa = *family().isa;
  const Finishing leaf = finishing(family(), c);
  const Kernel& k = *family().kernel;
  mapped_ = work_of(isa, c.reduces() ? before_row(k, c) : c.body, k.lanes);
  for (size_t i = 0; i < c.extras.size() && !c.reduces(); ++i)
    if (names(c.body, Fn::kExtra, static_cast<int>(i)) &&
        !shared_by_vectors(family(), c, c.extras[i]))
      mapped_ += leaf.extras[i]->uops;
  for (const Access* a : family().body_extras)
    if (a) body_extras_ += a->uops;
  if (!c.finish.empty()) {
    const Finishing back = write_back(family(), c);
    finished_ = work_of(isa, c.finish, leaf);
    written_back_ = work_of(isa, c.finish, back);
    written_back_lanes_ = back.lanes;
  }
  for (size_t i = 0; i < c.extras.size(); ++i) {
    const int t = static_cast<int>(c.operands.size() + i);
    const AddressMap map = problem_.root_address(t);
    full_extra_[i] = true;
    extra_run_[i] = -1;
    for (int d = 0; d < dims(); ++d) {
      if (c.dims[d].reduction) continue;
      full_extra_[i] &= map.touches(d);
      if (map.unit_stride(d) == 1) extra_run_[i] = d;
    }
    if (family().joined < 0) continue;
    repeated_rows_ += along_rows(c, family(), t) == AlongRows::kRow;
    spread_rows_ += along_rows(c, family(), t) == AlongRows::kEach;
  }
}

// Tiles of every dim in powers of 2; in powers of 4, 8, ... where that leaves too many extents. A
// dim decides for itself, so that the same dim of another kernel has the same menu.
void Space::make_menus() {
  int wide = 0;  // dims that have a size to choose; a reduction too short to split has none
  for (int d = 0; d < dims(); ++d) {
    ratio_[d] = 2;
    make_tiles(d);
    const Dim& dim = computation().dims[d];
    wide += dim.reduction ? !tiles_[d].empty() : dim.extent > 1;
  }
  size_t most = 1;
  while (saturating_power(most + 1, std::max(1, wide)) <= kMostShapes) ++most;
  for (int d = 0; d < dims(); ++d) {
    const i64 extent = computation().dims[d].extent;
    const bool sums = computation().dims[d].reduction;
    const bool large = !sums && extent >= (wide > 2 ? kLargeExtent : kHugeExtent);
    for (ratio_[d] = large ? 4 : 2;; ratio_[d] *= 2) {
      make_extents(d);
      if (extents_[d].size() <= most || ratio_[d] >= kCoarsest) break;
    }
    // One tile more leaves others as they are.
    if (pieces_[d] = piece_tile(d); pieces_[d] > 0) make_extents(d);
  }
}

// A tile of a reduction below those of its menu, of as many rows of an input as can be streams, or
// as L1 keeps of those that begin in the same places of a page; 0: none.
i64 Space::piece_tile(int dim) const {
  if (!computation().dims[dim].reduction || elastic(dim)) return 0;
  const i64 quantum = family().quantum[dim];
  const i64 streams = ceil_div(kSmallReductionFloor, quantum) * quantum;
  for (int o = 0; o < computation().inputs(); ++o) {
    if (!touches_[o][dim] || blocked_[o]) continue;
    if (given_[o].empty() || given_[o].front().dim == dim) continue;
    if (uses(root_, o) > kMostUsesOfPieces) continue;
    const i64 kept = rows_kept(o, dim) / quantum * quantum;
    const i64 tile = pieces_are_streams(root_.place[o]) ? streams : kept;
    if (tile > 0 && tile < least_tile(dim)) return tile;
  }
  return 0;
}

// So many rows of an input along a dim, a power of two, does L1 keep wherever they begin; 0: they
// are in it or lie side by side, or it is not known what it costs that leaves which sum so few
// begin more often. (Zen 5, f32, L1 keeps eight rows of 4 KiB: bench/machines/zen5.md.)
i64 Space::rows_kept(int operand, int dim) const {
  const Place& place = root_.place[operand];
  if (place.packed || machine().levels[place.level].leaf_start_millicycles == 0) return 0;
  Region rows;
  rows.line_bytes = machine().levels[kL1].line;
  for (const AddressTerm& g : given_[operand]) {
    rows.row_stride = g.stride * bytes(computation().operands[operand].dtype);
    if (g.dim != dim || rows.row_stride < rows.line_bytes) continue;
    return static_cast<i64>(std::bit_floor(static_cast<std::uint64_t>(ways() * rows.places())));
  }
  return 0;
}

// The least tile of a dim; 0 for one that all operands touch, which has a menu of its own.
i64 Space::least_tile(int d) const {
  const Dim& dim = computation().dims[d];
  const i64 quantum = family().quantum[d];
  if (dim.reduction) {
    return quantum * std::max<i64>(1, ceil_div(least_part_of_sum(dim.extent), quantum));
  }
  const bool shared = std::all_of(touches_, touches_ + operands(), [&](auto& t) { return t[d]; });
  return shared && quantum == 1 ? 0 : quantum;
}

// Where the powers in a dim's menu begin.
std::vector<i64> Space::first_tiles(int d) const {
  std::vector<i64> firsts;
  if (elastic(d)) return firsts;
  if (const i64 least = least_tile(d); least > 0) firsts.push_back(least);
  for (int o = 0; o < operands(); ++o)
    if (block_[o][d] > 1) firsts.push_back(std::lcm(family().quantum[d], block_[o][d]));
  return firsts;
}

void Space::make_tiles(int d) {
  const i64 extent = computation().dims[d].extent;
  std::vector<i64>& sizes = tiles_[d];
  sizes.clear();
  for (i64 first : first_tiles(d))
    for (i64 t = first; t < extent; t *= ratio_[d]) sizes.push_back(t);
  if (least_tile(d) == 0)
    for (i64 t : kSharedTiles)
      if (t < extent) sizes.push_back(t);
  if (pieces_[d] > 0 && pieces_[d] < extent) sizes.push_back(pieces_[d]);
  // A parallel loop may also step by an equal share of the dim (rewrites/parallel*.cc).
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

i64 Space::even_tile(int dim, i64 extent) const {
  const i64 quantum = family().quantum[dim];
  if (computation().dims[dim].reduction || extent <= quantum || elastic(dim)) return 0;
  const i64 lanes = dim == family().lane ? family().kernel->lanes : 1;
  const i64 leaves = ceil_div(extent, quantum);
  const i64 even = ceil_div(ceil_div(extent, leaves), lanes) * lanes;
  return even < quantum ? even : 0;
}

// Packed panels are as wide as the quantum, and no loop cuts them.
i64 Space::even_tile(const Spec& s, int dim) const {
  for (int o = 0; o < operands(); ++o)
    if (touches_[o][dim] && s.place[o].packed) return 0;
  return even_tile(dim, s.extent[dim]);
}

// What loops can divide of a dim at first: all of it; of one that is cut for windows the segments.
std::vector<i64> Space::parts_to_divide(int d) const {
  for (const Clipped& x : clips_) {
    if (x.dim != d) continue;
    std::vector<i64> out;
    for (const Segment& segment : x.segments)
      if (segment.count > 1) out.push_back(segment.count);
    return out;
  }
  return {computation().dims[d].extent};
}

// Extents are closed under tiling: tiles, remainders, remainders of remainders.
void Space::make_extents(int d) {
  make_tiles(d);
  const Dim& dim = computation().dims[d];
  std::vector<i64>& closed = extents_[d];  // ascending
  closed.clear();
  const std::vector<i64> parts = parts_to_divide(d);
  std::vector<i64> open = parts;
  auto add_share = [&](i64 n) {
    if (dim.reduction && !(may_be_shared(root_, d) && divides_reduction(d, n))) return;
    for (const i64 part : parts) {
      open.push_back(std::min(share_tile(d, part, n), part));
      if (part % open.back() > 0) open.push_back(part % open.back());
    }
  };
  for (int n : divisors(problem_.threads)) {
    add_share(n);
    if (!dim.reduction) add_share(2 * n);
  }
  while (!open.empty()) {
    const i64 e = open.back();
    open.pop_back();
    const auto at = std::lower_bound(closed.begin(), closed.end(), e);
    if (at != closed.end() && *at == e) continue;
    closed.insert(at, e);
    const auto cut = [&](i64 t) {
      open.push_back(t);
      if (e % t > 0) open.push_back(e % t);
    };
    for (i64 t : tiles_[d]) {
      if (t >= e) break;
      cut(t);
    }
    if (const i64 even = even_tile(d, e); even > 0) cut(even);
  }
  MORELLO_CHECK(closed.size() < 4096, "{} extents of dim {}", closed.size(), dim.name);
}

std::vector<Share> Space::shares(const Spec& s) const {
  std::vector<Share> out = {{s.threads, 1}, {2 * s.threads, 1}};
  if (s.threads < problem_.threads) return out;
  for (int p : divisors(s.threads))
    if (p < s.threads) out.push_back({p, s.threads / p});
  return out;
}

i64 Space::share_tile(int dim, i64 extent, i64 n) const {
  const i64 quantum = family().quantum[dim];
  return ceil_div(ceil_div(extent, n), quantum) * quantum;
}

bool Space::splits_sums() const {
  for (int d = 0; d < dims(); ++d)
    if (computation().dims[d].reduction && !tiles_[d].empty()) return true;
  return false;
}

bool Space::elastic_output() const {
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction && elastic(d)) return true;
  return false;
}

bool Space::divides_reduction(int dim, i64 n) const {
  const Computation& c = computation();
  if (!c.dims[dim].reduction || elastic(dim) || elastic_output()) return false;
  if (share_tile(dim, c.dims[dim].extent, n) >= c.dims[dim].extent) return false;
  if (problem_.root_address(c.inputs()).run_time()) return false;  // nor has a copy a size
  i64 inputs = 0;
  for (int o = 0; o < c.inputs(); ++o) inputs += problem_.root_address(o).elements;
  return n * problem_.root_address(c.inputs()).elements <= inputs / kInputsPerCopies;
}

Limits Space::capacity() const {
  Limits l;
  for (Level level = kL1; level <= kL3; ++level) {
    const LevelDesc& desc = machine().levels[level];
    const i64 users = std::max(1, std::min(problem_.threads, desc.shared_by));
    int percent = kUsablePercent[level];
    if (const int kept = desc.kept_percent; kept > 0)
      percent = std::min(percent, kept * kUsableOfKeptPercent / 100);
    l.at(level) = desc.room(percent) / users;
  }
  return l;
}

bool Space::steps_whole_blocks(const Spec& s, int dim, i64 tile) const {
  for (int o = 0; o < operands(); ++o)
    if (!s.place[o].packed && tile % block_[o][dim] != 0) return false;
  return true;
}

bool Space::cuts_whole_blocks(const Spec& s, const Clipped& x) const {
  for (int o = 0; o < operands(); ++o)
    if (!morello::cuts_whole_blocks(
            x, s.place[o].packed ? family().packed[o].address(s.extent) : problem_.root_address(o)))
      return false;
  return true;
}

bool Space::divides(const Spec& s, int dim) const {
  if (s.uncut == 0) return true;
  if (computation().dims[dim].reduction || (s.uncut >> dim & 1)) return false;
  return touches_[clips_.front().operand][dim];
}

Spec Space::inside(Spec s) const {
  const auto less = [](const Segment& a, const Segment& b) {
    return a.count * a.window_count < b.count * b.window_count;
  };
  for (const Clipped& x : clips_)
    if (s.uncut >> x.dim & 1)
      s = spec_of(*std::max_element(x.segments.begin(), x.segments.end(), less), x, s);
  return s;
}

bool Space::leaf_covers(const Spec& s) const {
  const Computation& c = computation();
  if (s.uncut != 0) return false;
  for (int d = 0; d < dims(); ++d)
    if (!c.dims[d].reduction && s.extent[d] > family().quantum[d]) return false;
  if (family().joined >= 0 && s.extent[family().lane] != family().quantum[family().lane])
    return false;
  for (int o = 0; o < c.inputs(); ++o)
    if (!s.place[o].packed && !loads_given_[o]) return false;
  if (!s.place[c.inputs()].packed && !stores_given_) return false;
  return !s.accumulate || accumulates(s);
}

bool Space::accumulates(const Spec& s) const {
  const Computation& c = computation();
  if (!c.reduces()) return false;
  return s.place[c.inputs()].packed || c.gathers_in_output();
}

i64 Space::used_at_once(int dim, i64 extent) const {
  if (!computation().dims[dim].reduction) return family().quantum[dim];
  return tiles_[dim].empty() ? extent : tiles_[dim].front();
}

i64 Space::rounds(const Spec& s, int operand) const {
  i64 rounds = 1;
  for (int d = 0; d < dims(); ++d) {
    if (touches_[operand][d]) continue;
    rounds *= ceil_div(s.extent[d], used_at_once(d, s.extent[d]));
  }
  return rounds;
}

i64 Space::uses(const Spec& s, int operand) const {
  const Windows windows = windows_of(s, operand);
  return std::max<i64>(1, rounds(s, operand) * windows.read / windows.there);
}

// (Zen 4, AVX2, 3x3 depthwise over 30x30x192, channels first: leaves of 3 x 32 read a picture 1.7
// times in all. As if there were nothing to keep they take 1.11 of the time of the best tile that
// takes tap after tap, and with a picture in L1, which lets them go down half of it at a time,
// 0.86.)
bool Space::reused(const Spec& s, int operand) const {
  const Windows windows = windows_of(s, operand);
  return rounds(s, operand) * windows.read > windows.there;
}

// Of windows every leaf reads all that its outputs need, also what its neighbours have read. (G:
// 3x3 depthwise, 112x112x64 channels last, AVX-512: with every window from L3 the cheapest leaf was
// one of 28 pixels by 16 channels, 570 us. With views it is one of 6 by 64 along the height, and
// three columns of eight pixels stay in L1: 300.)
Space::Windows Space::windows_of(const Spec& s, int operand) const {
  if (reads_zeros(s, operand)) return windows_of(inside(s), operand);
  Windows out;
  for (const AxisMap& axis : computation().operands[operand].axes) {
    if (axis.size() < 2) continue;
    i64 there = 1, leaf = 1, leaves = 1;
    for (const AxisTerm& t : axis) {
      const i64 e = s.extent[t.dim];
      const bool whole = computation().dims[t.dim].reduction;
      const i64 once = whole ? e : std::min(e, family().quantum[t.dim]);
      there += t.coefficient * (e - 1);
      leaf += t.coefficient * (once - 1);
      leaves *= ceil_div(e, once);
    }
    out.read *= leaves * leaf;
    out.there *= there;
  }
  return out;
}

bool Space::has_windows(int operand) const {
  const std::vector<AxisMap>& axes = computation().operands[operand].axes;
  return std::any_of(axes.begin(), axes.end(), [](const AxisMap& a) { return a.size() > 1; });
}

bool Space::may_be_reused(int operand) const {
  return reused(root_, operand) || has_windows(operand);
}

i64 Space::stream_bytes(const Spec& s, int operand, const Region& r) const {
  const bool whole = reads_whole_rows(s, operand);
  if (r.rows == 1) return whole ? std::numeric_limits<i64>::max() : r.row_bytes;
  int apart = 0;
  for (const AddressTerm& g : given_[operand]) {
    if (s.extent[g.dim] == 1 || (g.stride == 1 && g.symbol < 0)) continue;
    if (g.symbol < 0 || computation().dims[g.dim].reduction) return 0;
    ++apart;
  }
  if (apart != 1) return 0;
  return whole ? std::numeric_limits<i64>::max() : r.rows * r.row_bytes;
}

bool Space::prefetch_saves(Level from) const {
  if (machine().prefetch_bytes == 0 || family().isa->prefetch.empty()) return false;
  return from >= kL3 &&
         line_millicycles(from, Coming::kPrefetched) < line_millicycles(from, Coming::kAsked);
}

bool Space::asks_for_output(const Spec& s) const {
  const Place& place = s.place[computation().inputs()];
  const bool vectors = family().kernel->lanes > 1 && !family().kernel->lanes_reduce;
  if (!vectors || !stores_adjacent_ || place.packed || family().isa->prefetch.empty()) return false;
  return prefetch_saves(place.level) || machine().levels[place.level].stored_millicycles > 0;
}

bool Space::streams(const Spec& s) const {
  const Place& place = s.place[computation().inputs()];
  return streams_ && !elastic_output() && !place.packed && place.level >= kL3 &&
         s.extent[family().lane] >= family().kernel->lanes;
}

int Space::prefetchable(const Spec& s) const {
  int best = -1;
  i64 most = 0;
  for (int o = 0; o < computation().inputs() && !family().kernel->moves; ++o) {
    if (!prefetch_saves(s.place[o].level)) continue;
    const Region r = region(s, o);
    if ((stream_bytes(s, o, r) > 0 || to_next_rows(s, o) > 0) && r.lines > most) {
      most = r.lines;
      best = o;
    }
  }
  return best;
}

}  // namespace morello
