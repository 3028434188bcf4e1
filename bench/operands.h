// Operands of the kernels that are timed, and a look at what came out.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "morello/aligned.h"

namespace morello::bench {

using i64 = std::int64_t;

// How a matrix lies in memory.
enum class Order { rows, columns };

// A matrix of random values. Element types by the C++ type that carries them: 16-bit words are bf16
// here.
class Operand {
 public:
  enum class Kind { f32, bf16, u8, i8 };
  struct How {
    // How many bits signed bytes have. Sums of two products of an unsigned byte and a 7-bit one
    // stay in 16 bits, so that code which adds pairs there is exact, too.
    int i8_bits = 8;
    // Rows (columns) an odd number of cache lines apart, as gemma.cpp pads them.
    bool padded = false;
  };
  Operand(Kind kind, i64 rows, i64 columns, Order order, unsigned seed, const How& how);

  const void* data() const { return raw_.data(); }
  double at(i64 row, i64 column) const {
    return values_[static_cast<std::size_t>(row * columns_ + column)];
  }
  bool is_float() const { return kind_ == Kind::f32 || kind_ == Kind::bf16; }
  Kind kind() const { return kind_; }
  i64 rows() const { return rows_; }
  i64 columns() const { return columns_; }
  Order order() const { return order_; }
  // Elements from one row (by columns: column) to the next.
  i64 stride() const { return stride_; }
  // The same values in another order, close together.
  Operand in(Order order) const;

 private:
  void store();  // values_ as bytes

  Kind kind_;
  i64 rows_, columns_;
  Order order_;
  i64 stride_;
  AlignedBuffer<unsigned char> raw_;
  std::vector<float> values_;  // by rows, whatever the order of the bytes
};

template <class T>
constexpr Operand::Kind kind_of() {
  using Kind = Operand::Kind;
  return std::is_same_v<T, float>           ? Kind::f32
         : std::is_same_v<T, std::uint16_t> ? Kind::bf16
         : std::is_same_v<T, std::uint8_t>  ? Kind::u8
                                            : Kind::i8;
}

// The largest error of a sample of the elements of a * b at `out`, by rows, as a share of what
// rounding can explain. Floats make f32; integers make i32 and must be exact.
double worst_error(const Operand& a, const Operand& b, const void* out);

}  // namespace morello::bench
