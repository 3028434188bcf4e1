#include "search/spatial_memo.h"

#include "search/freeze.h"

namespace morello {
namespace {

// Enough that threads seldom meet: eight shards a thread.
constexpr int kShardsPerThread = 8;

// Fields of a decision's number, from the lowest: 32 bits of value, 16 of detail, 8 of the subject,
// 8 of the row.
constexpr int kDetail = 32, kSubject = 48, kRow = 56;

Entry entry(const SpatialMemo::Map::Content& c) {
  Entry e;
  e.cost = c.cost == SpatialMemo::Map::kInfeasible ? Cost::infinite()
                                                   : Cost::milli(static_cast<i64>(c.cost));
  e.peak.bytes = c.peak;
  e.limit.bytes = c.limit;
  e.decision = decision(c.decision);
  return e;
}

}  // namespace

std::uint64_t number(const Decision& d) {
  const auto value = static_cast<std::uint64_t>(d.value);
  const auto detail = static_cast<std::uint64_t>(d.detail);
  const auto subject = static_cast<std::uint64_t>(d.subject);
  const auto row = static_cast<std::uint64_t>(d.rewrite + 1);
  MORELLO_CHECK(value >> 32 == 0 && detail >> 16 == 0 && subject >> 8 == 0 && row >> 8 == 0,
                "decision {} {} {} {}", d.rewrite, d.subject, d.detail, d.value);
  return value | detail << kDetail | subject << kSubject | row << kRow;
}

Decision decision(std::uint64_t n) {
  Decision d;
  d.value = static_cast<i64>(n & 0xFFFFFFFF);
  d.detail = static_cast<std::int32_t>(n >> kDetail & 0xFFFF);
  d.subject = static_cast<std::int16_t>(n >> kSubject & 0xFF);
  d.rewrite = static_cast<std::int16_t>(static_cast<int>(n >> kRow) - 1);
  return d;
}

SpatialMemo::SpatialMemo(int threads)
    : locked_(threads > 1), shards_(threads > 1 ? kShardsPerThread * threads : 1) {}

SpatialMemo::Shard& SpatialMemo::shard(const Key& key) const {
  if (!locked_) return shards_[0];
  std::uint64_t h = 0;
  for (std::uint64_t word : key.page) h = (h ^ word) * 0x9E3779B97F4A7C15ull;
  return shards_[(h >> 32) % shards_.size()];
}

bool SpatialMemo::find(const Key& key, const Limits& limits, Entry& found) const {
  Map::Content c;
  if (!bytes_.empty() && saved_.find(key.page, key.point, limits.bytes, c)) {
    found = entry(c);
    return true;
  }
  const Shard& s = shard(key);
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (locked_) lock.lock();
  if (!s.map.find(key.page, key.point, limits.bytes, c)) return false;
  found = entry(c);
  return true;
}

void SpatialMemo::insert(const Key& key, const Limits&, const Entry& e) {
  Shard& s = shard(key);
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (locked_) lock.lock();
  s.map.insert(key.page, key.point,
               {e.cost.finite() ? e.cost.value() : Map::kInfeasible, e.peak.bytes, e.limit.bytes,
                number(e.decision)});
}

MemoSize SpatialMemo::size() const {
  MemoSize size;
  for (const Shard& s : shards_) {
    std::unique_lock lock(s.mutex, std::defer_lock);
    if (locked_) lock.lock();
    size.specs += static_cast<i64>(s.map.specs());
    size.boxes += static_cast<i64>(s.map.boxes());
    size.bytes += static_cast<i64>(s.map.bytes());
  }
  return size;
}

static std::span<const std::byte> span_of(std::string_view bytes) {
  return std::as_bytes(std::span(bytes));
}

bool SpatialMemo::use(std::string bytes) {
  bytes_ = std::move(bytes);
  if (Saved::open(span_of(bytes_), saved_)) return true;
  bytes_.clear();
  return false;
}

MemoSize SpatialMemo::saved_size() const {
  MemoSize size;
  if (bytes_.empty()) return size;
  size.bytes = static_cast<i64>(bytes_.size());
  Map::PageKey last_page{};
  Map::Point last_point{};
  saved_.for_each([&](const Map::PageKey& page, const Map::Point& point, const Map::Content&) {
    size.specs += size.boxes == 0 || page != last_page || point != last_point;
    ++size.boxes;
    last_page = page;
    last_point = point;
  });
  return size;
}

std::string SpatialMemo::frozen(std::string_view old) const {
  Map all;
  Saved saved;
  if (Saved::open(span_of(old), saved)) add_all(saved, all);
  for (const Shard& s : shards_) add_all(s.map, all);
  return freeze_union(all);
}

}  // namespace morello
