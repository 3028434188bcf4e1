// What a peer for kernels of several stages is: one file with a function of this form, `Contenders
// <name>(const Graph&)`, and its name in CMakeLists.txt.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench/operands.h"
#include "bench/peers/contender.h"
#include "morello/thread_pool.h"

namespace morello::bench {

// What is computed is said by the first word of the name of a kernel (kernels.cmake):
//   softmax, rms, layer   x: along its rows; rms_norm, layer_norm without weights, kEpsilon
//   gelu                  a, b, bias: gelu(a * b + bias)
//   ffn                   x, w1, w2: gelu(x * w1) * (x * w2), element by element
//   chain                 a, b, c: a * b * c
//   attention             q, k, v: softmax of the rows of kScale * q * transpose(k), times v
//   conv                  x, k: conv2d as `conv` has it
// The result is f32. Tensors are matrices whose columns are the last axis; they lie by rows, but
// pictures with the channels first by columns.
struct Graph {
  // Of one picture.
  struct Convolution {
    std::array<i64, 4> x{}, k{}, out{};  // shapes: NHWC, HWIO, NHWC
    i64 stride = 1;
    i64 pad = 0;  // zeros that are added on every side of x
    bool channels_first = false;

    i64 groups() const { return x[3] / k[2]; }
  };

  std::string kind;
  std::vector<const Operand*> in;
  float* out = nullptr;
  i64 out_rows = 0, out_columns = 0;
  Convolution conv;
  ThreadPool* pool = nullptr;  // as many threads as may be used

  bool is(const char* name) const { return kind == name; }
  int threads() const { return pool->size(); }
  const float* f32(std::size_t operand) const {
    return static_cast<const float*>(in.at(operand)->data());
  }
  // Of the first operand.
  i64 rows() const { return in[0]->rows(); }
  i64 columns() const { return in[0]->columns(); }
};

inline constexpr double kEpsilon = 0.00001, kScale = 0.125;

// body(row) for all rows of the first operand, divided evenly among the threads: what one would
// write around a library that has none.
template <class Body>
void over_rows(const Graph& g, const Body& body) {
  struct Shared {
    const Body& body;
    i64 rows, threads;
  } shared{body, g.rows(), g.threads()};
  g.pool->run(
      static_cast<std::size_t>(shared.threads),
      [](void* data, std::size_t thread) noexcept {
        const Shared& s = *static_cast<const Shared*>(data);
        const i64 t = static_cast<i64>(thread);
        for (i64 r = t * s.rows / s.threads; r < (t + 1) * s.rows / s.threads; ++r) s.body(r);
      },
      &shared);
}

}  // namespace morello::bench
