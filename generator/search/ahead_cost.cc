// What leaves ask for before they read it, and what it costs them where nobody has.

#include <algorithm>

#include "search/space.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Of whole rows that are asked for while as many are read, those that are there in time. (Zen 5,
// bf16 1x2048x16384 from memory, 16 KiB ahead: 4 rows 1754 us, not asked for 2094; 2 rows 1583 and
// 1981; one row 1128 and 1717.)
constexpr i64 kNextRowsPercent = 40;
// The same where the rows of the next leaf are asked for. (Zen 4, from memory, bf16 by AVX2, eight
// at once, cycles a line: rows of 4 and 4.5 KiB 10.3, of 18 and 32 KiB 8.3 and 8.7.)
constexpr i64 kNextRowStartPercent = 50;
// What each row less than kRowsAtOnce costs of that: fewer lines are in flight. (Rows of 18 and 32
// KiB, four at once for eight, 1.17 and 1.21 of the time by AVX2, 1.15 and 1.17 by AVX-512.)
constexpr i64 kFewerRowsPercent = 5;
// Of arithmetic, what is seen beside pieces of rows that were asked for. (Zen 5, f32 by AVX-512, b
// transposed, 64 MiB, one row of b 7.0 cycles a line, pieces of 4 KiB, a in L1: 4 rows by 2 8.0, by
// 4 8.8, 8 by 3 9.9, 8 by 1 13.5; the arithmetic is 2.6, 2.3, 5.3 and 6.5.)
constexpr i64 kBesidePiecesPercent = 40;
constexpr i64 kCrowdPercent = 2;  // of what is hidden: of programs as fast, those that do less
// Of beside_memory(): lines for each from memory, which is what was measured.
constexpr i64 kMostBeside = 8;
constexpr i64 kHiddenBesidePercent = 50;  // of the arithmetic

}  // namespace

bool Space::asks_for_next_rows(const Spec& s, const Call& call) const {
  return call.ahead_bytes > 0 && call.ahead_operand < computation().inputs() &&
         call.ahead_operand != problem_.part.asked &&
         call.ahead_bytes == to_next_rows(s, call.ahead_operand);
}

// Of what is hidden: all that a leaf asks for within a stream, but not the next rows, whose price
// is of leaves as they are.
i64 Space::shown_percent(const Spec& s, const Call& call) const {
  const bool next = asks_for_next_rows(s, call);
  const bool pieces = next && next_are_pieces(s, call.ahead_operand);
  return pieces ? kBesidePiecesPercent : least_shown_percent(next);
}

i64 Space::least_shown_percent(bool next_rows) const {
  const int overlap = machine().asked_overlap_percent;
  return overlap > 0 && !next_rows ? 100 - overlap : kCrowdPercent;
}

Level Space::prefetched_to(const Spec& s, int operand, i64 distance) const {
  if (operand == problem_.part.asked) return problem_.part.asked_to;
  if (family().isa->prefetch_to_l2.empty()) return kL1;
  if (machine().levels[s.place[operand].level].prefetch_to == kL2) return kL2;
  if (distance != to_next_rows(s, operand)) return kL1;
  // Pieces, if those and the ones of now leave L1 half of its room for what is read with them: 4
  // rows by 2, 4 KiB, 8.0 cycles a line, to L2 8.6; 8 by 3 9.9 and 9.8.
  const Region r = region(s, operand);
  const bool room = 4 * r.lines * r.line_bytes <= machine().levels[kL1].bytes;
  return room && next_are_pieces(s, operand) ? kL1 : kL2;
}

