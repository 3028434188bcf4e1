// What a leaf costs: the busiest resource of its inner loop, the latency of its accumulators, the
// edges (loading and storing the register tile) and the transfers of what does not lie in L1.

#include <algorithm>

#include "impl/joined.h"
#include "search/leaf_work.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Where a tile has few accumulators more than the latency asks for, the multiply-adds that are
// ready are not always where a pipe is free. (G: tiles of 8, 9, 10, 11 and 12 accumulators
// take 4.7, 5.0, 5.3, 5.65 and 6.05 cycles a step for 4, 4.5, 5, 5.5 and 6, whatever their shape;
// this makes 4.7, 5.03, 5.35, 5.68 and 6. Before, 10 rows were better done 5 at a time than 6
// and 4. A Zen 3 takes 4.1, 4.5, 5.1 and 6.1 for 8, 9, 10 and 12.)
constexpr i64 kScheduledPercent = 65;  // of the arithmetic
constexpr i64 kWaitedPercent = 47;     // of the chain
constexpr i64 kOverlapPercent = 80;    // of transfers and arithmetic at once, the shorter
// Of lines that a leaf asks for for others while it stores to memory. (Zen 5, AVX-512, rows scaled
// and stored past the caches, 64 MiB: 7.6 cycles for a line read and one stored, alone 6.1 and
// 6.6.)
constexpr i64 kBesideStoresPercent = 50;
constexpr i64 kStallPercent = 65;  // of the latency, of rows that lie apart
// Vectors of elements that were stored one by one wait until those are there. (Zen 4, rows that are
// joined: 7 of 5 elements take 12 ns longer than one by one.)
constexpr i64 kRepeatedMilli = 25'000;
// A line that is stored to and was not asked for before, of one that was; with kAskMilli: (G:
// 1000x1000 f32 in L3, tiles of 6 x 16: reductions of 1, 4, 8 and 16 take 165, 172, 195 and 304 us,
// asked 134, 137, 162 and 306; these make 179, 188, 200 and 313, asked 145, 154, 191 and 314.)
constexpr i64 kUnaskedPercent = 120;
// Of the latency of the output's level, percent that each row of a tile costs whose lines nobody
// has asked for, where a leaf computes for longer than one latency: stores wait for their lines in
// turn, and prefetchers leave rows in many pages to them. (Emerald Rapids, AVX-512: f32
// 1000x64x1000, 8 x 48, 54 cycles a leaf; 5x5 convolution of 3 channels to 512 that lie apart, 99 x
// 99, padded, 64 of a row of 6 channels at a time, 1100: 12.6 ms, asked for 6.0, channel by channel
// 5.6.)
constexpr i64 kUnaskedRowPercent = 4;
// Of writing back a line that another stage reads again: it may not have left by then. (G: softmax
// of 32 rows of 1 and 2 MiB, AVX2: exponentials stored in the result and scaled there 6.5 to 7.4
// and 19.5 to 23.0 ms, computed twice 8.0 and 21.9 to 23.4. With all of it the latter look 12 %
// cheaper, with none of it those of AVX-512 look dearer, which take 0.8 of the time.)
constexpr i64 kReadAgainPercent = 50;
// Of the latency of L2, percent that a line costs which a leaf has asked for and L1 has lost before
// it is stored. (Zen 4, f32, 3x3 depthwise over 112x112x64 and 56x56x128, padded, rows of whole
// pages: leaves of six rows by AVX2, which read eight of x beside those of the output, took 1.6 and
// 1.3 of the time of leaves of six neighbours, by AVX-512 the latter 2.2.)
constexpr i64 kLostPercent = 45;
// Percent of the latency, of L3 and of memory, with which each of several rows begins that
// prefetchers follow (transfer_cost.cc).
constexpr i64 kRowStartPercent = 40;
constexpr i64 kFarRowStartPercent = 10;
// Edges of tiles whose lanes lie along the output that are over before a core has nothing else to
// do, and how fast what is longer is seen, up to all of it. (Zen 4, f32, output in L1, sums of 16
// and 64, cycles beyond the multiply-adds. AVX2: 4 x 16, 5 x 16, 6 x 16, 8 x 8, 10 x 8 -3 to 4, for
// 9 to 17 of edges. AVX-512, where a store takes two cycles: 8 x 16, 12 x 16 1, for 21 and 29; 24
// registers of which 4, 8, 12, 16, 20 and 24 are stored 2, 7, 4 to 13, 33, 45, 55, by loads as well
// 12 x 32 27 to 87 and 14 x 32 63 for 53 and 61. A neighbour on the same core, who has half of its
// store queue, makes the latter longer.)
constexpr i64 kHiddenMilli = 24'000;
constexpr i64 kSeen = 3;

}  // namespace

