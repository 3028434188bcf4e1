// Kernels of several stages, for tests of what is made of them: exact in integers of a few bits.
#pragma once

#include <string_view>
#include <vector>

#include "spec/graph.h"

namespace morello {

inline constexpr std::string_view kFusedSpecs[] = {
    "(a: f32[20,30], b: f32[30,24], c: f32[24,18]): f32 = matmul(matmul(a, b), c)",
    "(a: f32[21,13] col, b: f32[13,24] order(1/8, 0, 1%8), c: f32[24,7]): f32 col = "
    "matmul(matmul(a, b), c)",
    "(x: f32[9,40]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)",
    "(x: f32[40,9]): f32 = x - reduce_sum(x, axis=0)",
    "(x: f32[50]): f32 = x + reduce_sum(x, axis=0)",
    "(x: f32[12,16], w: f32[16,48] packed, v: f32[16,48] packed): f32 = "
    "relu(matmul(x, w)) * matmul(x, v)",
    "(q: f32[24,8], k: f32[24,8], v: f32[24,8]): f32 = "
    "matmul(relu(matmul(q, transpose(k))), v)",
    "(q: f32[3,10,8], k: f32[3,12,8], v: f32[3,12,6]): f32 = "
    "matmul(matmul(q, transpose(k)), v)",
    "(x: f32[10,12]): f32 = matmul(x * 2, transpose(x + 1))",
    "(x: f32[8,8]): f32 = matmul(h, transpose(h)) where h = matmul(x, x)",
    "(x: bf16[5,33], w: bf16[33,20], u: bf16[20,11]): f32 = matmul(h, u) where "
    "h: bf16 = relu(matmul(x, w) - 60)",
    "(x: bf16[12,16,3], w: bf16[12,19,3] packed): f32 = t + broadcast(reduce_sum(t, axis=2), "
    "axis=2) "
    "where t = matmul(x, transpose(w))",
    "(x: f32[13,5,11], w: f32[11,10] packed, v: f32[13,10,20] packed): f32 = "
    "matmul(relu(matmul(x, w) - 3), v)",
    "(x: u8[6,20], w: i8[20,9], s: i32[6]): i32 = reduce_sum(t * t, axis=1) + s where "
    "t = matmul(x, w)",
    "(x: f32[7,1], y: f32[1,9]): f32 = reduce_sum(matmul(x, y), axis=0)",
    "(x: f32[9,10]): f32 = transpose(matmul(x, transpose(x)))",
    "(x: f32[2,5,4,3], k: f32[3,3,3,10], b: f32[10]): f32 = relu(conv2d(pad(pad(x, axis=1, low=1, "
    "high=1), axis=2, low=2), k) - b)",
    "(x: f32[1,9,8,6] order(0, 3, 1, 2), k: f32[3,2,3,8], l: f32[2,2,1,8]): f32 order(0, 3, 1, 2) "
    "= "
    "conv2d(pad(conv2d(x, k, groups=2, stride=2), axis=2, low=1, high=1), l, groups=8)",
    "(x: bf16[3,5]): f32 = pad(x, axis=0, low=2, high=1) * 2",
    "(a: f32[40,3], b: f32[3,40]): f32 = "
    "h + broadcast(reduce_sum(matmul(h, transpose(h)), axis=1), axis=1) where h = matmul(a, b)",
    "(x: f32[3,2,5,20]): f32 = x * broadcast(reduce_sum(x, axis=3), axis=3) - "
    "broadcast(reduce_max(x, axis=3), axis=3)",
    "(x: f32[17,40]): f32 = a + a * b where a = x + broadcast(reduce_sum(x, axis=1), axis=1), "
    "b = reduce_sum(x * a, axis=0)",
    "(x: f32[9,40]): (y: f32, s: f32) where s = reduce_sum(x, axis=1), "
    "y = x * broadcast(s, axis=1)",
    "(x: f32[90,4] order(0/15, 1, 0%15)): (t: f32[90,4] order(0/6, 1, 0%6), u: f32) where "
    "t = x + 1, u = t * broadcast(reduce_sum(t, axis=1), axis=1)",
    "(x: f32[14,9], w: f32[9,20] packed): (g: bf16 col, h: f32[14,20] order(1/5, 0, 1%5)) where "
    "h = matmul(x, w), g = relu(h - 3)",
    "(q: f32[24,8], k: f32[20,8], v: f32[20,6]): (o: f32, s: f32 col, m: f32) where "
    "s = matmul(q, transpose(k)), m = reduce_max(s, axis=1), o = matmul(relu(s - 9), v)",
    "(x: f32[11]): (a: f32, b: f32, c: bf16) where a = x + 1, b = a, c = x + 1",
    "(x: i16[5,6]): (a: i16, b: i32) where a = x + x, b = reduce_sum(a * 2, axis=0)",
};

// Parameters that are padded for windows alone: on one axis or both, in every type, by rows and
// with the channels first, of steps and of gaps, more zeros than the parameter has rows, an end
// that no window reads, blocks that no segment cuts, filters packed ahead of time, something made
// of the sums.
inline constexpr std::string_view kPaddedSpecs[] = {
    "(x: f32[2,7,6,5], k: f32[3,3,5,18], b: f32[18]): f32 = "
    "relu(conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2), k) - b)",
    "(x: f32[1,19,21,6] order(0, 3, 1, 2), k: f32[5,3,1,6] packed): f32 order(0, 3, 1, 2) = "
    "conv2d(pad(pad(x, axis=1, low=2, high=2), axis=2, low=1, high=1), k, groups=6)",
    "(x: bf16[1,15,13,3], k: bf16[7,7,3,20] packed): bf16 = "
    "conv2d(pad(pad(x, axis=1, low=3, high=3), axis=2, low=3, high=3), k, stride=2)",
    "(x: f32[1,14,13,40], k: f32[3,3,1,40]): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k, groups=40)",
    "(x: f16[3,2,9,4], k: f16[3,2,2,8]): f16 = "
    "conv2d(pad(pad(x, axis=1, low=2, high=2), axis=2, high=1), k, groups=2, stride_w=3)",
    "(x: bf16[1,8,9,7], k: f32[3,3,7,11]): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k)",
    "(x: f32[2,3,6,5], k: f32[3,3,5,12]): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k, dilation=2)",
    "(x: bf16[3,1,2,9], k: bf16[3,5,9,20] packed): f32 = "
    "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2, high=2), k)",
    "(x: f32[1,12,17,3] order(3, 2, 0, 1), k: f32[3,4,3,33]): f32 order(1/2, 3, 0, 2, 1%2) = "
    "conv2d(pad(x, axis=1, low=2, high=3), k, dilation_h=2)",
};

// Of which some tiles divide sums.
inline constexpr std::string_view kDividedSpecs[] = {
    "(x: f32[1,4000]): f32 = softmax(x, axis=1)",
    "(x: f32[3,2111]): f32 = softmax(x * 0.25, axis=1)",
    "(x: f32[1900,2]): f32 = softmax(x, axis=0)",
    "(x: bf16[2,3001]): bf16 = softmax(x, axis=1)",
    "(a: f32[4,6], b: f32[6,630], c: f32[630,8]): f32 = matmul(relu(matmul(a, b)), c)",
    "(a: f32[9,6], b: f32[6,70], c: f32[70,8]): bf16 = relu(matmul(relu(matmul(a, b)), c) - 3)",
    "(q: f32[5,4], k: f32[571,4], v: f32[571,3]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)) * 0.125, axis=1), v)",
    "(q: f32[2,3,4], k: f32[2,140,4], v: f32[2,140,4], m: f32[3,140]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)) * 0.5 + m, axis=2), v)",
    "(x: f32[3,700], w: f32[2,700]): f32 = matmul(w, transpose(softmax(x, axis=1)))",
    "(x: f32[4,1600]): f32 = layer_norm(x, 1, axis=1)",
    "(s: f32[5,900], v: f32[900,3]): (o: f32 col, l: f32) where "
    "e = exp(s - broadcast(reduce_max(s, axis=1), axis=1)), l = reduce_sum(e, axis=1), "
    "o = matmul(e, v)",
    "(s: f32[5,900], v: f32[900,3]): (m: f32, l: f32, o: f32) where m = reduce_max(s, axis=1), "
    "e = exp(s - broadcast(m, axis=1)), l = reduce_sum(e, axis=1), o = matmul(e, v)",
};

// Small whole numbers for every parameter, the same every time.
inline std::vector<std::vector<double>> small_numbers(const Graph& g) {
  std::vector<std::vector<double>> out;
  int value = 0;
  for (int t = 0; t < g.params; ++t) {
    i64 n = 1;
    for (const Size& s : g.tensors[t].shape) n *= s.extent;
    out.emplace_back();
    for (i64 i = 0; i < n; ++i) out.back().push_back((value = (value * 5 + 3) % 11) % 4);
  }
  return out;
}

}  // namespace morello
