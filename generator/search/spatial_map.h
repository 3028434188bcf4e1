// SpatialMap: from a point of a lattice to boxes of limits, compressed. Generic: it knows neither
// Specs nor costs, only coordinates, limits and numbers.
//
// A Spec is seen as a page key (what has no order: places of operands, odd parts of extents) and a
// point in Z>=0^kDims (what has one: the exponents of the extents). A box {cost, peak, limit,
// decision} at a point answers every query q with peak <= q <= limit, component-wise.
//
// Promise of a hit: find() returns a box that was inserted under exactly this key and point and
// that holds the query; if there is one, it finds one. No box is ever widened, merged with a
// neighbour's or lent to a point where none was inserted.
//
// How, from the outside in:
// - A directory hashes the page key to a page.
// - A page is a grid of 4-byte cells over the bounding box of its points, without the empty ones
//   where they are many (search/lattice_page.h). Neighbours are thus neighbours in memory, and a
//   point needs no key.
// - A cell points to words of 8 bytes: 42 bits of cost and 22 bits of "what"; a second box of
//   a cell adds a word that links to the first.
// - What = (decision, peak, limit), interned: many boxes share one. 2 x 4 bytes per level and 8.
// Whatever does not fit (costs above 4e12, limits of 4 GiB and more that are not "unlimited", more
// than 4 million whats) is kept in full in a side table and found through its word.
//
// Worked example, kDims = 2, kLimits = 1. Under one key, at (3,5) the box {cost 70, peak 1024,
// limit 6143, decision 9}: the page is one cell, the cell points to one word, cost 70 and what 0.
// At (4,5) {90, 1024, 6143, 9}: the grid grows to 2x1, the new word is cost 90 and what 0 again. At
// (3,5) {60, 6144, unlimited, 9}: a word with what 1 and a link to the first. Now find((3,5), 2048)
// looks at two words and returns cost 70; find((3,5), 512) looks at two and returns false.
//
// Measured on tables of real searches (bench_encodings; docs/memo.md has all rows): bytes per box
// as allocated, ns per insert / find in the order of the search.
//                          f32 256^3        f32 512x2048x2048   56 kernels together
//   hash, 56-byte slots    125 B  61/26     115 B  76/43        117 B 116/51
//   R-tree per page        151 B 220/225    168 B 228/267       166 B 437/476
//   this                    22 B 123/32      25 B 166/41         20 B 178/42
//
// find() and insert() are expected O(kDims + kLimits * boxes at the point), where a page that is
// not dense adds a move of at most 16 KiB to an insert. find() writes nothing, so any number
// of threads may call it while nobody inserts. No state outside the object.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "search/lattice_page.h"

namespace morello {

// A vector in pieces: elements stay where they are, and at most one piece is slack.
template <typename T, int kLog2>
class Pieces {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return pieces_[i >> kLog2][i & (kPiece - 1)]; }
  const T& operator[](std::size_t i) const { return pieces_[i >> kLog2][i & (kPiece - 1)]; }
  void push_back(T value) {
    if (size_ >> kLog2 == pieces_.size())
      pieces_.push_back(std::make_unique_for_overwrite<T[]>(kPiece));
    (*this)[size_++] = std::move(value);
  }
  std::size_t bytes() const {
    return pieces_.size() * kPiece * sizeof(T) + pieces_.capacity() * sizeof(pieces_[0]);
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << kLog2;
  std::vector<std::unique_ptr<T[]>> pieces_;
  std::size_t size_ = 0;
};

// 64-bit words of a page's key.
inline constexpr int kPageWords = 8;

template <int kDims, int kLimits>
class SpatialMap {
 public:
  using PageKey = std::array<std::uint64_t, kPageWords>;
  using Point = std::array<std::uint16_t, kDims>;
  using Vector = std::array<std::int64_t, kLimits>;

  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;
  static constexpr std::uint64_t kInfeasible = ~std::uint64_t{0};