// Of so many uops, at a rate in thousandths per cycle; split so that no product overflows.
static i64 millicycles(i64 uops, i64 rate) {
  return uops / rate * 1'000'000 + uops % rate * 1'000'000 / rate;
}

const Pipes& Space::pipes() const { return machine().pipes(kLaneBits * family().kernel->lanes); }

// Divisions on a divider, or as multiply-adds; the divider's part is what is returned.
i64 Space::divided(Work& w) const {
  const i64 each = pipes().divide_millicycles;
  if (each == 0) {
    w.fma += w.divide;
    return 0;
  }
  constexpr i64 kTenths = 10;
  w.fma += w.divide / kTenths;
  const i64 vectors = kTenths * std::max<i64>(1, kLaneBits * family().kernel->lanes / 256);
  return w.divide * each / vectors;
}

i64 Space::work_millicycles(const Work& work) const {
  const Pipes& p = pipes();
  Work w = work;
  const i64 divided = this->divided(w);
  // A load that feeds one instruction is issued with it.
  const i64 vector = w.fma + w.bf16 + w.alu;
  const i64 issued = vector + w.store + w.load / 2;
  const i64 fma = millicycles(w.fma, p.fma);
  const i64 scheduled = (fma * kScheduledPercent + w.chain * kWaitedPercent) / 100;
  const i64 both = p.fma_and_shuffle > 0 ? p.fma_and_shuffle : p.vector;
  return std::max({fma, divided, millicycles(w.bf16, p.bf16), millicycles(w.alu, p.alu),
                   millicycles(vector, p.vector), millicycles(w.fma + w.bf16 + w.shuffle, both),
                   millicycles(w.load, p.load), millicycles(w.store, p.store),
                   1000 * issued / machine().issue_per_cycle, w.chain, scheduled});
}

// Whether leaves need their load pipes for longer than they compute; all leaves of a family, so
// that the answer is the same whatever kernel it is of.
bool Space::loads_all_the_time() const {
  constexpr i64 kSteps = 16;
  if (family().kernel->moves) return false;
  Extents leaf;
  leaf.fill(1);
  for (int d = 0; d < dims(); ++d)
    leaf[d] = family().quantum[d] * (computation().dims[d].reduction ? kSteps : 1);
  const Work w = leaf_work(leaf);
  const Pipes& p = pipes();
  const i64 arithmetic =
      std::max({millicycles(w.fma, p.fma), millicycles(w.bf16, p.bf16), millicycles(w.alu, p.alu),
                millicycles(w.fma + w.bf16 + w.alu, p.vector)});
  return millicycles(w.load, p.load) > arithmetic;
}

// What waits for the end of a sum comes after it; where nothing is summed, vectors are loaded,
// computed and stored while others are. (Zen 4, scaling 16 KiB in L1, cycles a vector: AVX2 1.4,
// AVX-512 2.0, of which stores take 1 and 2; one after the other 2.4 and 3.4 were expected, so that
// softmax of 8x4096 by AVX-512 had its exponentials scaled when all rows were done: 3.95 ns a
// vector for 3.67.)
// The same of lanes that are summed: a core folds those of one leaf while it computes the next, but
// deals shuffles to two pipes of which one multiplies. (Zen 5, AVX2, rows of 8 f32 summed eight at
// a time: 10.4 cycles, of which the lanes take 7.5. Zen 4, f32 2 x 6 by AVX2 and 2 x 12 by AVX-512,
// by columns in L1, sums of 32, 64 and 128: 30, 58, 97 and 76, 128, 218 cycles, of which
// multiply-adds take 24, 48, 96 and 48, 96, 192; with a call and a step of a loop at once is 37,
// 61, 109 and 81, 127, 223, one after the other 48, 72, 120 and, of 32 and 128, 94 and 238.) Of
// products that counts for half: a neighbour on the same core, who has half of what waits there,
// has more of it seen. (AVX2, when one was: 33x43 by columns of 43x12 1.26 of the time with all of
// it, 33x89 by 89x13 1.14, 12x83 by 83x325 1.07.)
// What is stored where lanes lie along the output overlaps, too, if it is short (above), and, for a
// bound, whatever it is: two leaves that are short may take less than one that is not.
i64 Space::leaf_millicycles(const Work& w, const Work& edges, Rounding seen) const {
  const Computation& c = computation();
  Work both = w;
  both.add(edges, 1);
  if (!c.reduces()) return work_millicycles(both);
  const i64 multiplies = millicycles(both.fma + edges.shuffle / 2, pipes().fma);
  const i64 together = std::max(work_millicycles(both), multiplies);
  const i64 edge = work_millicycles(edges);
  if (family().kernel->lanes_reduce)
    return c.inputs() > 1 ? (work_millicycles(w) + edge + together) / 2 : together;
  if (seen == Rounding::kDown) return together;
  const i64 beyond = std::clamp<i64>(kSeen * (edge - kHiddenMilli), 0, edge);
  return std::max(together, work_millicycles(w) + beyond);
}

