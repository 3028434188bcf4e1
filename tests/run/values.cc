#include "run/values.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace morello::run {
namespace {

struct Format {
  int digits, min_exponent, max_exponent, bits;
};

Format format(Type t) {
  if (t == Type::f32) return {24, -126, 127, 32};
  if (t == Type::bf16) return {8, -126, 127, 16};
  return {11, -14, 15, 16};
}

template <class T>
double decode_integer(const unsigned char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return static_cast<double>(v);
}

template <class T>
void encode_integer(double value, unsigned char* p) {
  const T v = static_cast<T>(value);
  std::memcpy(p, &v, sizeof v);
}

double decode_bits(const Format& f, std::uint32_t bits) {
  const int mantissa = f.digits - 1;
  const std::uint32_t low = bits & ((1u << mantissa) - 1);
  const int exponent = static_cast<int>(bits >> mantissa) & (2 * f.max_exponent + 1);
  double value;
  if (exponent == 2 * f.max_exponent + 1)
    value = low == 0 ? std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(low), f.min_exponent - mantissa);
  else
    value = std::ldexp(static_cast<double>(low + (1u << mantissa)),
                       exponent - f.max_exponent - mantissa);
  return (bits >> (f.bits - 1)) & 1u ? -value : value;
}

std::uint32_t encode_bits(const Format& f, double value) {
  const int mantissa = f.digits - 1;
  const std::uint32_t sign = std::signbit(value) ? 1u << (f.bits - 1) : 0;
  const std::uint32_t infinite = static_cast<std::uint32_t>(2 * f.max_exponent + 1) << mantissa;
  if (std::isnan(value)) return sign | infinite | 1u << (mantissa - 1);
  if (std::isinf(value)) return sign | infinite;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), f.min_exponent);
  const double whole = std::ldexp(std::fabs(value), mantissa - exponent);
  // A denormal has no leading one, and so ends up with the exponent field 0.
  const auto field = static_cast<std::uint32_t>(exponent + f.max_exponent - 1);
  return sign | ((field << mantissa) + static_cast<std::uint32_t>(whole));
}

void put_bits(Type t, std::uint32_t bits, unsigned char* p) {
  std::memcpy(p, &bits, static_cast<std::size_t>(bytes_of(t)));  // little endian, as x86 is
}

std::uint32_t hard_float(Type t, i64 rare, Numbers& numbers) {
  const Format f = format(t);
  const int mantissa = f.digits - 1;
  const std::uint32_t sign = static_cast<std::uint32_t>(numbers.below(2)) << (f.bits - 1);
  const std::uint32_t infinite = static_cast<std::uint32_t>(2 * f.max_exponent + 1) << mantissa;
  if (numbers.below(rare) == 0) {
    const std::uint32_t wild[] = {
        infinite,                           // infinity
        infinite | 1u,                      // NaN, signalling
        infinite | ((1u << mantissa) - 1),  // NaN whose rounding would overflow
        infinite | (1u << (mantissa - 1)),  // NaN, quiet
        infinite - 1,                       // the largest
        infinite - (1u << (mantissa - 1)),  // a large one
    };
    return sign | wild[numbers.below(std::size(wild))];
  }
  const auto random = static_cast<std::uint32_t>(numbers.next());
  switch (numbers.below(6)) {
    case 0:
      return sign;
    case 1:
      return sign | (random & ((1u << mantissa) - 1));  // denormal
    case 2:
      return sign | (1u << mantissa);  // the smallest normal
    case 3:                            // a tie for the next narrower type
      return sign | encode_bits(f, 1.0) | (1u << (mantissa > 15 ? 15 : 0));
    default:
      return sign | encode_bits(f, round_to(t, numbers.unit()));
  }
}

double hard_integer(Type t, Numbers& numbers) {
  switch (t) {
    case Type::u8:
      return 255;
    case Type::i8:
      return -128;
    case Type::i7:
      return -64;
    case Type::i16:
      return numbers.below(2) ? -32768 : 32767;
    default: {
      const double wild[] = {-2147483648.0, 2147483647.0, -1, 0, 16777217, -16777219};
      return wild[numbers.below(std::size(wild))];
    }
  }
}

double plain_value(Type t, Numbers& numbers) {
  switch (t) {
    case Type::u8:
      return static_cast<double>(numbers.below(256));
    case Type::i8:
      return static_cast<double>(numbers.below(256) - 128);
    case Type::i7:
      return static_cast<double>(numbers.below(128) - 64);
    case Type::i16:
      return static_cast<double>(numbers.below(65536) - 32768);
    case Type::i32:
      return static_cast<double>(numbers.below(i64{1} << 32) - (i64{1} << 31));
    default:
      return round_to(t,
                      std::ldexp(2 * numbers.unit() - 1, static_cast<int>(numbers.below(4)) - 1));
  }
}

template <class Each>
void for_each_index(const Tensor& t, Each each) {
  i64 index[kMaxRank] = {};
  const i64 count = elements(t);
  for (i64 i = 0; i < count; ++i) {
    each(i, offset(t, index));
    for (int a = t.rank; a-- > 0;) {
      if (++index[a] < t.shape[a]) break;
      index[a] = 0;
    }
  }
}

