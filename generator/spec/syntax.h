// What a parser found, before any checking of meaning: that of the language (parse.cc), and those
// of import/, whose tokens are places in other texts.
#pragma once

#include <vector>

#include "spec/kernel_spec.h"
#include "spec/lex.h"

namespace morello {

// Operators of one kernel: x + x + .. is as deep as it is long for those who walk it.
inline constexpr int kMaxOperators = 256;

struct LayoutSyntax {
  enum class Kind { kNone, kRow, kCol, kPacked, kOrder } kind = Kind::kNone;
  std::vector<Digit> digits;  // kOrder
  Token at;
  Token strided;  // empty text: not said
};

// A number, or `n%16 to 64 near 32`, of which a later mention may say `n` only.
struct DimSyntax {
  Token at;
  i64 number = 0;     // 0: a name
  RunTimeSize size;   // of a name
  bool said = false;  // more than the name
};

struct TensorSyntax {
  Token name;  // a result may have none
  Token dtype_at;
  Dtype dtype = Dtype::f32;
  std::vector<DimSyntax> shape;  // empty: a result's shape was not given
  LayoutSyntax layout;
};

struct AttributeSyntax {
  Token at;
  i64 value = 0;
  std::string_view same_as;  // in a definition: the attribute of this name of what is defined
};

struct ExprSyntax {
  Expr::Kind kind = Expr::Kind::kCall;
  Token at;             // the name, the number, the operator's name or sign
  std::string_view op;  // of a call: its name in the table; else the name itself
  double number = 0;
  std::vector<ExprSyntax> args = {};
  std::vector<AttributeSyntax> attributes = {};
};

// `h: bf16 = expr`, behind `where`.
struct BindingSyntax {
  Token name;
  Token dtype_at;  // empty text: no type was given
  Dtype dtype = Dtype::f32;
  ExprSyntax expr;
};

struct KernelSyntax {
  Token name;  // empty text: none
  std::vector<TensorSyntax> params;
  std::vector<TensorSyntax> results;  // one without a name, or several that `where` has
  ExprSyntax expr;                    // of the one without a name
  std::vector<BindingSyntax> where;

  bool names_results() const { return !results.empty() && !results[0].name.text.empty(); }
  // Where to point at what concerns all of it.
  const Token& at() const { return names_results() ? results[0].name : expr.at; }
};

// One stage of it.
struct StageSyntax {
  TensorSyntax result;
  ExprSyntax expr;
  bool copies = false;  // elements as they are: of any type
};

// OpDef::definition: an expression and what stands behind `where`. Aborts where it is none.
KernelSyntax parse_definition(std::string_view text);

// Shapes, types, layouts, names: everything that is not syntax (check.cc).
// Whether a sum over one element becomes that element (build.h).
enum class SumsOfOne { kTaken, kKept };
Result<KernelSpec> check(const KernelSyntax& kernel, const Source& source,
                         SumsOfOne of_one = SumsOfOne::kTaken);

// "; did you mean `f32`?", or nothing.
std::string suggestion(std::string_view given, const std::vector<std::string>& allowed);

}  // namespace morello
