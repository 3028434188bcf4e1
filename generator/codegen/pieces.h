// Code that cuts a size that is known at run time only into pieces (impl/patchwork.h). Of loop i:
// sizes<i> and rests<i> are tables, which<i> is the size of a piece, at<i> where it begins.
#pragma once

#include "codegen/writer.h"
#include "impl/patchwork.h"

namespace morello {

// The tables of a loop; a reduction needs no rests.
void piece_tables(Writer& w, size_t i, const PiecedDim& d, bool reduction);

// Moves `which`, which is there, on to the largest piece that so much of a dim has `parts` of (one,
// if that is empty), or to the granule.
void largest_piece(Writer& w, size_t i, const PiecedDim& d, const std::string& which,
                   const std::string& much, const std::string& parts = "");

// In a loop over a parallel dim up to `to`, whose whole pieces are sizes<i>[whole]: the next one,
// which may begin before the end of the last.
void next_piece(Writer& w, size_t i, const PiecedDim& d, const std::string& whole,
                const std::string& to);

}  // namespace morello
