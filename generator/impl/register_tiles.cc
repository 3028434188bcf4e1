#include "impl/register_tiles.h"

#include <algorithm>

namespace morello {

namespace {

// Register tiles worth a search of their own. Multiples of one another are not enough: 6 rows are
// what 16 registers allow next to 2 vectors, 12 what they allow next to one; 14 and 28 the same for
// 32 registers.
const std::vector<i64> kRows = {1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 28};
const std::vector<i64> kColumns = {1, 2, 3, 4, 6, 8, 12};
// Vectors of a row that is summed as a whole with others like it, if it has no more: what L2 brings
// comes sooner row after row than in parts of rows. (Zen 5, sums of 261 rows of 13 and 14 vectors
// by AVX2 0.71 of the time of parts of 7, of 200 and 500 rows of 13 and 16 by AVX-512 0.83 to 0.86,
// from L1 1.1; of 25 and 29 0.91 to 1.4.)
constexpr i64 kWholeRow = 16;
// Elements of a row that a leaf without a reduction takes: lines it stores next to one another.
// (Zen 5, AVX-512, ten kernels of two operands and relu, 12 vectors at the most, 8, 6, 4 and 2: 1,
// 0.95, 0.91, 0.95 and 0.92 of the time in the mean, `a + b` of 109x672 and a row 0.73, 0.75, 0.85
// and 0.71; 42 vectors 1.4. AVX2, 12 and fewer: the same.)
constexpr i64 kMappedRow = 96;
// Rows that are summed at once where nothing is shared between them but time: so many streams. (Zen
// 3, rms_norm of 4096x4096, sums of one, two and four rows before they are scaled: 9.2, 8.7 and 7.9
// ms, `x * 2` 7.7.)
const std::vector<i64> kSummedRows = {2, 4};
// Of rows of so few elements, which lanes are folded four at a time (impl/folding.h).
const std::vector<i64> kShortSummedRows = {2, 4, 8};
constexpr i64 kShortRow = 32;
// Tiles of scalar kernels; the scalar instruction set is a fallback, not a race.
const std::vector<i64> kScalarTile = {1, 2, 4};
// Independent sets of accumulators, which take the steps of a reduction in turns.
const std::vector<i64> kUnroll = {1, 2, 4, 8};
// Steps per set from which on several of them pay where lanes do not reduce: sets are summed once,
// one latency for every doubling.
constexpr i64 kStepsPerSet = 4;
// Of many registers a tile of two dims leaves no more than these to others, where the extents allow
// it: the more accumulators, the fewer loads. (Of 31 spaces with AVX-512 none lost, and searches
// take 0.6 of the time; with 8 instead, 200x300x200 for two threads lost 3 %: it wants 10 x 2
// vectors.)
constexpr int kOthers = 12;

// Parallel dims with something to unroll. Where it is `shared`, all operands touch them; else
// unrolling reuses what is loaded of an input that does not.
std::vector<int> wide_dims(const Computation& c, int lane, bool shared) {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (!c.dims[d].reduction && d != lane && c.dims[d].extent > 1 && all_touch(c, d) == shared)
      dims.push_back(d);
  return dims;
}

// Those of a menu, and all of an extent of no more than `most`.
std::vector<i64> menu(const std::vector<i64>& sizes, i64 extent, i64 most) {
  std::vector<i64> out;
  for (i64 s : sizes)
    if (s <= extent) out.push_back(s);
  if (extent <= most && (out.empty() || out.back() != extent)) out.push_back(extent);
  return out;
}
std::vector<i64> menu(const std::vector<i64>& sizes, i64 extent) {
  return menu(sizes, extent, sizes.back());
}

// Whether all other parallel dims are of extent 1.
bool covers(const Computation& c, int row, int column) {
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (!c.dims[d].reduction && d != row && d != column && c.dims[d].extent > 1) return false;
  return true;
}

}  // namespace

bool inputs_touch(const Computation& c, int dim) {
  return std::all_of(c.operands.begin(), c.operands.end() - 1,
                     [&](const Operand& o) { return touches(o, dim); });
}
bool all_touch(const Computation& c, int dim) {
  return inputs_touch(c, dim) && touches(c.output(), dim);
}

// Column menus: vectors along the lane; for kernels without a parallel lane a second reuse dim.
std::vector<RegisterTile> tiles(const Computation& c, const Kernel& k, int lane, int regs,
                                i64 steps) {
  const bool vector = k.lanes > 1 && !k.lanes_reduce;
  const bool scalar = k.lanes == 1;
  std::vector<int> dims = wide_dims(c, vector ? lane : -1, false);
  const bool sums_rows = k.lanes_reduce && dims.empty();
  std::vector<std::pair<int, int>> pairs;  // (row dim, column dim)
  if (vector) {
    for (int d : dims) pairs.emplace_back(d, lane);
    if (dims.empty()) pairs.emplace_back(-1, lane);
  } else {
    for (size_t i = 0; i < dims.size(); ++i)
      for (size_t j = i + 1; j < dims.size(); ++j) pairs.emplace_back(dims[i], dims[j]);
    if (dims.size() == 1) pairs.emplace_back(dims[0], -1);
    if (dims.empty()) pairs.emplace_back(-1, -1);
  }
  if (sums_rows)
    for (int d : wide_dims(c, lane, true)) pairs.emplace_back(d, -1);
  auto extent = [&](int d, i64 step) { return d < 0 ? 1 : (c.dims[d].extent + step - 1) / step; };
  std::vector<RegisterTile> out;
  for (auto [row, column] : pairs) {
    const bool shared = !(sums_rows && row >= 0);
    const auto rows = menu(scalar                         ? kScalarTile
                           : shared                       ? kRows
                           : extent(lane, 1) <= kShortRow ? kShortSummedRows
                                                          : kSummedRows,
                           extent(row, 1));
    const i64 step = vector ? k.lanes * regs : 1;
    const i64 most = row < 0 && c.reduces() ? kWholeRow : kColumns.back();
    auto columns = scalar ? menu(kScalarTile, extent(column, step))
                          : menu(kColumns, extent(column, step) * (vector ? regs : 1), most);
    if (regs > 1 && vector) std::erase_if(columns, [&](i64 n) { return n % regs != 0; });
    if (vector && !c.reduces())
      std::erase_if(columns, [&](i64 n) { return n > std::max<i64>(regs, kMappedRow / k.lanes); });
    const auto whole = [&, row = row, column = column](i64 r, i64 n) {
      return r == extent(row, 1) && n >= extent(column, k.lanes) && covers(c, row, column);
    };
    const auto sets =
        menu(kUnroll, k.lanes_reduce ? extent(lane, k.lanes * k.group * regs) : kUnroll.back());
    for (i64 r : rows)
      for (i64 n : columns)
        for (i64 u : sets)
          if (u == 1 || k.lanes_reduce || (vector && whole(r, n) && u * kStepsPerSet <= steps))
            out.push_back({row, column, r, n, u});
  }
  return out;
}

std::vector<RegisterTile> worthwhile(std::vector<RegisterTile> fitting, const Isa& isa, i64 busy) {
  // More accumulator sets than keep the pipes busy only take registers.
  std::erase_if(fitting, [&](const RegisterTile& t) {
    return t.unroll > 1 && t.rows * t.columns * t.unroll >= 2 * busy;
  });
  std::vector<RegisterTile> out;
  for (const RegisterTile& t : fitting) {
    const bool reuses_both = t.rows > 1 && t.columns > 1;
    const i64 least = reuses_both ? std::max<i64>(busy, isa.vector_registers - kOthers) : busy;
    const bool small = t.rows * t.columns * t.unroll < least;
    const bool grows = std::any_of(fitting.begin(), fitting.end(), [&](const RegisterTile& g) {
      return g.row_dim == t.row_dim && g.column_dim == t.column_dim && g.rows >= t.rows &&
             g.columns >= t.columns && g.unroll >= t.unroll &&
             g.rows * g.columns * g.unroll > t.rows * t.columns * t.unroll;
    });
    if (!small || !grows) out.push_back(t);
  }
  return out;
}

}  // namespace morello
