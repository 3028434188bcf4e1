// out[i] = scale * dot(x, row i of w) + add[i], in f32, of bf16.
#ifndef MODEL_OPS_MATMUL_H_
#define MODEL_OPS_MATMUL_H_

#include <cstddef>

#include "hwy/base.h"

namespace model {

constexpr size_t kCols = 256;       // of x and of a row of w
constexpr size_t kRowsAtOnce = 16;  // a worker's range is a multiple of it

// Rows of weights, each `stride` elements behind the one before it.
struct Rows {
  const hwy::bfloat16_t* first;
  size_t stride;
  size_t count;
};

// One worker's range; which code did it. Whoever calls it has divided rows among threads.
const char* MatVec(const hwy::bfloat16_t* x, const Rows& w, float scale, const float* add,
                   float* out);

}  // namespace model

#endif  // MODEL_OPS_MATMUL_H_
