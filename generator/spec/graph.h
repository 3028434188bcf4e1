// Graph: the stages of a kernel with the dims that they have in common, for whoever runs parts of
// several stages together.
//
//   t0[m,k'] = matmul(a[m,k], b[k,k'])     out[m,n] = matmul(t0[m,k'], c[k',n])
//
// has four dims: m, k, k' (parallel in the first stage, summed over in the second) and n. Two
// stages have a dim in common where both index the same axis of a tensor with it.
#pragma once

#include <algorithm>
#include <map>

#include "spec/kernel_spec.h"

namespace morello {

struct GraphDim {
  std::string name;
  i64 extent = 1;
  std::vector<int> in_stage;  // its number in every stage's Computation; -1: not there
  bool operator==(const GraphDim&) const = default;
};

// Sums of exponentials whose greatest exponent is still being looked for (Milakov and Gimelshein,
// arXiv 1805.02867): stages [begin, end) may run in steps along a dim although one of them reads
// the maximum over it so far. From the second step on, `carried` stages scale the sums by what the
// maximum has grown; in other loops they have nothing to do.
struct Online {
  int dim = -1;  // -1: none
  int begin = 0, end = 0;
  int max = 0, exp = 0;  // the stage that makes the maximum, and the only one to read it
  std::vector<int> carried = {};
  bool operator==(const Online&) const = default;
};

// Of which axes windows read zeros that are nowhere (algebra.h): of none, of the first padded one
// of each parameter, or of all.
enum class PadsOut { kNone, kFirst, kAll };

struct Graph {
  std::vector<Stage> stages;
  std::vector<Param> tensors;  // as KernelSpec::tensor numbers them
  int params = 0;
  std::vector<GraphDim> dims;
  std::vector<int> results = {};  // tensors, in the order of arguments; the last stage's is one
  // What a stage makes of another tensor, element by element, where nobody reads that one any more:
  // one buffer less, and what is written is near. It lies in the buffer of the tensor given here,
  // which lies in its own. Also the sums that carried stages scale.
  std::map<int, int> in_place = {};
  // What lies between stages and in the memory of the last one's result, which that stage makes of
  // it or of what lies there too. -1: nothing.
  int in_result = -1;
  bool apart = false;  // sums are stages of their own (algebra.h)
  PadsOut pads_out = PadsOut::kNone;
  bool result_apart = false;  // nothing lies in its memory before the last stage (algebra.h)
  Online online = {};

  int made_by(int stage) const { return params + stage; }
  bool is_result(int tensor) const {
    return std::find(results.begin(), results.end(), tensor) != results.end();
  }
  // The tensor in whose buffer it lies: itself, but for what is made in place.
  int buffer_of(int tensor) const {
    const auto of = in_place.find(tensor);
    return of == in_place.end() ? tensor : of->second;
  }
  // The tensor in whose memory it lies: the same, or the result.
  int memory_of(int tensor) const {
    tensor = buffer_of(tensor);
    return tensor == in_result ? made_by(static_cast<int>(stages.size()) - 1) : tensor;
  }
  bool is_carried(int stage) const {
    return std::find(online.carried.begin(), online.carried.end(), stage) != online.carried.end();
  }
  // Elements before the first that a stage stores in its tensor, which lies in a dense buffer of
  // this shape: its border.
  i64 first_inside(int stage, std::span<const i64> buffer) const;
  // The tensor that operand or extra t of a stage's Computation is.
  int tensor_of(int stage, int t) const;
  // The dim of a stage's dim.
  int dim_of(int stage, int dim) const;
  // The first operand or extra of a stage that is this tensor; -1: none.
  int operand_of(int stage, int tensor) const;
  // Whether a stage makes or reads what lies in the buffer of this tensor.
  bool uses_buffer(int stage, int tensor) const;
};
// Whether dims that all stages walk through as if they were one are one (collapse()).
enum class Dims { kJoined, kApart };
Graph graph_of(const KernelSpec& spec, Dims dims = Dims::kJoined);
// Of stages and their tensors, in an order in which they can run.
Graph graph_of(std::vector<Stage> stages, std::vector<Param> tensors, int params,
               std::vector<int> results, Dims dims = Dims::kJoined);
// Makes neighbouring dims one where all stages allow it (spec/build.h says when one does).
void collapse(Graph& g);

// The results one behind the other, of parameters; dense and row-major, as evaluate() of a
// Computation: nothing is rounded.
std::vector<double> evaluate(const Graph& g, const std::vector<std::vector<double>>& params);

}  // namespace morello
