#include "codegen/access.h"

namespace morello {
namespace {

void put(Writer& w, Names& names, std::string_view code, const std::string& p, i64 n,
         const std::string& reg, const std::string& counted = "") {
  w.code(expand(code, {{"p", p},
                       {"n", std::to_string(n)},
                       {"count", counted.empty() ? count(w, code, n) : counted},
                       {"r0", reg},
                       {"t", names.fresh("t")}}));
}

}  // namespace

std::string count(Writer& w, std::string_view code, i64 n) {
  return code.find("{count}") == std::string_view::npos ? "" : w.number(n);
}

bool adjacent(const std::vector<Offset>& offsets) {
  for (size_t i = 1; i < offsets.size(); ++i)
    if (!(offsets[i] == offsets[0] + static_cast<i64>(i))) return false;
  return true;
}

std::string stage(Writer& w, Names& names, Dtype type, const std::string& pointer,
                  const std::vector<Offset>& offsets, i64 size) {
  const std::string name = names.fresh("t");
  w.line("{} {}[{}] = {{}};", c_type(type), name, size);
  if (adjacent(offsets) && !offsets.empty()) {
    w.line("__builtin_memcpy({}, {}, {});", name, at(pointer, offsets[0]),
           static_cast<i64>(offsets.size()) * bytes(type));
    return name;
  }
  for (size_t i = 0; i < offsets.size(); ++i)
    w.line("{}[{}] = {}[{}];", name, i, pointer, text(offsets[i]));
  return name;
}

void read_vector(Writer& w, Names& names, const Access& a, Dtype type, const std::string& pointer,
                 const std::vector<Offset>& offsets, const std::string& reg,
                 const std::string& counted) {
  if (!counted.empty()) return put(w, names, a.partial, at(pointer, offsets[0]), 0, reg, counted);
  const i64 n = static_cast<i64>(offsets.size());
  // One element for all lanes has one offset.
  const i64 all = a.kind == Access::Kind::kVector ? a.lanes * a.group : 1;
  const bool near = adjacent(offsets), masked = near && n < all && !a.partial.empty();
  const std::string p = masked || (near && n == all) ? at(pointer, offsets[0])
                                                     : stage(w, names, type, pointer, offsets, all);
  put(w, names, masked ? a.partial : a.code, p, n, reg);
}

void write_vector(Writer& w, Names& names, const Access& a, Dtype type, const std::string& pointer,
                  const std::vector<Offset>& offsets, const std::string& value,
                  const std::string& counted) {
  if (!counted.empty()) return put(w, names, a.partial, at(pointer, offsets[0]), 0, value, counted);
  const i64 n = static_cast<i64>(offsets.size()), all = a.lanes * a.group;
  const bool near = adjacent(offsets), masked = near && n < all && !a.partial.empty();
  const bool direct = masked || (near && n == all);
  const std::string p = direct ? at(pointer, offsets[0]) : names.fresh("t");
  if (!direct) w.line("{} {}[{}];", c_type(type), p, all);
  put(w, names, masked ? a.partial : a.code, p, n, value);
  if (direct) return;
  if (near)
    return w.line("__builtin_memcpy({}, {}, {});", at(pointer, offsets[0]), p, n * bytes(type));
  for (i64 i = 0; i < n; ++i) w.line("{}[{}] = {}[{}];", pointer, text(offsets[i]), p, i);
}

// By way of an integer: the address may lie behind the operand, and GCC 12 warns of a pointer that
// it can see leaving an array.
std::string ask(std::string_view prefetch, Dtype type, const std::string& pointer, i64 bytes) {
  return expand(
      prefetch,
      {{"p", fmt::format("reinterpret_cast<const {}*>(reinterpret_cast<std::uintptr_t>({}) + {})",
                         c_type(type), pointer, bytes)}});
}

}  // namespace morello
