// What leaves ask for between two copies or views, against what the next one reads.
#include "codegen/ask.h"

#include <dlfcn.h>

#include <algorithm>
#include <set>

#include "codegen/nest.h"
#include "harness.h"
#include "impl/copy_orders.h"

namespace morello {
namespace {

const Extents kExtents[] = {extents(37, 19, 2), extents(3, 9),   extents(1, 1),
                            extents(48, 32),    extents(6, 700), extents(300, 37)};
constexpr Dtype kTypes[] = {Dtype::f32, Dtype::bf16, Dtype::u8};
constexpr i64 kLeaves[] = {2, 3, 8, 100, 5000};
constexpr i64 kAhead = 1 << 16;

// The source is part of a larger tensor.
PackJob job_of(const Order& o, const Extents& tile, Dtype type) {
  const Extents tensor = extents(tile[N] + 5, tile[K] + 3, tile[B] + 1);
  return {.packed = PackedOrder{o.packed}.address(tile),
          .other = PackedOrder{o.other}.address(tensor),
          .packed_type = type,
          .other_type = type,
          .extent = tile,
          .ahead = kAhead};
}

struct Case {
  std::string name;
  PackJob job;
  i64 leaves;
  bool within;  // leaves ask while they compute
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Order& o : kOrders)
    for (const Extents& e : kExtents)
      for (const Dtype type : kTypes)
        for (const i64 leaves : kLeaves)
          for (const bool within : {false, true})
            all.push_back({fmt::format("{}: {} x {} x {} {}, {} leaves{}", o.name, e[N], e[K], e[B],
                                       name(type), leaves, within ? ", within" : ""),
                           job_of(o, e, type), leaves, within});
  return all;
}

TEST_CASE("leaves ask where there are two of them, few boxes and an instruction for it") {
  const Isa& isa = *find_isa("avx2");
  Functions functions;
  CHECK(!ask_function(functions, isa, job_of(kOrders[0], kExtents[3], Dtype::f32), kL2, 1));
  CHECK(ask_function(functions, isa, job_of(kOrders[0], kExtents[3], Dtype::f32), kL2, 2));
  CHECK(!ask_function(functions, *find_isa("scalar"), job_of(kOrders[0], kExtents[3], Dtype::f32),
                      kL2, 2));
  const Order& crossing = *std::find_if(std::begin(kOrders), std::end(kOrders), [](const Order& o) {
    return std::string_view(o.name) == "digits that do not divide each other";
  });
  CHECK(!ask_function(functions, isa, job_of(crossing, kExtents[5], Dtype::f32), kL2, 2));
}

// The code of a program for a matmul by AVX2, of such a family.
std::string code_of(const std::string& kernel, std::string_view leaf, const std::string& program,
                    const char* machine = "zen4") {
  const KernelSpec k = *parse_spec(kernel);
  const Machine m = *load_machine(machine);
  const Family family = *parse_family(leaf, k.computation(), *find_isa("avx2"));
  const Problem p{&k.computation(), &m, family, 1};
  const Result<ImplPtr> impl = parse_impl(program, p);
  REQUIRE_MESSAGE(impl.ok(), (impl.ok() ? "" : impl.error().str()));
  return emit_nest(p, **impl, false).functions;
}

constexpr std::string_view k6x16 =
    "fma_f32x8 lane=n quantum=m:6,n:16 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";
constexpr std::string_view k2x48 =
    "fma_f32x8 lane=n quantum=m:2,n:48 a=broadcast_f32x8 b=load_f32x8 out=store_f32x8";

// Four leaves behind every copy.
TEST_CASE("a program says who asks") {
  struct Row {
    std::string_view move;
    int functions, lines, near;  // that ask; of a row in each, to L2 and to L1
  };
  constexpr Row kRows[] = {{"copy b to L1", 0, 0, 0},
                           {"copy b to L1 ahead n", 0, 1, 0},
                           {"copy b to L1 ahead n in leaves", 1, 1, 0},
                           {"view b to L1", 0, 0, 0},
                           {"view b to L2 ahead n in leaves", 1, 1, 0},
                           {"view b to L1 ahead n in leaves", 1, 0, 1}};
  for (const Row& row : kRows) {
    CAPTURE(row.move);
    const std::string text =
        code_of("(a: f32[24,32], b: f32[32,64]): f32 = matmul(a, b)", k6x16,
                fmt::format("loop n by 16\n  {}\n    loop m by 6\n      call\n", row.move));
    CHECK(test::count(text, "static inline void ask") == row.functions);
    CHECK(test::count(text, "_MM_HINT_T1") == row.lines);
    CHECK(test::count(text, "_MM_HINT_T0") == row.near);
  }
}

// The next part of a panel, 1 KiB, follows this one; four leaves share in asking. In what remains
// nobody asks.
TEST_CASE("leaves ask for the next part of a panel") {
  constexpr std::string_view kView = "      view b to L1{}\n        loop m by 6\n          call\n";
  const std::string asks = fmt::format(kView, " ahead k in leaves");
  const std::string text = code_of(
      "(a: f32[24,40], b: f32[40,64] packed): f32 = matmul(a, b)", k6x16,
      fmt::format("loop n by 16\n  split k by 16\n    first\n{0}    body\n{0}    rest 8\n{1}", asks,
                  fmt::format(kView, "")));
  for (const int line : {1024, 1088, 1152, 1216})
    CHECK(test::count(text, fmt::format("(row) + {})), _MM_HINT_T0", line)) == 1);
  CHECK(test::count(text, "_mm_prefetch") == 4);
  CHECK(test::count(text, "ask_0(b_") == 2);  // in the first part and in the other one of 16
}

// Four leaves of each copy, whose rows lie in L1, L3 and memory. What is added to was read before.
TEST_CASE("leaves ask for the lines that a copy of their sums is written to") {
  struct Row {
    std::string kernel, program;
    int functions;
  };
  const std::string kCopied = "loop n by 16\n  copy out to L1\n    loop m by 6\n      call\n";
  const std::string kAdded =
      "split k by 16\n  first\n    loop n by 16\n      loop m by 6\n        call\n  body\n"
      "    loop n by 16\n      copy out to L1\n        loop m by 6\n          call\n";
  const Row kRows[] = {
      {"(a: f32[24,32], b: f32[32,64]): f32 = matmul(a, b)", kCopied, 0},
      {"(a: f32[24,32], b: f32[32,16384]): f32 = matmul(a, b)", kCopied, 1},
      {"(a: f32[24,32], b: f32[32,160000]): f32 = matmul(a, b)", kCopied, 1},
      {"(a: f32[24,32], b: f32[32,16384]): f32 = relu(matmul(a, b))", kCopied, 1},
      {"(a: f32[24,32], b: f32[32,16384]): f32 = matmul(a, b)", kAdded, 0},
      {"(a: f32[24,32], b: f32[32,16384]): f32 = matmul(a, b)",
       "loop n by 16\n  copy out to L1\n    loop m by 24\n      loop m by 6\n        call\n", 1},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.kernel);
    CAPTURE(row.program);
    const std::string text = code_of(row.kernel, k6x16, row.program);
    CAPTURE(text);
    CHECK(test::count(text, "static inline void ask") == row.functions);
  }
}

