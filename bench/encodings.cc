#include "bench/encodings.h"

#include <algorithm>
#include <map>

namespace morello::bench {
namespace {

std::uint32_t code(std::int64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(bytes, 0xFFFFFFFF));
}
std::int64_t bytes_of(std::uint32_t code) { return code == 0xFFFFFFFF ? Map::kUnlimited : code; }

}  // namespace

FlatTable::Slot FlatTable::named(const Key& key) {
  Slot s;
  s.high = Map::hash(key.page);
  for (std::uint16_t x : key.point) s.high = (s.high ^ x) * 0x9E3779B97F4A7C15;
  s.low = (s.high ^ s.high >> 29) * 0xBF58476D1CE4E5B9 | 1;
  return s;
}

bool FlatTable::find(const Key& key, const Map::Vector& query, Content& found) const {
  const Slot name = named(key);
  const std::uint32_t q[3] = {code(query[0]), code(query[1]), code(query[2])};
  const std::size_t size = slots_.size();
  for (std::size_t i = (name.low >> 32) * size >> 32; slots_[i].low != 0;
       i = i + 1 == size ? 0 : i + 1) {
    const Slot& s = slots_[i];
    if (s.low != name.low || s.high != name.high) continue;
    bool holds = true;
    for (int l = 0; l < 3; ++l) holds = holds && s.peak[l] <= q[l] && q[l] <= s.limit[l];
    if (!holds) continue;
    found.cost = s.cost;
    found.decision = s.decision;
    for (std::size_t l = 0; l < 3; ++l) {
      found.peak[l] = bytes_of(s.peak[l]);
      found.limit[l] = bytes_of(s.limit[l]);
    }
    return true;
  }
  return false;
}

void FlatTable::put(const Slot& s) {
  const std::size_t size = slots_.size();
  std::size_t i = (s.low >> 32) * size >> 32;
  while (slots_[i].low != 0) i = i + 1 == size ? 0 : i + 1;
  slots_[i] = s;
}

void FlatTable::insert(const Key& key, const Content& c) {
  if (10 * ++count_ > 7 * slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.low != 0) put(s);
  }
  Slot s = named(key);
  s.cost = c.cost;
  s.decision = c.decision;
  for (std::size_t l = 0; l < 3; ++l) {
    s.peak[l] = code(c.peak[l]);
    s.limit[l] = code(c.limit[l]);
  }
  put(s);
}

BoxTree::Rect BoxTree::rect_of(const Key& key, const Map::Vector& low, const Map::Vector& high) {
  Rect r;
  for (std::size_t d = 0; d < kCoordinates; ++d) r.low[d] = r.high[d] = key.point[d];
  for (std::size_t l = 0; l < Limits::kCount; ++l) {
    r.low[kCoordinates + l] = code(low[l]);
    r.high[kCoordinates + l] = code(high[l]);
  }
  return r;
}
void BoxTree::extend(Rect& r, const Rect& by) {
  for (int a = 0; a < kAxes; ++a) {
    r.low[a] = std::min(r.low[a], by.low[a]);
    r.high[a] = std::max(r.high[a], by.high[a]);
  }
}
double BoxTree::growth(const Rect& r, const Rect& by) {
  double sum = 0;
  for (int a = 0; a < kAxes; ++a) {
    const double scale = a < kCoordinates ? 1 : 1e-9;
    sum += scale * (std::max(0.0, double{1} * by.high[a] - r.high[a]) +
                    std::max(0.0, double{1} * r.low[a] - by.low[a]));
  }
  return sum;
}
const BoxTree::Rect& BoxTree::rect(const Node& n, int i) const {
  return n.is_leaf ? leaves_[n.child[i]].rect : nodes_[n.child[i]].rect;
}

