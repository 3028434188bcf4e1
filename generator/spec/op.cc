#include "spec/op.h"

namespace morello {

namespace ops {
#define X(name) extern const OpDef name;
#include "ops.inc"
#undef X
}  // namespace ops

std::optional<i64> OpCall::attribute(std::string_view name) const {
  for (const Attribute& a : attributes)
    if (a.name == name) return a.value;
  return std::nullopt;
}

std::span<const OpDef* const> op_table() {
  static constexpr const OpDef* table[] = {
#define X(name) &ops::name,
#include "ops.inc"
#undef X
  };
  return table;
}

const OpDef* find_op(std::string_view name) {
  for (const OpDef* op : op_table())
    if (op->name == name) return op;
  return nullptr;
}

}  // namespace morello
