// A sum (or what else values are combined into) over axes of one element is that element, and what
// is made of it is arithmetic on elements: leaves for those move whole vectors, where folding would
// take one element after the other.
#include <algorithm>

#include "spec/build.h"

namespace morello {
namespace {

bool sums_one(const Computation& c) {
  const auto one = [](const Dim& d) { return !d.reduction || (d.extent == 1 && d.size.empty()); };
  return c.reduces() && std::all_of(c.dims.begin(), c.dims.end(), one);
}

// Whether axis lies in one piece and nobody is told where: its one index can go.
bool can_drop(const Operand& o, int axis) {
  const auto divided = [&](const Digit& d) { return d.axis == axis && (d.div != 1 || d.mod != 0); };
  return !o.packed && !o.strided && o.zeros.empty() && o.strides.empty() &&
         std::none_of(o.layout.digits.begin(), o.layout.digits.end(), divided);
}

bool is_summed(const Computation& c, const AxisMap& axis) {
  return std::any_of(axis.begin(), axis.end(),
                     [&](const AxisTerm& t) { return c.dims[t.dim].reduction; });
}

void erase_summed_axes(const Computation& c, Operand& o) {
  for (int axis = static_cast<int>(o.axes.size()) - 1; axis >= 0; --axis)
    if (is_summed(c, o.axes[axis])) erase_axis(o, axis);
}

// The finish of what the body says.
Expression composed(const Expression& body, const Expression& finish) {
  Expression out = body;
  std::vector<int> at;  // of each term of the finish
  for (Term t : finish) {
    if (t.fn == Fn::kValue) {
      at.push_back(static_cast<int>(body.size()) - 1);
      continue;
    }
    if (fn_def(t.fn))
      for (int* arg : {&t.a, &t.b, &t.c})
        if (*arg >= 0) *arg = at[static_cast<size_t>(*arg)];
    at.push_back(add_term(out, t));
  }
  out.resize(finish.empty() ? out.size() : static_cast<size_t>(at.back()) + 1);
  return pruned(out);
}

}  // namespace

void take_sums_of_one(Computation& c) {
  // (Leaves for elements compute in one type.)
  if (!sums_one(c) || c.result() != c.compute || is_float(c.compute) != is_float(c.output().dtype))
    return;
  // Products have leaves that hold one input still; inputs of elementwise code have every point.
  if (c.body == product_of_inputs(c.compute)) return;
  for (int i = 0; i < c.inputs(); ++i)
    if (c.inputs() > 1 && !has_every_point(c, c.operands[i])) return;
  for (int t = 0; t < c.tensors(); ++t) {
    const Operand& o = c.tensor(t);
    for (size_t axis = 0; axis < o.axes.size(); ++axis)
      if (is_summed(c, o.axes[axis]) &&
          (o.axes[axis].size() > 1 || !can_drop(o, static_cast<int>(axis))))
        return;
  }
  for (int t = 0; t < c.tensors(); ++t) erase_summed_axes(c, c.tensor(t));
  for (int d = static_cast<int>(c.dims.size()) - 1; d >= 0; --d)
    if (c.dims[d].reduction) erase_dim(c, d);
  c.body = composed(c.body, c.finish);
  c.finish.clear();
  c.combine = Combine::kNone;
}

}  // namespace morello
