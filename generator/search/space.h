// Space: what one family's programs are made of and what they cost, on one machine. Rewrites ask it
// for tile sizes and for the cost terms; the search asks it for the key of a Spec.
//
// Cost terms. Measured on Zen 5 (Z) and on Granite Rapids (G, bench_model: 17 kernels, 30 programs
// each; tau is the mean of Kendall's tau over them):
// - Lines, not bytes, move. Bringing a line in from level l costs machine.levels[l], whatever the
//   nearer level it goes to: stages overlap.
// - A leaf overlaps its own transfers with arithmetic, not perfectly: max + 0.2 * min. With a pure
//   maximum, streaming from L2 or L3 is free and no program blocks the reduction. (G: 0.1 to 0.4
//   are within 0.004 of tau.)
// - Bringing an operand nearer overlaps with the arithmetic of those who use it first, if
// prefetchers
//   can follow it (G: tau of f32 16x2048x512 0.72 to 0.75 without, 0.74 to 0.79 with it; of the
//   other kernels as before).
// - The first line of a stream costs 10 % of its latency: calls overlap. (G: with half of it, short
//   streams looked up to 4 times as dear as they are, and copying them first looked cheap; 5 to 15
//   % are within 0.003 of tau.) Loops pay it, for operands that do not go on where the last step
//   ended (G: 1 MiB added up in leaves of 64 elements, one after the other: as fast as in larger
//   blocks).
// - Starting a copy costs 4 cycles: mostly it is part of the loop around it (G: tau 0.787 with 8,
//   0.795 with 4, 0.793 with none).
// - Rows that lie in more than 64 pages cost 4 cycles a page (TLB). (G: 16 columns of 512 rows that
//   are 2 KiB apart, 617 us; in parts of 128 rows 473.) Short rows cost nothing by themselves (G:
//   rows of 4 lines 4 KiB apart come from L3 at the full rate).
// - Rows that begin in few places of a page share few sets of L1 and L2: their footprint counts as
//   often as the page is larger than what they cover. Without this unpacked operands look as good
//   as packed ones (Z: predicted 0.63 against 0.83 of peak, measured 84 against 124 Gflop/s).
// - Multiply-adds and other vector work share pipes. (G: widening bf16 in the inner loop takes 10.1
//   cycles where the multiply-adds alone need 6; predicted 6.4, now 9.3.)
// - Tiles with few accumulators more than latency asks for wait as well (leaf_cost.cc).
// - Accumulator latency counts an eighth more than the manual says: with exactly 4 cycles a 4x16
//   tile ties with 6x16, measured 111 against 124 Gflop/s (Z).
// - Only a part of L1 and L2 is promised to operands: streams need room too.
#pragma once

#include <optional>
#include <vector>

#include "impl/clip.h"
#include "impl/folding.h"
#include "search/coordinates.h"
#include "search/cost.h"
#include "search/limits.h"
#include "search/pruning.h"

namespace morello {

// The part of an operand that a Spec reads or writes, as memory sees it.
struct Region {
  i64 rows = 1;             // contiguous pieces
  i64 along_reduction = 1;  // of them, those that a leaf reaches one after the other
  i64 row_bytes = 0;
  i64 row_stride = 0;  // bytes between neighbouring rows; 0 if there is one row
  i64 starts = 0;      // places(), where rows lie in several dims; 0: one
  i64 lines = 0;
  i64 footprint(Level l) const;  // bytes of cache it occupies there
  i64 pages() const;             // about as many that rows begin in
  i64 places() const;            // lines of a page that rows begin in
  // Whether a leaf reaches rows one after the other that lie apart.
  bool apart_along_reduction() const { return along_reduction > 1 && row_stride >= line_bytes; }
  int line_bytes = 64;
};

// What it costs a thread that the end of a stream of another's, along memory that both write to,
// has brought lines from its own caches to the other's: they have to come back before it can write.
Cost border(const Machine& machine);

// A way to divide a dim: into `count` shares, and what is left of the threads for each.
struct Share {
  i64 count = 1;
  int leaving = 1;
};

// Of a reduction of this extent: it is not split into less at a time.
i64 least_part_of_sum(i64 extent);

class Space {
 public:
  // What copies of operands are like, for Spaces of one instruction set that have one Computation,
  // or parts of it: many families copy an operand into the same order, and to find out what that is
  // like takes as long as the rest of a Space.
  class Copies;
  explicit Space(const Problem& problem, const Pruning& pruning = {}, Copies* known = nullptr);

