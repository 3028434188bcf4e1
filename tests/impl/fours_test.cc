// How many rows of a tile are broadcast in fours: where loads keep a leaf waiting, as many as end
// that or as registers are left for.
#include "impl/fours.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "spec/kernel_spec.h"
#include "target/machine.h"

namespace morello {
namespace {

struct Row {
  std::string_view operands, value, family, machine;
  i64 rows;
};

constexpr Row kRows[] = {
    // Nine loads for eight multiply-adds. (Per step on a Zen 5: 9 / 1.8 cycles, with three rows in
    // fours (9 - 9 / 4) / 1.8 and (8 + 3) / 2.64; on others two loads a cycle and three vectors.)
    {"a: f32[8,8], b: f32[8,8]", "matmul(a, b)", "m:8,n:8 a=broadcast_f32x8", "zen5", 3},
    {"a: f32[8,8], b: f32[8,8]", "matmul(a, b)", "m:8,n:8 a=broadcast_f32x8", "haswell", 4},
    {"a: f32[8,8], b: f32[8,8]", "matmul(a, b)", "m:8,n:8 a=broadcast_f32x8", "zen4", 2},
    // Of sixteen registers fourteen are taken.
    {"a: f32[12,64], b: f32[64,8]", "matmul(a, b)", "m:12,n:8 a=broadcast_f32x8", "zen5", 2},
    {"a: f32[16,16], b: f32[16,16]", "matmul(a, b)", "m:16,n:16 a=broadcast_f32x16", "zen5", 5},
    {"a: f32[6,256], b: f32[256,16]", "matmul(a, b)", "m:6,n:16,k:2 a=broadcast_f32x16", "zen5", 2},
    // Shuffles share one of the pipes for multiply-adds of 512 bits, of which there are two.
    {"a: f32[16,16], b: f32[16,16]", "matmul(a, b)", "m:16,n:16 a=broadcast_f32x16",
     "graniterapids", 0},
    {"a: f32[16,16], b: f32[16,16]", "matmul(a, b)", "m:16,n:16 a=broadcast_f32x16", "x86-64-v3",
     0},
    {"a: f32[8,8], b: f32[8,8]", "matmul(a, b)", "m:8,n:8 a=broadcast_f32x8", "x86-64-v3", 4},
    // Two vectors to a row: eight loads for twelve multiply-adds.
    {"a: f32[6,64], b: f32[64,16]", "matmul(a, b)", "m:6,n:16 a=broadcast_f32x8", "zen5", 0},
    // Not side by side along the sum, or fewer than four of them; other types.
    {"a: f32[64,8], b: f32[64,8]", "matmul(transpose(a), b)", "m:8,n:8 a=broadcast_f32x8", "zen5",
     0},
    {"a: f32[8,3], b: f32[3,8]", "matmul(a, b)", "m:8,n:8 a=broadcast_f32x8", "zen5", 0},
    {"a: bf16[8,64], b: f32[64,8]", "matmul(a, b)", "m:8,n:8 a=broadcast_bf16x8", "zen5", 0},
};

TEST_CASE("rows that are broadcast in fours") {
  for (const Row& row : kRows) {
    const bool wide = row.family.ends_with("x16");
    const std::string lanes = wide ? "16" : "8";
    CAPTURE(row.operands);
    CAPTURE(row.machine);
    const KernelSpec k = *parse_spec(fmt::format("({}): f32 = {}", row.operands, row.value));
    const Computation& c = k.computation();
    const Result<Family> f =
        parse_family(fmt::format("fma_f32x{0} lane=n quantum={1} b=load_f32x{0} out=store_f32x{0}",
                                 lanes, row.family),
                     c, *find_isa(wide ? "avx512" : "avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    Extents whole{};
    whole.fill(1);
    for (size_t d = 0; d < c.dims.size(); ++d) whole[d] = c.dims[d].extent;
    const Machine machine = *load_machine(std::string(row.machine));
    const i64 bits = wide ? 512 : 256;
    const auto rows = [&] {
      const int o = broadcast_in_fours(*f, c);
      return o < 0 ? 0 : rows_in_fours(*f, c, o, machine.pipes(bits), whole);
    };
    CHECK(rows() == row.rows);
    // Of three steps.
    const int inner = inner_reduction(*f, c);
    whole[static_cast<size_t>(inner)] = 3;
    CHECK(rows() == 0);
  }
}

}  // namespace
}  // namespace morello
