// What copies cost: packing an operand, adding up the shares of a parallel reduction, filling.

#include <algorithm>

#include "impl/patchwork.h"
#include "impl/shares.h"
#include "impl/transpose_fit.h"
#include "search/leaf_work.h"
#include "search/space.h"
#include "spec/sizes.h"

namespace morello {
namespace {

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
// ... that is rounded to bf16 on its way out. (Zen 4, f32 13x30x53 to bf16 the other way
// round: 2.4.)
constexpr i64 kRoundedMilli = 2400;
constexpr i64 kCopyCallMilli = 4000;
// Adding an element of a copy, in millicycles: 0.14 to 0.18 cycles measured on what GCC 12 and
// Clang 14 make of the emitted loop with AVX2, copies in L1 and L2.
constexpr i64 kAddCopyMilli = 150;

}  // namespace

// An extent of which all blocks are full, also where layouts cut a dim in blocks that do not divide
// each other. Not the root's: no key says what those are.
static i64 many_blocks(const Space& space, int dim) { return 64 * space.family().quantum[dim]; }

// A given address as far as keys tell it: strides of a line or more stand for any.
static AddressMap anywhere(AddressMap map, i64 line_elements) {
  constexpr i64 kFar = i64{1} << 24;
  const bool plain = map.is_plain();
  for (size_t i = 0; i < map.terms.size(); ++i) {
    i64& stride = map.terms[i].stride;
    // No multiple of another: none goes on where another ends.
    if (stride >= (plain ? line_elements : 2)) stride = kFar * static_cast<i64>(i + 1) + 1;
  }
  return map;
}

// Where elements lie in short rows, which follow one another, a dim has no more of them than there
// are before the next one begins: a part of every row is not adjacent to that of the next one. The
// innermost such row.
Space::Copying Space::within_rows(const AddressMap& given, Extents& e) {
  Copying found;
  if (!given.is_plain()) return found;
  for (const AddressTerm& t : given.terms) {
    for (const AddressTerm& next : given.terms) {
      if (next.stride <= t.stride || next.stride >= e[t.dim] * t.stride) continue;
      e[t.dim] = next.stride / t.stride;
      if (t.stride == 1) found.least[t.dim] = e[t.dim];
    }
  }
  return found;
}

// What was packed ahead of time lies in the order of the copy already: only its type changes. Of
// others the innermost digits of a full block decide, as they do for what is emitted
// (codegen/pack.cc).
Space::Copying Space::how_copied(int operand, const AddressMap& given, Extents e) const {
  constexpr i64 kLeastRun = 8;
  const PackedOrder& order = family().packed[operand];
  const Dtype type = computation().operands[operand].dtype;
  const Copying elements;
  Copying by_rows = within_rows(given, e);
  const std::vector<BoxDigit> digits = element_boxes(order.address(e), given, e).front().digits;
  if (digits.empty()) return elements;
  const BoxDigit& last = digits.back();
  if (last.packed == 1 && last.other == 1 && last.count >= kLeastRun) return {CopyKind::kRuns, {}};
  if (packed_dtype(family(), computation(), operand) != type) return elements;
  const bool into = operand < computation().inputs();
  const TransposeFit fit = fit_transpose(*family().isa, type, digits, into);
  if (!fit.row) return elements;
  by_rows.kind = CopyKind::kShuffled;
  // Whether its rows are one run of the source, in another order.
  const i64 width = fit.row->columns * fit.row->bytes / bytes(type);
  for (size_t i = 0; i < fit.sources.size(); ++i)
    if (!(fit.sources[i] == static_cast<i64>(i) * width)) by_rows.kind = CopyKind::kTransposed;
  for (const AddressTerm& t : given.terms) {
    if (!given.is_plain() || t.stride != 1) continue;
    add_small(operand, given, e, t.dim, by_rows);
    if (!into || !fit.row->partial.empty() || by_rows.window >= 0) continue;
    by_rows.along = t.dim;
    by_rows.columns = width;
  }
  return by_rows;
}

bool Space::fits_rows(int operand, const AddressMap& given, const Extents& e) const {
  const AddressMap packed = family().packed[operand].address(e);
  const std::vector<BoxDigit> digits = element_boxes(packed, given, e).front().digits;
  const bool into = operand < computation().inputs();
  const Dtype type = computation().operands[operand].dtype;
  return fit_transpose(*family().isa, type, digits, into).row != nullptr;
}

// A row of the ISA takes so much of a dim along which elements are adjacent, or more. Of windows
// some parts may lie in an order that rows move, and larger ones not. (f32 3x3 in steps of two over
// 112x112x96, channels first, by AVX2: two steps of a window are an even/odd split, three are
// copied element by element, at 0.9 cycles each.)
void Space::add_small(int operand, const AddressMap& given, Extents e, int dim,
                      Copying& how) const {
  constexpr i64 kMost = 16;  // columns of a row of the ISA, and taps of a window
  const bool window = has_windows(operand) && computation().dims[dim].reduction;
  i64& n = e[dim];
  if (!window) {
    const i64 most = std::min(kMost, n);
    for (n = 1; n < most && !fits_rows(operand, given, e);) ++n;
    how.least[dim] = n;
    return;
  }
  how.window = dim;
  how.least[dim] = 0;  // within_rows() took a window for a row of as many elements as a step has
  how.fits = ~std::uint64_t{0} << kMost;
  for (n = 1; n < kMost; ++n)
    if (fits_rows(operand, given, e)) how.fits |= std::uint64_t{1} << n;
}

// Of so much of it: what is left where a vector or a row is not filled goes unseen.
Space::CopyKind Space::copied_by(int operand, const Extents& e) const {
  const Copying& how = copying_[operand];
  for (int d = 0; d < dims(); ++d)
    if (e[d] < how.least[d]) return CopyKind::kElements;
  if (how.window >= 0 && e[how.window] < 64 && (how.fits >> e[how.window] & 1) == 0)
    return CopyKind::kElements;
  return how.kind;
}

// (relu of a product of windows, f32 2x14x14x16 padded by 3x3 to 24, AVX2: of 6.3 s of CPU 1.9 went
// here, in 115,000 Spaces.)
Space::Copying Space::copying(int operand, const AddressMap& walked, Copies* known) const {
  if (computation().operands[operand].packed) return {CopyKind::kRuns, {}};
  Extents e;
  e.fill(1);
  for (int d = 0; d < dims(); ++d)
    if (touches_[operand][d]) e[d] = many_blocks(*this, d);
  const int size = bytes(computation().operands[operand].dtype);
  AddressMap given = anywhere(walked, machine().levels[kL1].line / size);
  if (!known) return how_copied(operand, given, e);
  given.elements = 0;  // of all of it, which no copy asks for
  const Dtype type = packed_dtype(family(), computation(), operand);
  const PackedOrder& order = family().packed[operand];
  for (const Copies::One& one : known->all_[operand])
    if (one.extent == e && one.type == type && one.order == order && one.given == given)
      return one.how;
  const Copying how = how_copied(operand, given, e);
  known->all_[operand].push_back({order, std::move(given), e, type, how});
  return how;
}

Cost Space::copy_work(int operand, const Extents& extent, const Region& packed) const {
  return copy_work(operand, copied_by(operand, extent), extent, packed);
}

// As much of it as moves most easily.
Extents Space::easily_copied(int operand, Extents e) const {
  const Copying& how = copying_[operand];
  if (how.window >= 0)
    while (e[how.window] > 1 && copied_by(operand, e) != how.kind) --e[how.window];
  return e;
}

Cost Space::least_copy_work(int operand, const Extents& extent) const {
  const CopyKind kind = copied_by(operand, easily_copied(operand, extent));
  return copy_work(operand, kind, extent, packed_region(extent, operand));
}

// (Zen 5, bf16 8x501x14 by AVX-512, copied by rows of 8 columns: 1.07 us, where 14 columns at the
// price of 16 were expected to make 0.65 of it.)
Cost Space::copy_work(int operand, CopyKind kind, const Extents& extent,
                      const Region& packed) const {
  const i64 all = packed.row_bytes / bytes(packed_dtype(family(), computation(), operand));
  const Copying& how = copying_[operand];
  if (kind == CopyKind::kElements || how.along < 0) return copy_work(operand, kind, all);
  const i64 left = all * (extent[how.along] % how.columns) / extent[how.along];
  return copy_work(operand, kind, all - left) + copy_work(operand, CopyKind::kElements, left);
}

Cost Space::copy_work(int operand, CopyKind kind, i64 elements) const {
  switch (kind) {
    case CopyKind::kRuns:
      return Cost::milli(elements * kRunMilli / (family().kernel->lanes > 1 ? 8 : 1));
    case CopyKind::kShuffled:
      return Cost::milli(elements * kShuffleMilli);
    case CopyKind::kTransposed:
      return Cost::milli(elements * kTransposeMilli);
    case CopyKind::kElements:
      break;
  }
  const bool rounds = operand == computation().inputs() &&
                      computation().operands[operand].dtype == Dtype::bf16 &&
                      packed_dtype(family(), computation(), operand) == Dtype::f32;
  return Cost::milli(elements * (rounds ? kRoundedMilli : kElementMilli));
}

// A run of the copy is a memcpy.
static i64 run_millicycles(i64 elements, Dtype type) {
  constexpr i64 kVectorBytes = 32;
  return kRunMilli * ceil_div(elements * bytes(type), kVectorBytes);
}

// What is emitted for a box (codegen/pack.cc): runs, rows of the ISA, and what these leave.
static i64 box_millicycles(const Isa& isa, Dtype type, std::vector<BoxDigit> digits) {
  const auto number = [](std::span<const BoxDigit> all) {
    i64 n = 1;
    for (const BoxDigit& d : all) n *= d.count;
    return n;
  };
  std::erase_if(digits, [](const BoxDigit& d) { return d.count == 1; });
  const i64 all = number(digits);
  if (digits.empty()) return kElementMilli;
  const BoxDigit& last = digits.back();
  if (last.packed == 1 && last.other == 1)
    return all / last.count * run_millicycles(last.count, type);
  const TransposeFit f = fit_transpose(isa, type, digits, true);
  if (!f.row) return all * kElementMilli;
  const i64 rows = f.inside[f.rows].count, columns = f.inside[f.column].count;
  const i64 whole_rows = rows / f.step * f.step;
  const i64 whole_columns =
      columns < f.row->columns ? columns : columns / f.row->columns * f.row->columns;
  const i64 milli = f.row->dense_rows ? kShuffleMilli : kTransposeMilli;
  i64 sum = all / rows / columns * whole_rows * whole_columns * milli;
  for (const auto& [r, n] :
       {std::pair(rows - whole_rows, whole_columns), std::pair(rows, columns - whole_columns)}) {
    std::vector<BoxDigit> rest = f.inside;
    rest[f.rows].count = r;
    rest[f.column].count = n;
    if (r > 0 && n > 0) sum += number(f.around) * box_millicycles(isa, type, rest);
  }
  return sum;
}

i64 Space::moved_millicycles(const Extents& e) const {
  const Dtype type = computation().operands[0].dtype;
  const i64 line = machine().levels[kL1].line / bytes(type);
  const AddressMap to = anywhere(problem_.root_address(1), line);
  i64 sum = 0;
  for (const Box& box : element_boxes(to, anywhere(problem_.root_address(0), line), e))
    sum += box_millicycles(*family().isa, type, box.digits);
  return sum;
}

// Where a leaf moves rows to columns of which more lie in one place of a page than L1 has ways,
// lines come to L1 one by one. (Zen 4, f32 by AVX2, cycles a line beyond those elsewhere: 1024x40
// to 40x1024 8, 40x1024 7, 4096x16 5, 16x4096 3, 1024x1024 6; of rows 2 KiB apart, 512x512, 1.5, of
// 1 KiB none.)
Cost Space::moved_apart(const Spec& s) const {
  const i64 each = machine().levels[kL2].latency_millicycles / 2;
  Cost sum;
  for (int o = 0; o < operands(); ++o) {
    const Region r = region(s, o);
    if (s.place[o].level > kL1 && r.row_stride >= r.line_bytes && r.rows > r.places() * ways())
      sum = sum + r.lines * Cost::milli(each / (r.places() * r.places()));
  }
  return sum;
}

// What a leaf that moves waits for lines of L3, of what others do: it computes nothing with them,
// so that a core asks for those of many rows at once. (Zen 4, f32 by AVX2 and AVX-512, of maps that
// copy, all from L3: 400x400 0.69 and 0.69, 600x600 0.71 and 0.78, 768x768 0.92 and 0.80, 1000x1000
// 0.87 and 0.77, 100x5000 0.54 and 0.77; bf16 512x512 0.49 and 0.69. From memory 0.75 to 1.8,
// whatever the strides. Rows of one line are not followed: 224x224x16 to 224x224x16 1.20 and 1.43.)
Cost Space::moved(const Spec& s, int operand, Cost transfer) const {
  constexpr i64 kMovedPercent = 45;
  if (!family().kernel->moves || s.place[operand].level != kL3) return transfer;
  const Region r = region(s, operand);
  if (r.row_bytes <= r.line_bytes) return transfer;
  return Cost::milli(static_cast<i64>(transfer.value()) * kMovedPercent / 100);
}

// As runs, or by the rows that cost least.
Space::Work Space::least_move(const Extents& e) const {
  i64 elements = 1;
  for (int d = 0; d < dims(); ++d) elements *= e[d];
  Work w;
  w.chain = std::min(elements * kShuffleMilli,
                     run_millicycles(elements, computation().operands[0].dtype));
  return w;
}

Cost Space::copy(const Spec& s, int operand, Level to) const {
  const bool output = operand == computation().inputs();
  const int ways = output && s.accumulate ? 2 : 1;
  const Cost moved = output && output_leaves_ ? stored(s, {}) + copied(s, operand, to)
                                              : moved_by_copy(s, operand, to);
  return ways * moved + Cost::milli(kCopyCallMilli) + (output ? finish(s) : Cost());
}

// A copy reads rows to their end before the next ones (codegen/pack.cc): long ones, and such as
// follow one another, are streams, where it is known what shorter ones cost. (Not on a Zen 4: f32,
// 32 rows of 2 KiB at a time from L3 8.6 cycles a line with what the copy itself takes, about 2.5,
// of which it is one beside as many cycles of arithmetic, from memory 22, whole rows of 8 KiB 15.
// As streams 1024^3 by AVX2, which copied six rows of 2 KiB of `a`, 960 us of 20.3 ms.) Windows are
// copied panel by panel, and rows in steps in two halves. (Zen 3, f32 3x3 in steps of two over
// 75x75x100, channels last: 11.6 cycles a line, where 3.9 were expected; 300 us, as they lie 90.)
bool Space::copies_stream(const Spec& s, int operand, const Region& r) const {
  const Level from = s.place[operand].level;
  if (operand >= computation().inputs() || blocked_[operand]) return false;
  if (has_windows(operand) || !copies_are_streams(from)) return false;
  return r.row_bytes >= least_copied_stream(from);
}

// While prefetchers bring a stream it is copied, to what is near. (Zen 3, f32, whole rows of 8 KiB
// to panels of 16 in L2, from L3 7.2 cycles a line, from memory 17 to 20, in a kernel 12 to 14; to
// 2 MiB in L3, from memory, some 40.)
Cost Space::moved_by_copy(const Spec& s, int operand, Level to) const {
  const Region r = region(s, operand);
  const Cost own = copied(s, operand, to);
  if (!copies_stream(s, operand, r))
    return transfer(r, s.place[operand].level) + row_starts(s, operand, r) + own;
  const Cost stream = lines_of(r, line_millicycles(s.place[operand].level, Coming::kStreamed));
  return to <= kL2 ? overlapped(stream, own) : stream + own;
}

// What is written comes in first and goes out again.
Cost Space::copied(const Spec& s, int operand, Level to) const {
  const Region packed = packed_region(s.extent, operand);
  return 2 * transfer(packed, to) + copy_work(operand, s.extent, packed);
}

// How many leaves a tile takes at least, as every one has a quantum at most.
i64 Space::least_leaves(const Extents& extent) const {
  i64 leaves = 1;
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction) leaves *= ceil_div(extent[d], family().quantum[d]);
  return leaves;
}

