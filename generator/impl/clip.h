// Clipping: windows that reach beyond the tensor that they read find zeros there, which add nothing
// to a sum, so outputs near an edge sum over a shorter window: the dim of the output is cut into
// segments (spec/segments.h), and nothing is copied to have zeros around it. A Spec says which dims
// are still to be cut (Spec::uncut); no loop divides these or their windows, and no leaf computes
// them.
#pragma once

#include <vector>

#include "impl/impl.h"
#include "spec/segments.h"

namespace morello {

// A dim that is cut, and the sum over the window along the same axis of an input.
struct Clipped {
  int dim = 0, window = 0;
  int operand = 0;
  i64 low = 0;       // zeros before the axis
  i64 dim_step = 1;  // along the axis
  std::vector<Segment> segments = {};
};
std::vector<Clipped> clipped(const Computation& c);
Spec spec_of(const Segment& segment, const Clipped& x, const Spec& whole);
// Of a set of dims that are not cut: they, and the sums over windows along them.
int uncut_dims(const std::vector<Clipped>& all, std::uint8_t uncut);

// From where an operand of the whole begins (of the one with the zeros: where these would) to where
// it begins in a segment.
Offset begin_of(const Clipped& x, const Segment& segment, int operand, const AddressMap& map);

// Whether no segment begins within a block of the operand.
bool cuts_whole_blocks(const Clipped& x, const AddressMap& map);

}  // namespace morello
