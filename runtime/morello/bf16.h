// Conversions between float and the two 16-bit formats, on their bits (std::uint16_t), which is
// how generated kernels take them. To 16 bits: round to nearest, ties to even, overflow to
// infinity, NaN to a quiet NaN with its sign. From 16 bits: exact. Portable; no instruction beyond
// the baseline is used, so results are the same on every machine.
#ifndef MORELLO_BF16_H_
#define MORELLO_BF16_H_

#include <cstdint>
#include <cstring>

namespace morello {

inline std::uint32_t float_bits(float value) noexcept {
  static_assert(sizeof(float) == sizeof(std::uint32_t), "float is IEEE binary32");
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_from_bits(std::uint32_t bits) noexcept {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float bf16_to_float(std::uint16_t bits) noexcept {
  return float_from_bits(std::uint32_t{bits} << 16);
}

inline std::uint16_t bf16_from_float(float value) noexcept {
  const std::uint32_t bits = float_bits(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>(bits >> 16 | 0x0040U);  // the payload may be in the low half
  }
  // Half a unit less one, plus the lowest kept bit: rounds a tie up only to even. A carry out of
  // the mantissa moves to the next exponent, up to infinity, as it should.
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

inline float f16_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24 is exact in float
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return float_from_bits(sign | float_bits(magnitude));
  }
  if (exponent == 31) {
    const std::uint32_t quiet = mantissa != 0 ? 0x00400000U : 0U;
    return float_from_bits(sign | 0x7F800000U | quiet | mantissa << 13);
  }
  return float_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

inline std::uint16_t f16_from_float(float value) noexcept {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t result;
  if (magnitude > 0x7F800000U) {
    result = 0x7E00U | (magnitude >> 13 & 0x3FFU);  // quiet NaN
  } else if (magnitude >= 0x477FF000U) {
    result = 0x7C00U;  // 65520 and more rounds to infinity
  } else if (magnitude >= 0x38800000U) {
    // Normal: rebase the exponent from 127 to 15, then round as for bf16.
    const std::uint32_t rebased = magnitude - (112U << 23);
    result = (rebased + 0x0FFFU + (rebased >> 13 & 1U)) >> 13;
  } else if (magnitude > 0x33000000U) {
    // Subnormal: shift the mantissa with its hidden bit to units of 2^-24 and round the rest.
    const std::uint32_t shift = 126U - (magnitude >> 23);  // 14 .. 24
    const std::uint32_t mantissa = (magnitude & 0x007FFFFFU) | 0x00800000U;
    const std::uint32_t kept = mantissa >> shift;
    const std::uint32_t rest = mantissa & ((1U << shift) - 1U);
    const std::uint32_t half = 1U << (shift - 1U);
    result = kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
  } else {
    result = 0;  // at most half of the smallest subnormal
  }
  return static_cast<std::uint16_t>(sign | result);
}

}  // namespace morello

#endif  // MORELLO_BF16_H_
