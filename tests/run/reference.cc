#include "run/reference.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>

namespace morello::run {
namespace {

constexpr double kMostWork = 3e8;  // multiplications of one reference

double wrap(i64 value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}

// What a result of integers holds: 16 bits are clamped.
double stored(const Subject& s, i64 value) {
  const double whole = wrap(value);
  return s.result.type == Type::i16 ? std::clamp(whole, -32768.0, 32767.0) : whole;
}

bool integers(const Subject& s) { return !is_float(s.param[s.args[0]].type); }

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
        a_(s.param[s.args[0]]),
        b_(s.param[s.args[1]]),
        x_(inputs[static_cast<std::size_t>(s.args[0])]),
        y_(inputs[static_cast<std::size_t>(s.args[1])]),
        m_(a_.shape[a_.rank - 2]),
        n_(b_.shape[b_.rank - 1]),
        k_(a_.shape[a_.rank - 1]) {}

  Reference run() {
    Reference r;
    const i64 rows = elements(s_.result) / n_;
    r.outputs.resize(static_cast<std::size_t>(elements(s_.result)));
    const double row_work = static_cast<double>(n_) * static_cast<double>(k_);
    const i64 every = static_cast<i64>(std::ceil(static_cast<double>(rows) * row_work / kMostWork));
    for (i64 row = 0; row < rows; ++row) {
      const bool skip = every > 1 && row % every != 0 && row + 1 != rows;
      this->row(row, skip, &r.outputs[static_cast<std::size_t>(row * n_)]);
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
        out[n].value = stored(s_, static_cast<i64>(value[i]));
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
  const Tensor &a_, &b_;
  const Values &x_, &y_;
  const i64 m_, n_, k_;
};

Reference reduce_sum(const Subject& s, const Values& x) {
  const Tensor& t = s.param[s.args[0]];
  i64 inner = 1;
  for (int a = s.axis + 1; a < t.rank; ++a) inner *= t.shape[a];
  const i64 terms = t.shape[s.axis], outer = elements(t) / inner / terms;
  Reference r;
  for (i64 o = 0; o < outer; ++o)
    for (i64 i = 0; i < inner; ++i) {
      double sum = 0, magnitude = 0;
      for (i64 k = 0; k < terms; ++k) {
        const double term = x[static_cast<std::size_t>((o * terms + k) * inner + i)];
        sum += term;
        if (std::isfinite(term)) magnitude += std::fabs(term);
      }
      r.outputs.push_back(integers(s) ? Expected{wrap(static_cast<i64>(sum))}
                                      : float_sum(sum, magnitude, terms));
    }
  return r;
}

// One operation in the type of the result: wrapping 32-bit integers, or f32, to which integers are
// converted first.
double elementwise(const Subject& s, double a, double b) {
  if (s.op == Op::convert) return s.result.type == Type::i16 ? stored(s, static_cast<i64>(a)) : a;
  if (!is_float(s.result.type)) {
    const auto i = static_cast<i64>(a), j = static_cast<i64>(b);
    return wrap(s.op == Op::add ? i + j : i * j);
  }
  a = round_to(Type::f32, a);
  b = round_to(Type::f32, b);
  // Exact in double, or rounded so finely that the rounding to f32 does not notice.
  return round_to(Type::f32, s.op == Op::add ? a + b : a * b);
}

std::string text(const char* format, double a, double b, double c) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, format, a, b, c);
  return buffer;
}

bool as_expected(const Subject& s, const Expected& e, double got, bool flushes) {
  const double flushed = flushes ? e.flushed : 0;
  if (!std::isfinite(flushed)) return true;  // infinity times a number that may be 0
  if (std::isnan(e.value)) return std::isnan(got);
  if (e.overflow || !e.checked) return true;
  if (!is_float(s.result.type)) return got == e.value;
  // The value before the last rounding is an f32.
  const double low = round_to(s.result.type, round_to(Type::f32, e.value - e.slack - flushed));
  const double high = round_to(s.result.type, round_to(Type::f32, e.value + e.slack + flushed));
  if (!(low <= got && got <= high)) return false;
  const bool sum = s.op == Op::matmul || s.op == Op::reduce_sum;
  return sum || std::signbit(got) == std::signbit(low);
}

}  // namespace

Reference reference(const Subject& s, const std::vector<Values>& inputs) {
  if (s.op == Op::matmul) return Matmul(s, inputs).run();
  const Values& a = inputs[static_cast<std::size_t>(s.args[0])];
  if (s.op == Op::reduce_sum) return reduce_sum(s, a);
  const Values& b = inputs[static_cast<std::size_t>(s.args[s.inputs - 1])];
  Reference r;
  for (std::size_t i = 0; i < a.size(); ++i)
    r.outputs.push_back({elementwise(s, a[i], b[i]), 0, true, false});
  return r;
}

std::string difference(const Subject& s, const Reference& expected, const Values& outputs,
                       bool flushes) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Expected& e = expected.outputs[i];
    if (!as_expected(s, e, outputs[i], flushes))
      return "output " + std::to_string(i) +
             text(" is %.9g, not %.9g (+- %.3g)", outputs[i], e.value, e.slack);
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
