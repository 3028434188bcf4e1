// What a peer for products is: one file with a function of this form, `Contenders
// <name>(const Product&)`, and its name in CMakeLists.txt.
#pragma once

#include "bench/operands.h"
#include "bench/peers/contender.h"

namespace morello::bench {

// out = a * b, a and out by rows; `out` is f32 for floats, i32 for integers.
struct Product {
  const Operand& a;
  const Operand& b;
  bool packed = false;  // b may be rearranged ahead of time
  void* out = nullptr;
  int threads = 1;  // to be used by every call; a peer that cannot does not do this

  i64 m() const { return a.rows(); }
  i64 n() const { return b.columns(); }
  i64 k() const { return a.columns(); }
  bool is(Operand::Kind kind) const { return a.kind() == kind; }
  // f32, as it is, one thread: what every BLAS does.
  bool is_plain_f32() const { return is(Operand::Kind::f32) && !packed && threads == 1; }
  bool b_by_rows() const { return b.order() == Order::rows; }
  const float* f32_a() const { return static_cast<const float*>(a.data()); }
  const float* f32_b() const { return static_cast<const float*>(b.data()); }
  float* f32_out() const { return static_cast<float*>(out); }
};

}  // namespace morello::bench
