// What windows have in common, and how many of their taps a leaf takes at once.
#include "impl/overlap.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "impl/family.h"
#include "spec/kernel_spec.h"

namespace morello {
namespace {

i64 counted(i64 rows, i64 taps, const Overlap& o) {
  std::set<i64> elements;
  for (i64 p = 0; p < rows; ++p)
    for (i64 t = 0; t < taps; ++t) elements.insert(p * o.stride + t * o.gap);
  return static_cast<i64>(elements.size());
}

TEST_CASE("elements that rows have in so many taps") {
  for (const i64 stride : {1, 2, 3, 4, 6})
    for (const i64 gap : {1, 2, 3, 4, 9})
      for (i64 rows = 1; rows <= 8; ++rows)
        for (i64 taps = 0; taps <= 9; ++taps) {
          const Overlap o{.stride = stride, .gap = gap, .taps = 4};
          CAPTURE(fmt::format("{} {} {} {}", stride, gap, rows, taps));
          CHECK(o.at_once(rows, taps) == counted(rows, taps, o));
          i64 all = 0;
          for (i64 left = taps; left > 0; left -= 4)
            all += counted(rows, std::min<i64>(4, left), o);
          CHECK(o.elements(rows, taps) == all);
          // No other parts of four at most have fewer: bounds rely on it.
          for (i64 first = 1; first < std::min<i64>(5, taps); ++first)
            CHECK(o.elements(rows, first) + o.elements(rows, taps - first) >= all);
        }
}

TEST_CASE("windows that have something in common") {
  struct Row {
    std::string_view spec;
    const char* found;  // input, row, tap, stride and gap
  };
  for (const Row& row : std::initializer_list<Row>{
           {"(x: f32[1,9,8,24], k: f32[3,2,1,24]): f32 = conv2d(x, k, groups=24)",
            "x h r 1 1, x w s 1 1"},
           {"(x: f32[1,9,8,24], k: f32[3,2,1,24]): f32 = conv2d(x, k, stride=2, groups=24)",
            "x h r 2 1"},
           {"(x: f32[1,9,8,24], k: f32[3,3,1,24]): f32 = "
            "conv2d(x, k, stride=2, dilation=2, groups=24)",
            "x h r 2 2, x w s 2 2"},
           {"(x: f32[1,9,9,24], k: f32[3,3,1,24]): f32 = conv2d(x, k, stride=3, groups=24)", ""},
           {"(x: f32[1,9,9,24], k: f32[1,3,1,24]): f32 = conv2d(x, k, groups=24)", "x w s 1 1"},
           // Columns and channels of a window are one dim.
           {"(x: f32[2,9,9,4], k: f32[2,3,4,8]): f32 = conv2d(x, k)", "x h r 1 1, x w c 4 1"},
           {"(a: f32[8,8], b: f32[8,8]): f32 = matmul(a, b)", ""},
       }) {
    CAPTURE(row.spec);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    std::string found;
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
      if (const std::optional<Overlap> o = overlap_along(c, d)) {
        CHECK(o->row == d);
        CHECK(o->taps == c.dims[o->tap].extent);
        found +=
            fmt::format("{}{} {} {} {} {}", found.empty() ? "" : ", ", c.operands[o->input].name,
                        c.dims[d].name, c.dims[o->tap].name, o->stride, o->gap);
      }
    CHECK(found == row.found);
  }
}

// As many taps as registers are left for what is held of the filter; where one is, or where windows
// have nothing in common in so many, tap after tap.
TEST_CASE("taps that leaves take at once") {
  struct Row {
    std::string_view spec, isa, quantum;
    const char* taps;
    int registers;
  };
  constexpr std::string_view k3x3 =
      "(x: f32[1,14,14,64], k: f32[3,3,1,64]): f32 = conv2d(x, k, groups=64)";
  constexpr std::string_view k7x7 =
      "(x: f32[1,22,22,64], k: f32[7,7,1,64]): f32 = conv2d(x, k, groups=64)";
  for (const Row& row : std::initializer_list<Row>{
           {k3x3, "avx2", "h:4,g:16", "r:3", 15},
           {k3x3, "avx2", "h:5,g:16", "r:2", 15},
           {k3x3, "avx2", "h:6,g:16", "", 15},
           {k3x3, "avx2", "w:8,g:8", "s:3", 12},
           {k3x3, "avx512", "h:12,g:32", "r:3", 31},
           {k7x7, "avx2", "h:8,g:8", "r:6", 15},
           {k7x7, "avx512", "w:10,g:32", "s:5", 31},
           {"(x: f32[1,29,29,64], k: f32[3,3,1,64]): f32 = conv2d(x, k, stride=2, groups=64)",
            "avx2", "h:4,g:16", "r:3", 15},
           {"(x: f32[1,29,29,64], k: f32[3,3,1,64]): f32 = conv2d(x, k, stride=2, groups=64)",
            "avx2", "h:5,g:16", "", 13},
           // Channels first: one number of the filter for a whole vector.
           {"(x: f32[1,14,18,64] order(0, 3, 1, 2), k: f32[3,3,1,64]): "
            "f32 order(0, 3, 1, 2) = conv2d(x, k, groups=64)",
            "avx2", "h:6,w:16", "r:2", 15},
           // Elements that are broadcast, of which one load brings one at a time.
           {"(x: f32[1,14,14,16], k: f32[3,3,16,64]): f32 = conv2d(x, k)", "avx2", "h:4,f:16", "",
            11},
       }) {
    CAPTURE(row.spec);
    CAPTURE(row.quantum);
    const KernelSpec k = *parse_spec(row.spec);
    const Computation& c = k.computation();
    bool there = false;
    for (const Family& f : families(c, *find_isa(row.isa))) {
      const std::string text = f.str(c);
      CAPTURE(text);
      if (text.find(fmt::format("quantum={} ", row.quantum)) == text.npos) continue;
      if (f.kernel->lanes != find_isa(row.isa)->widest()) continue;
      there = true;
      CHECK(f.overlap.has_value() == (row.taps[0] != 0));
      const size_t at = text.find(fmt::format(" taps={}", row.taps));
      CHECK((at != text.npos) == f.overlap.has_value());
      CHECK(f.registers == row.registers);
      CHECK(*parse_family(text, c, *f.isa) == f);
    }
    CHECK(there);
  }
}

}  // namespace
}  // namespace morello
