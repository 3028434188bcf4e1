// Answers with tables that other searches have filled, through the disk, are those without.
#include "search/stored_tables.h"

#include <random>

#include "long.h"
#include "search/store_fixture.h"
#include "toy.h"

namespace morello {
namespace {

constexpr int kKernels = kLong ? 2000 : 40;

// Shapes that share factors, so that sub-problems meet.
std::string random_kernel(std::mt19937& random) {
  const int sizes[] = {1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 32, 48};
  const auto size = [&] { return sizes[random() % std::size(sizes)]; };
  const int m = size(), n = size(), k = size(), b = 1 + static_cast<int>(random() % 4);
  switch (random() % 10) {
    case 0:
      return fmt::format("(a: f32[{},{}], b: f32[{},{}]): f32 = matmul(a, b)", m, k, k, n);
    case 1:
      return fmt::format("(a: f32[{},{}], b: f32[{},{}] packed): f32 = matmul(a, b)", m, k, k, n);
    case 2:
      return fmt::format("(a: f32[{},{}], b: f32[{},{}] col): f32 = matmul(a, b)", m, k, k, n);
    case 3:
      return fmt::format("(a: bf16[1,{}], b: bf16[{},{}] packed): f32 = matmul(a, b)", k, k, n);
    case 4:
      return fmt::format("(a: f32[{},{},{}], b: f32[{},{},{}]): f32 = matmul(a, b)", b, m, k, b, k,
                         n);
    case 5:
      return fmt::format("(x: f32[{},{}]): f32 = reduce_sum(x, axis={})", m, k, random() % 2);
    case 6:
      return fmt::format("(x: f32[{},{}], y: f32[{},{}]): f32 = x + y", m, n, m, n);
    case 7:
      return fmt::format("(a: f32[{},{}], b: f32[{},{}]): f32 = relu(matmul(a, b))", m, k, k, n);
    case 8:
      return fmt::format(
          "(a: f32[{},{}], b: f32[{},{}], c: f32[{}]): bf16 = gelu(matmul(a, b) + c)", m, k, k, n,
          n);
    default:
      return fmt::format("(x: bf16[{},{}]): f32 col = convert(x)", m, n);
  }
}

TEST_CASE("answers with tables of other kernels are those without") {
  const Scratch d;
  std::mt19937 random(21);
  const Machine machines[] = {toy_machine(), toy_machine(2048, 16384, 65536)};
  std::vector<std::string> notes;
  i64 specs[2] = {};
  for (int i = 0; i < kKernels; ++i) {
    // A process of its own, in effect: nothing is kept but the directory.
    MemoStore store(d.path());
    StoredTables tables(store, [&](const std::string& note) { notes.push_back(note); });
    const std::string text = random_kernel(random);
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine& machine = machines[random() % 2];
    const Isa& isa = *isa_table()[random() % isa_table().size()];
    SearchOptions options{.threads = 1 + static_cast<int>(random() % 2),
                          .jobs = 1 + static_cast<int>(random() % 3)};
    const std::string want = answer(k, machine, isa, options);
    options.tables = &tables;
    for (int again : {0, 1}) {
      const i64 before = specs[again];
      CHECK(answer(k, machine, isa, options, &specs[again]) == want);
      // With several jobs timing decides which families are tried; a Spec for several threads is
      // not kept.
      if (again && options.jobs == 1 && options.threads == 1) CHECK(specs[again] == before);
    }
  }
  CHECK(notes.empty());
  CHECK(whole_tables(d.path()) > 10);
  MESSAGE("specs solved with tables of others: ", specs[0], ", with its own: ", specs[1]);
}

TEST_CASE("what is merged keeps every box") {
  SpatialMemo both, one, two;
  std::mt19937 random(22);
  const auto number = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  struct Row {
    Key key;
    Limits asked;
    Entry entry;
  };
  std::vector<Row> rows;
  for (int i = 0; i < 2000; ++i) {
    Key key;
    key.page[0] = static_cast<std::uint64_t>(number(5));
    key.point = {static_cast<std::uint16_t>(number(10)), static_cast<std::uint16_t>(number(10))};
    const i64 at = 10 * i;  // boxes of one Spec do not meet
    const Entry entry{Cost::cycles(i + 1),
                      {{at, 0, 0}},
                      {{at + 9, 99, 99}},
                      {.rewrite = 1, .subject = 0, .detail = 0, .value = i}};
    rows.push_back({key, {{at + 5, 50, 50}}, entry});
    (number(2) ? one : two).insert(key, rows.back().asked, entry);
  }
  const std::string first = one.frozen("");
  const std::string merged = two.frozen(first);
  CHECK(one.frozen("") == one.frozen("no table"));
  CHECK(one.frozen(std::string(merged.size(), '\0')) == first);
  for (size_t cut = 0; cut < merged.size(); cut += 1 + cut / 8)
    CHECK_FALSE(both.use(merged.substr(0, cut)));
  REQUIRE(both.use(merged));
  CHECK(both.saved_size().boxes == 2000);
  CHECK(both.size().boxes == 0);
  for (const Row& row : rows) {
    Entry got;
    REQUIRE(both.find(row.key, row.asked, got));
    CHECK(got.cost == row.entry.cost);
    CHECK(got.decision == row.entry.decision);
    CHECK(got.peak.bytes == row.entry.peak.bytes);
    CHECK(got.limit.bytes == row.entry.limit.bytes);
  }
  CHECK_FALSE(one.use("no table"));
}

// A table that gets a little again and again has few segments, and loses nothing.
TEST_CASE("many small additions") {
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    SpatialMemo memo;
    for (int j = 0; j < (i % 7 == 0 ? 300 : 10); ++j) {
      Key key;
      key.point = {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j)};
      memo.insert(key, {}, {Cost::cycles(1000 * i + j), {}, Limits::unlimited(), {}});
    }
    bytes = memo.frozen(bytes);
    SpatialMemo all;
    REQUIRE(all.use(bytes));
    for (int k = 0; k <= i; ++k)
      for (int j : {0, 9, 10}) {
        Key key;
        key.point = {static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(j)};
        Entry entry;
        REQUIRE(all.find(key, {}, entry) == (j < 10 || k % 7 == 0));
        if (j < 10) CHECK(entry.cost == Cost::cycles(1000 * k + j));
      }
  }
  SpatialMemo all;
  REQUIRE(all.use(bytes));
  CHECK(all.saved_size().boxes == 15 * 300 + 85 * 10);
}

