// The spec language (docs/spec.md): what a user writes and what everything prints.
//
//   kernel := [name] "(" param {"," param} ")" ":" result "=" expr
//   param  := name ":" dtype "[" dim {"," dim} "]" [layout]
//   result := dtype ["[" dims "]"] [layout]        shape is inferred; given, it is checked
//   layout := "row" | "col" | "packed" | "order(" digit {"," digit} ")"
//   expr   := operator "(" arg {"," arg} ")" | name | number | expr ("+"|"*") expr
//   arg    := expr | name "=" value
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/computation.h"

namespace morello {

struct Param {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<i64> shape;
  Layout layout;
  bool packed = false;
  bool operator==(const Param&) const = default;
};

struct Attribute {  // axis=1
  std::string name;
  i64 value = 0;
  bool operator==(const Attribute&) const = default;
};

// One operator applied to parameters. (Compositions of several operators are refused for now.)
struct Expr {
  std::string op;
  std::vector<int> args;  // indices into params
  std::vector<Attribute> attributes;
  bool operator==(const Expr&) const = default;
};

struct KernelSpec {
  std::string name;  // may be empty
  std::vector<Param> params;
  Param result;  // name "out"
  Expr expr;
  // What it means. Its operands are the arguments in call order (operand i is parameter
  // expr.args[i]; a parameter may be used twice unless it is packed), then the result.
  Computation computation;

  std::string str() const;  // canonical text; parse_spec(str()) == *this
  bool operator==(const KernelSpec&) const = default;
};

// Parses and checks one kernel. `file` names the text in diagnostics ("<spec>" when it came from a
// command line). Comments run from # to the end of the line. Never throws.
Result<KernelSpec> parse_spec(std::string_view text, const std::string& file = "<spec>");

// Several kernels from one file, each with its own name; names are distinct.
Result<std::vector<KernelSpec>> parse_spec_file(std::string_view text, const std::string& file);

}  // namespace morello
