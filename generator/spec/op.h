// OpDef: one operator of the spec language; a row of the table that spec/ops/*.cc fill, one file
// each. An operator says only how to build the Computation, or, elementwise, the terms of an
// Expression; everything else follows from that.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "spec/kernel_spec.h"

namespace morello {

struct OpCall {
  std::span<const Param> args;            // in call order
  std::span<const Attribute> attributes;  // checked against OpDef::attributes already
  std::optional<i64> attribute(std::string_view name) const;
};

// Makes terms of one type, f32 or i32, in front of an Expression's end.
class Terms {
 public:
  Terms(Expression& e, Dtype type) : e_(e), type_(type) {}
  int number(double x) { return add_term(e_, {.fn = Fn::kConstant, .type = type_, .constant = x}); }
  int operator()(Fn fn, int a, int b = -1, int c = -1) {
    return add_term(e_, {.fn = fn, .type = type_, .a = a, .b = b, .c = c});
  }

 private:
  Expression& e_;
  Dtype type_;
};

struct OpDef {
  std::string_view name;
  int arity;
  std::string_view usage;  // "matmul(a[..., m, k], b[..., k, n])", shown in errors
  std::vector<std::string> attributes = {};
  // The Computation with operands args..., out (its shape inferred, layout row), or an error whose
  // text says what was given and what is allowed (its place is filled in by the parser).
  Result<Computation> (*build)(const OpCall& call) = nullptr;
  // Or: along one axis, which disappears, values are combined into one; and the term that is made
  // of that, of how many they were.
  Combine combine = Combine::kNone;
  int (*after)(Terms& terms, int combined, double count) = nullptr;
  // Elementwise instead: the term that it is of terms that are there already.
  int (*term)(Terms& terms, std::span<const int> args) = nullptr;
  bool inserts_axis = false;  // or the operand itself, the same along one more axis
  bool swaps_axes = false;    // ... with the last two axes in the other order
  bool pads = false;          // ... with zeros around it
  bool keeps_number = false;  // of an operand that inserts an axis: [1] stays one number
  // Or what it is in the language, of operands a, b, c and of its own attributes.
  std::string_view definition = {};

  bool sums() const { return build || combine != Combine::kNone; }
};

// All operators, in the order of the list in generator/CMakeLists.txt.
std::span<const OpDef* const> op_table();
const OpDef* find_op(std::string_view name);

}  // namespace morello
