// What a peer is: one file with a function of this form and one line in CMakeLists.txt.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/operands.h"

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
  // f32 and all by rows, as it is, one thread: what every BLAS does.
  bool is_plain_f32() const {
    return is(Operand::Kind::f32) && !packed && b.order() == Order::rows && threads == 1;
  }
  const float* f32_a() const { return static_cast<const float*>(a.data()); }
  const float* f32_b() const { return static_cast<const float*>(b.data()); }
  float* f32_out() const { return static_cast<float*>(out); }
};

// A way of computing a product. No instructions beyond MORELLO_PEERS_BITS = 256
// (AVX2, with MORELLO_PEERS_VNNI = 1 and AVX-VNNI) or 512 (AVX-512 with VNNI and BF16, but not
// AMX).
struct Contender {
  std::string name;
  std::string runs;  // as it says itself: an architecture, an implementation
  std::function<void()> run;
};

// Empty when the peer does not do this. The operands outlive the contenders.
using Contenders = std::vector<Contender>;

constexpr bool kAvx512 = MORELLO_PEERS_BITS == 512;
constexpr bool kVnni = MORELLO_PEERS_VNNI != 0;

}  // namespace morello::bench