Cost Space::work(const Uops& u) const {
  Work w;
  w.add(u, 1);
  return Cost::milli(work_millicycles(w));
}

// Of a reduction, what an instruction sums at once.
i64 Space::reduction_step(int d) const {
  const Kernel& k = *family().kernel;
  const bool grouped = family().quantum[d] > 1 || (k.lanes_reduce && d == family().lane);
  return !grouped ? 1 : k.lanes_reduce ? k.lanes * k.group : k.group;
}

// The reduction loop over extents e (all of them for parallel dims within the quantum); windows
// that overlap may be apart in a copy.
Space::Work Space::leaf_work(const Extents& tile_extents, Rounding loads, bool apart) const {
  const Extents e = run_extents(family(), tile_extents);
  const Computation& c = computation();
  const Kernel& k = *family().kernel;
  const int lane = family().lane;
  const bool vector = k.lanes > 1 && !k.lanes_reduce;
  if (k.moves) return least_move(e);
  i64 tile = 1, steps = 1;
  for (int d = 0; d < dims(); ++d) {
    if (c.dims[d].reduction) {
      steps *= ceil_div(e[d], reduction_step(d));
    } else {
      tile *= vector && d == lane ? ceil_div(e[d], k.lanes) : e[d];
    }
  }
  Work w;
  w.add(k.uops, tile * steps);
  w.add(mapped_, c.reduces() ? tile * steps : tile);
  for (int o = 0; o < c.inputs(); ++o) {
    const Access& a = *family().loads[o];
    const i64 registers = loaded(e, o, apart, loads);
    w.add(a.uops, loads == Rounding::kUp ? ceil_div(registers, a.regs) : registers / a.regs);
  }
  if (c.reduces()) w.chain = steps * k.latency * 1125 / accumulator_sets(family(), c);
  w.alu += steps;  // loop control
  return w;
}

Space::Work Space::least_leaf_work(const Extents& tile) const {
  Work w = leaf_work(tile, Rounding::kDown);
  if (fours_ >= 0) load_in_fours(tile, Rounding::kDown, w);
  return w;
}

// Loading, zeroing, finishing and storing the register tile as if its vectors were whole; how many
// these are.
i64 Space::add_whole_edges(const Spec& s, Work& w, Rounding folds) const {
  const Extents e = run_extents(family(), s.extent);
  const Computation& c = computation();
  const Kernel& k = *family().kernel;
  const bool vector = k.lanes > 1 && !k.lanes_reduce;
  if (k.moves) return 0;
  i64 tile = 1;
  for (int d = 0; d < dims(); ++d)
    if (!c.dims[d].reduction) tile *= vector && d == family().lane ? ceil_div(e[d], k.lanes) : e[d];
  w.add(body_extras_, tile);
  if (k.lanes_reduce) {
    add_folds(s, tile, folds, w);
    return tile;
  }
  add_stores(s, tile, finished_, w);
  if (c.reduces()) w.alu += tile * (accumulator_sets(family(), c) - 1);
  return tile;
}

// So many stores, of whole vectors or of elements, and what comes before each.
void Space::add_stores(const Spec& s, i64 times, const Uops& finished, Work& w) const {
  const bool packed = s.place[computation().inputs()].packed;
  w.add(store_access(family(), packed)->uops, times);
  if (!packed) w.add(finished, times);
  if (!s.accumulate || family().reload == nullptr) return;
  w.add(family().reload->uops, times);
  w.alu += times;
}

