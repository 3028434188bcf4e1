// The two memos that everybody would write first, for comparison with the compressed one: a hash
// table of lists of boxes, and a hash table by (Spec, exact limits).
#pragma once

#include <unordered_map>

#include "search/spatial_memo.h"

namespace morello {

struct KeyHash {
  static std::size_t mix(std::size_t h, std::uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15ull;
    return h ^ h >> 29;
  }
  std::size_t operator()(const Key& k) const {
    std::size_t h = 0;
    for (std::uint64_t v : k.page) h = mix(h, v);
    for (std::uint16_t v : k.point) h = mix(h, v);
    return h;
  }
};

// One slot per box: the Spec's key and its entries.
class FlatMemo final : public Memo {
 public:
  bool find(const Key& key, const Limits& limits, Entry& found) const override {
    const auto [first, last] = boxes_.equal_range(key);
    for (auto it = first; it != last; ++it)
      if (fits(it->second.peak, limits) && fits(limits, it->second.limit)) {
        found = it->second;
        return true;
      }
    return false;
  }
  void insert(const Key& key, const Limits&, const Entry& entry) override {
    boxes_.emplace(key, entry);
  }
  MemoSize size() const override { return {0, static_cast<i64>(boxes_.size()), 0}; }

 private:
  std::unordered_multimap<Key, Entry, KeyHash> boxes_;
};

// Levels that no move of this Spec can reach have no limit that matters.
inline Limits relevant(const Key& key, Limits limits) {
  for (Level l = farthest_of(key) + 1; l <= kL3; ++l) limits.at(l) = Limits::kUnlimited;
  return limits;
}

// By (Spec, exact limits), and as lean as that can be: 40 bytes of key, 40 of value. Pages, of
// which there are few, are numbered in a table of their own.
class ExactMemo final : public Memo {
 public:
  bool find(const Key& key, const Limits& limits, Entry& found) const override {
    const auto page = pages_.find(key.page);
    if (page == pages_.end()) return false;
    const auto it = entries_.find(exact(page->second, key, limits));
    if (it == entries_.end()) return false;
    found = {it->second.cost, it->second.peak, limits, decision(it->second.decision)};
    return true;
  }
  void insert(const Key& key, const Limits& asked, const Entry& entry) override {
    const auto next = static_cast<std::uint32_t>(pages_.size());
    const std::uint32_t page = pages_.emplace(key.page, next).first->second;
    entries_.emplace(exact(page, key, asked),
                     Value{entry.cost, entry.peak, number(entry.decision)});
  }
  MemoSize size() const override { return {0, static_cast<i64>(entries_.size()), 0}; }

 private:
  struct Exact {
    std::uint32_t page;
    std::array<std::uint8_t, kCoordinates> point;
    Limits limits;
    bool operator==(const Exact&) const = default;
  };
  struct Value {
    Cost cost;
    Limits peak;
    std::uint64_t decision;
  };
  struct Hash {
    std::size_t operator()(const decltype(Key::page)& page) const {
      std::size_t h = 0;
      for (std::uint64_t v : page) h = KeyHash::mix(h, v);
      return h;
    }
    std::size_t operator()(const Exact& e) const {
      std::size_t h = e.page;
      for (std::uint8_t v : e.point) h = h * 64 + v;
      for (i64 v : e.limits.bytes) h = KeyHash::mix(h, static_cast<std::uint64_t>(v));
      return h;
    }
  };
  static Exact exact(std::uint32_t page, const Key& key, const Limits& limits) {
    Exact e{page, {}, relevant(key, limits)};
    for (int d = 0; d < kCoordinates; ++d) e.point[d] = static_cast<std::uint8_t>(key.point[d]);
    return e;
  }

  std::unordered_map<decltype(Key::page), std::uint32_t, Hash> pages_;
  std::unordered_map<Exact, Value, Hash> entries_;
};

}  // namespace morello
