// What a leaf loads: a vector of each instance of an input for every step of the sum, but for what
// windows have in common and elements that come in fours; more where vectors are not whole, or
// where they ask for lines.
#include <algorithm>
#include <numeric>

#include "impl/fours.h"
#include "search/leaf_work.h"
#include "spec/sizes.h"

namespace morello {

// Of the windows of an input; null: they have nothing in common, or leaves load it each time.
const Overlap* Space::overlap_of(int input) const {
  return family().overlap && family().overlap->input == input ? &*family().overlap : nullptr;
}

// Elements that leaves of so many rows load of windows that overlap, for each column and each step
// of other dims. Of a bound as if all taps were taken as many at once as a leaf takes, and on a
// straight line between those of one row and of all that a leaf has: bounds take leaves for convex
// in the number of rows, and parts of a sum for no cheaper than their share; this is concave in
// both.
i64 Space::overlapping(const Extents& e, Rounding loads) const {
  const Overlap& o = *family().overlap;
  const i64 taps = e[o.tap], rows = e[o.row], most = family().quantum[o.row];
  if (loads == Rounding::kUp) return o.elements(rows, taps);
  const i64 at_once = std::min(taps, o.taps), whole = taps * o.at_once(most, at_once) / at_once;
  return taps + (rows - 1) * (whole - taps) / (most - 1);
}

// Vectors or elements of an input that a leaf loads.
i64 Space::loaded(const Extents& e, int input, bool apart, Rounding loads) const {
  const Computation& c = computation();
  const Kernel& k = *family().kernel;
  const bool vector = k.lanes > 1 && !k.lanes_reduce;
  const Overlap* windows = apart ? nullptr : overlap_of(input);
  i64 registers = windows ? overlapping(e, loads) : 1;
  for (int d = 0; d < dims(); ++d) {
    if (windows && windows->moves(d)) continue;
    if (c.dims[d].reduction)
      registers *= ceil_div(e[d], reduction_step(d));
    else if (touches_[input][d])
      registers *= vector && d == family().lane ? ceil_div(e[d], k.lanes) : e[d];
  }
  return registers;
}

// Three loads less and four shuffles more for every row and four steps; of a bound, of all rows and
// no shuffles.
void Space::load_in_fours(const Extents& tile, Rounding loads, Work& w) const {
  const Extents e = run_extents(family(), tile);
  i64 steps = 1;
  for (int d = 0; d < dims(); ++d)
    if (computation().dims[d].reduction) steps *= e[d];
  constexpr i64 kSaved = kFour - 1;
  if (loads == Rounding::kDown) {
    i64 rows = 1;
    for (int d = 0; d < dims(); ++d)
      if (touches_[fours_][d] && !computation().dims[d].reduction) rows *= e[d];
    w.load -= ceil_div(kSaved * rows * steps, kFour);
    return;
  }
  const i64 rows = rows_in_fours(family(), computation(), fours_, pipes(), e);
  w.load -= kSaved * rows * steps / kFour;
  w.shuffle += rows * steps;
}

// A partial vector of an unpacked input is masked in every step, or gathered element by element.
void Space::add_partial_loads(const Spec& s, Work& w) const {
  const Kernel& k = *family().kernel;
  const int lane = family().lane;
  if (lane < 0) return;
  const Extents e = run_extents(family(), s.extent);
  if (!elastic(lane) && e[lane] % k.lanes == 0) return;
  for (int o = 0; o < computation().inputs(); ++o) {
    if (s.place[o].packed || !touches_[o][lane]) continue;
    const Overlap* windows = overlap_of(o);
    i64 times = windows ? overlapping(e, Rounding::kUp) : 1;
    for (int d = 0; d < dims(); ++d)
      if (touches_[o][d] && d != lane && !(windows && windows->moves(d))) times *= e[d];
    if (const Access& a = *family().loads[o]; !a.partial.empty())
      w.add_masked(a, times);
    else
      w.alu += times * k.lanes * kStagedUopsPerLane;
  }
}

// Of a cycle, what a load of two lines takes beyond one of a line. (Zen 4, 16 KiB in L1, vectors
// beginning 4, 8, 16 or 28 bytes into a line: AVX2, of which every other one is in two lines, 0.94
// cycles each for 0.6; AVX-512, all of them, 1.78 for 1.16. Tiles of 2 x 6, 3 x 3 and 4 x 2 whose
// lanes are summed, columns of an odd length, AVX2, 6.4, 4.8 and 4.5 cycles a step; this makes 6.6,
// 4.9 and 4.9.)
constexpr i64 kTwoLinesPercent = 65;

// Where rows are no multiple of a vector, or windows move along the lanes, rows and taps begin
// somewhere in a line, and a vector that is in two of them is dearer. (Zen 4, AVX2, channels
// first: 3x3 over 58x58x64 to 64 by tiles of 3 rows x 32, which load three quarters of a vector for
// each multiply-add, 1.24 of the time of 6 columns x 16 filters; depthwise over 30x30x192 by 3 rows
// x 32 1.2 of that by 6 x 16. f32 33x89 by columns of 89x13, 12 x 1 by lanes of the sum, thirteen
// loads for twelve multiply-adds, 1.41 of the time of 6 x 16. Without this the former looked
// cheaper.)
void Space::add_loads_of_two_lines(const Spec& s, Work& w) const {
  const Kernel& k = *family().kernel;
  if (k.lanes == 1 || family().lane < 0) return;
  const Extents e = run_extents(family(), s.extent);
  for (int o = 0; o < computation().inputs(); ++o) {
    const Access& a = *family().loads[o];
    if (s.place[o].packed || a.kind != Access::Kind::kVector) continue;
    const i64 line = machine().levels[kL1].line;
    const i64 vector = std::min<i64>(line, a.lanes * a.group * a.regs * bytes(a.memory));
    const i64 others = vector - std::gcd(vector, vectors_begin_[o]);
    const i64 crossing = loaded(e, o, false, Rounding::kUp) / a.regs * others / line;
    w.load += crossing * pipes().load * kTwoLinesPercent / 100'000;
  }
}

// Beyond the loads of a leaf, one for each line that it prefetches. Of others that are not in L1
// the loads of their lines are tried again when those have come; about half of them, as arithmetic
// goes on. (Zen 5, bf16 1x2048x2304, rows of a caller's matrix in L3, four loads a line 122 us,
// two 92.) From L2 one load a line is. (G, f32 by AVX-512, 28 x 16, loads at the core's limit, 15.3
// cycles a step: 15.5 from L1, from L2 16.0 and more.)
i64 Space::asking_loads(const Spec& s, int operand, const Call& call) const {
  const Region r = region(s, operand);
  if (operand == call.ahead_operand) return r.lines;
  if (s.place[operand].level <= kL2) return s.place[operand].level == kL2 ? r.lines : 0;
  const Access& a = *family().loads[operand];
  if (a.kind != Access::Kind::kVector) return 0;
  return r.lines * (r.line_bytes / (a.lanes * a.regs * a.group * bytes(a.memory))) / 2;
}

}  // namespace morello