// Divides a full node and one child more: by the middle of the axis of the widest spread.
std::uint32_t BoxTree::split(std::uint32_t node, std::uint32_t extra) {
  std::vector<std::uint32_t> all(nodes_[node].child, nodes_[node].child + kFanout);
  all.push_back(extra);
  Node full = nodes_[node];
  const auto rect_at = [&](std::uint32_t c) -> const Rect& {
    return full.is_leaf ? leaves_[c].rect : nodes_[c].rect;
  };
  int axis = 0;
  double widest = -1;
  for (int a = 0; a < kAxes; ++a) {
    std::uint32_t low = ~0u, high = 0;
    for (std::uint32_t c : all) {
      low = std::min(low, rect_at(c).low[a]);
      high = std::max(high, rect_at(c).low[a]);
    }
    const double spread = (a < kCoordinates ? 1 : 1e-9) * (high - low);
    if (spread > widest) {
      widest = spread;
      axis = a;
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](std::uint32_t x, std::uint32_t y) {
    return rect_at(x).low[axis] < rect_at(y).low[axis];
  });
  Node halves[2];
  for (std::size_t i = 0; i < all.size(); ++i) {
    Node& half = halves[i < all.size() / 2 ? 0 : 1];
    half.is_leaf = full.is_leaf;
    if (half.count == 0) half.rect = rect_at(all[i]);
    extend(half.rect, rect_at(all[i]));
    half.child[half.count++] = all[i];
  }
  nodes_[node] = halves[0];
  nodes_.push_back(halves[1]);
  return static_cast<std::uint32_t>(nodes_.size()) - 1;
}

void BoxTree::add(std::uint32_t node, std::uint32_t leaf, std::uint32_t* sibling) {
  *sibling = 0;
  if (nodes_[node].count == 0) nodes_[node].rect = leaves_[leaf].rect;
  extend(nodes_[node].rect, leaves_[leaf].rect);
  std::uint32_t child = leaf;
  if (!nodes_[node].is_leaf) {
    int best = 0;
    for (int i = 1; i < nodes_[node].count; ++i)
      if (growth(rect(nodes_[node], i), leaves_[leaf].rect) <
          growth(rect(nodes_[node], best), leaves_[leaf].rect))
        best = i;
    add(nodes_[node].child[best], leaf, &child);
    if (child == 0) return;
  }
  Node& n = nodes_[node];
  if (n.count < kFanout)
    n.child[n.count++] = child;
  else
    *sibling = split(node, child);
}

