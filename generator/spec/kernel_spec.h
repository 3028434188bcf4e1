// The spec language (docs/spec.md): what a user writes and what everything prints.
//
//   kernel := [name] "(" param {"," param} ")" ":" result "=" expr
//   param  := name ":" dtype "[" dim {"," dim} "]" [layout] ["strided"]
//   dim    := number | name ["%" number] ["to" number] ["near" number]
//   result := dtype ["[" dims "]"] [layout] ["strided"]   shape is inferred; given, it is checked
//   layout := "row" | "col" | "packed" | "order(" digit {"," digit} ")"
//   expr   := product {("+" | "-") product}
//   product:= factor {("*" | "/") factor}
//   factor := "-" factor | "(" expr ")" | number | name | operator "(" arg {"," arg} ")"
//   arg    := expr | name "=" number
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

// A parameter, a number, or an operator applied to such.
struct Expr {
  enum class Kind { kParam, kNumber, kCall } kind = Kind::kCall;
  int param = -1;     // index into params
  double number = 0;  // exactly what was written, as a double
  std::string op = {};
  std::vector<Expr> args = {};
  std::vector<Attribute> attributes = {};
  bool operator==(const Expr&) const = default;
};

struct KernelSpec {
  std::string name;  // may be empty
  std::vector<Param> params;
  Param result;  // name "out"
  Expr expr;
  Computation computation;  // what it means
  // The parameter that each input of the computation is, then those of its extras. One may be used
  // twice unless it is packed.
  std::vector<int> arguments;

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
