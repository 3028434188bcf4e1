#include "bench/graphs/reference.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "support/diag.h"

namespace morello::bench {
namespace {

constexpr double kUlp = 0x1p-24;
// Of a function of an element, which libraries approximate, and of the sum over a row, whose terms
// are added in any order.
constexpr double kFunction = 1e-6, kRowSum = 1e-4;

// A row, and how far from it rounding may lead.
struct Values {
  std::vector<double> value, allowed;
  explicit Values(std::size_t n) : value(n), allowed(n) {}
};

Values row_of(const Operand& o, i64 row) {
  Values out(static_cast<std::size_t>(o.columns()));
  for (i64 j = 0; j < o.columns(); ++j) out.value[static_cast<std::size_t>(j)] = o.at(row, j);
  return out;
}

// The row times b, or times b transposed.
Values times(const Values& row, const Operand& b, bool transposed = false) {
  const i64 k = static_cast<i64>(row.value.size());
  const i64 n = transposed ? b.rows() : b.columns();
  const double rounding = static_cast<double>(k + 2) * kUlp;
  Values out(static_cast<std::size_t>(n));
  for (i64 p = 0; p < k; ++p)
    for (i64 j = 0; j < n; ++j) {
      const double weight = transposed ? b.at(j, p) : b.at(p, j);
      const auto from = static_cast<std::size_t>(p), to = static_cast<std::size_t>(j);
      out.value[to] += row.value[from] * weight;
      out.allowed[to] +=
          (std::fabs(row.value[from]) * rounding + row.allowed[from]) * std::fabs(weight);
    }
  return out;
}

Values softmax(Values v) {
  const double top = *std::max_element(v.value.begin(), v.value.end());
  const double moved = 2 * *std::max_element(v.allowed.begin(), v.allowed.end());
  double sum = 0;
  for (double& x : v.value) sum += x = std::exp(x - top);
  for (std::size_t j = 0; j < v.value.size(); ++j) {
    v.value[j] /= sum;
    v.allowed[j] = v.value[j] * (moved + kFunction + kRowSum);
  }
  return v;
}

// By the root of the mean of squares; with the mean taken away first, or not.
Values norm(Values v, bool centred) {
  const auto n = static_cast<double>(v.value.size());
  double mean = 0, squares = 0;
  for (const double x : v.value) mean += centred ? x / n : 0;
  for (const double x : v.value) squares += (x - mean) * (x - mean) / n;
  const double scale = 1 / std::sqrt(squares + kEpsilon);
  for (std::size_t j = 0; j < v.value.size(); ++j) {
    v.value[j] = (v.value[j] - mean) * scale;
    v.allowed[j] = kRowSum * (std::fabs(v.value[j]) + std::fabs(mean) * scale) + kUlp;
  }
  return v;
}

Values gelu(Values v) {
  constexpr double kSteepest = 1.13;
  for (std::size_t j = 0; j < v.value.size(); ++j) {
    const double x = v.value[j];
    v.value[j] = x / 2 * std::erfc(-x / std::sqrt(2.0));
    v.allowed[j] = kSteepest * v.allowed[j] + kFunction * std::fabs(x);
  }
  return v;
}

Values product(const Values& a, const Values& b) {
  Values out(a.value.size());
  for (std::size_t j = 0; j < a.value.size(); ++j) {
    out.value[j] = a.value[j] * b.value[j];
    out.allowed[j] = std::fabs(a.value[j]) * b.allowed[j] + std::fabs(b.value[j]) * a.allowed[j] +
                     kUlp * std::fabs(out.value[j]);
  }
  return out;
}

Values attention(const Graph& g, const Values& q) {
  Values scores = times(q, *g.in[1], true);
  for (double& s : scores.value) s *= kScale;
  for (double& s : scores.allowed) s *= kScale;
  return times(softmax(std::move(scores)), *g.in[2]);
}

Values biased(Values v, const Operand& bias) {
  for (std::size_t j = 0; j < v.value.size(); ++j) v.value[j] += bias.at(0, static_cast<i64>(j));
  return v;
}

// All filters at one place of the window.
Values window(const Graph& g, i64 place) {
  const Graph::Convolution& c = g.conv;
  const i64 top = place / c.out[2] * c.stride - c.pad, left = place % c.out[2] * c.stride - c.pad;
  const double rounding = static_cast<double>(c.k[0] * c.k[1] * c.k[2] + 2) * kUlp;
  Values out(static_cast<std::size_t>(c.k[3]));
  for (i64 tap = 0; tap < c.k[0] * c.k[1] * c.k[2]; ++tap) {
    const i64 h = top + tap / c.k[2] / c.k[1], w = left + tap / c.k[2] % c.k[1];
    if (h < 0 || h >= c.x[1] || w < 0 || w >= c.x[2]) continue;
    for (i64 f = 0; f < c.k[3]; ++f) {
      const i64 group = f / (c.k[3] / c.groups());
      const double term =
          g.in[0]->at(h * c.x[2] + w, group * c.k[2] + tap % c.k[2]) * g.in[1]->at(tap, f);
      out.value[static_cast<std::size_t>(f)] += term;
      out.allowed[static_cast<std::size_t>(f)] += std::fabs(term) * rounding;
    }
  }
  return out;
}

Values row_of(const Graph& g, i64 row) {
  if (g.is("conv")) return window(g, row);
  const Values x = row_of(*g.in[0], row);
  if (g.is("softmax")) return softmax(x);
  if (g.is("rms") || g.is("layer")) return norm(x, g.is("layer"));
  if (g.is("gelu")) return gelu(biased(times(x, *g.in[1]), *g.in[2]));
  if (g.is("ffn")) return product(gelu(times(x, *g.in[1])), times(x, *g.in[2]));
  if (g.is("chain")) return times(times(x, *g.in[1]), *g.in[2]);
  MORELLO_CHECK(g.is("attention"), "bench/graphs/graph.h has no such kernel");
  return attention(g, x);
}

}  // namespace

Reference::Reference(const Graph& g) {
  const bool by_columns = g.conv.channels_first;
  step_ = by_columns ? g.out_rows : 1;
  // The second is inside a picture, the others are corners of it.
  for (const i64 row : std::set<i64>{0, g.out_rows / 3, g.out_rows - 1}) {
    Values v = row_of(g, row);
    rows_.push_back(
        {by_columns ? row : row * g.out_columns, std::move(v.value), std::move(v.allowed)});
  }
}

double Reference::error(const float* out) const {
  double worst = 0;
  for (const Row& row : rows_) {
    for (std::size_t j = 0; j < row.value.size(); ++j) {
      const float made = out[row.at + static_cast<i64>(j) * step_];
      const double error = std::fabs(static_cast<double>(made) - row.value[j]);
      worst = std::max(worst, std::isnan(error) ? INFINITY : error / row.allowed[j]);
    }
  }
  return worst;
}

}  // namespace morello::bench
