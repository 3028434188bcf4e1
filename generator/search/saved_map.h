// SavedMap: a SpatialMap frozen into bytes that answer in place. search/freeze.h makes them.
//
// Same promise of a hit as SpatialMap: find() returns a box that was inserted under exactly this
// key and point and holds the query. Nothing is decoded up front: opening a table costs the same
// for a thousand boxes and for a million. No read leaves the span, whatever the bytes say; open()
// rejects what is not a table of this kind. (That the bytes are those that were written is for a
// checksum to say, search/store.h.)
//
// Bytes: a head of 64-bit words (magic, kind, size, one word per column), then columns, bit-packed
// without gaps, each as wide as its largest value. From a box to its column:
// - A page key is six numbers. Every word of the keys has a dictionary of its values; a page is six
//   ids and the position of its body. Pages are sorted; a hash table of page numbers finds them.
// - A body: its frame (bounding box), a bit per cell of the frame (present or not), and per present
//   cell a reference into the shared lists; a bit per box tells where the next cell begins; the
//   costs of all boxes, as wide as the page's greatest. A page that is nearly empty has sorted
//   points instead of the bits. Equal bodies are stored once.
// - Lists of whats: cells with the same boxes, costs aside, share one; a list that is a part of
//   another takes nothing.
// - A what is ids into dictionaries of decisions and, per level, of peaks and limits.
// Counting bits before a cell is a popcount of at most 8 words: longer stretches have samples.
//
// Measured (bench_encodings): 5.3 to 6.8 bytes per box with its cost, 8.2 to 10.6 times less than
// slots of 56 bytes without gaps; a find takes 210 to 280 ns. The costs are more than half of it.
// Nested runs of equal neighbours, shared, take 6.5 to 17.
//
// Deterministic: the bytes depend on the boxes alone, not on the order in which they came.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <unordered_map>

#include "search/spatial_map.h"

namespace morello {

inline int width_of(std::uint64_t greatest) { return static_cast<int>(std::bit_width(greatest)); }

// Numbers of any width, one after the other.
class BitWriter {
 public:
  std::size_t size() const { return size_; }
  void put(std::uint64_t value, int width) {
    const std::size_t at = size_ % 64;
    size_ += static_cast<std::size_t>(width);
    words_.resize((size_ + 63) / 64);
    if (width == 0) return;
    const std::size_t word = (size_ - static_cast<std::size_t>(width)) / 64;
    words_[word] |= value << at;
    if (at + static_cast<std::size_t>(width) > 64) words_[word + 1] |= value >> (64 - at);
  }
  void put(const BitWriter& other) {
    for (std::size_t i = 0; i < other.size_; i += 64)
      put(other.words_[i / 64], static_cast<int>(std::min<std::size_t>(64, other.size_ - i)));
  }
  const std::vector<std::uint64_t>& words() const { return words_; }
  bool operator==(const BitWriter&) const = default;

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

// Reads them back; what lies outside is 0.
class BitReader {
 public:
  BitReader() = default;
  explicit BitReader(std::span<const std::byte> bytes)
      : data_(bytes.data()), bits_(bytes.size() < kPad ? 0 : (bytes.size() - kPad) * 8) {}
  std::uint64_t get(std::uint64_t at, int width) const {
    if (at >= bits_ || static_cast<std::uint64_t>(width) > bits_ - at || width == 0) return 0;
    std::uint64_t low, high = 0;
    std::memcpy(&low, data_ + at / 8, 8);
    const int shift = static_cast<int>(at % 8);
    if (shift + width > 64) std::memcpy(&high, data_ + at / 8 + 8, 1);
    low >>= shift;
    if (shift + width > 64) low |= high << (64 - shift);
    return width == 64 ? low : low & ((std::uint64_t{1} << width) - 1);
  }
  // Bytes after the last bit that get() may touch.
  static constexpr std::size_t kPad = 16;

