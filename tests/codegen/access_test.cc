// The text that moves a vector between memory and a register.
#include "codegen/access.h"

#include <doctest/doctest.h>

namespace morello {
namespace {

// `n` offsets from 5, `step` elements and `strides` times a stride of operand 2 apart.
std::vector<Offset> offsets(i64 n, i64 step, i64 strides = 0) {
  std::vector<Offset> all;
  for (i64 i = 0; i < n; ++i)
    all.push_back(5 + i * step + Offset::of(2 * kMostDigits, i * strides, 100));
  return all;
}

Access row(int lanes) {
  Access a;
  a.kind = Access::Kind::kVector;
  a.lanes = lanes;
  a.code = "move({p}, {r0});";
  return a;
}

std::string written(const std::vector<Offset>& to, int lanes) {
  Writer w;
  Names names;
  write_vector(w, names, row(lanes), Dtype::f32, "out", to, "v");
  return w.text();
}

std::string read(const std::vector<Offset>& from, int lanes) {
  Writer w;
  Names names;
  read_vector(w, names, row(lanes), Dtype::i8, "x", from, "v");
  return w.text();
}

TEST_CASE("adjacent elements go at once") {
  CHECK(written(offsets(8, 1), 8) == "move(out + 5, v);\n");
  CHECK(read(offsets(8, 1), 8) == "move(x + 5, v);\n");
}

TEST_CASE("a few elements apart go one by one") {
  CHECK(written(offsets(4, 7), 4) == R"(float t_0[4];
move(t_0, v);
out[5] = t_0[0];
out[12] = t_0[1];
out[19] = t_0[2];
out[26] = t_0[3];
)");
}

// A line for each made headers that compilers took seconds for.
TEST_CASE("many elements one step apart go by a loop") {
  CHECK(written(offsets(8, 0, 2), 8) == R"(float t_0[8];
move(t_0, v);
for (std::ptrdiff_t i_2 = 0; i_2 < 8; i_2 += 4) {
  float* p_3 = out + 5 + i_2 * (2 * s2s0);
  p_3[0] = t_0[i_2];
  p_3[(2 * s2s0)] = t_0[i_2 + 1];
  p_3[(4 * s2s0)] = t_0[i_2 + 2];
  p_3[(6 * s2s0)] = t_0[i_2 + 3];
}
)");
  CHECK(read(offsets(10, -3), 16) == R"(std::int8_t t_0[16] = {};
for (std::ptrdiff_t i_1 = 0; i_1 < 8; i_1 += 4) {
  const std::int8_t* p_2 = x + 5 + i_1 * -3;
  t_0[i_1] = p_2[0];
  t_0[i_1 + 1] = p_2[-3];
  t_0[i_1 + 2] = p_2[-6];
  t_0[i_1 + 3] = p_2[-9];
}
t_0[8] = x[-19];
t_0[9] = x[-22];
move(t_0, v);
)");
}

TEST_CASE("a part of a group is put together in a register") {
  struct Row {
    Dtype type;
    i64 n, step, size;
    std::string_view address, text;
  };
  constexpr Row kTable[] = {
      {Dtype::u8, 3, 1, 4, "&t_0",
       "const std::uint32_t t_0 = static_cast<std::uint32_t>(static_cast<std::uint8_t>(x[5])) | "
       "static_cast<std::uint32_t>(static_cast<std::uint8_t>(x[6])) << 8 | "
       "static_cast<std::uint32_t>(static_cast<std::uint8_t>(x[7])) << 16;\n"},
      {Dtype::bf16, 1, 1, 2, "&t_0",
       "const std::uint32_t t_0 = static_cast<std::uint32_t>(static_cast<std::uint16_t>(x[5]));\n"},
      {Dtype::i8, 1, 1, 8, "&t_0",
       "const std::uint64_t t_0 = static_cast<std::uint64_t>(static_cast<std::uint8_t>(x[5]));\n"},
      {Dtype::u8, 2, 3, 4, "t_0", "std::uint8_t t_0[4] = {};\nt_0[0] = x[5];\nt_0[1] = x[8];\n"},
      {Dtype::bf16, 7, 1, 8, "t_0",
       "std::uint16_t t_0[8] = {};\n__builtin_memcpy(t_0, x + 5, 14);\n"},
  };
  for (const Row& row : kTable) {
    Writer w;
    Names names;
    CHECK(stage_group(w, names, row.type, "x", offsets(row.n, row.step), row.size) == row.address);
    CHECK(w.text() == row.text);
  }
}

TEST_CASE("elements at other distances go one by one") {
  std::vector<Offset> there = offsets(8, 2);
  there[5] = 1000;
  const std::string text = written(there, 8);
  CHECK(text.find("for (") == std::string::npos);
  CHECK(text.find("out[13] = t_0[4];\nout[1000] = t_0[5];\nout[17] = t_0[6];\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace morello
