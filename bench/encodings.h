// Other ways to store what SpatialMap stores, to compare it with. Each has insert, find and bytes;
// nothing of this is used by the generator.
#pragma once

#include <unordered_map>
#include <vector>

#include "search/spatial_memo.h"

namespace morello::bench {

using Map = SpatialMemo::Map;
using Content = Map::Content;

// The plain table of boxes at its best: one slot of 56 bytes per (Spec, box), 128 bits of hash in
// place of the key, limits in 4 bytes, linear probing, at most 70 % full.
class FlatTable {
 public:
  bool find(const Key& key, const Map::Vector& query, Content& found) const;
  void insert(const Key& key, const Content& content);
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t high = 0, low = 0;  // low 0: free
    std::uint64_t cost = 0, decision = 0;
    std::uint32_t peak[3] = {}, limit[3] = {};
  };
  static_assert(sizeof(Slot) == 56);
  static Slot named(const Key& key);
  void put(const Slot& s);

  std::vector<Slot> slots_{std::vector<Slot>(64)};
  std::size_t count_ = 0;
};

// Boxes over coordinates and limits in a tree per page: nodes of up to 16, split in the middle of
// the axis along which they are spread most.
class BoxTree {
 public:
  bool find(const Key& key, const Map::Vector& query, Content& found) const;
  void insert(const Key& key, const Content& content);
  std::size_t bytes() const;

 private:
  static constexpr int kAxes = kCoordinates + Limits::kCount;
  static constexpr int kFanout = 16;
  struct Rect {
    std::uint32_t low[kAxes], high[kAxes];
  };
  struct Leaf {
    Rect rect;
    std::uint64_t cost, decision;
  };
  struct Node {
    Rect rect;
    bool is_leaf = true;
    std::int32_t count = 0;
    std::uint32_t child[kFanout];
  };
  struct Hash {
    std::size_t operator()(const Map::PageKey& k) const { return Map::hash(k); }
  };
  static Rect rect_of(const Key& key, const Map::Vector& low, const Map::Vector& high);
  static void extend(Rect& r, const Rect& by);
  static double growth(const Rect& r, const Rect& by);
  const Rect& rect(const Node& n, int i) const;
  void add(std::uint32_t node, std::uint32_t leaf, std::uint32_t* sibling);
  std::uint32_t split(std::uint32_t node, std::uint32_t extra);

  std::unordered_map<Map::PageKey, std::uint32_t, Hash> roots_;
  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
};

// Saved form: every page a nest of runs, one level per dim, equal nests stored once; lists of boxes
// as in SavedMap. Costs cannot be found from it (a nest that is shared does not know where it is);
// they are counted as the same column that SavedMap has.
struct RunSizes {
  std::size_t nodes = 0, runs = 0;
  std::size_t bytes = 0;  // of the nests: a byte and 24 bits a run, a byte a node
};
RunSizes nested_runs(const Map& map);

// Boxes of equal content grown greedily over neighbouring points, one axis after the other: how
// many remain if content is everything, everything but the cost, or the decision alone.
struct MergedCounts {
  std::size_t boxes = 0, with_cost = 0, without_cost = 0, decisions = 0;
};
MergedCounts merge_neighbours(const Map& map);

}  // namespace morello::bench
