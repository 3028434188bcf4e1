#include "run/reference.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>

#include "run/interval.h"

namespace morello::run {
namespace {

constexpr double kMostWork = 3e8;  // multiplications of one reference

double wrap(i64 value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}

// Whether what is combined are integers.
bool integers(const Subject& s) {
  if (s.op == Op::matmul) return !is_float(s.param[s.args[0]].type);
  const Node* reduce =
      std::find_if(s.node, s.node + s.nodes, [](const Node& n) { return n.word == Word::reduce; });
  return std::none_of(reduce + 1, reduce + 1 + static_cast<int>(reduce->value), [&](const Node& n) {
    return n.word == Word::param && is_float(s.param[static_cast<int>(n.value)].type);
  });
}

int arity(Word w) {
  if (w == Word::sum || w == Word::param || w == Word::number || w == Word::reduce) return 0;
  return w == Word::select ? 3 : w >= Word::add && w <= Word::ne ? 2 : 1;
}

// A float sum from its value and the sum of its terms' sizes.
Expected float_sum(double value, double magnitude, i64 terms) {
  Expected e{value, 0, true, !(magnitude < FLT_MAX / 2.0)};
  const auto count = static_cast<double>(terms + 2);
  if (std::isfinite(value)) e.slack = count * (magnitude * 0x1p-24 + 0x1p-148);
  return e;
}

// Where each operand of matmul begins for batch number b: an operand without batch dimensions, or
// with the inner ones only, is the same for several.
i64 batch_begin(const Tensor& t, i64 b) {
  i64 own = 1;
  for (int a = 0; a < t.rank - 2; ++a) own *= t.shape[a];
  return b % own * t.shape[t.rank - 2] * t.shape[t.rank - 1];
}

class Matmul {
 public:
  Matmul(const Subject& s, const std::vector<Values>& inputs)
      : s_(s),
        x_(inputs[static_cast<std::size_t>(s.args[0])]),
        y_(inputs[static_cast<std::size_t>(s.args[1])]),
        a_(operand(s, 0, x_)),
        b_(operand(s, 1, y_)),
        m_(a_.shape[a_.rank - 2]),
        n_(b_.shape[b_.rank - 1]),
        k_(a_.shape[a_.rank - 1]) {}

  // Of a transposed one, the shape and the values with the last two axes in the other order.
  static Tensor operand(const Subject& s, int o, Values& values) {
    Tensor t = s.param[s.args[o]];
    if (!s.transposed[o]) return t;
    std::swap(t.shape[t.rank - 2], t.shape[t.rank - 1]);
    const auto rows = static_cast<std::size_t>(t.shape[t.rank - 2]);
    const auto columns = static_cast<std::size_t>(t.shape[t.rank - 1]);
    const Values given = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t matrix = i / (rows * columns), at = i % (rows * columns);
      values[i] = given[(matrix * columns + at % columns) * rows + at / columns];
    }
    return t;
  }

  Reference run() {
    Reference r;
    const i64 rows = elements(s_.result) / n_;
    r.sums.resize(static_cast<std::size_t>(elements(s_.result)));
    const double row_work = static_cast<double>(n_) * static_cast<double>(k_);
    const i64 every = static_cast<i64>(std::ceil(static_cast<double>(rows) * row_work / kMostWork));
    for (i64 row = 0; row < rows; ++row) {
      const bool skip = every > 1 && row % every != 0 && row + 1 != rows;
      this->row(row, skip, &r.sums[static_cast<std::size_t>(row * n_)]);
    }
    if (every > 1 && s_.result.type != Type::i16) row_sums(rows, r);  // those are clamped
    return r;
  }

