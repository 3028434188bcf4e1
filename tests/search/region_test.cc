// Where rows of a part of an operand begin, and what that costs.

#include <fmt/format.h>

#include <algorithm>

#include "toy.h"

namespace morello {
namespace {

// Channels first, 3 x 3 windows: of so many channels.
Region picture(i64 rows, i64 columns, i64 channels, i64 out_rows) {
  static const Machine machine = *load_machine("zen4");
  const KernelSpec k =
      spec(fmt::format("(x: f32[1,{0},{1},40] order(0, 3, 1, 2), k: f32[3,3,40,8]): "
                       "f32 order(0, 3, 1, 2) = conv2d(x, k)",
                       rows, columns));
  const Computation& c = k.computation();
  const Family f = families(c, *find_isa("avx2"))[0];
  const Space space({&c, &machine, f, 1});
  Spec s = space.problem().root();
  for (size_t d = 0; d < c.dims.size(); ++d) {
    if (c.dims[d].name == "h") s.extent[d] = out_rows;
    if (c.dims[d].name == "w") s.extent[d] = 16;
    if (c.dims[d].name == "c") s.extent[d] = channels;
  }
  return space.region(s, 0);
}

TEST_CASE("places of a page that rows begin in, in one dim or several") {
  struct Row {
    i64 rows, columns, channels, out_rows;
    i64 count, places;
  };
  const Row kTable[] = {
      // Rows of 256 bytes of one channel: sixteen to a page, whatever there are.
      {64, 64, 1, 1, 3, 16},
      {64, 64, 1, 30, 32, 16},
      // Channels 16 KiB apart begin where the first does, 8 KiB and 128 bytes in others.
      {64, 64, 32, 1, 96, 3},
      {64, 64, 32, 14, 512, 16},
      {65, 32, 32, 1, 96, 32},
      // Channels 17 KiB apart begin in eight places, of the sixteen of their rows.
      {66, 64, 8, 1, 24, 16},
      {66, 64, 8, 30, 256, 16},
      // Rows of 272 bytes begin in any line.
      {60, 68, 4, 1, 12, 12},
      {60, 68, 40, 1, 120, 64},
  };
  for (const Row& row : kTable) {
    CAPTURE(row.rows);
    CAPTURE(row.columns);
    CAPTURE(row.channels);
    CAPTURE(row.out_rows);
    const Region r = picture(row.rows, row.columns, row.channels, row.out_rows);
    CHECK(r.rows == row.count);
    CHECK(r.places() == row.places);
  }
}

Family family_of(const Computation& c, std::string_view text) {
  const std::vector<Family> all = families(c, *find_isa("avx2"));
  const auto f = std::find_if(all.begin(), all.end(), [&](const Family& one) {
    return one.str(c).find(text) != std::string::npos;
  });
  REQUIRE(f != all.end());
  return *f;
}

// A leaf of all that a family takes at once, of windows that are whole, x and the output in L3.
Spec leaf_from_l3(const Space& space) {
  Spec s = space.problem().root();
  for (size_t d = 0; d < space.computation().dims.size(); ++d)
    if (!space.computation().dims[d].reduction)
      s.extent[d] = std::min(s.extent[d], space.family().quantum[d]);
  s.place.fill({kL1, false});
  s.place[0].level = s.place[static_cast<size_t>(space.operands()) - 1].level = kL3;
  return s;
}

// L1 has eight ways.
TEST_CASE("asking for an output whose rows and those that a leaf reads crowd L1 costs more") {
  struct Row {
    i64 columns;
    std::string_view quantum;
    bool lost;
  };
  const Row kTable[] = {
      // Rows of x of 29184 bytes begin in eight places, the output's, 112 x 256 bytes, in one.
      {114, "h:6,g:16", false},
      // Those of x in one place, eight of them, the output's in eight.
      {128, "h:6,g:16", true},
      {16, "h:6,g:16", true},
      // Neighbours lie in other lines: three rows of windows, and one.
      {128, "w:6,g:16", false},
      {16, "w:6,g:16", false},
  };
  const Machine machine = *load_machine("zen4");
  Machine slow = machine;  // L2, that is, from which lost lines come
  slow.levels[kL2].latency_millicycles *= 2;
  for (const Row& row : kTable) {
    CAPTURE(row.columns);
    CAPTURE(row.quantum);
    const KernelSpec k = spec(fmt::format(
        "(x: f32[1,64,{},64], k: f32[3,3,1,64]): f32 = conv2d(x, k, groups=64)", row.columns));
    const Family f = family_of(k.computation(), row.quantum);
    const Space space({&k.computation(), &machine, f, 1}), other({&k.computation(), &slow, f, 1});
    const Spec s = leaf_from_l3(space);
    const Call asks{.ahead_operand = 2};
    CHECK((space.leaf(s, asks) < other.leaf(s, asks)) == row.lost);
    CHECK(space.leaf(s, {}) == other.leaf(s, {}));
  }
}

TEST_CASE("lines of windows come from L3 sooner than others") {
  const Machine machine = *load_machine("zen4");
  const Computation c =
      spec("(x: f32[1,64,112,64], k: f32[3,3,1,64]): f32 = conv2d(x, k, groups=64)").computation();
  const Space space({&c, &machine, family_of(c, "h:6,g:16"), 1});
  const Spec s = leaf_from_l3(space);
  for (const int o : {0, 1})
    for (const Level from : {kL2, kL3, kMemory}) {
      CAPTURE(o);
      CAPTURE(from);
      Spec far = s;
      far.place[static_cast<size_t>(o)].level = from;
      const Region r = space.region(far, o);
      const Cost others = space.transfer(r, from);
      CHECK((space.transfer_by_leaves(far, o, r) < others) == (o == 0 && from == kL3));
    }
}

}  // namespace
}  // namespace morello
