#include "run/evaluate.h"

#include <algorithm>
#include <cmath>

#include "run/functions.h"
#include "run/windows.h"

namespace morello::run {
namespace {

using Shape = std::vector<i64>;

int arity(Word w) {
  if (w == Word::param || w == Word::number || w == Word::name) return 0;
  if (w == Word::select) return 3;
  const bool two = (w >= Word::add && w <= Word::ne) || w == Word::matmul || w == Word::conv2d ||
                   w == Word::rms_norm || w == Word::layer_norm;
  return two ? 2 : 1;
}

bool reduces(Word w) { return w >= Word::reduce_sum && w <= Word::reduce_mean; }

// What is computed in floats whatever its operands are.
bool to_floats(Word w) {
  switch (w) {
    case Word::div:
    case Word::exp:
    case Word::tanh:
    case Word::erf:
    case Word::log:
    case Word::sqrt:
    case Word::rsqrt:
    case Word::sigmoid:
    case Word::silu:
    case Word::gelu:
    case Word::gelu_tanh:
    case Word::reduce_mean:
    case Word::softmax:
    case Word::rms_norm:
    case Word::layer_norm:
      return true;
    default:
      return false;
  }
}

bool one_number(const Shape& s) { return s.empty() || (s.size() == 1 && s[0] == 1); }

i64 count(const Shape& s) {
  i64 n = 1;
  for (const i64 extent : s) n *= std::max<i64>(extent, 1);
  return n;
}

// Of several that are aligned at their last axes: the longest; of an inserted axis the others say
// how long it is.
Shape aligned(const std::vector<Array>& args) {
  Shape out;
  for (const Array& a : args)
    if (a.shape.size() > out.size() || (one_number(out) && a.shape.size() == out.size()))
      out = a.shape;
  for (const Array& a : args)
    for (std::size_t i = 1; i <= a.shape.size() && !one_number(a.shape); ++i)
      if (i64& extent = out[out.size() - i]; extent == 0) extent = a.shape[a.shape.size() - i];
  return out;
}

// How far an element lies from the next one along each axis of `shape`.
std::vector<i64> steps(const Array& a, const Shape& shape) {
  std::vector<i64> out(shape.size(), 0);
  if (one_number(a.shape)) return out;
  i64 step = 1;
  for (std::size_t i = 1; i <= a.shape.size(); ++i) {
    const i64 extent = a.shape[a.shape.size() - i];
    if (extent == 0) continue;
    out[out.size() - i] = step;
    step *= extent;
  }
  return out;
}

// each(offset in every one of them), for all elements of a shape.
template <class Each>
void for_each(const Shape& shape, const std::vector<Array>& args, Each each) {
  std::vector<std::vector<i64>> step;
  for (const Array& a : args) step.push_back(steps(a, shape));
  std::vector<i64> index(shape.size(), 0), at(args.size(), 0);
  for (i64 n = count(shape); n > 0; --n) {
    each(at);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const bool wraps = ++index[axis] >= std::max<i64>(shape[axis], 1);
      for (std::size_t i = 0; i < at.size(); ++i)
        at[i] += step[i][axis] * (wraps ? 1 - index[axis] : 1);
      if (!wraps) break;
      index[axis] = 0;
    }
  }
}

const Interval& element(const Array& a, i64 i) { return a.at[static_cast<std::size_t>(i)]; }

// change(the elements along an axis), for all of them: it may leave fewer.
template <class Change>
void along(Array& a, std::size_t axis, Change change) {
  const i64 length = a.shape[axis];
  i64 inner = 1, kept = length;
  for (std::size_t i = axis + 1; i < a.shape.size(); ++i) inner *= a.shape[i];
  const i64 outer = count(a.shape) / length / inner;
  std::vector<Interval> out;
  for (i64 o = 0; o < outer; ++o)
    for (i64 i = 0; i < inner; ++i) {
      std::vector<Interval> line;
      for (i64 k = 0; k < length; ++k) line.push_back(element(a, (o * length + k) * inner + i));
      change(line);
      kept = static_cast<i64>(line.size());
      out.resize(static_cast<std::size_t>(outer * kept * inner));
      for (i64 k = 0; k < kept; ++k)
        out[static_cast<std::size_t>((o * kept + k) * inner + i)] =
            line[static_cast<std::size_t>(k)];
    }
  a.shape[axis] = kept;
  a.at = std::move(out);
}

void to_f32(Array& a) {
  for (Interval& i : a.at) i = rounded_to(Type::f32, i);
}

Interval whole_sum(const std::vector<Interval>& terms) {
  i64 sum = 0;
  for (const Interval& t : terms) sum += static_cast<i64>(t.lo);
  return Interval::exactly(wrap(sum));
}

}  // namespace