// Rows side by side are followed by nobody behind their ends, and what is asked for along them is
// another row's a little further on. The same rows of the next leaf are each line once. They come
// to L2, if they and those of now leave room there; L1 would wait for them. (Zen 4, bf16 by AVX2, 8
// rows at once from memory, nobody asks, they are asked for to L1, to L2: 1x9216x2304 1800, 1786
// and 1400 us; in a loop by itself, Gop/s, 21.1, 19.1 and 33.4; rows of 64 KiB 3142 and, to L2,
// 2367 us. From L3 1x2048x2304 148 and, to L2, 162 us.) What is read more than once the next leaf
// may read again: f32 2048^3 asked in vain for rows of a, 1.15 of the time. All of L2 is too much:
// by AVX-512 16 rows of 32 KiB take 1.09 of the time of 8.
// Pieces of rows are followed by those of the same rows, or, if a loop along the sum is outside, by
// these of the next rows: the distance is the same.
i64 Space::to_next_rows(const Spec& s, int operand) const {
  const LevelDesc& from = machine().levels[s.place[operand].level];
  const bool pieces = next_are_pieces(s, operand);
  const bool rows = from.next_rows_millicycles > 0 && reads_whole_rows(s, operand);
  if (!(rows || pieces) || family().isa->prefetch_to_l2.empty()) return 0;
  if (blocked_[operand] || !once_[operand]) return 0;
  if (rows_side_by_side(s, operand) == 1 || streams_that_go_on(s, operand) > 1) return 0;
  // By what a key shows: strides of rows that lie a little apart it does not.
  const Region r = region(s, operand);
  if (2 * r.lines * r.line_bytes >= machine().levels[kL2].bytes) return 0;
  i64 distance = 0;
  for (const AddressTerm& g : given_[operand]) {
    if (computation().dims[g.dim].reduction || s.extent[g.dim] == 1) continue;
    if (distance > 0) return 0;
    if (pieces && s.extent[g.dim] > rows_in_reach(problem_, operand, g)) return 0;
    distance = s.extent[g.dim] * g.stride * bytes(computation().operands[operand].dtype);
  }
  return distance;
}

// A leaf asks for what lies `distance` behind each line that it reads. Of one stream nobody has
// asked for the first lines, but where whole rows follow each other: that did who read the row
// before. Of rows that are read side by side only what lies in the rest of a row, or behind the
// last one, is ahead of anybody; the rest is asked for in vain. (Zen 5, bf16 by AVX2, 8 rows of
// 18 KiB from memory, 2 KiB ahead 819 us, 4 KiB 1099, 16 KiB 1373, not at all 1208; one row, 16 KiB
// ahead 784; 4 rows of 4 KiB, 4 KiB ahead 2779, not at all 2094.)
Space::Ahead Space::asked_ahead(const Spec& s, int operand, const Region& r, i64 distance) const {
  const i64 rows = std::min(rows_side_by_side(s, operand), r.lines);
  const i64 lines = distance / r.line_bytes;
  const bool whole = reads_whole_rows(s, operand);
  const i64 streams = streams_that_go_on(s, operand);
  if (rows == 1 || streams > 1)
    return {.lines = whole ? r.lines : std::max<i64>(0, r.lines - streams * lines),
            .in_flight = streams * distance};
  const i64 row = r.lines / rows;
  const i64 next = whole ? std::min(rows, ceil_div(lines, row)) * std::min(lines, row) : 0;
  const i64 behind = lines < row ? next : next * kNextRowsPercent / 100;
  const i64 useful = rows * std::max<i64>(0, row - lines) + behind;
  return {useful, r.lines - useful, lines < row ? distance * rows : distance};
}

// Whether next_rows() are priced as pieces: of whole rows a machine may know more.
bool Space::next_are_pieces(const Spec& s, int operand) const {
  const LevelDesc& from = machine().levels[s.place[operand].level];
  const bool rows = from.next_rows_millicycles > 0 && reads_whole_rows(s, operand);
  return from.next_pieces_millicycles > 0 && !rows;
}