TEST_CASE("tables that are whole but no maps, and what a directory has") {
  const Scratch d;
  MemoStore store(d.path());
  std::vector<std::string> notes;
  StoredTables tables(store, [&](const std::string& note) { notes.push_back(note); });
  const KernelSpec k = spec("(a: f32[8,8], b: f32[8,8]): f32 = matmul(a, b)");
  const Machine machine = toy_machine();
  const SearchOptions options{.tables = &tables};
  const std::string want = answer(k, machine, *find_isa("scalar"), options);
  std::vector<StoredTable> rows = stored_tables(store);
  REQUIRE(!rows.empty());
  for (const StoredTable& row : rows) {
    CHECK(row.usable);
    CHECK(row.machine == "toy");
    CHECK(row.family.starts_with("scalar "));
    CHECK(row.problem == "");
    CHECK(row.boxes >= row.specs);
    CHECK(row.specs > 0);
  }
  for (const MemoStore::Table& t : store.list())
    CHECK(save(store, t.signature, "whole, but no map") == "");
  CHECK(stored_tables(store)[0].problem == "it is not a map");
  CHECK(answer(k, machine, *find_isa("scalar"), options) == want);
  CHECK(notes.size() == rows.size());
  CHECK(notes[0].ends_with(": it is not a map; it is not used"));
  for (const StoredTable& row : stored_tables(store)) CHECK(row.usable);

  CHECK(save(store, "sources 0123\nkernel k\nname = \"m\"\n", "of other sources") == "");
  int others = 0;
  for (const StoredTable& row : stored_tables(store))
    if (!row.usable) {
      ++others;
      CHECK(row.machine == "m");
      CHECK(row.family == "k");
      CHECK(row.problem == "");
      CHECK(row.specs == 0);
    }
  CHECK(others == 1);
}

}  // namespace
}  // namespace morello
