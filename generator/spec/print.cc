#include "spec/kernel_spec.h"

namespace morello {

// "f32[2,3] col"; row is the default and is not written.
static std::string type_text(const Param& p) {
  std::string out = fmt::format("{}[{}]", name(p.dtype), fmt::join(p.shape, ","));
  const int rank = static_cast<int>(p.shape.size());
  if (p.packed) return out + " packed";
  if (!p.layout.is_row(rank)) out += " " + p.layout.str(rank);
  return out;
}

std::string KernelSpec::str() const {
  std::string out = name + "(";
  for (const Param& p : params)
    out += (&p == &params.front() ? "" : ", ") + p.name + ": " + type_text(p);
  out += "): " + type_text(result) + " = " + expr.op + "(";
  for (size_t i = 0; i < expr.args.size(); ++i)
    out += (i == 0 ? "" : ", ") + params[expr.args[i]].name;
  for (const Attribute& a : expr.attributes) out += fmt::format(", {}={}", a.name, a.value);
  return out + ")";
}

}  // namespace morello
