// Kernels that nobody has chosen: drawn at random, with what else computes the same. A new kind is
// a function that draws (draw.h) and its line in kinds.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/peers/contender.h"
#include "bench/program.h"

namespace morello::bench {

// Dense, its axes in memory in any order.
struct Tensor {
  std::string name;
  Dtype type = Dtype::f32;
  std::vector<i64> shape;
  std::vector<int> order = {};  // of axes, the outermost first; empty: as they are
  bool packed = false;          // weights that everybody may have in the layout that he likes

  i64 elements() const;
  std::vector<i64> strides() const;
  std::string text() const;  // "k: f32[3,3,8,16] packed"
};

// How a primitive of oneDNN sees a tensor.
struct View {
  int tensor = 0;  // the operand; behind the last one the result
  std::vector<i64> shape = {}, strides = {};
  bool any = false;  // what is packed
};

struct Primitive {
  enum class Kind {
    kNone,
    kMatmul,
    kConvolution,
    kSoftmax,
    kLayerNorm,
    kReduction,
    kFunction,
    kBinary,
    kReorder
  } kind = Kind::kNone;
  std::vector<View> views;  // of its sources, then of its destination
  std::string algorithm = {};
  int axis = 0;
  i64 stride = 1, dilation = 1;
  std::vector<i64> zeros = {};  // around a picture, by axis
};

// What a kernel does one after the other; kernels of the steps are compared with one of all of
// them.
struct Step {
  Tensor result;
  std::string expr;
};

struct Case {
  std::vector<Tensor> operands;
  std::vector<Step> steps;  // the last one makes the result
  double operations = 0;
  Primitive primitive = {};
  std::string loop = {};  // C++, of pointers with the names of operands and `out`

  const Tensor& result() const { return steps.back().result; }
  std::string spec() const;
  // Of one step, and the names of its operands.
  std::string spec(size_t step, std::vector<std::string>& uses) const;

  // Its operands and its result, once there are some.
  std::vector<std::shared_ptr<Bytes>> data = {};
};

// With one thread.
Contenders onednn(const Case& c);

}  // namespace morello::bench