// What the leaf before has asked for: rows, or pieces of them, each of which begins anew.
Cost Space::next_rows(const Spec& s, int operand, const Region& r) const {
  const Level level = s.place[operand].level;
  const i64 rows = rows_side_by_side(s, operand);
  if (next_are_pieces(s, operand))
    return lines_of(r, line_millicycles(level, Coming::kNextPieces)) + piece_starts(s, operand);
  const i64 percent = 100 + kFewerRowsPercent * std::max<i64>(0, kRowsAtOnce - rows);
  const i64 line = line_millicycles(level, Coming::kNextRows) * percent / 100;
  const i64 latency = machine().levels[level].latency_millicycles;
  return lines_of(r, line) + rows * Cost::milli(latency * kNextRowStartPercent / 100);
}

Cost Space::piece_starts(const Spec& s, int operand) const {
  const LevelDesc& from = machine().levels[s.place[operand].level];
  return rows_side_by_side(s, operand) * Cost::milli(from.next_piece_start_millicycles);
}

// A line of next_rows() at least; 0: there are none.
i64 Space::least_next_line(Level from) const {
  const LevelDesc& d = machine().levels[from];
  const i64 rows = d.next_rows_millicycles > 0 ? line_millicycles(from, Coming::kNextRows) : 0;
  const i64 pieces =
      d.next_pieces_millicycles > 0 ? line_millicycles(from, Coming::kNextPieces) : 0;
  return rows == 0 || pieces == 0 ? std::max(rows, pieces) : std::min(rows, pieces);
}

// With its share of where rows start, where only whole rows are asked for.
i64 Space::least_next_rows(const Place& place, const Extents& tile, int operand) const {
  const LevelDesc& from = machine().levels[place.level];
  if (from.next_pieces_millicycles > 0 || from.next_rows_millicycles == 0)
    return least_next_line(place.level);
  i64 rows = 1;
  for (int d = 0; d < dims(); ++d)
    if (touches_[operand][d] && !computation().dims[d].reduction) rows *= tile[d];
  const i64 percent = 100 + kFewerRowsPercent * std::max<i64>(0, kRowsAtOnce - rows);
  const i64 start = from.latency_millicycles * kNextRowStartPercent / 100;
  const i64 lines = bytes_of_whole_row(operand) / machine().levels[kL1].line + 2;
  return line_millicycles(place.level, Coming::kNextRows) * percent / 100 + start / lines;
}

bool Space::knows_pieces(const Place& p) const {
  return computation().reduces() && !p.packed &&
         machine().levels[p.level].next_pieces_millicycles > 0;
}

// Parts of rows, or several rows side by side, that are shorter than what prefetchers follow and
// that no leaf has asked for: where it is known what they cost asked for, it is known that
// arithmetic does not hide them. (Zen 5, as above, 4 rows by 1, 2, 4 and 6, pieces of 4 KiB: 15.5,
// 12.9, 11.1 and 9.4 cycles a line, 8 by 1 and 3 22 and 16.7; of 2 KiB 4 by 2 15.0. u8 by AVX2,
// 8x4096x8192, 3 by 3 whole rows of 4 KiB: 1.2 of the time of programs that look no better now.)
bool Space::nobody_brings(const Spec& s, int operand, const Region& r) const {
  const Place& place = s.place[operand];
  if (!knows_pieces(place) || blocked_[operand]) return false;
  const i64 rows = rows_side_by_side(s, operand);
  if (r.rows != rows && r.rows != 1) return false;
  if (rows == 1 && reads_whole_rows(s, operand)) return false;
  return bytes_of_row(r, rows) < least_stream(place.level);
}

// What is brought nearer for all who use it, and comes from there, waits in the same way: the first
// use is by few, and a core looks no farther ahead. (bf16 by AVX2, 8 x 4096 x 4096, two rows of b
// at a time for 4 rows of a and 4 more: 1.9 of the time that overlapping would take, some 19 cycles
// a line. Panels, f32 16x2048x2048 packed: 5.8 beside what is computed, of 7.)
bool Space::first_use_waits(const Spec& s, int operand) const {
  const Place& place = s.place[operand];
  const bool panels = place.packed && computation().reduces() && asked_view_line(place) > 0;
  return (panels || knows_pieces(place)) && !has_windows(operand);
}

