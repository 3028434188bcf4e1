// What is made of sums: where its code stands.
#include "harness.h"

namespace morello {
namespace {

using test::Kernel;

constexpr std::string_view kFamily =
    "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";

struct Row {
  const char* what;
  const char* result;
  const char* program;
  bool apart;        // a function of its own
  const char* leaf;  // what the leaf has
};
const Row kRows[] = {
    {"a few instructions: on accumulators in registers", "max(matmul(a, b) + c, 0)",
     "loop n by 16\n  body\n    call\n  rest 5\n    call\n", false, "_mm256_max_ps("},
    {"what calls helpers: on the tile, once it is in memory", "tanh(matmul(a, b) + c)",
     "loop n by 16\n  body\n    call\n  rest 5\n    call\n", true, "alignas(64) float sums_"},
    {"a copy with sums: as it is written back", "max(matmul(a, b) + c, 0)",
     "copy out to L1\n  split k by 4\n    first\n      loop n by 16\n        body\n          call\n"
     "        rest 5\n          call\n    body\n      loop n by 16\n        body\n          call\n"
     "        rest 5\n          call\n    rest 1\n      loop n by 16\n        body\n          "
     "call\n"
     "        rest 5\n          call\n",
     true, "vfmadd231ps"},
};

// The text of all functions with this stem.
std::string functions(const std::string& header, const std::string& stem) {
  std::string out;
  for (size_t at = header.find(" void " + stem); at != header.npos;
       at = header.find(" void " + stem, at + 1))
    out += header.substr(at, header.find("\n}\n", at) - at);
  return out;
}

TEST_CASE("what finishes sums stands where it does not disturb them") {
  for (const Row& row : kRows) {
    CAPTURE(row.what);
    Kernel k(std::string("(a: f32[6,9], b: f32[9,21], c: f32[21]): f32 = ") + row.result, "f", 1);
    k.add("avx2", kFamily, row.program);
    EmitOptions options;
    options.space = "user";
    options.machine = "test";
    options.header_name = "f.h";
    const std::string header = emit_header({k.code}, options).header;
    const std::string leaf = functions(header, "leaf_"), finish = functions(header, "finish_");
    CHECK(leaf.find(row.leaf) != std::string::npos);
    CHECK(finish.empty() == !row.apart);
    CHECK((header.find("noinline)) static void finish_") != std::string::npos) == row.apart);
    CHECK(leaf.find("tanh_f32x8") == std::string::npos);
    if (row.apart) CHECK(leaf.find("_mm256_max_ps(") == std::string::npos);
  }
}

}  // namespace
}  // namespace morello