// What is asked for comes while leaves compute, and no sooner than the level has it. (Sums of two
// arrays of 64 MiB were copied, in turns, for lines in half the time, and took twice as long as
// without copies. G, AVX2, 15.4 and 7.7 ms.) Parts of rows may take longer than the stream that is
// prefetched. (Zen 5, f32 4x4096x4096 by AVX-512 from memory: copies, 13.4 cycles a line, for 10.7
// as it lies, where both were thought to come in 4.85.) Short rows cost what they cost a copy that
// nobody asked for. (Zen 3, f32 16x2048x2048 from memory, 32 rows at a time, of 192 bytes 3084 us,
// 256 2571 to 2868, 384, 512 and 1024 2249, 2351 and 2400, 4 KiB 2383; nobody asked, whole rows,
// 2830.)
Cost Space::asked_copy(const Spec& s, int operand, Level to) const {
  const Region r = region(s, operand);
  const Level from = s.place[operand].level;
  const LevelDesc& d = machine().levels[from];
  const i64 each =
      leaves_ask(s, operand) ? d.asked_by_leaves_millicycles : d.asked_by_copy_millicycles();
  const i64 line = std::max(line_millicycles(from, Coming::kPrefetched), d.asked_copy_millicycles);
  const Cost alone = lines_of(r, line + kAskMilli);
  const Cost asked =
      std::max(lines_of(r, each + kAskMilli), alone - std::min(alone, arithmetic(s)));
  return asked + row_starts(s, operand, r) + copied(s, operand, to) + Cost::milli(kCopyCallMilli);
}

