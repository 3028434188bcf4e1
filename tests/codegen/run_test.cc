// Emitted code against the meaning of its spec: compiled with every warning an error, run with
// buffers between guard pages.

#include "harness.h"
#include "long.h"
#include "random_program.h"

namespace morello {
namespace {

using test::Kernel;

struct Row {
  std::string_view spec, isa, family;
  int threads;
  std::string_view program;
};

constexpr Row kRows[] = {
    {"(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)", "avx2",
     "fma_f32x8 lane=n quantum=m:6,n:16", 1,
     "split k by 8\n"
     "  first\n"
     "    copy b to L3\n      copy a to L2\n        copy out to L1\n          loop n by 16\n"
     "            body\n              loop m by 6\n"
     "                body\n                  call ahead b 256\n"
     "                rest 1\n                  call\n"
     "            rest 5\n              loop m by 6\n"
     "                body\n                  call\n"
     "                rest 1\n                  call\n"
     "  body\n"
     "    loop m by 6\n"
     "      body\n        copy a to L2\n          loop n by 16\n"
     "            body\n              copy b to L1\n                call\n"
     "            rest 5\n              call\n"
     "      rest 1\n        loop n by 16\n"
     "          body\n            call\n          rest 5\n            call\n"
     "  rest 3\n"
     "    loop n by 16\n"
     "      body\n        loop m by 1\n          call\n"
     "      rest 5\n        loop m by 1\n          call\n"},
};

// Past the caches, for every type that can: in whole vectors and parts of them, by tasks, where
// rows begin at multiples of 16 bytes and, at the end of a page, the tensor does or does not.
constexpr Row kStreamingRows[] = {
    {"(x: f32[77]): f32 = x * x", "avx2", "map_f32x8 lane=i", 1,
     "loop i by 32\n  body\n    call streaming\n  rest 13\n    call streaming\n"},
    {"(x: f32[128]): f32 = x * x", "avx512", "map_f32x16 lane=i", 2,
     "parallel i by 64\n  call streaming\n"},
    {"(x: f32[3,36], y: f32[36]): f32 = x * y", "avx2", "map_f32x8 lane=i1", 1,
     "loop i0 by 1\n  loop i1 by 8\n    body\n      call streaming\n"
     "    rest 4\n      call streaming\n"},
    {"(x: f32[80]): bf16 = convert(x)", "avx2", "map_f32x8 lane=i", 1,
     "loop i by 8\n  call streaming\n"},
    {"(x: f32[83]): f16 = convert(x)", "avx512", "map_f32x16 lane=i", 1,
     "loop i by 16\n  body\n    call streaming\n  rest 3\n    call streaming\n"},
    {"(x: f32[96]): bf16 = convert(x)", "avx512", "map_f32x16 lane=i", 3,
     "parallel i by 32\n  call streaming\n"},
    {"(x: i32[50]): i32 = x * x", "avx512", "map_i32x16 lane=i", 1,
     "loop i by 16\n  body\n    call streaming\n  rest 2\n    call streaming\n"},
    {"(x: i32[40]): i16 = convert(x)", "avx2", "map_i32x8 lane=i", 1,
     "loop i by 8\n  call streaming\n"},
};

size_t times(std::string_view text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_CASE("what is stored past the caches") {
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const Row& row : kStreamingRows) {
    CAPTURE(row.spec);
    kernels.push_back(
        std::make_unique<Kernel>(row.spec, fmt::format("k{}", kernels.size()), row.threads));
    kernels.back()->add(row.isa, row.family, row.program);
    // The program ends with a fence or its tasks do.
    const std::string text = emit_header({kernels.back()->code}, {}).header;
    CHECK(times(text, "_mm_sfence();\n}\n") == 1);
    CHECK(times(text, "_mm_sfence();") == 1);
  }
  for (const char* compiler : {MORELLO_TEST_CXX, MORELLO_TEST_CLANG})
    if (*compiler != '\0')
      CHECK(test::compile_and_run(kernels, {compiler, "-std=c++17 -O2"}, "streaming") == "");
}

// Rows that leaves take as one run: many periods, less than one, vectors that are not whole, and
// more of them in a period than are written out.
constexpr Row kJoinedRows[] = {
    {"(x: f32[1400,3], m: f32[3], d: f32[3]): f32 = (x - m) * d", "avx2",
     "map_f32x8 lane=i1 quantum=i0:1368,i1:3", 1,
     "loop i0 by 1368\n  body\n    call ahead x 256\n  rest 32\n    call\n"},
    {"(x: f32[1400,3], m: f32[3], d: f32[3]): f32 = (x - m) * d", "avx512",
     "map_f32x16 lane=i1 quantum=i0:1376,i1:3", 1, "loop i0 by 100\n  call ahead out 0\n"},
    {"(x: f32[7,5], y: f32[5]): bf16 = tanh(x + y)", "avx2", "map_f32x8 lane=i1 quantum=i0:7,i1:5",
     1, "call\n"},
    {"(x: u8[90,49], y: bf16[49], z: f32[90,49], w: f32[1]): f16 = x * y + z * w", "avx2",
     "map_f32x8 lane=i1 quantum=i0:88,i1:49", 1,
     "loop i0 by 88\n  body\n    call\n  rest 2\n    call\n"},
    {"(x: i32[4,50,17], y: i32[17]): i32 = max(x, y)", "avx2",
     "map_i32x8 lane=i1 quantum=i0:200,i1:17", 2,
     "parallel i0 by 43\n  body\n    call\n  rest 28\n    call\n"},
    {"(x: f32[3,4,70] order(0, 2, 1), y: f32[4]): f32 order(0, 2, 1) = "
     "x + broadcast(y, axis=1) * 2",
     "avx2", "map_f32x8 lane=i1 quantum=i1:4,i2:70", 1, "loop i0 by 1\n  call\n"},
    // One number for each row.
    {"(x: f32[1401,3], s: f32[1401]): f32 = x * broadcast(s, axis=1)", "avx2",
     "map_f32x8 lane=i1 quantum=i0:1368,i1:3", 1,
     "loop i0 by 1368\n  body\n    call\n  rest 33\n    call\n"},
    {"(x: f32[301,7], s: f32[301], m: f32[7]): bf16 = x * broadcast(s, axis=1) + m", "avx512",
     "map_f32x16 lane=i1 quantum=i0:301,i1:7", 1,
     "loop i0 by 100\n  body\n    call\n  rest 1\n    call\n"},
    {"(x: i32[5,2], s: i32[5]): i32 = max(x, broadcast(s, axis=1))", "avx2",
     "map_i32x8 lane=i1 quantum=i0:5,i1:2", 1, "call\n"},
    {"(x: i32[61,5], s: i32[61]): i32 = x * broadcast(s, axis=1)", "avx512",
     "map_i32x16 lane=i1 quantum=i0:61,i1:5", 2,
     "parallel i0 by 20\n  body\n    call\n  rest 1\n    call\n"},
};

// Lanes that are summed: fours that are stored at once, of which some are three; what is made of
// them; sums that go on; rows apart, columns of a result and copies, which are stored one by one.
constexpr Row kFoldedRows[] = {
    {"(x: f32[29,8]): f32 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8 lane=k quantum=i:8,k:8", 1,
     "loop i by 8\n  body\n    call\n  rest 5\n    call\n"},
    {"(x: f32[31,13]): f32 = reduce_max(x, axis=1)", "avx512",
     "hmax_f32x16 lane=k quantum=i:8,k:16", 1,
     "loop i by 8\n  body\n    call\n  rest 7\n    call\n"},
    // Operands that are loaded one by one, whether there is a NaN or none.
    {"(x: f32[9,13], y: f16[9], z: i32[1]): f32 = reduce_max(x, axis=1) * y + convert(z)", "avx2",
     "hmax_f32x8 lane=k quantum=i:4,k:16", 1,
     "loop i by 4\n  body\n    call\n  rest 1\n    call\n"},
    // Four at once, and one number for all; y is read by the body, too.
    {"(x: f32[9,13], y: f32[9], z: f16[1]): f32 = "
     "reduce_max(x - broadcast(y, axis=1), axis=1) * y + z",
     "avx2", "hmax_f32x8 lane=k quantum=i:4,k:16", 1,
     "loop i by 4\n  body\n    call\n  rest 1\n    call\n"},
    {"(a: f32[2,24], b: f32[12,24], c: f32[12], d: f32[2,12], e: bf16[1]): f32 = "
     "(matmul(a, transpose(b)) + c) * d - e",
     "avx512", "dot_f32x16 lane=k quantum=m:2,n:12,k:16", 1, "call\n"},
    // Of fours one has the end of a row and the beginning of the next.
    {"(a: f32[2,24], b: f32[6,24], c: f32[6]): f32 = matmul(a, transpose(b)) + c", "avx2",
     "dot_f32x8 lane=k quantum=m:2,n:6,k:8", 1, "call\n"},
    // What lies apart or has another type, beside sums or as a result. The last three of fifteen
    // are a four, too.
    {"(a: f32[2,24], b: f32[12,24], c: f32[2,12] col, d: bf16[12]): f32 = "
     "matmul(a, transpose(b)) * c + d",
     "avx2", "dot_f32x8 lane=k quantum=m:2,n:4,k:8", 1, "loop n by 4\n  call\n"},
    {"(x: f32[15,40], y: f16[15]): bf16 = relu(reduce_sum(x, axis=1) + y)", "avx512",
     "hsum_f32x16 lane=k quantum=i:4", 1, "loop i by 4\n  body\n    call\n  rest 3\n    call\n"},
    {"(x: f32[15,40], y: f32[15]): f32 = relu(reduce_max(x, axis=1) - y)", "avx2",
     "hmax_f32x8 lane=k quantum=i:4", 1, "loop i by 4\n  body\n    call\n  rest 3\n    call\n"},
    {"(a: u8[2,50], b: i8[50,7] col, c: f32[7], d: f32[1]): f32 col = "
     "convert(matmul(a, b)) * c * d + 1",
     "avx512", "dot_i16x32 lane=k quantum=m:2,n:7", 1, "copy a to L1\n  copy b to L1\n    call\n"},
    {"(x: f32[10,40]): f32 = reduce_sum(x * x, axis=1) * 0.5 + 1", "avx2",
     "dot_f32x8 lane=k quantum=i:4,k:16", 1,
     "copy out to L1\n  split k by 16\n    first\n      loop i by 4\n        body\n          call\n"
     "        rest 2\n          call\n    body\n      loop i by 4\n        body\n          call\n"
     "        rest 2\n          call\n    rest 8\n      loop i by 4\n        body\n          call\n"
     "        rest 2\n          call\n"},
    {"(a: f32[2,24], b: f32[24,11] col): f32 = matmul(a, b)", "avx512",
     "dot_f32x16 lane=k quantum=n:8,k:16", 1,
     "loop m by 1\n  split k by 16\n    first\n      loop n by 8\n        body\n          call\n"
     "        rest 3\n          call\n    rest 8\n      loop n by 8\n        body\n          call\n"
     "        rest 3\n          call\n"},
    {"(a: f32[2,24], b: f32[24,12] col): f32 col = matmul(a, b)", "avx2",
     "dot_f32x8 lane=k quantum=m:2,n:4,k:8", 1, "loop n by 4\n  call\n"},
    {"(a: bf16[1,70], b: bf16[70,24] col, c: bf16[24]): bf16 = relu(matmul(a, b) + c)", "avx512",
     "dot_f32x16 lane=k quantum=n:4,k:64 apart=n", 1, "loop n by 4\n  call\n"},
    {"(a: u8[3,50], b: i8[50,7] col): i32 = matmul(a, b)", "avx2",
     "dot_i16x16 lane=k quantum=m:3,n:3,k:16", 2,
     "copy a to L1\n  copy b to L1\n    loop n by 3\n      body\n        call\n      rest 1\n      "
     "  call\n"},
};

// Windows whose elements are loaded once: of neighbouring rows and columns, all taps at once or
// some of them, in steps, with gaps, at the border; in vectors that are not whole, or of other
// types; in a copy, where each window has its own.
constexpr Row kOverlappingRows[] = {
    {"(x: f32[1,9,8,24], k: f32[3,3,1,24]): f32 = conv2d(x, k, groups=24)", "avx2",
     "fma_f32x8 lane=g quantum=h:4,g:16 taps=r:3", 1,
     "loop w by 1\n  loop g by 16\n    body\n      loop h by 4\n        body\n          call\n"
     "        rest 3\n          call\n    rest 8\n      loop h by 4\n        body\n          call\n"
     "        rest 3\n          call\n"},
    {"(x: f32[1,9,8,24], k: f32[3,3,1,24]): f32 = conv2d(x, k, groups=24)", "avx2",
     "fma_f32x8 lane=g quantum=h:5,g:16 taps=r:2", 2,
     "parallel w by 2\n  loop w by 1\n    loop g by 16\n      body\n        loop h by 5\n"
     "          body\n            call\n          rest 2\n            call\n      rest 8\n"
     "        loop h by 5\n          body\n            call\n          rest 2\n            call\n"},
    {"(x: f32[1,9,8,24], k: f32[3,3,1,24]): f32 = conv2d(x, k, groups=24)", "avx2",
     "fma_f32x8 lane=g quantum=w:4,g:16 taps=s:3", 1,
     "loop h by 1\n  loop g by 8\n    loop w by 4\n      body\n        copy x to L1\n"
     "          copy k to L1\n            call\n      rest 2\n        copy x to L1\n          "
     "call\n"},
    {"(x: bf16[1,11,5,21], k: f32[5,2,1,21]): bf16 = conv2d(x, k, stride_h=2, groups=21)", "avx512",
     "fma_f32x16 lane=g quantum=h:4,g:32 taps=r:5 x=load_bf16x16 k=load_f32x16", 1,
     "loop w by 1\n  call\n"},
    {"(x: f32[1,15,4,16], k: bf16[3,2,1,16]): f32 = conv2d(x, k, dilation_h=3, groups=16)", "avx2",
     "fma_f32x8 lane=g quantum=h:8,g:8 taps=r:3 x=load_f32x8 k=load_bf16x8", 1,
     "loop w by 1\n  loop g by 8\n    loop h by 8\n      body\n        call\n      rest 1\n        "
     "call\n"},
    {"(x: f32[2,6,9,19] order(0, 3, 1, 2), k: f32[3,2,1,19]): f32 order(0, 3, 1, 2) = "
     "conv2d(x, k, groups=19)",
     "avx2", "fma_f32x8 lane=w quantum=h:4,w:8 taps=r:3", 1,
     "loop b by 1\n  loop g by 1\n    call\n"},
};

TEST_CASE("hand-written programs") {
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const auto& rows :
       {std::span<const Row>(kRows), std::span<const Row>(kJoinedRows),
        std::span<const Row>(kFoldedRows), std::span<const Row>(kOverlappingRows)})
    for (const Row& row : rows) {
      kernels.push_back(
          std::make_unique<Kernel>(row.spec, fmt::format("k{}", kernels.size()), row.threads));
      kernels.back()->add(row.isa, row.family, row.program);
    }
  CHECK(test::compile_and_run(kernels, {}, "rows") == "");
}

// 255 x -128 everywhere, and the smallest product that saturates 16 bits.
TEST_CASE("u8 x i8 is exact") {
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::vector<std::vector<double>>> inputs;
  for (const auto& values : {std::pair(255.0, -128.0), std::pair(255.0, 127.0)})
    for (const char* family : {"madd_i16x16 lane=n quantum=m:3,n:24,k:2", "mac_i32x8 lane=n"}) {
      kernels.push_back(
          std::make_unique<Kernel>("(a: u8[3,401], b: i8[401,24]): i32 = matmul(a, b)",
                                   fmt::format("k{}", kernels.size()), 1));
      kernels.back()->add("avx2", family, "copy b to L2\n  copy a to L1\n    call\n");
      inputs.push_back({std::vector<double>(3 * 401, values.first),
                        std::vector<double>(401 * 24, values.second)});
    }
  CHECK(test::compile_and_run(kernels, {}, "exact", &inputs) == "");
}

// 255 by the ends of seven bits, on either side: pairs of products fill 16 bits and no more.
struct SevenBits {
  const char *isa, *family, *program;
  bool left;  // a is the i7
};
constexpr const char* kCall = "copy b to L2\n  copy a to L1\n    call\n";
constexpr const char* kOneByOne = "loop m by 1\n  loop n by 1\n    copy b to L2\n      call\n";
constexpr SevenBits kSevenBits[] = {
    {"avx2", "maddubs_u8i7x32 lane=n quantum=m:3,n:24,k:4", kCall, false},
    {"avx2", "dot_u8i7x32 lane=k", kOneByOne, false},
    {"avx2", "madd_i16x16 lane=n quantum=m:3,n:24,k:2", kCall, false},
    {"avx2", "maddubs_i7u8x32 lane=n quantum=m:3,n:24,k:4", kCall, true},
    {"avx2", "dot_i7u8x32 lane=k", kOneByOne, true},
    {"avx512", "maddubs_u8i7x64 lane=n", kCall, false},
    {"avx512", "maddubs_i7u8x64 lane=n", kCall, true},
    {"avx512", "dot_i7u8x64 lane=k", kOneByOne, true},
    {"avx512_vnni", "dpbusd_i8x64 lane=n", kCall, false},
};

TEST_CASE("u8 x i7 is exact") {
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::vector<std::vector<double>>> inputs;
  for (const SevenBits& row : kSevenBits)
    for (const double end : {-64.0, 63.0}) {
      kernels.push_back(
          std::make_unique<Kernel>(row.left ? "(a: i7[3,401], b: u8[401,24]): i32 = matmul(a, b)"
                                            : "(a: u8[3,401], b: i7[401,24]): i32 = matmul(a, b)",
                                   fmt::format("k{}", kernels.size()), 1));
      kernels.back()->add(row.isa, row.family, row.program);
      inputs.push_back({std::vector<double>(3 * 401, row.left ? end : 255),
                        std::vector<double>(401 * 24, row.left ? 255 : end)});
    }
  CHECK(test::compile_and_run(kernels, {}, "seven_bits", &inputs) == "");
}

constexpr Row kLarge = {"(a: f32[50,400], b: f32[400,200]): f32 = matmul(a, b)", "avx2",
                        "fma_f32x8 lane=n quantum=m:6,n:16", 3,
                        "copy b to L3\n  parallel m by 24\n"
                        "    body\n      copy a to L2\n        loop n by 16\n"
                        "          body\n            loop m by 6\n              call\n"
                        "          rest 8\n            loop m by 6\n              call\n"
                        "    rest 2\n      copy a to L2\n        loop n by 16\n"
                        "          body\n            call\n          rest 8\n            call\n"};

TEST_CASE("workspace: shared part and a part for every chunk") {
  std::vector<std::unique_ptr<Kernel>> kernels;
  kernels.push_back(std::make_unique<Kernel>(kLarge.spec, "k", kLarge.threads));
  kernels.back()->add(kLarge.isa, kLarge.family, kLarge.program);
  const std::string text = emit_header({kernels[0]->code}, {}).header;
  // b: 400 x 208 floats; a: three chunks of 24 x 400 floats; room to align.
  CHECK(text.find("workspace_bytes = 448064;") != std::string::npos);
  CHECK(test::compile_and_run(kernels, {}, "workspace") == "");
}

// One kernel with a random program of a random family per instruction set.
std::unique_ptr<Kernel> random_kernel(std::string_view spec, const std::string& name,
                                      test::Random& random) {
  auto k = std::make_unique<Kernel>(spec, name, static_cast<int>(random.between(1, 6)));
  for (const Isa* isa : isa_table()) {
    const std::vector<Family> all = families(k->spec->computation(), *isa);
    if (all.empty()) continue;
    Variant v;
    v.problem.computation = &k->spec->computation();
    v.problem.threads = k->code.threads;
    for (int tries = 0; tries < 20 && !v.impl; ++tries) {
      v.problem.family = all[static_cast<size_t>(random.below(static_cast<i64>(all.size())))];
      v.impl = test::random_program(v.problem, v.problem.root(), random);
    }
    REQUIRE(v.impl);
    const std::string why = verify(v.problem, v.problem.root(), *v.impl);
    REQUIRE(why == "");
    k->code.variants.push_back(v);
  }
  return k;
}

constexpr std::string_view kSpecs[] = {
    "(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)",
    "(a: f32[13,40] col, b: f32[40,21] col): f32 col = matmul(a, b)",
    "(a: f32[6,35] packed, b: f32[35,33] packed): f32 = matmul(a, b)",
    "(a: f32[5,37], b: f32[37,9] col): f32 = matmul(a, b)",
    "(a: bf16[9,34], b: bf16[34,37] packed): f32 = matmul(a, b)",
    "(a: bf16[3,21] col, b: bf16[21,50]): bf16 = matmul(a, b)",
    "(a: bf16[1,70], b: bf16[70,40] col): bf16 col = matmul(a, b)",
    "(a: bf16[2,70], b: bf16[70,36] col, c: f32[36]): bf16 = matmul(a, b) + c",
    "(a: f32[42,37], b: f32[37,1] col): f32 = gelu(matmul(a, b) * 64)",  // exact: erf is 0, 1 or -1
    "(x: f32[1,9,7,24], k: f32[3,3,1,24]): f32 = conv2d(x, k, groups=24)",
    "(x: bf16[2,8,12,17] order(0, 3, 1, 2), k: bf16[4,2,1,17]): bf16 order(0, 3, 1, 2) = "
    "conv2d(x, k, stride_w=2, groups=17)",
    "(x: u8[1,9,7,35], k: i8[5,3,1,35]): i32 = conv2d(x, k, dilation_w=2, groups=35)",
    "(a: f32[8,17], b: bf16[17,24] packed): f32 = matmul(a, b)",
    "(a: bf16[8,17] packed, b: f32[17,24]): f32 = matmul(a, b)",
    "(a: u8[11,29], b: i8[29,26] packed): i32 = matmul(a, b)",
    "(a: u8[3,67], b: i8[67,5] col): i32 col = matmul(a, b)",
    "(a: u8[4,6] packed, b: i8[6,33]): i32 = matmul(a, b)",
    "(a: f32[3,5,7], b: f32[7,19]): f32 = matmul(a, b)",
    "(a: f32[2,5,7], b: f32[2,7,11] packed): f32 col = matmul(a, b)",
    "(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)",
    "(x: f32[9,13], y: f32[9,13]): f32 = add(x, y)",
    "(x: f32[9,13], y: f32[9,13] col): f32 = mul(x, y)",
    "(x: f32[50]): f32 = add(x, x)",
    "(x: i32[5,23], y: i32[5,23]): i32 = add(x, y)",
    "(x: f32[5,37]): bf16 = convert(x)",
    "(x: bf16[5,37]): f32 = convert(x)",
    "(x: i8[77]): f32 = convert(x)",
    "(x: f32[5,7,11]): f32 = reduce_sum(x, axis=1)",
    "(x: f32[5,37]): f32 = reduce_sum(x, axis=1)",
    "(x: f32[37,12]): f32 = reduce_sum(x, axis=0)",
    "(a: f32[9,21], b: f32[21,27], c: f32[27], d: f32[9,27]): f32 = "
    "max(matmul(a, b) * 0.5 + c, 0) - d",
    "(a: bf16[5,19], b: bf16[19,26] packed, c: bf16[5,26] col, d: f32[5]): f32 col = "
    "matmul(a, b) * broadcast(d, axis=1) - c",
    "(a: u8[6,21], b: i8[21,19], s: f32[1]): f32 = matmul(a, b) * s",
    "(a: u8[6,21], b: i8[21,19], c: i32[19], d: i8[6,19]): i32 order(1/4, 0, 1%4) = "
    "min(matmul(a, b), c) + d",
    "(x: f32[5,7], y: f32[5,7] col, z: i32[7]): f32 = -x * y + z",
    "(x: f32[5,37], y: f32[5]): f32 = reduce_sum(x, axis=1) / 4 - y",
};

// Where time is short, half of the specs: of those in even places or in odd ones.
void random_round(std::uint64_t seed, const test::Compiler& compiler, const std::string& name,
                  size_t parity) {
  CAPTURE(seed);
  test::Random random(seed);
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (size_t i = 0; i < std::size(kSpecs); ++i)
    if (has_turn(i + parity, 2))
      kernels.push_back(random_kernel(kSpecs[i], fmt::format("k{}", i), random));
  CHECK(test::compile_and_run(kernels, compiler, name) == "");
}

TEST_CASE("random programs") {
  i64 rounds = kLong ? 3 : 1;
  if (const char* text = std::getenv("MORELLO_TEST_ROUNDS")) rounds = std::atoll(text);
  std::uint64_t first = 1;
  if (const char* text = std::getenv("MORELLO_TEST_SEED"))
    first = static_cast<std::uint64_t>(std::atoll(text));
  for (i64 r = 0; r < rounds; ++r)
    random_round(first + static_cast<std::uint64_t>(r), {}, fmt::format("random{}", r), 0);
  if (*MORELLO_TEST_CLANG != '\0')
    random_round(first + 1000, {MORELLO_TEST_CLANG, "-std=c++20 -O2"}, "random_clang", 1);
}

}  // namespace
}  // namespace morello
