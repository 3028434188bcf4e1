// The spec language (docs/spec.md): what a user writes and what everything prints.
//
//   kernel := [name] "(" param {"," param} ")" ":" (result "=" expr | "(" named {"," named} ")")
//             ["where" let {"," let}]
//   named  := name ":" result                 `where` says what it is
//   let    := name [":" dtype] "=" expr       of parameters and of names that stand before it
//   param  := name ":" dtype "[" dim {"," dim} "]" [layout] ["strided"]
//   dim    := number | name ["%" number] ["to" number] ["near" number]
//   result := dtype ["[" dims "]"] [layout] ["strided"]   shape is inferred; given, it is checked
//   layout := "row" | "col" | "packed" | "order(" digit {"," digit} ")"
//   expr   := product {("+" | "-") product}
//   product:= factor {("*" | "/") factor}
//   factor := "-" factor | "(" expr ")" | number | "inf" | name | operator "(" arg {"," arg} ")"
//   arg    := expr | name "=" number
#pragma once

#include <optional>
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
  Layout layout = {};
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
  int param = -1;     // index into params, and behind these into bindings
  double number = 0;  // exactly what was written, as a double
  std::string op = {};
  std::vector<Expr> args = {};
  std::vector<Attribute> attributes = {};
  bool operator==(const Expr&) const = default;
};

// A name for an expression; with a type it is rounded to that and stored.
struct Binding {
  std::string name;
  std::optional<Dtype> dtype;
  Expr expr;
  bool operator==(const Binding&) const = default;
};

// What a kernel does at once: one Computation, of parameters and of what stages before it made.
struct Stage {
  Computation computation;
  // The tensor that each input is, then those of its extras, by KernelSpec::tensor. One may be used
  // twice unless it is packed.
  std::vector<int> arguments;
  // Of the tensor that it makes, axis by axis: what reads it sees the border, too. Empty: none.
  std::vector<Border> border = {};
  bool operator==(const Stage&) const = default;
};

struct KernelSpec {
  std::string name;  // may be empty
  std::vector<Param> params;
  std::optional<Expr> expr;  // the result that has no name; none: results are names of bindings
  std::vector<Binding> where;
  // What it means: stages in an order in which they can run, and the tensor that each makes. What
  // is no result is in row layout. The last one is a result.
  std::vector<Stage> stages;
  std::vector<Param> made;
  std::vector<int> results;  // stages, in the order of the kernel's arguments

  // Of the only stage.
  const Computation& computation() const;
  const std::vector<int>& arguments() const;
  // Without a name it is "out".
  const Param& result(size_t i = 0) const { return made[static_cast<size_t>(results[i])]; }
  // Parameters, then what the stages make: params.size() + s is that of stage s.
  int tensors() const { return static_cast<int>(params.size() + stages.size()); }
  const Param& tensor(int t) const;
  int made_by(int stage) const { return static_cast<int>(params.size()) + stage; }

  std::string str() const;  // canonical text; parse_spec(str()) == *this
  const std::vector<RunTimeSize>& sizes() const { return stages.front().computation.sizes; }
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

// What a leaf row implements: a sum over one element stays a sum (build.h, take_sums_of_one()).
Result<KernelSpec> parse_leaf_row(std::string_view text);

// Several kernels from one file, each with its own name; names are distinct.
Result<std::vector<KernelSpec>> parse_spec_file(std::string_view text, const std::string& file);

}  // namespace morello