// Of an output that is not packed: vectors whose elements do not lie side by side there are stored
// one by one.
void Space::add_apart(i64 vectors, Work& w) const {
  const Kernel& k = *family().kernel;
  if (k.lanes == 1 || k.lanes_reduce || k.moves || stores_adjacent_) return;
  w.store += vectors * k.lanes;
  w.load += vectors * k.lanes;
}

void Space::add_edges(const Spec& s, Work& w) const {
  const Kernel& k = *family().kernel;
  const i64 tile = add_whole_edges(s, w, Rounding::kUp);
  if (k.lanes == 1 || k.lanes_reduce) return;
  const int out = computation().inputs();
  const Access& store = *store_access(family(), s.place[out].packed);
  const int lane = family().lane;
  const i64 along = run_extents(family(), s.extent)[lane];
  const bool partial = elastic(lane) || along % k.lanes != 0;
  const bool adjacent = s.place[out].packed || stores_adjacent_;
  const i64 rows = tile / ceil_div(along, k.lanes);
  const i64 odd = partial ? rows : 0;
  const auto move = [&](const Access& a) {
    if (!adjacent) return add_apart(tile, w);
    if (!a.partial.empty()) return w.add_masked(a, odd);
    w.store += odd * k.lanes;
    w.load += odd * k.lanes;
  };
  move(store);
  if (s.accumulate && family().reload) move(*family().reload);
  w.add(Uops{.alu = 1, .shuffle = 1, .load = 1, .store = 1}, spread_rows_ * tile);
  if (repeated_rows_ == 0) return;
  const i64 repeated = std::min(along, joined_period(family(), computation()));
  w.alu += repeated_rows_ * repeated * kStagedUopsPerLane;
}

// Whether a leaf reads windows in so many rows of those places in a page where rows of its output
// begin, too, that L1 has lost what it asked for when it stores. (Leaves of products last longer:
// not to ask took 1.005 to 1.01 of the time of 2048^3, bf16 512x2048x2048, u8 x i8 of 1024^3.)
bool Space::crowds_output(const Spec& leaf) const {
  const auto in_one_place = [&](int o) {
    const Place& place = leaf.place[o];
    const Region r = place.packed || place.level <= kL1 ? Region() : rows_of(leaf, o, -1, 0);
    return r.row_stride < r.line_bytes ? 0 : ceil_div(r.rows, r.places());
  };
  i64 windows = 0;
  for (int o = 0; o < computation().inputs(); ++o)
    if (has_windows(o)) windows += in_one_place(o);
  return windows > 0 && windows + in_one_place(computation().inputs()) > ways();
}

// What it costs to store the output, beyond the instructions: its lines are read before they are
// stored to, and what accumulates brings them once more, to be written back; so is a result that
// leaves the caches. Stores past the caches read nothing.
Cost Space::stored(const Spec& s, const Call& call) const {
  const int out = computation().inputs();
  const Region r = region(s, out);
  const Level to = s.place[out].level;
  const bool asks = call.ahead_operand == out;
  if (call.streaming) return lines_of(r, streamed_millicycles());
  Cost t = asks ? lines_of(r, line_millicycles(to, Coming::kPrefetched)) : stored_to(r, to);
  if (asks && crowds_output(s))
    t = t + r.lines * Cost::milli(machine().levels[kL2].latency_millicycles * kLostPercent / 100);
  if (s.accumulate) return t + transfer(r, to);
  const bool there = problem_.part.in_place && !keeps_sums(s);
  if (there && to <= kL3) return Cost();  // which they are, to be read
  if (to < kL3) return t;
  if (!asks) t = Cost::milli(static_cast<i64>(t.value()) * kUnaskedPercent / 100);
  if (!output_leaves_) return t;
  const i64 written = machine().written_line_millicycles;
  const i64 back = written > 0 ? written : line_millicycles(kMemory, Coming::kAsked);
  return t + lines_of(r, problem_.part.read_again ? back * kReadAgainPercent / 100 : back);
}

// What is seen of stores of sums that nobody has asked for lines for.
Cost Space::waits_to_store(const Spec& s, Cost compute) const {
  const int out = computation().inputs();
  if (s.place[out].level < kL3 || !asks_for_output(s)) return Cost();
  const i64 latency = machine().levels[s.place[out].level].latency_millicycles;
  const Region r = region(s, out);
  if (r.rows == 1 || compute < Cost::milli(latency)) return Cost();
  return r.rows * Cost::milli(latency * kUnaskedRowPercent / 100);
}