 private:
  void row(i64 row, bool skip, Expected* out) {
    if (skip) {
      for (i64 n = 0; n < n_; ++n) out[n].checked = false;
      return;
    }
    Values value(static_cast<std::size_t>(n_)), magnitude(value), flushed(value);
    const double* x = &x_[static_cast<std::size_t>(batch_begin(a_, row / m_) + row % m_ * k_)];
    const double* y = &y_[static_cast<std::size_t>(batch_begin(b_, row / m_))];
    for (i64 k = 0; k < k_; ++k)
      for (i64 n = 0; n < n_; ++n) {
        const double term = x[k] * y[k * n_ + n];
        value[static_cast<std::size_t>(n)] += term;
        magnitude[static_cast<std::size_t>(n)] += std::fabs(term);
        if (may_flush() && (subnormal(x[k]) || subnormal(y[k * n_ + n])))
          flushed[static_cast<std::size_t>(n)] += std::fabs(term);
      }
    for (i64 n = 0; n < n_; ++n) {
      const std::size_t i = static_cast<std::size_t>(n);
      if (integers(s_))
        out[n].value = wrap(static_cast<i64>(value[i]));
      else
        out[n] = float_sum(value[i], finite_magnitude(magnitude[i], x, y + n), k_);
      // Two for every term: the product, and the sum that it is added to.
      if (may_flush()) out[n].flushed = flushed[i] + static_cast<double>(2 * k_) * FLT_MIN;
    }
  }
  bool may_flush() const { return a_.type == Type::bf16 && b_.type == Type::bf16; }
  static bool subnormal(double v) { return v != 0 && std::fabs(v) < FLT_MIN; }
  // Infinities and NaNs among the terms make the sum what it is, however large the others are.
  double finite_magnitude(double magnitude, const double* x, const double* y) const {
    if (std::isfinite(magnitude)) return magnitude;
    double sum = 0;
    for (i64 k = 0; k < k_; ++k)
      if (const double term = std::fabs(x[k] * y[k * n_]); std::isfinite(term)) sum += term;
    return sum;
  }
  void row_sums(i64 rows, Reference& r) {
    Values sums(static_cast<std::size_t>(k_)), sizes(sums);
    for (i64 row = 0; row < rows; ++row) {
      const double* y = &y_[static_cast<std::size_t>(batch_begin(b_, row / m_))];
      if (row % m_ == 0)
        for (std::size_t k = 0; k < sums.size(); ++k, y += n_) {
          sums[k] = sizes[k] = 0;
          for (i64 n = 0; n < n_; ++n) {
            sums[k] += y[n];
            sizes[k] += std::fabs(y[n]);
          }
        }
      const double* x = &x_[static_cast<std::size_t>(batch_begin(a_, row / m_) + row % m_ * k_)];
      double value = 0, magnitude = 0;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        value += x[k] * sums[k];
        magnitude += std::fabs(x[k]) * sizes[k];
      }
      // The errors of a row's outputs are of both signs: a wrong output would be lost in the bound
      // of their sum, hence the root.
      const double slack = integers(s_)
                               ? 0
                               : std::sqrt(static_cast<double>(k_) / static_cast<double>(n_)) *
                                     magnitude * (s_.result.type == Type::f32 ? 0x1p-24 : 0x1p-10);
      r.row_sums.push_back({value, slack, true, false});
    }
  }

  const Subject& s_;
  Values x_, y_;  // as matmul sees them
  const Tensor a_, b_;
  const i64 m_, n_, k_;
};

std::string text(const char* format, double a, double b, double c) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, format, a, b, c);
  return buffer;
}

bool holds(Word w, double a, double b) {
  switch (w) {
    case Word::lt:
      return a < b;
    case Word::le:
      return a <= b;
    case Word::gt:
      return a > b;
    case Word::ge:
      return a >= b;
    case Word::eq:
      return a == b;
    default:
      return a != b;
  }
}

// 1, 0 or either.
Interval compared(Word w, const Interval& a, const Interval& b) {
  Interval either{.lo = 0, .hi = 1};
  if (a.unchecked || b.unchecked) return either;
  const bool nan = std::isnan(a.lo) || std::isnan(b.lo), apart = a.hi < b.lo || b.hi < a.lo;
  const bool exact = a.exact() && b.exact();
  if (!nan && !exact && !apart) return either;
  return Interval::exactly(holds(w, a.lo, b.lo) ? 1 : 0);
}

