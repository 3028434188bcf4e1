// Copies between a packed buffer and another place, against the offsets of the two address maps.
#include "codegen/pack.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "driver.h"
#include "harness.h"
#include "impl/copy_box.h"
#include "impl/copy_orders.h"
#include "long.h"
#include "spec/sizes.h"

namespace morello {
namespace {

using Values = std::vector<double>;

// The first is ragged in every dim, with more than a panel; the second is below a panel; the last
// has more panels and rows than are taken at a time.
const Extents kExtents[] = {extents(37, 19, 2), extents(3, 9),       extents(1, 1),
                            extents(48, 32),    extents(100, 65, 2), extents(300, 37)};

// {other, packed}: of every size, then those that convert.
constexpr std::pair<Dtype, Dtype> kTypes[] = {
    {Dtype::f32, Dtype::f32}, {Dtype::bf16, Dtype::bf16}, {Dtype::f16, Dtype::f16},
    {Dtype::i32, Dtype::i32}, {Dtype::i16, Dtype::i16},   {Dtype::u8, Dtype::u8},
    {Dtype::i8, Dtype::i8},   {Dtype::bf16, Dtype::f32},  {Dtype::f16, Dtype::f32},
    {Dtype::u8, Dtype::i16},  {Dtype::i8, Dtype::i16},    {Dtype::i8, Dtype::f32},
    {Dtype::i7, Dtype::i7},   {Dtype::i7, Dtype::i16},    {Dtype::i7, Dtype::i8},
};
bool stores(Dtype t) { return is_float(t) || t == Dtype::i32; }

// The other place is part of a larger tensor, or all of one.
PackJob job_of(const Order& o, const Extents& tile, std::pair<Dtype, Dtype> types, bool in,
               bool whole = false) {
  const Extents tensor = whole ? tile : extents(tile[N] + 5, tile[K] + 3, tile[B] + 1);
  return {.packed = PackedOrder{o.packed}.address(tile),
          .other = PackedOrder{o.other}.address(tensor),
          .packed_type = types.second,
          .other_type = types.first,
          .extent = tile,
          .into_packed = in};
}

// Whether a dim is a digit of its own on both sides and adjacent on neither: calls may say how much
// of it there is.
bool can_be_elastic(const PackJob& job, int dim) {
  for (const AddressMap* map : {&job.packed, &job.other}) {
    int digits = 0;
    for (const AddressTerm& t : map->terms) {
      if (t.dim != dim) continue;
      if (!t.is_plain() || t.stride == 1) return false;
      ++digits;
    }
    if (digits != 1) return false;
  }
  return job.into_packed;
}

// By their names, or parts of them; 16 x 16 is what the orders divide.
struct Rows {
  const char* order;
  Dtype type;
  std::vector<std::string> rows;
};
const Rows kRows[] = {
    {"panels of 24 lanes", Dtype::f32, {}},
    {"plain, transposed", Dtype::f32, {"transpose_4bytes_8x4"}},
    {"panels of 6, transposing",
     Dtype::f32,
     {"transpose_4bytes_6x4_dense", "transpose_4bytes_4x4"}},
    {"panels of 6, transposing", Dtype::bf16, {"transpose_2bytes_4x8", "transpose_2bytes_2x8"}},
    {"panels of 6, transposing", Dtype::u8, {}},
    {"panels of 14, transposing",
     Dtype::i32,
     {"transpose_4bytes_8x4", "transpose_4bytes_4x4", "transpose_4bytes_2x4"}},
    {"panels of 16 lanes, transposing", Dtype::f16, {"transpose_2bytes_8x8"}},
    {"even and odd registers", Dtype::bf16, {"interleave_2bytes"}},
    {"even and odd registers, transposing", Dtype::bf16, {"transpose_2bytes_8x8"}},
    {"pairs", Dtype::u8, {"interleave_1byte"}},
    {"pairs", Dtype::i16, {"interleave_2bytes"}},
    {"pairs, transposing", Dtype::i8, {"transpose_2bytes_4x8", "transpose_2bytes_2x8"}},
    {"pairs, transposing", Dtype::bf16, {"transpose_4bytes_6x4_dense", "transpose_4bytes_4x4"}},
    {"quads, transposing", Dtype::u8, {"transpose_4bytes_8x4"}},
};

TEST_CASE("which rows of the ISA a copy takes") {
  const Isa& isa = *find_isa("avx2");
  for (const Rows& r : kRows) {
    CAPTURE(r.order);
    const Order& o = *std::find_if(std::begin(kOrders), std::end(kOrders), [&](const Order& one) {
      return one.name == std::string(r.order);
    });
    const PackJob job = job_of(o, extents(16, 16), {r.type, r.type}, true);
    Functions functions;
    pack_function(functions, isa, job);
    for (const auto& rows : isa.transposes)
      for (const Transpose& t : rows) {
        const std::string call(t.code.substr(0, t.code.find('(') + 1));
        const bool wanted = std::any_of(r.rows.begin(), r.rows.end(),
                                        [&](const std::string& row) { return call == row + "("; });
        CHECK_MESSAGE((functions.text().find(call) != std::string::npos) == wanted, call);
      }
  }
}

// What is left of columns goes to parts of rows, unless it is one by one sooner.
struct Left {
  const char* order;
  Dtype type;
  Extents extent;
  std::string calls;
};
const Left kLeft[] = {
    {"pairs", Dtype::i16, extents(13, 8), "interleave_2bytes( interleave_2bytes_part(5) "},
    {"pairs", Dtype::i16, extents(9, 8), "interleave_2bytes( "},
    {"pairs", Dtype::u8, extents(15, 9), "interleave_1byte_part(8) interleave_1byte_part(7) "},
    {"quads", Dtype::u8, extents(14, 10), "interleave_1byte_quads_part(14) "},
    {"quads", Dtype::u8, extents(3, 10), ""},
    {"quads", Dtype::bf16, extents(7, 4), "interleave_2bytes_4x8_part(7) "},
};

TEST_CASE("what is left of columns") {
  for (const Left& l : kLeft) {
    CAPTURE(l.calls);
    const Order& o = *std::find_if(std::begin(kOrders), std::end(kOrders), [&](const Order& one) {
      return one.name == std::string(l.order);
    });
    Functions functions;
    pack_function(functions, *find_isa("avx2"), job_of(o, l.extent, {l.type, l.type}, true));
    const std::string text = functions.text();
    CAPTURE(text);
    std::string calls;
    for (size_t at = text.find("interleave_"); at != text.npos;
         at = text.find("interleave_", at + 1)) {
      const size_t end = text.find(')', at), part = text.rfind(' ', end);
      const std::string name = text.substr(at, text.find('(', at) + 1 - at);
      calls +=
          name + (name.find("_part") == name.npos ? "" : text.substr(part + 1, end - part)) + " ";
    }
    CHECK(calls == l.calls);
  }
}

// Rows of so many elements that follow one another, 48 of them: into a buffer of columns, and back.
struct FewRows {
  int elements;
  Dtype type;
  const char *apart, *together;
};
const FewRows kFewRows[] = {
    {2, Dtype::f32, "deinterleave_4bytes_8x2", "interleave_4bytes_2x8"},
    {3, Dtype::i32, "deinterleave_4bytes_8x3", "interleave_4bytes_3x8"},
    {4, Dtype::f32, "transpose_4bytes_8x4", "interleave_4bytes_4x8"},
    {5, Dtype::f32, "transpose_4bytes_8x4", "transpose_4bytes_4x4"},
    {2, Dtype::bf16, "deinterleave_2bytes_16x2", "interleave_2bytes"},
    {3, Dtype::f16, "deinterleave_2bytes_16x3", "interleave_2bytes_3x16"},
    {4, Dtype::i16, "deinterleave_2bytes_8x4", "interleave_2bytes_4x8"},
    {2, Dtype::u8, "deinterleave_1byte_16x2", "interleave_1byte"},
    {3, Dtype::u8, "deinterleave_1byte_16x3", nullptr},
    {4, Dtype::i8, "deinterleave_1byte_16x4", "interleave_1byte_quads"},
};

TEST_CASE("rows of a few elements are taken apart and put together") {
  const Order rows{"", {{N, 1, 0}, {K, 1, 0}}, {{K, 1, 0}, {N, 1, 0}}};
  for (const FewRows& r : kFewRows)
    for (const bool in : {true, false}) {
      CAPTURE(r.elements);
      CAPTURE(in);
      const PackJob job = job_of(rows, extents(r.elements, 48), {r.type, r.type}, in, true);
      Functions functions;
      pack_function(functions, *find_isa("avx2"), job);
      const std::string text = functions.text();
      CAPTURE(text);
      const char* row = in ? r.apart : r.together;
      if (row != nullptr)
        CHECK(text.find(fmt::format(" {}(", row)) != text.npos);
      else
        CHECK(text.find("leave_") == text.npos);
    }
}

// Of N x K elements, adjacent along N, to rows along K that lie so many elements apart: the steps
// of the loops. Where rows of the target crowd one another out of L1, few of them at a time, each
// line as a whole; else all of the target's for a line of the source, by parts as wide as a row of
// the ISA.
TEST_CASE("of rows that are in one place of L1 a few are filled at a time") {
  const Order rows{"", {{K, 1, 0}, {N, 1, 0}}, {{N, 1, 0}, {K, 1, 0}}};
  struct Row {
    Extents extent;
    i64 apart;
    std::string_view loops;
  };
  const Row kTable[] = {
      {extents(64, 64), 1024, "8 4 2 2 "}, {extents(64, 64), 512, "4 4 4 2 "},
      {extents(64, 64), 1025, "4 8 4 "},   {extents(64, 64), 256, "4 8 4 "},
      {extents(16, 64), 1024, "8 2 2 "},   {extents(64, 16), 1024, "2 4 2 2 "},
      {extents(64, 8), 1024, "4 2 2 "},    {extents(37, 61), 1024, "7 2 2 2 3 4 3 2 2 2 2 "},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.apart);
    PackJob job = job_of(rows, row.extent, kTypes[0], true, true);
    for (AddressTerm& t : job.packed.terms)
      if (t.dim == K) t.stride = row.apart;
    Functions functions;
    pack_function(functions, *find_isa("avx2"), job);
    const std::string text = functions.text();
    CAPTURE(text);
    std::string loops;
    for (size_t at = text.find("for ("); at != text.npos; at = text.find("for (", at + 1)) {
      const size_t from = text.find("< ", at) + 2;
      loops += text.substr(from, text.find(';', from) - from) + " ";
    }
    CHECK(loops == row.loops);
  }
}

TEST_CASE("a few rows of all panels are taken at a time") {
  const Order panels{"", {{N, 16, 0}, {K, 1, 0}, {N, 1, 16}}, {{K, 1, 0}, {N, 1, 0}}};
  const PackJob job = job_of(panels, extents(160, 61), kTypes[0], true);
  Functions functions;
  pack_function(functions, *find_isa("scalar"), job);
  // 10 panels of 61 rows; rows of 165 floats.
  CHECK(functions.text().find(R"(
  for (std::ptrdiff_t i_0 = 0; i_0 < 61; i_0 += 8) {
    for (std::ptrdiff_t i_1 = 0; i_1 < 10; ++i_1) {
      float* dst_2 = dst + i_1 * 976;
      const float* src_3 = src + i_1 * 16;
      for (std::ptrdiff_t i_4 = i_0; i_4 < (i_0 + 8 < 61 ? i_0 + 8 : 61); ++i_4) {
        float* dst_5 = dst_2 + i_4 * 16;
        const float* src_6 = src_3 + i_4 * 165;
        __builtin_memcpy(dst_5, src_6, 64);
)") != std::string::npos);
}

// How often a copy asks, and where first: once for a line, or for what is less of one; of a long
// run in a loop. `ahead` elements behind what it reads.
struct Asking {
  std::string_view order;
  Dtype type;
  Extents extent;
  i64 ahead;
  int times;
  std::string_view first;
};
const Asking kAsking[] = {
    {"plain", Dtype::f32, extents(20, 8), 20, 2, "(src_2) + 80)"},
    {"plain", Dtype::f32, extents(200, 8), 200, 1, "(src_4) + 800)"},
    {"plain", Dtype::bf16, extents(20, 8), 2000, 1, "(src_2) + 4000)"},
    {"panels of 24 lanes", Dtype::f32, extents(48, 32), 48, 2, "+ 192)"},
    // Six rows of a line.
    {"panels of 6, transposing", Dtype::f32, extents(6, 16), 16, 6, "+ 64)"},
};

TEST_CASE("a copy asks for what is ahead of every line that it reads") {
  const Order plain{"plain", {{K, 1, 0}, {N, 1, 0}}, {{K, 1, 0}, {N, 1, 0}}};
  for (const Asking& a : kAsking) {
    CAPTURE(a.order);
    const Order* o = std::find_if(std::begin(kOrders), std::end(kOrders),
                                  [&](const Order& one) { return one.name == a.order; });
    if (o == std::end(kOrders)) o = &plain;
    PackJob job = job_of(*o, a.extent, {a.type, a.type}, true);
    for (const bool asks : {false, true}) {
      job.ahead = asks ? a.ahead : 0;
      Functions functions;
      pack_function(functions, *find_isa("avx2"), job);
      const std::string text = functions.text();
      CAPTURE(text);
      int times = 0;
      for (size_t at = text.find("_MM_HINT_T1"); at != text.npos;
           at = text.find("_MM_HINT_T1", at + 1))
        ++times;
      CHECK(times == (asks ? a.times : 0));
      CHECK((text.find(a.first) != text.npos) == asks);
    }
  }
}

TEST_CASE("boxes of one shape are a loop over their places") {
  const Order rows{
      "", {{N, 16, 0}, {K, 1, 0}, {N, 1, 16}}, {{N, 20, 0}, {K, 1, 0}, {N, 1, 4}, {N, 4, 5}}};
  const PackJob job = job_of(rows, extents(16, 3), kTypes[0], true);
  Functions functions;
  pack_function(functions, *find_isa("scalar"), job);
  CHECK(functions.text().find(R"(
  const std::ptrdiff_t places_0[][2] = {
    {0, 0},
    {4, 1},
    {8, 2},
    {12, 3},
  };
  for (std::ptrdiff_t i_1 = 0; i_1 < 4; ++i_1) {
    float* dst_2 = dst + places_0[i_1][0];
    const float* src_3 = src + places_0[i_1][1];
    for (std::ptrdiff_t i_4 = 0; i_4 < 3; ++i_4) {
)") != std::string::npos);
}

TEST_CASE("a run that is converted ends with a whole vector, or is a part of one") {
  const Order plain{"", {{K, 1, 0}, {N, 1, 0}}, {{K, 1, 0}, {N, 1, 0}}};
  for (const auto& [count, vectors, elements] :
       {std::array{21, 3, 0}, {16, 2, 0}, {8, 1, 0}, {7, 1, 0}, {2, 0, 2}}) {
    CAPTURE(count);
    const PackJob job = job_of(plain, extents(count, 1), {Dtype::bf16, Dtype::f32}, true);
    Functions functions;
    pack_function(functions, *find_isa("avx2"), job);
    const std::string text = functions.text();
    CAPTURE(text);
    const auto times = [&](std::string_view what) {
      int n = 0;
      for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
      return n;
    };
    CHECK(times("= bf16x8_to_f32(") == vectors);
    CHECK(times("= bf16_to_f32(") == elements);
  }
}

struct Copy {
  std::string name;
  PackJob job;
  i64 length = 0;  // of K, if that is elastic
};
std::vector<Copy> copies() {
  std::vector<Copy> all;
  size_t turn = 0;
  for (const Order& o : kOrders)
    for (const Extents& e : kExtents) {
      ++turn;
      for (size_t t = 0; t < std::size(kTypes); ++t) {
        // All types where panels are partial, in turn elsewhere.
        if (e != kExtents[0] && t != turn % std::size(kTypes)) continue;
        for (bool in : {true, false})
          if (in || stores(kTypes[t].first) || kTypes[t].first == kTypes[t].second)
            all.push_back(
                {fmt::format("{}: {} x {} x {}, {} and {}{}", o.name, e[N], e[K], e[B],
                             name(kTypes[t].first), name(kTypes[t].second), in ? "" : ", back"),
                 job_of(o, e, kTypes[t], in)});
      }
    }
  const Order& few = kOrders[1];
  for (const FewRows& r : kFewRows)
    for (const i64 n : {1, 15, 16, 37, 100})
      for (bool in : {true, false})
        all.push_back({fmt::format("{} rows of {} {}{}", n, r.elements, name(r.type),
                                   in ? "" : ", put together"),
                       job_of(few, extents(r.elements, n), {r.type, r.type}, in, true)});
  const size_t plain = all.size();
  for (size_t i = 0; i < plain; ++i)
    if (can_be_elastic(all[i].job, K)) {
      Copy c = all[i];
      c.job.elastic = 1 << K;
      size_t turn = i;
      for (const i64 length : {i64{1}, ceil_div(2 * c.job.extent[K], 3), c.job.extent[K]}) {
        if (!has_turn(turn++, 3)) continue;
        c.length = length;
        c.name = fmt::format("{}, {} of them", all[i].name, length);
        all.push_back(c);
      }
    }
  REQUIRE(all.size() > plain + 50);
  return all;
}

std::string source(const Isa& isa, const std::vector<Copy>& all) {
  Functions functions;
  std::string calls;
  for (size_t i = 0; i < all.size(); ++i) {
    PackJob job = all[i].job;
    // Far behind all there is: what is asked for there nobody reads.
    if (job.into_packed && i % 2 == 0 && !isa.prefetch_to_l2.empty()) job.ahead = 1 << 20;
    calls += fmt::format(
        "extern \"C\" void copy_{0}(const void* src, void* dst);\n"
        "extern \"C\" MORELLO_TARGET void copy_{0}(const void* src, void* dst) {{\n"
        "  {1}(static_cast<const {2}*>(src), static_cast<{3}*>(dst){4});\n}}\n",
        i, pack_function(functions, isa, job),
        c_type(job.into_packed ? job.other_type : job.packed_type),
        c_type(job.into_packed ? job.packed_type : job.other_type),
        job.elastic != 0 ? fmt::format(", {}", all[i].length) : "");
  }
  std::string text = "#include <cstddef>\n#include <cstdint>\n";
  if (!isa.include.empty()) text += fmt::format("#include {}\n", isa.include);
  text += "#define MORELLO_UNUSED __attribute__((unused))\n#define MORELLO_TARGET";
  if (!isa.attribute.empty())
    text += fmt::format(" __attribute__((target(\"{}\")))", isa.attribute);
  return text + "\nnamespace {\n" + std::string(isa.prelude) + functions.text() + "}\n" + calls;
}

// What there is of a tile.
Extents extent_of(const Copy& copy) {
  Extents e = copy.job.extent;
  if (copy.job.elastic != 0) e[K] = copy.length;
  return e;
}

void each_place(const Box& box, size_t digit, i64 place, auto visit) {
  if (digit == box.digits.size()) return visit(box.packed.fixed() + place);
  const BoxDigit& d = box.digits[digit];
  for (i64 i = 0; i < d.count; ++i) each_place(box, digit + 1, place + i * d.packed.fixed(), visit);
}

// Bytes that the copy leaves in a destination that was 0xff.
std::string expected(const Copy& copy, const Values& values) {
  const PackJob& job = copy.job;
  const AddressMap& to = job.into_packed ? job.packed : job.other;
  const AddressMap& from = job.into_packed ? job.other : job.packed;
  const Dtype type = job.into_packed ? job.packed_type : job.other_type;
  const size_t size = static_cast<size_t>(bytes(type));
  const bool padded = job.into_packed && job.elastic == 0;
  std::string out(static_cast<size_t>(to.elements) * size, padded ? '\0' : '\xff');
  // Of what is elastic so much is padding as there is.
  if (job.elastic != 0)
    for (const Box& box : padding_boxes(job.packed, extent_of(copy)))
      each_place(box, 0, 0, [&](i64 place) {
        out.replace(static_cast<size_t>(place) * size, size, std::string(size, '\0'));
      });
  each_index(extent_of(copy), [&](const Extents& x) {
    const std::string element = test::encode(type, {values[static_cast<size_t>(from.offset(x))]});
    out.replace(static_cast<size_t>(to.offset(x)) * size, size, element);
  });
  return out;
}

std::string run(void (*function)(const void*, void*), const Copy& copy, bool at_end) {
  const PackJob& job = copy.job;
  const AddressMap& from = job.into_packed ? job.other : job.packed;
  std::mt19937 random(7);
  Values values;
  // Behind the last element there is nothing.
  i64 elements = job.elastic != 0 ? 0 : from.elements;
  if (job.elastic != 0)
    each_index(extent_of(copy),
               [&](const Extents& x) { elements = std::max(elements, from.offset(x) + 1); });
  for (i64 i = 0; i < elements; ++i) values.push_back(static_cast<double>(random() % 120));
  const std::string in = test::encode(job.into_packed ? job.other_type : job.packed_type, values);
  const std::string want = expected(copy, values);
  const Guarded src(in.size(), at_end), dst(want.size(), at_end);
  std::memcpy(src.as<void>(), in.data(), in.size());
  function(src.as<const void>(), dst.as<void>());
  dst.check("copy");
  return std::memcmp(dst.as<void>(), want.data(), want.size()) == 0 ? "" : "differs";
}

void test_copies(const Isa& isa, const test::Compiler& compiler, const std::string& name) {
  CAPTURE(name);
  const std::vector<Copy> all = copies();
  const std::string base = test::work_directory(name) + "/copies";
  test::write_file(base + ".cc", source(isa, all));
  REQUIRE(test::compile(compiler, base + ".cc", base + ".so") == "");
  if (!isa.runs_here()) return;
  void* library = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  for (size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    void* symbol = dlsym(library, fmt::format("copy_{}", i).c_str());
    REQUIRE(symbol != nullptr);
    for (bool at_end : {false, true})
      CHECK(run(reinterpret_cast<void (*)(const void*, void*)>(symbol), all[i], at_end) == "");
  }
  dlclose(library);
}

TEST_CASE("copies of every type, order and raggedness") {
  const std::string flags = "-std=c++17 -O1 -shared -fPIC";
  for (const Isa* isa : isa_table())
    if (kLong || !isa->base)  // those that extend another copy as it does
      test_copies(*isa, {MORELLO_TEST_CXX, flags}, "copies_" + std::string(isa->name));
  if (*MORELLO_TEST_CLANG != '\0')
    test_copies(*isa_table()[0], {MORELLO_TEST_CLANG, flags}, "copies_clang");
}

}  // namespace
}  // namespace morello
