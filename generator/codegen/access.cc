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

// The first of these that are moved by a loop: elements one step apart, four at a time. (GCC 12,
// -O2: a header with 8 x 48 sums by 16 lanes that go to columns of a result one by one, five ISAs,
// takes 6.2 s with a line for each and 1.9 s with loops, which take 0.96 to 1.05 of the time.)
constexpr size_t kUnrolled = 4;

size_t looped(const std::vector<Offset>& offsets) {
  if (offsets.size() < 2 * kUnrolled) return 0;
  const Offset step = offsets[1] + -1 * offsets[0];
  for (size_t i = 2; i < offsets.size(); ++i)
    if (!(offsets[i] == offsets[0] + static_cast<i64>(i) * step)) return 0;
  return offsets.size() / kUnrolled * kUnrolled;
}

// `move` writes the line for one element: where it is, and its index in a local array.
template <class Move>
void each_apart(Writer& w, Names& names, const std::string& pointer_type,
                const std::string& pointer, const std::vector<Offset>& offsets, Move&& move) {
  const size_t loop = looped(offsets);
  if (loop > 0) {
    const Offset step = offsets[1] + -1 * offsets[0];
    const std::string i = names.fresh("i"), p = names.fresh("p");
    w.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; {0} += {2})", i, loop, kUnrolled);
    w.line("{} {} = {} + {} * {};", pointer_type, p, at(pointer, offsets[0]), i, text(step));
    for (size_t j = 0; j < kUnrolled; ++j)
      move(fmt::format("{}[{}]", p, text(static_cast<i64>(j) * step)),
           j == 0 ? i : fmt::format("{} + {}", i, j));
    w.close();
  }
  for (size_t j = loop; j < offsets.size(); ++j)
    move(fmt::format("{}[{}]", pointer, text(offsets[j])), std::to_string(j));
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
  each_apart(w, names, const_pointer(type), pointer, offsets,
             [&](const std::string& element, const std::string& i) {
               w.line("{}[{}] = {};", name, i, element);
             });
  return name;
}

std::string stage_group(Writer& w, Names& names, Dtype type, const std::string& pointer,
                        const std::vector<Offset>& offsets, i64 size) {
  const i64 all = size * bytes(type);
  if (all > 8 || bytes(type) > 2 || !adjacent(offsets))
    return stage(w, names, type, pointer, offsets, size);
  const std::string_view integer = all > 4 ? "std::uint64_t" : "std::uint32_t";
  const std::string_view part = bytes(type) == 1 ? "std::uint8_t" : "std::uint16_t";
  std::string sum;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const std::string element = fmt::format("{}[{}]", pointer, text(offsets[i]));
    sum += fmt::format("{}static_cast<{}>(static_cast<{}>({}))", i > 0 ? " | " : "", integer, part,
                       element);
    if (i > 0) sum += fmt::format(" << {}", 8 * static_cast<i64>(i) * bytes(type));
  }
  const std::string name = names.fresh("t");
  w.line("const {} {} = {};", integer, name, sum);
  return "&" + name;
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
  each_apart(w, names, mutable_pointer(type), pointer, offsets,
             [&](const std::string& element, const std::string& i) {
               w.line("{} = {}[{}];", element, p, i);
             });
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