// Of what no copy reads, as much overlaps with arithmetic as of what nobody asks for: that is what
// rows of which a leaf reads few lines are short of, and where it reads many nothing is gained.
// (Emerald Rapids, f32 4x421x2445 by AVX-512, leaves of 4 x 96, 32 steps of the sum: 173 us as it
// lies, in parts of two leaves that are asked for 187.) The parts share the line in which one ends
// and the next begins. Those that are shorter than the latency wait for the rest of it. (AVX2,
// leaves of 4 x 16, parts of one, 128 cycles, 394 us, of two 170.) That rows are short costs
// nothing, as no prefetcher has to follow them. (Zen 3, f32 4x512x2432 from L3 by AVX2, 32 rows of
// 128 and 256 bytes, 16 and 8 of 256: 158, 138, 122 and 123 us; as they lie 210.)
Cost Space::asked_view(const Spec& s, int operand) const {
  const Level from = s.place[operand].level;
  const LevelDesc& d = machine().levels[from];
  Region r = region(s, operand);
  r.lines = std::min(r.lines, ceil_div(r.rows * r.row_bytes, r.line_bytes));
  const Cost compute = arithmetic(s), latency = Cost::milli(d.latency_millicycles);
  const Cost alone = lines_of(r, line_millicycles(from, Coming::kPrefetched) + kAskMilli);
  const i64 each = asked_view_line(s.place[operand]) + kAskMilli;
  const Cost asked = std::max(lines_of(r, each), alone - overlap(alone, compute));
  return std::max(asked, latency - std::min(latency, compute));
}

