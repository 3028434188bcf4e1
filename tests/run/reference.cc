#include "run/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "run/evaluate.h"

namespace morello::run {
namespace {

std::string text(const char* format, double a, double b, double c) {
  char buffer[160];
  std::snprintf(buffer, sizeof buffer, format, a, b, c);
  return buffer;
}

// The sign of a zero is certain of one function of operands.
bool zero_is_signed(const Subject& s) {
  const Word w = s.node[0].word;
  return (w == Word::add || w == Word::mul || w == Word::convert) && s.nodes <= 3 &&
         std::all_of(s.node + 1, s.node + s.nodes,
                     [](const Node& n) { return n.word == Word::param; });
}

bool as_expected(const Interval& e, Type type, bool zero_is_signed, double got) {
  if (e.unchecked) return true;
  if (std::isnan(e.lo)) return std::isnan(got);
  const Interval stored = rounded_to(type, e);
  if (!(stored.lo <= got && got <= stored.hi)) return false;
  return !zero_is_signed || std::signbit(got) == std::signbit(stored.lo);
}

std::string wrong_row(const Reference& expected, const Values& outputs) {
  const std::size_t rows = expected.row_sums.size();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t n = outputs.size() / rows;
    double sum = 0;
    for (std::size_t i = row * n; i < (row + 1) * n; ++i) sum += outputs[i];
    const RowSum& e = expected.row_sums[row];
    if (!(std::fabs(sum - e.value) <= e.slack))
      return "the sum of row " + std::to_string(row) +
             text(" is %.9g, not %.9g (+- %.3g)", sum, e.value, e.slack);
  }
  return "";
}

}  // namespace

Reference reference(const Subject& s, const std::vector<Values>& inputs, bool flushes) {
  Evaluator evaluator(s, inputs, flushes);
  const int node = s.result[0].node;
  if (s.results > 1 || s.node[node].word != Word::matmul) {
    Reference all;
    for (int r = 0; r < s.results; ++r)
      for (const Interval& i : evaluator.result(s.result[r])) all.outputs.push_back(i);
    return all;
  }
  const Type type = s.result[0].tensor.type;
  Factor a = evaluator.factor(node + 1), b = evaluator.factor(behind(s, node + 1));
  a.integers = b.integers = a.integers && b.integers;
  Product p = product(a, b, true, type);
  if (is_float(type))
    for (Interval& i : p.sums) i = rounded_to(Type::f32, i);
  evaluator.store_as(type, p.sums);
  return {std::move(p.sums), std::move(p.row_sums), p.every};
}

bool may_flush(const Subject& s) {
  const auto bf16 = [](const Tensor& t) { return t.type == Type::bf16; };
  return std::any_of(s.param, s.param + s.params, bf16) ||
         std::any_of(s.result, s.result + s.results,
                     [&](const Made& r) { return bf16(r.tensor); }) ||
         std::any_of(s.named, s.named + s.names,
                     [](const Name& n) { return n.type == Type::bf16; });
}

std::string difference(const Subject& s, const Reference& expected, const Values& outputs,
                       Compared& compared) {
  compared = {};
  const bool is_signed = zero_is_signed(s);
  std::size_t first = 0;
  for (int r = 0; r < s.results; ++r) {
    const Tensor& t = s.result[r].tensor;
    const auto row = static_cast<std::size_t>(t.shape[t.rank - 1]),
               end = first + static_cast<std::size_t>(elements(t));
    for (std::size_t i = first; i < end; ++i) {
      if (i / row % static_cast<std::size_t>(expected.every) != 0 && i + row < end) continue;
      const Interval& e = expected.outputs[i];
      ++compared.outputs;
      compared.unchecked += e.unchecked;
      if (!as_expected(e, t.type, is_signed, outputs[i]))
        return (s.results > 1 ? "result " + std::to_string(r) + ", " : "") + "output " +
               std::to_string(i - first) +
               text(" is %.9g, not %.9g to %.9g", outputs[i], e.lo, e.hi);
    }
    first = end;
  }
  return wrong_row(expected, outputs);
}

double median_width(const Reference& r) {
  Values widths;
  for (const Interval& i : r.outputs) {
    const double size = std::max(std::fabs(i.lo), std::fabs(i.hi));
    if (!i.unchecked && std::isfinite(size)) widths.push_back(size == 0 ? 0 : (i.hi - i.lo) / size);
  }
  if (widths.empty()) return 0;
  const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
  std::nth_element(widths.begin(), middle, widths.end());
  return *middle;
}

}  // namespace morello::run
