// The spec language (docs/spec.md): what a user writes and what everything prints.
//
//   kernel := [name] "(" param {"," param} ")" ":" result "=" expr
//   param  := name ":" dtype "[" dim {"," dim} "]" [layout] ["strided"]
//   dim    := number | name ["%" number] ["to" number] ["near" number]
//   result := dtype ["[" dims "]"] [layout] ["strided"]   shape is inferred; given, it is checked
//   layout := "row" | "col" | "packed" | "order(" digit {"," digit} ")"
//   expr   := operator "(" arg {"," arg} ")" | name | number | expr ("+"|"*") expr
//   arg    := expr | name "=" value
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/computation.h"

namespace morello {

// One dimension of a tensor: a number, or a size that is known at run time only.
struct Size {
  Size(i64 number) : extent(number) {}  // NOLINT(google-explicit-constructor): a number is a size
  Size(i64 nominal, std::string run_time) : extent(nominal), name(std::move(run_time)) {}
  i64 extent;        // nominal where it has a name
  std::string name;  // of Computation::sizes; empty: a number
  bool operator==(const Size&) const = default;
};
std::string str(const Size& s);  // "16", "n"
std::vector<i64> extents(std::span<const Size> shape);

struct Param {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Size> shape;
  Layout layout;
  bool packed = false;
  bool strided = false;  // outer strides are arguments of the kernel
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
  const std::vector<RunTimeSize>& sizes() const { return computation.sizes; }
  bool operator==(const KernelSpec&) const = default;
};

// Names of the arguments that say how far apart the outer axes of a strided tensor lie, as the
// kernel takes them: axis by axis, without the one whose elements are adjacent. `b_stride` where
// there is one, else `b_stride0`, `b_stride1` by axis.
struct StrideArgument {
  std::string name;
  int axis = 0;
};
std::vector<StrideArgument> stride_arguments(const Param& p);

// Parses and checks one kernel. `file` names the text in diagnostics ("<spec>" when it came from a
// command line). Comments run from # to the end of the line. Never throws.
Result<KernelSpec> parse_spec(std::string_view text, const std::string& file = "<spec>");

// Several kernels from one file, each with its own name; names are distinct.
Result<std::vector<KernelSpec>> parse_spec_file(std::string_view text, const std::string& file);

}  // namespace morello
