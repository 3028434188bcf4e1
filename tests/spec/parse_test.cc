#include <doctest/doctest.h>

#include "spec/names.h"
#include "spec/op.h"
#include "spec/random_spec.h"

namespace morello {
namespace {

KernelSpec parsed(std::string_view text) {
  const auto spec = parse_spec(text);
  if (!spec) FAIL_CHECK(spec.error().str());
  return spec ? *spec : KernelSpec();
}

// What is written, its canonical form, and the computation that it means.
struct Row {
  std::string_view text, canonical, computation;
};

constexpr Row kRows[] = {
    {"(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)",
     "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32[1,16384] = matmul(x, w)",
     "(x: bf16[m,k], w: bf16[k,n] packed) -> f32[m,n]: in0 * in1, sum over k; m=1 n=16384 k=2048"},
    {"# a comment\r\nf ( a:f32[ 02,3 ]row,#another\n\tb : f32[3,4]col ) :bf16 [2,4]  "
     "col=matmul(a,b)#",
     "f(a: f32[2,3], b: f32[3,4] col): bf16[2,4] col = matmul(a, b)",
     "(a: f32[m,k], b: f32[k,n] col) -> bf16[m,n] col: in0 * in1, sum over k; m=2 n=4 k=3"},
    {"(a: u8[7,2,3], b: i8[7,3,4]): i32 = matmul(a, b)",
     "(a: u8[7,2,3], b: i8[7,3,4]): i32[7,2,4] = matmul(a, b)",
     "(a: u8[b,m,k], b: i8[b,k,n]) -> i32[b,m,n]: in0 * in1, sum over k; b=7 m=2 n=4 k=3"},
    // Batch dimensions that are walked through together are one.
    {"(a: f32[7,8,2,3], b: f32[7,8,3,4] col): f32 = matmul(a, b)",
     "(a: f32[7,8,2,3], b: f32[7,8,3,4] col): f32[7,8,2,4] = matmul(a, b)",
     "(a: f32[b,m,k], b: f32[b,k,n] col) -> f32[b,m,n]: in0 * in1, sum over k; b=56 m=2 n=4 k=3"},
    {"(a: f32[7,8,2,3] order(1, 0, 2, 3), b: f32[7,8,3,4]): f32 = matmul(a, b)",
     "(a: f32[7,8,2,3] order(1, 0, 2, 3), b: f32[7,8,3,4]): f32[7,8,2,4] = matmul(a, b)",
     "(a: f32[b0,b1,m,k] order(1, 0, 2, 3), b: f32[b0,b1,k,n]) -> f32[b0,b1,m,n]: in0 * in1, sum "
     "over k; b0=7 b1=8 m=2 n=4 k=3"},
    // What masks are made of.
    {"(m: u8[4], a: f32[4]): f32 = max(select(m, a, -inf), inf)",
     "(m: u8[4], a: f32[4]): f32[4] = max(select(m, a, -inf), inf)",
     "(m: u8[i], a: f32[i]) -> f32[i]: max(select(in0, in1, -inf), inf); i=4"},
    // Missing batch dimensions: the rows of the batch are rows of one matrix where memory allows.
    {"(a: f32[7,2,3], b: f32[3,4]): f32 = matmul(a, b)",
     "(a: f32[7,2,3], b: f32[3,4]): f32[7,2,4] = matmul(a, b)",
     "(a: f32[m,k], b: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=14 n=4 k=3"},
    {"(a: f32[7,2,3] col, b: f32[3,4]): f32 = matmul(a, b)",
     "(a: f32[7,2,3] col, b: f32[3,4]): f32[7,2,4] = matmul(a, b)",
     "(a: f32[b,m,k] col, b: f32[k,n]) -> f32[b,m,n]: in0 * in1, sum over k; b=7 m=2 n=4 k=3"},
    {"(a: f32[2,3], b: f32[7,3,4] packed): f32 = matmul(a, b)",
     "(a: f32[2,3], b: f32[7,3,4] packed): f32[7,2,4] = matmul(a, b)",
     "(a: f32[m,k], b: f32[b,k,n] packed) -> f32[b,m,n]: in0 * in1, sum over k; b=7 m=2 n=4 k=3"},
    {"(a: f32[5,7,2,3] packed, b: f32[7,3,4]): f32 = matmul(a, b)",
     "(a: f32[5,7,2,3] packed, b: f32[7,3,4]): f32[5,7,2,4] = matmul(a, b)",
     "(a: f32[b0,b1,m,k] packed, b: f32[b1,k,n]) -> f32[b0,b1,m,n]: in0 * in1, sum over k; b0=5 "
     "b1=7 m=2 n=4 k=3"},
    {"(a: f32[1,2,3,4,5,6], b: f32[1,2,3,4,6,5]): f32 = matmul(a, b)",
     "(a: f32[1,2,3,4,5,6], b: f32[1,2,3,4,6,5]): f32[1,2,3,4,5,5] = matmul(a, b)",
     "(a: f32[b,m,k], b: f32[b,k,n]) -> f32[b,m,n]: in0 * in1, sum over k; b=24 m=5 n=5 k=6"},
    {"(a: f32[3,3]): f32 = matmul(a, a)", "(a: f32[3,3]): f32[3,3] = matmul(a, a)",
     "(a: f32[m,k], a2: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=3 n=3 k=3"},

    {"(b: f32[2,3,4], a: f32[2,3,4]): f32 = a + b",
     "(b: f32[2,3,4], a: f32[2,3,4]): f32[2,3,4] = add(a, b)",
     "(a: f32[i], b: f32[i]) -> f32[i]: in0 + in1; i=24"},
    {"(a: i32[2,3,4], b: i32[2,3,4] col): i32 = a * b",
     "(a: i32[2,3,4], b: i32[2,3,4] col): i32[2,3,4] = mul(a, b)",
     "(a: i32[i0,i1,i2], b: i32[i0,i1,i2] col) -> i32[i0,i1,i2]: in0 * in1; i0=2 i1=3 i2=4"},
    {"(a: bf16[5,2,3], b: bf16[5,2,3] order(2, 0, 1)): f32 = mul(a, b)",
     "(a: bf16[5,2,3], b: bf16[5,2,3] order(2, 0, 1)): f32[5,2,3] = mul(a, b)",
     "(a: bf16[i0,i1], b: bf16[i0,i1] col) -> f32[i0,i1]: in0 * in1; i0=10 i1=3"},
    {"(x: f32[8]): f32 = x * x", "(x: f32[8]): f32[8] = mul(x, x)",
     "(x: f32[i]) -> f32[i]: in0 * in0; i=8"},
    {"add(add: f32[8]): f32 = add + add", "add(add: f32[8]): f32[8] = add(add, add)",
     "(add: f32[i]) -> f32[i]: in0 + in0; i=8"},
    {"(x: u8[4,5]): f32 col = convert(x)", "(x: u8[4,5]): f32[4,5] col = convert(x)",
     "(x: u8[i0,i1]) -> f32[i0,i1] col: in0; i0=4 i1=5"},
    {"(x: f32[4,32] order(1/16, 0/1, 1/1%16)): f32 order(0, 1) = convert(x)",
     "(x: f32[4,32] order(1/16, 0, 1%16)): f32[4,32] = convert(x)",
     "(x: f32[i0,i1] order(1/16, 0, 1%16)) -> f32[i0,i1]: in0; i0=4 i1=32"},

    {"(x: i8[2,3,4,5,6]): i32 = reduce_sum(x, axis=2)",
     "(x: i8[2,3,4,5,6]): i32[2,3,5,6] = reduce_sum(x, axis=2)",
     "(x: i8[i0,k,i1]) -> i32[i0,i1]: in0, sum over k; i0=6 i1=30 k=4"},
    {"(x: f16[4,5]): bf16 = reduce_sum(x, axis=0)",
     "(x: f16[4,5]): bf16[5] = reduce_sum(x, axis=0)",
     "(x: f16[k,i]) -> bf16[i]: in0, sum over k; i=5 k=4"},
    {"(x: f32[4,5] col): f32[4] = reduce_sum(x, axis=1)",
     "(x: f32[4,5] col): f32[4] = reduce_sum(x, axis=1)",
     "(x: f32[i,k] col) -> f32[i]: in0, sum over k; i=4 k=5"},
    {"(x: f32[9]): f32 = reduce_sum(x, axis=0)", "(x: f32[9]): f32[1] = reduce_sum(x, axis=0)",
     "(x: f32[k]) -> f32[i]: in0, sum over k; i=1 k=9"},
    {"(x: u8[2147483647]): i32 = reduce_sum(x, axis=0)",
     "(x: u8[2147483647]): i32[1] = reduce_sum(x, axis=0)",
     "(x: u8[k]) -> i32[i]: in0, sum over k; i=1 k=2147483647"},

    // Sizes known at run time only are written out where they come first, and are not collapsed.
    {"(a: bf16[1,2304], b: bf16[2304 , n % 16]col strided): f32 [1,n] = matmul(a, b)",
     "(a: bf16[1,2304], b: bf16[2304,n%16] col strided): f32[1,n] = matmul(a, b)",
     "(a: bf16[m,k], b: bf16[k,n] col strided) -> f32[m,n]: in0 * in1, sum over k; m=1 n=n~1024 "
     "k=2304"},
    {"(a: f32[m%1 to 8,k%8 near 640], b: f32[k%8 near 640,4] strided): f32 strided = matmul(a, b)",
     "(a: f32[m to 8,k%8 near 640], b: f32[k,4] strided): f32[m,4] strided = matmul(a, b)",
     "(a: f32[m,k], b: f32[k,n] strided) -> f32[m,n] strided: in0 * in1, sum over k; m=m~8 n=4 "
     "k=k~640"},
    {"(to: f32[near,strided%3 to 9 near 6]): f32 = to + to",
     "(to: f32[near,strided%3 to 9 near 6]): f32[near,strided] = add(to, to)",
     "(to: f32[i0,i1]) -> f32[i0,i1]: in0 + in0; i0=near~1024 i1=strided~6"},
    {"(x: f32[n,n]): f32 = matmul(x, x)", "(x: f32[n,n]): f32[n,n] = matmul(x, x)",
     "(x: f32[m,k], x2: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=n~1024 n=n~1024 k=n~1024"},
    {"(x: u8[2,3,4,n%3000] order(0, 1, 3, 2) strided): f32 = convert(x)",
     "(x: u8[2,3,4,n%3000] col strided): f32[2,3,4,n] = convert(x)",
     "(x: u8[i0,i1,i2,i3] col strided) -> f32[i0,i1,i2,i3]: in0; i0=2 i1=3 i2=4 i3=n~3000"},
    {"(x: f32[2,3,4], y: f32[2,3,4] strided): f32 = x + y",
     "(x: f32[2,3,4], y: f32[2,3,4] strided): f32[2,3,4] = add(x, y)",
     "(x: f32[i0,i1,i2], y: f32[i0,i1,i2] strided) -> f32[i0,i1,i2]: in0 + in1; i0=2 i1=3 i2=4"},
};

TEST_CASE("specs: canonical form and meaning") {
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const KernelSpec spec = parsed(row.text);
    CHECK(spec.str() == row.canonical);
    CHECK(str(spec.computation()) == row.computation);
    CHECK(parsed(spec.str()) == spec);
  }
}

TEST_CASE("a parsed spec in detail") {
  const KernelSpec spec = parsed("ffw(w: bf16[3,4] packed, x: bf16[2,3]): f32 col = matmul(x, w)");
  CHECK(spec.name == "ffw");
  REQUIRE(spec.params.size() == 2);
  CHECK(spec.params[0] == Param{"w", Dtype::bf16, {3, 4}, Layout::row(2), true});
  CHECK(spec.params[1] == Param{"x", Dtype::bf16, {2, 3}, Layout::row(2), false});
  CHECK(spec.result() == Param{"out", Dtype::f32, {2, 4}, Layout::col(2), false});
  const auto param = [](int i) { return Expr{.kind = Expr::Kind::kParam, .param = i}; };
  CHECK(*spec.expr == Expr{.op = "matmul", .args = {param(1), param(0)}});
  CHECK(spec.arguments() == std::vector<int>{1, 0});
  const Computation& c = spec.computation();
  CHECK(c.dims == std::vector<Dim>{{"m", 2, false}, {"n", 4, false}, {"k", 3, true}});
  REQUIRE(c.operands.size() == 3);
  CHECK(c.operands[1] ==
        Operand{"w", Dtype::bf16, {3, 4}, {{{2, 1}}, {{1, 1}}}, Layout::row(2), true});
  CHECK(c.output() ==
        Operand{"out", Dtype::f32, {2, 4}, {{{0, 1}}, {{1, 1}}}, Layout::col(2), false});
  CHECK(c.body == Expression{{.fn = Fn::kInput, .a = 0},
                             {.fn = Fn::kInput, .a = 1},
                             {.fn = Fn::kMul, .a = 0, .b = 1}});
  CHECK(c.finish.empty());
  CHECK(c.combine == Combine::kSum);
  CHECK(c.compute == Dtype::f32);
}

TEST_CASE("sizes and strides known at run time only") {
  const KernelSpec spec = parsed(
      "(a: f32[2,m%2 to 64,8] strided, b: f32[2,8,n near 48]): f32 order(2, 0, 1) strided "
      "= matmul(a, b)");
  CHECK(spec.sizes() == std::vector<RunTimeSize>{{"m", 2, 64, 0}, {"n", 1, 0, 48}});
  CHECK(spec.sizes()[0].nominal() == 64);
  CHECK(spec.sizes()[1].nominal() == 48);
  CHECK(RunTimeSize{"n", 1, 0, 0}.nominal() == 1024);
  CHECK(RunTimeSize{"n", 3, 0, 0}.nominal() == 1026);
  const auto names = [](const Param& p) {
    std::string out;
    for (const StrideArgument& a : stride_arguments(p))
      out += fmt::format("{}:{} ", a.name, a.axis);
    return out;
  };
  CHECK(names(spec.params[0]) == "a_stride0:0 a_stride1:1 ");
  CHECK(names(spec.params[1]) == "");
  CHECK(names(spec.result()) == "out_stride0:0 out_stride2:2 ");
  // Rows of which callers say how far apart they are: an odd number of lines. Others follow from
  // nominal sizes.
  const Computation& c = spec.computation();
  CHECK(c.operands[0].strides == std::vector<Stride>{{64 * 48 + 16, true}, {48, true}, {1, false}});
  CHECK(c.operands[1].strides == std::vector<Stride>{{8 * 48, true}, {48, true}, {1, false}});
  CHECK(with_extents(c, {2, 6, 5, 8}).operands[1].shape == std::vector<i64>{2, 8, 5});
  CHECK(with_extents(c, {2, 6, 5, 8}).operands[1].strides == c.operands[1].strides);
  CHECK(run_time_size(c, 0) == nullptr);
  CHECK(run_time_size(c, 1)->name == "m");
  // No size makes rows adjacent, or as far apart as what lies in them.
  const auto strides = [](std::string_view text) {
    return parsed(text).computation().operands[0].strides;
  };
  CHECK(strides("(a: f32[9,n near 1]): f32 = a + a") ==
        std::vector<Stride>{{48, true}, {1, false}});
  CHECK(strides("(a: f32[9,n near 15]): f32 = a + a") ==
        std::vector<Stride>{{48, true}, {1, false}});
  CHECK(strides("(a: f32[9,n near 16]): f32 = a + a") ==
        std::vector<Stride>{{16, true}, {1, false}});
  CHECK(strides("(a: f32[9,n near 1,32]): f32 = a + a") ==
        std::vector<Stride>{{48, true}, {32, false}, {1, false}});
}

TEST_CASE("the accumulation type follows from the types") {
  CHECK(parsed("(a: u8[2,2], b: i8[2,2]): i32 = matmul(a, b)").computation().compute == Dtype::i32);
  CHECK(parsed("(a: bf16[2,2]): bf16 = matmul(a, a)").computation().compute == Dtype::f32);
  CHECK(parsed("(a: i32[2]): i32 = a + a").computation().compute == Dtype::i32);
  CHECK(parsed("(a: i32[2]): f32 = a + a").computation().compute == Dtype::f32);
  CHECK(parsed("(a: i8[2]): f32 = convert(a)").computation().compute == Dtype::f32);
  CHECK(parsed("(a: i8[2]): i32 = reduce_sum(a, axis=0)").computation().compute == Dtype::i32);
}

TEST_CASE("random specs: what prints parses") {
  constexpr std::uint64_t kSeed = 7;
  Random random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_spec(random);
    CAPTURE(kSeed);
    CAPTURE(round);
    CAPTURE(text);
    const KernelSpec spec = parsed(text);
    const KernelSpec again = parsed(spec.str());
    REQUIRE(again == spec);
    REQUIRE(again.str() == spec.str());
  }
}

