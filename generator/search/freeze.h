// freeze(): a SpatialMap, or the union of several and of a SavedMap, as the bytes of a SavedMap.
// The layout is explained in search/saved_map.h.
#pragma once

#include <map>

#include "search/saved_map.h"

namespace morello {

template <int kDims, int kLimits>
class Freezer {
 public:
  using Map = SpatialMap<kDims, kLimits>;
  using Content = typename Map::Content;
  using Columns = SavedColumns<kLimits>;
  using Saved = SavedMap<kDims, kLimits>;

  // Boxes have to come in the order of for_each.
  void add(const typename Map::PageKey& key, const typename Map::Point& point, const Content& c) {
    if (pages_.empty() || pages_.back().key != key) pages_.push_back({key, {}, {}, {}});
    Page& page = pages_.back();
    if (page.points.empty() || page.points.back() != point) {
      page.points.push_back(point);
      page.first.push_back(static_cast<std::uint32_t>(page.boxes.size()));
    }
    page.boxes.push_back({what_id(c), c.cost});
  }

  std::string bytes() {
    sort_whats();
    sort_lists();
    write_keys();
    write_bodies();
    return assemble();
  }

 private:
  // Decision, peak, limit, as the columns want them.
  using What = std::array<std::uint64_t, 1 + 2 * kLimits>;
  using List = std::vector<std::uint32_t>;
  struct Box {
    std::uint32_t what;
    std::uint64_t cost;
    auto operator<=>(const Box&) const = default;
  };
  struct Page {
    typename Map::PageKey key;
    std::vector<typename Map::Point> points;
    std::vector<std::uint32_t> first;  // box of every point
    std::vector<Box> boxes;
  };
  struct Hash {
    template <typename T>
    std::size_t operator()(const T& words) const {
      std::uint64_t h = words.size();
      for (std::uint64_t w : words) h = (h ^ w ^ h >> 29) * 0x9E3779B97F4A7C15;
      return h ^ h >> 32;
    }
    std::size_t operator()(const BitWriter& bits) const { return (*this)(bits.words()); }
  };
  // Longer parts of lists are not looked for: too many, and hardly ever found again.
  static constexpr std::size_t kLongestPart = 4;

  std::uint32_t what_id(const Content& c) {
    What w;
    w[0] = c.decision;
    for (int l = 0; l < kLimits; ++l) {
      w[static_cast<std::size_t>(1 + l)] = static_cast<std::uint64_t>(c.peak[l]);
      w[static_cast<std::size_t>(1 + kLimits + l)] = static_cast<std::uint64_t>(c.limit[l]);
    }
    const auto [at, is_new] = what_ids_.try_emplace(w, static_cast<std::uint32_t>(whats_.size()));
    if (is_new) whats_.push_back(w);
    return at->second;
  }

  void sort_whats() {
    std::vector<std::uint32_t> order(whats_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return whats_[a] < whats_[b]; });
    std::vector<std::uint32_t> rank(order.size());
    std::vector<What> sorted(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      sorted[i] = whats_[order[i]];
    }
    whats_.swap(sorted);
    for (int i = 0; i < 1 + 2 * kLimits; ++i) {
      std::vector<std::uint64_t> words;
      for (const What& w : whats_) words.push_back(w[static_cast<std::size_t>(i)]);
      put_ids(words, i == 0 ? Columns::kDecisions : Columns::kLevels + i - 1, Columns::kWhats + i);
    }
    for (Page& page : pages_) {
      for (Box& b : page.boxes) b.what = rank[b.what];
      for (std::size_t i = 0; i < page.points.size(); ++i)
        std::sort(page.boxes.begin() + page.first[i], page.boxes.begin() + end_of(page, i));
    }
  }
  static std::uint32_t end_of(const Page& page, std::size_t cell) {
    return cell + 1 < page.first.size() ? page.first[cell + 1]
                                        : static_cast<std::uint32_t>(page.boxes.size());
  }
  static List list_of(const Page& page, std::size_t cell) {
    List list;
    for (std::uint32_t i = page.first[cell]; i < end_of(page, cell); ++i)
      list.push_back(page.boxes[i].what);
    return list;
  }

  // The longest lists first, so that shorter ones are found in them.
  void sort_lists() {
    std::unordered_map<List, std::uint64_t, Hash> seen;
    for (const Page& page : pages_)
      for (std::size_t i = 0; i < page.points.size(); ++i) seen.emplace(list_of(page, i), 0);
    std::vector<List> lists;
    for (const auto& [list, at] : seen) lists.push_back(list);
    std::sort(lists.begin(), lists.end(), [](const List& a, const List& b) {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    });
    for (const List& list : lists) {
      if (list_at_.contains(list)) continue;
      const std::size_t at = columns_[Columns::kLists].size();
      columns_[Columns::kLists].insert(columns_[Columns::kLists].end(), list.begin(), list.end());
      list_at_.emplace(list, at);
      for (std::size_t i = 0; i < list.size(); ++i)
        for (std::size_t n = 1; n <= kLongestPart && i + n <= list.size(); ++n)
          list_at_.try_emplace(List(list.begin() + static_cast<std::ptrdiff_t>(i),
                                    list.begin() + static_cast<std::ptrdiff_t>(i + n)),
                               at + i);
    }
  }

