// The two memos that everybody would write first, for comparison with the compressed one: a hash
// table of lists of boxes, and a hash table by (Spec, exact limits).
#pragma once

#include <unordered_map>

#include "search/memo.h"

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
  std::size_t operator()(const std::pair<Key, Limits>& k) const {
    std::size_t h = (*this)(k.first);
    for (i64 v : k.second.bytes) h = mix(h, static_cast<std::uint64_t>(v));
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
  for (Level l = nearest_of(key) + 1; l <= kL3; ++l) limits.at(l) = Limits::kUnlimited;
  return limits;
}

class ExactMemo final : public Memo {
 public:
  bool find(const Key& key, const Limits& limits, Entry& found) const override {
    const auto it = entries_.find({key, relevant(key, limits)});
    if (it == entries_.end()) return false;
    found = it->second;
    return true;
  }
  void insert(const Key& key, const Limits& asked, const Entry& entry) override {
    entries_.emplace(std::pair(key, relevant(key, asked)), entry);
  }
  MemoSize size() const override { return {0, static_cast<i64>(entries_.size()), 0}; }

 private:
  std::unordered_map<std::pair<Key, Limits>, Entry, KeyHash> entries_;
};

}  // namespace morello
