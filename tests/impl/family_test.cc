// Which rows compute what, register tiles that are worth a search, and their sets of accumulators.
#include "impl/family.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "spec/kernel_spec.h"

namespace morello {
namespace {

struct Row {
  const char* spec;
  const char* isa;
  const char* kernel;
  const char* quanta;  // of all families with that kernel
};

constexpr Row kRows[] = {
    // All of the output is one tile: sets as long as the pipes want more accumulators and each has
    // four steps.
    {"(a: f32[6,256], b: f32[256,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "m:6,n:16,k:2"},
    {"(a: f32[1,256], b: f32[256,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "n:16,k:8"},
    {"(a: f32[1,31], b: f32[31,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "n:16,k:4"},
    {"(a: f32[1,7], b: f32[7,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "n:16"},
    {"(a: f32[3,64], b: f32[64,24]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "m:3,n:32,k:2"},
    {"(a: bf16[3,64], b: bf16[64,16]): f32 = matmul(a, b)", "avx512_bf16", "dp_bf16x32",
     "m:3,n:16,k:8"},
    {"(a: f32[100,12]): f32 = reduce_max(a, axis=0)", "avx2", "max_f32x8", "i:16,k:4"},
    // Tiles of eight accumulators keep two pipes busy; a tile that does not hold all of the output
    // grows along it.
    {"(a: f32[8,256], b: f32[256,16]): f32 = matmul(a, b)", "avx512", "fma_f32x16", "m:8,n:16"},
    {"(a: f32[2,100], b: f32[100,33]): f32 = matmul(a, b)", "avx2", "fma_f32x8",
     "m:2,n:32 m:2,n:40"},
    {"(a: f32[9,3,100], b: f32[9,100,8]): f32 = matmul(a, b)", "avx2", "fma_f32x8", "m:3,n:8"},
    // Rows of up to 16 vectors are summed as a whole, where registers allow it: a kernel that looks
    // for NaN takes one more. What goes into one sum only need not be held.
    {"(x: f32[261,100]): f32 = reduce_sum(x, axis=0)", "avx2", "sum_f32x8", "i:104 i:64 i:96"},
    {"(x: f32[261,112]): f32 = reduce_max(x, axis=0)", "avx2", "max_f32x8", "i:64 i:96"},
    {"(x: f32[261,250]): f32 = reduce_sum(x, axis=0)", "avx512", "sum_f32x16", "i:128 i:192 i:256"},
    {"(x: f32[261,260]): f32 = reduce_sum(x, axis=0)", "avx512", "sum_f32x16", "i:128 i:192"},
    {"(x: f32[30,96], y: f32[30,96]): f32 = reduce_sum(x * y, axis=0)", "avx2", "fma_f32x8",
     "i:64 i:96"},
    // What is not summed takes six lines at the most.
    {"(a: f32[9,679], b: f32[679]): f32[9,679] = a + b", "avx512", "map_f32x16", "i1:96"},
    {"(a: f32[9,90], b: f32[90]): f32[9,90] = a + b", "avx512", "map_f32x16", "i1:96"},
    {"(a: f32[9,679], b: f32[679]): f32[9,679] = a + b", "avx2", "map_f32x8", "i1:64 i1:96"},
    // Rows that share nothing but time.
    {"(x: f32[20,370]): f32 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8",
     "i:2,k:32 i:4,k:16 k:64"},
    // Short ones eight at a time, whose lanes are folded.
    {"(x: f32[20,24]): f32 = reduce_sum(x, axis=1)", "avx2", "hsum_f32x8",
     "i:4,k:16 i:4,k:24 i:8,k:8 k:24"},
    {"(x: f32[2,37,5]): f32 = reduce_sum(x, axis=1)", "avx512", "hsum_f32x16",
     "i0:2,k:48 i1:4,k:32 i1:4,k:48 k:48"},
    // Lanes that reduce.
    {"(a: f32[1,256], b: f32[256,1]): f32 = matmul(a, b)", "avx512", "dot_f32x16", "k:128"},
};

TEST_CASE("register tiles") {
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    std::set<std::string> quanta;
    for (const Family& f : families(c, *find_isa(row.isa))) {
      if (f.kernel->name != row.kernel) continue;
      const std::string text = f.str(c);
      const size_t begin = text.find("quantum=") + 8;
      quanta.insert(text.substr(begin, text.find(' ', begin) - begin));
      CHECK(f.registers < f.isa->vector_registers);
    }
    CHECK(fmt::format("{}", fmt::join(quanta, " ")) == row.quanta);
  }
}

// What rounds to bf16 may take subnormal numbers for 0; what is in another place only, is what it
// was.
TEST_CASE("elements that are only moved are not rounded") {
  constexpr std::pair<const char*, bool> kTable[] = {
      {"(x: bf16[64,80]): bf16[80,64] = transpose(x)", false},
      {"(x: bf16[64,80]): bf16 order(1, 0) = convert(x)", false},
      {"(x: bf16[64,80]): bf16 = relu(x)", true},
      {"(x: f32[64,80]): bf16 = convert(x)", true},
      {"(x: f16[64,80]): bf16 = convert(x)", true},
      {"(x: bf16[64,80]): bf16 = reduce_max(x, axis=0)", true},
  };
  for (const auto& [text, rounds] : kTable) {
    CAPTURE(text);
    const KernelSpec k = *parse_spec(text);
    for (const Family& f : families(k.computation(), *find_isa("avx512_bf16")))
      if (f.kernel->lanes > 1 && !f.kernel->lanes_reduce) CHECK(f.store->flushes == rounds);
  }
}

// What widens bf16 needs a constant. Where all registers are taken, a row that loads it at every
// use stands in, but only for an input that is held: others would load it for every vector.
// Tiles of one row have it along no dim in particular.
TEST_CASE("no family is found twice") {
  for (const char* spec : {"(x: f32[1,9,9,64], k: f32[3,3,64,96] packed): f32 = conv2d(x, k)",
                           "(a: f32[7,3,40], b: f32[40,24]): f32 = matmul(a, b)",
                           "(x: f32[2,30,4,9]): f32 = reduce_max(x, axis=1)"}) {
    CAPTURE(spec);
    const KernelSpec k = *parse_spec(spec);
    for (const char* isa : {"avx2", "avx512"}) {
      std::set<std::string> known;
      for (const Family& f : families(k.computation(), *find_isa(isa)))
        CHECK(known
                  .insert(
                      fmt::format("{} in {} apart {}", f.str(k.computation()), f.streams, f.apart))
                  .second);
    }
  }
}

TEST_CASE("constants are loaded where no register is left for them") {
  const struct {
    std::string_view spec, isa, family;
    int registers;
  } kRows[] = {
      {"(a: f32[6,64], b: bf16[64,16]): f32 = matmul(a, b)", "avx2",
       "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_bf16x8_crowded", 15},
      {"(a: f32[6,64], b: bf16[64,16]): f32 = matmul(a, b)", "avx2",
       "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8", 15},
      {"(a: f32[5,64], b: bf16[64,16]): f32 = matmul(a, b)", "avx2",
       "fma_f32x8 lane=n quantum=m:5,n:16 a=broadcast_f32x8 b=load_bf16x8", 14},
      {"(a: f32[2,64], b: bf16[64,48]): f32 = matmul(a, b)", "avx2",
       "fma_f32x8 lane=n quantum=m:2,n:48 a=broadcast_f32x8 b=load_bf16x8", 16},
      {"(a: f32[1,64], b: bf16[64,96]): f32 = matmul(a, b)", "avx2",
       "fma_f32x8 lane=n quantum=n:96 a=broadcast_f32x8 b=load_bf16x8", 15},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.family);
    const KernelSpec k = *parse_spec(row.spec);
    const Result<Family> f = parse_family(fmt::format("{} out=store_f32x8", row.family),
                                          k.computation(), *find_isa(row.isa));
    REQUIRE(f);
    CHECK(f->registers == row.registers);
  }
}

// Rows far apart: in four, three or two parts of a dim, if lanes run along rows that nobody packs
// or has to copy.
TEST_CASE("rows far apart") {
  struct Apart {
    std::string_view spec, quanta;
  };
  for (const Apart& row : std::initializer_list<Apart>{
           {"(a: f32[1,96], b: f32[20,96]): f32 = matmul(a, transpose(b))", "n:4 apart=n"},
           {"(a: f32[1,96], b: f32[9,96]): f32 = matmul(a, transpose(b))", "n:3 apart=n"},
           {"(a: bf16[1,96], b: bf16[10,96]): f32 = matmul(a, transpose(b))", "n:2 apart=n"},
           {"(a: f32[1,96], b: f32[7,96]): f32 = matmul(a, transpose(b))", ""},
           {"(a: f32[1,96], b: f32[4,96]): f32 = matmul(a, transpose(b))", ""},
           {"(a: f32[32,96], b: f32[96,1]): f32 = matmul(a, b)", "m:4 apart=m"},
           {"(a: f32[1,96], b: f32[96,20] packed): f32 = matmul(a, b)", ""},
           {"(a: f32[1,96], b: f32[96,20]): f32 = matmul(a, b)", ""},
           {"(a: f32[1,96], b: f32[96,20] order(1/4, 0, 1%4)): f32 = matmul(a, b)", ""},
           {"(x: f32[1,8,8,16], k: f32[3,3,16,8] col): f32 = conv2d(x, k)", ""},
           {"(x: f32[64,20,16] order(2, 1, 0)): f32 = reduce_sum(x, axis=0)",
            "i0:4 apart=i0, i1:4 apart=i1"},
           // One run of memory along the reduction, but what is in blocks is always copied.
           {"(x: f32[64,20,16] order(2, 1/5, 1%5, 0)): f32 = reduce_sum(x, axis=0)", ""},
       }) {
    CAPTURE(row.spec);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    std::set<std::string> found;
    for (const Family& f : families(c, *find_isa("avx2"))) {
      if (f.apart < 0) continue;
      const std::string& dim = c.dims[f.apart].name;
      found.insert(fmt::format("{}:{} apart={}", dim, f.quantum[f.apart], dim));
      CHECK(*parse_family(f.str(c), c, *f.isa) == f);
      for (size_t o = 0; o < c.operands.size(); ++o)
        CHECK((rows_apart(f, c, static_cast<int>(o)) > 1) == f.packed[o].digits.empty());
    }
    CHECK(fmt::format("{}", fmt::join(found, ", ")) == row.quanta);
  }
}

// Vectors run where elements of the result or of an operand are adjacent.
TEST_CASE("dims along which vectors run") {
  struct Lanes {
    std::string_view spec, dims;
  };
  for (const Lanes& row : std::initializer_list<Lanes>{
           {"(a: f32[20,9], b: f32[9,20]): f32 = matmul(a, b)", "n"},
           {"(a: f32[20,9], b: f32[9,20] col): f32 = matmul(a, b)", "n"},
           {"(a: f32[20,9], b: f32[9,20] packed): f32 = matmul(a, b)", "n"},
           {"(a: f32[20,9] col, b: f32[9,20]): f32 = matmul(a, b)", "m n"},
           {"(a: f32[20,9] col, b: f32[9,4]): f32 = matmul(a, b)", "m n"},
           {"(a: f32[20,9] col, b: f32[9,1]): f32 = matmul(a, b)", "m"},
           {"(a: f32[1,9] col, b: f32[9,20]): f32 = matmul(a, b)", "n"},
           {"(a: f32[20,9], b: f32[9,20]): f32 col = matmul(a, b)", "m n"},
           {"(a: f32[20,9], b: f32[9,20] col): f32 col = matmul(a, b)", "m"},
           {"(x: f32[1,9,9,3] order(0, 3, 1, 2), k: f32[3,3,3,8]): f32 order(0, 3, 1, 2) = "
            "conv2d(x, k)",
            "f w"},
           {"(x: f32[1,9,9,3], k: f32[3,3,3,8]): f32 = conv2d(x, k)", "f"},
           {"(x: f32[9,10], y: f32[9,10]): f32 = x + y", "i"},
           {"(x: f32[9,10], y: f32[9,10] col): f32 = x + y", "i0 i1"},
           {"(x: f32[9,10,11]): f32 = reduce_max(x, axis=1)", "i1"},
           // A few elements that copies take apart.
           {"(x: f32[40,3], y: f32[3]): f32 = x * y", "i0 i1"},
           {"(x: f32[40,2], y: f32[40]): f32 = x * broadcast(y, axis=1)", "i0 i1"},
           {"(x: f32[40,4], y: f32[4]): f32 = x * y", "i1"},
           {"(x: f32[40,3], y: f32[3]): bf16 = x * y", "i1"},
           {"(x: f32[40,3], y: f32[3,40]): f32 = x * transpose(y)", "i0 i1"},
       }) {
    CAPTURE(row.spec);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    std::set<std::string_view> found;
    for (const Family& f : families(c, *find_isa("avx2")))
      if (f.lane >= 0 && !f.kernel->lanes_reduce) found.insert(c.dims[f.lane].name);
    CHECK(fmt::format("{}", fmt::join(found, " ")) == row.dims);
  }
}

// Copies take the place of leaves where the result is the operand in another order.
TEST_CASE("leaves that move") {
  struct Moves {
    std::string_view spec, family;
  };
  for (const Moves& row : std::initializer_list<Moves>{
           {"(x: f32[300,200]): f32 col = convert(x)", "i0:64,i1:64 x=load_f32 out=store_f32"},
           {"(x: bf16[300,200]): bf16 = transpose(x)", "i0:64,i1:64 x=load_bf16 out=store_bf16"},
           {"(x: i16[9,20]): i16 = transpose(x)", "i0:20,i1:9 x=load_i16 out=store_i16"},
           {"(x: f32[7000,3]): f32 col = convert(x)", "i0:1344,i1:3 x=load_f32 out=store_f32"},
           {"(x: f16[8,30,16,40]): f16 order(0, 2, 1, 3) = convert(x)",
            "i1:30,i2:3,i3:40 x=load_f16x1 out=store_f16x1"},
           {"(x: f32[20,20] order(1, 0)): f32[20,20] = convert(x)",
            "i0:20,i1:20 x=load_f32 out=store_f32"},
           // In the same order, which may be done in place, as what is between stages is not; of
           // another type; computed.
           {"(x: f32[300,200]): f32 = convert(x)", ""},
           {"(x: f32[300,1]): f32 col = convert(x)", ""},
           {"(x: bf16[300,200]): f32 col = convert(x)", ""},
           {"(x: u8[300,200]): i32 col = convert(x)", ""},
           {"(x: f32[300,200]): f32 col = relu(x)", ""},
           {"(x: f32[300,200], y: f32[200,300]): f32 = x + transpose(y)", ""},
           // Elements that are there several times; blocks; sizes at run time.
           {"(x: f32[300]): f32[300,200] col = broadcast(x, axis=1)", ""},
           {"(x: f32[300,200] order(1/8, 0, 1%8)): f32 = convert(x)", ""},
           {"(x: f32[n,200]): f32 col = convert(x)", ""},
       }) {
    CAPTURE(row.spec);
    const Result<KernelSpec> k = parse_spec(row.spec);
    REQUIRE(k);
    std::string found;
    for (const Family& f : families(k->computation(), *find_isa("avx2")))
      if (f.kernel->moves) found += f.str(k->computation());
    const std::string_view kernel = found.find("_i16") == found.npos ? "move_f32" : "move_i32";
    CHECK(found == (row.family.empty() ? "" : fmt::format("{} quantum={}", kernel, row.family)));
  }
}

// Rows of a few elements that follow one another, and an operand with one for all of them.
TEST_CASE("rows that leaves take as one run") {
  struct Joined {
    std::string_view spec, isa, quantum;  // of the families with the longest vectors
  };
  for (const Joined& row : std::initializer_list<Joined>{
           // What begins with a vector again every eight rows, or every four, about 4096 elements.
           {"(x: f32[50176,3], m: f32[3]): f32 = x - m", "avx2", "i0:1368,i1:3 joined=i0"},
           {"(x: f32[50176,3], m: f32[3]): f32 = x - m", "avx512", "i0:1376,i1:3 joined=i0"},
           {"(x: f32[436,34], y: f32[34]): bf16 = tanh(x * y)", "avx2", "i0:120,i1:34 joined=i0"},
           {"(x: u8[30,5], y: f32[5], z: f32[5], u: f32[30,5], w: f32[1]): f32 = x * y + z - u * w",
            "avx2", "i0:30,i1:5 joined=i0"},
           {"(x: i32[20,64], y: i32[64]): i32 = max(x, y)", "avx2", "i0:20,i1:64 joined=i0"},
           {"(x: f32[3,4,700] order(0, 2, 1), y: f32[4]): f32 order(0, 2, 1) = x + "
            "broadcast(y, axis=1)",
            "avx2", "i1:4,i2:700 joined=i2"},
           // One number for each of very short rows, of what vectors are spread of.
           {"(x: f32[300,7], y: f32[300]): f32 = x + broadcast(y, axis=1)", "avx2",
            "i0:300,i1:7 joined=i0"},
           {"(x: f32[900,7], y: i32[7], z: f32[900]): f32 = x * convert(y) + broadcast(z, axis=1)",
            "avx512", "i0:592,i1:7 joined=i0"},
           {"(x: f32[300,8], y: f32[300]): f32 = x + broadcast(y, axis=1)", "avx2", ""},
           {"(x: f32[300,7], y: bf16[300]): f32 = x * broadcast(y, axis=1)", "avx2", ""},
           // Rows in another order, that lie apart or begin anew each; long ones.
           {"(x: f32[300,7] col, y: f32[7]): f32 = x + y", "avx2", ""},
           {"(x: f32[300,7] strided, y: f32[7]): f32 = x + y", "avx2", ""},
           {"(x: f32[n,7], y: f32[7]): f32 = x + y", "avx2", ""},
           {"(x: f32[300,65], y: f32[65]): f32 = x + y", "avx2", ""},
           {"(x: f32[300,63], y: f32[63]): f32 = x + y", "avx512", "i0:80,i1:63 joined=i0"},
           // Nothing to repeat; sums.
           {"(x: f32[300,7], y: f32[300,7]): f32 = x + y", "avx2", ""},
           {"(x: f32[300,7,5], y: f32[7]): f32 = reduce_sum(x, axis=2) + y", "avx2", ""},
       }) {
    CAPTURE(row.spec);
    const Result<KernelSpec> k = parse_spec(row.spec);
    REQUIRE_MESSAGE(k.ok(), (k.ok() ? "" : k.error().str()));
    const Computation& c = k->computation();
    std::string found;
    for (const Family& f : families(c, *find_isa(row.isa)))
      if (f.joined >= 0 && f.kernel->lanes == find_isa(row.isa)->widest()) found = f.str(c);
    const size_t from = found.find("quantum="), to = found.find(" x=");
    CHECK((found.empty() ? "" : found.substr(from + 8, to - from - 8)) == row.quantum);
  }
}

struct Rows {
  const char* spec;
  const char* isa;
  const char* kernels;  // of all families
};

// Vectors shorter than the longest are for dims that are no longer, whichever dim that is.
constexpr Rows kComputes[] = {
    {"(a: f32[8,9], b: f32[9,8]): f32 = matmul(a, b)", "avx512",
     "dot_f32x16 fma_f32 fma_f32x16 fma_f32x8"},
    {"(a: f32[8,8], b: f32[8,9]): f32 = matmul(a, b)", "avx512",
     "dot_f32x16 dot_f32x8 fma_f32 fma_f32x16"},
    {"(a: f32[9,9], b: f32[9,9]): f32 = matmul(a, b)", "avx512", "dot_f32x16 fma_f32 fma_f32x16"},
    {"(a: f32[8,9], b: f32[9,8]): f32 = matmul(a, b)", "avx2", "dot_f32x8 fma_f32 fma_f32x8"},
    {"(a: u8[9,3], b: i8[3,3]): i32 = matmul(a, b)", "avx512_vnni",
     "dot_i16x16 dot_i16x32 dot_i8x64 dpbusd_i8x64 dpwssd_dot_i16x32 dpwssd_i16x32 fma_i32 "
     "mac_i32x16 mac_i32x8 madd_i16x16 madd_i16x32"},
    {"(a: u8[9,3], b: i7[3,3]): i32 = matmul(a, b)", "avx2",
     "dot_i16x16 dot_u8i7x32 fma_i32 mac_i32x8 madd_i16x16 maddubs_u8i7x32"},
    {"(a: i7[9,3], b: i7[3,3]): i32 = matmul(a, b)", "avx2",
     "dot_i16x16 fma_i32 mac_i32x8 madd_i16x16"},
    {"(a: u8[9,3], b: i7[3,3]): i32 = matmul(a, b)", "avx2_vnni",
     "dot_i16x16 dot_i8x32 dot_u8i7x32 dpbusd_i8x32 dpwssd_dot_i16x16 dpwssd_i16x16 fma_i32 "
     "mac_i32x8 madd_i16x16 maddubs_u8i7x32"},
    {"(x: f32[5,7]): f32 = exp(x)", "avx512", "map_f32x16"},
    {"(x: f32[5,17]): f32 = exp(x)", "avx512", "map_f32x16"},
    {"(x: f32[20,6]): f32 = reduce_max(x, axis=1)", "avx512_bf16",
     "hmax_f32x16 hmax_f32x8 max_f32 max_f32x16"},
    {"(x: f32[3,6]): f32 = reduce_max(x, axis=0)", "scalar", "max_f32"},
};

TEST_CASE("vectors as long as dims want") {
  for (const Rows& row : kComputes) {
    CAPTURE(row.spec);
    const KernelSpec k = *parse_spec(row.spec);
    std::set<std::string_view> names;
    for (const Family& f : families(k.computation(), *find_isa(row.isa)))
      names.insert(f.kernel->name);
    CHECK(fmt::format("{}", fmt::join(names, " ")) == row.kernels);
  }
}

}  // namespace
}  // namespace morello