  // Sorted values into one column, their ids into another.
  void put_ids(const std::vector<std::uint64_t>& words, int values, int ids) {
    std::vector<std::uint64_t>& sorted = columns_[values];
    sorted = words;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (std::uint64_t w : words)
      columns_[ids].push_back(static_cast<std::uint64_t>(
          std::lower_bound(sorted.begin(), sorted.end(), w) - sorted.begin()));
  }

  void write_keys() {
    for (std::size_t w = 0; w < kPageWords; ++w) {
      std::vector<std::uint64_t> words;
      for (const Page& page : pages_) words.push_back(page.key[w]);
      put_ids(words, Columns::kKeyWords + static_cast<int>(w),
              Columns::kKeyIds + static_cast<int>(w));
    }
    std::vector<std::uint64_t>& slots = columns_[Columns::kSlots];
    slots.resize(std::bit_ceil(pages_.size() * 3 / 2 + 2));
    for (std::size_t p = 0; p < pages_.size(); ++p) {
      std::size_t i = Map::hash(pages_[p].key) & (slots.size() - 1);
      while (slots[i] != 0) i = (i + 1) & (slots.size() - 1);
      slots[i] = p + 1;
    }
  }

  static Frame<kDims> frame_of(const Page& page) {
    typename Map::Point low = page.points.front(), high = low;
    for (const auto& p : page.points)
      for (std::size_t d = 0; d < kDims; ++d) {
        low[d] = std::min(low[d], p[d]);
        high[d] = std::max(high[d], p[d]);
      }
    Frame<kDims> frame{low, {}};
    for (std::size_t d = 0; d < kDims; ++d)
      frame.span[d] = static_cast<std::uint16_t>(high[d] - low[d]);
    return frame;
  }

  // Widths of the fields of bodies: origin and span per dim, cells, boxes.
  void measure_fields() {
    std::vector<std::uint64_t>& widths = columns_[Columns::kWidths];
    widths.resize(2 * kDims + 2);
    auto widen = [&](std::size_t field, std::uint64_t value) {
      widths[field] = std::max<std::uint64_t>(widths[field], std::bit_width(value));
    };
    for (const Page& page : pages_) {
      const Frame<kDims> frame = frame_of(page);
      for (std::size_t d = 0; d < kDims; ++d) {
        widen(d, frame.origin[d]);
        widen(kDims + d, frame.span[d]);
      }
      widen(2 * kDims, page.points.size());
      widen(2 * kDims + 1, page.boxes.size());
    }
  }

  void write_bodies() {
    measure_fields();
    std::unordered_map<BitWriter, std::size_t, Hash> known;
    for (const Page& page : pages_) {
      BitWriter body = body_of(page);
      const auto [at, is_new] = known.try_emplace(std::move(body), bodies_.size());
      columns_[Columns::kBodyAt].push_back(at->second);
      if (is_new) bodies_.put(at->first);
    }
  }

