#include "bench/operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "morello/bf16.h"

namespace morello::bench {
namespace {

template <class T>
void put(T value, unsigned char* p) {
  std::memcpy(p, &value, sizeof value);
}

template <class T>
double worst(const Operand& a, const Operand& b, const T* out, i64 m, i64 n, i64 k) {
  constexpr i64 kSample = 509;
  double worst = 0;
  for (i64 i = 0; i < kSample; ++i) {
    const i64 at = (i + 1) * (m * n - 1) / kSample;
    double sum = 0, size = 0;
    for (i64 j = 0; j < k; ++j) {
      const double term = a.at(at / n * k + j) * b.at(j * n + at % n);
      sum += term;
      size += std::fabs(term);
    }
    const double error = std::fabs(static_cast<double>(out[at]) - sum);
    const double allowed = a.is_float() ? static_cast<double>(k + 2) * 0x1p-24 * size : 0.5;
    worst = std::max(worst, std::isnan(error) ? INFINITY : error / allowed);
  }
  return worst;
}

}  // namespace

Operand::Operand(Kind kind, i64 elements, unsigned seed) : kind_(kind) {
  const std::size_t count = static_cast<std::size_t>(elements);
  const std::size_t size = kind == Kind::f32 ? 4 : kind == Kind::bf16 ? 2 : 1;
  raw_.resize(count * size);
  values_.resize(count);
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float unit = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31f;
    unsigned char* p = &raw_[i * size];
    if (kind == Kind::f32) {
      put(values_[i] = unit, p);
    } else if (kind == Kind::bf16) {
      const std::uint16_t rounded = bf16_from_float(unit);
      put(rounded, p);
      values_[i] = bf16_to_float(rounded);
    } else if (kind == Kind::u8) {
      put(static_cast<std::uint8_t>(bits), p);
      values_[i] = static_cast<float>(*p);
    } else {
      const auto v = static_cast<std::int8_t>(bits);
      put(v, p);
      values_[i] = v;
    }
  }
}

double worst_error(const Operand& a, const Operand& b, const float* out, i64 m, i64 n, i64 k) {
  return worst(a, b, out, m, n, k);
}
double worst_error(const Operand& a, const Operand& b, const std::int32_t* out, i64 m, i64 n,
                   i64 k) {
  return worst(a, b, out, m, n, k);
}

}  // namespace morello::bench
