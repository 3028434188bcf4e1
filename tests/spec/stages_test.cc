// How expressions are divided into stages, and in what type what lies between them is.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "spec/kernel_spec.h"

namespace morello {
namespace {

struct Row {
  std::string_view text;
  std::vector<std::string_view> stages;
};

const Row kRows[] = {
    {"(a: f32[4,5], b: f32[5,6], c: f32[6,7]): f32 = matmul(matmul(a, b), c)",
     {"(a: f32[m,k], b: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=4 n=6 k=5",
      "(t0: f32[m,k], c: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=4 n=7 k=6"}},
    // A name that is only another name for one with a type has been that name without being rounded
    // to its type.
    {"(x: f32[9]): f32 = convert(b) where a: bf16 = x, b: f16 = a",
     {"(x: f32[i0]) -> bf16[i0]: in0; i0=9", "(a: bf16[i0]) -> f16[i0]: in0; i0=9",
      "(b: f16[i0]) -> f32[i0]: in0; i0=9"}},
    // What a sum of integers adds up is i32, also where it is stored: it was f32, which rounds.
    {"(a: u8[9,20], b: i8[9,20], c: u8[20]): f32 = reduce_sum(a * b * c, axis=1)",
     {"(a: u8[i0,i1], b: i8[i0,i1], c: u8[i1]) -> i32[i0,i1]: in0 * in1 * extra0; i0=9 i1=20",
      "(t0: i32[i0,k]) -> f32[i0]: in0, sum over k, then float(sum); i0=9 k=20"}},
    {"(a: u8[9,20], b: i8[20,8], c: u8[8]): f32 = reduce_max((matmul(a, b) + 1) * c, axis=1)",
     {"(a: u8[m,k], b: i8[k,n], c: u8[n]) -> i32[m,n]: in0 * in1, sum over k, then (sum + 1) * "
      "extra0; m=9 n=8 k=20",
      "(t0: i32[i0,k]) -> f32[i0]: in0, max over k, then float(sum); i0=9 k=8"}},
    // But an operator that is an expression of others computes in floats, as its result is.
    {"(a: i16[9,20]): f32 = rms_norm(a, 1, axis=1)",
     {"(a: i16[i0,i1]) -> f32[i0,i1]: in0; i0=9 i1=20",
      "(t0: f32[i0,k]) -> f32[i0]: in0 * in0, sum over k, then 1 / sqrt(sum / 20 + 1); i0=9 k=20",
      "(t0: f32[i0,i1], t1: f32[i0]) -> f32[i0,i1]: in0 * extra0; i0=9 i1=20"}},
    // Not what has floats in it, nor what is not defined for integers.
    {"(a: u8[9,20]): f32 = reduce_sum(a * 0.5, axis=1)",
     {"(a: u8[i0,i1]) -> f32[i0,i1]: in0 * 0.5; i0=9 i1=20",
      "(t0: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=9 k=20"}},
    {"(a: u8[9,20]): f32 = reduce_sum(exp(a), axis=1)",
     {"(a: u8[i0,i1]) -> f32[i0,i1]: exp(in0); i0=9 i1=20",
      "(t0: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=9 k=20"}},
    // Results: what else reads one reads it as it is stored; what is one already, and what is
    // rounded, is copied.
    {"(x: f32[4,5]): (y: f32, m: bf16 col, z: f32) where h = relu(matmul(x, transpose(x))), m = h, "
     "z = h, y = exp(h)",
     {"(x: f32[m,k], x2: f32[n,k]) -> f32[m,n]: in0 * in1, sum over k, then max(sum, 0); m=4 n=4 "
      "k=5",
      "(z: f32[i0,i1]) -> f32[i0,i1]: exp(in0); i0=4 i1=4",
      "(z: f32[i0,i1]) -> bf16[i0,i1] col: in0; i0=4 i1=4"}},
    {"(x: f32[4,5]): (a: bf16, b: f32) where a = x * 2, b = a * 2",
     {"(x: f32[i0,i1]) -> bf16[i0,i1]: in0 * 2; i0=4 i1=5",
      "(a: bf16[i0,i1]) -> f32[i0,i1]: in0 * 2; i0=4 i1=5"}},
    {"(x: u8[4,5]): (s: i32, t: i16) where s = reduce_sum(x, axis=1), t = s + 1",
     {"(x: u8[i0,k]) -> i32[i0]: in0, sum over k; i0=4 k=5",
      "(s: i32[i0]) -> i16[i0]: in0 + 1; i0=4"}},
    {"(x: f32[5]): (p: f32, s: f32, t: f32) where s = reduce_sum(x, axis=0), p = x * s, t = s + 1",
     {"(x: f32[k]) -> f32[i0]: in0, sum over k; i0=1 k=5",
      "(x: f32[i0], s: f32[]) -> f32[i0]: in0 * extra0; i0=5",
      "(s: f32[]) -> f32[i0]: in0 + 1; i0=1"}},
    {"(x: f32[4,5]): (p: f32, q: f32) where p = pad(x, axis=0, low=1), q = p * 2",
     {"(x: f32[i0,i1]) -> f32[i0,i1]: in0; i0=4 i1=5",
      "(t0: f32[i0,i1]) -> f32[i0,i1]: in0; i0=5 i1=5",
      "(p: f32[i0,i1]) -> f32[i0,i1]: in0 * 2; i0=5 i1=5"}},
    // Bytes with zeros around them stay bytes, which are multiplied as such.
    {"(x: u8[4,5], k: i7[6,3]): i32 = matmul(pad(x, axis=1, low=1), k)",
     {"(x: u8[i0,i1]) -> u8[i0,i1]: in0; i0=4 i1=5",
      "(t0: u8[m,k], k: i7[k,n]) -> i32[m,n]: in0 * in1, sum over k; m=4 n=3 k=6"}},
    {"(x: i7[4]): i32 = neg(pad(x, axis=0, low=1))",
     {"(x: i7[i0]) -> i7[i0]: in0; i0=4", "(t0: i7[i0]) -> i32[i0]: neg(in0); i0=5"}},
    {"(x: f32[4,5]): (y: f32) where y = transpose(x)",
     {"(x: f32[i1,i0]) -> f32[i0,i1]: in0; i0=5 i1=4"}},
};

TEST_CASE("stages") {
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const auto spec = parse_spec(row.text);
    REQUIRE(spec);
    std::vector<std::string> stages;
    for (const Stage& s : spec->stages) stages.push_back(str(s.computation));
    CHECK(fmt::format("{}", fmt::join(stages, "\n")) ==
          fmt::format("{}", fmt::join(row.stages, "\n")));
    CHECK(*parse_spec(spec->str()) == *spec);
  }
}

}  // namespace
}  // namespace morello
