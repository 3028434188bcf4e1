#include "spec/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace morello {

int rows_axis(const Param& p, const std::string& size) {
  for (size_t axis = 0; axis < p.shape.size(); ++axis)
    if (p.shape[axis].name == size) return static_cast<int>(axis);
  return -1;
}

int rows_digit(const Param& p, const std::string& size) {
  const int axis = rows_axis(p, size);
  if (axis < 0) return -1;
  for (size_t i = 0; i < p.layout.digits.size(); ++i)
    if (p.layout.digits[i].axis == axis) return static_cast<int>(i);
  return -1;
}

// Whether an axis inside of its rows has a size that is known at run time only.
static bool has_names_inside(const Param& p, int digit) {
  return std::any_of(p.layout.digits.begin() + digit + 1, p.layout.digits.end(),
                     [&](const Digit& d) {
                       const size_t axis = static_cast<size_t>(d.axis);
                       return d.axis != p.layout.digits[static_cast<size_t>(digit)].axis &&
                              !p.shape[axis].name.empty();
                     });
}

// All that lies outside of its rows is a single element, and all that lies inside has a number.
static bool has_dense_rows(const Param& p, const std::string& size) {
  const int digit = rows_digit(p, size);
  const std::vector<i64> shape = extents(p.shape);
  for (int i = 0; i < digit; ++i) {
    const Digit& d = p.layout.digits[static_cast<size_t>(i)];
    const bool named = !p.shape[static_cast<size_t>(d.axis)].name.empty();
    if (named || p.layout.extent(d, shape) > 1) return false;
  }
  return !has_names_inside(p, digit);
}

std::optional<i64> row_elements(const Param& p, const std::string& size) {
  const int digit = rows_digit(p, size);
  if (digit < 0) return 0;
  const bool innermost = digit + 1 == static_cast<int>(p.layout.digits.size());
  if ((p.strided && !innermost) || has_names_inside(p, digit)) return std::nullopt;
  const std::vector<i64> shape = extents(p.shape);
  i64 all = 1;
  for (size_t i = static_cast<size_t>(digit); i < p.layout.digits.size(); ++i)
    all *= p.layout.extent(p.layout.digits[i], shape);
  return all / shape[static_cast<size_t>(rows_axis(p, size))];
}

namespace {

// Of a parameter or a result.
std::string place_problem(const Param& p, const std::string& size) {
  const auto names =
      std::count_if(p.shape.begin(), p.shape.end(), [&](const Size& s) { return s.name == size; });
  if (names > 1)
    return fmt::format("`{}` has {} axes of it (they can have two names)", p.name, names);
  if (names == 0 || has_dense_rows(p, size)) return "";
  const bool blocks = std::any_of(p.layout.digits.begin(), p.layout.digits.end(),
                                  [](const Digit& d) { return d.div != 1 || d.mod != 0; });
  return blocks ? fmt::format(
                      "`{}` has blocks, and then it must be the outermost axis, and the "
                      "only one with a name",
                      p.name)
                : "";
}

// Of one step: rows are found by one dim, which does nothing else.
std::string step_problem(const KernelSpec& spec, const Stage& s, const std::string& size) {
  const Computation& c = s.computation;
  int rows = -1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (c.dims[d].size != size) continue;
    if (rows >= 0) return "a step has two axes of it (parameters can give them two names)";
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
      if (p.shape[axis].name != size) continue;
      if (axis >= o.axes.size() || o.axes[axis] != AxisMap{{rows, 1}})
        return "windows move along it, or it is put together with something else";
    }
  }
  for (size_t axis = 0; axis < s.border.size(); ++axis)
    if (s.border[axis] != Border{} && c.output().axes[axis] == AxisMap{{rows, 1}})
      return "zeros are put before or behind it";
  return "";
}

