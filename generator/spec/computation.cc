#include "spec/computation.h"

#include <algorithm>

#include "spec/sizes.h"

namespace morello {

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

Computation with_extents(const Computation& c, const std::vector<i64>& extents) {
  Computation part = c;
  for (size_t d = 0; d < extents.size(); ++d) part.dims[d].extent = extents[d];
  for (Operand& o : part.operands)
    for (size_t axis = 0; axis < o.shape.size(); ++axis) {
      i64 last = 0;
      for (const AxisTerm& t : o.axes[axis]) last += t.coefficient * (extents[t.dim] - 1);
      o.shape[axis] = last + 1;
    }
  return part;
}

// Rows that begin at an odd number of lines from one another, at least one line apart: so they lie
// in all sets of a cache, as those of a caller who cares do, and no two are taken for one piece of
// memory.
static i64 assumed_stride(i64 elements, Dtype t) {
  constexpr i64 kLine = 64;
  const i64 lines = ceil_div(elements * bytes(t), kLine) + 1;
  return (lines + 1 - lines % 2) * kLine / bytes(t);
}

static bool grows_at_run_time(const Computation& c, const Operand& o, const Digit& d) {
  if (d.mod != 0) return false;
  return std::any_of(o.axes[d.axis].begin(), o.axes[d.axis].end(),
                     [&](const AxisTerm& t) { return run_time_size(c, t.dim) != nullptr; });
}

void set_strides(Computation& c) {
  for (Operand& o : c.operands) {
    if (o.packed) continue;
    const std::vector<Digit>& digits = o.layout.digits;
    std::vector<Stride> strides(digits.size());
    Stride next;
    bool any = false;
    for (size_t i = digits.size(); i-- > 0;) {
      const bool innermost = i + 1 == digits.size();
      if (o.strided && !innermost) next.run_time = true;
      if (next.run_time) next.elements = assumed_stride(next.elements, o.dtype);
      any |= next.run_time;
      strides[i] = next;
      next.elements *= o.layout.extent(digits[i], o.shape);
      next.run_time |= grows_at_run_time(c, o, digits[i]);
    }
    o.strides = any ? strides : std::vector<Stride>();
  }
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
  for (const AxisMap& axis : o.axes) axes += (axes.empty() ? "" : ",") + str(axis, c);
  std::string out = fmt::format("{}[{}]", name(o.dtype), axes);
  const int rank = static_cast<int>(o.shape.size());
  if (o.packed) return out + " packed";
  if (!o.layout.is_row(rank)) out += " " + o.layout.str(rank);
  if (o.strided) out += " strided";
  return out;
}

// Postfix to infix; a product binds closer than a sum.
static std::string str(const Body& body) {
  struct Part {
    std::string text;
    bool sum;
  };
  std::vector<Part> stack;
  for (const BodyOp op : body) {
    if (op == BodyOp::kIn0 || op == BodyOp::kIn1) {
      stack.push_back({op == BodyOp::kIn0 ? "in0" : "in1", false});
      continue;
    }
    MORELLO_CHECK(stack.size() >= 2);
    const Part b = stack.back();
    stack.pop_back();
    Part& a = stack.back();
    const auto factor = [](const Part& p) { return p.sum ? "(" + p.text + ")" : p.text; };
    const bool sum = op == BodyOp::kAdd;
    a = {sum ? a.text + " + " + b.text : factor(a) + " * " + factor(b), sum};
  }
  MORELLO_CHECK(stack.size() == 1);
  return stack.back().text;
}

std::string str(const Computation& c) {
  std::string inputs, reduced, extents;
  for (int i = 0; i < c.inputs(); ++i)
    inputs += (i > 0 ? ", " : "") + c.operands[i].name + ": " + str(c.operands[i], c);
  for (const Dim& d : c.dims) {
    if (d.reduction) reduced += " " + d.name;
    extents += fmt::format(" {}={}{}{}", d.name, d.size, d.size.empty() ? "" : "~", d.extent);
  }
  std::string out = "(" + inputs + ") -> " + str(c.output(), c) + ": " + str(c.body);
  if (c.combine == Combine::kSum) out += ", sum over" + reduced;
  return out + ";" + extents;
}

namespace {

// Arithmetic of the meaning: floats in double, integers modulo 2^64 (so that wrapping to 32 bits
// at the end is exact however long the sum was).
struct Real {
  using Value = double;
  static Value from(double x) { return x; }
  static double to(Value x) { return x; }
};
struct Integer {
  using Value = std::uint64_t;
  static Value from(double x) { return static_cast<Value>(static_cast<i64>(x)); }
  static double to(Value x) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(x)); }
};

template <class T>
T run_body(const Body& body, const T (&in)[2]) {
  T stack[8];
  int n = 0;
  for (const BodyOp op : body) {
    MORELLO_CHECK(n < 8 && (n >= 2 || op == BodyOp::kIn0 || op == BodyOp::kIn1));
    switch (op) {
      case BodyOp::kIn0:
        stack[n++] = in[0];
        break;
      case BodyOp::kIn1:
        stack[n++] = in[1];
        break;
      case BodyOp::kAdd:
        --n;
        stack[n - 1] = stack[n - 1] + stack[n];
        break;
      case BodyOp::kMul:
        --n;
        stack[n - 1] = stack[n - 1] * stack[n];
        break;
    }
  }
  MORELLO_CHECK(n == 1);
  return stack[0];
}

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

i64 elements(const Operand& o) {
  i64 n = 1;
  for (const i64 extent : o.shape) n *= extent;
  return n;
}

template <class Arithmetic>
std::vector<double> run(const Computation& c, const std::vector<std::vector<double>>& inputs) {
  using Value = typename Arithmetic::Value;
  std::vector<std::vector<i64>> strides;
  for (const Operand& o : c.operands) strides.push_back(dim_strides(c, o));
  std::vector<Value> out(elements(c.output()));
  std::vector<i64> index(c.dims.size()), at(c.operands.size());
  for (;;) {
    Value in[2] = {};
    for (int i = 0; i < c.inputs(); ++i) in[i] = Arithmetic::from(inputs[i][at[i]]);
    const Value value = run_body(c.body, in);
    Value& result = out[at.back()];
    result = c.combine == Combine::kSum ? result + value : value;
    // The next point, last dim fastest.
    int d = static_cast<int>(c.dims.size()) - 1;
    for (; d >= 0; --d) {
      const bool wraps = ++index[d] == c.dims[d].extent;
      for (size_t o = 0; o < at.size(); ++o)
        at[o] += wraps ? -strides[o][d] * (c.dims[d].extent - 1) : strides[o][d];
      if (!wraps) break;
      index[d] = 0;
    }
    if (d < 0) break;
  }
  std::vector<double> result(out.size());
  std::transform(out.begin(), out.end(), result.begin(), Arithmetic::to);
  return result;
}

}  // namespace

std::vector<double> evaluate(const Computation& c, const std::vector<std::vector<double>>& inputs) {
  MORELLO_CHECK(static_cast<int>(inputs.size()) == c.inputs() && c.inputs() <= 2);
  for (int i = 0; i < c.inputs(); ++i)
    MORELLO_CHECK(static_cast<i64>(inputs[i].size()) == elements(c.operands[i]),
                  "input {} has {} values, not {}", i, inputs[i].size(), elements(c.operands[i]));
  if (is_float(c.compute)) return run<Real>(c, inputs);
  std::vector<double> result = run<Integer>(c, inputs);
  if (c.output().dtype == Dtype::i16)
    for (double& x : result) x = clamp_i16(x);
  return result;
}

}  // namespace morello