// Four leaves of 2 x 48 behind every copy of k x 96: how often each asks, in the loop over its sums
// or before it.
TEST_CASE("leaves ask for many lines while they compute") {
  struct Row {
    int k, in_loop, before;
  };
  // 24, 48 and 96 lines a leaf, in 4, 8 and 16 iterations; 18 in three; and 12, which are few.
  constexpr Row kRows[] = {{16, 2, 0}, {32, 4, 0}, {64, 8, 0}, {12, 0, 2}, {8, 0, 0}};
  for (const Row& row : kRows) {
    CAPTURE(row.k);
    const std::string text = code_of(
        fmt::format("(a: f32[4,{0}], b: f32[{0},192]): f32 = matmul(a, b)", row.k), k2x48,
        "loop n by 96\n  copy b to L1 ahead n in leaves\n    loop m by 2\n      loop n by 48\n"
        "        call\n",
        "zen5");
    const auto loops_of = [&](std::string_view i, int times) {
      return test::count(text, fmt::format("{0} < {1}; ++{0}) {{\n    ask", i, times));
    };
    CHECK(loops_of("i_0", row.in_loop) == (row.in_loop > 0 ? 1 : 0));
    CHECK(loops_of("part", row.before) == (row.before > 0 ? 1 : 0));
    CHECK(test::count(text, "asked0 +=") == (row.in_loop + row.before > 0 ? 1 : 0));
  }
}

// GCC 12 drops calls of functions that do nothing but prefetch.
TEST_CASE("compilers keep what asks") {
  const Isa& isa = *find_isa("avx2");
  Functions functions;
  const auto asking =
      ask_function(functions, isa, job_of(kOrders[0], kExtents[3], Dtype::f32), kL2, 3);
  REQUIRE(asking);
  const std::string base = test::work_directory("ask_kept") + "/ask";
  test::write_file(
      base + ".cc",
      fmt::format("#include <cstddef>\n#include <cstdint>\n#include {}\n"
                  "#define MORELLO_UNUSED\n#define MORELLO_TARGET\nnamespace {{\n{}}}\n"
                  "void all(const float* src);\nvoid all(const float* src) {{\n"
                  "  for (std::ptrdiff_t i = 0; i < 3; ++i) {}(src, i * {});\n}}\n",
                  isa.include, functions.text(), asking->function, asking->share));
  for (const char* compiler : {MORELLO_TEST_CXX, MORELLO_TEST_CLANG}) {
    if (*compiler == '\0') continue;
    REQUIRE(test::compile({compiler, "-std=c++17 -O2 -S"}, base + ".cc", base + ".s") == "");
    CHECK(test::read_file(base + ".s").find("prefetcht1") != std::string::npos);
  }
}

