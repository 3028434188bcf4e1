// What pad and conv2d read: tensors with zeros around them, and windows of them as rows of a
// matrix.
#pragma once

#include "run/attributes.h"
#include "run/evaluate.h"

namespace morello::run {

// `low` zeros before the elements along one axis, `high` behind them.
struct Padding {
  i64 axis, low, high;
};
Padding padding_of(const Node& n);
std::vector<i64> padded_shape(std::vector<i64> shape, const Padding& p);
// For every element of the padded tensor the one of the operand, or -1.
std::vector<i64> padded_from(const std::vector<i64>& shape, const Padding& p);

struct Windows {
  i64 stride[2], dilation[2], groups;
};
Windows windows_of(const Node& n);

// conv2d(x, k) as products of matrices, one for each group: rows are windows.
Product convolution(const Factor& x, const Factor& k, const Windows& w, Type type);

}  // namespace morello::run
