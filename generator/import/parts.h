// The parts into which reshapes divide axes.
//
// A reshape keeps elements in their order. So once every axis is divided into the parts that some
// reshape makes of it, in all tensors that share it, a reshape says only which parts stand
// together as one axis: [8,512] -> [8,8,64] -> [64,64] is [8,8*64] -> [8,8,64] -> [8*8,64].
#pragma once

#include "import/module.h"

namespace morello::hlo {

struct Axis {
  int instruction, axis;
};

// What to do instead of a reshape that is refused.
inline constexpr std::string_view kOutside =
    "Reshape arguments and results outside of the function";

// By instruction and axis: extents of its parts, outermost first; none where it has one element.
using Parts = std::vector<std::vector<std::vector<i64>>>;

// Of instructions whose shapes have been checked.
bool find_parts(const std::vector<Instruction>& in, const Source& source, Parts& parts,
                Diagnostic& error);

// What a reshape changes: more than dimensions of 1.
bool regroups(const Instruction& in, const std::vector<Instruction>& all);

// Pairs of axes, one of an operand or of the result each, that are the same one whatever reshapes
// do; all of more than one element.
std::vector<std::pair<Axis, Axis>> same_axes(const std::vector<Instruction>& in, int i);

// Axes that can have one part only: of windows, and where something is padded.
std::vector<Axis> whole_axes(const std::vector<Instruction>& in, int i);

}  // namespace morello::hlo