// (Zen 4, f32 by AVX2, sixteen rows of b at a time, b transposed, in parts of 512 bytes and of 1
// KiB: 16x2048x2048, 16 MiB in memory, the next parts of the same rows 1851 and 1909 us, parts of
// the next rows 2155 and 1998; 16x4096x4096 8077 and 8290, 10364 and 9594: 18 to 77 cycles a row.
// From L3, 16x1024x1024, 424 and 421, 443 and 450: 14 to 60.)
Cost Space::asked_rows(const Spec& s, int operand, int dim, i64 tile) const {
  const i64 each = machine().levels[s.place[operand].level].asked_row_millicycles;
  if (each == 0 || rows_run_on(s, operand, dim)) return Cost();
  return rows_of(s, operand, dim, tile).rows * Cost::milli(each);
}

// Where the machine says what that costs, and load pipes have time for it: lines that are asked for
// beside loads that follow each other without a gap come no sooner. (Zen 3, f32 12x4096x3072, 48
// MiB, by AVX2, copies of 32 x 96, who asks, leaves and copies: leaves of 2 x 32, which load for 3
// of 4 cycles, 5.7 and 8.2 ms, of 1 x 96, for 6.5 of 6, 9.5 and 8.6; from L3, 16x512x768, the
// latter 333 and 292 us, of 2 x 48 209 and 201.)
bool Space::leaves_ask(const Spec& s, int operand) const {
  const LevelDesc& from = machine().levels[s.place[operand].level];
  return from.asked_by_leaves_millicycles > 0 && !loads_all_the_time_ && least_leaves(s.extent) > 1;
}