Interval select(const Interval& c, const Interval& a, const Interval& b) {
  const bool certain = !c.unchecked && (std::isnan(c.lo) || c.exact() || c.lo > 0 || c.hi < 0);
  if (certain) return c.lo != 0 ? a : b;
  if (a.unchecked || b.unchecked || std::isnan(a.lo) || std::isnan(b.lo))
    return {.unchecked = true};
  return {.lo = std::min(a.lo, b.lo), .hi = std::max(a.hi, b.hi)};
}

// What the result holds at one index of it.
class Element {
 public:
  Element(const Subject& s, const Reference& r, bool flushes)
      : s_(s), r_(r), flushes_(flushes), real_(is_float(s.result.type)) {}

  Interval at(std::size_t element) {
    element_ = element;
    next_ = 0;
    return node(index_of(element));
  }

  // What is combined of the element's terms, which begin at node `body`.
  Interval combined(std::size_t element, int body) {
    real_ = !integers(s_);
    std::vector<i64> index = index_of(element);
    if (rank_at(body) <= 1) index.clear();
    index.insert(index.begin() + s_.axis, 0);
    std::vector<Interval> terms;
    for (i64 k = 0; k < s_.terms; ++k) {
      index[static_cast<std::size_t>(s_.axis)] = k;
      next_ = body;
      terms.push_back(node(index));
    }
    if (s_.op == Op::reduce_sum || s_.op == Op::reduce_mean)
      return real_ ? float_sum(terms) : whole_sum(terms);
    Interval most = terms.front();
    for (const Interval& t : terms)
      most = s_.op == Op::reduce_max ? largest(most, t) : smallest(most, t);
    return most;
  }

 private:
  bool real() const { return real_; }

  std::vector<i64> index_of(std::size_t element) const {
    i64 rest = static_cast<i64>(element);
    std::vector<i64> index(static_cast<std::size_t>(s_.result.rank));
    for (std::size_t a = index.size(); a-- > 0;) {
      index[a] = rest % s_.result.shape[a];
      rest /= s_.result.shape[a];
    }
    return index;
  }

  static Interval whole_sum(const std::vector<Interval>& terms) {
    i64 sum = 0;
    for (const Interval& t : terms) sum += static_cast<i64>(t.lo);
    return Interval::exactly(wrap(sum));
  }

  // In any order. A product may be added without rounding it first.
  static Interval float_sum(const std::vector<Interval>& terms) {
    double lo = 0, hi = 0, magnitude = 0;
    for (const Interval& t : terms) {
      if (t.unchecked) return {.unchecked = true};
      const double low = t.product ? std::min(t.lo, t.whole_lo) : t.lo;
      const double high = t.product ? std::max(t.hi, t.whole_hi) : t.hi;
      lo += low;
      hi += high;
      const double size = std::max(std::fabs(low), std::fabs(high));
      if (std::isfinite(size)) magnitude += size;
    }
    if (std::isnan(lo) && std::isnan(hi)) return Interval::exactly(lo);
    if (std::isnan(lo) || std::isnan(hi) || !(magnitude < FLT_MAX / 2.0))
      return {.unchecked = true};
    const auto count = static_cast<double>(terms.size() + 2);
    const double slack = count * (magnitude * 0x1p-24 + 0x1p-148);
    return Interval::between(lo - slack, hi + slack);
  }

