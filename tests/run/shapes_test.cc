// Named shapes: found in time, right everywhere. The slow ones run in the exhaustive suite.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "long.h"
#include "run/build.h"

namespace morello::run {
namespace {

constexpr double kMostSearchSeconds = 5;  // CPU time for each instruction set

std::string all_isas() {
  std::vector<std::string_view> names;
  for (const Isa* isa : isa_table()) names.push_back(isa->name);
  return fmt::format("{}", fmt::join(names, ","));
}

struct Shape {
  const char* spec;
  int threads;
};

constexpr Shape kQuick[] = {
    {"seven_bits(a: u8[9,67], b: i7[67,21] packed): i32 = matmul(a, b)", 2},
    {"one(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)", 1},
    {"odd(a: f32[3,5], b: f32[5,7]): f32 = matmul(a, b)", 2},
    {"thirteen(a: f32[13,17], b: f32[17,19] col): f32 col = matmul(a, b)", 2},
    {"odd_bf16(a: bf16[3,5], b: bf16[5,7] packed): bf16 = matmul(a, b)", 1},
    {"mlp(x: bf16[9,300], w: bf16[300,70] packed, c: f32[70]): bf16 = gelu_tanh(matmul(x, w) + c)",
     2},
    {"exact_gelu(x: f32[3,33], w: f32[33,29] col, c: f32[29]): f32 = gelu(matmul(x, w) + c)", 1},
    {"residual(x: f32[5,64], w: f32[64,40], r: bf16[5,40]): f32 = r + silu(matmul(x, w))", 2},
    {"scaled(x: u8[7,150], w: i8[150,37] packed, s: f32[7], t: f32[37], z: i32[37]): bf16 = "
     "(matmul(x, w) - z) * broadcast(s, axis=1) * t",
     2},
    {"clamped(x: i8[4,9], w: i8[9,5], c: i32[1]): i16 = max(matmul(x, w) + c, -7)", 1},
    {"long_sum(a: f32[1,5000], b: f32[5000,3], c: f32[3]): f32 = tanh(matmul(a, b) * 0.01 + c)", 4},
    {"gate(g: bf16[5,70], u: bf16[5,70]): f16 = gelu_tanh(g) * u + convert(u)", 2},
    {"many(a: f32[9,7], b: f32[9,7] col, c: f32[7], d: i32[9,7], e: f16[1]): f32 = "
     "exp(a) / (sigmoid(b) + 1) - c * max(d, e)",
     2},
    {"norm(x: f32[11,130], y: bf16[11]): f32 = rsqrt(reduce_sum(x, axis=1) * 0.01 + 9) * y", 2},
    {"scores(q: f32[2,9,33], k: f32[2,13,33], m: f32[9,13]): f32 = matmul(q, transpose(k)) * 0.2 + "
     "m",
     2},
    {"halves(a: f16[21,5], b: f16[21,30] packed, c: f16[30,5]): f16 = "
     "matmul(transpose(a), b) + transpose(c)",
     1},
    {"wide(x: f32[6], y: f32[5]): f32[5,6] = x - broadcast(y, axis=1)", 1},
    {"with_itself(x: i8[5,9], y: i32[5,9]): i32 = max(x, x) + min(y, y) * le(x, x) - eq(y, y)", 1},
    {"blocks_of_6(a: f32[17,41], b: f32[2,17] packed, c: f16[41]): bf16[2,41] "
     "order(0, 1/2%3, 1/6, 1%2) = matmul(b, a) * c",
     1},
    {"one_wide(x: f32[1,3], y: f32[1]): f32[1,3] = x - broadcast(y, axis=1)", 1},
    // Rows of a few elements, taken apart and put together; leaves that move.
    {"colours(x: u8[13,17,3]): f32[13,17,3] order(2, 0, 1) = convert(x)", 2},
    {"planes(x: f32[3,1001]): f32 col = convert(x)", 2},
    {"halves_apart(x: bf16[515,2]): bf16 = transpose(x)", 1},
    {"fours(x: i16[1030,4]): i16 = transpose(x)", 3},
    {"heads(x: f16[2,33,5,20]): f16[2,33,5,20] order(0, 2, 1, 3) = convert(x)", 2},
    {"other_way(x: i32[65,130] col): i32[65,130] = convert(x)", 2},
    {"scaled_pixels(x: u8[61,3], s: f32[3]): f32 = x * s", 1},
    {"by_pixel(x: f32[130,2], s: f32[130]): f32 = x / broadcast(s, axis=1)", 2},
    {"few_classes(x: f32[75,3]): f32 = softmax(x * 3, axis=1)", 1},
    // Shares of sums: what pads the blocks of the result is in none of them.
    {"sums_in_blocks(a: i8[1,5000], b: i8[5000,3]): i32 order(1/2, 0, 1%2) = matmul(a, b)", 4},
    {"most_in_blocks(x: i32[7,4999,9]): i32[7,9] order(0/5, 1/4, 0%5, 1%4) = reduce_max(x, axis=1)",
     2},
};

// Sizes and strides that are known at run time only; build.cc says which ones they are run with.
constexpr Shape kRunTime[] = {
    {"rows(a: bf16[1,96], b: bf16[96,n%16 near 128] col strided): f32 = matmul(a, b)", 1},
    {"rows_2(a: bf16[1,96], b: bf16[96,n%16 near 640] col strided): bf16 = matmul(a, b)", 2},
    {"rows_4(a: bf16[1,300], b: bf16[300,n near 400] col): f32 = matmul(a, b)", 4},
    {"batch(x: bf16[m to 8,64], w: bf16[64,80] packed): f32 = matmul(x, w)", 1},
    {"batch_2(x: f32[m to 5,64], w: f32[64,80] packed): f32 = matmul(x, w)", 2},
    {"long_batch(x: f32[m near 40,64], w: f32[64,48] packed): bf16 = matmul(x, w)", 2},
    {"all_sizes(a: f32[m near 24,k near 32], b: f32[k,n near 32]): f32 = matmul(a, b)", 2},
    {"sums(a: f32[5,k%4 near 64], b: f32[k,24] strided): f32 strided = matmul(a, b)", 1},
    {"bytes(a: u8[3,k near 64], b: i8[k,n%4 near 40]): i32 = matmul(a, b)", 4},
    // Elastic: sums, also with lanes along them and in groups, and lanes of rows.
    {"elastic(a: f32[m near 64,k near 64] strided, b: f32[k,n near 64] strided): f32 strided = "
     "matmul(a, b)",
     2},
    {"elastic_pairs(a: bf16[3,k near 200], b: bf16[20,k] strided): f32 = matmul(a, transpose(b))",
     2},
    {"elastic_quads(a: u8[5,k near 200], b: i8[k,n near 30]): i32 = matmul(a, b)", 1},
    {"elastic_copies(a: f32[m near 64,k near 100], b: f32[k,n near 1024]): f32 = matmul(a, b)", 2},
    {"elastic_copy(a: f32[33,k near 128], b: f32[k,1023] strided): f32 = matmul(a, b)", 1},
    {"elastic_column(a: f32[8,k near 40], b: f32[k,n near 1]): f32 = matmul(a, b)", 1},
    {"elastic_max(x: i32[k near 300,n near 70]): i32 = reduce_max(x, axis=0)", 2},
    {"elastic_scores(q: f32[m near 20,24], k: f32[24,n near 50], z: f32[n]): f32 = "
     "matmul(q, k) * 0.5 + z",
     2},
    {"elastic_gelu(q: f32[4,24], k: f32[24,n near 50]): f32 = gelu(matmul(q, k))", 1},
    {"elastic_mix(x: bf16[m near 9,n near 40] strided, y: f32[n], z: f32[m]): f32 = "
     "max(x * 2, y - broadcast(z, axis=1))",
     2},
    {"squares(a: f32[n near 16,n] strided): f32 col = matmul(a, a)", 1},
    {"halves(x: f16[n near 64,7] strided): bf16 col = convert(x)", 1},
    {"blocks(x: f32[n%8 near 32,m near 5] order(0/8, 1, 0%8)): f32 = x * x", 2},
    {"sums_2(x: bf16[k near 65,n near 33]): f32 = reduce_sum(x, axis=0)", 2},
    {"sums_of_pieces(x: u8[49,n near 13,73]): i32 col = reduce_sum(x, axis=1)", 2},
    {"widened(x: i16[b,n,9] order(1, 0, 2) strided): i32 = convert(x)", 2},
    {"layer(x: bf16[m to 3,64], w: bf16[64,80] packed, c: f32[80], r: bf16[m,80] strided): bf16 = "
     "r + gelu_tanh(matmul(x, w) + c)",
     2},
    {"as_called(a: bf16[1,96], b: bf16[n%16 near 128,96] strided): f32 = matmul(a, transpose(b))",
     2},
    {"rows_scaled(a: f32[1,96], b: f32[96,n%16 near 128] col strided, c: f32[n]): f32 = "
     "exp(matmul(a, b) * 0.1) * c",
     2},
    {"gates(g: f32[m near 9,n near 40] strided, u: f32[m,n] col strided, s: f32[m], t: bf16[m,n]): "
     "f32 = "
     "silu(g) * u - broadcast(s, axis=1) * t",
     2},
    {"pictures(x: u8[b near 3,7,9,5], k: i8[3,3,5,6]): i32 = conv2d(x, k, stride=2)", 2},
    // Rows of kernels of several stages.
    {"any_softmax(x: f32[m near 20,45] strided): bf16 strided = softmax(x * 2, axis=1)", 2},
    {"any_norm(x: bf16[m to 5,70], g: f32[70]): f32 = rms_norm(x, 0.01, axis=1) * g", 1},
    {"any_layer(x: bf16[m to 12,20], w: bf16[20,35] packed, v: bf16[20,35] packed): bf16 = "
     "gelu_tanh(matmul(x, w)) * matmul(x, v)",
     3},
    {"any_heads(q: f32[2,m near 9,6] order(1, 0, 2) strided, k: f32[2,13,6] strided, "
     "v: f32[2,13,5]): f32[2,m,5] order(1, 0, 2) strided = matmul(softmax(matmul(q, transpose(k)) "
     "* 0.4, axis=2), v)",
     2},
    {"any_blocks(x: f32[m%4 near 16,9] order(0/4, 1, 0%4)): f16 = layer_norm(x, 0.01, axis=1)", 2},
    {"any_two(x: f32[m near 8,23]): (y: bf16[m,23], s: f32[m]) where s = reduce_sum(x, axis=1), "
     "y = x - broadcast(s, axis=1)",
     2},
    {"apart(x: f32[2,3000] strided, y: f32[2,3000] col strided): f32 strided = "
     "softmax(x + y, axis=1)",
     2},
    {"apart_pictures(x: f32[2,7,9,5] order(0, 3, 1, 2) strided, k: f32[3,3,5,6]): f32 strided = "
     "conv2d(pad(x, axis=1, low=1, high=1), k, stride=2)",
     3},
    {"any_pictures(x: f32[b near 3,7,9,5], k: f32[3,3,5,6] packed): f32 = "
     "relu(conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k))",
     2},
    // Windows that leave the last column out.
    {"any_windows(x: i7[b%8 near 24,3,6,2], k: i7[3,3,2,1] packed): i32 = t + t where "
     "t = conv2d(x, k, stride=2)",
     2},
    {"any_windows_2(x: f32[b near 5,4,6,3], k: f32[3,3,3,7] packed): f32 = "
     "relu(conv2d(relu(x), k, stride=2))",
     1},
    // Rows that lie beside others.
    {"any_columns(x: f32[3,m near 20,5], w: f32[5,7]): bf16[3,m,7] order(2, 0, 1) = "
     "softmax(matmul(x, w), axis=2)",
     2},
    // Positions: something is summed over them.
    {"positions(x: f32[5,n near 300] strided): bf16 = softmax(x, axis=1)", 2},
    // All that a piece has may be infinitely low.
    {"positions_few(x: bf16[n near 7]): (t: f32[n], s: f32[n]) where s = softmax(x, axis=0), "
     "t = rsqrt(max(s, 0.25))",
     1},
    {"positions_columns(x: bf16[n%4 near 40,9]): f32 = softmax(x, axis=0)", 2},
    {"attend(q: f32[8,16], k: f32[n near 100,16], v: f32[n,24]): f32 = "
     "matmul(softmax(matmul(q, transpose(k)) * 0.25, axis=1), v)",
     2},
    {"attend_heads(q: bf16[3,5,16], k: bf16[3,16,n near 70] strided, v: bf16[3,n,9] order(1, 0, "
     "2), "
     "mask: f32[5,n]): (o: bf16[3,5,9] strided, most: f32[3,5], all: f32[3,5]) where "
     "s = matmul(q, k) * 0.25 + mask, most = reduce_max(s, axis=2), "
     "e = exp(s - broadcast(most, axis=2)), all = reduce_sum(e, axis=2), "
     "o = matmul(e, v) / broadcast(all, axis=2)",
     3},
    // Exponentials lie where the result will, and other ones, of these, cannot.
    {"softmax_down(x: f32[n near 100,33] strided): f32 strided = softmax(x * 2, axis=0)", 2},
    {"softmax_and_sum(x: f32[m near 9,n near 100]): (s: f32[m], y: f32[m,n] col) where "
     "e = exp(x - broadcast(reduce_max(x, axis=1), axis=1)), s = reduce_sum(e, axis=1), "
     "y = e / broadcast(s, axis=1)",
     3},
    {"twice(x: f32[4,n near 20]): f32 = e * d / broadcast(reduce_sum(d, axis=1), axis=1) where "
     "e = exp(x * 0.25), d = exp(x * 0.25 - broadcast(reduce_sum(e, axis=1) * 0.01, axis=1))",
     1},
    // Results that have positions and go into sums, too.
    {"result_and_sum(x: f32[4,n near 20]): (y: f32[4,n] strided, s: f32[4]) where y = exp(x), "
     "s = reduce_sum(y, axis=1)",
     1},
    {"attend_and_weights(q: f32[3,8], k: f32[n near 40,8], v: f32[n,9]): (o: bf16[3,9], "
     "p: f32[3,n]) where p = softmax(matmul(q, transpose(k)), axis=1), o = matmul(p, v)",
     2},
    {"attend_any(q: f32[m near 20,16], k: f32[n near 100,16], v: f32[n,24], mask: f32[m,n]): f32 = "
     "matmul(softmax(matmul(q, transpose(k)) * 0.25 + mask, axis=1), v)",
     2},
    {"attend_any_heads(q: bf16[3,m near 9,16] order(1, 0, 2), k: bf16[3,n near 70,16] strided, "
     "v: bf16[3,n,9]): (o: bf16[3,m,9] order(1, 0, 2), l: f32[3,m]) where "
     "s = matmul(q, transpose(k)), e = exp(s - broadcast(reduce_max(s, axis=2), axis=2)), "
     "l = reduce_sum(e, axis=2), o = matmul(e, v) / broadcast(l, axis=2)",
     2},
    {"softmax_any(x: f32[m near 20,n near 100] strided): bf16[m,n] col strided = softmax(x, "
     "axis=1)",
     2},
    {"rows_of_rows(x: f32[b near 3,m%2 near 10,45], g: f32[m,45]): f32[b,m,45] order(1, 0, 2) = "
     "softmax(x, axis=2) * broadcast(g, axis=0)",
     2},
    {"attend_project(q: f32[6,8], k: f32[n near 50,8], v: f32[n,12], w: f32[12,20] packed): f32 = "
     "matmul(matmul(softmax(matmul(q, transpose(k)), axis=1), v), w)",
     1},
    {"position_or_two(q: f32[6,8], k: f32[n to 3,8], v: f32[n,12]): f32 = "
     "matmul(softmax(matmul(q, transpose(k)), axis=1), v)",
     2},
    {"products(x: f32[40,n near 90], y: f32[n,50]): f32 = matmul(matmul(x, y), transpose(y))", 2},
    {"range(x: i16[4,n near 200]): i32 = x - broadcast(reduce_max(x, axis=1) + "
     "reduce_min(x, axis=1), axis=1)",
     2},
    {"large_sums(q: f32[128,16], k: f32[n near 200,16], v: f32[n,80]): f32 = "
     "matmul(softmax(matmul(q, transpose(k)), axis=1), v)",
     2},
};

// Of several stages.
constexpr Shape kStages[] = {
    {"attention(q: bf16[17,6], k: bf16[19,6], v: bf16[19,10]): bf16 = "
     "matmul(softmax(matmul(q, transpose(k)) * 0.25, axis=1), v)",
     2},
    {"masked(q: f32[3,9,5], k: f32[3,13,5], v: f32[3,13,7], m: f32[9,13]): f32 col = "
     "matmul(softmax(matmul(q, transpose(k)) * 0.35 + m, axis=2), v)",
     3},
    {"mlp_gate(x: bf16[5,20], w1: bf16[20,35] packed, w2: bf16[20,35] packed, "
     "w3: bf16[35,12] packed): bf16 = matmul(h, w3) where "
     "gate = gelu_tanh(matmul(x, w1)), h: bf16 = gate * matmul(x, w2)",
     4},
    {"chain(a: f32[7,10], b: f32[10,17] col, c: f32[17,9], d: f16[9,11]): f32 = "
     "matmul(matmul(matmul(a, b), c), d)",
     2},
    {"norm_up(x: bf16[9,40], g: bf16[40], w: bf16[40,17] packed): f32 = "
     "matmul(h, w) where h: bf16 = rms_norm(x, 0.00001, axis=1) * g",
     2},
    {"block(x: f32[13,37], y: f32[13,37], g: f32[37], b: f32[37]): f32 = "
     "layer_norm(x + y, 0.001, axis=1) * g + b",
     3},
    {"columns(x: f16[19,41] col): f16 col = softmax(x, axis=0) + layer_norm(x, 0.1, axis=0)", 1},
    {"residual_2(x: f32[7,24], w: f32[24,24]): f32 = x + gelu(matmul(layer_norm(x, 0.01, axis=1), "
     "w))",
     2},
    {"quantised(x: u8[9,40], w: i8[40,21] packed, s: f32[21], v: f32[21,6]): f32 = "
     "matmul(relu(matmul(x, w) * s), v)",
     2},
    {"batches(x: bf16[12,16,3] order(2, 0, 1), w: bf16[12,19,3] packed): f32 col = "
     "rms_norm(matmul(x, transpose(w)), 0.01, axis=2)",
     2},
    {"packed_twice(x: f32[13,5,11], w: f32[11,10] packed, v: f32[13,10,20] packed): bf16 = "
     "matmul(h, v) where t = matmul(x, w), h: f16 = erf(t) + erf(t)",
     2},
    // Bytes with zeros around them; packed filters before a pad, whose rows are no longer one run.
    {"padded_bytes(x: u8[3,9,7,5], k: i8[3,3,5,18] packed, z: i32[18]): f32 = "
     "(conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2), k, stride=2) + z) * 0.01",
     2},
    {"around_bytes(x: i7[7,31]): i32 = reduce_sum(pad(x, axis=1, low=3, high=1), axis=0)", 1},
    {"around_and_beside(x: i8[5,4,9], y: u8[11,9]): i32 = "
     "matmul(pad(pad(x, axis=1, low=1), axis=0, high=2), transpose(y))",
     3},
    {"two_convolutions(x: f32[3,6,5,4], p: f32[1,1,4,9] packed, q: f32[3,3,9,7] packed): f32 = "
     "conv2d(pad(pad(relu(conv2d(x, p)), axis=1, low=1, high=1), axis=2, low=1, high=1), q)",
     2},
    {"rows_then_zeros(a: i8[5,4,7], b: i8[7,9] packed): i32 = "
     "neg(pad(matmul(a, b), axis=1, low=3, high=2))",
     1},
    {"twice_rounded(x: f32[31,42]): f32 = convert(b) + b where a: bf16 = x, b: f16 = a * 1", 1},
    {"renamed(x: f32[9,14]): f32 = exp(b) where a: bf16 = x, b: f16 = a", 1},
    {"bytes_of_three(a: u8[9,200], b: i8[9,200], c: u8[200]): f32 = reduce_sum(a * b * c, axis=1)",
     1},
    {"vector(x: f32[301]): f32 = softmax(x, axis=0) * x", 4},
    // Sums divided between steps of a tile, and softmax online.
    {"long_rows(x: f32[3,20001]): f32 = softmax(x, axis=1)", 1},
    // Large numbers minus their maximum, which a compiler would join with what made them.
    {"products(x: f32[7,203], s: bf16[203]): f32 = softmax(x * s, axis=1)", 2},
    {"long_products(x: f32[3,9001]): f32 = softmax(-(x * 0.3), axis=1)", 1},
    // The maximum so far is a result: it is kept there from step to step.
    {"long_maximum(q: f32[5,4], k: f32[5710,4], v: f32[5710,3]): (m: f32[5], l: f32[5], "
     "o: f32[5,3]) where s = matmul(q, transpose(k)), m = reduce_max(s, axis=1), "
     "e = exp(s - broadcast(m, axis=1)), l = reduce_sum(e, axis=1), o = matmul(e, v)",
     1},
    {"long_columns(x: f32[12345,3]): f32 = softmax(x, axis=0)", 1},
    {"in_place(x: f32[9,31], y: f32[9,31]): f32 = x * 2 + softmax(y, axis=1) - x", 3},
    // GCC 12 let t end before its reader ran (MORELLO_SHARED).
    {"rounded_first(x: f32[93], y: bf16[93,2]): f16[93,2] = spread(t, axis=1) - y where t: bf16 = "
     "x",
     3},
    // Threads read the least of a row while one of them gathers in the result.
    {"ranges(x: f32[3,100000]): f32 = reduce_max(x - broadcast(reduce_min(x, axis=1), axis=1), "
     "axis=1)",
     4},
    {"sum_and_least(x: f32[3,100000]): f32 = reduce_sum(x, axis=1) + reduce_min(x, axis=1)", 4},
};

// Of one stage, of several, in pieces; rows that begin at multiples of 16 bytes and not.
constexpr Shape kStreamed[] = {
    {"stream(x: f32[40,96], y: f32[96]): f32 = x * y", 1},
    {"stream_2(x: f32[4000]): f32 = x * 3 + 1", 2},
    {"stream_odd(x: f32[37,101], y: f32[37,101] col): f32 = x - y", 2},
    {"stream_bf16(x: f32[50,64]): bf16 = tanh(x)", 3},
    {"stream_f16(x: bf16[33,48], y: f32[48]): f16 = x * y", 1},
    {"stream_i32(x: i16[70,52]): i32 = x * 5", 1},
    {"stream_rms(x: f32[37,400], w: f32[400]): f32 = rms_norm(x, 0.00001, axis=1) * w", 2},
    {"stream_layer(x: bf16[19,208], g: f32[208]): bf16 = layer_norm(x, 0.001, axis=1) * g", 3},
    {"stream_softmax(x: f32[5,4004]): f32 = softmax(x, axis=1)", 2},
    {"stream_rows(x: f32[m near 40,64] strided): f32 strided = x * x", 2},
    {"apart(x: bf16[12,64]): f32 = t * broadcast(reduce_sum(t, axis=1), axis=1) where t: f32 = "
     "tanh(x)",
     1},
    {"apart_3(x: bf16[29,76]): f32 = t - broadcast(reduce_max(t, axis=1), axis=1) where t: f32 = "
     "exp(x)",
     3},
};

// Panels of four streams: b in f32, bf16 and bytes; the last panel whole or not.
constexpr Shape kFourStreams[] = {
    {"four_f32(a: f32[1,96], b: f32[96,192] packed): f32 = matmul(a, b)", 1},
    {"four_bf16(a: bf16[1,200], b: bf16[200,256] packed): f32 = matmul(a, b)", 1},
    {"four_odd(a: bf16[1,77], b: bf16[77,301] packed, c: f32[301]): bf16 = matmul(a, b) + c", 1},
    {"four_2(a: f32[1,150], b: bf16[150,512] packed): f32 = matmul(a, b)", 2},
    {"four_bytes(a: u8[1,130], b: i8[130,256] packed): i32 = matmul(a, b)", 1},
    {"four_rows(a: f32[2,90], b: f32[90,76] packed): f32 = matmul(a, b)", 1},
};

// Rows of b, or of a, in four, three and two streams, next to each other and not.
constexpr Shape kRowsApart[] = {
    {"rows_f32(a: f32[1,96], b: f32[96,32] col): f32 = matmul(a, b)", 1},
    {"rows_bf16(a: bf16[1,200], b: bf16[200,64] col, c: f32[64]): bf16 = matmul(a, b) + c", 1},
    {"rows_odd(a: f16[1,77], b: f16[77,33] col): f32 = gelu(matmul(a, b))", 1},
    {"rows_2(a: f32[1,150], b: f32[150,70] col): f32 = 0.5 * matmul(a, b)", 2},
    {"rows_m(a: f32[400,150], b: f32[150,1]): f32 = matmul(a, b)", 3},
    {"rows_bytes(a: u8[1,133], b: i8[133,256] col): i32 = matmul(a, b)", 1},
    {"rows_strided(a: bf16[1,800], b: bf16[800,n%16 near 640] col strided): f32 = matmul(a, b)", 1},
    {"rows_strided_2(a: bf16[1,800], b: bf16[800,n%8 near 640] col strided): f32 = matmul(a, b)",
     2},
};

constexpr Shape kLarge[] = {
    {"ragged(a: f32[77,300], b: f32[300,100]): f32 = matmul(a, b)", 1},
    {"ragged_2(a: f32[77,300], b: f32[300,100]): f32 = matmul(a, b)", 2},
    {"mixed(a: bf16[77,300], b: f32[300,100] col): f32 col = matmul(a, b)", 1},
    {"long_row(a: f32[1,16384], b: f32[16384,2048]): f32 = matmul(a, b)", 1},
    {"long_row_2(a: f32[1,16384], b: f32[16384,2048]): f32 = matmul(a, b)", 2},
    {"thin(a: f32[4096,64], b: f32[64,4096]): f32 = matmul(a, b)", 1},
    {"thin_2(a: f32[4096,64], b: f32[64,4096]): f32 = matmul(a, b)", 2},
    {"square(a: f32[512,512], b: f32[512,512]): f32 = matmul(a, b)", 1},
    {"square_2(a: f32[512,512], b: f32[512,512]): f32 = matmul(a, b)", 2},
    {"gemma(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)", 1},
    {"gemma_2(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)", 2},
    {"integers(a: u8[512,512], b: i8[512,512] packed): i32 = matmul(a, b)", 1},
};

// The hard values of u8 and i8 are 255 and -128 everywhere.
constexpr i64 kReductions[] = {1,  2,  3,  4,   5,   7,   8,   15,  16,
                               31, 33, 64, 127, 255, 333, 512, 999, 1000};

Batch found(std::span<const Shape> shapes, const std::string& directory, const Machine& machine,
            const std::string& isas = all_isas()) {
  Batch batch(directory);
  for (const Shape& s : shapes) {
    CAPTURE(s.spec);
    const std::string problem = batch.add({s.spec, s.threads, isas}, machine);
    if (!problem.empty()) FAIL(problem);
    MESSAGE(
        fmt::format("{:.2f} s CPU, {} thread(s): {}", batch.search_seconds(), s.threads, s.spec));
    const auto sets = 1 + std::count(isas.begin(), isas.end(), ',');
    CHECK(batch.search_seconds() < kMostSearchSeconds * static_cast<double>(sets));
  }
  return batch;
}

// With every compiler; optimised with the first, and with others where time is not short.
void check_all(Batch& batch) {
  const std::vector<std::string> compilers = known_compilers();
  for (size_t c = 0; c < compilers.size(); ++c)
    CHECK(batch.check({compilers[c], kLong || c == 0 ? "-O2" : "-O0"}, "1") == "");
}

// Each shape with one compiler; with all of them where time is not short.
void check_shapes(std::span<const Shape> shapes, const std::string& directory,
                  const std::string& isas = all_isas()) {
  const Machine machine = *load_machine("x86-64-v3");
  const std::vector<std::string> compilers = known_compilers();
  for (size_t c = 0; c < compilers.size(); ++c) {
    std::vector<Shape> share;
    for (size_t i = 0; i < shapes.size(); ++i)
      if (kLong || i / 2 % compilers.size() == c) share.push_back(shapes[i]);
    Batch batch = found(share, fmt::format("{}/{}", directory, c), machine, isas);
    CHECK(batch.check({compilers[c], "-O2"}, "1") == "");
  }
}

TEST_CASE("small shapes") { check_shapes(kQuick, MORELLO_RUN_DIRECTORY "/small"); }

TEST_CASE("several stages") {
  check_shapes(kStages, MORELLO_RUN_DIRECTORY "/stages", "avx512_bf16,avx2,scalar");
}

// Caches so small and memory so dear that all depends on how memory is read and written.
Machine far_memory(i64 cache_bytes, i64 line_cycles) {
  Machine machine = *load_machine("x86-64-v3");
  for (const Level l : {kL1, kL2, kL3}) machine.levels[l].bytes = cache_bytes;
  LevelDesc& memory = machine.levels[kMemory];
  memory.line_millicycles = memory.prefetched_millicycles = line_cycles * 1000;
  return machine;
}

// Every result that can be is.
TEST_CASE("results stored past the caches") {
  Machine machine = far_memory(1024, 1000);
  machine.streamed_bytes = 64;
  machine.streamed_line_millicycles = 1000;
  Batch batch(MORELLO_RUN_DIRECTORY "/streamed");
  int apart = 0;
  for (const Shape& s : kStreamed) {
    CAPTURE(s.spec);
    const std::string problem = batch.add({s.spec, s.threads, "avx512_bf16,avx2"}, machine);
    if (!problem.empty()) FAIL(problem);
    const bool wanted = std::string_view(s.spec).find("101") == std::string_view::npos;
    for (const std::string& program : batch.programs())
      CHECK_MESSAGE((program.find(" streaming\n") != program.npos) == wanted, program);
    for (const std::string& program : batch.programs())
      apart += program.find("result apart\n") != program.npos;
  }
  CHECK(apart > 1);
  check_all(batch);
}

// Kernels for a machine on which several streams are faster than one: each has this in its family.
void check_streams(std::span<const Shape> shapes, Machine machine, const std::string& directory,
                   const std::string& isas, const char* family) {
  machine.two_streams_percent = 60;
  machine.four_streams_percent = 20;
  Batch batch(directory);
  for (const Shape& s : shapes) {
    CAPTURE(s.spec);
    const std::string problem = batch.add({s.spec, s.threads, isas}, machine);
    if (!problem.empty()) FAIL(problem);
    for (const std::string& program : batch.programs())
      CHECK_MESSAGE(program.find(family) != program.npos, program);
  }
  check_all(batch);
}

TEST_CASE("weights in four streams") {
  check_streams(kFourStreams, far_memory(2048, 100), MORELLO_RUN_DIRECTORY "/four_streams", "avx2",
                " streams=4 ");
}

TEST_CASE("rows far apart") {
  Machine machine = far_memory(2048, 100);
  machine.levels[kMemory].stream_millicycles = 100'000;
  check_streams(kRowsApart, machine, MORELLO_RUN_DIRECTORY "/rows_apart", "avx512_bf16,avx2",
                " apart=");
}

TEST_CASE("sizes and strides known at run time only") {
  check_shapes(kRunTime, MORELLO_RUN_DIRECTORY "/run_time");
}

TEST_CASE("bytes are exact at the extremes, whatever the length") {
  const Machine machine = *load_machine("x86-64-v3");
  Batch batch(MORELLO_RUN_DIRECTORY "/extremes");
  for (const i64 k : kReductions)
    for (const char* layout : {" packed", "", " col"}) {
      const std::string spec =
          fmt::format("k{0}{1}(a: u8[3,{0}], b: i8[{0},9]{2}): i32 = matmul(a, b)", k,
                      std::string_view(layout).substr(*layout == ' ' ? 1 : 0), layout);
      const std::string problem = batch.add({spec, 1, all_isas()}, machine);
      if (!problem.empty()) FAIL(problem);
    }
  for (const char* types : {"i8 i8 i32", "i8 u8 i32", "u8 u8 i32", "u8 i8 i16"})
    for (const i64 k : {1, 3, 16, 333}) {
      const std::string a(types, 2), b(types + 3, 2), out(types + 6);
      const std::string spec = fmt::format(
          "{0}_{1}_{2}_{3}(a: {0}[3,{3}], b: {1}[{3},9]): {2} = matmul(a, b)", a, b, out, k);
      const std::string problem = batch.add({spec, 1, all_isas()}, machine);
      if (!problem.empty()) FAIL(problem);
    }
  CHECK(batch.check({known_compilers().front(), "-O2"}, "1") == "");
}

TEST_CASE("long: larger shapes" * doctest::skip()) {
  const Machine machine = *load_machine("x86-64-v3");
  Batch batch = found(kLarge, MORELLO_RUN_DIRECTORY "/large", machine);
  for (const std::string& compiler : known_compilers())
    CHECK(batch.check({compiler, "-O2"}, "1 once soft") == "");
}

}  // namespace
}  // namespace morello::run