Space::Traffic& Space::Traffic::operator+=(const Traffic& t) {
  all = all + t.all;
  hidden = hidden + t.hidden;
  beside = beside + t.beside;
  stalled = stalled + t.stalled;
  eased = eased + t.eased;
  begun = begun + t.begun;
  return *this;
}

Space::Traffic Space::brought(const Spec& s, int operand, const Call& call, const Work& w) const {
  const Region r = region(s, operand);
  const Level from = s.place[operand].level;
  const Cost crowded = crowded_out(s, operand, r);
  // No prefetcher brings these in time, so that they do not count as what comes from L2 does. (Zen
  // 4, 14 rows of 4 KiB: 1024^3 by AVX-512, transfer_cost.cc.)
  const Cost again =
      crowded + lines_again(s, operand) * Cost::milli(line_millicycles(kL2, Coming::kAsked));
  const bool asked = operand == problem_.part.asked || asks_for_next_rows(s, call);
  if (operand == call.ahead_operand && (asked || stream_bytes(s, operand, r) > call.ahead_bytes)) {
    const Prefetched t = prefetched(s, operand, r, call);
    const Cost beside = t.hidden.value() > 0 ? t.cost : Cost();
    return {t.cost + again, t.hidden, beside, Cost(), Cost(), Cost()};
  }
  const bool streams = comes_by_itself(s, operand, r, lines_in_flight(r, w));
  const Cost t = streams ? streamed_in(s, operand, r) : transfer_by_leaves(s, operand, r);
  // Rows that lie one behind the other run on into each other.
  const bool apart = streams && r.rows > 1 && begins_rows(s, operand, r);
  const Cost anew = streams ? Cost() : leaf_begins(s, operand, r, w);
  const Cost begun = apart ? row_begins(s, operand) : std::max(anew, crowded) - crowded;
  const Cost stalled = follows_pieces(s, operand, r) ? Cost() : stall(r, from, w);
  if (!streams && nobody_brings(s, operand, r))
    return {again, Cost(), Cost(), stalled, Cost(), begun + t + piece_starts(s, operand)};
  const Cost near = from == kL2 ? t + crowded : streams ? t : Cost();
  return {moved(s, operand, t) + again, Cost(), Cost(), stalled, eased(from, near), begun};
}

Cost Space::streamed_in(const Spec& s, int operand, const Region& r) const {
  const Level from = s.place[operand].level;
  if (!begins_rows(s, operand, r)) {
    const i64 streams = follows_pieces(s, operand, r) ? r.rows : streams_worth(s, operand, r);
    return lines_of(r, line_millicycles(from, Coming::kStreamed, streams));
  }
  const i64 rows = rows_are_streams() ? rows_side_by_side(s, operand) : 1;
  const i64 line = line_millicycles(from, Coming::kStreamed, rows);
  const Cost begins = r.rows == 1 ? row_begins(s, operand) : Cost();
  return lines_of(r, std::max(machine().levels[from].rows_millicycles, line)) + begins;
}

// Whether what comes by itself are rows each of which begins anew.
bool Space::begins_rows(const Spec& s, int operand, const Region& r) const {
  return !follows_pieces(s, operand, r) && streams_that_go_on(s, operand) == 1 &&
         follows_rows(s, operand, r);
}

// Where rows begin that lie apart nobody follows them yet, and arithmetic, which needs all of them
// at once, has nothing to do. (Zen 4, f32 by AVX2, leaves of 6 x 16 that sum 256 elements of six
// rows in L3, b in L1: 1024^3 22.0 ms, a copied to L2 384 rows at a time 20.1; rows of 4160 bytes
// 21.6 and 20.1: about 28 cycles a row, half of the latency. Of whole rows of 1 KiB it hides that:
// 8192x256x128 by two threads 2.5 ms, with b in L2 and rows read once 2.7.)
Cost Space::row_begins(const Spec& s, int operand) const {
  const Level from = s.place[operand].level;
  const i64 percent = from == kMemory ? kFarRowStartPercent : kRowStartPercent;
  return rows_side_by_side(s, operand) *
         Cost::milli(machine().levels[from].latency_millicycles * percent / 100);
}