// What moves element by element asks for nothing: that would be once for each of them. Nor do
// parts of stages: their tiles are near, and their searches many.
bool Space::copies_ask(const Spec& s, int operand) const {
  return may_ask(s, operand) && !s.place[operand].packed &&
         machine().levels[s.place[operand].level].asks_ahead() &&
         copied_by(operand, s.extent) != CopyKind::kElements;
}

bool Space::may_ask(const Spec& s, int operand) const {
  const Place& place = s.place[operand];
  if (problem_.part.is_tile() || elastic_dims(problem_, operand) != 0) return false;
  return place.level >= kL3 && !family().isa->prefetch_to_l2.empty();
}

// Wider parts lie in several pieces, and gain nothing. (Searches of 18 kernels with packed
// operands: 15.1 s of CPU with those, and with operands that are used once, 12.7 without, the same
// programs.)
bool Space::is_panel(const Spec& part, int operand) const {
  for (int d = 0; d < dims(); ++d)
    if (touches_[operand][d] && !computation().dims[d].reduction &&
        part.extent[d] > family().quantum[d])
      return false;
  return true;
}

i64 Space::asked_view_line(const Place& place) const {
  const LevelDesc& from = machine().levels[place.level];
  return place.packed ? from.asked_panel_millicycles : from.asked_view_millicycles;
}