i64 extent(const Tensor& t, const Digit& d) {
  return d.mod != 0 ? d.mod : (t.shape[d.axis] + d.div - 1) / d.div;
}

// exp(2^-24 of it) is infinite, where the type goes as far.
double large(Type t) {
  if (!is_float(t)) return 1;
  return t == Type::f16 ? 0x1p10 : 0x1p40;
}

}  // namespace

int bytes_of(Type t) {
  constexpr int sizes[] = {4, 2, 2, 4, 2, 1, 1, 1};
  return sizes[static_cast<int>(t)];
}

bool is_float(Type t) { return t == Type::f32 || t == Type::bf16 || t == Type::f16; }

double round_to(Type t, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const Format f = format(t);
  const int exponent = std::max(std::ilogb(value), f.min_exponent);
  const double unit = std::ldexp(1.0, exponent - (f.digits - 1));
  const double rounded = std::nearbyint(value / unit) * unit;
  if (std::fabs(rounded) < std::ldexp(1.0, f.max_exponent + 1)) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

double decode(Type t, const unsigned char* p) {
  switch (t) {
    case Type::i32:
      return decode_integer<std::int32_t>(p);
    case Type::i16:
      return decode_integer<std::int16_t>(p);
    case Type::u8:
      return decode_integer<std::uint8_t>(p);
    case Type::i8:
    case Type::i7:
      return decode_integer<std::int8_t>(p);
    case Type::f32: {  // by hand it takes longer, and large tensors are of this type
      float v;
      std::memcpy(&v, p, sizeof v);
      return static_cast<double>(v);
    }
    default: {
      std::uint16_t bits;
      std::memcpy(&bits, p, sizeof bits);
      return decode_bits(format(t), bits);
    }
  }
}

void encode(Type t, double value, unsigned char* p) {
  switch (t) {
    case Type::i32:
      return encode_integer<std::int32_t>(value, p);
    case Type::i16:
      return encode_integer<std::int16_t>(value, p);
    case Type::u8:
      return encode_integer<std::uint8_t>(value, p);
    case Type::i8:
    case Type::i7:
      return encode_integer<std::int8_t>(value, p);
    default:
      return put_bits(t, encode_bits(format(t), value), p);
  }
}

Bytes make_values(Type t, i64 count, Kind kind, i64 rare, Numbers& numbers) {
  const auto size = static_cast<std::size_t>(bytes_of(t));
  Bytes out(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < out.size(); i += size) {
    if (kind != Kind::kHard)
      encode(t, plain_value(t, numbers) * (kind == Kind::kLarge ? large(t) : 1), &out[i]);
    else if (is_float(t))
      put_bits(t, hard_float(t, rare, numbers), &out[i]);
    else
      encode(t, hard_integer(t, numbers), &out[i]);
  }
  return out;
}

i64 elements(const Tensor& t) {
  i64 count = 1;
  for (int a = 0; a < t.rank; ++a) count *= t.shape[a];
  return count;
}

bool is_strided(const Tensor& t) { return t.stride[0] != 0; }

i64 buffer_elements(const Tensor& t) {
  i64 count = 1;
  if (is_strided(t)) {
    for (int d = 0; d < t.digits; ++d) count += (extent(t, t.order[d]) - 1) * t.stride[d];
    return count;
  }
  for (int d = 0; d < t.digits; ++d) count *= extent(t, t.order[d]);
  return count;
}

i64 offset(const Tensor& t, const i64* index) {
  i64 at = 0;
  for (int i = 0; i < t.digits; ++i) {
    const Digit& d = t.order[i];
    i64 digit = index[d.axis] / d.div;
    if (d.mod != 0) digit %= d.mod;
    at = is_strided(t) ? at + digit * t.stride[i] : at * extent(t, d) + digit;
  }
  return at;
}

Bytes placed(const Tensor& t, const Bytes& row_major) {
  const auto size = static_cast<std::size_t>(bytes_of(t.type));
  Bytes out(static_cast<std::size_t>(buffer_elements(t)) * size, kUntouched);
  for_each_index(t, [&](i64 i, i64 at) {
    std::memcpy(&out[static_cast<std::size_t>(at) * size],
                &row_major[static_cast<std::size_t>(i) * size], size);
  });
  return out;
}

Values read(const Tensor& t, const unsigned char* data) {
  const i64 size = bytes_of(t.type);
  Values out(static_cast<std::size_t>(elements(t)));
  for_each_index(t, [&](i64 i, i64 at) {
    out[static_cast<std::size_t>(i)] = decode(t.type, data + at * size);
  });
  return out;
}

bool gaps_kept(const Tensor& t, const unsigned char* data) {
  const auto size = static_cast<std::size_t>(bytes_of(t.type));
  Bytes rest(data, data + static_cast<std::size_t>(buffer_elements(t)) * size);
  for_each_index(t, [&](i64, i64 at) {
    std::memset(&rest[static_cast<std::size_t>(at) * size], kUntouched, size);
  });
  return std::all_of(rest.begin(), rest.end(), [](unsigned char c) { return c == kUntouched; });
}

}  // namespace morello::run
