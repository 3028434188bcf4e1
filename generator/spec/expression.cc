#include "spec/expression.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/diag.h"

namespace morello {
namespace {

double larger(double a, double b, double) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}
double smaller(double a, double b, double) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::min(a, b);
}
double sum(double a, double b, double) { return a + b; }
double difference(double a, double b, double) { return a - b; }
double product(double a, double b, double) { return a * b; }
double minus(double a, double, double) { return -a; }
double less(double a, double b, double) { return a < b ? 1 : 0; }
double less_equal(double a, double b, double) { return a <= b ? 1 : 0; }
double equal(double a, double b, double) { return a == b ? 1 : 0; }
double select(double a, double b, double c) { return a != 0 ? b : c; }
// Of 32 bits, so that 64 hold the product; a double does not.
double whole_product(double a, double b, double) {
  const auto wide = static_cast<std::int64_t>(a) * static_cast<std::int64_t>(b);
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint64_t>(wide)));
}

constexpr FnDef kFns[] = {
    {Fn::kAdd, "add", 2, sum, sum},
    {Fn::kSub, "sub", 2, difference, difference},
    {Fn::kMul, "mul", 2, product, whole_product},
    {Fn::kDiv, "div", 2, [](double a, double b, double) { return a / b; }, nullptr, false},
    {Fn::kMax, "max", 2, larger, larger},
    {Fn::kMin, "min", 2, smaller, smaller},
    {Fn::kNeg, "neg", 1, minus, minus},
    {Fn::kLess, "lt", 2, less, less},
    {Fn::kLessEqual, "le", 2, less_equal, less_equal},
    {Fn::kEqual, "eq", 2, equal, equal},
    {Fn::kSelect, "select", 3, select, select},
    {Fn::kExp, "exp", 1, [](double a, double, double) { return std::exp(a); }, nullptr, false},
    {Fn::kExpNonpositive, "exp_nonpositive", 1,
     [](double a, double, double) { return std::exp(smaller(a, 0, 0)); }, nullptr, false},
    {Fn::kRounded, "rounded", 1, [](double a, double, double) { return a; }, nullptr},
    {Fn::kTanh, "tanh", 1, [](double a, double, double) { return std::tanh(a); }, nullptr, false},
    {Fn::kErf, "erf", 1, [](double a, double, double) { return std::erf(a); }, nullptr, false},
    {Fn::kLog, "log", 1, [](double a, double, double) { return std::log(a); }, nullptr, false},
    {Fn::kSqrt, "sqrt", 1, [](double a, double, double) { return std::sqrt(a); }, nullptr, false},
    {Fn::kToFloat, "float", 1, [](double a, double, double) { return a; }, nullptr},
};

// Terms that are written without parentheses.
bool is_operator(Fn fn) {
  return fn == Fn::kAdd || fn == Fn::kSub || fn == Fn::kMul || fn == Fn::kDiv;
}

std::string text_of(const Expression& e, int at, std::string_view value);

// An operand of + - * /: in parentheses unless it binds closer, or as close from the left.
std::string factor(const Expression& e, int at, Fn outer, bool left, std::string_view value) {
  const auto rank = [](Fn fn) {
    return fn == Fn::kAdd || fn == Fn::kSub ? 1 : is_operator(fn) ? 2 : 3;
  };
  const std::string text = text_of(e, at, value);
  const int inner = rank(e[at].fn), around = rank(outer);
  const bool open = inner > around || (inner == around && left) || inner == 3;
  return open ? text : "(" + text + ")";
}