  Interval node(const std::vector<i64>& index) {
    const Node& n = s_.node[next_++];
    switch (n.word) {
      case Word::sum:
        return sum();
      case Word::reduce:
        next_ += static_cast<int>(n.value);
        return reduced();
      case Word::param:
        return param(static_cast<std::size_t>(n.value), index);
      case Word::number:
        return Interval::exactly(real() ? round_to(Type::f32, n.value) : n.value);
      case Word::broadcast: {
        std::vector<i64> inner(index.end() - rank_at(next_ - 1), index.end());
        inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(n.value));
        return node(inner);
      }
      case Word::transpose: {
        std::vector<i64> inner(index.end() - rank_at(next_), index.end());
        std::swap(inner[inner.size() - 2], inner[inner.size() - 1]);
        return node(inner);
      }
      case Word::add:
      case Word::sub:
      case Word::mul:
      case Word::div:
      case Word::max:
      case Word::min:
      case Word::lt:
      case Word::le:
      case Word::gt:
      case Word::ge:
      case Word::eq:
      case Word::ne: {
        const Interval a = node(index);
        return binary(n.word, a, node(index));
      }
      case Word::select: {
        const Interval c = node(index), a = node(index);
        return select(c, a, node(index));
      }
      default:
        return unary(n.word, node(index));
    }
  }

  // Axes of what begins at node `at`, which is moved behind it. None: one number for all elements,
  // which a tensor [1] is wherever it is not broadcast.
  int rank(int& at) const {
    const Node& n = s_.node[at++];
    if (n.word == Word::reduce) at += static_cast<int>(n.value);
    if (n.word == Word::sum || n.word == Word::reduce) return s_.result.rank;
    if (n.word == Word::param) {
      const Tensor& t = s_.param[static_cast<std::size_t>(n.value)];
      return t.one ? 0 : t.rank;
    }
    int most = 0;
    for (int i = arity(n.word); i > 0; --i) most = std::max(most, rank(at));
    return n.word == Word::broadcast ? std::max(most, 1) + 1 : most;
  }
  int rank_at(int at) const { return rank(at); }

  Interval sum() {
    const Expected& e = r_.sums[element_];
    if (e.overflow) return {.unchecked = true};
    if (std::isnan(e.value)) return Interval::exactly(e.value);
    const double flushed = flushes_ ? e.flushed : 0;
    if (!std::isfinite(flushed)) return {.unchecked = true};  // infinity times what may be 0
    if (integers(s_) && !real()) return Interval::exactly(e.value);
    return Interval::between(e.value - e.slack - flushed, e.value + e.slack + flushed);
  }

  Interval reduced() {
    Interval sum = r_.reduced[element_];
    if (!real() || sum.unchecked) return sum;
    if (!std::isnan(sum.lo)) sum = Interval::between(sum.lo, sum.hi);
    if (s_.op != Op::reduce_mean) return sum;
    return div(sum, Interval::exactly(static_cast<double>(s_.terms)));
  }

  Interval param(std::size_t p, const std::vector<i64>& index) {
    const Tensor& t = s_.param[p];
    std::size_t at = 0;
    for (int a = 0; a < t.rank && !t.one; ++a)
      at = at * static_cast<std::size_t>(t.shape[a]) +
           static_cast<std::size_t>(index[index.size() - static_cast<std::size_t>(t.rank - a)]);
    const double x = r_.inputs[p][at];
    return Interval::exactly(real() ? round_to(Type::f32, x) : x);
  }

  Interval binary(Word w, const Interval& a, const Interval& b) {
    if (!real()) return Interval::exactly(whole(w, a.lo, b.lo));
    switch (w) {
      case Word::add:
        return add(a, b);
      case Word::sub:
        return sub(a, b);
      case Word::mul:
        return mul(a, b);
      case Word::div:
        return div(a, b);
      case Word::max:
        return largest(a, b);
      case Word::min:
        return smallest(a, b);
      default:
        return compared(w, a, b);
    }
  }

  static double whole(Word w, double x, double y) {
    const auto a = static_cast<i64>(x), b = static_cast<i64>(y);
    switch (w) {
      case Word::add:
        return wrap(a + b);
      case Word::sub:
        return wrap(a - b);
      case Word::mul:
        return wrap(a * b);
      case Word::max:
        return std::max(x, y);
      case Word::min:
        return std::min(x, y);
      default:
        return holds(w, x, y) ? 1 : 0;
    }
  }

  // Composite ones by their definitions in docs/spec.md.
  Interval unary(Word w, const Interval& x) {
    const auto number = [](double v) { return Interval::exactly(round_to(Type::f32, v)); };
    switch (w) {
      case Word::convert:
        return x;
      case Word::neg:
        return real() ? negative(x) : Interval::exactly(wrap(-static_cast<i64>(x.lo)));
      case Word::relu:
        return largest(x, number(0));
      case Word::exp:
        return growing([](double v) { return std::exp(v); }, x, 2.5, 0, HUGE_VAL);
      case Word::tanh:
        return growing([](double v) { return std::tanh(v); }, x, 3.5, -1, 1);
      case Word::erf:
        return growing([](double v) { return std::erf(v); }, x, 3.5, -1, 1);
      case Word::sqrt:
        return square_root(x);
      case Word::rsqrt:
        return div(number(1), square_root(x));
      case Word::sigmoid:
        return div(number(1), add(number(1), unary(Word::exp, negative(x))));
      case Word::silu:
        return div(x, add(number(1), unary(Word::exp, negative(x))));
      case Word::gelu: {
        const Interval e = unary(Word::erf, mul(x, number(std::sqrt(0.5))));
        return mul(mul(x, number(0.5)), add(number(1), e));
      }
      default: {  // gelu_tanh
        const Interval cubic = add(number(1), mul(mul(x, x), number(0.044715)));
        const double root = std::sqrt(2 / std::acos(-1.0));
        const Interval t = unary(Word::tanh, mul(mul(x, number(root)), cubic));
        return mul(mul(x, number(0.5)), add(number(1), t));
      }
    }
  }

  const Subject& s_;
  const Reference& r_;
  const bool flushes_;
  bool real_;  // whether elements are floats here
  std::size_t element_ = 0;
  int next_ = 0;
};

