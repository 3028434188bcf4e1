// Hand-written programs against the meaning of their specs. Random ones: random_programs_test.cc.

#include "fixture.h"

namespace morello {
namespace {

struct Row {
  std::string_view what, spec, family;
  int threads;
  std::string_view program;
};

constexpr std::string_view kMatmul = "(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)";
constexpr std::string_view k6x16 = "fma_f32x8 lane=n quantum=m:6,n:16";

constexpr Row kRows[] = {
    {"remainders in every dim", kMatmul, k6x16, 1,
     "loop m by 6\n"
     "  body\n"
     "    loop n by 16\n"
     "      body\n"
     "        split k by 4\n"
     "          first\n            call\n"
     "          body\n            call\n"
     "          rest 3\n            call\n"
     "      rest 5\n"
     "        call\n"
     "  rest 1\n"
     "    loop n by 16\n"
     "      body\n        call\n"
     "      rest 5\n        split k by 10\n"
     "          first\n            call\n"
     "          rest 9\n            call\n"},
    {"everything packed, k split above", kMatmul, k6x16, 1,
     "split k by 8\n"
     "  first\n"
     "    copy b to L3\n"
     "      copy a to L2\n"
     "        copy out to L1\n"
     "          loop n by 16\n"
     "            body\n"
     "              loop m by 6\n"
     "                body\n                  call ahead b 256\n"
     "                rest 1\n                  call\n"
     "            rest 5\n"
     "              loop m by 6\n"
     "                body\n                  call\n"
     "                rest 1\n                  call\n"
     "  body\n"
     "    copy out to L3\n"
     "      loop m by 6\n"
     "        body\n          copy a to L2\n            loop n by 16\n"
     "              body\n                copy b to L1\n                  call\n"
     "              rest 5\n                call\n"
     "        rest 1\n          loop n by 16\n"
     "            body\n              call\n"
     "            rest 5\n              call\n"
     "  rest 3\n"
     "    loop n by 10\n"
     "      body\n        loop m by 1\n          call\n"
     "      rest 7\n        loop m by 1\n          call\n"},
    {"fill, then add", kMatmul, k6x16, 1,
     "block\n"
     "  fill\n"
     "  split k by 5\n"
     "    body\n"
     "      loop n by 16\n"
     "        body\n          loop m by 5\n"
     "            body\n              call\n"
     "            rest 2\n              call\n"
     "        rest 5\n          loop m by 4\n"
     "            body\n              call\n"
     "            rest 3\n              call\n"
     "    rest 4\n"
     "      loop n by 16\n"
     "        body\n          loop m by 1\n            call\n"
     "        rest 5\n          loop m by 1\n            call\n"},
    {"fill a copy", kMatmul, k6x16, 1,
     "copy out to L2\n"
     "  block\n"
     "    fill\n"
     "    loop n by 12\n"
     "      body\n        loop m by 1\n          call\n"
     "      rest 1\n        loop m by 1\n          call\n"},
    {"parallel, views", kMatmul, k6x16, 3,
     "view a to L3\n"
     "  parallel n by 16\n"
     "    body\n"
     "      view b to L2\n"
     "        view a to L1\n"
     "          loop m by 6\n"
     "            body\n              view out to L1\n                call\n"
     "            rest 1\n              call\n"
     "    rest 5\n"
     "      loop m by 6\n"
     "        body\n          call\n"
     "        rest 1\n          call\n"},
    {"tasks over two dims, rest of the rest", kMatmul, k6x16, 4,
     "parallel m by 4 leaving 2\n"
     "  body\n"
     "    parallel n by 16\n"
     "      body\n        copy b to L1\n          call\n"
     "      rest 5\n        call\n"
     "  rest 3\n"
     "    parallel n by 32\n"
     "      body\n        loop n by 16\n          call\n"
     "      rest 5\n        call\n"},
    {"shares of a reduction", kMatmul, k6x16, 3,
     "parallel split k by 8\n"
     "  body\n    loop m by 6\n"
     "      body\n        loop n by 16\n          body\n            call\n"
     "          rest 5\n            call\n"
     "      rest 1\n        loop n by 16\n          body\n            call\n"
     "          rest 5\n            call\n"
     "  rest 3\n    loop m by 1\n      loop n by 16\n"
     "        body\n          call\n        rest 5\n          call\n"},
    {"shares of a reduction, each divided further, in copies of a copy",
     "(a: bf16[3,10], b: bf16[10,37]): bf16 = matmul(a, b)", "fma_f32x8 lane=n quantum=m:3,n:16", 4,
     "copy out to L2\n  copy a to L2\n    copy b to L2\n      parallel split k by 6 leaving 2\n"
     "        body\n          parallel n by 32\n            body\n              loop n by 16\n"
     "                call\n            rest 5\n              call\n"
     "        rest 4\n          parallel n by 16\n            body\n              call\n"
     "            rest 5\n              call\n"},
    {"packed by the user, tiles of several panels",
     "(a: f32[7,19], b: f32[19,37] packed): f32 col = matmul(a, b)",
     "fma_f32x8 lane=m quantum=m:8,n:8", 1,
     "copy a to L1\n"
     "  loop n by 16\n"
     "    body\n"
     "      split k by 7\n"
     "        first\n          loop n by 8\n            call\n"
     "        body\n          loop n by 8\n            call\n"
     "        rest 5\n          loop n by 8\n            copy out to L1\n"
     "              call\n"
     "    rest 5\n"
     "      call\n"},
    {"bf16, even and odd lanes, f32 buffer for a bf16 output",
     "(a: bf16[9,10] col, b: bf16[10,37] packed): bf16 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_f32x8 b=load_bf16x8x2", 1,
     "copy out to L2\n"
     "  split k by 3\n"
     "    first\n      copy a to L1\n        loop n by 16\n"
     "          body\n            loop m by 4\n"
     "              body\n                call\n              rest 1\n                call\n"
     "          rest 5\n            loop m by 4\n"
     "              body\n                call\n              rest 1\n                call\n"
     "    body\n      copy a to L1\n        loop n by 16\n"
     "          body\n            loop m by 4\n"
     "              body\n                call\n              rest 1\n                call\n"
     "          rest 5\n            loop m by 4\n"
     "              body\n                call\n              rest 1\n                call\n"
     "    rest 1\n      loop m by 1\n        copy a to L1\n          loop n by 16\n"
     "            body\n              call\n            rest 5\n              call\n"},
    {"packed bf16 that the kernel wants as f32",
     "(a: f32[1,10], b: bf16[10,37] packed): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=n:40,k:2 a=broadcast_f32x8 b=load_f32x8", 1,
     "split k by 4\n"
     "  first\n    copy b to L1\n      call\n"
     "  body\n    copy b to L2\n      call\n"
     "  rest 2\n    copy b to L3\n      split k by 1\n        call\n"},
    {"pairs along k", "(a: u8[3,19], b: i8[19,20]): i32 = matmul(a, b)",
     "madd_i16x16 lane=n quantum=m:3,n:24,k:2 a=broadcast_u8x8x2 b=load_i16x8x2", 1,
     "copy b to L2\n"
     "  copy a to L1\n"
     "    split k by 6\n"
     "      first\n        call\n"
     "      body\n        call\n"
     "      rest 1\n        call\n"},
    {"lanes along k", "(a: f32[5,37], b: f32[37,9] col): f32 = matmul(a, b)",
     "dot_f32x8 lane=k quantum=m:2,n:4,k:8", 1,
     "copy b to L2\n"
     "  loop m by 2\n"
     "    body\n"
     "      split k by 16\n"
     "        first\n          loop n by 4\n"
     "            body\n              call\n            rest 1\n              call\n"
     "        body\n          loop n by 8\n"
     "            body\n              loop n by 4\n                call\n"
     "            rest 1\n              call\n"
     "        rest 5\n          loop n by 4\n"
     "            body\n              call\n            rest 1\n              call\n"
     "    rest 1\n      loop n by 4\n"
     "        body\n          call\n        rest 1\n          call\n"},
    {"rows far apart", "(a: f32[5,37], b: f32[37,24] col, c: f32[24]): f32 = matmul(a, b) + c",
     "dot_f32x8 lane=k quantum=m:2,n:4,k:8 apart=n", 2,
     "parallel n by 16\n"
     "  body\n"
     "    loop m by 2\n"
     "      body\n        loop n by 4\n          call\n"
     "      rest 1\n        copy a to L1\n          loop n by 8\n            loop n by 4\n"
     "              call\n"
     "  rest 8\n"
     "    loop n by 4\n      loop m by 2\n"
     "        body\n          call\n        rest 1\n          call\n"},
    {"shares of a reduction, rows far apart",
     "(a: f32[1,40], b: f32[9,40]): f32 = matmul(a, transpose(b))",
     "dot_f32x8 lane=k quantum=n:3,k:32 apart=n", 2,
     "parallel split k by 20\n  loop n by 3\n    split k by 16\n"
     "      first\n        call\n      rest 4\n        call\n"},
    {"batch", "(a: f32[3,5,7] col, b: f32[7,9]): f32 = matmul(a, b)", "fma_f32x8 lane=n", 4,
     "parallel b by 2\n"
     "  body\n    loop b by 1\n      loop m by 1\n        loop n by 8\n"
     "          body\n            call\n          rest 1\n            call\n"
     "  rest 1\n    loop m by 1\n      loop n by 8\n"
     "        body\n          call\n        rest 1\n          call\n"},
    {"elementwise, one operand transposed", "(x: f32[5,7], y: f32[5,7] col): f32 = add(x, y)",
     "map_f32x8 lane=i1", 1, "loop i0 by 1\n  copy y to L1\n    call\n"},
    {"elementwise in flat strips", "(x: f32[5,7], y: f32[5,7]): f32 = mul(x, y)", "map_f32x8", 2,
     "parallel i by 8\n  body\n    call\n  rest 3\n    call\n"},
    {"the same operand twice", "(x: f32[35]): f32 = add(x, x)", "map_f32x8", 1,
     "loop i by 20\n  body\n    copy x to L1\n      call\n  rest 15\n    call\n"},
    {"convert", "(x: f32[35]): bf16 = convert(x)", "map_f32x8", 1, "copy x to L1\n  call\n"},
    {"sum over the middle axis", "(x: f32[5,7,11]): f32 = reduce_sum(x, axis=1)",
     "sum_f32x8 lane=i1 quantum=i1:16", 1,
     "split k by 2\n"
     "  first\n    loop i0 by 1\n      call\n"
     "  body\n    loop i0 by 1\n      call\n"
     "  rest 1\n    loop i0 by 2\n"
     "      body\n        loop i0 by 1\n          call\n      rest 1\n        call\n"},
    {"sum over the last axis", "(x: f32[5,37]): f32 = reduce_sum(x, axis=1)", "hsum_f32x8", 1,
     "loop i by 1\n  split k by 10\n    first\n      call\n    body\n      call\n"
     "    rest 7\n      call\n"},
    {"1x1x1", "(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)", "fma_f32", 1, "call\n"},
};

TEST_CASE("programs compute what their specs mean") {
  for (const Row& row : kRows) {
    CAPTURE(row.what);
    const auto f = test::fixture(row.spec, row.family, row.threads);
    const ImplPtr impl = test::program(f.problem, row.program);
    const std::string why = verify(f.problem, f.problem.root(), *impl);
    CHECK(why == "");
    if (!why.empty()) continue;
    test::Random random(7);
    const auto inputs = test::random_inputs(f.computation(), random);
    CHECK(interpret(f.problem, *impl, inputs) == evaluate(f.computation(), inputs));
  }
}

TEST_CASE("integer sums wrap like the output type") {
  const auto f = test::fixture("(a: i32[3]): i32 = reduce_sum(a, axis=0)", "sum_i32");
  const std::vector<std::vector<double>> inputs{{2147483647.0, 1.0, 5.0}};
  const std::vector<double> out = interpret(f.problem, *test::program(f.problem, "call"), inputs);
  CHECK(out == std::vector<double>{-2147483643.0});
  CHECK(out == evaluate(f.computation(), inputs));
}

}  // namespace
}  // namespace morello