  const Problem& problem() const { return problem_; }
  const Computation& computation() const { return *problem_.computation; }
  const Family& family() const { return problem_.family; }
  const Machine& machine() const { return *problem_.machine; }
  int dims() const { return static_cast<int>(computation().dims.size()); }
  int operands() const { return static_cast<int>(computation().operands.size()); }

  // Tile sizes of a dim, ascending: quantum * 2^a (for a reduction from a floor on; powers of 4 or
  // more where sizes leave many remainders), also in multiples of the blocks of a given layout; for
  // a dim that every operand shares, where tiling gains nothing but order, only a few.
  const std::vector<i64>& tiles(int dim) const { return tiles_[dim]; }
  // A tile below the quantum that divides a dim into as many leaves as the quantum does, evenly; 0:
  // none. 8 rows are 4 and 4 then, not 6 and 2: leaves with few rows wait for their accumulators.
  i64 even_tile(const Spec& s, int dim) const;
  // Ways to divide a dim of a Spec among its threads: all at once first, then by divisors.
  std::vector<Share> shares(const Spec& s) const;
  // What one of n equal shares of so much of a dim has, in whole quanta.
  i64 share_tile(int dim, i64 extent, i64 n) const;
  // Whether n threads may sum parts of this reduction: each has to have a part, and all their
  // copies of the output together are to be a quarter of the inputs at most.
  bool divides_reduction(int dim, i64 n) const;
  // Whether there is a reduction that programs may split.
  bool splits_sums() const;
  // Whether a loop over dim may step by tile without cutting a block of some operand's layout.
  bool steps_whole_blocks(const Spec& s, int dim, i64 tile) const;
  // What caches may hold, per level; absent levels have none. Divided among threads that share.
  Limits capacity() const;
  Key key(const Spec& s) const { return coordinates_.key(s); }
  // All that the answers of this Space depend on, but for the root's extents.
  std::string signature() const { return coordinates_.signature(problem_); }
  // Or, of Specs that keep sums in a copy, what theirs depend on, if that is less; else empty.
  std::string signature_of_sums() const { return coordinates_.signature_of_sums(problem_); }
  bool keeps_sums(const Spec& s) const {
    return copies_output_ && s.place[computation().inputs()].packed;
  }

  Region region(const Spec& s, int operand) const;
  // Bringing a region from a level to any nearer one (or back).
  Cost transfer(const Region& r, Level from) const;
  bool reads_lone_lines(const Spec& s, int operand) const;
  i64 asked_line(int operand, Level from) const;
  Cost transfer_by_leaves(const Spec& s, int operand, const Region& r) const;
  // Bringing an operand to any nearer level, for those that use it there.
  Cost view(const Spec& s, int operand) const;
  Cost leaf(const Spec& s, const Call& call) const;
  Cost fill(const Spec& s) const;
  // Copying an operand into (or out of) its packed buffer at a level.
  Cost copy(const Spec& s, int operand, Level to) const;
  // The same of an input whose lines were asked for ahead, while those of the next are.
  Cost asked_copy(const Spec& s, int operand, Level to) const;
  // The same of what is read where it lies, a part of each row, and leaves ask for.
  Cost asked_view(const Spec& s, int operand) const;
  // What that costs besides where steps of a loop come to other rows.
  Cost asked_rows(const Spec& s, int operand, int dim, i64 tile) const;
  // Starting and ending a parallel region.
  Cost region_start() const { return Cost::milli(machine().parallel_millicycles); }
  // What it costs a thread that rows of the output end in its share where another's goes on.
  Cost borders(const Spec& s, const Spec& share) const;
  // Adding up what the shares of a parallel reduction have summed.
  Cost add_shares(const Spec& s, const Loop& loop) const;
  // Bringing in what is read beside the output: each element once, from where it lies at the root.
  // What is the same for several elements of the output is near after the first.
  Cost extras(const Extents& e) const;
  // No program of this family can be cheaper; with threads, none that uses them.
  Cost lower_bound() const;