 private:
  const std::byte* data_ = nullptr;
  std::uint64_t bits_ = 0;
};

// A bitmap with samples before it: how many ones lie before every 512th bit but the first.
inline constexpr std::uint64_t kSample = 512;
inline std::uint64_t counted_bits(std::uint64_t bits, int count_width) {
  return bits + (bits - 1) / kSample * static_cast<std::uint64_t>(count_width);
}
inline void put_counted(BitWriter& out, const std::vector<bool>& bits, int count_width) {
  std::uint64_t ones = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (i > 0 && i % kSample == 0) out.put(ones, count_width);
    ones += bits[i];
  }
  for (bool bit : bits) out.put(bit, 1);
}

// The columns of the bytes, in order.
template <int kLimits>
struct SavedColumns {
  enum : int {
    kWidths,                           // of the fields of bodies
    kKeyWords,                         // kPageWords: values of every word of the page keys
    kKeyIds = kKeyWords + kPageWords,  // kPageWords: per page
    kBodyAt = kKeyIds + kPageWords,    // per page: bit in kBodies
    kSlots,                            // hash table: page + 1, or 0
    kDecisions,                        // values
    kLevels,                           // 2 * kLimits: values of peaks and limits per level
    kWhats = kLevels + 2 * kLimits,    // 1 + 2 * kLimits: ids, decision first
    kLists = kWhats + 1 + 2 * kLimits,
    kBodies,
    kCount,
  };
  static constexpr std::uint64_t kMagic = 0x31'70'61'4D'6C'6C'72'4D;  // "MrllMap1"
  static constexpr std::size_t kHeadWords = 3 + kCount;
};

template <int kDims, int kLimits>
class SavedMap {
 public:
  using Map = SpatialMap<kDims, kLimits>;
  using PageKey = typename Map::PageKey;
  using Point = typename Map::Point;
  using Vector = typename Map::Vector;
  using Content = typename Map::Content;
  using Columns = SavedColumns<kLimits>;

  // The bytes must outlive the map. False, and the map is empty, if they are not a table of this
  // kind.
  static bool open(std::span<const std::byte> bytes, SavedMap& map) {
    map = {};
    SavedMap opened;
    if (!opened.read_head(bytes)) return false;
    map = opened;
    return true;
  }

  bool find(const PageKey& key, const Point& point, const Vector& query, Content& content) const {
    std::uint64_t page;
    Body body;
    if (!page_of(key, page) || !body_of(page, body)) return false;
    std::uint64_t cell;
    if (!cell_of(body, point, cell)) return false;
    const auto [first, last] = boxes_of(body, cell);
    const std::uint64_t list = list_of(body, cell);
    for (std::uint64_t i = first; i < last; ++i) {
      if (!what_of(list + i - first, content)) return false;
      int outside = 0;
      for (int l = 0; l < kLimits; ++l)
        outside |= int{query[l] < content.peak[l]} | int{content.limit[l] < query[l]};
      if (outside != 0) continue;
      content.cost = cost_of(body, i);
      return true;
    }
    return false;
  }

  // As SpatialMap::for_each, in the same order.
  template <typename F>
  void for_each(F&& f) const {
    std::vector<Content> boxes;
    for (std::uint64_t page = 0; page < pages(); ++page) {
      Body body;
      if (!body_of(page, body)) continue;
      PageKey key;
      for (int w = 0; w < kPageWords; ++w) key[static_cast<std::size_t>(w)] = word_of_key(page, w);
      visit(body, [&](const Point& point, std::uint64_t cell) {
        boxes.clear();
        const auto [first, last] = boxes_of(body, cell);
        const std::uint64_t list = list_of(body, cell);
        for (std::uint64_t i = first; i < last; ++i) {
          Content c;
          if (!what_of(list + i - first, c)) break;
          c.cost = cost_of(body, i);
          boxes.push_back(c);
        }
        std::sort(boxes.begin(), boxes.end());
        for (const Content& c : boxes) f(key, point, c);
      });
    }
  }

  std::size_t pages() const { return column_[Columns::kBodyAt].count; }
  // Where the bytes go, in bits: column by column, and of kBodies the costs.
  std::uint64_t bits_of(int column) const { return column_[column].width * column_[column].count; }
  std::uint64_t cost_bits() const {
    std::uint64_t bits = 0;
    std::uint64_t known = 0;  // equal bodies are stored once, the first time they occur
    for (std::uint64_t page = 0; page < pages(); ++page) {
      Body body;
      if (get(Columns::kBodyAt, page) < known || !body_of(page, body)) continue;
      known = get(Columns::kBodyAt, page) + 1;
      bits += body.boxes * static_cast<std::uint64_t>(body.cost_width);
    }
    return bits;
  }

 private:
  struct Column {
    std::uint64_t at = 0, count = 0;
    int width = 0;
  };
  // The parts of a body, as positions in the file.
  struct Body {
    Frame<kDims> frame;
    bool sparse = false;
    std::uint64_t cells = 0, boxes = 0, volume = 0;
    std::uint64_t presence = 0, starts = 0, refs = 0, costs = 0;
    int ref_width = 0, cost_width = 0, count_width = 0, point_width = 0;
  };

