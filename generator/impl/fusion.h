// Fusion: a program for a kernel of several stages: loops over dims that stages share, around
// programs for parts of single stages, which were searched for as any other (impl/impl.h).
//
//   Tile      one dim in steps; the inside runs for each of them, all stages one after the other.
//             Steps of a parallel tile are tasks. Where stages inside sum over the dim, programs of
//             the first step write sums and those of others add to them
//   Sequence  parts one after the other. What the first make for those behind them lies in buffers
//             that last as long as the sequence: as large as what one step of the loops around it
//             needs, and dense. What is made in place of another tensor, or lies in the result's
//             memory (Graph::in_place, in_result), needs none
//   StageCall  a program for a part of one stage
//
// This is fusion as "tile the consumer, compute the producer's tile in a nearer level": matmul,
// softmax, matmul with a tile of 48 queries keeps 48 rows of scores in a cache.
//
// Text form, which begins with what it is a program of: threads, if there are several; which Graph
// (spec/algebra.h), if not the one of the spec; what lies in the memory of others. A program says
// what every leaf asks for so that others find it near (Part::asked), if they do, where its
// operands lie as it begins, its family, and below that what it does (impl/impl.h):
//
//   threads 2
//   e in out
//   parallel m by 512
//     loop m by 48
//       with scores f32[48,1024]
//         scores: 52311 cycles, q@L2 k@L2 scores@L1, fma_f32x8 lane=n quantum=...
//           loop n by 16
//             call
//         ...
//     rest 32
//       ...
//
//   t1: 327 cycles, asks=x ahead=24576 to=L2 x@mem out@L1 extras@L1, map_f32x16 lane=...
#pragma once

#include <map>
#include <set>
#include <variant>

#include "impl/impl.h"
#include "spec/graph.h"

namespace morello {

struct Fused;
using FusedPtr = std::shared_ptr<const Fused>;

struct Tile {
  int dim = 0;  // of the Graph
  i64 tile = 1;
  bool parallel = false;
  FusedPtr body;
  FusedPtr next = nullptr;  // in place of the body from the second step on; null: none adds
  FusedPtr rest = nullptr;  // null when tile divides the extent
};
struct Sequence {
  std::vector<int> stored;  // tensors
  std::vector<FusedPtr> parts;
};
struct StageCall {
  int program = 0;  // of Fusion::programs
};
struct Fused {
  std::variant<Tile, Sequence, StageCall> node;
};

// A part of a stage, where its tensors lie in buffers of these shapes.
struct StageProgram {
  int stage = 0;
  std::shared_ptr<const Computation> computation;
  Problem problem;  // of this computation
  ImplPtr impl;
  i64 cost_cycles = 0;
};

struct Fusion {
  std::shared_ptr<const Graph> graph;
  std::vector<StageProgram> programs;
  FusedPtr root;
  int threads = 1;
};

// The program of the greatest cost; of several the first.
const StageProgram& dearest(const Fusion& f);

// Extents of the Graph's dims.
using GraphExtents = std::vector<i64>;
GraphExtents whole(const Graph& g);

// What lies in the memory of other tensors, and of which: as text forms say. (Carried stages always
// scale in place.)
std::vector<std::pair<int, int>> shared_memory(const Graph& g);

// The shape of what a stage makes of such a part; of a parameter, of all of it.
std::vector<i64> stored_shape(const Graph& g, int tensor, const GraphExtents& extents);
// "f32[48,1024]"
std::string buffer_text(const Graph& g, int tensor, const GraphExtents& extents);

// Shapes of the buffers that tensors lie in; empty: as the Graph says.
using Buffers = std::map<int, std::vector<i64>>;

// A part of a stage as a Computation of its own, in as few dims as possible.
Computation stage_part(const Graph& g, int stage, const GraphExtents& extents,
                       const Buffers& buffers);

// Whether a part of a stage is all of it.
bool is_whole(const Graph& g, int stage, const GraphExtents& extents);

// Whether dims of a stage become the same ones in its part as in all of it. Where operands are
// packed ahead of time they have to: orders of packed operands are orders of these dims.
bool has_dims_of_whole(const Graph& g, int stage, const GraphExtents& extents,
                       const Buffers& buffers);

// Elements from the part of an operand or extra that one step along a dim uses to that of the next;
// 0: it is the same. Strides known at run time only are those of the stage's operands. `problem` is
// of a program for a part of the stage.
Offset advance(const Graph& g, int stage, int operand, const Buffers& buffers, int dim, i64 step,
               const Problem& problem);

// Why stages [begin, end) cannot run together in steps along a dim; empty when they can. Each of
// them has it, and what one writes and another reads is indexed by it in the same way: also what
// was made before and lies in the result, which the last stage writes. What sums over it gathers
// sums where its output lies, and none of the others reads them (but for Graph::online).
std::string tile_problem(const Graph& g, int dim, int begin, int end);

// Steps along a dim are multiples of this: so that they cut no block of a layout.
i64 block_along(const Graph& g, int dim, int begin, int end);

// Whether each step finds whole panels of what a stage has packed ahead of time as the family wants
// it, one after the other: the outermost digit of the order is the dim, there is one stream, and
// nothing else is cut.
bool keeps_panels(const Graph& g, int stage, int dim, i64 tile, const Family& family);

// Whether steps along a dim have stages [begin, end) as Graph::online says.
bool is_online(const Graph& g, int dim, int begin, int end);

// Whether one of the stages sums over a dim; or over one of several.
bool sums_over(const Graph& g, int dim, int begin, int end);
bool sums_over(const Graph& g, const std::set<int>& dims, int stage);

// What prints parses; verify() says whether it is a program. Families of a piece may be for all
// rows (with_all_rows()).
std::string print(const Fusion& f);
Result<Fusion> parse_fusion(std::string_view text, const KernelSpec& spec, const Machine& machine,
                            const Isa& isa, RowShare share = {});

// Runs it as interpret() runs a program: on dense row-major parameters, and returns the results one
// behind the other. What is not made before it
// is read, in a buffer that is used again, is NaN.
std::vector<double> interpret(const Fusion& f, const std::vector<std::vector<double>>& params);

// Why this is no program for the graph; empty when it is one.
std::string verify(const Fusion& f);

}  // namespace morello
