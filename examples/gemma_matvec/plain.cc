// The loops one would write first. The build gives this file -O3 -ffast-math -march=native and
// leaves the rest to the compiler.
#include <cstring>

#include "yardstick.h"

namespace yardstick {
namespace {

inline float widen(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

}  // namespace

void plain_by_rows(const std::uint16_t* x, const std::uint16_t* w, float* y, std::size_t begin,
                   std::size_t end) {
  for (std::size_t j = begin; j < end; ++j) y[j] = 0;
  for (std::size_t p = 0; p < kInner; ++p) {
    const float factor = widen(x[p]);
    for (std::size_t j = begin; j < end; ++j) y[j] += factor * widen(w[p * kColumns + j]);
  }
}

void plain_by_columns(const std::uint16_t* x, const std::uint16_t* w, float* y, std::size_t begin,
                      std::size_t end) {
  for (std::size_t j = begin; j < end; ++j) {
    float sum = 0;
    for (std::size_t p = 0; p < kInner; ++p) sum += widen(x[p]) * widen(w[j * kInner + p]);
    y[j] = sum;
  }
}

}  // namespace yardstick