  struct Content {
    std::uint64_t cost = kInfeasible;
    Vector peak{}, limit{};
    std::uint64_t decision = 0;
    auto operator<=>(const Content&) const = default;
  };

  SpatialMap() : words_(), directory_(kFirstSlots), interned_(kFirstSlots) { words_.push_back(0); }

  // A box at this point that holds the query.
  bool find(const PageKey& key, const Point& point, const Vector& query, Content& content) const {
    const Slot slot = directory_[slot_of(key, hash(key))];
    if (slot.page == 0) return false;
    std::uint32_t cell = pages_[slot.page - 1].cells.at(point);
    if (cell == 0) return false;
    const Codes codes = codes_of(query);
    while (!holds(words_[cell >> 1], codes, query, content)) {
      if ((cell & kLinked) == 0) return false;
      cell = static_cast<std::uint32_t>(words_[(cell >> 1) + 1]);
    }
    return true;
  }

  // Adds a box. One that the point has already is not stored twice.
  void insert(const PageKey& key, const Point& point, const Content& content) {
    const std::uint64_t word = word_of(content);
    LatticePage<kDims>& page = page_of(key).cells;
    std::uint32_t& cell = page.place(point);
    for (std::uint32_t c = cell; c != 0; c = next(c)) {
      const std::uint64_t had = words_[c >> 1];
      if (is_wide(word) ? this->content(had) == content : had == word) return;
    }
    if (words_.size() + 2 > kMostWords) throw std::length_error("SpatialMap is full");
    const auto at = static_cast<std::uint32_t>(words_.size());
    words_.push_back(is_wide(word) ? widen(content) : word);
    if (cell != 0) words_.push_back(cell);
    specs_ += cell == 0;
    ++boxes_;
    cell = at << 1 | (cell != 0 ? kLinked : 0);
  }

  // f(key, point, content) for every box, in an order that depends on the boxes alone: by key,
  // point and content.
  template <typename F>
  void for_each(F&& f) const {
    std::vector<const Page*> pages;
    for (std::size_t i = 0; i < pages_.size(); ++i) pages.push_back(&pages_[i]);
    std::sort(pages.begin(), pages.end(), [](auto* a, auto* b) { return a->key < b->key; });
    std::vector<std::pair<Point, std::uint32_t>> cells;
    std::vector<Content> chain;
    for (const Page* page : pages) {
      cells.clear();
      page->cells.visit([&](const Point& p, std::uint32_t cell) { cells.push_back({p, cell}); });
      if (!page->cells.is_ordered()) std::sort(cells.begin(), cells.end());
      for (const auto& [point, first] : cells) {
        chain.clear();
        for (std::uint32_t c = first; c != 0; c = next(c)) chain.push_back(content(words_[c >> 1]));
        std::sort(chain.begin(), chain.end());
        for (const Content& c : chain) f(page->key, point, c);
      }
    }
  }

  std::size_t specs() const { return specs_; }  // points that have a box
  std::size_t boxes() const { return boxes_; }
  std::size_t pages() const { return pages_.size(); }
  std::size_t whats() const { return whats_.size(); }
  // Everything allocated, with slack and what malloc adds to the many small pieces. Looks at every
  // page.
  std::size_t bytes() const {
    std::size_t cells = 0;
    for (std::size_t i = 0; i < pages_.size(); ++i) cells += pages_[i].cells.bytes();
    return words_.bytes() + whats_.bytes() + wides_.bytes() + pages_.bytes() + cells +
           directory_.capacity() * sizeof(Slot) + interned_.capacity() * sizeof(std::uint32_t);
  }

  // Well mixed in all bits.
  static std::uint64_t hash(const PageKey& key) {
    constexpr std::uint64_t kOdd[kPageWords] = {
        0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB,
        0xFF51AFD7ED558CCD, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < key.size(); ++i) sum += (key[i] ^ key[i] >> 32) * kOdd[i];
    return mix(sum);
  }