// Calls of see() in place of prefetches.
std::string source(const std::vector<Case>& all, std::vector<i64>& times) {
  Isa isa = *find_isa("avx2");
  isa.prefetch_to_l2 = "see({p});";
  Functions functions;
  std::string calls;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto asking = ask_function(functions, isa, all[i].job, kL2, all[i].leaves, all[i].within);
    times.push_back(asking ? all[i].leaves * asking->times : 0);
    if (!asking) continue;
    const std::string_view type = c_type(all[i].job.other_type);
    calls += fmt::format(
        "extern \"C\" void ask_all_{0}(const void* src);\n"
        "extern \"C\" void ask_all_{0}(const void* src) {{\n"
        "  for (std::ptrdiff_t leaf = 0; leaf < {1}; ++leaf)\n"
        "    {2}(static_cast<const {3}*>(src), leaf * {4});\n}}\n",
        i, times.back(), asking->function, type, asking->share);
  }
  return "#include <cstddef>\n#include <cstdint>\n"
         "#define MORELLO_UNUSED\n#define MORELLO_TARGET\n"
         "extern \"C\" {\nextern void (*seen)(const void*);\nvoid (*seen)(const void*) = nullptr;\n"
         "}\nnamespace {\nvoid see(const void* p) { seen(p); }\n" +
         functions.text() + "}\n" + calls;
}

std::vector<i64> g_seen;
alignas(64) char g_source[1];
void see(const void* p) { g_seen.push_back(static_cast<const char*>(p) - g_source); }

// Every element of the next part has a line of 64 bytes that begins at or before it, every line
// begins with such an element or with the one that follows it in a row, and at most a quarter is
// asked for twice, where the lines of a row do not fall into equal parts. Within a leaf those of
// one time are few.
std::string problem(const Case& c, i64 times) {
  constexpr size_t kTwice = 4,
                   kMost = 17;  // in all, and of one time: sixteen, and a share of those
  const i64 size = bytes(c.job.other_type);
  std::set<i64> places;
  each_index(c.job.extent,
             [&](const Extents& x) { places.insert((c.job.other.offset(x) + kAhead) * size); });
  std::sort(g_seen.begin(), g_seen.end());
  const size_t asked = g_seen.size();
  g_seen.erase(std::unique(g_seen.begin(), g_seen.end()), g_seen.end());
  const size_t twice = asked - g_seen.size();
  if (twice * kTwice > g_seen.size()) return fmt::format("{} lines twice", twice);
  if (c.within && g_seen.size() > static_cast<size_t>(times) * kMost) return "many lines at once";
  for (const i64 line : g_seen)
    if (!places.contains(line)) return fmt::format("{} in vain", line);
  for (const i64 place : places) {
    const auto after = std::upper_bound(g_seen.begin(), g_seen.end(), place);
    if (after == g_seen.begin() || place - *(after - 1) >= 64)
      return fmt::format("{} was not asked for", place);
  }
  return "";
}

TEST_CASE("leaves ask for all that the next copy reads, and for nothing else") {
  const std::vector<Case> all = cases();
  const std::string base = test::work_directory("ask") + "/ask";
  std::vector<i64> times;
  test::write_file(base + ".cc", source(all, times));
  CHECK(times.size() - static_cast<size_t>(std::count(times.begin(), times.end(), 0)) > 2000);
  REQUIRE(test::compile({MORELLO_TEST_CXX, "-std=c++17 -O1 -shared -fPIC"}, base + ".cc",
                        base + ".so") == "");
  void* library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  *static_cast<void (**)(const void*)>(dlsym(library, "seen")) = see;
  for (size_t i = 0; i < all.size(); ++i) {
    if (times[i] == 0) continue;
    CAPTURE(all[i].name);
    void* symbol = dlsym(library, fmt::format("ask_all_{}", i).c_str());
    REQUIRE(symbol != nullptr);
    g_seen.clear();
    reinterpret_cast<void (*)(const void*)>(symbol)(g_source);
    CHECK(problem(all[i], times[i]) == "");
  }
  dlclose(library);
}

}  // namespace
}  // namespace morello