TEST_CASE("expressions have an end") {
  const auto text = [](const std::string& body) {
    const auto spec = parse_spec("(x: f32[4]): f32 = " + body);
    return spec ? std::string() : spec.error().text;
  };
  const auto times = [](int n, const std::string& what) {
    std::string out;
    for (int i = 0; i < n; ++i) out += what;
    return out;
  };
  CHECK(text("x" + times(95, " + x")) == "");
  CHECK(text("x" + times(256, " + x")) == "this takes 97 terms; at most 96 are supported");
  for (const int n : {257, 100000}) {
    CAPTURE(n);
    CHECK(text("x" + times(n, " + x")) == "this is too long; at most 256 operators in a kernel");
    CHECK(text(times(n, "(") + "x + x" + times(n, ")")) ==
          "this is nested too deeply; at most 64 levels");
    CHECK(text(times(n, "-") + "x") == "this is nested too deeply; at most 64 levels");
    CHECK(text(times(n, "relu(") + "x" + times(n, ")")) ==
          "this is nested too deeply; at most 64 levels");
  }
}

TEST_CASE("files with several kernels") {
  const auto file = parse_spec_file(
      "# two kernels\n"
      "f(a: f32[2]): f32 = a + a   # ends here\n"
      "g(a: f32[2]): f32 = add(a, a) h(a: f32[3]): f32 = convert(a)\n",
      "k.spec");
  REQUIRE(file.ok());
  REQUIRE(file->size() == 3);
  CHECK((*file)[0].str() == "f(a: f32[2]): f32[2] = add(a, a)");
  CHECK((*file)[1].str() == "g(a: f32[2]): f32[2] = add(a, a)");
  CHECK((*file)[2].str() == "h(a: f32[3]): f32[3] = convert(a)");
}