  bool read_head(std::span<const std::byte> bytes) {
    if (bytes.size() < Columns::kHeadWords * 8 + BitReader::kPad) return false;
    bits_ = BitReader(bytes);
    if (bits_.get(0, 64) != Columns::kMagic || bits_.get(64, 64) != kDims * 256u + kLimits ||
        bits_.get(128, 64) != bytes.size())
      return false;
    std::uint64_t at = Columns::kHeadWords * 64;
    const std::uint64_t end = (bytes.size() - BitReader::kPad) * 8;
    for (int c = 0; c < Columns::kCount; ++c) {
      const std::uint64_t word = bits_.get((3 + static_cast<std::uint64_t>(c)) * 64, 64);
      column_[c] = {at, word >> 8, static_cast<int>(word & 0xFF)};
      const auto width = static_cast<std::uint64_t>(column_[c].width);
      if (width > 64 || (width > 0 && column_[c].count > (end - at) / width)) return false;
      at += width * column_[c].count;
    }
    return (at + 63) / 64 * 64 == end && is_consistent();
  }
  bool is_consistent() const {
    const std::uint64_t slots = column_[Columns::kSlots].count;
    if (!std::has_single_bit(slots) || slots <= pages()) return false;
    if (column_[Columns::kWidths].count != 2 * kDims + 2) return false;
    for (int w = 0; w < kPageWords; ++w)
      if (column_[Columns::kKeyIds + w].count != pages()) return false;
    for (int i = 0; i < 1 + 2 * kLimits; ++i)
      if (column_[Columns::kWhats + i].count != column_[Columns::kWhats].count) return false;
    return true;
  }

  std::uint64_t get(int column, std::uint64_t i) const {
    const Column& c = column_[column];
    if (i >= c.count) return 0;
    return bits_.get(c.at + i * static_cast<std::uint64_t>(c.width), c.width);
  }
  std::uint64_t word_of_key(std::uint64_t page, int w) const {
    return get(Columns::kKeyWords + w, get(Columns::kKeyIds + w, page));
  }

  bool page_of(const PageKey& key, std::uint64_t& page) const {
    const std::uint64_t slots = column_[Columns::kSlots].count;
    std::uint64_t i = Map::hash(key);
    for (std::uint64_t tries = 0; tries < slots; ++tries, ++i) {
      const std::uint64_t slot = get(Columns::kSlots, i & (slots - 1));
      if (slot == 0) return false;
      page = slot - 1;
      bool same = page < pages();
      for (int w = 0; w < kPageWords && same; ++w) same = word_of_key(page, w) == key[w];
      if (same) return true;
    }
    return false;
  }

  // What follows `at` in the body, field by field; false if it cannot be a body.
  bool body_of(std::uint64_t page, Body& b) const {
    const Column& bodies = column_[Columns::kBodies];
    std::uint64_t at = bodies.at + get(Columns::kBodyAt, page);
    auto take = [&](int width) {
      const std::uint64_t value = bits_.get(at, width);
      at += static_cast<std::uint64_t>(width);
      return value;
    };
    auto field = [&](int i) {
      return static_cast<int>(get(Columns::kWidths, static_cast<std::uint64_t>(i)) & 63);
    };
    b.sparse = take(1) != 0;
    for (int d = 0; d < kDims; ++d) b.frame.origin[d] = static_cast<std::uint16_t>(take(field(d)));
    for (int d = 0; d < kDims; ++d)
      b.frame.span[d] = static_cast<std::uint16_t>(take(field(kDims + d)));
    b.cells = take(b.count_width = field(2 * kDims));
    b.boxes = take(field(2 * kDims + 1));
    b.cost_width = static_cast<int>(std::clamp<std::uint64_t>(take(7), 1, 64));
    b.ref_width = width_of(column_[Columns::kLists].count);
    const std::uint64_t end = bodies.at + bodies.count;
    if (b.cells == 0 || b.boxes < b.cells || b.boxes > end) return false;
    b.presence = at;
    b.volume = b.frame.volume();
    if (b.sparse) {
      for (std::uint16_t s : b.frame.span) b.point_width += width_of(s);
      at += b.cells * static_cast<std::uint64_t>(b.point_width);
    } else {
      if (b.volume > end) return false;
      at += counted_bits(b.volume, b.count_width);
    }
    b.starts = at;
    if (b.boxes > b.cells) at += counted_bits(b.boxes, b.count_width);
    b.refs = at;
    b.costs = b.refs + b.cells * static_cast<std::uint64_t>(b.ref_width);
    return b.costs + b.boxes * static_cast<std::uint64_t>(b.cost_width) <= end;
  }

