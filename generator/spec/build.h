// What the operators of spec/ops/ share: building Computations, and making them smaller.
#pragma once

#include <string>

#include "spec/op.h"

namespace morello {

// How each axis of an operand is indexed.
using Axes = std::vector<AxisMap>;
// By one dim each.
Axes axes_of(std::span<const int> dims);

Operand make_operand(const Param& p, std::span<const AxisMap> axes);

// The result, in row layout: its shape is how far the dims of each axis reach.
Operand make_output(const Computation& c, Dtype dtype, const Axes& axes);

// The shape of an operand whose axes are whole tensors' axes.
std::vector<Size> sizes_of(const Computation& c, const Operand& o);

// What is summed in matmul and in convolutions, and of what: floats with floats, bytes with bytes.
bool multiplies(Dtype a, Dtype b);
Expression product_of_inputs(Dtype compute);

// "[2,3,4]", "[2,n]"
std::string shape_text(std::span<const Size> shape);

Dim make_dim(std::string name, const Size& size, bool reduction = false);

// "b0", "b1": dims are numbered here; collapse() removes numbers nobody needs.
std::string numbered(std::string_view letter, int i);

// The same computation with as few dims as possible: two neighbouring dims become one where every
// operand that uses one of them walks through both as if they were one (adjacent axes, adjacent in
// memory). Loops become longer and the search smaller. The dense row-major sequence of every
// operand's values is unchanged. Examples, everything in row layout:
//   add of [2,3,4]            i=24
//   reduce_sum, axis 2 of 5   i0 (two axes), i1 (two axes), k
//   matmul [b,m,k] x [k,n]    m (b*m), n, k
Computation collapse(Computation c);
// One such step: whether dims d and d + 1 can become one; d, with the name of the inner one.
bool can_merge(const Computation& c, int d);
void merge(Computation& c, int d);
// Takes away an axis that is undivided or packed, of which nothing is left to index; a dim that
// nothing touches.
void erase_axis(Operand& o, int axis);
void erase_dim(Computation& c, int d);
// Whether the operand has an element for every point.
bool has_every_point(const Computation& c, const Operand& o);
// Makes a sum over axes that have one element each the arithmetic on elements that it is, where
// those axes lie in one piece.
void take_sums_of_one(Computation& c);
// Which dim of collapse() each of its dims becomes.
std::vector<int> collapsed_dims(Computation c);

}  // namespace morello
