// Computation: an operator as data, applied to tensors of fixed shape. The engine (search, codegen,
// interpreter) knows only this: iteration dimensions, an affine access map per operand, a scalar
// body and the way the reduction combines. It is the structured-operation view of Linalg, Halide
// and TACO. Which operator it came from is not recorded, so nothing can switch on it.
//
//   matmul:  dims b, m, n parallel, k reduction
//            A[b,m,k]  B[b,k,n] -> C[b,m,n]      body in0 * in1      combine sum
//   convert: dims d0.. parallel     X[d0..] -> Y[d0..]   body in0        combine none
//   relu(matmul(a, b) + c): the matmul, and  finish max(sum + extra0, 0)  with an extra operand
//   c[n]
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/dtype.h"
#include "spec/expression.h"
#include "spec/layout.h"

namespace morello {

inline constexpr int kMaxDims = 8;
inline constexpr int kMaxOperands = 3;
inline constexpr int kMaxExtras = 5;
inline constexpr int kMaxTensors = kMaxOperands + kMaxExtras;

// A size that is known at run time only: a multiple of `granule`, one granule at least.
struct RunTimeSize {
  std::string name;
  i64 granule = 1;
  i64 bound = 0;    // none is larger; 0: there is no bound
  i64 typical = 0;  // what the user expects; 0: nothing was said
  // The size that programs are chosen for.
  i64 nominal() const;
  bool operator==(const RunTimeSize&) const = default;
};

struct Dim {
  std::string name;
  i64 extent = 1;  // nominal where the size is known at run time only
  bool reduction = false;
  std::string size = {};  // of Computation::sizes; empty: the extent is the size
  bool operator==(const Dim&) const = default;
};

// Index along one axis of a tensor: the sum of coefficient * dim.
struct AxisTerm {
  int dim = 0;
  i64 coefficient = 1;
  bool operator==(const AxisTerm&) const = default;
};
using AxisMap = std::vector<AxisTerm>;

// From one value of a layout's digit to the next, in elements. One that is known at run time only
// has a value that costs assume.
struct Stride {
  i64 elements = 1;
  bool run_time = false;
  bool operator==(const Stride&) const = default;
};

// Zeros before and behind a tensor, along one axis.
struct Border {
  i64 low = 0, high = 0;
  bool operator==(const Border&) const = default;
};

struct Operand {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<i64> shape;
  std::vector<AxisMap> axes;  // one per axis of shape
  Layout layout;              // row, col or explicit; meaningless when packed
  bool packed = false;        // the search chooses the layout; given to the packer in row order
  bool strided = false;       // the user says at run time how far apart outer digits lie
  // One per digit of the layout; empty: digits lie as close as the shape allows.
  std::vector<Stride> strides = {};
  // Axis by axis, what is read around the tensor and lies nowhere: index `low` of an axis is its
  // first element. Empty: none. Only of inputs whose product is summed, along windows
  // (algebra.h).
  std::vector<Border> zeros = {};
  bool operator==(const Operand&) const = default;
};

// How the values of a reduction become one: in any order and in any groups, because joining them is
// associative and commutative. Integers are exact either way; sums of floats round.
enum class Combine { kNone, kSum, kMax, kMin };

// What joins two.
Fn joined_by(Combine c);
// What changes nothing that it is joined with.
double neutral(Combine c, Dtype t);

struct Computation {
  std::vector<Dim> dims;
  std::vector<Operand> operands;  // inputs, then the output
  Expression body;                // of inputs and extras: what is combined
  Combine combine = Combine::kNone;
  Dtype compute = Dtype::f32;           // type of the body and of the accumulation: f32 or i32
  std::vector<RunTimeSize> sizes = {};  // in the order of their first mention
  // Read where they lie, once for every element of the output; they touch no reduction. Those that
  // the body has come first; the finish may have any.
  std::vector<Operand> extras = {};
  // Of what was combined and of the extras: what is stored. Empty: what was combined.
  Expression finish = {};

  // Without one, every point of the dims is an element of the output.
  bool reduces() const { return combine != Combine::kNone; }
  int inputs() const { return static_cast<int>(operands.size()) - 1; }
  const Operand& output() const { return operands.back(); }
  // The operands, then the extras: what code has a pointer to.
  int tensors() const { return static_cast<int>(operands.size() + extras.size()); }
  const Operand& tensor(int t) const;
  Operand& tensor(int t);
  // Which of them an argument of a stage is: all but the output, in this order.
  int tensor_of(int argument) const { return argument < inputs() ? argument : argument + 1; }
  // The type of what is stored, before it is converted to the output's.
  Dtype result() const { return finish.empty() ? compute : finish.back().type; }
  // Whether sums (or what else values are combined into: code and comments call them all so) lie in
  // the output as it was given, until there is no more to add. What a finish makes of them takes
  // their place only where a copy that has them is written back.
  bool gathers_in_output() const { return finish.empty() && output().dtype == compute; }
  bool operator==(const Computation&) const = default;
};

// The size of a dim that is known at run time only; null: it is a number.
const RunTimeSize* run_time_size(const Computation& c, int dim);
// The same computation with other extents: parts of dims of run-time size. What lies at strides
// that such a size decides keeps them.
Computation with_extents(const Computation& c, const std::vector<i64>& extents);
// Fills in Operand::strides where some stride is known at run time only.
void set_strides(Computation& c);

// Whether operand o's access map mentions dim d.
bool touches(const Operand& o, int d);

// Dense row-major values with zeros around them.
std::vector<double> with_border(const std::vector<double>& values, std::span<const i64> shape,
                                std::span<const Border> border);

// "(a: f32[m,k], b: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k" and the extents; for messages.
// With a finish: ".. sum over k, then max(sum + extra0, 0)".
std::string str(const Computation& c);

// The meaning, independently of all search and code: evaluates in double precision (floats) or
// exact 64-bit integers wrapped to the output type. Inputs are dense row-major values, those of
// extras behind them. No intermediate rounding.
std::vector<double> evaluate(const Computation& c, const std::vector<std::vector<double>>& inputs);

}  // namespace morello
