// The value of any expression of the language, tensor by tensor, in numbers that are known up to
// what docs/spec.md leaves open: how a sum is ordered, whether a product is rounded before it is
// added to something, how far off exp() may be.
#pragma once

#include "run/product.h"

namespace morello::run {

// Row-major. No axes: one number, which a tensor [1] is, too, beside another one. An extent of 0 is
// an axis that was inserted: as long as what stands beside it, all of it being one element.
struct Array {
  std::vector<i64> shape;
  std::vector<Interval> at;
};

class Evaluator {
 public:
  // `inputs`: the values of each parameter, row-major. `flushes`: what multiplies bf16 or rounds to
  // it may take subnormal numbers for 0.
  Evaluator(const Subject& s, const std::vector<Values>& inputs, bool flushes)
      : s_(s), inputs_(inputs), flushes_(flushes), named_(static_cast<std::size_t>(2 * s.names)) {}

  // In f32 or in i32.
  std::vector<Interval> result(const Made& r);
  // What is stored as that type, before it is rounded.
  void store_as(Type t, std::vector<Interval>& values) const;
  Factor factor(int node);  // as an operand of matmul or conv2d

 private:
  Array value(int node, bool real);
  Array param(int number, bool real) const;
  Array name(int number, bool real);
  Array call(int node, bool real);
  Array elementwise(int node, bool real);
  Array inserted(int node, bool real);
  Array transposed(int node, bool real);
  Array padded(int node, bool real);
  Array product_of(int node, bool real);
  bool is_padded(int node) const;
  Array reduced(int node, bool real);
  Array normalised(int node);
  bool is_bf16(int node) const;
  bool integers_only(int node) const;

  const Subject& s_;
  const std::vector<Values>& inputs_;
  const bool flushes_;
  std::vector<Array> named_;  // of names, in f32 and in i32; empty: not computed yet
};

// The node behind all that begins at this one.
int behind(const Subject& s, int node);
// Of how many elements of parameters an element of what begins at a node is made, about.
double reads(const Subject& s, int node);

}  // namespace morello::run
