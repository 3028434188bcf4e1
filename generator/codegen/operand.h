// Ref: an operand at one point of the generated code, and distances in it as text.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "impl/impl.h"

namespace morello {

struct Ref {
  std::string pointer;  // expression that points at element (0, 0, ..) of the current tile
  AddressMap map;
  Dtype dtype = Dtype::f32;
  bool packed = false;  // in the family's packed order and type
};
using Refs = std::array<Ref, kMaxTensors>;  // operands, then extras

// How many of them, from the first, code for a tile takes. A copy with sums (`output_packed`) is
// finished where it is written back; until then there are those extras alone that the body reads,
// which come first.
inline int tensors_of(const Computation& c, bool output_packed) {
  if (!c.reduces() || !output_packed) return c.tensors();
  return static_cast<int>(c.operands.size()) + operands_of(c.body, Fn::kExtra);
}

// The variable, of type std::ptrdiff_t, that holds a stride known at run time only. Every function
// that needs it has it under this name, which is no fresh one (they end in _N) and no user's.
inline std::string stride_name(int symbol) {
  return fmt::format("s{}s{}", symbol / kMostDigits, symbol % kMostDigits);
}

// "6", "s1s0", "(2 * s1s0 + 6)": to be multiplied and added to.
inline std::string text(const Offset& offset) {
  std::string out;
  const auto add = [&](const std::string& term) { out += (out.empty() ? "" : " + ") + term; };
  for (const auto& [symbol, times] : offset.strides())
    add(times == 1 ? stride_name(symbol) : fmt::format("{} * {}", times, stride_name(symbol)));
  const bool one = offset.strides().size() <= 1 && (out.empty() || offset.fixed() == 0);
  if (out.empty() || offset.fixed() != 0) add(std::to_string(offset.fixed()));
  return one && out.find('*') == std::string::npos ? out : "(" + out + ")";
}

// `p + 6`, `p`.
inline std::string at(std::string_view pointer, const Offset& offset) {
  return offset == 0 ? std::string(pointer) : fmt::format("{} + {}", pointer, text(offset));
}

// The strides of a place that are known at run time only.
inline std::set<int> stride_symbols(const AddressMap& map) {
  std::set<int> out;
  for (const AddressTerm& t : map.terms)
    if (t.symbol >= 0) out.insert(t.symbol);
  return out;
}
// As the last parameters of a function, which may not need them all; as arguments of a call.
inline std::string stride_params(const AddressMap& map) {
  std::string out;
  for (int s : stride_symbols(map))
    out += fmt::format(", [[maybe_unused]] std::ptrdiff_t {}", stride_name(s));
  return out;
}
inline std::string stride_args(const AddressMap& map) {
  std::string out;
  for (int s : stride_symbols(map)) out += ", " + stride_name(s);
  return out;
}

// The variable that holds how many elements of an elastic dim there are (Part::elastic); those of
// all such dims, behind the strides.
inline std::string length_name(int dim) { return fmt::format("length{}", dim); }
inline std::string length_params(std::uint8_t elastic) {
  std::string out;
  for (int d = 0; d < kMaxDims; ++d)
    if ((elastic >> d & 1) != 0)
      out += fmt::format(", [[maybe_unused]] std::ptrdiff_t {}", length_name(d));
  return out;
}
inline std::string length_args(std::uint8_t elastic) {
  std::string out;
  for (int d = 0; d < kMaxDims; ++d)
    if ((elastic >> d & 1) != 0) out += ", " + length_name(d);
  return out;
}

inline std::string const_pointer(Dtype t) { return fmt::format("const {}*", c_type(t)); }
inline std::string mutable_pointer(Dtype t) { return fmt::format("{}*", c_type(t)); }

// Elements of the leading digit's block of a dim: what packing pads its extent to. 1: no blocks.
inline i64 block_of(const AddressMap& map, int dim) {
  for (const AddressTerm& t : map.terms)
    if (t.dim == dim && t.mod == 0) return t.div;
  return 1;
}

// Smallest step along dim that AddressMap::advance() takes.
inline i64 smallest_step(const AddressMap& map, int dim) {
  i64 step = 1;
  for (const AddressTerm& t : map.terms)
    if (t.dim == dim && t.mod != 1) step = std::max(step, t.mod == 0 ? t.div : t.div * t.mod);
  return step;
}

}  // namespace morello
