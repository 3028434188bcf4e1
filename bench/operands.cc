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
double worst(const Operand& a, const Operand& b, const T* out) {
  constexpr i64 kSample = 509;
  const i64 m = a.rows(), k = a.columns(), n = b.columns();
  double worst = 0;
  for (i64 i = 0; i < kSample; ++i) {
    const i64 at = (i + 1) * (m * n - 1) / kSample;
    double sum = 0, size = 0;
    for (i64 j = 0; j < k; ++j) {
      const double term = a.at(at / n, j) * b.at(j, at % n);
      sum += term;
      size += std::fabs(term);
    }
    const double error = std::fabs(static_cast<double>(out[at]) - sum);
    const double allowed = a.is_float() ? static_cast<double>(k + 2) * 0x1p-24 * size : 0.5;
    worst = std::max(worst, std::isnan(error) ? INFINITY : error / allowed);
  }
  return worst;
}

i64 size_of(Operand::Kind kind) {
  return kind == Operand::Kind::f32 ? 4 : kind == Operand::Kind::bf16 ? 2 : 1;
}

i64 padded(Operand::Kind kind, i64 elements) {
  const i64 in_line = 64 / size_of(kind);
  return ((elements + in_line - 1) / in_line | 1) * in_line;
}

}  // namespace

Operand::Operand(Kind kind, i64 rows, i64 columns, Order order, unsigned seed, const How& how)
    : kind_(kind),
      rows_(rows),
      columns_(columns),
      order_(order),
      stride_(order == Order::rows ? columns : rows) {
  if (how.padded) stride_ = padded(kind, stride_);
  values_.resize(static_cast<std::size_t>(rows * columns));
  std::mt19937 random(seed);
  for (float& value : values_) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float unit = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31f;
    switch (kind) {
      case Kind::f32:
        value = unit;
        break;
      case Kind::bf16:
        value = bf16_to_float(bf16_from_float(unit));
        break;
      case Kind::u8:
        value = static_cast<std::uint8_t>(bits);
        break;
      case Kind::i8:
        value = static_cast<float>(static_cast<std::int8_t>(bits) >> (8 - how.i8_bits));
    }
  }
  store();
}

void Operand::store() {
  const i64 size = size_of(kind_);
  const bool by_rows = order_ == Order::rows;
  raw_ = AlignedBuffer<unsigned char>(
      static_cast<std::size_t>(size * stride_ * (by_rows ? rows_ : columns_)));
  for (i64 i = 0; i < rows_; ++i)
    for (i64 j = 0; j < columns_; ++j) {
      const float value = values_[static_cast<std::size_t>(i * columns_ + j)];
      unsigned char* p = raw_.data() + size * (by_rows ? i * stride_ + j : j * stride_ + i);
      switch (kind_) {
        case Kind::f32:
          put(value, p);
          break;
        case Kind::bf16:
          put(bf16_from_float(value), p);
          break;
        case Kind::u8:
          put(static_cast<std::uint8_t>(value), p);
          break;
        case Kind::i8:
          put(static_cast<std::int8_t>(value), p);
      }
    }
}

Operand Operand::in(Order order) const {
  Operand other(kind_, 0, 0, order, 0, How());
  other.rows_ = rows_;
  other.columns_ = columns_;
  other.stride_ = order == Order::rows ? columns_ : rows_;
  other.values_ = values_;
  other.store();
  return other;
}

double worst_error(const Operand& a, const Operand& b, const void* out) {
  return a.is_float() ? worst(a, b, static_cast<const float*>(out))
                      : worst(a, b, static_cast<const std::int32_t*>(out));
}

}  // namespace morello::bench
