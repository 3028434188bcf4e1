#include "search/saved_map.h"

#include <doctest/doctest.h>

#include "search/freeze.h"
#include "search/random_boxes.h"

namespace morello {
namespace {

template <typename Bytes>
std::span<const std::byte> span_of(const Bytes& bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}

template <typename Map>
struct Row {
  typename Map::PageKey key;
  typename Map::Point point;
  typename Map::Content content;
  auto operator<=>(const Row&) const = default;
};
template <typename Map, typename From>
std::vector<Row<Map>> rows_of(const From& from) {
  std::vector<Row<Map>> rows;
  from.for_each([&](const auto& k, const auto& p, const auto& c) { rows.push_back({k, p, c}); });
  return rows;
}

template <int kDims, int kLimits>
SpatialMap<kDims, kLimits> random_map(int inserts, int pages, int side, int decisions) {
  SpatialMap<kDims, kLimits> map;
  for (int i = 0; i < inserts; ++i) {
    typename SpatialMap<kDims, kLimits>::PageKey key{};
    typename SpatialMap<kDims, kLimits>::Point point{};
    key[static_cast<size_t>(number(6))] = static_cast<std::uint64_t>(number(pages)) << 58;
    for (auto& x : point) x = static_cast<std::uint16_t>(number(side));
    map.insert(key, point, random_content<kDims, kLimits>(decisions));
  }
  return map;
}

// Box by box the same, and the same answers: around every box, at points without one, in pages that
// do not exist.
template <int kDims, int kLimits>
void round_trip(int inserts, int pages, int side, int decisions) {
  CAPTURE(kDims);
  CAPTURE(side);
  using Map = SpatialMap<kDims, kLimits>;
  const Map map = random_map<kDims, kLimits>(inserts, pages, side, decisions);
  const std::string bytes = freeze(map);
  SavedMap<kDims, kLimits> saved;
  REQUIRE(SavedMap<kDims, kLimits>::open(span_of(bytes), saved));
  const auto rows = rows_of<Map>(map);
  REQUIRE(rows_of<Map>(saved) == rows);
  REQUIRE(saved.pages() == map.pages());
  for (const Row<Map>& row : rows)
    for (int i = 0; i < 4; ++i) {
      typename Map::Vector q = i % 2 == 0 ? row.content.peak : row.content.limit;
      const auto level = static_cast<size_t>(number(kLimits));
      if (i == 2) --q[level];
      if (i == 3) ++q[level];
      typename Map::Point point = row.point;
      if (number(8) == 0) point[static_cast<size_t>(number(kDims))] ^= 1;
      typename Map::PageKey key = row.key;
      if (number(16) == 0) ++key[static_cast<size_t>(number(6))];
      typename Map::Content live, frozen;
      const bool found = map.find(key, point, q, live);
      REQUIRE(saved.find(key, point, q, frozen) == found);
      if (!found) continue;
      // Which of several boxes answers may differ; that it is one of them and holds q may not.
      for (size_t l = 0; l < kLimits; ++l) {
        REQUIRE(frozen.peak[l] <= q[l]);
        REQUIRE(q[l] <= frozen.limit[l]);
      }
      REQUIRE(std::binary_search(rows.begin(), rows.end(), Row<Map>{key, point, frozen}));
    }
}

TEST_CASE("what is frozen is what there was") {
  round_trip<1, 2>(1000, 1, 65536, 3);
  round_trip<1, 2>(5000, 60, 16, 70000);
  round_trip<3, 2>(5000, 5, 30, 4);
  round_trip<3, 2>(5000, 1, 65536, 4);    // far apart: points in full
  round_trip<2, 1>(60000, 1, 200, 1000);  // one page with many samples
  round_trip<3, 2>(10000, 20, 12, 70000);
  round_trip<2, 1>(10000, 3, 6, 10);
  round_trip<5, 4>(5000, 3, 65536, 10);
  round_trip<6, 3>(20000, 30, 4, 10);
  round_trip<3, 2>(1, 1, 1, 1);
  round_trip<3, 2>(0, 1, 1, 1);
}

TEST_CASE("the bytes do not depend on the order of insertion") {
  using Map = SpatialMap<3, 2>;
  auto rows = rows_of<Map>(random_map<3, 2>(5000, 9, 6, 50));
  Map forward, backward;
  for (const auto& r : rows) forward.insert(r.key, r.point, r.content);
  std::reverse(rows.begin(), rows.end());
  for (const auto& r : rows) backward.insert(r.key, r.point, r.content);
  CHECK(freeze(forward) == freeze(backward));
}

// Pages that differ in their key only, as those of Specs that differ in what no cost observes.
TEST_CASE("equal pages are stored once") {
  SpatialMap<2, 1> one, many;
  for (std::uint64_t page = 0; page < 100; ++page)
    for (std::uint16_t x = 0; x < 10; ++x)
      for (std::uint16_t y = 0; y < 10; ++y) {
        if (page == 0) one.insert({page}, {x, y}, {x * 1000u * y, {0}, {y}, x});
        many.insert({page}, {x, y}, {x * 1000u * y, {0}, {y}, x});
      }
  CHECK(freeze(many).size() < freeze(one).size() + 100 * 8);
}

TEST_CASE("a union drops what says nothing new") {
  using Map = SpatialMap<1, 2>;
  struct Row {
    const char* what;
    std::vector<Map::Content> old, now, expected;
  };
  const Row rows[] = {
      {"within another of the same cost",
       {{5, {1, 1}, {9, 9}, 1}},
       {{5, {2, 1}, {9, 8}, 2}},
       {{5, {1, 1}, {9, 9}, 1}}},
      {"the other way round",
       {{5, {2, 1}, {9, 8}, 2}},
       {{5, {1, 1}, {9, 9}, 1}},
       {{5, {1, 1}, {9, 9}, 1}}},
      {"equal boxes: the first decision",
       {{5, {1, 1}, {9, 9}, 2}},
       {{5, {1, 1}, {9, 9}, 1}},
       {{5, {1, 1}, {9, 9}, 1}}},
      {"another cost",
       {{5, {1, 1}, {9, 9}, 1}},
       {{6, {2, 1}, {9, 8}, 1}},
       {{5, {1, 1}, {9, 9}, 1}, {6, {2, 1}, {9, 8}, 1}}},
      {"overlapping",
       {{5, {1, 1}, {9, 9}, 1}},
       {{5, {0, 2}, {9, 9}, 1}},
       {{5, {0, 2}, {9, 9}, 1}, {5, {1, 1}, {9, 9}, 1}}},
      {"no implementation",
       {{kInfeasible, {0, 0}, {9, 9}, 0}},
       {{kInfeasible, {0, 0}, {8, 9}, 0}},
       {{kInfeasible, {0, 0}, {9, 9}, 0}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Map old, both;
    for (const auto& c : row.old) old.insert({7}, {3}, c);
    const std::string bytes = freeze(old);
    SavedMap<1, 2> saved;
    REQUIRE(SavedMap<1, 2>::open(span_of(bytes), saved));
    for (const auto& c : row.now) both.insert({7}, {3}, c);
    add_all(saved, both);
    const std::string merged = freeze_union(both);
    REQUIRE(SavedMap<1, 2>::open(span_of(merged), saved));
    std::vector<Map::Content> got;
    saved.for_each([&](const auto&, const auto&, const auto& c) { got.push_back(c); });
    CHECK(got == row.expected);
  }
}

// Whatever the bytes: no read outside (the address sanitizer watches), no endless loop, no crash.
// Bytes lie in a buffer of exactly their size.
template <typename Change>
void with_damage(const std::string& bytes, const std::vector<Row<SpatialMap<3, 2>>>& rows,
                 Change&& change) {
  std::vector<char> damaged(bytes.begin(), bytes.end());
  change(damaged);
  damaged.shrink_to_fit();
  SavedMap<3, 2> saved;
  if (!SavedMap<3, 2>::open(span_of(damaged), saved)) {
    CHECK(saved.pages() == 0);
    return;
  }
  SpatialMap<3, 2>::Content c;
  size_t found = 0;
  for (size_t i = 0; i < rows.size(); i += 7)
    found += saved.find(rows[i].key, rows[i].point, rows[i].content.peak, c);
  saved.for_each([&](const auto&, const auto&, const auto&) { ++found; });
  CHECK(found < 100'000'000);
}

TEST_CASE("damaged bytes are survived") {
  const auto map = random_map<3, 2>(300, 6, 5, 20);
  const auto rows = rows_of<SpatialMap<3, 2>>(map);
  const std::string bytes = freeze(map);
  for (size_t bit = 0; bit < bytes.size() * 8; bit += bit < 64 * 40 ? 1 : 13)
    with_damage(bytes, rows,
                [&](auto& b) { b[bit / 8] = static_cast<char>(b[bit / 8] ^ 1 << bit % 8); });
  for (size_t size = 0; size < bytes.size(); ++size)
    with_damage(bytes, rows, [&](auto& b) { b.resize(size); });
  for (int i = 0; i < 2000; ++i)
    with_damage(bytes, rows, [&](auto& b) {
      for (int n = 0; n < 8; ++n)
        b[static_cast<size_t>(number(static_cast<std::int64_t>(b.size())))] =
            static_cast<char>(number(256));
    });
  for (const std::string& text :
       {std::string(), std::string(7, 'x'), std::string(4096, '\xFF'), std::string(4096, '\0')})
    with_damage(text, rows, [](auto&) {});
}

}  // namespace
}  // namespace morello
