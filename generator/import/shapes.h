// What instructions say of shapes, and that it fits together: checked once, before anything is made
// of it. What follows relies on that.
#pragma once

#include <array>

#include "import/module.h"

namespace morello::hlo {

// Whether the shape of every instruction is what its operator makes of those of its operands.
bool check_shapes(const Function& f, const Source& source, Diagnostic& error);

// All below of instructions that have been checked.

// The integers of an attribute, `count` of them; one stands for all.
Numbers numbers_of(const Instruction& in, std::string_view name, size_t count, i64 otherwise);
// Those of an attribute that names axes; none where it is not there.
std::vector<int> axes_of(const Instruction& in, std::string_view name);
// Of the operand: those that a reduction leaves.
std::vector<int> kept_axes(const Instruction& in, size_t rank);

// The axes of each operand of a dot.
struct Product {
  std::vector<int> batch[2], sum[2], free[2];
};
Product product_of(const Instruction& in, const std::vector<Instruction>& all);

struct Window {
  // By axis of the operands and the result: its number in NHWC or HWIO.
  std::array<std::vector<int>, 3> axes;
  Numbers stride, pad, dilation, groups;
};
Window window_of(const Instruction& in);

}  // namespace morello::hlo
