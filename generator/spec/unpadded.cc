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

// What is left of a pad, and the zeros that are nowhere. An axis has either.
struct Division {
  std::vector<Border> kept, out;
  bool keeps() const {
    return std::any_of(kept.begin(), kept.end(), [](const Border& b) { return b != Border{}; });
  }
};

Division divided(const std::vector<Border>& border, PadsOut which) {
  Division d{.kept = std::vector<Border>(border.size()), .out = border};
  if (which == PadsOut::kAll) return d;
  const auto padded = [](const Border& b) { return b != Border{}; };
  const auto first = std::find_if(d.out.begin(), d.out.end(), padded);
  const auto behind = static_cast<size_t>(first - d.out.begin()) + 1;
  for (size_t axis = behind; axis < border.size(); ++axis) std::swap(d.kept[axis], d.out[axis]);
  return d;
}

// Windows in one place along an axis are all that indexes it. A dim of the output that has one step
// does so, too, to be cut where they reach beyond it; if there is one that no other axis has.
void index_by_output(const Computation& c, size_t axis, Operand& o) {
  if (o.axes[axis].size() != 1 || !c.dims[o.axes[axis][0].dim].reduction) return;
  const auto indexes = [&](int dim) {
    return std::any_of(o.axes.begin(), o.axes.end(), [&](const AxisMap& terms) {
      return std::any_of(terms.begin(), terms.end(),
                         [&](const AxisTerm& t) { return t.dim == dim; });
    });
  };
  for (const AxisMap& made : c.output().axes)
    if (made.size() == 1 && c.dims[made[0].dim].extent == 1 && !indexes(made[0].dim)) {
      o.axes[axis].insert(o.axes[axis].begin(), {made[0].dim, 1});
      return;
    }
}

// The operand as it is read from `tensor`, which has no zeros where they are nowhere; none: it
// cannot be.
std::optional<Operand> read_unpadded(const Computation& c, int operand, const Operand& tensor,
                                     const Division& zeros) {
  if (operand >= c.inputs() || c.combine != Combine::kSum || c.body != product_of_inputs(c.compute))
    return std::nullopt;
  Operand o = c.operands[operand];
  o.shape = tensor.shape;
  o.layout = tensor.layout;
  o.strides = tensor.strides;
  o.zeros = zeros.out;
  for (size_t axis = 0; axis < o.zeros.size(); ++axis) {
    Border& around = o.zeros[axis];
    if (around == Border{}) continue;
    index_by_output(c, axis, o);
    i64 reach = 1;  // of the last window
    for (const AxisTerm& t : o.axes[axis]) reach += t.coefficient * (c.dims[t.dim].extent - 1);
    around.high = std::max<i64>(0, reach - around.low - o.shape[axis]);
    if (around != Border{} && !has_segments(c, o, axis)) return std::nullopt;
  }
  return o;
}

// Makes all that reads it read the parameter, or what is left of the pad; whether it can.
bool leave_out(Draft& draft, Draft::Item& pad, PadsOut which) {
  const Division zeros = divided(pad.stage.border, which);
  const bool keeps = zeros.keeps();
  if (which == PadsOut::kFirst && !keeps) return false;  // as with all
  const int from = keeps ? pad.tensor : pad.stage.arguments[0];
  Operand tensor = pad.stage.computation.operands[0];
  if (keeps) {
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
      tensor.shape[axis] += zeros.kept[axis].low + zeros.kept[axis].high;
    tensor = between(tensor, pad.made.name, tensor.dtype);
    pad.made = tensor_of(tensor);
    pad.stage.border = zeros.kept;
  }
  for (Draft::Item& i : draft.items) {
    std::vector<int>& read = i.stage.arguments;
    for (size_t a = 0; a < read.size(); ++a) {
      if (read[a] != pad.tensor) continue;
      Computation& c = i.stage.computation;
      std::optional<Operand> o = read_unpadded(c, static_cast<int>(a), tensor, zeros);
      if (!o) return false;
      o->name = keeps ? pad.made.name : draft.params[static_cast<size_t>(from)].name;
      c.operands[a] = std::move(*o);
      read[a] = from;
    }
  }
  if (!keeps)
    std::erase_if(draft.items, [&, t = pad.tensor](const Draft::Item& i) { return i.tensor == t; });
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

std::optional<Graph> unpadded(const Graph& g, PadsOut which) {
  Draft draft(g);
  bool any = false;
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s) {
    Draft without = draft;
    Draft::Item& pad = without.at(g.made_by(s));
    if (!can_go(draft, pad) || !leave_out(without, pad, which)) continue;
    draft = std::move(without);
    any = true;
  }
  if (!any) return std::nullopt;
  Graph out = draft.graph();
  out.pads_out = which;
  return out;
}

}  // namespace morello