  BitWriter body_of(const Page& page) const {
    const std::vector<std::uint64_t>& widths = columns_[Columns::kWidths];
    auto width = [&](std::size_t field) { return static_cast<int>(widths[field]); };
    const Frame<kDims> frame = frame_of(page);
    const bool sparse = is_sparse(frame, page.points.size());
    std::uint64_t greatest = 1;  // all ones means infeasible
    for (const Box& b : page.boxes)
      greatest = std::max(greatest, b.cost == Map::kInfeasible ? 1 : b.cost + 1);
    const int cost_width = width_of(greatest);
    BitWriter out;
    out.put(sparse, 1);
    for (std::size_t d = 0; d < kDims; ++d) out.put(frame.origin[d], width(d));
    for (std::size_t d = 0; d < kDims; ++d) out.put(frame.span[d], width(kDims + d));
    out.put(page.points.size(), width(2 * kDims));
    out.put(page.boxes.size(), width(2 * kDims + 1));
    out.put(static_cast<std::uint64_t>(cost_width), 7);
    put_points(out, page, frame, sparse, width(2 * kDims));
    if (page.boxes.size() > page.points.size()) {
      std::vector<bool> starts(page.boxes.size());
      for (std::uint32_t i : page.first) starts[i] = true;
      put_counted(out, starts, width(2 * kDims));
    }
    const int ref_width = width_of(columns_[Columns::kLists].size());
    for (std::size_t i = 0; i < page.points.size(); ++i)
      out.put(list_at_.at(list_of(page, i)), ref_width);
    for (const Box& b : page.boxes) out.put(b.cost & low_bits(cost_width), cost_width);
    return out;
  }
  static std::uint64_t low_bits(int width) { return ~std::uint64_t{0} >> (64 - width); }
  // Whether points in full take less than a bit per cell of the frame.
  static bool is_sparse(const Frame<kDims>& frame, std::size_t points) {
    std::uint64_t width = 0;
    for (std::uint16_t s : frame.span) width += static_cast<std::uint64_t>(width_of(s));
    return frame.volume() > points * width + 64;
  }
  static void put_points(BitWriter& out, const Page& page, const Frame<kDims>& frame, bool sparse,
                         int count_width) {
    if (!sparse) {
      std::vector<bool> presence(frame.volume());
      for (const auto& p : page.points) {
        std::size_t i;
        frame.locate(p, i);
        presence[i] = true;
      }
      put_counted(out, presence, count_width);
      return;
    }
    for (const auto& p : page.points)
      for (std::size_t d = 0; d < kDims; ++d)
        out.put(static_cast<std::uint64_t>(p[d] - frame.origin[d]), width_of(frame.span[d]));
  }

  std::string assemble() {
    BitWriter out;
    out.put(Columns::kMagic, 64);
    out.put(kDims * 256 + kLimits, 64);
    BitWriter body;
    BitWriter head;
    for (int c = 0; c < Columns::kCount; ++c) {
      if (c == Columns::kBodies) {
        head.put(bodies_.size() << 8 | 1, 64);
        body.put(bodies_);
        continue;
      }
      const std::vector<std::uint64_t>& column = columns_[c];
      std::uint64_t all = 0;
      for (std::uint64_t v : column) all |= v;
      const int width = width_of(all);
      head.put(column.size() << 8 | static_cast<std::uint64_t>(width), 64);
      for (std::uint64_t v : column) body.put(v, width);
    }
    const std::size_t words = Columns::kHeadWords + body.words().size() + BitReader::kPad / 8;
    out.put(words * 8, 64);
    out.put(head);
    out.put(body);
    std::string bytes(words * 8, '\0');
    std::memcpy(bytes.data(), out.words().data(), out.words().size() * 8);
    return bytes;
  }

  std::vector<Page> pages_;
  std::vector<What> whats_;
  std::unordered_map<What, std::uint32_t, Hash> what_ids_;
  std::unordered_map<List, std::uint64_t, Hash> list_at_;
  std::vector<std::uint64_t> columns_[Columns::kCount];
  BitWriter bodies_;
};

template <int kDims, int kLimits>
std::string freeze(const SpatialMap<kDims, kLimits>& map) {
  Freezer<kDims, kLimits> freezer;
  map.for_each(
      [&](const auto& key, const auto& point, const auto& c) { freezer.add(key, point, c); });
  return freezer.bytes();
}

// Adds the boxes of `from` to `map`.
template <typename From, int kDims, int kLimits>
void add_all(const From& from, SpatialMap<kDims, kLimits>& map) {
  from.for_each(
      [&](const auto& key, const auto& point, const auto& c) { map.insert(key, point, c); });
}

// Whether every query that a holds is held by b, with the same answer.
template <typename Content>
bool is_within(const Content& a, const Content& b) {
  if (a.cost != b.cost) return false;
  for (std::size_t l = 0; l < a.peak.size(); ++l)
    if (a.peak[l] < b.peak[l] || b.limit[l] < a.limit[l]) return false;
  return true;
}

// As freeze(), without the boxes that say nothing new: those within another of their point with
// the same cost (the first in order, of equal boxes).
template <int kDims, int kLimits>
std::string freeze_union(const SpatialMap<kDims, kLimits>& map) {
  using Map = SpatialMap<kDims, kLimits>;
  Freezer<kDims, kLimits> freezer;
  typename Map::PageKey key;
  typename Map::Point point;
  std::vector<typename Map::Content> boxes;
  auto flush = [&] {
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      bool needed = true;
      for (std::size_t j = 0; j < boxes.size() && needed; ++j)
        needed =
            i == j || !is_within(boxes[i], boxes[j]) || (is_within(boxes[j], boxes[i]) && i < j);
      if (needed) freezer.add(key, point, boxes[i]);
    }
    boxes.clear();
  };
  map.for_each([&](const auto& k, const auto& p, const auto& c) {
    if (!boxes.empty() && (k != key || p != point)) flush();
    key = k;
    point = p;
    boxes.push_back(c);
  });
  flush();
  return freezer.bytes();
}

}  // namespace morello
