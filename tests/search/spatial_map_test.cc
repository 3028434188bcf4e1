#include "search/spatial_map.h"

#include <doctest/doctest.h>

#include <map>
#include <utility>

#include "search/random_boxes.h"

namespace morello {
namespace {

// The same as plainly as possible: a sorted map of lists.
template <int kDims, int kLimits>
class Plain {
 public:
  using Map = SpatialMap<kDims, kLimits>;
  using Content = typename Map::Content;
  using Place = std::pair<typename Map::PageKey, typename Map::Point>;

  void insert(const Place& place, const Content& content) {
    std::vector<Content>& list = boxes_[place];
    if (std::find(list.begin(), list.end(), content) != list.end()) return;
    list.push_back(content);
    ++count_;
  }
  static bool holds(const Content& c, const typename Map::Vector& q) {
    for (int i = 0; i < kLimits; ++i)
      if (q[i] < c.peak[i] || c.limit[i] < q[i]) return false;
    return true;
  }
  // What find() of the map says must follow from this list.
  void check_find(const Map& map, const Place& place, const typename Map::Vector& q) const {
    const auto at = boxes_.find(place);
    bool expected = false;
    if (at != boxes_.end())
      for (const Content& c : at->second) expected |= holds(c, q);
    Content got;
    REQUIRE(map.find(place.first, place.second, q, got) == expected);
    if (!expected) return;
    REQUIRE(holds(got, q));
    REQUIRE(std::find(at->second.begin(), at->second.end(), got) != at->second.end());
  }
  // Between peak and limit, exactly at both, and one past each.
  void check_around(const Map& map, const Place& place, const Content& c) const {
    check_find(map, place, c.peak);
    check_find(map, place, c.limit);
    typename Map::Vector q;
    for (int i = 0; i < kLimits; ++i)
      q[i] = c.limit[i] > c.peak[i] ? c.peak[i] + number(c.limit[i] - c.peak[i]) : c.peak[i];
    check_find(map, place, q);
    const int i = static_cast<int>(number(kLimits));
    q[i] = c.peak[i] - 1;
    check_find(map, place, q);
    q[i] = c.limit[i] + 1;
    check_find(map, place, q);
  }
  void check_all(const Map& map) const {
    auto at = boxes_.begin();
    std::vector<Content> list;
    size_t i = 0;
    map.for_each([&](const auto& key, const auto& point, const Content& c) {
      if (i == list.size()) {
        REQUIRE(at != boxes_.end());
        list = at->second;
        std::sort(list.begin(), list.end());
        i = 0;
      }
      REQUIRE(at->first == Place{key, point});
      REQUIRE(list[i] == c);
      if (++i == list.size()) ++at;
    });
    CHECK(at == boxes_.end());
    CHECK(map.specs() == boxes_.size());
    CHECK(map.boxes() == count_);
  }

