// Code that cuts a size that is known at run time only into pieces (impl/patchwork.h). Of loop i:
// sizes<i> and rests<i> are tables, extent<i> is how much there is, which<i> the size of a piece,
// at<i> where it begins.
#pragma once

#include "codegen/writer.h"
#include "impl/patchwork.h"

namespace morello {

// The tables of a loop; a reduction needs no rests.
void piece_tables(Writer& w, size_t i, const PiecedDim& d, bool reduction);

// Moves `which`, which is there, on to the largest piece that so much of a dim has `parts` of, or
// to the granule; `left`: that much, in place of the whole dim.
void largest_piece(Writer& w, size_t i, const PiecedDim& d, const std::string& which,
                   const std::string& parts, const std::string& left = "");

// In a loop over a parallel dim up to `to`, whose whole pieces are sizes<i>[whole]: the next one,
// which may begin before the end of the last.
void next_piece(Writer& w, size_t i, const PiecedDim& d, const std::string& whole,
                const std::string& to);

}  // namespace morello
