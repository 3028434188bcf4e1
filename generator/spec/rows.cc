#include "spec/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace morello {

int rows_axis(const Param& p) {
  for (size_t axis = 0; axis < p.shape.size(); ++axis)
    if (!p.shape[axis].name.empty()) return static_cast<int>(axis);
  return -1;
}

i64 row_elements(const Param& p) {
  const int axis = rows_axis(p);
  if (axis < 0) return 0;
  const std::vector<i64> shape = extents(p.shape);
  return p.layout.elements(shape) / shape[static_cast<size_t>(axis)];
}

namespace {

// Of a parameter or a result.
std::string place_problem(const Param& p) {
  const auto names =
      std::count_if(p.shape.begin(), p.shape.end(), [](const Size& s) { return !s.name.empty(); });
  if (names > 1) return fmt::format("`{}` has {} axes of it", p.name, names);
  const int axis = rows_axis(p);
  if (axis < 0 || p.layout.digits.front().axis == axis) return "";
  Layout front{{{axis, 1, 0}}};
  const int rank = static_cast<int>(p.shape.size());
  for (int other = 0; other < rank; ++other)
    if (other != axis) front.digits.push_back({other, 1, 0});
  return fmt::format("`{}` must have it as the outermost axis, as in {}", p.name, front.str(rank));
}

// Of one step: rows are found by one dim, which does nothing else.
std::string step_problem(const KernelSpec& spec, const Stage& s) {
  const Computation& c = s.computation;
  int rows = -1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (c.dims[d].size.empty()) continue;
    if (rows >= 0) return "a step has two axes of it";
    if (c.dims[d].reduction) return "something is summed or compared over it";
    rows = d;
  }
  const auto stage = static_cast<int>(&s - spec.stages.data());
  for (int t = 0, input = 0; t < c.tensors(); ++t) {
    const Param& p = spec.tensor(t == c.inputs() ? spec.made_by(stage)
                                                 : s.arguments[static_cast<size_t>(input++)]);
    const Operand& o = c.tensor(t);
    for (size_t axis = 0; axis < p.shape.size(); ++axis) {
      if (p.shape[axis].name.empty()) continue;
      if (axis >= o.axes.size() || o.axes[axis] != AxisMap{{rows, 1}})
        return "windows move along it, or it is put together with something else";
    }
  }
  for (size_t axis = 0; axis < s.border.size(); ++axis)
    if (s.border[axis] != Border{} && c.output().axes[axis] == AxisMap{{rows, 1}})
      return "zeros are put before or behind it";
  return "";
}

}  // namespace

std::string rows_problem(const KernelSpec& spec) {
  if (spec.sizes().size() > 1)
    return fmt::format("there is another one, `{}`, and one can be served", spec.sizes()[1].name);
  for (const Stage& s : spec.stages)
    if (std::string why = step_problem(spec, s); !why.empty()) return why;
  for (const Param& p : spec.params)
    if (std::string why = place_problem(p); !why.empty()) return why;
  for (size_t i = 0; i < spec.results.size(); ++i)
    if (std::string why = place_problem(spec.result(i)); !why.empty()) return why;
  return "";
}

KernelSpec with_rows(const KernelSpec& spec, i64 rows) {
  KernelSpec out = spec;
  const auto cut = [&](Param& p) {
    for (Size& s : p.shape)
      if (!s.name.empty()) s = Size(rows);
  };
  std::for_each(out.params.begin(), out.params.end(), cut);
  std::for_each(out.made.begin(), out.made.end(), cut);
  for (Stage& s : out.stages) {
    std::vector<i64> extents;
    for (const Dim& d : s.computation.dims) extents.push_back(d.size.empty() ? d.extent : rows);
    Computation& c = s.computation = with_extents(s.computation, extents);
    c.sizes.clear();
    for (Dim& d : c.dims) d.size.clear();
    // Between stages rows may lie beside one another: at distances that are numbers now.
    set_strides(c);
  }
  return out;
}

}  // namespace morello
