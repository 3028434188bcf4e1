#include "run/functions.h"

#include <algorithm>
#include <cmath>

#include "run/product.h"

namespace morello::run {
namespace {

// In i32.
double whole(Word w, double x, double y) {
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

Interval number(double x) { return Interval::exactly(round_to(Type::f32, x)); }

Interval mean(const std::vector<Interval>& terms) {
  return div(float_sum(terms), number(static_cast<double>(terms.size())));
}

// Divided by something: in one step, or by a product with 1 / b.
Interval quotient(const Interval& a, const Interval& b) {
  return either(mul(a, div(number(1), b)), div(a, b));
}

}  // namespace

Interval unary(Word w, const Interval& x, bool real) {
  const auto number = [](double v) { return Interval::exactly(round_to(Type::f32, v)); };
  switch (w) {
    case Word::convert:
      return x;
    case Word::neg:
      return real ? negative(x) : Interval::exactly(wrap(-static_cast<i64>(x.lo)));
    case Word::relu:
      return largest(x, number(0));
    case Word::exp:
      return growing([](double v) { return std::exp(v); }, x, 2.5, 0, HUGE_VAL);
    case Word::tanh:
      return growing([](double v) { return std::tanh(v); }, x, 3.5, -1, 1);
    case Word::erf:
      return growing([](double v) { return std::erf(v); }, x, 3.5, -1, 1);
    case Word::log:
      return logarithm(x);
    case Word::sqrt:
      return square_root(x);
    case Word::rsqrt:
      return div(number(1), square_root(x));
    case Word::sigmoid:
      return div(number(1), add(number(1), unary(Word::exp, negative(x), real)));
    case Word::silu:
      return div(x, add(number(1), unary(Word::exp, negative(x), real)));
    case Word::gelu: {
      const Interval e = unary(Word::erf, mul(x, number(std::sqrt(0.5))), real);
      return mul(mul(x, number(0.5)), add(number(1), e));
    }
    default: {  // gelu_tanh
      const Interval cubic = add(number(1), mul(mul(x, x), number(0.044715)));
      const double root = std::sqrt(2 / std::acos(-1.0));
      const Interval t = unary(Word::tanh, mul(mul(x, number(root)), cubic), real);
      return mul(mul(x, number(0.5)), add(number(1), t));
    }
  }
}

Interval binary(Word w, const Interval& a, const Interval& b, bool real) {
  if (!real) return Interval::exactly(whole(w, a.lo, b.lo));
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

// What the maximum is taken from is rounded first, so that no exponent is positive, and one of them
// is 0.
void softmax(std::vector<Interval>& line) {
  for (Interval& i : line) i.product = false;
  Interval most = line.front();
  for (const Interval& i : line) most = largest(most, i);
  for (Interval& i : line) i = unary(Word::exp, smallest(sub(i, most), Interval::exactly(0)), true);
  Interval sum = float_sum(line);
  if (!sum.unchecked) sum.lo = std::max(sum.lo, 1 - 0x1p-21);
  for (Interval& i : line) i = quotient(i, sum);
}

void rms_norm(std::vector<Interval>& line, const Interval& epsilon) {
  std::vector<Interval> squares;
  for (const Interval& i : line) squares.push_back(square(i));
  const Interval root = square_root(add(mean(squares), epsilon));
  for (Interval& i : line) i = quotient(i, root);
}

void layer_norm(std::vector<Interval>& line, const Interval& epsilon) {
  const Interval middle = mean(line);
  for (Interval& i : line) i = sub(i, middle);
  rms_norm(line, epsilon);
}

}  // namespace morello::run