 private:
  // Limits as 4 bytes, in order: negative, 0, 1, ..., too large, unlimited, beyond unlimited.
  using Codes = std::array<std::uint32_t, kLimits>;
  static constexpr std::uint32_t kNegative = 0;
  static constexpr std::uint32_t kTooLarge = 0xFFFFFFFD;
  static constexpr std::uint32_t kUnlimitedCode = 0xFFFFFFFE;
  static constexpr std::uint32_t kBeyond = 0xFFFFFFFF;

  // A word: cost below, what above.
  static constexpr int kCostBits = 42;
  static constexpr std::uint64_t kCostMask = (std::uint64_t{1} << kCostBits) - 1;
  static constexpr std::uint64_t kWide = (std::uint64_t{1} << (64 - kCostBits)) - 1;
  // A cell: index of a word, and whether a link to the next cell comes after that word.
  static constexpr std::uint32_t kLinked = 1;
  static constexpr std::size_t kMostWords = std::size_t{1} << 31;
  static constexpr std::size_t kFirstSlots = 64;

  struct What {
    Codes peak, limit;
    std::uint64_t decision;
    bool operator==(const What&) const = default;
  };
  struct Slot {
    std::uint32_t tag = 0;   // of the hash, so that other pages are seldom looked at
    std::uint32_t page = 0;  // index + 1
  };
  struct Page {
    LatticePage<kDims> cells;
    PageKey key{};
  };

  // --- limits and words ---

  static std::uint32_t code_of(std::int64_t bytes) {
    if (bytes < kTooLarge - 1) return bytes < 0 ? kNegative : static_cast<std::uint32_t>(bytes) + 1;
    return bytes < kUnlimited ? kTooLarge : bytes == kUnlimited ? kUnlimitedCode : kBeyond;
  }
  static Codes codes_of(const Vector& v) {
    Codes codes;
    for (int i = 0; i < kLimits; ++i) codes[i] = code_of(v[i]);
    return codes;
  }
  static bool exact(const Codes& codes) {
    return std::none_of(codes.begin(), codes.end(), [](std::uint32_t c) {
      return c == kNegative || c == kTooLarge || c == kBeyond;
    });
  }
  static std::int64_t bytes_of(std::uint32_t code) {
    return code == kUnlimitedCode ? kUnlimited : std::int64_t{code} - 1;
  }
  static bool is_wide(std::uint64_t word) { return word >> kCostBits == kWide; }

  Content content(std::uint64_t word) const {
    Content c;
    if (is_wide(word))
      c = wides_[word & kCostMask];
    else
      read(word, whats_[word >> kCostBits], c);
    return c;
  }
  // Number by number: a copy of the whole would wait for its parts to be written.
  static void read(std::uint64_t word, const What& w, Content& c) {
    const std::uint64_t cost = word & kCostMask;
    c.cost = cost == kCostMask ? kInfeasible : cost;
    for (int i = 0; i < kLimits; ++i) {
      c.peak[i] = bytes_of(w.peak[i]);
      c.limit[i] = bytes_of(w.limit[i]);
    }
    c.decision = w.decision;
  }

  bool holds(std::uint64_t word, const Codes& codes, const Vector& query, Content& found) const {
    if (is_wide(word)) {
      const Content& c = wides_[word & kCostMask];
      for (int i = 0; i < kLimits; ++i)
        if (query[i] < c.peak[i] || c.limit[i] < query[i]) return false;
      found = c;
      return true;
    }
    const What& w = whats_[word >> kCostBits];
    int outside = 0;
    for (int i = 0; i < kLimits; ++i)
      outside |= int{codes[i] < w.peak[i]} | int{w.limit[i] < codes[i]};
    if (outside != 0) return false;
    read(word, w, found);
    return true;
  }