int behind(const Subject& s, int node) {
  int next = node + 1;
  for (int i = arity(s.node[node].word); i > 0; --i) next = behind(s, next);
  return next;
}

double reads(const Subject& s, int node) {
  const Node& n = s.node[node];
  if (n.word == Word::name) return reads(s, s.named[static_cast<int>(n.value)].node);
  if (n.word == Word::param) return 1;
  double sum = 0;
  for (int i = arity(n.word), at = node + 1; i > 0; --i, at = behind(s, at)) sum += reads(s, at);
  // How long a sum is: at most the longest axis of a parameter.
  i64 longest = 1;
  for (int p = 0; p < s.params; ++p)
    for (int a = 0; a < s.param[p].rank; ++a) longest = std::max(longest, s.param[p].shape[a]);
  return n.word >= Word::matmul ? sum * static_cast<double>(longest) : sum;
}

bool Evaluator::integers_only(int node) const {
  const Node& n = s_.node[node];
  const int number = static_cast<int>(n.value);
  if (n.word == Word::param) return !is_float(s_.param[number].type);
  if (n.word == Word::name) {
    const Name& name = s_.named[number];
    return name.typed ? !is_float(name.type) : integers_only(name.node);
  }
  if (to_floats(n.word)) return false;
  if (n.word == Word::number) return n.value == std::floor(n.value);
  for (int i = arity(n.word), at = node + 1; i > 0; --i, at = behind(s_, at))
    if (!integers_only(at)) return false;
  return true;
}

std::vector<Interval> Evaluator::result(const Made& r) {
  const Shape shape(r.tensor.shape, r.tensor.shape + r.tensor.rank);
  std::vector<Array> all = {value(r.node, is_float(r.tensor.type))};
  std::vector<Interval> out;
  for_each(shape, all, [&](const std::vector<i64>& at) { out.push_back(element(all[0], at[0])); });
  store_as(r.tensor.type, out);
  return out;
}

void Evaluator::store_as(Type t, std::vector<Interval>& values) const {
  if (flushes_ && t == Type::bf16)
    for (Interval& i : values) i = or_zero(i);
}

Array Evaluator::value(int node, bool real) {
  const Node& n = s_.node[node];
  if (n.word == Word::param) return param(static_cast<int>(n.value), real);
  if (n.word == Word::name) return name(static_cast<int>(n.value), real);
  if (n.word == Word::number)
    return {{}, {Interval::exactly(real ? round_to(Type::f32, n.value) : n.value)}};
  return call(node, real);
}

Array Evaluator::param(int number, bool real) const {
  const Tensor& t = s_.param[number];
  Array out{Shape(t.shape, t.shape + t.rank), {}};
  for (const double x : inputs_[static_cast<std::size_t>(number)])
    out.at.push_back(Interval::exactly(real ? round_to(Type::f32, x) : x));
  return out;
}

