#include "morello/bf16.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace morello {
namespace {

using Bits = std::uint16_t;

// A 16-bit format by its definition; everything below is arithmetic on doubles, which hold every
// value and every intermediate of both formats exactly.
struct Format {
  const char* name;
  int mantissa_bits;
  int min_exponent;  // of the smallest normal number
  float (*widen)(Bits);
  Bits (*narrow)(float);

  Bits infinity() const { return Bits(0x7FFF >> mantissa_bits << mantissa_bits); }
  bool is_nan(Bits b) const { return (b & 0x7FFF) > infinity(); }
  Bits quiet_bit() const { return Bits(1 << (mantissa_bits - 1)); }

  double value(Bits b) const {
    const int exponent = (b & 0x7FFF) >> mantissa_bits;
    const int fraction = b & ((1 << mantissa_bits) - 1);
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, min_exponent - mantissa_bits)
                                 : std::ldexp(fraction + (1 << mantissa_bits),
                                              exponent - 1 + min_exponent - mantissa_bits);
    return (b & 0x8000) != 0 ? -magnitude : magnitude;
  }
  // The nearest value of the format, infinite from half a unit above the greatest one.
  double nearest(double v) const {
    if (v == 0 || std::isinf(v)) return v;
    const int exponent = std::max(std::ilogb(v), min_exponent);
    const double unit = std::ldexp(1, exponent - mantissa_bits);
    const double rounded = std::nearbyint(v / unit) * unit;  // ties to even
    const double greatest = value(Bits(infinity() - 1));
    return std::fabs(rounded) > greatest ? std::copysign(HUGE_VAL, v) : rounded;
  }
};

const Format kFormats[] = {{"bf16", 7, -126, bf16_to_float, bf16_from_float},
                           {"f16", 10, -14, f16_to_float, f16_from_float}};

// Empty when narrow(v) is right, else what happened.
std::string wrong(const Format& format, float v) {
  const Bits got = format.narrow(v);
  bool ok;
  if (std::isnan(v)) {
    ok = format.is_nan(got) && (got & format.quiet_bit()) != 0;
  } else {
    const double expected = format.nearest(v);
    ok = !format.is_nan(got) && (std::isinf(expected) ? (got & 0x7FFF) == format.infinity()
                                                      : format.value(got) == expected);
  }
  ok = ok && std::signbit(v) == ((got & 0x8000) != 0);
  if (ok) return "";
  return fmt::format("{} of {:a} is {:04x}", format.name, v, got);
}

TEST_CASE("every 16-bit value widens exactly and comes back") {
  for (const Format& format : kFormats) {
    CAPTURE(format.name);
    int failures = 0;
    for (int i = 0; i < 65536; ++i) {
      const Bits b = Bits(i);
      const float wide = format.widen(b);
      bool ok;
      if (format.is_nan(b)) {
        ok = std::isnan(wide) && format.narrow(wide) == Bits(b | format.quiet_bit());
      } else if ((b & 0x7FFF) == format.infinity()) {
        ok = std::isinf(wide) && format.narrow(wide) == b;
      } else {
        ok = double(wide) == format.value(b) && format.narrow(wide) == b;
      }
      failures += !ok || std::signbit(wide) != (i >= 0x8000);
    }
    CHECK(failures == 0);
  }
}

TEST_CASE("rounding: ties, their neighbours, both signs, over every pair of adjacent values") {
  for (const Format& format : kFormats) {
    std::string first;
    for (Bits b = 0; b < format.infinity() && first.empty(); ++b) {
      const double next = b + 1 == format.infinity()
                              ? 2 * format.value(b) - format.value(Bits(b - 1))
                              : format.value(Bits(b + 1));
      const float tie = float((format.value(b) + next) / 2);
      for (const float v : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, HUGE_VALF)}) {
        if (first.empty()) first = wrong(format, v);
        if (first.empty()) first = wrong(format, -v);
      }
    }
    CHECK(first == "");
  }
}

TEST_CASE("rounding of random bit patterns") {
  std::mt19937 random(20261121);
  for (const Format& format : kFormats) {
    std::string first;
    for (int i = 0; i < 1000000 && first.empty(); ++i) {
      first = wrong(format, float_from_bits(std::uint32_t(random())));
    }
    CHECK(first == "");
  }
}

TEST_CASE("values worth naming") {
  struct Row {
    std::uint32_t input;
    Bits bf16, f16;
  };
  constexpr Row kRows[] = {
      {0x00000000, 0x0000, 0x0000},  // 0
      {0x80000000, 0x8000, 0x8000},  // -0
      {0x3F800000, 0x3F80, 0x3C00},  // 1
      {0x3F808000, 0x3F80, 0x3C04},  // 1 + 2^-8: a tie of bf16, down to even
      {0x3F818000, 0x3F82, 0x3C0C},  // 1 + 3 * 2^-8: a tie of bf16, up to even
      {0x3F801000, 0x3F80, 0x3C00},  // 1 + 2^-11: a tie of f16, down to even
      {0x3F803000, 0x3F80, 0x3C02},  // 1 + 3 * 2^-11: a tie of f16, up to even
      {0x477FE000, 0x4780, 0x7BFF},  // 65504, the greatest f16
      {0x477FEFFF, 0x4780, 0x7BFF},  // just below 65520
      {0x477FF000, 0x4780, 0x7C00},  // 65520 rounds to infinity
      {0x7F7FFFFF, 0x7F80, 0x7C00},  // the greatest float
      {0x7F800000, 0x7F80, 0x7C00},  // infinity
      {0xFF800000, 0xFF80, 0xFC00},  // -infinity
      {0x7F800001, 0x7FC0, 0x7E00},  // a signalling NaN, payload in the low bits only
      {0xFFC00000, 0xFFC0, 0xFE00},  // a quiet NaN keeps its sign
      {0x33000000, 0x3300, 0x0000},  // 2^-25: half of the smallest f16, to even
      {0x33000001, 0x3300, 0x0001},  // a little more
      {0x387FC000, 0x3880, 0x03FF},  // the greatest subnormal f16
      {0x387FE000, 0x3880, 0x0400},  // half a unit more: the smallest normal one
      {0x00000001, 0x0000, 0x0000},  // the smallest float
      {0x00008000, 0x0000, 0x0000},  // half of the smallest bf16, to even
      {0x00008001, 0x0001, 0x0000},
      {0x007FFFFF, 0x0080, 0x0000},  // a subnormal that rounds up to a normal bf16
  };
  for (const Row& row : kRows) {
    CAPTURE(row.input);
    CHECK(bf16_from_float(float_from_bits(row.input)) == row.bf16);
    CHECK(f16_from_float(float_from_bits(row.input)) == row.f16);
  }
}

}  // namespace
}  // namespace morello
