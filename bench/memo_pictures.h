// Pictures of a real memo for docs/memo.md.
#pragma once

#include <string>

#include "search/spatial_memo.h"

namespace morello::bench {

// memo_plane.svg: the page with the most points, one plane of it coloured by decision.
// memo_boxes.svg: the boxes of the Spec that has the most, as rectangles over two levels' limits.
void draw_memo(const SpatialMemo::Map& map, const Computation& computation,
               const std::string& folder);

}  // namespace morello::bench