 private:
  std::map<Place, std::vector<Content>> boxes_;
  size_t count_ = 0;
};

// Random boxes at points below `side`, in `pages` pages; every insert is followed by questions.
template <int kDims, int kLimits>
void against_plain(int inserts, int pages, int side, int decisions) {
  CAPTURE(kDims);
  CAPTURE(side);
  SpatialMap<kDims, kLimits> map;
  Plain<kDims, kLimits> plain;
  for (int i = 0; i < inserts; ++i) {
    typename Plain<kDims, kLimits>::Place place{};
    place.first[static_cast<size_t>(number(6))] = static_cast<std::uint64_t>(number(pages)) << 58;
    for (auto& x : place.second) x = static_cast<std::uint16_t>(number(side));
    const auto content = random_content<kDims, kLimits>(decisions);
    map.insert(place.first, place.second, content);
    plain.insert(place, content);
    if (i % 16 == 0) plain.check_around(map, place, content);
    place.second[0] ^= 1;  // mostly another point, or none
    plain.check_find(map, place, content.limit);
  }
  plain.check_all(map);
}

TEST_CASE("answers like a map of lists") {
  against_plain<1, 2>(20000, 1, 65536, 3);
  against_plain<1, 2>(20000, 60, 16, 70000);
  against_plain<3, 3>(20000, 5, 30, 4);
  against_plain<3, 3>(20000, 1, 65536, 4);  // far apart: hashed pages
  against_plain<3, 3>(60000, 20, 12, 70000);
  against_plain<2, 1>(20000, 3, 6, 10);
  against_plain<5, 4>(20000, 3, 65536, 10);
  against_plain<6, 3>(40000, 30, 4, 10);
}

// Every lattice of up to 4 x 3 x 3 points, every subset of a pattern of its points, filled in an
// order that makes the page grow at all sides.
TEST_CASE("small lattices, exhaustively") {
  using Map = SpatialMap<3, 1>;
  for (int subset = 0; subset < 4096; ++subset) {
    Map map;
    for (int i = 0; i < 12; ++i) {
      const int at = i * 7 % 12;
      if ((subset >> at & 1) == 0) continue;
      const Map::Point point{static_cast<std::uint16_t>(at % 2 * 3),
                             static_cast<std::uint16_t>(at / 2 % 2 + 7),
                             static_cast<std::uint16_t>(at / 4)};
      map.insert({}, point, {static_cast<std::uint64_t>(at), {0}, {9}, 0});
    }
    for (std::uint16_t x = 0; x < 4; ++x)
      for (std::uint16_t y = 6; y < 10; ++y)
        for (std::uint16_t z = 0; z < 4; ++z) {
          Map::Content c;
          const int at = x / 3 + (y - 7) * 2 + z * 4;
          const bool in = x % 3 == 0 && y >= 7 && y < 9 && z < 3 && (subset >> at & 1) != 0;
          REQUIRE(map.find({}, {x, y, z}, {5}, c) == in);
          if (in) REQUIRE(c.cost == static_cast<std::uint64_t>(at));
        }
  }
}

TEST_CASE("the worked example of spatial_map.h") {
  using Map = SpatialMap<2, 1>;
  Map map;
  map.insert({1}, {3, 5}, {70, {1024}, {6143}, 9});
  map.insert({1}, {4, 5}, {90, {1024}, {6143}, 9});
  map.insert({1}, {3, 5}, {60, {6144}, {kUnlimited}, 9});
  CHECK(map.pages() == 1);
  CHECK(map.specs() == 2);
  CHECK(map.boxes() == 3);
  CHECK(map.whats() == 2);
  struct Row {
    std::uint16_t x;
    std::int64_t query;
    std::uint64_t cost;  // 0: not found
  };
  for (const Row& row : {Row{3, 1023, 0},
                         {3, 1024, 70},
                         {3, 2048, 70},
                         {3, 6143, 70},
                         {3, 6144, 60},
                         {3, kUnlimited, 60},
                         {3, kUnlimited + 1, 0},
                         {3, -1, 0},
                         {4, 6143, 90},
                         {4, 6144, 0},
                         {5, 2048, 0},
                         {2, 2048, 0}}) {
    CAPTURE(row.x);
    CAPTURE(row.query);
    Map::Content c;
    REQUIRE(map.find({1}, {row.x, 5}, {row.query}, c) == (row.cost != 0));
    if (row.cost != 0) CHECK(c.cost == row.cost);
    CHECK(!map.find({2}, {row.x, 5}, {row.query}, c));
  }
}

// Points as far apart as there are, in up to 6 dims, take next to nothing; so does a dense corner
// that gets an outlier, and one that becomes dense later is a grid again.
TEST_CASE("no input takes much memory") {
  SpatialMap<6, 3> far;
  for (int corner = 0; corner < 64; ++corner) {
    SpatialMap<6, 3>::Point p;
    for (int d = 0; d < 6; ++d) p[static_cast<size_t>(d)] = corner >> d & 1 ? 65535 : 0;
    far.insert({}, p, {1, {0}, {1}, 0});
  }
  CHECK(far.specs() == 64);
  CHECK(far.bytes() < 60'000);

  SpatialMap<2, 1> map;
  map.insert({}, {65535, 65535}, {1, {0}, {1}, 0});
  for (std::uint16_t x = 300; x-- > 0;)
    for (std::uint16_t y = 0; y < 300; ++y) map.insert({}, {x, y}, {1, {0}, {1}, 0});
  CHECK(map.specs() == 90'001);
  CHECK(map.bytes() < 90'001 * 30);
  SpatialMap<2, 1>::Content c;
  CHECK(map.find({}, {65535, 65535}, {0}, c));
  CHECK(!map.find({}, {300, 0}, {0}, c));
}

// A grid of one box each, all of one kind, in the order in which a search finishes Specs: 8 bytes a
// box and 4 a cell; boxes of a known kind in a cell that has one, 16.
TEST_CASE("bytes per box") {
  SpatialMap<3, 3> map;
  auto fill = [&](std::int64_t peak) {
    for (std::uint64_t page = 0; page < 100; ++page)
      for (std::uint16_t x = 0; x < 16; ++x)
        for (std::uint16_t y = 0; y < 16; ++y)
          for (std::uint16_t z = 0; z < 16; ++z)
            map.insert({page}, {x, y, z}, {x * 1000u + y, {peak, 0, 0}, {peak, 99, 99}, 1});
  };
  fill(1);
  CHECK(map.boxes() == 409'600);
  CHECK(map.bytes() < 409'600 * 13);
  fill(2);
  CHECK(map.bytes() < 819'200 * 15);
  fill(2);  // known already
  CHECK(map.boxes() == 819'200);
}

// More kinds of boxes than a word can name: the rest is kept in full.
TEST_CASE("millions of decisions") {
  SpatialMap<2, 1> map;
  constexpr std::uint64_t kCount = 4'200'000;
  for (std::uint64_t i = 0; i < kCount; ++i)
    map.insert({}, {static_cast<std::uint16_t>(i >> 11), static_cast<std::uint16_t>(i & 2047)},
               {i, {0}, {9}, i << 20});
  CHECK(map.boxes() == kCount);
  CHECK(map.whats() == (1 << 22) - 1);
  bool same = true;
  for (std::uint64_t i = 0; i < kCount; i += i < 4'190'000 ? 1009 : 1) {
    SpatialMap<2, 1>::Content c;
    same = same &&
           map.find({}, {static_cast<std::uint16_t>(i >> 11), static_cast<std::uint16_t>(i & 2047)},
                    {5}, c) &&
           c == SpatialMap<2, 1>::Content{i, {0}, {9}, i << 20};
  }
  CHECK(same);
}

TEST_CASE("the order of for_each does not depend on the order of insertion") {
  using Map = SpatialMap<2, 2>;
  struct Row {
    Map::PageKey key;
    Map::Point point;
    Map::Content content;
    auto operator<=>(const Row&) const = default;
  };
  auto rows_of = [](const Map& map) {
    std::vector<Row> rows;
    map.for_each([&](const auto& k, const auto& p, const auto& c) { rows.push_back({k, p, c}); });
    return rows;
  };
  std::vector<Row> rows;
  for (std::uint64_t i = 0; i < 3000; ++i)
    rows.push_back({{0, i % 7}, {}, {i, {}, {static_cast<std::int64_t>(i), 9}, i % 5}});
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i].point = {static_cast<std::uint16_t>(i % 31), static_cast<std::uint16_t>(i % 7 * 9999)};
  Map first;
  for (const Row& r : rows) first.insert(r.key, r.point, r.content);
  const std::vector<Row> sorted = rows_of(first);
  CHECK(sorted.size() == rows.size());
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  std::shuffle(rows.begin(), rows.end(), random_bits());
  Map second;
  for (const Row& r : rows) second.insert(r.key, r.point, r.content);
  CHECK(rows_of(second) == sorted);
}

}  // namespace
}  // namespace morello