// With a type it is what it is, whoever reads it.
Array Evaluator::name(int number, bool real) {
  const Name& n = s_.named[number];
  Array& known = named_[static_cast<std::size_t>(2 * number + (real && !n.typed))];
  if (known.at.empty()) {
    Array made = value(n.node, n.typed ? is_float(n.type) : real);
    if (n.typed) {
      store_as(n.type, made.at);
      for (Interval& i : made.at) i = rounded_to(n.type, i);
    }
    known = std::move(made);
  }
  Array out = known;
  if (n.typed && real && !is_float(n.type)) to_f32(out);
  return out;
}

Array Evaluator::call(int node, bool real) {
  const Word w = s_.node[node].word;
  switch (w) {
    case Word::broadcast:
    case Word::spread:
      return inserted(node, real);
    case Word::transpose:
      return transposed(node, real);
    case Word::pad:
      return padded(node, real);
    case Word::matmul:
    case Word::conv2d:
      return product_of(node, real);
    case Word::softmax:
    case Word::rms_norm:
    case Word::layer_norm:
      return normalised(node);
    default:
      return reduces(w) ? reduced(node, real) : elementwise(node, real);
  }
}

Array Evaluator::elementwise(int node, bool real) {
  const Word w = s_.node[node].word;
  std::vector<Array> args;
  int next = node + 1;
  for (int i = arity(w); i > 0; --i, next = behind(s_, next)) args.push_back(value(next, real));
  const int second = behind(s_, node + 1);
  const bool same = w == Word::mul && real && next - second == second - node - 1 &&
                    std::equal(s_.node + node + 1, s_.node + second, s_.node + second,
                               [](const Node& a, const Node& b) {
                                 return a.word == b.word && a.value == b.value;
                               });
  Array out{aligned(args), {}};
  out.at.reserve(static_cast<std::size_t>(count(out.shape)));
  for_each(out.shape, args, [&](const std::vector<i64>& at) {
    const auto arg = [&](std::size_t i) -> const Interval& { return element(args[i], at[i]); };
    if (args.size() == 1)
      out.at.push_back(unary(w, arg(0), real));
    else if (args.size() == 2)
      out.at.push_back(same ? square(arg(0)) : binary(w, arg(0), arg(1), real));
    else
      out.at.push_back(select(arg(0), arg(1), arg(2)));
  });
  return out;
}

Array Evaluator::inserted(int node, bool real) {
  Array a = value(node + 1, real);
  if (s_.node[node].word == Word::spread && one_number(a.shape)) return a;
  a.shape.insert(a.shape.begin() + static_cast<std::ptrdiff_t>(s_.node[node].value), 0);
  return a;
}

Array Evaluator::transposed(int node, bool real) {
  std::vector<Array> a = {value(node + 1, real)};
  Array out{a[0].shape, {}};
  // Its elements in the order in which they lie in the other one.
  const std::size_t rank = out.shape.size();
  const i64 rows = std::max<i64>(out.shape[rank - 2], 1),
            columns = std::max<i64>(out.shape[rank - 1], 1);
  std::swap(out.shape[rank - 2], out.shape[rank - 1]);
  for (i64 i = 0; i < count(out.shape); ++i) {
    const i64 matrix = i / (rows * columns), at = i % (rows * columns);
    out.at.push_back(element(a[0], (matrix * rows + at % rows) * columns + at / rows));
  }
  return out;
}

bool Evaluator::is_bf16(int node) const {
  const Node& n = s_.node[node];
  const int number = static_cast<int>(n.value);
  if (n.word == Word::transpose || n.word == Word::pad) return is_bf16(node + 1);
  if (n.word == Word::param) return s_.param[number].type == Type::bf16;
  if (n.word != Word::name) return false;
  const Name& name = s_.named[number];
  return name.typed ? name.type == Type::bf16 : is_bf16(name.node);
}

