// Where rows of a part of an operand begin.

#include <fmt/format.h>

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

}  // namespace
}  // namespace morello