  // The cache that what a leaf asks for so far ahead is prefetched to: L1 or L2.
  Level prefetched_to(const Spec& s, int operand, i64 distance) const;
  // From rows, or pieces of rows, that a leaf reads side by side to those of the next leaf, in
  // bytes; 0 where nobody asks so far ahead.
  i64 to_next_rows(const Spec& s, int operand) const;
  // Whether the leaf can do all of this Spec.
  bool leaf_covers(const Spec& s) const;
  // A tile of a reduction that is for the sake of what leaves of other outputs read next; 0: none.
  i64 piece_of_sum(int dim) const { return pieces_[dim]; }
  // How often the leaves of s read (or write) each part of an operand, once at least.
  i64 uses(const Spec& s, int operand) const;
  // Of these, those that follow a first use of all of it; windows that share a part do not.
  i64 rounds(const Spec& s, int operand) const;
  i64 used_at_once(int dim, i64 extent) const;  // of a dim that an operand lacks, by one of these
  // What cuts dims for windows, in the order in which they are cut. Until all are, a Spec that is
  // not divided among threads any more is divided along dims of what the windows read, and that
  // may come near; nothing else. (With all loops, views and copies searches took up to 15 times as
  // long.)
  const std::vector<Clipped>& clips() const { return clips_; }
  bool may_view(const Spec& s, int operand) const {
    return operand != problem_.part.asked && (s.uncut == 0 || operand == clips_.front().operand);
  }
  // Whether calls of the program say how much of a dim there is (Part::elastic).
  bool elastic(int dim) const { return problem_.part.is_elastic(dim); }
  bool elastic_output() const;  // along some dim of the output
  // Whether a loop may divide a dim.
  bool divides(const Spec& s, int dim) const;
  // Neither to be cut nor the window of such a dim: threads may divide it.
  bool may_be_shared(const Spec& s, int dim) const {
    return !elastic(dim) && (s.uncut == 0 || !(uncut_dims(clips_, s.uncut) >> dim & 1));
  }
  // Whether no segment would begin within a block of an operand as it lies.
  bool cuts_whole_blocks(const Spec& s, const Clipped& x) const;
  // Whether they do so with some of it twice, so that bringing it nearer can pay.
  bool reused(const Spec& s, int operand) const;
  bool has_windows(int operand) const;
  // Whether some part of the root might. (Of windows ragged leaves can read more of a part.)
  bool may_be_reused(int operand) const;
  // Whether the output can take part in an accumulation where it lies now.
  bool accumulates(const Spec& s) const;
  // Whether an operand that is not packed may be copied into packed form.
  bool packs(int operand) const { return packs_[operand]; }
  // Bytes of an operand that a leaf reads one after the other: one row, or rows that follow each
  // other at a stride known at run time only, where what is ahead lies a number of rows ahead. As
  // good as endless where these are whole rows, behind which the next ones begin. 0 for other rows
  // apart.
  i64 stream_bytes(const Spec& s, int operand, const Region& r) const;
  // Whether a part of an operand that is not packed is whole rows (coordinates.h).
  bool reads_whole_rows(const Spec& s, int operand) const;
  // How many rows a leaf reads at once, along the reduction.
  i64 rows_side_by_side(const Spec& s, int operand) const;
  // How much faster than one the family's streams bring, once, what they read where they go on.
  Cost saved_by_streams() const;
  // Streams in which leaves read an operand that run on from one leaf to the next: of panels or,
  // where an operand lies as the user put it, of whole rows that are far apart.
  i64 streams_that_go_on(const Spec& s, int operand) const;
  // What they are as fast as, of rows of a leaf's region.
  i64 streams_worth(const Spec& s, int operand, const Region& r) const;
  // Whether a copy of an input might ask for what the next one copies.
  bool copies_ask(const Spec& s, int operand) const;
  // Whether leaves that read one where it lies might, for those of the next step of a loop.
  bool views_ask(const Spec& s, int operand) const;
  // ... such a part: two leaves or more share in asking, and it is not too far ahead.
  bool views_ask_for(const Spec& part, int operand) const {
    return least_leaves(part.extent) > 1 && worth_asking(region(part, operand)) &&
           (!part.place[operand].packed || is_panel(part, operand));
  }
  // The dim along which its rows are; -1: none.
  int dim_along_rows(const Spec& s, int operand) const;
  // Leaves do it for them, of which there are two or more then.
  bool leaves_ask(const Spec& s, int operand) const;
  bool touched(int operand, int dim) const { return touches_[operand][dim]; }
  // The operand whose stream a leaf might prefetch, or -1.
  int prefetchable(const Spec& s) const;
  // Whether a leaf might ask for the lines of its output before it computes.
  bool asks_for_output(const Spec& s) const;
  bool crowds_output(const Spec& leaf) const;
  // Whether it might store past the caches.
  bool streams(const Spec& s) const;