TEST_CASE("names") {
  for (const char* good :
       {"a", "A", "x1", "ffw_2", "in", "matmul", "f32", "row", "packed", "final"})
    CHECK(name_problem(good).empty());
  for (const char* bad :
       {"",        "1a",       "a-b", "a b",  "\xc3\xa9",  "int", "and_eq", "co_await",
        "char8_t", "requires", "out", "pool", "workspace", "std", "linux",  "inf",
        "morello", "morello2", "_a",  "_A",   "a__b",      "__a"})
    CHECK_FALSE(name_problem(bad).empty());
}

TEST_CASE("the operator table") {
  std::string names;
  for (const OpDef* op : op_table()) {
    names += std::string(op->name) + " ";
    CHECK(find_op(op->name) == op);
    CHECK(op->usage.starts_with(std::string(op->name) + "("));
  }
  CHECK(names ==
        "matmul conv2d reduce_sum reduce_max reduce_min reduce_mean add sub mul div max min neg lt "
        "le gt "
        "ge eq ne select exp tanh erf log sqrt rsqrt sigmoid relu silu gelu gelu_tanh convert "
        "broadcast spread softmax rms_norm layer_norm transpose pad ");
  CHECK(find_op("conv") == nullptr);
}

}  // namespace
}  // namespace morello
