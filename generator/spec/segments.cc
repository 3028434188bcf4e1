#include "spec/segments.h"

#include <algorithm>

#include "spec/sizes.h"

namespace morello {
namespace {

// The steps of a window whose first one is at index `at` that lie within `inside` elements.
Segment inside_at(i64 at, i64 step, i64 steps, i64 inside) {
  const i64 first = at >= 0 ? 0 : ceil_div(-at, step);
  const i64 end = at >= inside ? 0 : std::min(steps, ceil_div(inside - at, step));
  return {.first = 0,
          .count = 1,
          .window_first = first,
          .window_count = std::max<i64>(0, end - first),
          .shape = 0};
}

void number_shapes(std::vector<Segment>& segments) {
  std::vector<std::pair<i64, i64>> shapes;
  for (Segment& p : segments) {
    const std::pair shape{p.count, p.window_count};
    const auto at = std::find(shapes.begin(), shapes.end(), shape);
    p.shape = static_cast<int>(at - shapes.begin());
    if (at == shapes.end()) shapes.push_back(shape);
  }
}

}  // namespace

const AxisTerm& dim_along(const Computation& c, const AxisMap& axis) {
  return axis[c.dims[axis[0].dim].reduction ? 1 : 0];
}

const AxisTerm& window_along(const Computation& c, const AxisMap& axis) {
  return axis[c.dims[axis[0].dim].reduction ? 0 : 1];
}

std::vector<Segment> segments(const Computation& c, const Operand& o, size_t axis) {
  const AxisTerm &dim = dim_along(c, o.axes[axis]), &window = window_along(c, o.axes[axis]);
  std::vector<Segment> out;
  for (i64 i = 0; i < c.dims[dim.dim].extent; ++i) {
    Segment next = inside_at(i * dim.coefficient - o.zeros[axis].low, window.coefficient,
                             c.dims[window.dim].extent, o.shape[axis]);
    next.first = i;
    if (!out.empty() && out.back().window_first == next.window_first &&
        out.back().window_count == next.window_count)
      ++out.back().count;
    else
      out.push_back(next);
  }
  number_shapes(out);
  return out;
}

int shapes_of(const std::vector<Segment>& segments) {
  int last = -1;
  for (const Segment& p : segments) last = std::max(last, p.shape);
  return last + 1;
}

bool has_segments(const Computation& c, const Operand& o, size_t axis) {
  const AxisMap& terms = o.axes[axis];
  if (terms.size() != 2 || c.dims[terms[0].dim].reduction == c.dims[terms[1].dim].reduction)
    return false;
  const std::vector<Segment> all = segments(c, o, axis);
  return shapes_of(all) <= kMostSegmentShapes &&
         std::all_of(all.begin(), all.end(), [](const Segment& p) { return p.window_count > 0; });
}

}  // namespace morello
