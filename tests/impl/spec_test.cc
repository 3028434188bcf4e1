#include "impl/spec.h"

#include "fixture.h"

namespace morello {
namespace {

struct RootRow {
  std::string_view spec, family;
  int threads;
  std::string_view root;
};

constexpr RootRow kRoots[] = {
    {"(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)", "fma_f32x8 lane=n quantum=m:6,n:16", 1,
     "m=7 n=37 k=19 a@mem b@mem out@mem"},
    {"(a: f32[7,19], b: f32[19,37] packed): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=m:6,n:16", 4, "m=7 n=37 k=19 a@mem b@mem packed out@mem threads=4"},
    // The kernel reads bf16 panels: the packer's buffer is what it wants.
    {"(a: bf16[1,64], b: bf16[64,40] packed): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=n:40,k:2 a=broadcast_f32x8 b=load_bf16x8", 1,
     "m=1 n=40 k=64 a@mem b@mem packed out@mem"},
    // The kernel reads f32 panels and the packer does not convert.
    {"(a: bf16[1,64], b: bf16[64,40] packed): f32 = matmul(a, b)",
     "fma_f32x8 lane=n quantum=n:40,k:2 a=broadcast_f32x8 b=load_f32x8", 1,
     "m=1 n=40 k=64 a@mem b@mem out@mem"},
    {"(a: f32[5,7,11]): f32 = reduce_sum(a, axis=1)", "sum_f32x8 lane=i1", 1,
     "i0=5 i1=11 k=7 a@mem out@mem"},
};

TEST_CASE("root") {
  for (const RootRow& row : kRoots) {
    CAPTURE(row.spec);
    const auto f = test::fixture(row.spec, row.family, row.threads);
    CHECK(str(f.problem.root(), f.computation()) == row.root);
  }
}

// With a machine, a kernel is called with its operands in the nearest cache of which seven
// eighths hold them, or as much as the machine file says.
TEST_CASE("root of a machine with caches") {
  Machine machine;
  machine.levels[kL1].bytes = 1 << 15;
  machine.levels[kL2].bytes = 1 << 19;
  machine.levels[kL3].bytes = 1 << 24;
  struct Row {
    std::string_view spec, root;
  };
  for (const Row& row : {Row{"(x: f32[3584]): f32 = convert(x)", "i=3584 x@L1 out@L1"},
                         Row{"(x: f32[3585]): f32 = convert(x)", "i=3585 x@L2 out@L2"},
                         Row{"(x: f32[57344]): f32 = convert(x)", "i=57344 x@L2 out@L2"},
                         Row{"(x: f32[57345]): f32 = convert(x)", "i=57345 x@L3 out@L3"},
                         Row{"(x: f32[1835009]): f32 = convert(x)", "i=1835009 x@mem out@mem"}}) {
    CAPTURE(row.spec);
    auto f = test::fixture(row.spec, "map_f32x8");
    f.problem.machine = &machine;
    const Spec root = f.problem.root();
    CHECK(str(root, f.computation()) == row.root);
    CHECK(test::hole_spec(f.problem, row.root) == root);
  }
  machine.levels[kL3].kept_percent = 50;  // 8 MiB
  for (const auto& [spec, level] : {std::pair("(x: f32[1048576]): f32 = convert(x)", kL3),
                                    std::pair("(x: f32[1048577]): f32 = convert(x)", kMemory)}) {
    auto f = test::fixture(spec, "map_f32x8");
    f.problem.machine = &machine;
    CHECK(f.problem.root().place[0].level == level);
  }
}

TEST_CASE("text of a Spec parses") {
  const auto f = test::fixture("(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)",
                               "fma_f32x8 lane=n quantum=m:6,n:16", 2);
  for (const char* text :
       {"m=7 n=37 k=19 a@mem b@mem out@mem", "m=6 n=16 k=512 a@L2 packed b@L1 packed out@L2 acc",
        "m=1 n=1 k=1 a@reg b@L3 out@mem packed acc threads=2", "m=1 n=1 k=1 a@mem b@mem out@mem"}) {
    CHECK(str(test::hole_spec(f.problem, text), f.computation()) == text);
  }
}

// An operand the user has packed lies in the family's order from the start, in its own dtype.
TEST_CASE("root addresses and dtypes") {
  for (const char* load : {"b=load_bf16x8", "b=load_f32x8"}) {
    const auto f = test::fixture("(a: bf16[2,64], b: bf16[64,36] packed): f32 = matmul(a, b)",
                                 fmt::format("fma_f32x8 lane=n quantum=m:2,n:32 "
                                             "a=broadcast_f32x8 {}",
                                             load));
    const AddressMap b = f.problem.root_address(1);
    CHECK(b == f.problem.family.packed[1].address({2, 36, 64, 1, 1, 1}));
    CHECK(b.elements == 64 * 64);
    CHECK(f.problem.root_address(0) == given_address(f.computation(), 0));
    CHECK(f.problem.place_dtype(0, false) == Dtype::bf16);
    CHECK(f.problem.place_dtype(0, true) == Dtype::f32);
    CHECK(f.problem.place_dtype(1, false) == Dtype::bf16);
    CHECK(f.problem.place_dtype(2, true) == Dtype::f32);
  }
}

TEST_CASE("packed_bytes counts padding, in the packed dtype") {
  const auto f =
      test::fixture("(a: bf16[64,64], b: bf16[64,64]): bf16 = matmul(a, b)",
                    "fma_f32x8 lane=n quantum=m:4,n:16 a=broadcast_f32x8 b=load_bf16x8x2");
  CHECK(f.problem.packed_bytes(0, {5, 16, 10, 1, 1, 1}) == 8 * 10 * 4);
  CHECK(f.problem.packed_bytes(1, {5, 17, 10, 1, 1, 1}) == 32 * 10 * 2);
  CHECK(f.problem.packed_bytes(2, {5, 17, 10, 1, 1, 1}) == 5 * 17 * 4);
}

}  // namespace
}  // namespace morello