Factor Evaluator::factor(int node) {
  const Node& n = s_.node[node];
  Factor f;
  f.integers = integers_only(node);
  f.subnormals_flush = flushes_ && is_bf16(node);
  if (n.word == Word::transpose) {
    const bool flush = f.subnormals_flush;
    f = factor(node + 1);
    f.transpose();
    f.subnormals_flush = flush;
    return f;
  }
  if (n.word == Word::param) {  // these may be large
    const Tensor& t = s_.param[static_cast<int>(n.value)];
    f.shape.assign(t.shape, t.shape + t.rank);
    f.value = inputs_[static_cast<std::size_t>(n.value)];
    return f;
  }
  const Array a = value(node, !f.integers);
  f.shape = a.shape;
  for (const Interval& i : a.at) {
    const bool exact = i.exact() || (!i.unchecked && std::isnan(i.lo));
    const bool known = !i.unchecked && std::isfinite(i.lo) && std::isfinite(i.hi);
    f.value.push_back(exact ? i.lo : known ? i.lo / 2 + i.hi / 2 : 0);
    f.radius.push_back(exact ? 0 : known ? i.hi / 2 - i.lo / 2 : HUGE_VAL);
  }
  return f;
}

Array Evaluator::padded(int node, bool real) {
  const Array a = value(node + 1, real);
  const Padding p = padding_of(s_.node[node]);
  Array out{padded_shape(a.shape, p), {}};
  for (const i64 from : padded_from(a.shape, p))
    out.at.push_back(from < 0 ? Interval::exactly(0) : element(a, from));
  return out;
}

bool Evaluator::is_padded(int node) const {
  const Node& n = s_.node[node];
  if (n.word == Word::name) return is_padded(s_.named[static_cast<int>(n.value)].node);
  return n.word == Word::pad;
}

Array Evaluator::product_of(int node, bool real) {
  const Node& n = s_.node[node];
  const int second = behind(s_, node + 1);
  Factor a = factor(node + 1), b = factor(second);
  a.integers = b.integers = a.integers && b.integers;
  const Type type = s_.result[0].tensor.type;
  const bool windows = n.word == Word::conv2d;
  Product p = windows ? convolution(a, b, windows_of(n), type) : product(a, b, false, type);
  Array out{p.shape, std::move(p.sums)};
  // Nobody promises whether a zero that pad has put there meets an infinite filter.
  const bool finite =
      std::all_of(b.value.begin(), b.value.end(), [](double v) { return std::isfinite(v); });
  if (windows && !finite && is_padded(node + 1))
    for (Interval& i : out.at) i.unchecked |= std::isnan(i.lo);
  if (real && a.integers) to_f32(out);
  return out;
}

Array Evaluator::reduced(int node, bool real) {
  const Node& n = s_.node[node];
  const bool floats = !integers_only(node + 1);
  Array a = value(node + 1, floats);
  const auto axis = static_cast<std::size_t>(n.value);
  const auto length = static_cast<double>(a.shape[axis]);
  along(a, axis, [&](std::vector<Interval>& line) {
    Interval made = line.front();
    if (n.word == Word::reduce_sum || n.word == Word::reduce_mean)
      made = floats ? float_sum(line) : whole_sum(line);
    else
      for (const Interval& i : line)
        made = n.word == Word::reduce_max ? largest(made, i) : smallest(made, i);
    line = {made};
  });
  a.shape.erase(a.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  if (a.shape.empty()) a.shape = {1};
  if (!floats && real) to_f32(a);
  if (n.word == Word::reduce_mean)
    for (Interval& i : a.at) i = div(i, Interval::exactly(length));
  return a;
}

Array Evaluator::normalised(int node) {
  const Node& n = s_.node[node];
  Array a = value(node + 1, true);
  Interval epsilon;
  if (n.word != Word::softmax) epsilon = value(behind(s_, node + 1), true).at[0];
  along(a, static_cast<std::size_t>(n.value), [&](std::vector<Interval>& line) {
    if (n.word == Word::softmax)
      softmax(line);
    else if (n.word == Word::rms_norm)
      rms_norm(line, epsilon);
    else
      layer_norm(line, epsilon);
  });
  return a;
}

}  // namespace morello::run
