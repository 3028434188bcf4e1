#include "spec/build.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace morello {

Axes axes_of(std::span<const int> dims) {
  Axes axes;
  for (const int d : dims) axes.push_back({{d, 1}});
  return axes;
}

Operand make_operand(const Param& p, std::span<const AxisMap> axes) {
  Operand o{.name = p.name,
            .dtype = p.dtype,
            .shape = extents(p.shape),
            .axes = {axes.begin(), axes.end()},
            .layout = p.layout,
            .packed = p.packed,
            .strided = p.strided};
  return o;
}

static Size size_of(const Computation& c, const AxisMap& axis) {
  if (axis.size() == 1 && axis[0].coefficient == 1)
    return {c.dims[axis[0].dim].extent, c.dims[axis[0].dim].size};
  i64 last = 0;
  for (const AxisTerm& t : axis) last += t.coefficient * (c.dims[t.dim].extent - 1);
  return {last + 1};
}

std::vector<Size> sizes_of(const Computation& c, const Operand& o) {
  std::vector<Size> out;
  for (const AxisMap& axis : o.axes) out.push_back(size_of(c, axis));
  return out;
}

Operand make_output(const Computation& c, Dtype dtype, const Axes& axes) {
  Param result{.name = "out",
               .dtype = dtype,
               .shape = {},
               .layout = Layout::row(static_cast<int>(axes.size())),
               .packed = false};
  for (const AxisMap& axis : axes) result.shape.push_back(size_of(c, axis));
  return make_operand(result, axes);
}

bool multiplies(Dtype a, Dtype b) {
  return (is_float(a) && is_float(b)) || (bytes(a) == 1 && bytes(b) == 1);
}

Expression product_of_inputs(Dtype compute) {
  return {{.fn = Fn::kInput, .type = compute, .a = 0},
          {.fn = Fn::kInput, .type = compute, .a = 1},
          {.fn = Fn::kMul, .type = compute, .a = 0, .b = 1}};
}

std::string shape_text(std::span<const Size> shape) {
  std::string out;
  for (const Size& s : shape) out += (out.empty() ? "" : ",") + str(s);
  return "[" + out + "]";
}

Dim make_dim(std::string name, const Size& size, bool reduction) {
  return {std::move(name), size.extent, reduction, size.name};
}

std::string numbered(std::string_view letter, int i) { return fmt::format("{}{}", letter, i); }

bool has_every_point(const Computation& c, const Operand& o) {
  for (size_t d = 0; d < c.dims.size(); ++d)
    if (c.dims[d].extent > 1 && !touches(o, static_cast<int>(d))) return false;
  return true;
}

// The axis of `o` that dim d indexes step by step, if d occurs nowhere else; else -1.
static int only_axis(const Operand& o, int d) {
  int found = -1;
  for (size_t axis = 0; axis < o.axes.size(); ++axis)
    for (const AxisTerm& term : o.axes[axis]) {
      if (term.dim != d) continue;
      if (found >= 0 || term.coefficient != 1) return -1;
      found = static_cast<int>(axis);
    }
  return found;
}

// Whether axis + 1 varies just inside axis in memory, both undivided.
static bool contiguous(const Operand& o, int axis) {
  if (o.packed) return true;    // given to the packer in row order
  if (o.strided) return false;  // for all we know
  const std::vector<Digit>& digits = o.layout.digits;
  for (size_t i = 0; i + 1 < digits.size(); ++i)
    if (digits[i] == Digit{axis, 1, 0} && digits[i + 1] == Digit{axis + 1, 1, 0})
      return o.strides.empty() ||
             (!o.strides[i].run_time &&
              o.strides[i].elements == o.strides[i + 1].elements * o.shape[axis + 1]);
  return false;
}

bool can_merge(const Computation& c, int d) {
  if (c.dims[d].reduction != c.dims[d + 1].reduction) return false;
  if (run_time_size(c, d) || run_time_size(c, d + 1)) return false;
  // The inner dim is all of an axis; others may index that of the outer one, as in a window.
  const auto as_one = [&](const Operand& o) {
    if (!touches(o, d) && !touches(o, d + 1)) return true;
    const int outer = only_axis(o, d), inner = only_axis(o, d + 1);
    const auto has_zeros = [&](int axis) {
      return axis >= 0 && !o.zeros.empty() && o.zeros[axis] != Border{};
    };
    if (has_zeros(outer) || has_zeros(inner)) return false;
    return outer >= 0 && inner == outer + 1 && o.axes[inner].size() == 1 &&
           o.shape[inner] == c.dims[d + 1].extent && contiguous(o, outer);
  };
  return std::all_of(c.operands.begin(), c.operands.end(), as_one) &&
         std::all_of(c.extras.begin(), c.extras.end(), as_one);
}

void erase_axis(Operand& o, int axis) {
  o.shape.erase(o.shape.begin() + axis);
  o.axes.erase(o.axes.begin() + axis);
  if (!o.zeros.empty()) o.zeros.erase(o.zeros.begin() + axis);
  if (o.packed) {
    o.layout = Layout::row(static_cast<int>(o.shape.size()));
    o.strides.clear();
    return;
  }
  const auto digit = std::find(o.layout.digits.begin(), o.layout.digits.end(), Digit{axis, 1, 0});
  if (!o.strides.empty()) o.strides.erase(o.strides.begin() + (digit - o.layout.digits.begin()));
  o.layout.digits.erase(digit);
  for (Digit& other : o.layout.digits)
    if (other.axis > axis) --other.axis;
}

void erase_dim(Computation& c, int d) {
  for (int t = 0; t < c.tensors(); ++t)
    for (AxisMap& axis : c.tensor(t).axes)
      for (AxisTerm& term : axis)
        if (term.dim > d) --term.dim;
  c.dims.erase(c.dims.begin() + d);
}

static void merge_axes(Operand& o, int axis, int d) {
  for (AxisTerm t : o.axes[axis]) {
    t.coefficient *= o.shape[axis + 1];
    if (t.dim != d) o.axes[axis + 1].push_back(t);
  }
  o.shape[axis + 1] *= o.shape[axis];
  erase_axis(o, axis);
}

void merge(Computation& c, int d) {
  for (int t = 0; t < c.tensors(); ++t)
    if (Operand& o = c.tensor(t); touches(o, d)) merge_axes(o, only_axis(o, d), d);
  c.dims[d + 1].extent *= c.dims[d].extent;
  erase_dim(c, d);
}

// b1, m0, n0 -> b, m, n; i0, i2 -> i0, i1.
static void renumber(std::vector<Dim>& dims) {
  const auto letter = [](const std::string& name) {
    return name.substr(0, name.find_first_of("0123456789"));
  };
  std::map<std::string, int> count, next;
  for (const Dim& d : dims) ++count[letter(d.name)];
  for (Dim& d : dims) {
    const std::string l = letter(d.name);
    d.name = count[l] == 1 ? l : numbered(l, next[l]++);
  }
}

// What each dim that there was has become.
static std::vector<int> merge_all(Computation& c) {
  std::vector<int> now(c.dims.size());
  std::iota(now.begin(), now.end(), 0);
  for (int d = 0; d + 1 < static_cast<int>(c.dims.size());) {
    if (!can_merge(c, d)) {
      ++d;
      continue;
    }
    merge(c, d);
    for (int& n : now) n -= n > d;
  }
  return now;
}

Computation collapse(Computation c) {
  merge_all(c);
  renumber(c.dims);
  return c;
}

std::vector<int> collapsed_dims(Computation c) { return merge_all(c); }

}  // namespace morello
