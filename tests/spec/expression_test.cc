#include "spec/expression.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "spec/kernel_spec.h"

namespace morello {
namespace {

Computation computation(const std::string& text) {
  const auto spec = parse_spec(text);
  CAPTURE((spec ? std::string() : spec.error().str()));
  REQUIRE(spec.ok());
  return spec->computation();
}

struct Row {
  const char* text;
  const char* meaning;
};
const Row kRows[] = {
    // Precedence, and parentheses where they are needed.
    {"(x: f32[4], y: f32[4]): f32 = x - y - x * y / x",
     "(x: f32[i], y: f32[i]) -> f32[i]: in0 - in1 - in0 * in1 / in0; i=4"},
    {"(x: f32[4], y: f32[4]): f32 = x - (y - x) * (y / (x / y))",
     "(x: f32[i], y: f32[i]) -> f32[i]: in0 - (in1 - in0) * (in1 / (in0 / in1)); i=4"},
    {"(x: f32[4]): f32 = -(-x) - -2.5e-3", "(x: f32[i]) -> f32[i]: neg(neg(in0)) - -0.0025; i=4"},
    {"(x: i32[4]): i32 = max(x, 7) * 65536", "(x: i32[i]) -> i32[i]: max(in0, 7) * 65536; i=4"},
    // Around a sum.
    {"(a: f32[2,3], b: f32[3,4]): f32 = matmul(a, b)",
     "(a: f32[m,k], b: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=2 n=4 k=3"},
    {"(a: f32[2,3], b: f32[3,4]): f16 = convert(matmul(a, b))",
     "(a: f32[m,k], b: f32[k,n]) -> f16[m,n]: in0 * in1, sum over k; m=2 n=4 k=3"},
    {"(a: u8[2,3], b: i8[3,4]): f32 = matmul(a, b)",
     "(a: u8[m,k], b: i8[k,n]) -> f32[m,n]: in0 * in1, sum over k, then float(sum); m=2 n=4 k=3"},
    {"(a: f32[2,3], b: f32[3,4], c: f32[4]): f32 = relu(c + matmul(a, b))",
     "(a: f32[m,k], b: f32[k,n], c: f32[n]) -> f32[m,n]: in0 * in1, sum over k, then max(extra0 + "
     "sum, 0); m=2 n=4 k=3"},
    {"(a: f32[2,3], b: f32[3,4], c: f32[2], d: f32[1]): f32 = matmul(a, b) * "
     "broadcast(c, axis=1) * d",
     "(a: f32[m,k], b: f32[k,n], c: f32[m], d: f32[]) -> f32[m,n]: in0 * in1, sum over k, then sum "
     "* extra0 * extra1; m=2 n=4 k=3"},
    // The same operand twice is one, also as an operand of the sum and beside it.
    {"(a: f32[3,3]): f32 = a + a * matmul(a, a)",
     "(a: f32[m,k], a2: f32[k,n], a3: f32[m,n]) -> f32[m,n]: in0 * in1, sum over k, then extra0 + "
     "extra0 * sum; m=3 n=3 k=3"},
    {"(a: f32[3,3], a2: f32[3,3]): f32 = a2 + matmul(a, a)",
     "(a: f32[m,k], a3: f32[k,n], a2: f32[m,n]) -> f32[m,n]: in0 * in1, sum over k, then extra0 + "
     "sum; m=3 n=3 k=3"},
    // Two that have an element for every point are inputs.
    {"(s: f32[1], x: f32[2,3], y: f32[3], z: f32[2,3] col, u: f32[2,3]): f32 = s * x + y - z * u",
     "(x: f32[i0,i1], z: f32[i0,i1] col, s: f32[], y: f32[i1], u: f32[i0,i1]) -> f32[i0,i1]: "
     "extra0 "
     "* in0 + extra1 - in1 * extra2; i0=2 i1=3"},
    {"(x: f32[3], y: f32[2]): f32[2,3] = x - broadcast(y, axis=1)",
     "(x: f32[i1], y: f32[i0]) -> f32[i0,i1]: in0 - extra0; i0=2 i1=3"},
    {"(x: f32[3]): f32[2,3] = broadcast(x, axis=0)", "(x: f32[i1]) -> f32[i0,i1]: in0; i0=2 i1=3"},
    {"(x: f32[2,3,4], y: f32[2,3,4], z: f32[3,4]): f32 = x * y + z",
     "(x: f32[i0,i1], y: f32[i0,i1], z: f32[i1]) -> f32[i0,i1]: in0 * in1 + extra0; i0=2 i1=12"},
    {"(a: f32[2,3], b: bf16[n%16,3] strided): f32 = matmul(a, transpose(b))",
     "(a: f32[m,k], b: bf16[n,k] strided) -> f32[m,n]: in0 * in1, sum over k; m=2 n=n~1024 k=3"},
    {"(a: f16[5,3,2], b: f32[7,3] packed): f32 = matmul(transpose(a), transpose(b))",
     "(a: f16[b,k,m], b: f32[n,k] packed) -> f32[b,m,n]: in0 * in1, sum over k; b=5 m=2 n=7 k=3"},
    {"(a: f32[4,4]): f32 = transpose(a) + a",
     "(a: f32[i1,i0], a2: f32[i0,i1]) -> f32[i0,i1]: in0 + in1; i0=4 i1=4"},
    {"(a: f32[2,3], b: f32[3,4], c: f32[4,2]): f32 = matmul(a, b) - transpose(c)",
     "(a: f32[m,k], b: f32[k,n], c: f32[n,m]) -> f32[m,n]: in0 * in1, sum over k, then sum - "
     "extra0; m=2 n=4 k=3"},
    {"(x: f32[2,4], m: f32[2]): f32 = reduce_sum(exp(x - broadcast(m, axis=1)), axis=1) * m",
     "(x: f32[i,k], m: f32[i]) -> f32[i]: exp(in0 - extra0), sum over k, then sum * extra0; i=2 "
     "k=4"},
    {"(x: f32[4,2], w: bf16[4], s: i8[1]): bf16 = reduce_max(x * broadcast(w, axis=1) + s, axis=0)",
     "(x: f32[k,i], w: bf16[k], s: i8[]) -> bf16[i]: in0 * in1 + extra0, max over k; i=2 k=4"},
    {"(x: i8[2,4], y: u8[2,4]): f32 = reduce_mean(x * y, axis=1)",
     "(x: i8[i,k], y: u8[i,k]) -> f32[i]: in0 * in1, sum over k, then float(sum) / 4; i=2 k=4"},
    {"(x: f32[2,2]): f32 = reduce_min(select(ge(x, 0), transpose(x), x), axis=0)",
     "(x: f32[k,i], x2: f32[i,k]) -> f32[i]: select(le(0, in0), in1, in0), min over k; i=2 k=2"},
    {"(x: f32[1], y: f32[1]): f32 = reduce_sum(x * y, axis=0)",
     "(x: f32[], y: f32[]) -> f32[i]: in0 * extra0; i=1"},
    // Sums over one element are elements, but where an axis is none of its own or leaves cannot do
    // it.
    {"(x: f32[30,1,7]): f32 = reduce_sum(x, axis=1)", "(x: f32[i]) -> f32[i]: in0; i=210"},
    {"(x: bf16[1,3,5], y: f32[5]): bf16 = relu(reduce_mean(exp(x), axis=0) + y)",
     "(x: bf16[i0,i1], y: f32[i1]) -> bf16[i0,i1]: max(exp(in0) + extra0, 0); i0=3 i1=5"},
    {"(x: u8[3,1]): i32 = reduce_max(x, axis=1) + 2", "(x: u8[i]) -> i32[i]: in0 + 2; i=3"},
    {"(x: f32[3,1] strided): f32 = reduce_sum(x, axis=1)",
     "(x: f32[i,k] strided) -> f32[i]: in0, sum over k; i=3 k=1"},
    {"(x: u8[3,1]): f32 = reduce_sum(x, axis=1)",
     "(x: u8[i,k]) -> f32[i]: in0, sum over k, then float(sum); i=3 k=1"},
    {"(x: f32[4,1], y: f32[1]): f32 = reduce_sum(x * y, axis=1)",
     "(x: f32[i], y: f32[]) -> f32[i]: in0 * extra0; i=4"},
    {"(x: f32[n,1], y: f32[n,1]): f32 = reduce_sum(x * y, axis=1)",
     "(x: f32[i,k], y: f32[i,k]) -> f32[i]: in0 * in1, sum over k; i=n~1024 k=1"},
    {"(x: f32[n,1], y: f32[n,1]): f32 = reduce_sum(x + y, axis=1)",
     "(x: f32[i], y: f32[i]) -> f32[i]: in0 + in1; i=n~1024"},
    {"(x: f32[2,4], y: f32[2]): f32 = reduce_sum(x, axis=1) / y",
     "(x: f32[i,k], y: f32[i]) -> f32[i]: in0, sum over k, then sum / extra0; i=2 k=4"},
};

TEST_CASE("expressions: what they mean") {
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    CHECK(str(computation(row.text)) == row.meaning);
  }
}

TEST_CASE("a term is written once") {
  const Computation c =
      computation("(x: f32[4], y: f32[4]): f32 = (x + y) * (x + y) + exp(x + y) * 2 - 2");
  // in0, in1, their sum, its square, exp, 2, the product, two sums: each once.
  CHECK(c.body.size() == 9);
  CHECK(count_functions(c.body) == 6);
}

TEST_CASE("functions: exact values, and of integers what 32 bits hold") {
  const auto value = [](const std::string& expression, double x) {
    return evaluate(computation("(x: f32[1]): f32 = " + expression), {{x}})[0];
  };
  CHECK(value("gelu(x)", 1) == doctest::Approx(0.8413447460685429));
  CHECK(value("gelu_tanh(x)", 1) == doctest::Approx(0.8411919906082768));
  CHECK(value("silu(x)", -2) == doctest::Approx(-0.2384058440442351));
  CHECK(value("sigmoid(x)", -1000) == 0);
  CHECK(value("rsqrt(x)", 16) == 0.25);
  CHECK(value("relu(x)", -3) == 0);
  CHECK(std::isnan(value("relu(x)", std::nan(""))));
  CHECK(std::isnan(value("min(x, 1)", std::nan(""))));
  CHECK(value("exp(x)", -std::numeric_limits<double>::infinity()) == 0);
  const auto whole = [](const std::string& expression, double x) {
    return evaluate(computation("(x: i32[1]): i32 = " + expression), {{x}})[0];
  };
  CHECK(whole("x * x", 65537) == 131073);
  CHECK(whole("-x", -2147483648.0) == -2147483648.0);
  CHECK(whole("(x - 1) * 2", -2147483648.0) == -2);
  CHECK(wrap_i32(2147483648.0) == -2147483648.0);
  CHECK(wrap_i32(-4294967297.0) == -1);
}

TEST_CASE("sums and what is made of them") {
  const Computation c = computation(
      "(a: u8[2,2], b: i8[2,2], s: f32[2], t: f32[1]): f32 = (matmul(a, b) + 1) * "
      "broadcast(s, axis=1) - t");
  CHECK(c.compute == Dtype::i32);
  CHECK(c.result() == Dtype::f32);
  CHECK_FALSE(c.gathers_in_output());
  CHECK(evaluate(c, {{1, 2, 3, 4}, {5, 6, -7, 8}, {0.5, 2}, {10}}) ==
        std::vector<double>{-14, 1.5, -34, 92});
}

}  // namespace
}  // namespace morello