std::string text_of(const Expression& e, int at, std::string_view value) {
  const Term& t = e[at];
  switch (t.fn) {
    case Fn::kInput:
      return fmt::format("in{}", t.a);
    case Fn::kExtra:
      return fmt::format("extra{}", t.a);
    case Fn::kValue:
      return std::string(value);
    case Fn::kConstant:
      return is_float(t.type) ? fmt::format("{}", static_cast<float>(t.constant))
                              : fmt::format("{}", t.constant);
    default:
      break;
  }
  if (is_operator(t.fn)) {
    const std::string_view sign = t.fn == Fn::kAdd   ? "+"
                                  : t.fn == Fn::kSub ? "-"
                                  : t.fn == Fn::kMul ? "*"
                                                     : "/";
    return fmt::format("{} {} {}", factor(e, t.a, t.fn, true, value), sign,
                       factor(e, t.b, t.fn, false, value));
  }
  const FnDef& f = *fn_def(t.fn);
  std::string operands;
  for (const int operand : {t.a, t.b, t.c})
    if (operand >= 0) operands += (operands.empty() ? "" : ", ") + text_of(e, operand, value);
  return fmt::format("{}({})", f.name, operands);
}

}  // namespace

std::span<const FnDef> fn_table() { return kFns; }

const FnDef* fn_def(Fn fn) {
  for (const FnDef& f : kFns)
    if (f.fn == fn) return &f;
  return nullptr;
}

int add_term(Expression& e, const Term& t) {
  const auto found = std::find(e.begin(), e.end(), t);
  if (found == e.end()) {
    e.push_back(t);
    return static_cast<int>(e.size()) - 1;
  }
  return static_cast<int>(found - e.begin());
}

Expression pruned(const Expression& e) {
  Expression out;
  const auto copy = [&](auto& self, int at) -> int {
    Term t = e[at];
    if (const FnDef* f = fn_def(t.fn)) {
      t.a = self(self, t.a);
      if (f->arity > 1) t.b = self(self, t.b);
      if (f->arity > 2) t.c = self(self, t.c);
    }
    return add_term(out, t);
  };
  copy(copy, static_cast<int>(e.size()) - 1);
  return out;
}

bool is_copy(const Expression& e) { return e.size() == 1 && e[0].fn == Fn::kInput && e[0].a == 0; }

int operands_of(const Expression& e, Fn fn) {
  int n = 0;
  for (const Term& t : e)
    if (t.fn == fn) n = std::max(n, t.a + 1);
  return n;
}

bool names(const Expression& e, Fn fn, int operand) {
  return std::any_of(e.begin(), e.end(),
                     [&](const Term& t) { return t.fn == fn && t.a == operand; });
}

int count_functions(const Expression& e) {
  return static_cast<int>(
      std::count_if(e.begin(), e.end(), [](const Term& t) { return fn_def(t.fn) != nullptr; }));
}

std::string str(const Expression& e, std::string_view value) {
  return text_of(e, static_cast<int>(e.size()) - 1, value);
}

double wrap_i32(double x) {
  const double modulus = std::ldexp(1.0, 32);
  const double low = x - modulus * std::floor(x / modulus);
  return low >= modulus / 2 ? low - modulus : low;
}

double apply(const FnDef& f, Dtype type, double a, double b, double c) {
  return is_float(type) ? f.real(a, b, c) : wrap_i32(f.integer(a, b, c));
}

double evaluate(const Expression& e, std::span<const double> inputs, std::span<const double> extras,
                double value) {
  double values[kMaxTerms];
  MORELLO_CHECK(e.size() <= kMaxTerms && !e.empty(), "{} terms", e.size());
  for (size_t i = 0; i < e.size(); ++i) {
    const Term& t = e[i];
    switch (t.fn) {
      case Fn::kInput:
        values[i] = inputs[t.a];
        break;
      case Fn::kExtra:
        values[i] = extras[t.a];
        break;
      case Fn::kValue:
        values[i] = value;
        break;
      case Fn::kConstant:
        values[i] = t.constant;
        break;
      default:
        values[i] = apply(*fn_def(t.fn), t.type, values[t.a], t.b < 0 ? 0 : values[t.b],
                          t.c < 0 ? 0 : values[t.c]);
    }
  }
  return values[e.size() - 1];
}

}  // namespace morello
