// What leaves pay for what they asked for ahead of time, or did not, far away.

#include "toy.h"

namespace morello {
namespace {

// Leaves of products of few rows and a matrix by columns that lies in memory.
struct Leaf {
  Machine machine = *load_machine("zen4");
  KernelSpec kernel;
  Extents extent = {};
  Level a = kL1, b = kMemory;
  std::string_view family;

  Leaf(std::string_view text, Extents e, std::string_view f)
      : kernel(spec(text)), extent(e), family(f) {
    LevelDesc& memory = machine.levels[kMemory];
    memory.next_rows_millicycles = 0;
    memory.line_millicycles = memory.stream_millicycles = 11'000;
    memory.prefetched_millicycles = 8'000;
    memory.next_pieces_millicycles = 9'000;
    memory.next_piece_start_millicycles = 0;
    machine.core.load = 64'000;  // arithmetic is what leaves wait for
  }
  Spec part() const {
    Spec s = problem().root();
    for (int d = 0; d < 3; ++d) s.extent[d] = extent[d];
    s.place.fill({kL1, false});
    s.place[0].level = a;
    s.place[1].level = b;
    return s;
  }
  Problem problem() const {
    const Result<Family> f = parse_family(family, kernel.computation(), *find_isa("avx2"));
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    return {&kernel.computation(), &machine, *f, 1};
  }
  i64 cost(i64 ahead, Level to = kL1) const {
    const Problem p = problem();
    const Call call{.ahead_operand = ahead > 0 ? 1 : -1,
                    .ahead_bytes = ahead,
                    .ahead_to = ahead > 0 ? to : kL1};
    return static_cast<i64>(Space(p).leaf(part(), call).value());
  }
  i64 view() const {
    const Problem p = problem();
    Spec whole = part();
    whole.extent[0] = 4 * extent[0];  // who use it first are a part of them
    return static_cast<i64>(Space(p).view(whole, 1).value());
  }
};

constexpr std::string_view kFour =
    "dot_f32x8 lane=k quantum=m:4,n:2,k:8 a=load_f32x8 b=load_f32x8 out=store_f32";
constexpr std::string_view kFourLong =
    "(a: f32[4,4096], b: f32[512,4096]): f32 = matmul(a, transpose(b))";
constexpr i64 kLines = 2 * 64;  // of 2 x 1024
constexpr i64 kAhead = 2 * 4096 * 4;

TEST_CASE("pieces of rows cost what the machine says, asked for or not") {
  Leaf l(kFourLong, {4, 2, 1024}, kFour);
  LevelDesc& memory = l.machine.levels[kMemory];
  const i64 asked = l.cost(kAhead), alone = l.cost(0);
  CHECK(asked < alone);
  memory.next_pieces_millicycles = 10'000;
  CHECK(l.cost(kAhead) - asked == kLines * 1'000);
  CHECK(l.cost(0) == alone);
  memory.next_pieces_millicycles = 9'000;
  memory.next_piece_start_millicycles = 70'000;
  CHECK(l.cost(kAhead) - asked == 2 * 70'000);
  CHECK(l.cost(0) - alone == 2 * 70'000);
  memory.next_piece_start_millicycles = 0;
  // Nothing hides what nobody has asked for; 40 % of the arithmetic is not hidden beside the rest.
  Leaf near = l;
  near.b = kL1;
  const i64 compute = near.cost(0);
  CHECK(alone - compute == kLines * 11'000);
  CHECK(asked == kLines * 9'000 + compute * 40 / 100);
  // Without the key arithmetic hides some of it.
  memory.next_pieces_millicycles = 0;
  CHECK(l.cost(0) < alone - compute * 70 / 100);
}

TEST_CASE("whole rows are pieces if nothing else is known of them, and one row is a stream") {
  Leaf l("(a: f32[4,1024], b: f32[512,1024]): f32 = matmul(a, transpose(b))", {4, 2, 1024}, kFour);
  LevelDesc& memory = l.machine.levels[kMemory];
  const i64 pieces = l.cost(2 * 4096), alone = l.cost(0);
  memory.next_pieces_millicycles = 10'000;
  CHECK(l.cost(2 * 4096) - pieces == kLines * 1'000);
  memory.next_rows_millicycles = 6'000;
  const i64 rows = l.cost(2 * 4096, kL2);
  memory.next_rows_millicycles = 7'000;
  CHECK(l.cost(2 * 4096, kL2) - rows == kLines * 1'300);  // 30 % more of two than of eight
  memory.next_pieces_millicycles = memory.next_rows_millicycles = 0;
  CHECK(l.cost(0) < alone);
  l.extent = {4, 1, 1024};
  const i64 row = l.cost(0);
  memory.next_pieces_millicycles = 9'000;
  CHECK(l.cost(0) == row);
}

TEST_CASE("a view of what lies in memory is not behind the arithmetic of its first use") {
  Leaf l(kFourLong, {4, 2, 1024}, kFour);
  CHECK(l.view() == kLines * 11'000);
  l.machine.levels[kMemory].next_piece_start_millicycles = 70'000;
  CHECK(l.view() == kLines * 11'000 + 2 * 70'000);
  l.machine.levels[kMemory].next_pieces_millicycles = 0;
  CHECK(l.view() < kLines * 11'000);
  // Nor of whole rows.
  Leaf whole("(a: f32[4,8192], b: f32[512,8192]): f32 = matmul(a, transpose(b))", {4, 2, 8192},
             kFour);
  CHECK(whole.view() == 2 * 512 * 11'000);
  whole.machine.levels[kMemory].next_pieces_millicycles = 0;
  CHECK(whole.view() < 2 * 512 * 11'000);
}

TEST_CASE("what is read again from L2 costs more beside what is read from memory") {
  Leaf l(kFourLong, {4, 2, 1024}, kFour);
  l.a = kL2;
  i64& beside = l.machine.levels[kL2].beside_memory_millicycles;
  beside = 0;
  const i64 before = l.cost(kAhead);
  // 256 lines of a; half of the arithmetic hides some, as long as there is more to hide.
  beside = 20'000;
  const i64 some = l.cost(kAhead);
  CHECK(some > before);
  beside = 21'000;
  CHECK(l.cost(kAhead) - some == 4 * 64 * 1'000);
  // No more than eight lines for each from memory.
  Leaf many("(a: f32[12,4096], b: f32[512,4096]): f32 = matmul(a, transpose(b))", {12, 1, 1024},
            "dot_f32x8 lane=k quantum=m:12,k:8 a=load_f32x8 b=load_f32x8 out=store_f32");
  many.a = kL2;
  many.machine.levels[kL2].beside_memory_millicycles = 100'000;
  const i64 all = many.cost(0);
  many.machine.levels[kL2].beside_memory_millicycles = 101'000;
  CHECK(many.cost(0) - all == 8 * 64 * 1'000);
}

TEST_CASE("of one row, all of it, L1 keeps most") {
  struct Row {
    i64 rows, k, whole, lines;
  };
  // L1 has 32 KiB, three quarters are 384 lines.
  constexpr Row kRows[] = {
      {1, 6144, 6144, 384 / 4}, {1, 6160, 6160, 385}, {2, 1024, 1024, 2 * 64}, {1, 1024, 3072, 64}};
  for (const Row& row : kRows) {
    CAPTURE(row.rows);
    CAPTURE(row.k);
    Leaf l(
        fmt::format("(a: f32[4,{0}], b: f32[512,{0}]): f32 = matmul(a, transpose(b))", row.whole),
        {row.rows, 2, row.k}, kFour);
    l.a = kL2;
    REQUIRE(l.machine.levels[kL1].bytes == 32768);
    const i64 ahead = 2 * row.whole * 4;
    l.machine.levels[kL2].beside_memory_millicycles = 100'000;
    const i64 before = l.cost(ahead);
    l.machine.levels[kL2].beside_memory_millicycles = 101'000;
    CHECK(l.cost(ahead) - before == row.lines * 1'000);
  }
}

}  // namespace
}  // namespace morello
