// Dims that number rows together, where layouts or sizes that are known at run time only keep them
// from being one (graph_collapse.cc): a batch and its rows, which lie a stride of the user's apart.

#include <algorithm>

#include "search/fusion_search.h"

namespace morello {
namespace {

// Which digit of a layout the axis is that a dim indexes; -1: it is divided, or there is none.
int digit_of(const Operand& o, int dim) {
  if (o.packed) return -1;
  const auto is_dim = [&](const AxisTerm& t) { return t.dim == dim; };
  for (size_t axis = 0; axis < o.axes.size(); ++axis) {
    if (std::none_of(o.axes[axis].begin(), o.axes[axis].end(), is_dim)) continue;
    const auto of_axis = [&](const Digit& d) { return d.axis == static_cast<int>(axis); };
    const auto at = std::find_if(o.layout.digits.begin(), o.layout.digits.end(), of_axis);
    if (at == o.layout.digits.end() || at->div != 1 || at->mod != 0) return -1;
    return static_cast<int>(at - o.layout.digits.begin());
  }
  return -1;
}

// Whether rows of `inner` lie within those of `outer`, or the operand has neither. No windows go
// along `outer`: steps of two rows read less of theirs than each by itself.
bool lies_within(const Operand& o, int outer, int inner) {
  if (!touches(o, outer) && !touches(o, inner)) return true;
  const int at = digit_of(o, outer);
  const AxisMap alone = {{outer, 1}};
  return at >= 0 && at < digit_of(o, inner) &&
         std::find(o.axes.begin(), o.axes.end(), alone) != o.axes.end();
}

bool lies_within(const Computation& c, int outer, int inner) {
  if (outer < 0 || inner < 0 || c.dims[outer].reduction || c.dims[inner].reduction) return false;
  for (int t = 0; t < c.tensors(); ++t)
    if (!lies_within(c.tensor(t), outer, inner)) return false;
  return true;
}

}  // namespace

std::vector<std::vector<int>> dims_around(const Graph& g, int begin, int end) {
  const int dims = static_cast<int>(g.dims.size());
  std::vector<std::vector<int>> out(g.dims.size());
  for (int outer = 0; outer < dims; ++outer) {
    if (!tile_problem(g, outer, begin, end).empty()) continue;
    for (int inner = 0; inner < dims; ++inner) {
      bool within = inner != outer;
      for (int s = begin; s < end && within; ++s)
        within = lies_within(g.stages[s].computation, g.dims[outer].in_stage[s],
                             g.dims[inner].in_stage[s]);
      if (within) out[inner].push_back(outer);
    }
  }
  return out;
}

}  // namespace morello