bool sums_over(const KernelSpec& spec, const std::string& size) {
  for (const Stage& s : spec.stages)
    for (const Dim& d : s.computation.dims)
      if (d.reduction && d.size == size) return true;
  return false;
}

std::string size_problem(const KernelSpec& spec, const std::string& size) {
  for (const Stage& s : spec.stages)
    if (std::string why = step_problem(spec, s, size); !why.empty()) return why;
  for (const Param& p : spec.params)
    if (std::string why = place_problem(p, size); !why.empty()) return why;
  for (size_t i = 0; i < spec.results.size(); ++i)
    if (std::string why = place_problem(spec.result(i), size); !why.empty()) return why;
  return "";
}

void set_strided(KernelSpec& spec, int tensor) {
  const auto params = static_cast<int>(spec.params.size());
  Param& p = tensor < params ? spec.params[static_cast<size_t>(tensor)]
                             : spec.made[static_cast<size_t>(tensor - params)];
  const std::string& size = rows_size(spec).name;
  if (rows_axis(p, size) < 0 || has_dense_rows(p, size)) return;
  p.strided = true;
  for (size_t s = 0; s < spec.stages.size(); ++s) {
    Computation& c = spec.stages[s].computation;
    for (size_t a = 0; a < spec.stages[s].arguments.size(); ++a)
      if (spec.stages[s].arguments[a] == tensor)
        c.tensor(c.tensor_of(static_cast<int>(a))).strided = true;
    if (spec.made_by(static_cast<int>(s)) == tensor) c.operands.back().strided = true;
  }
}

}  // namespace

std::optional<RowsProblem> rows_problem(const KernelSpec& spec) {
  const std::vector<RunTimeSize>& sizes = spec.sizes();
  if (static_cast<int>(sizes.size()) > kMostRowSizes)
    return RowsProblem{sizes[0].name,
                       fmt::format("there are others, `{}` and `{}`, and {} can be served",
                                   sizes[1].name, sizes[2].name, kMostRowSizes)};
  std::string summed;
  for (const RunTimeSize& s : sizes) {
    if (std::string why = size_problem(spec, s.name); !why.empty()) return RowsProblem{s.name, why};
    if (!sums_over(spec, s.name)) continue;
    if (!summed.empty())
      return RowsProblem{
          summed,
          fmt::format("something is summed over it, and over `{}` as well; one can have a name",
                      s.name)};
    summed = s.name;
  }
  return std::nullopt;
}

const RunTimeSize& rows_size(const KernelSpec& spec) {
  for (const RunTimeSize& s : spec.sizes())
    if (!sums_over(spec, s.name)) return s;
  return spec.sizes().front();
}

KernelSpec expecting(const KernelSpec& spec, const Counts& counts) {
  KernelSpec out = spec;
  const auto count = [&](const std::string& name, i64 extent) {
    const auto known = counts.find(name);
    return known == counts.end() ? extent : known->second;
  };
  for (std::vector<Param>* tensors : {&out.params, &out.made})
    for (Param& p : *tensors)
      for (Size& s : p.shape) s.extent = count(s.name, s.extent);
  for (Stage& s : out.stages) {
    std::vector<i64> extents;
    for (const Dim& d : s.computation.dims) extents.push_back(count(d.size, d.extent));
    s.computation = with_extents(s.computation, extents);
  }
  return out;
}

KernelSpec with_rows(const KernelSpec& spec, i64 rows) {
  const std::string size = rows_size(spec).name;
  KernelSpec out = expecting(spec, {{size, rows}});
  for (std::vector<Param>* tensors : {&out.params, &out.made})
    for (Param& p : *tensors)
      for (Size& s : p.shape)
        if (s.name == size) s.name.clear();
  for (Stage& s : out.stages) {
    Computation& c = s.computation;
    std::erase_if(c.sizes, [&](const RunTimeSize& t) { return t.name == size; });
    for (Dim& d : c.dims)
      if (d.size == size) d.size.clear();
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