  // Ones before bit i of a bitmap with samples at `at`.
  std::uint64_t rank(std::uint64_t at, std::uint64_t bits, int count_width, std::uint64_t i) const {
    const auto width = static_cast<std::uint64_t>(count_width);
    const std::uint64_t sample = i / kSample;
    std::uint64_t ones = sample == 0 ? 0 : bits_.get(at + (sample - 1) * width, count_width);
    at += (bits - 1) / kSample * width;
    for (std::uint64_t from = sample * kSample; from < i; from += 64) {
      const auto n = static_cast<int>(std::min<std::uint64_t>(64, i - from));
      ones += static_cast<std::uint64_t>(std::popcount(bits_.get(at + from, n)));
    }
    return ones;
  }
  // Position of the one that has `ones` ones before it, or `bits`.
  std::uint64_t select(std::uint64_t at, std::uint64_t bits, int count_width,
                       std::uint64_t ones) const {
    const auto width = static_cast<std::uint64_t>(count_width);
    std::uint64_t low = 0, high = (bits - 1) / kSample;  // last sample not above `ones`
    while (low < high) {
      const std::uint64_t middle = (low + high + 1) / 2;
      if (bits_.get(at + (middle - 1) * width, count_width) <= ones)
        low = middle;
      else
        high = middle - 1;
    }
    std::uint64_t left = ones - (low == 0 ? 0 : bits_.get(at + (low - 1) * width, count_width));
    at += (bits - 1) / kSample * width;
    for (std::uint64_t from = low * kSample; from < bits; from += 64) {
      const auto n = static_cast<int>(std::min<std::uint64_t>(64, bits - from));
      std::uint64_t word = bits_.get(at + from, n);
      const auto here = static_cast<std::uint64_t>(std::popcount(word));
      if (left >= here) {
        left -= here;
        continue;
      }
      for (; left > 0; --left) word &= word - 1;
      return from + static_cast<std::uint64_t>(std::countr_zero(word));
    }
    return bits;
  }

  // Which of the page's cells a point is.
  bool cell_of(const Body& b, const Point& point, std::uint64_t& cell) const {
    std::size_t i;
    if (!b.frame.locate(point, i)) return false;
    if (!b.sparse) {
      const std::uint64_t bitmap = b.presence + counted_bits(b.volume, b.count_width) - b.volume;
      if (bits_.get(bitmap + i, 1) == 0) return false;
      cell = rank(b.presence, b.volume, b.count_width, i);
      return cell < b.cells;
    }
    std::uint64_t low = 0, high = b.cells;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (point_of(b, middle) < point)
        low = middle + 1;
      else
        high = middle;
    }
    cell = low;
    return cell < b.cells && point_of(b, cell) == point;
  }
  Point point_of(const Body& b, std::uint64_t cell) const {
    std::uint64_t at = b.presence + cell * static_cast<std::uint64_t>(b.point_width);
    Point p;
    for (int d = 0; d < kDims; ++d) {
      const int width = width_of(b.frame.span[d]);
      p[d] = static_cast<std::uint16_t>(b.frame.origin[d] + bits_.get(at, width));
      at += static_cast<std::uint64_t>(width);
    }
    return p;
  }
  // f(point, cell) in order.
  template <typename F>
  void visit(const Body& b, F&& f) const {
    if (b.sparse) {
      for (std::uint64_t cell = 0; cell < b.cells; ++cell) f(point_of(b, cell), cell);
      return;
    }
    const std::uint64_t bitmap = b.presence + counted_bits(b.volume, b.count_width) - b.volume;
    std::uint64_t i = 0, cell = 0;
    b.frame.visit([&](const Point& point) {
      if (bits_.get(bitmap + i++, 1) != 0 && cell < b.cells) f(point, cell++);
    });
  }

  std::pair<std::uint64_t, std::uint64_t> boxes_of(const Body& b, std::uint64_t cell) const {
    if (b.boxes == b.cells) return {cell, cell + 1};
    return {select(b.starts, b.boxes, b.count_width, cell),
            select(b.starts, b.boxes, b.count_width, cell + 1)};
  }
  // Position of its first what in the column of lists.
  std::uint64_t list_of(const Body& b, std::uint64_t cell) const {
    return bits_.get(b.refs + cell * static_cast<std::uint64_t>(b.ref_width), b.ref_width);
  }
  bool what_of(std::uint64_t entry, Content& c) const {
    if (entry >= column_[Columns::kLists].count) return false;
    const std::uint64_t what = get(Columns::kLists, entry);
    c.decision = get(Columns::kDecisions, get(Columns::kWhats, what));
    for (int l = 0; l < 2 * kLimits; ++l) {
      const std::uint64_t id = get(Columns::kWhats + 1 + l, what);
      const auto value = static_cast<std::int64_t>(get(Columns::kLevels + l, id));
      (l < kLimits ? c.peak[l] : c.limit[l - kLimits]) = value;
    }
    return true;
  }
  std::uint64_t cost_of(const Body& b, std::uint64_t box) const {
    const std::uint64_t all = Map::kInfeasible >> (64 - b.cost_width);
    const std::uint64_t cost =
        bits_.get(b.costs + box * static_cast<std::uint64_t>(b.cost_width), b.cost_width);
    return cost == all ? Map::kInfeasible : cost;
  }

  BitReader bits_;
  Column column_[Columns::kCount];
};

}  // namespace morello
