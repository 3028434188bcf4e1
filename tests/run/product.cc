#include "run/product.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace morello::run {
namespace {

constexpr double kMostWork = 3e8;  // multiplications of one product

std::size_t count(i64 n) { return static_cast<std::size_t>(n); }

bool subnormal(double v) { return v != 0 && std::fabs(v) < FLT_MIN; }

// Subnormal numbers or 0.
void flush(Factor& f) {
  if (std::none_of(f.value.begin(), f.value.end(), subnormal)) return;
  f.radius.resize(f.value.size(), 0.0);
  for (std::size_t i = 0; i < f.value.size(); ++i)
    if (subnormal(f.value[i])) {
      f.value[i] /= 2;
      f.radius[i] += std::fabs(f.value[i]);
    }
}

// Where each operand begins for batch number b: an operand without batch dimensions, or with the
// inner ones only, is the same for several.
i64 batch_begin(const Factor& f, i64 b) {
  i64 own = 1;
  const std::size_t rank = f.shape.size();
  for (std::size_t a = 0; a + 2 < rank; ++a) own *= f.shape[a];
  return b % own * f.shape[rank - 2] * f.shape[rank - 1];
}

class Multiplier {
 public:
  Multiplier(const Factor& a, const Factor& b)
      : a_(a),
        b_(b),
        m_(a.shape[a.shape.size() - 2]),
        n_(b.shape.back()),
        k_(a.shape.back()),
        may_flush_(a.subnormals_flush && b.subnormals_flush) {
    if (!may_flush_) return;
    flush(a_);
    flush(b_);
  }

  Product run(bool may_sample, Type type) {
    Product p;
    p.shape = a_.shape.size() > b_.shape.size() ? a_.shape : b_.shape;
    p.shape[p.shape.size() - 2] = m_;
    p.shape.back() = n_;
    i64 rows = 1;
    for (std::size_t a = 0; a + 1 < p.shape.size(); ++a) rows *= p.shape[a];
    p.sums.resize(count(rows * n_));
    const double work = static_cast<double>(rows) * static_cast<double>(n_ * k_);
    if (may_sample && type != Type::i16)  // those are clamped
      p.every = std::max<i64>(1, static_cast<i64>(std::ceil(work / kMostWork)));
    for (i64 row = 0; row < rows; ++row)
      if (p.has(row)) this->row(row, &p.sums[count(row * n_)]);
    if (p.every > 1) row_sums(rows, type, p);
    return p;
  }

 private:
  const double* begin_a(i64 row) const {
    return &a_.value[count(batch_begin(a_, row / m_) + row % m_ * k_)];
  }
  const double* begin_b(i64 row) const { return &b_.value[count(batch_begin(b_, row / m_))]; }

  void row(i64 row, Interval* out) const {
    Values value(count(n_)), magnitude(value);
    const double *x = begin_a(row), *y = begin_b(row);
    for (i64 k = 0; k < k_; ++k)
      for (i64 n = 0; n < n_; ++n) {
        const double term = x[k] * y[k * n_ + n];
        value[count(n)] += term;
        magnitude[count(n)] += std::fabs(term);
      }
    const Values spread = spreads(row);
    for (i64 n = 0; n < n_; ++n) {
      double sum = value[count(n)], size = magnitude[count(n)];
      if (a_.integers) {
        out[n] = Interval::exactly(wrap(static_cast<i64>(sum)));
        continue;
      }
      if (!std::isfinite(size)) size = finite_magnitude(x, y + n);
      out[n] = float_sum(sum, size, spread.empty() ? 0 : spread[count(n)]);
    }
  }

  // How far off the sums of a row are because their terms are.
  Values spreads(i64 row) const {
    if (a_.radius.empty() && b_.radius.empty()) return {};
    Values out(count(n_), 0.0);
    const double *x = begin_a(row), *y = begin_b(row);
    for (i64 k = 0; k < k_; ++k)
      for (i64 n = 0; n < n_; ++n) {
        const double p = radius(a_, x + k), q = radius(b_, y + k * n_ + n);
        if (p == 0 && q == 0) continue;
        out[count(n)] += std::fabs(x[k]) * q + p * std::fabs(y[k * n_ + n]) + p * q;
      }
    return out;
  }
  static double radius(const Factor& f, const double* at) {
    return f.radius.empty() ? 0 : f.radius[static_cast<std::size_t>(at - f.value.data())];
  }

  Interval float_sum(double value, double magnitude, double spread) const {
    // An infinity times what may be 0, or nothing known of a term, or a partial sum that may have
    // overflowed.
    if (!std::isfinite(spread) || !(magnitude + spread < FLT_MAX / 2.0)) return {.unchecked = true};
    if (std::isnan(value)) return Interval::exactly(value);
    double slack = spread;
    if (std::isfinite(value)) slack += sum_error(magnitude + spread, k_);
    // Two for every term: the product, and the sum that it is added to.
    if (may_flush_) slack += static_cast<double>(2 * k_) * FLT_MIN;
    return Interval::between(value - slack, value + slack);
  }

  // Infinities and NaNs among the terms make the sum what it is, however large the others are.
  double finite_magnitude(const double* x, const double* y) const {
    double sum = 0;
    for (i64 k = 0; k < k_; ++k)
      if (const double term = std::fabs(x[k] * y[k * n_]); std::isfinite(term)) sum += term;
    return sum;
  }

  void row_sums(i64 rows, Type type, Product& p) const {
    Values sums(count(k_)), sizes(sums);
    for (i64 row = 0; row < rows; ++row) {
      const double* y = begin_b(row);
      if (row % m_ == 0)
        for (std::size_t k = 0; k < sums.size(); ++k, y += n_) {
          sums[k] = sizes[k] = 0;
          for (i64 n = 0; n < n_; ++n) {
            sums[k] += y[n];
            sizes[k] += std::fabs(y[n]);
          }
        }
      const double* x = begin_a(row);
      double value = 0, magnitude = 0;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        value += x[k] * sums[k];
        magnitude += std::fabs(x[k]) * sizes[k];
      }
      // The errors of a row's outputs are of both signs: a wrong output would be lost in the bound
      // of their sum, hence the root.
      const double root = std::sqrt(static_cast<double>(k_) / static_cast<double>(n_));
      const double ulp = type == Type::f32 ? 0x1p-24 : 0x1p-10;
      p.row_sums.push_back({value, a_.integers ? 0 : root * magnitude * ulp});
    }
  }

  Factor a_, b_;
  const i64 m_, n_, k_;
  const bool may_flush_;
};

}  // namespace

void Factor::transpose() {
  std::swap(shape[shape.size() - 2], shape.back());
  const std::size_t rows = count(shape[shape.size() - 2]), columns = count(shape.back());
  for (Values* values : {&value, &radius}) {
    const Values given = *values;
    for (std::size_t i = 0; i < values->size(); ++i) {
      const std::size_t matrix = i / (rows * columns), at = i % (rows * columns);
      (*values)[i] = given[(matrix * columns + at % columns) * rows + at / columns];
    }
  }
}

Product product(const Factor& a, const Factor& b, bool may_sample, Type type) {
  return Multiplier(a, b).run(may_sample, type);
}

double wrap(i64 value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}

}  // namespace morello::run
