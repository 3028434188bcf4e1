// How expressions are divided into stages, and in what type what lies between them is.
#include <doctest/doctest.h>

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
