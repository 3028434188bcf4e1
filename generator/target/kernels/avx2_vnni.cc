// Products of 8-bit integers where the CPU has AVX-VNNI: what avx512_vnni.cc has in half the width.
// Sixteen-bit pairs, of other types than u8 by i8, take one instruction where AVX2 takes two.
#include "target/kernels/avx2_quads.h"

namespace morello::kernels {

using enum Access::Kind;

// A sum of `group` products per 32-bit lane; lanes along a parallel dim or along the reduction.
static constexpr Kernel dot8(std::string_view name, std::string_view implements, int group, Dtype a,
                             Dtype b, std::string_view code, bool lanes_reduce) {
  return {.name = name,
          .implements = implements,
          .lanes = 8,
          .group = group,
          .lanes_reduce = lanes_reduce,
          .input = a,
          .input_b = b,
          .output = Dtype::i32,
          .code = code,
          .finish = lanes_reduce ? "{s} = hsum_i32x8({c});" : "",
          .uops = {.fma = 1},
          .latency = 5};
}

static constexpr std::string_view kBytes = "{c} = _mm256_dpbusd_avx_epi32({c}, {a}, {b});";
static constexpr std::string_view kPairs = "{c} = _mm256_dpwssd_avx_epi32({c}, {a}, {b});";

static constexpr Kernel kKernels[] = {
    dot8("dpbusd_i8x32", "(a: u8[1,4], b: i8[4,8]): i32[1,8] = matmul(a, b)", 4, Dtype::u8,
         Dtype::i8, kBytes, false),
    dot8("dot_i8x32", "(a: u8[1,32], b: i8[32,1]): i32[1,1] = matmul(a, b)", 4, Dtype::u8,
         Dtype::i8, kBytes, true),
    dot8("dpwssd_i16x16", "(a: u8[1,2], b: i8[2,8]): i32[1,8] = matmul(a, b)", 2, Dtype::i16,
         Dtype::i16, kPairs, false),
    dot8("dpwssd_dot_i16x16", "(a: u8[1,16], b: i8[16,1]): i32[1,1] = matmul(a, b)", 2, Dtype::i16,
         Dtype::i16, kPairs, true),
};

static constexpr Access kAccesses[] = {
    quads8(kVector, "load_i8x8x4", Dtype::i8, "(x: i8[32]): i32[32] = convert(x)"),
    quads8(kBroadcast, "broadcast_i8x8x4", Dtype::i8, "(x: i8[4]): i32[4] = convert(x)"),
};

constinit const Rows avx2_vnni = {.kernels = kKernels, .accesses = kAccesses, .prelude = {}};

}  // namespace morello::kernels
