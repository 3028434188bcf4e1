#include "impl/clip.h"

namespace morello {

std::vector<Clipped> clipped(const Computation& c) {
  std::vector<Clipped> out;
  for (int o = 0; o < c.inputs(); ++o) {
    const Operand& operand = c.operands[o];
    for (size_t axis = 0; axis < operand.zeros.size(); ++axis) {
      if (operand.zeros[axis] == Border{}) continue;
      const AxisTerm& dim = dim_along(c, operand.axes[axis]);
      out.push_back({.dim = dim.dim,
                     .window = window_along(c, operand.axes[axis]).dim,
                     .operand = o,
                     .low = operand.zeros[axis].low,
                     .dim_step = dim.coefficient,
                     .segments = segments(c, operand, axis)});
    }
  }
  return out;
}

Spec spec_of(const Segment& segment, const Clipped& x, const Spec& whole) {
  Spec s = whole;
  s.extent[x.dim] = segment.count;
  s.extent[x.window] = segment.window_count;
  s.uncut &= static_cast<std::uint8_t>(~(1 << x.dim));
  return s;
}

int uncut_dims(const std::vector<Clipped>& all, std::uint8_t uncut) {
  int set = 0;
  for (const Clipped& x : all)
    if (uncut >> x.dim & 1) set |= 1 << x.dim | 1 << x.window;
  return set;
}

Offset begin_of(const Clipped& x, const Segment& segment, int operand, const AddressMap& map) {
  Offset at = map.advance(x.dim, segment.first) + map.advance(x.window, segment.window_first);
  if (operand == x.operand) at += -x.low * (map.unit_stride(x.dim) / x.dim_step);
  return at;
}

bool cuts_whole_blocks(const Clipped& x, const AddressMap& map) {
  for (const Segment& p : x.segments)
    for (const AddressTerm& t : map.terms) {
      const i64 block = t.mod == 0 ? t.div : t.div * t.mod;
      if (t.dim == x.dim && p.first % block != 0) return false;
      if (t.dim == x.window && p.window_first % block != 0) return false;
    }
  return true;
}

}  // namespace morello