// Where rows along the reduction begin that lie apart, nobody has brought them, and how much of
// that is hidden by the end of the leaf before depends on how much of both a core looks at at once.
// (Zen 5, f32, 210 waiting, leaves of eight steps, cycles each beyond what its lines take in leaves
// of 64. AVX-512, 2 x 192, 3 x 128 and 4 x 96: from L3 29 to 36, from memory 150 to 290; 1 x 192:
// 16 and 86. AVX2, half as many multiply-adds, 1 x 96 and 2 x 48: from L3 4 and 10, from memory 95
// and 36.) Rows that crowd one another out wait for that meanwhile.
Cost Space::leaf_begins(const Spec& s, int operand, const Region& r, const Work& w) const {
  const Level from = s.place[operand].level;
  if (s.place[operand].packed || from < kL3 || blocked_[operand] || has_windows(operand))
    return Cost();
  if (!r.apart_along_reduction()) return Cost();
  const i64 waiting = std::min<i64>(w.vector(), machine().scheduler);
  const i64 square = i64{machine().scheduler} * machine().scheduler;
  return Cost::milli(machine().levels[from].leaf_start_millicycles * waiting * waiting / square);
}

Cost Space::leaf(const Spec& s, const Call& call) const {
  const Computation& c = computation();
  const std::optional<Overlap>& overlap = family().overlap;
  const bool apart = overlap && s.place[overlap->input].packed;
  Work w = leaf_work(s.extent, Rounding::kUp, apart);
  const bool stream = call.ahead_operand >= 0 && call.ahead_operand < c.inputs();
  if (fours_ >= 0 && !stream && !s.place[fours_].packed) load_in_fours(s.extent, Rounding::kUp, w);
  if (family().kernel->moves) w.chain = std::max(w.chain, moved_millicycles(s.extent));
  add_partial_loads(s, w);
  add_loads_of_two_lines(s, w);
  for (int o = 0; o < c.inputs(); ++o) w.load += asking_loads(s, o, call);
  Work edges;
  add_edges(s, edges);
  const bool asks = call.ahead_operand == c.inputs();
  const i64 asking = asks ? region(s, c.inputs()).lines * kAskMilli : 0;
  const i64 repeating = repeated_rows_ > 0 ? kRepeatedMilli : 0;
  const Cost compute =
      Cost::milli(leaf_millicycles(w, edges, Rounding::kUp) + asking + kCallMilli + repeating);
  const bool reads_extras = operands_of(c.body, Fn::kExtra) > 0 || !s.place[c.inputs()].packed;
  Traffic t;
  if (reads_extras) t.all = extras(s.extent);
  for (int o = 0; o < c.inputs(); ++o) t += brought(s, o, call, w);
  Cost& beside = t.beside.value() > 0 ? t.beside : t.all;
  beside = beside + beside_memory(s, compute);
  const Cost out = moved(s, c.inputs(), stored(s, call));
  t.all = t.all + out;
  // Stores that wait do so while the next leaf computes.
  const Level to = s.place[c.inputs()].level;
  if (machine().levels[to].stored_millicycles > 0) t.eased = t.eased + eased(to, out);
  if (!asks && !call.streaming) t.begun = t.begun + waits_to_store(s, compute);
  if (family().kernel->moves) t.begun = t.begun + moved_apart(s);
  const Cost asked =
      overlapped(compute, t.all - t.hidden) - hidden_beyond(compute, t.eased) + t.begun;
  const auto percent = [](Cost c, i64 n) {
    return Cost::milli(static_cast<i64>(c.value()) * n / 100);
  };
  Cost crowd = percent(std::min(asked, t.hidden), shown_percent(s, call));
  if (stream && call.ahead_operand == problem_.part.asked && to == kMemory)
    crowd = crowd + percent(std::min(out, t.hidden), kBesideStoresPercent);
  return std::max(std::max(asked, t.beside) + crowd, t.stalled);
}

i64 Space::lines_in_flight(const Region& r, const Work& w) const {
  return r.lines * machine().scheduler / std::max<i64>(1, w.vector());
}

