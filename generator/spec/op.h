// OpDef: one operator of the spec language; a row of the table that spec/ops/*.cc fill, one file
// each. An operator says only how to build the Computation; everything else follows from that.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "spec/kernel_spec.h"

namespace morello {

struct OpCall {
  std::span<const Param> args;            // in call order
  std::span<const Attribute> attributes;  // checked against OpDef::attributes already
  Dtype result;                           // the dtype the user wrote after ':'
  std::optional<i64> attribute(std::string_view name) const;
};

struct OpDef {
  std::string_view name;
  int arity;
  std::string_view usage;  // "matmul(a[..., m, k], b[..., k, n])", shown in errors
  std::vector<std::string> attributes;
  // The Computation with operands args..., out (its shape inferred, layout row), or an error whose
  // text says what was given and what is allowed (its place is filled in by the parser).
  Result<Computation> (*build)(const OpCall& call);
};

// All operators, in the order of the list in generator/CMakeLists.txt.
std::span<const OpDef* const> op_table();
const OpDef* find_op(std::string_view name);

}  // namespace morello
