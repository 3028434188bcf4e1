// Expression: arithmetic on one element of every operand, as a list of terms that use earlier ones.
//
//   0.5 * x + y      0: input 0   1: constant 0.5   2: mul 1 0   3: input 1   4: add 2 3
//
// A term is written once however often it is used, and terms stand in the order of their first use,
// so that equal texts give equal lists. The last term is the value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"

namespace morello {

enum class Fn {
  kInput,     // element of an input of the Computation
  kExtra,     // ... of an operand that is read once for every element of the output
  kValue,     // what was combined
  kConstant,  // a number
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,  // NaN if one of the two is
  kMin,  // NaN if one of the two is
  kNeg,
  kLess,  // 1 where it holds, else 0
  kLessEqual,
  kEqual,
  kSelect,  // the second where the first is not 0, else the third
  kExp,
  kExpNonpositive,  // exp of what is not positive; if it is, anything from 1 to its exp
  kRounded,         // itself: what is computed of it starts from its f32, whatever compilers join
  kTanh,
  kErf,
  kLog,
  kSqrt,
  kToFloat,  // of an i32
};

// A function of the language's arithmetic.
struct FnDef {
  Fn fn;
  std::string_view name;
  int arity;
  double (*real)(double a, double b, double c);     // in f32: the exact value
  double (*integer)(double a, double b, double c);  // in i32, before it wraps; null: not defined
  bool cheap = true;                                // takes less than reading an element again
};
std::span<const FnDef> fn_table();
// Null for what is no function of terms: inputs, extras, the value, constants.
const FnDef* fn_def(Fn fn);

struct Term {
  Fn fn = Fn::kConstant;
  Dtype type = Dtype::f32;  // of the result: f32 or i32
  // Earlier terms; a: number of the operand for kInput and kExtra.
  int a = -1, b = -1, c = -1;
  double constant = 0;
  bool operator==(const Term&) const = default;
};
using Expression = std::vector<Term>;
inline constexpr size_t kMaxTerms = 96;

// The number of the term in the list: of an equal one, or of a new one at the end.
int add_term(Expression& e, const Term& t);

// The same in the other order of its terms and without those that the last one does not use.
Expression pruned(const Expression& e);

// Whether it is input 0 as it is.
bool is_copy(const Expression& e);

// One past the greatest operand that terms of this kind name; 0: there are none.
int operands_of(const Expression& e, Fn fn);

// Whether a term names this operand.
bool names(const Expression& e, Fn fn, int operand);

// Functions among its terms.
int count_functions(const Expression& e);

// "0.5 * in0 + in1", "max(sum, 0)"; `value` stands for kValue.
std::string str(const Expression& e, std::string_view value = "sum");

// Its value: floats as doubles and unrounded, integers exact and wrapped to 32 bits at every term.
double evaluate(const Expression& e, std::span<const double> inputs,
                std::span<const double> extras = {}, double value = 0);

// Value of one function, in the arithmetic of `type`.
double apply(const FnDef& f, Dtype type, double a, double b = 0, double c = 0);

// What 32 bits hold of an integer.
double wrap_i32(double x);

}  // namespace morello
