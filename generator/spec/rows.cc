#include "spec/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace morello {

int rows_axis(const Param& p) {
  for (size_t axis = 0; axis < p.shape.size(); ++axis)
    if (!p.shape[axis].name.empty()) return static_cast<int>(axis);
  return -1;
}

int rows_digit(const Param& p) {
  const int axis = rows_axis(p);
  for (size_t i = 0; i < p.layout.digits.size(); ++i)
    if (p.layout.digits[i].axis == axis) return static_cast<int>(i);
  return -1;
}

// All that lies outside of its rows is a single element.
static bool has_rows_outermost(const Param& p) {
  const int digit = rows_digit(p);
  const std::vector<i64> shape = extents(p.shape);
  for (int i = 0; i < digit; ++i)
    if (p.layout.extent(p.layout.digits[static_cast<size_t>(i)], shape) > 1) return false;
  return true;
}

i64 row_elements(const Param& p) {
  const int digit = rows_digit(p);
  if (digit < 0) return 0;
  const std::vector<i64> shape = extents(p.shape);
  i64 all = 1;
  for (size_t i = static_cast<size_t>(digit); i < p.layout.digits.size(); ++i)
    all *= p.layout.extent(p.layout.digits[i], shape);
  return all / shape[static_cast<size_t>(rows_axis(p))];
}

namespace {

// Of a parameter or a result.
std::string place_problem(const Param& p) {
  const auto names =
      std::count_if(p.shape.begin(), p.shape.end(), [](const Size& s) { return !s.name.empty(); });
  if (names > 1) return fmt::format("`{}` has {} axes of it", p.name, names);
  if (names == 0 || has_rows_outermost(p)) return "";
  const bool blocks = std::any_of(p.layout.digits.begin(), p.layout.digits.end(),
                                  [](const Digit& d) { return d.div != 1 || d.mod != 0; });
  return blocks ? fmt::format("`{}` has blocks, and then it must be the outermost axis", p.name)
                : "";
}

// Of one step: rows are found by one dim, which does nothing else.
std::string step_problem(const KernelSpec& spec, const Stage& s) {
  const Computation& c = s.computation;
  int rows = -1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (c.dims[d].size.empty()) continue;
    if (rows >= 0) return "a step has two axes of it";
    rows = d;
  }
  if (rows >= 0 && c.dims[rows].reduction && c.result() != c.compute)
    return "a sum of integers over it becomes floats";
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

void set_strided(KernelSpec& spec, int tensor) {
  const auto params = static_cast<int>(spec.params.size());
  Param& p = tensor < params ? spec.params[static_cast<size_t>(tensor)]
                             : spec.made[static_cast<size_t>(tensor - params)];
  if (rows_axis(p) < 0 || has_rows_outermost(p)) return;
  p.strided = true;
  for (size_t s = 0; s < spec.stages.size(); ++s) {
    Computation& c = spec.stages[s].computation;
    const auto inputs = static_cast<size_t>(c.inputs());
    for (size_t t = 0; t < spec.stages[s].arguments.size(); ++t)
      if (spec.stages[s].arguments[t] == tensor)
        (t < inputs ? c.operands[t] : c.extras[t - inputs]).strided = true;
    if (spec.made_by(static_cast<int>(s)) == tensor) c.operands.back().strided = true;
  }
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

KernelSpec expecting_rows(const KernelSpec& spec, i64 rows) {
  KernelSpec out = spec;
  for (std::vector<Param>* tensors : {&out.params, &out.made})
    for (Param& p : *tensors)
      for (Size& s : p.shape)
        if (!s.name.empty()) s.extent = rows;
  for (Stage& s : out.stages) {
    std::vector<i64> extents;
    for (const Dim& d : s.computation.dims) extents.push_back(d.size.empty() ? d.extent : rows);
    s.computation = with_extents(s.computation, extents);
  }
  return out;
}

KernelSpec with_rows(const KernelSpec& spec, i64 rows) {
  KernelSpec out = expecting_rows(spec, rows);
  for (std::vector<Param>* tensors : {&out.params, &out.made})
    for (Param& p : *tensors)
      for (Size& s : p.shape) s.name.clear();
  for (Stage& s : out.stages) {
    Computation& c = s.computation;
    c.sizes.clear();
    for (Dim& d : c.dims) d.size.clear();
    // Between stages rows may lie beside one another: at distances that are numbers now.
    set_strides(c);
  }
  return out;
}

KernelSpec among_rows(const KernelSpec& spec) {
  KernelSpec out = spec;
  for (int t = 0; t < static_cast<int>(spec.params.size()); ++t) set_strided(out, t);
  for (const int stage : spec.results) set_strided(out, spec.made_by(stage));
  return out;
}

}  // namespace morello
