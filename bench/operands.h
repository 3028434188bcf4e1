// Operands of the kernels that are timed, and a look at what came out.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

namespace morello::bench {

using i64 = std::int64_t;

// Element types by the C++ type that carries them: 16-bit words are bf16 here.
class Operand {
 public:
  enum class Kind { f32, bf16, u8, i8 };
  Operand(Kind kind, i64 elements, unsigned seed);

  const void* data() const { return raw_.data(); }
  double at(i64 i) const { return values_[static_cast<std::size_t>(i)]; }
  bool is_float() const { return kind_ == Kind::f32 || kind_ == Kind::bf16; }

 private:
  Kind kind_;
  std::vector<unsigned char> raw_;
  std::vector<float> values_;
};

template <class T>
Operand make_operand(i64 elements, unsigned seed) {
  using Kind = Operand::Kind;
  constexpr Kind kind = std::is_same_v<T, float>           ? Kind::f32
                        : std::is_same_v<T, std::uint16_t> ? Kind::bf16
                        : std::is_same_v<T, std::uint8_t>  ? Kind::u8
                                                           : Kind::i8;
  return Operand(kind, elements, seed);
}

// The largest error of a sample of the outputs of matmul, all in row order, as a share of what
// rounding can explain; integers must be exact.
double worst_error(const Operand& a, const Operand& b, const float* out, i64 m, i64 n, i64 k);
double worst_error(const Operand& a, const Operand& b, const std::int32_t* out, i64 m, i64 n,
                   i64 k);

}  // namespace morello::bench