// Lines of what leaves read again and again that have left L1 meanwhile: of one row that leaves it
// some room, all of which is read before it begins again, a quarter. (Zen 5, 48 KiB, b transposed,
// 16 KiB ahead: one row of 32 KiB, bf16 1x16384x2048, 1.4 cycles a line of b more than without,
// priced in full it takes 1.25 of the time. Two rows of 16 KiB, f32 2x4096x4096, by AVX-512 1.4,
// but by AVX2 5; four of 8 KiB as much as from L2.)
i64 Space::lines_not_kept(const Spec& s, int operand) const {
  const Region r = region(s, operand);
  const bool row = reads_whole_rows(s, operand) && rows_side_by_side(s, operand) == 1;
  const bool kept = row && 4 * r.lines * r.line_bytes <= 3 * machine().levels[kL1].bytes;
  return kept ? r.lines / 4 : r.lines;
}

// What lines from L2, or from farther away, that were read before cost beside lines from memory,
// whoever asks for those and whatever the distance: much longer than by themselves, unless there is
// arithmetic to hide them. (Zen 5, 2.8 cycles for 1.07. f32 by AVX-512, b transposed, a in L2, 7.0
// a line of b without: 4 rows of a by one of b 17.3, by 2 12.3, by 4 10.0, 8 by one 28. bf16 by
// AVX2, 8 by one, 20 of arithmetic: 21.)
Cost Space::beside_memory(const Spec& s, Cost compute) const {
  const i64 line = machine().levels[kL2].beside_memory_millicycles;
  if (line == 0 || !computation().reduces()) return Cost();
  i64 again = 0, far = 0;
  for (int o = 0; o < computation().inputs(); ++o) {
    if (!once_[o] && s.place[o].level >= kL2) again += lines_not_kept(s, o);
    if (once_[o] && s.place[o].level == kMemory) far += region(s, o).lines;
  }
  const Cost all = std::min(again, kMostBeside * far) * Cost::milli(line);
  const i64 hidden = static_cast<i64>(std::min(all, compute).value()) * kHiddenBesidePercent / 100;
  return all - Cost::milli(hidden);
}

// A distance other than the machine's hides less: nearer lines are not there in time, and of those
// between more than it some have left L1 again. (Zen 5, packed bf16 1x2048x2304 from L3 in two
// streams, each 4, 8 and 16 KiB ahead: 81, 81 and 117 us.)
Space::Prefetched Space::prefetched(const Spec& s, int operand, const Region& r,
                                    const Call& call) const {
  const Level from = s.place[operand].level;
  if (operand == problem_.part.asked) {  // a step before has asked for all of it
    const Cost all = lines_of(r, line_millicycles(from, Coming::kPrefetched));
    return {all, from == kMemory ? all : Cost()};
  }
  if (call.ahead_bytes == to_next_rows(s, operand)) {
    const Cost all = next_rows(s, operand, r);
    return {all, from == kMemory ? all : Cost()};
  }
  const Ahead ahead = asked_ahead(s, operand, r, call.ahead_bytes);
  const i64 streams = streams_worth(s, operand, r);
  const i64 alone = line_millicycles(from, Coming::kAsked, streams);
  const i64 beside = line_millicycles(from, Coming::kPrefetched, streams);
  const i64 best = std::max<i64>(1, machine().prefetch_bytes), at = ahead.in_flight;
  const i64 least = call.ahead_to == kL1 && at > best ? best * best / at : std::min(at, best);
  const i64 saved = (alone - beside) * least / best;
  const i64 t = r.lines * alone - ahead.lines * saved + ahead.in_vain * beside;
  const bool hides = from == kMemory && ahead.in_vain == 0;
  const i64 in_time = ahead.lines * least / best;
  return {Cost::milli(t), hides ? Cost::milli(t / r.lines * in_time) : Cost()};
}

}  // namespace morello
