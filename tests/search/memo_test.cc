#include "search/memo.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <tuple>

namespace morello {
namespace {

Entry entry(i64 cost, Limits peak, Limits limit) {
  return {Cost::cycles(cost), peak, limit, {.rewrite = 1, .value = cost}};
}

TEST_CASE("the worked example of memo.h") {
  Memo memo;
  const Key key{1, 2};
  memo.insert(key, entry(10, {{1024, 0, 0}}, {{6143, Limits::kUnlimited, Limits::kUnlimited}}));
  struct Row {
    i64 l1;
    bool hit;
  };
  for (const Row& row :
       {Row{1023, false}, {1024, true}, {2048, true}, {6143, true}, {6144, false}}) {
    CAPTURE(row.l1);
    CHECK((memo.find(key, {{row.l1, 500, 500}}) != nullptr) == row.hit);
  }
  CHECK(memo.find({1, 3}, {{2048, 0, 0}}) == nullptr);
  CHECK(memo.find({2, 2}, {{2048, 0, 0}}) == nullptr);
}

// Against a plain list of boxes per key: many keys (so that the table grows), many boxes.
TEST_CASE("answers like a map of lists") {
  std::mt19937 random(20261121);
  auto number = [&](int n) { return static_cast<i64>(random() % static_cast<unsigned>(n)); };
  Memo memo;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Entry>> plain;
  for (int i = 0; i < 200'000; ++i) {
    const Key key{static_cast<std::uint64_t>(number(50)), static_cast<std::uint64_t>(number(800))};
    if (i % 4 == 0) {
      // Disjoint along the first level, as boxes of one Spec are.
      const i64 slot = static_cast<i64>(plain[{key.high, key.low}].size());
      const Limits peak{{10 * slot, number(5), number(5)}};
      const Limits limit{{10 * slot + 9, peak.bytes[1] + number(5), Limits::kUnlimited}};
      memo.insert(key, entry(i, peak, limit));
      plain[{key.high, key.low}].push_back(entry(i, peak, limit));
    }
    const Limits q{{number(60), number(10), number(10)}};
    const Entry* want = nullptr;
    for (const Entry& e : plain[{key.high, key.low}])
      if (fits(e.peak, q) && fits(q, e.limit)) want = &e;
    const Entry* got = memo.find(key, q);
    REQUIRE((got != nullptr) == (want != nullptr));
    if (got) REQUIRE(got->decision == want->decision);
  }
  CHECK(memo.boxes() == 50'000);
  CHECK(memo.bytes() >= 50'000 * static_cast<i64>(sizeof(Entry)));
}

}  // namespace
}  // namespace morello
