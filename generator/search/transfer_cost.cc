// What operands cost to bring in: where they lie, as memory sees it, the lines that move, and the
// streams that loops break off.

#include <algorithm>
#include <bit>

#include "search/space.h"
#include "spec/sizes.h"

namespace morello {
namespace {

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
// What a leaf reads in one piece, a page or more, comes by itself at the rate of a stream where so
// many lines are asked for at once: as many as the vector instructions belong to that may wait.
// (Zen 4: f32 16x2048x2048, packed, 16 MiB, twelve multiply-adds a line, ten lines in flight: 39
// Gop/s by itself, 83 prefetched; bf16 1x2304x2048, eight instructions a line, 71 and 62.)
constexpr i64 kStreamLines = 12;
// The same of rows in memory. (Zen 4, bf16 1x2048x16384 and 1x2560x10240 by AVX2: Highway's Dot
// reads row by row, twelve instructions a line, and takes 0.64 and 0.71 of what ten rows at once
// took.)
constexpr i64 kStreamLinesOfRows = 10;
// More lines than a core can wait for at once leave its prefetchers no room, who bring what lies in
// memory early enough. (Zen 4, bf16 1x2304x9216, packed, 42 MB: by AVX2, 16 lines in flight, 1.46
// ms by itself, 1.51 to 1.79 prefetched; by AVX-512, 128 lines, 2.91 and 2.16 to 2.26; layer_norm
// of 64 MiB by AVX-512, 64 lines, 7.5 and 4.6.)
constexpr i64 kMostStreamLines = 64;
// Of the latency of L2, percent that a row and each of its lines cost which L1 had and could not
// keep. (Zen 5, 14 cycles, rows of 1, 2, 4 and 6 lines 8 KiB apart from L2, 16 bytes off a line,
// leaves of 8 x 16, 8 x 32, 4 x 64 and 2 x 96 by AVX-512: 8.7, 10.4, 14.0 and 18.9 cycles a row,
// 8.3 KiB apart 5.8, 8.4, 9.6 and 17.8; AVX2, 6 x 16 and 4 x 16: 8.7 and 8.6, 6.0 and 4.3.)
constexpr i64 kRowAgainPercent = 45;
constexpr i64 kLineAgainPercent = 9;
// From L2 and L3 what has to come again comes beside the rest of a long row: no more than so much
// of the latency by the lines of a row, for each. (Zen 5, f32 rows times a matrix, rows of 4 KiB
// from L3, 32 and 64 at a time, cycles a row beyond those of rows 64 bytes longer, on a line and 16
// bytes off: AVX2, two lines of each 5.2 to 11.6, four 3.9 and 4.4, six 1.5 and 4.5; AVX-512,
// four 6.0 to 9.8, eight 1.7 and 2.6, twelve and sixteen 0. From L2 4.5 to 6.1, 3.4 to 7, 1.2
// and 2.6, 1.8 and 3.8, 0.8 and 2.2. From memory, where L2 is crowded, too, 13 to 20, 7 to 28, 14
// to 21, 18 to 29, 18 to 32, sixteen lines 8 to 18.)
constexpr i64 kNearRowAgainPercent = 115;
// So long a part of a row is a stream by itself.
constexpr i64 kLongRow = 16 * kPage;
// Of elements that are not summed, leaves take such pieces one after the other, which are a stream
// together; loops pay for what breaks it off. (Zen 4, softmax of 2 MiB by AVX-512: exponentials
// stored in the result 144 us, made twice 221. Priced as asked for, the latter looked cheaper.)
constexpr i64 kPieceOfStream = 256;
// So many rows side by side are streams that prefetchers follow, if they are as long; from memory,
// longer than a page, behind each of which they begin anew in any case. (Zen 4, bf16 by AVX-512,
// rows of a caller's matrix, one, four and eight at once, and one prefetched: 640x1024 in
// L3 15.4, 14.1, 14.0 and 15.9 us; 9216x2304 in memory 1942, 1691, 1414 and 1889; but 2048x16384
// 2813, 4472, 3798 and 2797. By AVX2 640x1024, 1152x1024 and 2048x2304, eight at once, 23.6, 36.3
// and 150 us, twelve prefetched 31.5, 58.9 and 223.)
// (kRowsAtOnce: space.h.)
constexpr i64 kRowOfStream = kPage / 4;
constexpr i64 kFarRowOfStream = 4 * kPage;
// Of the latency of L3: prefetchers run up to some twenty lines ahead, across the border of two
// threads' shares. (G, 170 cycles, two threads, AVX2: depthwise convolution of 112 x 112 x 64
// divided along w, 112 borders, takes 149 us, along h, one, 112; 3x3 convolution of 56 x 56 x 64 by
// AVX-512 637 and 613.)
constexpr i64 kBorderLatencies = 8;
// So long a row of what is written lets them run there. (G: rows of 1 KiB of products, which come
// a line at a time, cost nothing measurable: f32 480x512x512 1.09 ms either way.)
constexpr i64 kRowWithBorder = kPage;
// Of a shorter row the next line or two are fetched, where sums are read again to be added to. (G:
// convolution of 28 x 28 x 128 by AVX-512 divided along 256-byte rows, sums in 16, 8 and 4 parts:
// 799, 637 and 585 us; half of it on one thread 541. That is half a latency a row and part. Rows
// that are written once cost nothing: depthwise, 14 x 14 x 384, 5.7 us, by rows 7.6.) In how many
// parts is not known here: two.
constexpr i64 kPartBorderPercent = 50;

}  // namespace

Cost border(const Machine& machine) {
  return kBorderLatencies * Cost::milli(machine.levels[kL3].latency_millicycles);
}

Cost Space::borders(const Spec& s, const Spec& share) const {
  const int out = computation().inputs();
  if (s.place[out].packed || blocked_[out]) return Cost();
  const Region r = rows_of(share, out, -1, 0);
  const bool cut = r.rows > 1 && r.row_bytes < rows_of(s, out, -1, 0).row_bytes;
  if (!cut) return Cost();
  if (r.row_bytes >= kRowWithBorder) return r.rows * border(machine());
  if (!splits_sums()) return Cost();
  return r.rows * Cost::milli(machine().levels[kL3].latency_millicycles * kPartBorderPercent / 100);
}

// Rows of a tile that are read side by side, a few elements of each at every step of the reduction,
// need their lines again at the next steps. All that begin in one place of a page share as many
// lines of L1 as it has ways, one of which the other operand passes through. (Zen 4, eight ways,
// AVX-512, 14 rows of 4 KiB: f32 1024^3 that read them where they lie made 70 Gop/s, 1008^3 and
// 1040^3 102. With this term: 1024^3 97 to 101, 768x1024x768 70 before and 98, 512x1024x512
// transposed 74 and 102.)
i64 Space::lines_again(const Spec& s, int operand) const {
  if (s.place[operand].packed || s.place[operand].level <= kL1 || blocked_[operand]) return 0;
  const int size = bytes(computation().operands[operand].dtype);
  Region side;
  side.line_bytes = machine().levels[kL1].line;
  i64 run = 1, steps = 1;
  for (const AddressTerm& g : given_[operand]) {
    const i64 e = s.extent[g.dim];
    if (e == 1) continue;
    if (computation().dims[g.dim].reduction) {
      const bool lanes = family().kernel->lanes_reduce && g.dim == family().lane;
      const i64 once =
          g.stride * size * (lanes ? family().kernel->lanes : 1) * family().kernel->group;
      if (steps == 1) steps = std::max<i64>(1, std::min(e, side.line_bytes / once));
    } else if (g.stride >= run && g.stride * size >= side.line_bytes) {
      if (side.rows == 1) side.row_stride = g.stride * size;
      side.rows *= e;
    }
    run += (e - 1) * g.stride;
  }
  const i64 free = std::max<i64>(1, ways() - 1);
  if (side.rows == 1 || side.rows <= side.places() * free) return 0;
  return region(s, operand).lines * (steps - 1);
}

// Rows that a leaf reads one after the other along the reduction, more of one place than L1 has
// ways, crowd each other out: what a prefetcher brought behind a row, or the end of a line that the
// leaf before began with, has to come again before the next leaf needs it.
Cost Space::crowded_out(const Spec& s, int operand, const Region& r) const {
  if (s.place[operand].packed || s.place[operand].level <= kL1 || blocked_[operand]) return Cost();
  if (!r.apart_along_reduction()) return Cost();
  const i64 together = ceil_div(r.along_reduction, r.places());
  if (together <= ways()) return Cost();
  const i64 percent = machine().crowded_percent > 0 ? machine().crowded_percent : 100;
  i64 again = (r.rows * kRowAgainPercent + r.lines * kLineAgainPercent) * percent / 100;
  if (s.place[operand].level <= kL3)
    again = std::min(again, r.rows * r.rows * kNearRowAgainPercent / r.lines);
  const i64 latency = machine().levels[kL2].latency_millicycles;
  return Cost::milli(again * latency / 100 * std::min(together - ways(), ways()) / ways());
}

// Several streams are faster than one as far as a core goes alone; what all cores share bounds them
// as it does one.
i64 Space::line_millicycles(Level l, Coming how, i64 streams) const {
  return line_at(l, how, machine().streams_percent(streams));
}

// So many percent of what a stream alone takes.
i64 Space::line_at(Level l, Coming how, int percent) const {
  const LevelDesc& d = machine().levels[l];
  i64 alone = d.line_millicycles;
  if (how == Coming::kPrefetched) alone = d.prefetched_millicycles;
  if (how == Coming::kStreamed && d.stream_millicycles > 0) alone = d.stream_millicycles;
  if (how == Coming::kNextRows && d.next_rows_millicycles > 0) alone = d.next_rows_millicycles;
  if (how == Coming::kNextPieces && d.next_pieces_millicycles > 0)
    alone = d.next_pieces_millicycles;
  if (how == Coming::kWindows && d.window_millicycles > 0) alone = d.window_millicycles;
  if (how == Coming::kAlone && d.lone_millicycles > 0) alone = d.lone_millicycles;
  // Beside arithmetic: how much of it there has to be, asked_copy() says.
  if (how == Coming::kAskedAhead && d.asks_ahead())
    return loads_all_the_time_ ? d.asked_by_copy_millicycles() : d.least_asked_millicycles();
  const i64 users = std::min(problem_.threads, d.shared_by);
  const int least = percent == 100 ? 100 : std::max(percent, d.streams_percent);
  return std::max(alone * least / 100, d.shared_line_millicycles * users);
}

i64 Space::streamed_millicycles() const {
  const LevelDesc& memory = machine().levels[kMemory];
  const i64 own = machine().streamed_shared_millicycles;
  const i64 shared = own > 0 ? own : memory.shared_line_millicycles;
  const i64 users = std::min(problem_.threads, memory.shared_by);
  return std::max(machine().streamed_line_millicycles, shared * users);
}

Cost Space::lines_of(const Region& r, i64 millicycles) const {
  i64 total = r.lines * millicycles;
  if (const i64 pages = r.pages(); pages > kPagesAtHand) total += pages * kPageMilli;
  return Cost::milli(total);
}

Cost Space::transfer(const Region& r, Level from) const {
  return from <= kL1 ? Cost() : lines_of(r, line_millicycles(from, Coming::kAsked));
}

// Lines of an output that nobody has asked for: stores wait for them in turn.
Cost Space::stored_to(const Region& r, Level to) const {
  const i64 stored = machine().levels[to].stored_millicycles;
  const Cost all = transfer(r, to);
  return stored == 0 ? all : std::max(all, lines_of(r, stored));
}

// Rows that are no streams begin anew every time: prefetchers have not followed them yet, and in
// memory their lines are all of its pages that is read. (Zen 3, f32 copied from memory, cycles a
// line with what the copy itself takes, about 4: rows of 64, 192 and 512 to 1536 bytes, 8 KiB
// apart, 47 to 64, 35, and 26 to 28; whole rows 17.)
Cost Space::row_starts(const Spec& s, int operand, const Region& r) const {
  const Level from = s.place[operand].level;
  const bool input = operand < computation().inputs();
  if (!input || s.place[operand].packed || blocked_[operand] || r.row_stride < r.line_bytes)
    return Cost();
  if (r.row_bytes >= least_stream(from)) return Cost();
  return r.rows * Cost::milli(machine().levels[from].row_millicycles);
}

// What a view brings nearer comes by the rows of those who use it first, narrow copies or leaves,
// one after the other: as many rows as leaves have, not wider than theirs.
Region Space::rows_of_leaves(const Spec& s, int operand) const {
  const Spec leaf = leaf_of(s);
  i64 leaves = 1;
  for (int d = 0; d < dims(); ++d)
    if (touches_[operand][d]) leaves *= ceil_div(s.extent[d], leaf.extent[d]);
  Region r = rows_of(leaf, operand, -1, 0);
  r.rows *= leaves;
  return r;
}

// Whether leaves read one line, or less, of every row, and rows lie farther apart than that: what
// comes beside it is another leaf's. What rows along the reduction cost, stall() says. (G, from L3,
// 64 of every 256 bytes and more: 12.3 to 13.7 cycles a line, 128 bytes 8.7 to 10; by kernels 11.3.
// Depthwise convolution of 112 x 112 x 64 by AVX-512, padded, two threads: leaves of 28 x 16 137
// us, of 14 x 32 111.)
bool Space::reads_lone_lines(const Spec& s, int operand) const {
  if (s.place[operand].packed || blocked_[operand]) return false;
  const Region r = rows_of(leaf_of(s), operand, -1, 0);
  return r.rows > r.along_reduction && r.row_bytes <= r.line_bytes &&
         r.row_stride >= 2 * r.line_bytes;
}

// The rows that leaves read windows in are those of the next leaves, a line or two farther on, so
// that prefetchers have come part of the way. (Zen 4, f32 by AVX2, 3x3 depthwise in steps of two
// over 112x112x96, 56x56x144, 56x56x128 and 28x28x256, from L3, at 65 % of what others wait for:
// 0.40, 0.44, 0.44 and 0.72 of the time of copies that ask for the next windows, which looked
// cheaper. At 75 5x5 over 56x56x144 took 1.11, at 50 3x3 over 30x30x192 1.12 and at 35 over
// 114x114x64 1.12.)
i64 Space::asked_line(int operand, Level from) const {
  return line_millicycles(from, has_windows(operand) ? Coming::kWindows : Coming::kAsked);
}

Cost Space::transfer_by_leaves(const Spec& s, int operand, const Region& r) const {
  const Level from = s.place[operand].level;
  if (machine().levels[from].lone_millicycles == 0 || !reads_lone_lines(s, operand))
    return from <= kL1 ? Cost() : lines_of(r, asked_line(operand, from));
  return lines_of(r, line_millicycles(from, Coming::kAlone));
}

// What one of rows side by side has at most (rows_side_by_side()).
i64 Space::bytes_of_whole_row(int operand) const {
  i64 elements = 1;
  bool along = false;
  for (const AddressTerm& g : given_[operand]) {
    const Dim& dim = computation().dims[g.dim];
    along |= dim.reduction && dim.extent > 1;
    if (dim.reduction || !along) elements *= dim.extent;
  }
  return elements * bytes(computation().operands[operand].dtype);
}

// The least that a line takes of so many rows side by side, which leaves read where they lie and
// nobody else brings: bounds ask. `stream` is the least of one stream, `asked` of a line that was
// asked for, as those of rows side by side are but for streams (streamed_in()).
i64 Space::least_row_line(Level from, int operand, i64 rows, i64 stream, i64 asked) const {
  const bool streams = rows <= kRowsAtOnce && bytes_of_whole_row(operand) >= least_stream(from);
  const i64 begun = std::max(stream, machine().levels[from].rows_millicycles);
  return streams ? std::min(begun, asked) : asked;
}

// (Zen 4, 42 MB from memory: bf16 1x9216x2304 by AVX-512, parts of 8 KiB of rows of 18 KiB take 21
// cycles a line, whole rows 10.)
bool Space::comes_by_itself(const Spec& s, int operand, const Region& r, i64 in_flight) const {
  const Place& place = s.place[operand];
  if (follows_rows(s, operand, r) || follows_pieces(s, operand, r)) return true;
  if (!computation().reduces())
    return place.level >= kL3 && r.rows == 1 && r.row_bytes >= kPieceOfStream;
  if (place.level < kL3 || r.rows > 1 || r.row_bytes < kPage) return false;
  const bool far_rows = place.level == kMemory && !place.packed;
  if (in_flight < (far_rows ? kStreamLinesOfRows : kStreamLines)) return false;
  if (rows_side_by_side(s, operand) > 1) return false;
  if (place.level == kMemory && in_flight >= kMostStreamLines) return false;
  return place.packed || r.row_bytes >= kLongRow || reads_whole_rows(s, operand);
}

// Of rows side by side; in the region they may be one.
i64 Space::bytes_of_row(const Region& r, i64 rows) {
  return r.rows == 1 ? r.row_bytes / rows : r.row_bytes;
}

// Rows side by side that the hardware brings by itself.
bool Space::follows_rows(const Spec& s, int operand, const Region& r) const {
  const Level from = s.place[operand].level;
  const i64 rows = rows_side_by_side(s, operand);
  const bool adjacent = r.rows == 1;
  if (rows == 1 || rows > kRowsAtOnce || !(adjacent || rows == r.rows)) return false;
  if (!follows_streams(from) || blocked_[operand]) return false;
  if (streams_that_go_on(s, operand) > 1) return true;
  return bytes_of_row(r, rows) >= least_stream(from);
}

// Where it is known what it costs that they are not.
bool Space::pieces_are_streams(const Place& p) const {
  return !p.packed && follows_streams(p.level) && rows_are_streams() &&
         machine().levels[p.level].piece_start_millicycles() > 0;
}

// Rows along the reduction, of which a leaf reads a piece each and the next leaf the next pieces:
// as many streams. Loops pay for what breaks them off. (Zen 3, f32 1x4096x4096, rows of 16 KiB from
// memory, pieces of 64 bytes: 8 rows at once 3.5 ms, 4 and 16 4.0; 32 rows copied, 256 bytes each,
// and asked for, 8.1.)
bool Space::follows_pieces(const Spec& s, int operand, const Region& r) const {
  if (operand == computation().inputs() || blocked_[operand]) return false;
  return pieces_are_streams(s.place[operand]) && r.rows > 1 && r.rows == r.along_reduction &&
         r.rows <= kRowsAtOnce && r.row_bytes >= r.line_bytes && r.row_stride >= r.line_bytes;
}

i64 Space::streams_that_go_on(const Spec& s, int operand) const {
  if (const i64 rows = rows_apart(family(), computation(), operand); rows > 1)
    return reads_whole_rows(s, operand) ? rows : 1;
  return streams_of(family(), computation(), operand);
}

// (Zen 4, rows of bf16 from memory, 42 MB and more, of the time of whole rows side by side that are
// asked for: rows of 4 to 5 KiB 0.83 to 0.96, of 6 and 7 KiB 0.86 to 0.96, of 8 KiB 1.01 to 1.07,
// of 10 to 32 KiB 1.02 to 1.24.)
i64 Space::streams_worth(const Spec& s, int operand, const Region& r) const {
  const i64 longest = machine().far_row_bytes;
  const bool far = rows_apart(family(), computation(), operand) > 1;
  const bool slow = far && longest > 0 && bytes_of_row(r, rows_side_by_side(s, operand)) >= longest;
  return slow ? 1 : streams_that_go_on(s, operand);
}

Cost Space::saved_by_streams() const {
  const Coming asked = machine().prefetch_bytes > 0 ? Coming::kPrefetched : Coming::kAsked;
  const Spec& root = root_;
  Cost saved;
  for (int o = 0; o < computation().inputs(); ++o) {
    const i64 streams = streams_of(family(), computation(), o);
    const Level home = root.place[o].level;
    if (streams == 1 || home < kL3) continue;
    i64 each = 0;
    for (const Coming how : {asked, Coming::kStreamed})
      each = std::max(each, line_millicycles(home, how) - line_millicycles(home, how, streams));
    saved = saved + region(root, o).lines * Cost::milli(each);
  }
  return Cost::milli(static_cast<i64>(saved.value()) / problem_.threads);
}

i64 Space::least_stream(Level from) const {
  return from == kMemory ? kFarRowOfStream : kRowOfStream;
}

// Nothing is in flight when a copy begins, and nothing behind its end. (Zen 3, f32 16x2048x2048
// from memory, whole rows of b: copies of 256 KiB take 17 cycles a line, of 16 KiB some 29.)
i64 Space::least_copied_stream(Level from) const {
  return from == kMemory ? kLongRow : kRowOfStream;
}

// Of rows side by side, as far as four streams are known to be faster than one.
bool Space::rows_are_streams() const { return machine().four_streams_percent > 0; }

int Space::least_percent_of_rows(const Place& place) const {
  if (place.packed || !rows_are_streams()) return 100;
  return std::min(machine().two_streams_percent, machine().four_streams_percent);
}

bool Space::reads_whole_rows(const Spec& s, int operand) const {
  return !s.place[operand].packed && whole_rows_[operand](s.extent);
}

i64 Space::rows_side_by_side(const Spec& s, int operand) const {
  if (s.place[operand].packed) return 1;
  bool along = false;
  i64 rows = 1;
  for (const AddressTerm& g : given_[operand]) {
    if (s.extent[g.dim] == 1) continue;
    if (computation().dims[g.dim].reduction)
      along = true;
    else if (along)
      rows *= s.extent[g.dim];
  }
  return rows;
}

// What brings an operand nearer overlaps with the arithmetic of those who use it first; a leaf's
// own transfers do so to the same part. Prefetchers fetch rows ahead while they lie in few pages;
// what is packed they follow in any case. Where a matrix lies in one run its parts are read all the
// same. (G: f32 16x2048x512 from L3 in parts of 32 rows, 64 KiB, takes 420 us, in parts of 128
// rows, 256 KiB, 500 to 580. Before, with every view paid in full, the model preferred the latter
// by 12 %.) Windows slide: each reads something new beside what others have read, so that their
// arithmetic hides all of it, in the few pages that they are in at a time. (Zen 4, AVX2, 3x3
// depthwise, 30x30x192, x in L3: 39.3 us, for which the model had 70, with this 57; 114x114x64 267
// us, 324 and 258. 28x28x192 with zeros left out of the copy takes 0.71 to 0.77 of the time with
// them, and looked dearer.) An output has been computed before it moves.
Cost Space::view(const Spec& s, int operand) const {
  const Region r = region(s, operand);
  if (operand == computation().inputs()) {
    const Cost all = stored_to(r, s.place[operand].level);
    return s.accumulate ? all + transfer(r, s.place[operand].level) : all;
  }
  const Cost all =
      transfer_by_leaves(s, operand, r) + row_starts(s, operand, rows_of_leaves(s, operand));
  if (nobody_brings(s, operand, r)) return all + piece_starts(s, operand);
  if (first_use_waits(s, operand)) return all;
  const Region at_once = has_windows(operand) ? rows_of(leaf_of(s), operand, -1, 0) : r;
  const i64 pages = at_once.rows == 1 ? ceil_div(at_once.row_bytes, kPage) : at_once.pages();
  if (!s.place[operand].packed && pages > kStreams) return all;
  const Cost beside = Cost::milli(static_cast<i64>(arithmetic(s).value()) / rounds(s, operand));
  return all - overlap(all, beside);
}

Steps::Steps(const Space& space, const Spec& s) : space_(space), spec_(s) {
  for (int o = 0; o < space.operands(); ++o) {
    if (s.place[o].level <= kL1) continue;
    far_[count_] = o;
    seen_[count_] = o == space.computation().inputs() ? space.output_seen_percent(s) : 100;
    const Region all = s.place[o].packed ? Region{.rows = 0} : space.rows_of(s, o, -1, 0);
    again_[count_] = space.begin_again(s, o, all);
    ++count_;
  }
}

// The part of an operand that one step reads begins where the last one ended if its rows go on, and
// are few enough for their pages to be remembered.
Cost Steps::at(int dim, i64 tile) const {
  i64 total = 0;
  for (int i = 0; i < count_; ++i) {
    const int o = far_[i];
    i64 anew = 0;
    if (!space_.touches_[o][dim]) {
      anew = again_[i];
    } else if (spec_.place[o].packed) {
      if (!space_.runs_on(spec_, o, dim))
        anew = again_[i] + space_.asked_in_vain(spec_, o, dim, tile);
    } else {
      const Region part = space_.rows_of(spec_, o, dim, tile);
      const bool remembered = part.rows == 1 || part.pages() <= kStreams;
      if (!remembered || !space_.rows_run_on(spec_, o, dim))
        anew = space_.begin_again(spec_, o, part);
    }
    total += anew * seen_[i] / 100;
  }
  return Cost::milli(total);
}

i64 Space::begin_again(const Spec& s, int operand, const Region& r) const {
  const Level from = s.place[operand].level;
  const i64 pieces = follows_pieces(s, operand, r) ? r.rows : 0;
  return begin(from, r.rows) + pieces * machine().levels[from].piece_start_millicycles();
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

// Where only a part of every panel is read before the next panel, a leaf that prefetches asks in
// vain for what lies behind the part, in each of its streams. (G: bf16 1x10240x2560 in two streams
// of panels, 8 KiB ahead: 1950 us in parts of 2048 rows, 128 KiB a stream, in one part 1760.
// Before, the model took parts for half a percent better.) A short part is prefetched from less
// far.
i64 Space::asked_in_vain(const Spec& s, int operand, int dim, i64 tile) const {
  const Level from = s.place[operand].level;
  if (!computation().dims[dim].reduction || !prefetch_saves(from)) return 0;
  Extents part = s.extent;
  part[dim] = tile;
  i64 panels = 1;
  for (int d = 0; d < dims(); ++d) {
    if (!touches_[operand][d] || computation().dims[d].reduction) continue;
    panels *= ceil_div(part[d], family().quantum[d]);
    part[d] = std::min(part[d], family().quantum[d]);
  }
  const i64 streams = streams_of(family(), computation(), operand);
  const i64 distance =
      std::min(machine().prefetch_bytes, problem_.packed_bytes(operand, part) / streams / 2);
  return panels * streams * (distance / machine().levels[kL1].line) *
         line_millicycles(from, Coming::kPrefetched);
}

// Rows go on along a dim whose neighbours lie where what is nearer in memory ends, or, far away, a
// little behind.
bool Space::rows_run_on(const Spec& s, int operand, int dim) const {
  if (blocked_[operand]) return true;  // close enough, as in rows_of()
  const bool whole = s.place[operand].level >= kL3 && reads_whole_rows(s, operand);
  i64 run = 1;
  int inside = 0;
  for (const AddressTerm& g : given_[operand]) {
    if (g.dim == dim) return g.stride == run || (whole && inside == 1);
    if (s.extent[g.dim] == 1) continue;
    if (g.stride > run) return false;
    run += (s.extent[g.dim] - 1) * g.stride;
    ++inside;
  }
  return false;
}

}  // namespace morello