// What a core waits for rows that it has to ask for itself. Hardware prefetchers follow a stream
// within a page; rows that follow each other along the reduction and lie farther apart start one
// after the other, and how far ahead of its arithmetic a core asks for them is bound by how many
// vector instructions may wait for operands. (G: 6 x 16 f32 with rows of one line, 3 KiB apart in
// L3: 17 cycles a line; 4 x 16, 12.3; 2 x 48, 8.7, its bandwidth; packed 9.5, 8.5, 8.5. All as
// 97 waiting and 42 ns say.) What lies along other dims is asked for at once.
Cost Space::stall(const Region& r, Level from, const Work& w) const {
  if (from <= kL1 || !r.apart_along_reduction()) return Cost();
  const i64 waiting = std::max<i64>(1, w.vector());
  // Rows in flight, in thousandths, one at least.
  const i64 inflight =
      std::max(i64{1000}, r.along_reduction * machine().scheduler * 1000 / waiting);
  const i64 latency = machine().levels[from].latency_millicycles;
  return Cost::milli(r.along_reduction * latency * 10 * kStallPercent / inflight);
}

// Of two things that a core does at once, what that saves.
Cost Space::overlap(Cost a, Cost b) {
  return Cost::milli(static_cast<i64>(std::min(a, b).value()) * kOverlapPercent / 100);
}

// Arithmetic and transfers at once: the longer of the two, and a part of the shorter that does not
// overlap. What is prefetched from memory overlaps with both: of the programs for a 64 MiB matrix-
// vector product those with half the arithmetic take the same time, and so do those that read the
// vector from L2.
Cost Space::overlapped(Cost compute, Cost traffic) {
  const Cost less = std::min(compute, traffic);
  return std::max(compute, traffic) + (less - overlap(less, less));
}

// What a leaf does of it.
Spec Space::leaf_of(const Spec& s) const {
  Spec leaf = s;
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction)
      leaf.extent[d] = std::min(s.extent[d], family().quantum[d]);
  return leaf;
}

// Where the output begins anew, its lines are there when a leaf that asked for them has summed;
// what is seen of their latency is what the leaf does not last. (Zen 4, f32 2048^3 by AVX2, sums in
// parts of 256, leaves of 6 rows of 16 MiB one below the other: 155 ms for 164 along rows in parts
// of 512; with all latencies it looked 5 % dearer.)
i64 Space::output_seen_percent(const Spec& s) const {
  if (s.place[computation().inputs()].level < kL3 || !asks_for_output(s)) return 100;
  const i64 latency = machine().levels[s.place[computation().inputs()].level].latency_millicycles;
  return 100 * std::max<i64>(0, latency - work_millicycles(leaf_work(leaf_of(s).extent))) / latency;
}

// What of the lines that come from L2, or from L3 as a stream, overlaps with arithmetic beyond what
// overlapped() says.
i64 Space::beyond_percent(Level from) const {
  const int bits = kLaneBits * family().kernel->lanes;
  return std::max<i64>(0, machine().overlap_percent(from, bits) - kOverlapPercent);
}

// No more than the larger share of the arithmetic, whatever comes: one line more never makes a leaf
// cheaper (README.md).
Cost Space::hidden_beyond(Cost compute, Cost eased) const {
  const i64 most = std::max(beyond_percent(kL2), beyond_percent(kL3));
  return Cost::milli(static_cast<i64>(std::min(most * compute, eased).value()) / 100);
}

Cost Space::extras(const Extents& e) const {
  const Computation& c = computation();
  const Level from = problem_.home(kMaxOperands);
  if (from <= kL1) return Cost();
  const i64 line = machine().levels[kL1].line;
  i64 lines = 0;
  for (size_t i = 0; i < c.extras.size(); ++i) {
    if (!full_extra_[i]) continue;
    i64 elements = 1, run = 1;
    for (int d = 0; d < dims(); ++d) {
      if (c.dims[d].reduction) continue;
      elements *= e[d];
      if (d == extra_run_[i]) run = e[d];
    }
    lines += elements / run * ceil_div(run * bytes(c.extras[i].dtype), line);
  }
  return lines * Cost::milli(line_millicycles(from, Coming::kAsked));
}

// The instructions that compute, at the rate of the core: no leaf of the family takes less.
Cost Space::arithmetic(const Spec& s) const {
  const Kernel& k = *family().kernel;
  const Pipes& p = pipes();
  i64 volume = 1;
  for (int d = 0; d < dims(); ++d) volume *= s.extent[d];
  Uops u = k.uops;
  if (computation().reduces()) u += mapped_;
  const i64 vector = u.fma + u.bf16 + u.alu;
  const i64 each = std::max(
      {millicycles(u.fma, p.fma), millicycles(u.bf16, p.bf16), millicycles(vector, p.vector)});
  return volume / (k.lanes * k.group) * Cost::milli(each);
}

}  // namespace morello