void BoxTree::insert(const Key& key, const Content& c) {
  if (nodes_.empty()) nodes_.emplace_back();  // 0 means none
  leaves_.push_back({rect_of(key, c.peak, c.limit), c.cost, c.decision});
  const auto leaf = static_cast<std::uint32_t>(leaves_.size()) - 1;
  std::uint32_t& root = roots_[key.page];
  if (root == 0) {
    root = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  std::uint32_t sibling;
  add(root, leaf, &sibling);
  if (sibling == 0) return;
  Node top;
  top.is_leaf = false;
  top.count = 2;
  top.child[0] = root;
  top.child[1] = sibling;
  top.rect = nodes_[root].rect;
  extend(top.rect, nodes_[sibling].rect);
  root = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(top);
}

bool BoxTree::find(const Key& key, const Map::Vector& query, Content& found) const {
  const auto root = roots_.find(key.page);
  if (root == roots_.end()) return false;
  const Rect q = rect_of(key, query, query);
  const auto holds = [&](const Rect& r) {
    int outside = 0;
    for (int a = 0; a < kAxes; ++a) outside |= int{q.low[a] < r.low[a]} | int{r.high[a] < q.low[a]};
    return outside == 0;
  };
  std::uint32_t stack[256];
  int depth = 0;
  stack[depth++] = root->second;
  while (depth > 0) {
    const Node& n = nodes_[stack[--depth]];
    for (int i = 0; i < n.count; ++i) {
      if (!holds(rect(n, i))) continue;
      if (!n.is_leaf) {
        stack[depth++] = n.child[i];
        continue;
      }
      const Leaf& leaf = leaves_[n.child[i]];
      found.cost = leaf.cost;
      found.decision = leaf.decision;
      for (std::size_t l = 0; l < 3; ++l) {
        found.peak[l] = bytes_of(leaf.rect.low[kCoordinates + l]);
        found.limit[l] = bytes_of(leaf.rect.high[kCoordinates + l]);
      }
      return true;
    }
  }
  return false;
}

std::size_t BoxTree::bytes() const {
  return nodes_.capacity() * sizeof(Node) + leaves_.capacity() * sizeof(Leaf) + roots_.size() * 80 +
         roots_.bucket_count() * 8;
}

namespace {

using Points = std::map<Map::Point, std::uint64_t>;  // content number
using Pages = std::map<Map::PageKey, Points>;

// Every point's boxes as one number, equal for equal boxes; `of` says what counts of a box.
template <typename F>
Pages number_points(const Map& map, F&& of) {
  using Part = decltype(of(Content()));
  std::map<std::vector<Part>, std::uint64_t> numbers;
  std::map<Map::PageKey, std::map<Map::Point, std::vector<Part>>> lists;
  map.for_each(
      [&](const auto& k, const auto& p, const Content& c) { lists[k][p].push_back(of(c)); });
  Pages pages;
  for (auto& [key, points] : lists)
    for (auto& [point, list] : points) {
      std::sort(list.begin(), list.end());
      pages[key][point] = numbers.try_emplace(list, numbers.size() + 1).first->second;
    }
  return pages;
}

using Runs = std::vector<std::pair<std::uint16_t, std::uint64_t>>;  // first coordinate, child

// The nest of points [first, last), which agree before dim d; 0 where there is none.
std::uint64_t nest(Points::const_iterator first, Points::const_iterator last, std::size_t d,
                   std::map<Runs, std::uint64_t>& known) {
  if (d == kCoordinates) return first->second;
  Runs runs;
  int next = -1;
  while (first != last) {
    const std::uint16_t x = first->first[d];
    auto end = first;
    while (end != last && end->first[d] == x) ++end;
    const std::uint64_t child = nest(first, end, d + 1, known);
    if (next >= 0 && x != next) runs.push_back({static_cast<std::uint16_t>(next), 0});
    if (runs.empty() || runs.back().second != child) runs.push_back({x, child});
    next = x + 1;
    first = end;
  }
  runs.push_back({static_cast<std::uint16_t>(next), 0});
  return known.try_emplace(runs, known.size() + 1).first->second;
}

// Runs of points with equal content along one axis after the other, in rectangles.
std::size_t merged(const Pages& pages) {
  struct Grown {
    Map::Point low, high;
    std::uint64_t content;
  };
  std::size_t count = 0;
  for (const auto& [key, points] : pages) {
    std::vector<Grown> boxes;
    for (const auto& [p, content] : points) boxes.push_back({p, p, content});
    for (std::size_t axis = kCoordinates; axis-- > 0;) {
      const auto others = [axis](const Grown& g) {
        Map::Point low = g.low, high = g.high;
        low[axis] = high[axis] = 0;
        return std::tuple(low, high, g.low[axis]);
      };
      std::sort(boxes.begin(), boxes.end(),
                [&](const Grown& a, const Grown& b) { return others(a) < others(b); });
      std::vector<Grown> fewer;
      for (const Grown& g : boxes) {
        if (!fewer.empty()) {
          Grown& last = fewer.back();
          const bool aligned = std::get<0>(others(last)) == std::get<0>(others(g)) &&
                               std::get<1>(others(last)) == std::get<1>(others(g));
          if (aligned && last.content == g.content && last.high[axis] + 1 == g.low[axis]) {
            last.high[axis] = g.high[axis];
            continue;
          }
        }
        fewer.push_back(g);
      }
      boxes.swap(fewer);
    }
    count += boxes.size();
  }
  return count;
}

}  // namespace

RunSizes nested_runs(const Map& map) {
  const Pages pages =
      number_points(map, [](const Content& c) { return std::tuple(c.decision, c.peak, c.limit); });
  std::map<Runs, std::uint64_t> known;
  for (const auto& [key, points] : pages) nest(points.begin(), points.end(), 0, known);
  RunSizes sizes;
  sizes.nodes = known.size();
  for (const auto& [runs, id] : known) sizes.runs += runs.size();
  sizes.bytes = sizes.nodes + 4 * sizes.runs;
  return sizes;
}

MergedCounts merge_neighbours(const Map& map) {
  MergedCounts counts;
  counts.boxes = map.specs();
  counts.with_cost = merged(number_points(map, [](const Content& c) { return c; }));
  counts.without_cost = merged(
      number_points(map, [](const Content& c) { return std::tuple(c.decision, c.peak, c.limit); }));
  counts.decisions = merged(number_points(map, [](const Content& c) { return c.decision; }));
  return counts;
}

}  // namespace morello::bench
