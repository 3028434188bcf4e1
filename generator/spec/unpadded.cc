#include <algorithm>

#include "spec/algebra.h"
#include "spec/build.h"
#include "spec/segments.h"

namespace morello {
namespace {

// Whether what the pad makes is read by stages alone, and the parameter lies so that windows can
// be moved along it.
bool can_go(const Draft& d, const Draft::Item& pad) {
  if (!pads_parameter(pad.stage, static_cast<int>(d.params.size()))) return false;
  if (std::find(d.results.begin(), d.results.end(), pad.tensor) != d.results.end()) return false;
  const Operand& x = pad.stage.computation.operands[0];
  const bool plain =
      std::all_of(x.layout.digits.begin(), x.layout.digits.end(),
                  [](const Digit& digit) { return digit.mod == 0 && digit.div == 1; });
  return plain && !x.packed && !x.strided;
}

// The operand as it is read where the parameter lies; none: it cannot be.
std::optional<Operand> read_unpadded(const Computation& c, int operand, const Draft::Item& pad) {
  if (operand >= c.inputs() || c.combine != Combine::kSum || c.body != product_of_inputs(c.compute))
    return std::nullopt;
  const Operand& x = pad.stage.computation.operands[0];
  Operand o = c.operands[operand];
  o.shape = x.shape;
  o.layout = x.layout;
  o.strides = x.strides;
  o.zeros = pad.stage.border;
  for (size_t axis = 0; axis < o.zeros.size(); ++axis) {
    i64 reach = 1;  // of the last window
    for (const AxisTerm& t : o.axes[axis]) reach += t.coefficient * (c.dims[t.dim].extent - 1);
    Border& zeros = o.zeros[axis];
    zeros.high = std::max<i64>(0, reach - zeros.low - o.shape[axis]);
    if (zeros != Border{} && !has_segments(c, o, axis)) return std::nullopt;
  }
  return o;
}

// Makes all that reads it read the parameter; whether it can.
bool leave_out(Draft& draft, const Draft::Item& pad) {
  for (Draft::Item& i : draft.items) {
    std::vector<int>& read = i.stage.arguments;
    for (size_t a = 0; a < read.size(); ++a) {
      if (read[a] != pad.tensor) continue;
      Computation& c = i.stage.computation;
      std::optional<Operand> o = read_unpadded(c, static_cast<int>(a), pad);
      if (!o) return false;
      o->name = draft.params[static_cast<size_t>(pad.stage.arguments[0])].name;
      c.operands[a] = std::move(*o);
      read[a] = pad.stage.arguments[0];
    }
  }
  std::erase_if(draft.items, [&](const Draft::Item& i) { return i.tensor == pad.tensor; });
  return true;
}

}  // namespace

bool pads_parameter(const Stage& s, int params) {
  const Computation& c = s.computation;
  if (s.border.empty() || c.inputs() != 1 || !c.extras.empty() || c.reduces()) return false;
  return s.arguments[0] < params && c.finish.empty() && c.body.size() == 1 &&
         c.body[0].fn == Fn::kInput && c.operands[0].dtype == c.output().dtype &&
         c.operands[0].axes == c.output().axes;
}

std::optional<Graph> unpadded(const Graph& g) {
  Draft draft(g);
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s)
    if (const Draft::Item pad = draft.at(g.made_by(s)); can_go(draft, pad))
      if (Draft without = draft; leave_out(without, pad)) draft = std::move(without);
  if (draft.items.size() == g.stages.size()) return std::nullopt;
  Graph out = draft.graph();
  out.unpadded = true;
  return out;
}

}  // namespace morello
