// reduce: along one axis after the other, from the last one on.

#include <algorithm>
#include <cmath>

#include "import/lower.h"

namespace morello::hlo {
namespace {

struct Reduction {
  std::string_view joins;  // in HLO
  std::string_view op, element;
};
constexpr Reduction kReductions[] = {{"add", "reduce_sum", "add"},
                                     {"maximum", "reduce_max", "max"},
                                     {"minimum", "reduce_min", "min"}};

// What changes nothing when it is joined with any element.
bool is_neutral(const Reduction& r, const TensorType& t, double x) {
  if (r.joins == "add") return x == 0;
  const double sign = r.joins == "maximum" ? -1 : 1;
  if (is_float(t.dtype)) return std::isinf(x) && x * sign > 0;
  const bool is_unsigned = t.dtype == Dtype::u8;
  const double half = std::ldexp(1, 8 * bytes(t.dtype) - (is_unsigned ? 0 : 1));
  return sign < 0 ? x <= (is_unsigned ? 0 : -half) : x >= half - 1;
}

}  // namespace

bool Lowering::reduced(const Instruction& in, Value& out) {
  const auto r = std::find_if(
      std::begin(kReductions), std::end(kReductions),
      [&](const Reduction& row) { return row.joins == in.words.find("reducer")->second.text; });
  Value from = value(in, 0);
  nodes_.decide(from.node);
  double same = 1;
  std::vector<int> along;  // of the node
  for (const int h : axes_of(in, "dimensions")) {
    const int at = nodes_.position(from.node, from.axes[h]);
    if (at >= 0)
      along.push_back(at);
    else
      same *= static_cast<double>(operand(in, 0).shape[h]);
  }
  std::vector<int> position;  // of every axis of the result
  for (const int h : kept_axes(in, from.axes.size()))
    position.push_back(nodes_.position(from.node, from.axes[h]));
  std::sort(along.rbegin(), along.rend());
  std::vector<i64> shape = nodes_.shape_of(from.node);
  int node = from.node;
  for (const int at : along) {
    shape.erase(shape.begin() + at);
    node = nodes_.along(in.at, r->op, node, at, shape);
    for (int& p : position) p -= p > at ? 1 : 0;
  }
  if (r->joins == "add" && same != 1)
    node = nodes_.call(in.at, "mul", {node, nodes_.number(in.at, same)}, shape);
  const Node& start = nodes_[value(in, 1).node];
  if (start.kind != Expr::Kind::kNumber)
    return fail(in.at, "the value that a reduction begins with is a constant");
  if (!is_neutral(*r, in.type, start.number))
    node = nodes_.call(in.at, r->element, {node, value(in, 1).node}, shape);
  out.node = node;
  if (node != from.node)
    out.axes = std::move(position);
  else  // one element is its own sum
    for (const int h : kept_axes(in, from.axes.size())) out.axes.push_back(from.axes[h]);
  return true;
}

bool Lowering::reduce(const Instruction& in, Value& out) {
  const TensorType& from = operand(in, 0);
  const bool adds = in.words.find("reducer")->second.text == "add";
  if (from.pred || in.type.pred || in.type.dtype != from.dtype ||
      (adds && !is_float(from.dtype) && from.dtype != Dtype::i32))
    return fail(in.at,
                fmt::format("this reduction of {} to {} is not supported; allowed: one to the "
                            "same type, and sums of floats and 32-bit integers",
                            str(from), str(in.type)));
  return reduced(in, out);
}

}  // namespace morello::hlo
