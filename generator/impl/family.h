// Family: the choice that comes first ("leaf first"): which kernel computes the innermost tile,
// which dimension its lanes run along, how many instances are unrolled in registers (the quantum of
// every dimension), and so which packed layouts it wants. The search runs once per family; every
// Impl belongs to one.
//
// Worked example: f32 matmul, kernel fma_f32x8, lane = n, quantum m:6 n:16 k:1. The register tile
// is 6 x 2 vectors. A wants panels of 6 rows, order(m/6, k, m%6); B panels of 16 columns,
// order(n/16, k, n%16).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impl/address.h"
#include "impl/overlap.h"
#include "target/isa.h"

namespace morello {

struct Family {
  const Isa* isa = nullptr;
  const Kernel* kernel = nullptr;
  int lane = -1;  // dim along which the lanes run; -1 when kernel->lanes == 1
  // Per input of the Computation: how it is loaded. Output: how it is stored in its own type, and
  // loaded again when it accumulates (scalar rows where the lanes run along the reduction).
  std::vector<const Access*> loads;
  const Access* store = nullptr;
  const Access* reload = nullptr;
  std::vector<const Access*> extras;  // how the leaf loads those of the Computation
  // ... and how it loads those that the body of a reduction names, before its loop.
  std::vector<const Access*> body_extras;
  // Instances per leaf: extents of parallel dims at the leaf are at most quantum[d]; 1 where the
  // leaf takes one. For the reduction dim that leaves walk along it is what one turn of all sets of
  // accumulators takes (the kernel's group of elements each, or lanes of groups where the lanes
  // reduce), not a bound.
  Extents quantum{};
  // Sequential streams in which leaves read an operand that is packed ahead of time: 1, 2 or 4.
  // Every panel has a part in each part of the buffer, so that all run on from panel to panel.
  int streams = 1;
  // A dim of which leaves read rows that lie far apart, one from each of quantum[apart] equal parts
  // of all there is, so that an operand where the user put it comes in as many streams, which run
  // on from row to row. (Zen 3, bf16 1x2304x9216, rows of 4.6 KiB from memory: one at a time 4.44
  // ms, four neighbours 3.76, four apart 2.45; 1x1152x6912, 16 MB, 1.30, 1.60 and 0.71.) -1: none.
  int apart = -1;
  // A dim whose elements are rows that follow one another, and that leaves take as one run
  // (impl/joined.h); lanes run along the rows. -1: none.
  int joined = -1;
  // Windows of which leaves load what they have in common once. (impl/overlap.h.)
  std::optional<Overlap> overlap = {};
  std::vector<PackedOrder> packed;  // per operand; empty digits: never packed
  int registers = 0;                // vector registers the leaf needs, counted exactly

  // "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8"
  std::string str(const Computation& c) const;
  bool operator==(const Family&) const = default;
};

// Element type operand o has in packed form: the register type of its access (f32, i16), except
// that an access which reads packed memory directly (bf16 in even/odd order) keeps its memory type.
Dtype packed_dtype(const Family& f, const Computation& c, int operand);

// Most registers that one load of an input fills.
int load_regs(const Family& f, const Computation& c);

// Elements of the reduction that a leaf takes at once: a group, lanes of them, or taps of windows.
i64 reduction_slot(const Family& f, const Computation& c);

// Whether all vectors of a leaf that sums nothing read the same of an operand beside its inputs:
// the leaf loads it once.
bool shared_by_vectors(const Family& f, const Computation& c, const Operand& o);

// Independent sets of accumulators, which take the steps of a reduction in turns: where a tile has
// few of them they hide the latency of a step.
i64 accumulator_sets(const Family& f, const Computation& c);

// Streams in which the leaf reads operand o: family.streams for an operand that it reads as the
// ahead-of-time packer left it, with panels along one dim that divide evenly; 1 for others.
int streams_of(const Family& f, const Computation& c, int o);

// Streams of rows in which it reads an operand where the user put it; 1: its rows are neighbours.
i64 rows_apart(const Family& f, const Computation& c, int o);

// The packed order the family wants for an operand; group_dim is the reduction dim along which a
// kernel with a group takes its pairs, or -1.
PackedOrder packed_order(const Family& f, const Computation& c, int operand, int group_dim);

// Whether both find operands packed ahead of time in the same order.
bool packs_alike(const Family& a, const Family& b, const Computation& c);
// In which order, for comparisons of computations that have the same operand in other dims: how
// many steps of how many elements in row order, as in "128x16 2048x2048 16x1".
std::string packed_order_text(const Family& f, const Computation& c, int operand);
// A piece of so many rows of a kernel for so many.
struct RowShare {
  i64 rows = 1, of = 1;
  // Of this, a piece again.
  RowShare part(i64 piece, i64 all) const { return {rows * piece, of * all}; }
  bool operator==(const RowShare&) const = default;
};
// A computation of a piece with all rows: steps of parallel dims that no operand packed ahead of
// time has. Families for more rows fit fewer, too, and find such operands in other orders.
Computation with_all_rows(const Computation& c, RowShare share);
// The same families by these orders, in the order of the first of each.
std::vector<std::vector<Family>> by_packing(std::span<const Family> families, const Computation& c);

// The terms of a body that stand in the places of a row's inputs: where the row's own body is at
// its root. Empty: the row computes something else.
std::vector<int> places(const Kernel& k, const Computation& c);
// What the ISA's functions make of the inputs before the row has its part: the terms up to the last
// one in a place. Empty: the row takes inputs as they are loaded.
Expression before_row(const Kernel& k, const Computation& c);

// The row that stores the output: to the operand's own type, or into a packed copy.
const Access* store_access(const Family& f, bool packed);

// Whether the leaf can read an input where the user put it, without a copy.
bool loads_given(const Family& f, const Computation& c, int operand);

// All families of an ISA that can compute c, in a fixed order.
std::vector<Family> families(const Computation& c, const Isa& isa);
// Whether some family of `isa` uses a row that `base` lacks.
bool adds_to(const Isa& isa, const Isa& base, const Computation& c);
Result<Family> parse_family(std::string_view text, const Computation& c, const Isa& isa);

}  // namespace morello