  // The word of a box, or just kWide if it takes more than a word.
  std::uint64_t word_of(const Content& c) {
    const std::uint64_t wide = kWide << kCostBits;
    if (c.cost >= kCostMask && c.cost != kInfeasible) return wide;
    const What what{codes_of(c.peak), codes_of(c.limit), c.decision};
    if (!exact(what.peak) || !exact(what.limit)) return wide;
    const std::uint64_t id = intern(what);
    return id == kWide ? wide : id << kCostBits | (c.cost & kCostMask);
  }
  std::uint64_t widen(const Content& c) {
    wides_.push_back(c);
    return kWide << kCostBits | (wides_.size() - 1);
  }

  static std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93;
    return h ^ h >> 32;
  }
  static std::uint64_t hash(const What& w) {
    std::uint64_t h = w.decision;
    for (int i = 0; i < kLimits; ++i)
      h = mix(h ^ (std::uint64_t{w.peak[i]} << 32 | w.limit[i])) + 0x9E3779B97F4A7C15;
    return mix(h);
  }

  std::uint64_t intern(const What& what) {
    if (4 * whats_.size() > 3 * interned_.size()) {
      std::vector<std::uint32_t> grown(interned_.size() * 2);
      interned_.swap(grown);
      for (std::uint32_t id : grown)
        if (id != 0) interned_[free_slot(whats_[id - 1])] = id;
    }
    std::uint32_t& id = interned_[free_slot(what)];
    if (id == 0) {
      if (whats_.size() == kWide) return kWide;
      whats_.push_back(what);
      id = static_cast<std::uint32_t>(whats_.size());
    }
    return id - 1;
  }
  // Where it is, or should be.
  std::size_t free_slot(const What& what) const {
    const std::size_t mask = interned_.size() - 1;
    std::size_t i = hash(what) & mask;
    while (interned_[i] != 0 && !(whats_[interned_[i] - 1] == what)) i = (i + 1) & mask;
    return i;
  }

  // --- the directory ---

  // Without a call of memcmp.
  static bool same(const PageKey& a, const PageKey& b) {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }
  static std::uint32_t tag_of(std::uint64_t h) { return static_cast<std::uint32_t>(h >> 32); }

  // Where it is, or should be.
  std::size_t slot_of(const PageKey& key, std::uint64_t h) const {
    const std::size_t mask = directory_.size() - 1;
    std::size_t i = h & mask;
    while (directory_[i].page != 0 &&
           (directory_[i].tag != tag_of(h) || !same(pages_[directory_[i].page - 1].key, key)))
      i = (i + 1) & mask;
    return i;
  }

  Page& page_of(const PageKey& key) {
    if (2 * pages_.size() >= directory_.size()) {
      std::vector<Slot> grown(directory_.size() * 2);
      directory_.swap(grown);
      for (const Slot& s : grown) {
        if (s.page == 0) continue;
        const PageKey& k = pages_[s.page - 1].key;
        directory_[slot_of(k, hash(k))] = s;
      }
    }
    const std::uint64_t h = hash(key);
    Slot& slot = directory_[slot_of(key, h)];
    if (slot.page == 0) {
      pages_.push_back({});
      pages_[pages_.size() - 1].key = key;
      slot = {tag_of(h), static_cast<std::uint32_t>(pages_.size())};
    }
    return pages_[slot.page - 1];
  }

  std::uint32_t next(std::uint32_t cell) const {
    return cell & kLinked ? static_cast<std::uint32_t>(words_[(cell >> 1) + 1]) : 0;
  }

  Pieces<std::uint64_t, 11> words_;  // from 1 on: cell 0 is "no box"
  Pieces<What, 9> whats_;
  Pieces<Content, 5> wides_;
  Pieces<Page, 5> pages_;
  std::vector<Slot> directory_;          // open addressing, at most half full
  std::vector<std::uint32_t> interned_;  // index + 1 into whats_, at most three quarters full
  std::size_t specs_ = 0, boxes_ = 0;
};

}  // namespace morello
