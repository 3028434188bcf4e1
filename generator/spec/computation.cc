#include "spec/computation.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "spec/sizes.h"

namespace morello {

static const FnDef& join(Combine c) { return *fn_def(joined_by(c)); }

Fn joined_by(Combine c) {
  MORELLO_CHECK(c != Combine::kNone, "nothing is combined");
  return c == Combine::kSum ? Fn::kAdd : c == Combine::kMax ? Fn::kMax : Fn::kMin;
}

double neutral(Combine c, Dtype t) {
  if (c == Combine::kSum) return 0;
  const double most = is_float(t) ? std::numeric_limits<double>::infinity() : INT32_MAX;
  const double least = is_float(t) ? -most : INT32_MIN;
  return c == Combine::kMax ? least : most;
}

const Operand& Computation::tensor(int t) const {
  const int n = static_cast<int>(operands.size());
  return t < n ? operands[t] : extras[t - n];
}

Operand& Computation::tensor(int t) { return const_cast<Operand&>(std::as_const(*this).tensor(t)); }

bool touches(const Operand& o, int d) {
  for (const AxisMap& axis : o.axes)
    for (const AxisTerm& term : axis)
      if (term.dim == d) return true;
  return false;
}

i64 RunTimeSize::nominal() const {
  // Large enough that starting a kernel does not count, and for most caches to matter.
  constexpr i64 kOrdinary = 1024;
  if (typical > 0) return typical;
  return bound > 0 ? bound : ceil_div(kOrdinary, granule) * granule;
}

const RunTimeSize* run_time_size(const Computation& c, int dim) {
  for (const RunTimeSize& s : c.sizes)
    if (s.name == c.dims[dim].size) return &s;
  return nullptr;
}

// Windows may end before the last element of an axis: whatever lies behind them stays.
Computation with_extents(const Computation& c, const std::vector<i64>& extents) {
  Computation part = c;
  for (size_t d = 0; d < extents.size(); ++d) part.dims[d].extent = extents[d];
  const auto cut = [&](Operand& o) {
    for (size_t axis = 0; axis < o.shape.size(); ++axis)
      for (const AxisTerm& t : o.axes[axis])
        o.shape[axis] += t.coefficient * (extents[t.dim] - c.dims[t.dim].extent);
  };
  for (Operand& o : part.operands) cut(o);
  for (Operand& o : part.extras) cut(o);
  return part;
}

// Rows whose distance the user says begin at an odd number of lines from one another, at least one
// line apart: so they lie in all sets of a cache, as those of a caller who cares do, and no two are
// taken for one piece of memory. Others lie as close as sizes allow, of which the nominal ones are
// assumed: a power of two, if that is typical, with what it does to sets. That is no less than a
// line, and more than what lies inside: a nominal size of 1 makes nothing adjacent.
constexpr i64 kLine = 64;

static i64 assumed_stride(i64 elements, Dtype t) {
  const i64 lines = ceil_div(elements * bytes(t), kLine) + 1;
  return (lines + 1 - lines % 2) * kLine / bytes(t);
}

static bool grows_at_run_time(const Computation& c, const Operand& o, const Digit& d) {
  if (d.mod != 0) return false;
  return std::any_of(o.axes[d.axis].begin(), o.axes[d.axis].end(),
                     [&](const AxisTerm& t) { return run_time_size(c, t.dim) != nullptr; });
}

static void set_strides(const Computation& c, Operand& o) {
  if (o.packed) return;
  const std::vector<Digit>& digits = o.layout.digits;
  std::vector<Stride> strides(digits.size());
  Stride next;
  i64 inside = 0;  // from one value of the digit before to the next
  bool any = false;
  for (size_t i = digits.size(); i-- > 0;) {
    const bool innermost = i + 1 == digits.size();
    if (o.strided && !innermost) next.run_time = true;
    const bool close = next.elements * bytes(o.dtype) < kLine || next.elements <= inside;
    if (next.run_time && (o.strided || close))
      next.elements = assumed_stride(next.elements, o.dtype);
    inside = next.elements;
    any |= next.run_time;
    strides[i] = next;
    next.elements *= o.layout.extent(digits[i], o.shape);
    next.run_time |= grows_at_run_time(c, o, digits[i]);
  }
  o.strides = any ? strides : std::vector<Stride>();
}

void set_strides(Computation& c) {
  for (Operand& o : c.operands) set_strides(c, o);
  for (Operand& o : c.extras) set_strides(c, o);
}

static std::string str(const AxisMap& axis, const Computation& c) {
  std::string out;
  for (const AxisTerm& term : axis) {
    if (!out.empty()) out += "+";
    if (term.coefficient != 1) out += fmt::format("{}*", term.coefficient);
    out += c.dims[term.dim].name;
  }
  return out.empty() ? "0" : out;
}

static std::string str(const Operand& o, const Computation& c) {
  std::string axes;
  for (size_t a = 0; a < o.axes.size(); ++a) {
    axes += (axes.empty() ? "" : ",") + str(o.axes[a], c);
    if (!o.zeros.empty() && o.zeros[a].low > 0) axes += fmt::format("-{}", o.zeros[a].low);
  }
  std::string out = fmt::format("{}[{}]", name(o.dtype), axes);
  const int rank = static_cast<int>(o.shape.size());
  if (o.packed) return out + " packed";
  if (!o.layout.is_row(rank)) out += " " + o.layout.str(rank);
  if (o.strided) out += " strided";
  return out;
}

std::string str(const Computation& c) {
  std::string inputs, reduced, extents;
  for (int i = 0; i < c.inputs(); ++i)
    inputs += (i > 0 ? ", " : "") + c.operands[i].name + ": " + str(c.operands[i], c);
  for (const Operand& o : c.extras) inputs += ", " + o.name + ": " + str(o, c);
  for (const Dim& d : c.dims) {
    if (d.reduction) reduced += " " + d.name;
    extents += fmt::format(" {}={}{}{}", d.name, d.size, d.size.empty() ? "" : "~", d.extent);
  }
  std::string out = "(" + inputs + ") -> " + str(c.output(), c) + ": " + str(c.body);
  if (c.reduces())
    out += fmt::format(", {} over{}", c.combine == Combine::kSum ? "sum" : join(c.combine).name,
                       reduced);
  if (!c.finish.empty()) out += ", then " + str(c.finish);
  return out + ";" + extents;
}

namespace {

// Row-major stride of each dim in operand o.
std::vector<i64> dim_strides(const Computation& c, const Operand& o) {
  std::vector<i64> strides(c.dims.size());
  i64 stride = 1;
  for (size_t axis = o.shape.size(); axis-- > 0;) {
    for (const AxisTerm& term : o.axes[axis]) strides[term.dim] += term.coefficient * stride;
    stride *= o.shape[axis];
  }
  return strides;
}

// Calls visit(where each tensor's element lies) for every point, the last dim fastest.
void each_point(const Computation& c, auto visit) {
  const auto tensors = static_cast<size_t>(c.tensors());
  std::vector<std::vector<i64>> strides;
  for (size_t t = 0; t < tensors; ++t)
    strides.push_back(dim_strides(c, c.tensor(static_cast<int>(t))));
  std::vector<i64> index(c.dims.size()), at(tensors);
  for (;;) {
    visit(at);
    int d = static_cast<int>(c.dims.size()) - 1;
    for (; d >= 0; --d) {
      const bool wraps = ++index[d] == c.dims[d].extent;
      for (size_t t = 0; t < tensors; ++t)
        at[t] += wraps ? -strides[t][d] * (c.dims[d].extent - 1) : strides[t][d];
      if (!wraps) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace

std::vector<double> with_border(const std::vector<double>& values, std::span<const i64> shape,
                                std::span<const Border> border) {
  std::vector<i64> outer, index(shape.size(), 0);
  for (size_t a = 0; a < shape.size(); ++a)
    outer.push_back(border[a].low + shape[a] + border[a].high);
  std::vector<double> out(count_elements(outer), 0.0);
  for (const double v : values) {
    i64 at = 0;
    for (size_t a = 0; a < index.size(); ++a) at = at * outer[a] + border[a].low + index[a];
    out[at] = v;
    for (size_t a = index.size(); a-- > 0 && ++index[a] == shape[a];) index[a] = 0;
  }
  return out;
}

// With its zeros as elements.
static std::vector<double> evaluate_bordered(Computation c,
                                             std::vector<std::vector<double>> inputs) {
  for (int i = 0; i < c.inputs(); ++i) {
    Operand& o = c.operands[i];
    if (o.zeros.empty()) continue;
    inputs[i] = with_border(inputs[i], o.shape, o.zeros);
    for (size_t a = 0; a < o.shape.size(); ++a) o.shape[a] += o.zeros[a].low + o.zeros[a].high;
    o.zeros.clear();
  }
  return evaluate(c, inputs);
}

std::vector<double> evaluate(const Computation& c, const std::vector<std::vector<double>>& inputs) {
  if (std::any_of(c.operands.begin(), c.operands.end(),
                  [](const Operand& o) { return !o.zeros.empty(); }))
    return evaluate_bordered(c, inputs);
  const size_t out = static_cast<size_t>(c.inputs()), extras = c.extras.size();
  MORELLO_CHECK(inputs.size() == out + extras);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Operand& o = i < out ? c.operands[i] : c.extras[i - out];
    MORELLO_CHECK(static_cast<i64>(inputs[i].size()) == count_elements(o.shape),
                  "input {} has {} values, not {}", i, inputs[i].size(), count_elements(o.shape));
  }
  std::vector<double> in(out), extra(extras);
  const auto read = [&](const std::vector<i64>& at) {
    for (size_t i = 0; i < out; ++i) in[i] = inputs[i][at[i]];
    for (size_t i = 0; i < extras; ++i) extra[i] = inputs[out + i][at[out + 1 + i]];
  };
  std::vector<double> result(count_elements(c.output().shape));
  if (c.reduces()) std::fill(result.begin(), result.end(), neutral(c.combine, c.compute));
  each_point(c, [&](const std::vector<i64>& at) {
    read(at);
    const double value = evaluate(c.body, in, extra);
    double& to = result[at[out]];
    to = c.reduces() ? apply(join(c.combine), c.compute, to, value) : value;
  });
  if (!c.finish.empty()) {  // once for every element: the points of the first index of each sum
    std::vector<char> done(result.size());
    each_point(c, [&](const std::vector<i64>& at) {
      if (std::exchange(done[at[out]], 1)) return;
      read(at);
      result[at[out]] = evaluate(c.finish, in, extra, result[at[out]]);
    });
  }
  if (c.output().dtype == Dtype::i16)
    for (double& x : result) x = clamp_i16(x);
  return result;
}

}  // namespace morello
