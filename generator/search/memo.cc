#include "search/memo.h"

namespace morello {

static constexpr size_t kFirstSlots = 1024;

Memo::Memo() : slots_(kFirstSlots) {}

static std::uint64_t hash(const Key& key) {
  std::uint64_t h =
      key.high * 0x9E3779B97F4A7C15ull ^ (key.low + 0x7F4A7C15ull) * 0xC2B2AE3D27D4EB4Full;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9ull;
  return h ^ h >> 32;
}

size_t Memo::slot_of(const Key& key) const {
  const size_t mask = slots_.size() - 1;
  size_t i = hash(key) & mask;
  while (slots_[i].first >= 0 && slots_[i].key != key) i = (i + 1) & mask;
  return i;
}

const Entry* Memo::find(const Key& key, const Limits& limits) const {
  for (std::int32_t e = slots_[slot_of(key)].first; e >= 0; e = entries_[e].next) {
    const Entry& entry = entries_[e].entry;
    if (fits(entry.peak, limits) && fits(limits, entry.limit)) return &entry;
  }
  return nullptr;
}

void Memo::insert(const Key& key, const Entry& entry) {
  MORELLO_CHECK(entries_.size() < 0x7FFFFFFF, "the memo is full");
  Slot* slot = &slots_[slot_of(key)];
  if (slot->first < 0) {
    if (2 * static_cast<size_t>(++specs_) > slots_.size()) {
      grow();
      slot = &slots_[slot_of(key)];
    }
    slot->key = key;
  }
  entries_.push_back({entry, slot->first});
  slot->first = static_cast<std::int32_t>(entries_.size()) - 1;
}

void Memo::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old)
    if (s.first >= 0) slots_[slot_of(s.key)] = s;
}

i64 Memo::bytes() const {
  return static_cast<i64>(slots_.capacity() * sizeof(Slot) + entries_.capacity() * sizeof(Chained));
}

}  // namespace morello
