// Segments of a dim of an output that windows along an axis reach beyond: outputs whose windows
// have the same part inside the tensor. What lies outside is zero (Operand::zeros).
//
//   3 steps of a window, a zero before and behind 112 rows    output 0         steps 1, 2
//                                                             output 1 .. 110  steps 0, 1, 2
//                                                             output 111       steps 0, 1
#pragma once

#include <vector>

#include "spec/computation.h"

namespace morello {

// Segments with as many outputs and as many steps inside have one shape, and one program.
struct Segment {
  i64 first = 0, count = 0;                // of the dim
  i64 window_first = 0, window_count = 0;  // of the reduction along the window; 0: all is outside
  int shape = 0;
  bool operator==(const Segment&) const = default;
};

// In order; together all of the dim. The axis is indexed by one dim of the output and one sum.
std::vector<Segment> segments(const Computation& c, const Operand& o, size_t axis);
int shapes_of(const std::vector<Segment>& segments);

// Windows of 7 steps, 3 of them outside at most, have as many on one side.
inline constexpr int kMostSegmentShapes = 4;

// Whether an axis is indexed so, no window lies outside, and there are no more shapes.
bool has_segments(const Computation& c, const Operand& o, size_t axis);

// Of such an axis: the term of the dim, and that of the sum.
const AxisTerm& dim_along(const Computation& c, const AxisMap& axis);
const AxisTerm& window_along(const Computation& c, const AxisMap& axis);

}  // namespace morello