// Rows of which leaves read so many lines at a time prefetchers follow; so they do where leaves sum
// along them. (Emerald Rapids, f32 by AVX-512, b in L3, as it lies and asked for: 16x2048x2048,
// leaves of 8 x 48, 1082 and 1145 us, 4x421x2445, 4 x 96, 173 and 187.) The whole leaf counts, so
// that parts of a Spec ask for nothing that all of it does not. Panels prefetchers follow only
// while somebody reads them: those who use them again leave the memory idle. (Zen 5, f32
// 16x2048x2048 packed, 16 MiB, 2 x 48 leaves, parts of 128 steps: 1404 us; eight leaves ask for the
// next part as they sum, to L2 and to L1, 1097 and 1075, all at once before they do 1506 and 1528;
// the multiply-adds alone take 1000.)
bool Space::views_ask(const Spec& s, int operand) const {
  constexpr i64 kFollowedLines = 3;
  const LevelDesc& from = machine().levels[s.place[operand].level];
  if (!may_ask(s, operand) || asked_view_line(s.place[operand]) == 0 || has_windows(operand) ||
      operand == problem_.part.asked)
    return false;
  if (s.place[operand].packed) return rounds(s, operand) > 1;
  const int dim = dim_along_rows(s, operand);
  if (dim < 0 || computation().dims[dim].reduction) return false;
  const i64 size = bytes(computation().operands[operand].dtype);
  return family().quantum[dim] * size < kFollowedLines * from.line;
}

// What a copy holds, made into what is stored.
Cost Space::finish(const Spec& s) const {
  if (computation().finish.empty()) return Cost();
  i64 elements = 1;
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction) elements *= s.extent[d];
  return ceil_div(elements, written_back_lanes_) * work(written_back_) + extras(s.extent);
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
  return start + (shares.count + 1) * transfer(part, from) + adding + Cost::milli(begin(from, 0)) +
         Cost::cycles(20);
}

Cost Space::fill(const Spec& s) const {
  const int out = computation().inputs();
  const Region r = region(s, out);
  return transfer(r, s.place[out].level) + Cost::milli(r.lines * 2000) + Cost::cycles(10);
}

}  // namespace morello