bool as_expected(const Subject& s, const Interval& e, double got) {
  if (e.unchecked) return true;
  if (std::isnan(e.lo)) return std::isnan(got);
  if (!is_float(s.result.type))
    return got == (s.result.type == Type::i16 ? std::clamp(e.lo, -32768.0, 32767.0) : e.lo);
  const double low = round_to(s.result.type, e.lo), high = round_to(s.result.type, e.hi);
  if (!(low <= got && got <= high)) return false;
  // The sign of a zero is certain of one function of operands.
  const Word w = s.node[0].word;
  const bool certain =
      (w == Word::add || w == Word::mul || w == Word::convert) && s.nodes <= 3 && s.op == Op::none;
  return !certain || std::signbit(got) == std::signbit(low);
}

}  // namespace

Reference reference(const Subject& s, const std::vector<Values>& inputs) {
  Reference r;
  if (s.op == Op::matmul) r = Matmul(s, inputs).run();
  if (s.nodes > 1) r.row_sums.clear();
  r.inputs = inputs;
  const Node* reduce =
      std::find_if(s.node, s.node + s.nodes, [](const Node& n) { return n.word == Word::reduce; });
  if (reduce == s.node + s.nodes) return r;
  Element element(s, r, false);
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements(s.result)); ++i)
    r.reduced.push_back(element.combined(i, static_cast<int>(reduce - s.node) + 1));
  return r;
}

std::string difference(const Subject& s, const Reference& expected, const Values& outputs,
                       bool flushes, Compared& compared) {
  Element element(s, expected, flushes);
  compared = {};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!expected.sums.empty() && !expected.sums[i].checked) continue;
    const Interval e = element.at(i);
    ++compared.outputs;
    compared.unchecked += e.unchecked;
    if (!as_expected(s, e, outputs[i]))
      return "output " + std::to_string(i) +
             text(" is %.9g, not %.9g to %.9g", outputs[i], e.lo, e.hi);
  }
  const std::size_t rows = expected.row_sums.size();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t n = outputs.size() / rows;
    double sum = 0;
    for (std::size_t i = row * n; i < (row + 1) * n; ++i) sum += outputs[i];
    const Expected& e = expected.row_sums[row];
    if (!(std::fabs(sum - e.value) <= e.slack))
      return "the sum of row " + std::to_string(row) +
             text(" is %.9g, not %.9g (+- %.3g)", sum, e.value, e.slack);
  }
  return "";
}

}  // namespace morello::run
