// Element types of the spec language.
#pragma once

#include <optional>
#include <string_view>

namespace morello {

// i7: an i8 that is -64 to 63, by the word of whoever writes the spec. Quantizers offer such
// weights (reduced range) as 255 * 64 * 2 fits into 16 bits: what AVX2 multiplies bytes into.
enum class Dtype { f32, bf16, f16, i32, i16, u8, i8, i7 };

inline constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::i32,
                                    Dtype::i16, Dtype::u8,   Dtype::i8,  Dtype::i7};

constexpr std::string_view name(Dtype t) {
  constexpr std::string_view names[] = {"f32", "bf16", "f16", "i32", "i16", "u8", "i8", "i7"};
  return names[static_cast<int>(t)];
}
constexpr int bytes(Dtype t) {
  constexpr int sizes[] = {4, 2, 2, 4, 2, 1, 1, 1};
  return sizes[static_cast<int>(t)];
}
constexpr bool is_float(Dtype t) { return t <= Dtype::f16; }

// The C++ type of one element in a kernel's signature; bf16 and f16 travel as their bits.
constexpr std::string_view c_type(Dtype t) {
  constexpr std::string_view types[] = {"float",        "std::uint16_t", "std::uint16_t",
                                        "std::int32_t", "std::int16_t",  "std::uint8_t",
                                        "std::int8_t",  "std::int8_t"};
  return types[static_cast<int>(t)];
}

// The type in which values of `t` are computed and accumulated: f32 for floats, i32 (exact, it
// wraps only past 2^31) for integers.
constexpr Dtype accumulator(Dtype t) { return is_float(t) ? Dtype::f32 : Dtype::i32; }

// What a result of i16 stores of a number.
constexpr double clamp_i16(double x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }

// Whether every value of `narrow` is one of `wide`.
constexpr bool holds(Dtype wide, Dtype narrow) {
  if (wide == narrow) return true;
  switch (wide) {
    case Dtype::f32:
      return narrow != Dtype::i32;
    case Dtype::i32:
      return !is_float(narrow);
    case Dtype::i16:
    case Dtype::bf16:
    case Dtype::f16:
      return bytes(narrow) == 1;  // at least 8 significant bits
    case Dtype::i8:
      return narrow == Dtype::i7;
    case Dtype::u8:
    case Dtype::i7:
      return false;
  }
  return false;
}

// What the bytes of a `t` are when nothing is made of its range.
constexpr Dtype stored(Dtype t) { return t == Dtype::i7 ? Dtype::i8 : t; }

std::optional<Dtype> parse_dtype(std::string_view text);

}  // namespace morello