 private:
  friend class Steps;
  struct Work;  // of one leaf, in uops
  // Up: what a leaf of these extents takes. Down, for bounds: what each of several that share all
  // there is evenly takes, so that no others take less together: of loads that fill several
  // registers as many as are full (7 and 7 rows by twos take 4 loads each, 6 and 8 seven together),
  // and edges as if a core always hid them.
  enum class Rounding { kUp, kDown };
  // All but the lines of an unpacked operand's region, with one dim no longer than a tile.
  Region rows_of(const Spec& s, int operand, int dim, i64 tile) const;
  bool runs_on(const Spec& s, int operand, int dim) const;  // of a packed operand
  // By a step of a loop, in millicycles.
  i64 asked_in_vain(const Spec& s, int operand, int dim, i64 tile) const;
  bool rows_run_on(const Spec& s, int operand, int dim) const;
  i64 begin(Level from, i64 rows) const;  // a stream of so many rows, in millicycles
  i64 begin_again(const Spec& s, int operand, const Region& r) const;  // those of an operand
  i64 output_seen_percent(const Spec& s) const;
  Cost stall(const Region& r, Level from, const Work& w) const;
  i64 lines_in_flight(const Region& r, const Work& w) const;
  // Those that a leaf has to bring back to L1, time and again.
  i64 lines_again(const Spec& s, int operand) const;
  Cost crowded_out(const Spec& s, int operand, const Region& r) const;
  struct Windows {  // elements along the axes of windows
    i64 read = 1;   // by all leaves
    i64 there = 1;
  };
  Windows windows_of(const Spec& s, int operand) const;
  struct Leaves {  // so many, of so much of a dim
    i64 extent, count;
  };
  std::vector<Leaves> even_leaves(const Spec& s, int d) const;
  // The Spec with every dim that is still to be cut as its largest segment: its windows read all
  // there is of an operand with zeros around it, or nearly, and nobody brings the zeros.
  Spec inside(Spec s) const;
  bool reads_zeros(const Spec& s, int operand) const {
    return s.uncut != 0 && !computation().operands[operand].zeros.empty();
  }
  // Of lower_bound().
  i64 unit(int dim) const;
  i64 short_of_units(const Spec& s, int dim) const;
  struct Ends;
  std::vector<Ends> least_ends(const Spec& root, const Extents& tile, const Work& w,
                               Rounding rounding) const;
  Cost least_written(const Spec& root, const Extents& tile) const;
  Cost least_loop() const;
  Cost least_compute(const Spec& s) const;
  int percent_of_streams() const;
  i64 least_line(const Place& place, int streamed, int asked) const;
  struct Percent;
  Percent least_percent(const Place& place, int operand) const;
  i64 least_row_line(Level from, int operand, i64 rows, i64 stream, i64 asked) const;
  i64 least_next_line(Level from) const;
  i64 least_next_rows(const Place& place, const Extents& tile, int operand) const;
  i64 bytes_of_whole_row(int operand) const;
  bool must_copy(const Spec& root, int operand) const;
  struct Mover;
  int dim_of_rows(const Spec& root, int operand) const;  // if no sum is along them
  template <class F>
  i64 most_steps(Spec narrow, int operand, F holds) const;
  i64 most_steps_asked(const Spec& narrow, int operand) const;
  i64 most_steps_copied(const Spec& narrow, int operand, bool asked) const;
  std::vector<std::pair<Spec, Spec>> parts_of_rows(const Spec& root, int operand) const;
  Cost starts_of_rows(const Spec& root, const Spec& wide, int operand) const;
  void add_copies(const Spec& root, const Spec& narrow, const Spec& wide, int operand,
                  std::vector<Mover>& out) const;
  Cost least_far_copy(const Spec& root, int operand) const;
  std::vector<Mover> least_copies(const Spec& root, int operand) const;
  std::vector<Mover> least_views(const Spec& root, int operand) const;
  std::vector<Mover> movers(const Spec& root, int operand) const;
  Cost least_copy(const Spec& root, int operand) const;
  std::optional<i64> least_asked_line(const Spec& root, int operand) const;
  Cost least_asked(const Spec& root, int operand, i64 lines, i64 each) const;
  Cost least_view(const Spec& root, int operand) const;
  struct Reread;
  struct Held;
  struct Way;
  struct Portion;
  struct Pieces;
  struct GivenLine;
  void add_lines(const Place& place, Reread& r) const;
  std::vector<Reread> reread(const Spec& root) const;
  std::vector<GivenLine> given_lines(const Spec& least, const Reread& r) const;
  void add_from_home(const Spec& least, const Extents& tile, const Reread& r, i64 lines,
                     std::vector<Way>& out) const;
  std::vector<Way> ways(const Spec& root, const Extents& tile, const Reread& r) const;
  static std::vector<Way> combined(const std::vector<Way>& ways, const std::vector<Way>& more);
  int sum_of_one_dim(const Spec& root) const;
  Pieces rooms_of_pieces(const Spec& root, i64 room, i64 rooms) const;
  Portion portion_of(const Extents& tile, const Spec& root) const;
  static Cost least_moved(const Way& way, int operand, const Portion& column, i64 steps);
  Cost least_again(const Way& way, const Extents& extent, const Portion& column,
                   const Pieces& next) const;
  Cost least_with(Cost compute, const Way& way) const;
  Cost least_pieces(const Spec& root, const Extents& tile, Cost arithmetic, const Ends& ends,
                    const Way& way, Cost enough) const;
  Cost least_column(const Spec& root, const Extents& tile, const std::vector<Reread>& reread) const;
  Cost least_leaves(const Spec& root, const std::vector<Reread>& reread) const;
  Cost least_columns(const std::vector<Spec>& boxes) const;
  struct Compulsory;
  Compulsory compulsory(const Spec& whole) const;
  Cost arithmetic(const Spec& s) const;
  static Cost overlap(Cost a, Cost b);
  static Cost overlapped(Cost compute, Cost traffic);
  i64 beyond_percent(Level from) const;
  Cost eased(Level from, Cost t) const { return beyond_percent(from) * t; }  // in hundredths
  Cost hidden_beyond(Cost compute, Cost eased) const;
  bool asks_for_next_rows(const Spec& s, const Call& call) const;
  i64 shown_percent(const Spec& s, const Call& call) const;
  i64 least_shown_percent(bool next_rows) const;
  void describe_extras();
  void describe_folds(const AddressMap& output);
  void make_menus();
  bool packing_pays(int operand) const;
  std::vector<i64> first_tiles(int dim) const;
  i64 piece_tile(int dim) const;
  i64 rows_kept(int operand, int dim) const;
  // Of L1: how many lines that lie in one place of a page it keeps.
  i64 ways() const { return std::max<i64>(1, machine().levels[kL1].bytes / kPage); }
  i64 least_tile(int dim) const;
  i64 even_tile(int dim, i64 extent) const;
  void make_tiles(int dim);
  std::vector<i64> parts_to_divide(int dim) const;
  void make_extents(int dim);
  Region packed_region(const Extents& e, int operand) const;
  Region given_region(const Spec& s, int operand) const;
  Work leaf_work(const Extents& e, Rounding loads = Rounding::kUp, bool apart = false) const;
  i64 loaded(const Extents& e, int input, bool apart, Rounding loads) const;
  const Overlap* overlap_of(int input) const;
  i64 overlapping(const Extents& e, Rounding loads) const;
  void load_in_fours(const Extents& e, Rounding loads, Work& w) const;
  void add_loads_of_two_lines(const Spec& s, Work& w) const;
  Work least_leaf_work(const Extents& e) const;  // of any Spec with such a tile
  bool loads_all_the_time() const;
  void add_partial_loads(const Spec& s, Work& w) const;
  i64 reduction_step(int dim) const;
  i64 add_whole_edges(const Spec& s, Work& w, Rounding folds) const;
  void add_stores(const Spec& s, i64 times, const Uops& finished, Work& w) const;
  void add_folds(const Spec& s, i64 registers, Rounding rounding, Work& w) const;
  Work least_finish(i64 registers, i64 most) const;
  void add_edges(const Spec& s, Work& w) const;
  void add_apart(i64 vectors, Work& w) const;
  const Pipes& pipes() const;  // for the vectors of the family
  i64 divided(Work& w) const;
  i64 work_millicycles(const Work& w) const;
  i64 leaf_millicycles(const Work& w, const Work& edges, Rounding seen) const;
  // How lines come: as they are asked for, prefetched by the program, in one long stream, asked for
  // by the leaf before (whole rows, or rows and pieces of rows), asked for ahead of the copy that
  // reads them (by who asks at the lower price), without their neighbours, or in windows.
  enum class Coming {
    kAsked,
    kPrefetched,
    kStreamed,
    kNextRows,
    kNextPieces,
    kAskedAhead,
    kAlone,
    kWindows
  };
  i64 line_millicycles(Level l, Coming how, i64 streams = 1) const;
  i64 line_at(Level l, Coming how, int percent) const;
  static constexpr i64 kAskMilli = 500;  // the instruction that asks for a line
  i64 streamed_millicycles() const;      // a line
  i64 least_leaves(const Extents& extent) const;
  bool may_ask(const Spec& s, int operand) const;
  i64 asked_view_line(const Place& place) const;  // 0: nobody asks
  // Whether a part of what is packed is no wider than a leaf.
  bool is_panel(const Spec& part, int operand) const;
  // As far ahead as is worth it for a stream, twice.
  bool worth_asking(const Region& part) const {
    return part.rows * part.row_bytes <= 2 * machine().prefetch_bytes;
  }
  Cost lines_of(const Region& r, i64 millicycles) const;
  Cost stored(const Spec& s, const Call& call) const;
  Cost stored_to(const Region& r, Level to) const;
  Cost waits_to_store(const Spec& s, Cost compute) const;
  Cost leaf_begins(const Spec& s, int operand, const Region& r, const Work& w) const;
  bool prefetch_saves(Level from) const;
  // Whether what it reads comes at the rate of a stream, so many lines being asked for at once.
  bool comes_by_itself(const Spec& s, int operand, const Region& r, i64 in_flight) const;
  bool follows_rows(const Spec& s, int operand, const Region& r) const;
  // Whether prefetchers follow streams from there, as far as is known.
  bool follows_streams(Level from) const {
    return from >= kL3 && machine().levels[from].stream_millicycles > 0;
  }
  bool copies_are_streams(Level from) const {
    return follows_streams(from) && machine().levels[from].row_millicycles > 0;
  }
  // Of rows side by side, those that prefetchers follow: transfer_cost.cc.
  static constexpr i64 kRowsAtOnce = 8;
  bool pieces_are_streams(const Place& p) const;
  static i64 bytes_of_row(const Region& r, i64 rows);
  bool follows_pieces(const Spec& s, int operand, const Region& r) const;
  i64 least_stream(Level from) const;         // bytes of a row that is one
  i64 least_copied_stream(Level from) const;  // of one that a copy reads
  // Bringing that.
  bool rows_are_streams() const;
  int least_percent_of_rows(const Place& place) const;
  Cost streamed_in(const Spec& s, int operand, const Region& r) const;
  bool begins_rows(const Spec& s, int operand, const Region& r) const;
  Cost row_begins(const Spec& s, int operand) const;
  struct Ahead {        // what a leaf asks for ahead of time
    i64 lines = 0;      // that somebody reads later
    i64 in_vain = 0;    // that have been read
    i64 in_flight = 0;  // bytes read until a line is
  };
  Ahead asked_ahead(const Spec& s, int operand, const Region& r, i64 distance) const;
  struct Prefetched {
    Cost cost, hidden;  // all, and of it what overlaps with all else
  };
  Prefetched prefetched(const Spec& s, int operand, const Region& r, const Call& call) const;
  bool next_are_pieces(const Spec& s, int operand) const;
  Cost next_rows(const Spec& s, int operand, const Region& r) const;
  Cost piece_starts(const Spec& s, int operand) const;
  bool knows_pieces(const Place& p) const;
  bool nobody_brings(const Spec& s, int operand, const Region& r) const;
  bool first_use_waits(const Spec& s, int operand) const;
  struct Traffic {
    Cost all, hidden;  // as above
    Cost beside;       // of an operand of which some is hidden, all
    Cost stalled;      // what nothing overlaps with
    Cost eased;        // of all, a hundred times what arithmetic hides beyond overlapped()
    Cost begun;        // besides: rows, where they begin
    Traffic& operator+=(const Traffic& t);
  };
  i64 asking_loads(const Spec& s, int operand, const Call& call) const;
  Traffic brought(const Spec& s, int operand, const Call& call, const Work& w) const;
  i64 lines_not_kept(const Spec& s, int operand) const;
  Cost beside_memory(const Spec& s, Cost compute) const;
  // How a copy of an operand moves: vectors of adjacent elements, by rows of the ISA (out of one
  // run, or of several) or element by element.
  enum class CopyKind { kRuns, kShuffled, kTransposed, kElements };
  struct Copying {
    CopyKind kind = CopyKind::kElements;
    Extents least{};  // of each dim, with less of which it moves element by element
    // A dim of windows with which it does so but where a bit says that it need not: of so few.
    int window = -1;
    std::uint64_t fits = 0;
    // A dim of which rows of the ISA take so many elements at a time, and what is left over moves
    // element by element.
    int along = -1;
    i64 columns = 1;
  };
  static Copying within_rows(const AddressMap& given, Extents& e);
  Copying how_copied(int operand, const AddressMap& given, Extents e) const;
  bool fits_rows(int operand, const AddressMap& given, const Extents& e) const;
  void add_small(int operand, const AddressMap& given, Extents e, int dim, Copying& how) const;
  CopyKind copied_by(int operand, const Extents& e) const;
  Copying copying(int operand, const AddressMap& walked, Copies* known) const;
  Cost copy_work(int operand, const Extents& extent, const Region& packed) const;
  Cost copy_work(int operand, CopyKind kind, const Extents& extent, const Region& packed) const;
  Cost copy_work(int operand, CopyKind kind, i64 elements) const;
  Extents easily_copied(int operand, Extents e) const;
  Cost least_copy_work(int operand, const Extents& extent) const;  // in parts, too
  // Of leaves that are copies.
  Work least_move(const Extents& e) const;
  i64 moved_millicycles(const Extents& e) const;
  Cost moved_apart(const Spec& s) const;
  Cost moved(const Spec& s, int operand, Cost transfer) const;
  bool copies_stream(const Spec& s, int operand, const Region& r) const;
  Cost moved_by_copy(const Spec& s, int operand, Level to) const;
  Cost row_starts(const Spec& s, int operand, const Region& r) const;
  Spec leaf_of(const Spec& s) const;
  Region rows_of_leaves(const Spec& s, int operand) const;
  Cost copied(const Spec& s, int operand, Level to) const;
  Cost finish(const Spec& s) const;
  Cost work(const Uops& u) const;  // of some instructions without anything else

