#include "impl/overlap.h"

#include <algorithm>
#include <numeric>

namespace morello {

// Row p and tap t read element p * stride + t * gap. With both made coprime, a tap reads what the
// one `stride` before it has read, but for the first `gap` rows.
i64 Overlap::at_once(i64 rows, i64 taps) const {
  const i64 common = std::gcd(stride, gap);
  const i64 fresh = std::min(taps, stride / common);
  return fresh * rows + (taps - fresh) * std::min(rows, gap / common);
}

i64 Overlap::elements(i64 rows, i64 taps) const {
  return taps / this->taps * at_once(rows, this->taps) + at_once(rows, taps % this->taps);
}

// The axis of an operand on which windows move with `row`; null: there is none.
static const AxisMap* windows_along(const Operand& o, int row) {
  for (const AxisMap& axis : o.axes)
    if (axis.size() == 2 && (axis[0].dim == row || axis[1].dim == row)) return &axis;
  return nullptr;
}

std::optional<Overlap> overlap_along(const Computation& c, int row) {
  if (c.inputs() != 2 || row < 0) return std::nullopt;
  const int input = touches(c.operands[0], row) ? 0 : 1;
  const AxisMap* axis = windows_along(c.operands[input], row);
  if (axis == nullptr || touches(c.operands[1 - input], row)) return std::nullopt;
  const bool first = (*axis)[0].dim == row;
  const AxisTerm &moved = (*axis)[first ? 0 : 1], &within = (*axis)[first ? 1 : 0];
  const Dim& tap = c.dims[within.dim];
  const Overlap out{.input = input,
                    .row = row,
                    .tap = within.dim,
                    .stride = moved.coefficient,
                    .gap = within.coefficient,
                    .taps = tap.extent};
  const bool common = tap.reduction && out.stride / std::gcd(out.stride, out.gap) < tap.extent;
  return common ? std::optional(out) : std::nullopt;
}

}  // namespace morello
