// Parts of operands as caches see them: rows, how far apart they lie, and how many sets they share.

#include <algorithm>
#include <bit>

#include "search/space.h"
#include "spec/sizes.h"

namespace morello {

i64 Region::footprint(Level l) const {
  const i64 bytes = lines * line_bytes;
  if (rows < 2 || l > kL2 || row_stride < line_bytes) return bytes;
  // Of an L1 whose ways are as large as a page, and of an L2 below pages that lie anywhere, rows
  // can use the lines of a page that they cover.
  if (rows <= places()) return bytes;
  return bytes * kPage / std::min(kPage, places() * (lines / rows) * line_bytes);
}

// Of a page, lines in which what lies so far apart begins.
static i64 places_of(i64 stride, i64 line_bytes) {
  return kPage / line_bytes >> spread_of(stride, line_bytes);
}

i64 Region::places() const { return starts > 0 ? starts : places_of(row_stride, line_bytes); }

i64 Region::pages() const {
  if (row_stride < line_bytes) return 1;
  const auto lines = static_cast<std::uint64_t>(row_stride / line_bytes);
  return rows * std::min(kPage, static_cast<i64>(std::bit_floor(lines)) * line_bytes) / kPage;
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
  const int size = bytes(computation().operands[operand].dtype);
  // Rows within rows, such as those of several channels: how many of the outermost there are, how
  // far apart, and within each of them. (Zen 4, f32 by AVX2, 3x3 over 64x64x64, channels first:
  // three rows of each of 32 channels, 16 KiB apart, begin in three places of a page, not in
  // sixteen. Leaves that read them where they lie took 5.2 ms for the 2.7 of the model; those that
  // sum eight channels at a time take 2.8.) Of windows they overlap; what follows along another
  // axis begins behind all of them, however little, and no more than that may be asked: keys do not
  // tell. However many axes, all begin in multiples of the least of their steps. (f32 by AVX2, 3x3
  // over each of 64 channels of 114x114x64: eight rows of 18 windows begin in 16 places, not in 64;
  // leaves that keep them in L1 take 1.4 times as long as those that do not try.)
  i64 stride = 0, count = 1, apart = 0, inside = 1, starts = 1, most = 0;
  const auto begin_in = [&] {
    const i64 places = places_of(apart * size, r.line_bytes);
    starts *= std::min(count, places);
    most = std::max(most, places);
  };
  for (const AddressTerm& g : given_[operand]) {
    const i64 e = g.dim == dim ? std::min(tile, s.extent[dim]) : s.extent[g.dim];
    if (e == 1) continue;
    if (g.stride <= run && apart == 0) {  // of windows parts overlap
      run += (e - 1) * g.stride;
      continue;
    }
    if (apart > 0 && ceil_div(g.stride, apart) < count) {
      count += (e - 1) * (g.stride / apart);
    } else {
      if (apart > 0) begin_in();
      inside *= count;
      count = e;
      apart = g.stride;
      if (stride == 0) stride = apart;
    }
    if (computation().dims[g.dim].reduction) r.along_reduction *= e;
  }
  r.rows = inside * count;
  if (blocked_[operand]) {  // close enough: all of it, in one piece
    run = 1;
    for (int d = 0; d < dims(); ++d)
      if (touches_[operand][d]) run *= d == dim ? std::min(tile, s.extent[d]) : s.extent[d];
    r.rows = r.along_reduction = 1;
  }
  if (r.rows > 1 && apart > stride) {
    begin_in();
    r.starts = std::min(starts, most);
  }
  r.row_bytes = run * size;
  r.row_stride = r.rows > 1 ? stride * size : 0;
  return r;
}

Region Space::region(const Spec& s, int operand) const {
  if (reads_zeros(s, operand)) return region(inside(s), operand);
  return s.place[operand].packed ? packed_region(s.extent, operand) : given_region(s, operand);
}

// Rows that begin anywhere in a line end in one more, more often than not. (Zen 3, f32
// 300x3000x500, 256 rows of b of 64 bytes, 2000 apart, read where they lie: twice the lines, which
// L1 does not keep.) What they begin in multiples of and lines are powers of two; two divisions
// took a third of the time of this function.
Region Space::given_region(const Spec& s, int operand) const {
  Region r = rows_of(s, operand, -1, 0);
  const i64 step = r.rows > 1 ? rows_begin_[operand] : r.line_bytes;
  const i64 reach = ((r.row_bytes + step - 1) & -step) + r.line_bytes - step;
  // Neighbouring rows may share lines (a column of a row-major matrix read in full).
  const bool share = r.row_stride > 0 && r.row_stride < r.line_bytes;
  const i64 bytes = r.rows * (share ? r.row_stride : reach);
  r.lines = (bytes + r.line_bytes - 1) >> std::countr_zero(static_cast<unsigned>(r.line_bytes));
  return r;
}

}  // namespace morello