  Problem problem_;
  Spec root_;
  Pruning pruning_;
  std::vector<Clipped> clips_;
  i64 ratio_[kMaxDims] = {};   // between neighbouring tiles
  i64 pieces_[kMaxDims] = {};  // piece_tile()
  std::vector<i64> tiles_[kMaxDims];
  std::vector<i64> extents_[kMaxDims];            // all a Spec can have, ascending
  std::vector<AddressTerm> given_[kMaxOperands];  // AddressMap::plain_terms()
  WholeRows whole_rows_[kMaxOperands];
  bool once_[kMaxOperands] = {};       // leaves read it so often
  i64 rows_begin_[kMaxOperands] = {};  // for rows of lines or more
  bool blocked_[kMaxOperands] = {};    // given layout with blocks
  bool loads_given_[kMaxOperands] = {};
  i64 vectors_begin_[kMaxOperands] = {};  // at multiples of so many bytes, a line at most
  bool stores_given_ = false;
  bool stores_adjacent_ = false;  // along the lanes, where the user put the output
  bool copies_output_ = false;    // where it is packed
  bool output_leaves_ = false;
  bool streams_ = false;  // as far as all leaves are concerned
  bool packs_[kMaxOperands] = {};
  bool loads_all_the_time_ = false;
  int fours_ = -1;          // the input that leaves might broadcast in fours (impl/fours.h)
  Uops mapped_;             // of one vector: the body, or what of it comes before the row of a sum
  Uops body_extras_;        // of one vector: what the body of a sum reads beside it
  Uops finished_;           // of one vector or sum: in leaves
  Folding folding_;         // of sums along lanes, where the user put the output
  Uops fold_, fold_alone_;  // of four registers, of one
  i64 registers_at_once_ = 1;  // of sums along lanes, in the largest leaf
  Uops written_back_;          // of one vector: from a copy with sums
  i64 written_back_lanes_ = 1;
  bool full_extra_[kMaxExtras] = {};  // an element for every one of the output
  int extra_run_[kMaxExtras] = {};    // dim along which its elements are adjacent; -1: none
  i64 repeated_rows_ = 0;             // of joined rows: what is the same for all of them,
  i64 spread_rows_ = 0;               // ... and what has one number for each
  Copying copying_[kMaxOperands];
  i64 block_[kMaxOperands][kMaxDims] = {};  // least step that cuts no block, as given
  bool touches_[kMaxOperands][kMaxDims] = {};
  Coordinates coordinates_;
};

// One step of a loop: increment, compare, branch, address updates.
inline constexpr i64 kLoopMilli = 2000;

// What loops over the tiles of a Spec's dims pay at every step besides: what is seen of the latency
// of the operands whose next part does not begin where the last one ended.
class Steps {
 public:
  Steps(const Space& space, const Spec& s);
  Cost at(int dim, i64 tile) const;

 private:
  const Space& space_;
  const Spec& spec_;
  int count_ = 0;  // operands beyond L1
  int far_[kMaxOperands] = {};
  i64 again_[kMaxOperands] = {};  // to begin with it anew, in millicycles
  i64 seen_[kMaxOperands] = {};   // percent of that
};

// By operand, in the order in which they were asked for.
class Space::Copies {
  friend Space;
  struct One {
    PackedOrder order;
    AddressMap given;
    Extents extent;
    Dtype type;
    Copying how;
  };
  std::vector<One> all_[kMaxOperands];
};

}  // namespace morello
