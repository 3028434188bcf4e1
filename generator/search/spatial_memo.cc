#include "search/spatial_memo.h"

#include <cstring>

#include "search/freeze.h"

namespace morello {
namespace {

// Enough that threads seldom meet: eight shards a thread.
constexpr int kShardsPerThread = 8;

// Fields of a decision's number, from the lowest: 32 bits of value, 16 of detail, 8 of the subject,
// 8 of the row.
constexpr int kDetail = 32, kSubject = 48, kRow = 56;

// Number by number, as it was written.
void read(const SpatialMemo::Map::Content& c, Entry& e) {
  e.cost = c.cost == SpatialMemo::Map::kInfeasible ? Cost::infinite()
                                                   : Cost::milli(static_cast<i64>(c.cost));
  for (int i = 0; i < Limits::kCount; ++i) {
    e.peak.bytes[i] = c.peak[i];
    e.limit.bytes[i] = c.limit[i];
  }
  e.decision = decision(c.decision);
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
  for (const Saved& saved : saved_)
    if (Map::Content c; saved.find(key.page, key.point, limits.bytes, c)) {
      read(c, found);
      return true;
    }
  const Shard& s = shard(key);
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (locked_) lock.lock();
  Map::Content c;
  if (!s.map.find(key.page, key.point, limits.bytes, c)) return false;
  read(c, found);
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

// --- the saved form: how many segments, the bytes of each, the segments ---

static constexpr size_t kMostSegments = 4;  // each costs a look whenever a Spec is not found

static std::uint64_t word_at(std::string_view bytes, size_t i) {
  std::uint64_t word;
  std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
  return word;
}

// False: they do not add up.
static bool split(std::string_view bytes, std::vector<std::string_view>& segments) {
  if (bytes.size() < 8) return false;
  const std::uint64_t count = word_at(bytes, 0);
  if (count == 0 || count > kMostSegments || bytes.size() < 8 * (count + 1)) return false;
  std::string_view rest = bytes.substr(8 * (count + 1));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t n = word_at(bytes, i + 1);
    if (n > rest.size()) return false;
    segments.push_back(rest.substr(0, n));
    rest.remove_prefix(n);
  }
  return rest.empty();
}

static std::string joined(const std::vector<std::string_view>& segments) {
  std::string out;
  const auto put = [&](std::uint64_t word) {
    out.append(reinterpret_cast<const char*>(&word), sizeof word);
  };
  put(segments.size());
  for (std::string_view s : segments) put(s.size());
  for (std::string_view s : segments) out += s;
  return out;
}

static bool open_all(std::string_view bytes, std::vector<std::string_view>& segments,
                     std::vector<SpatialMemo::Saved>& maps) {
  bool good = split(bytes, segments);
  for (size_t i = 0; good && i < segments.size(); ++i)
    good = SpatialMemo::Saved::open(std::as_bytes(std::span(segments[i])), maps.emplace_back());
  if (good) return true;
  segments.clear();
  maps.clear();
  return false;
}

bool SpatialMemo::use(std::string bytes) {
  bytes_ = std::move(bytes);
  saved_.clear();
  std::vector<std::string_view> segments;
  return open_all(bytes_, segments, saved_);
}

MemoSize SpatialMemo::saved_size() const {
  Map all;
  for (const Saved& saved : saved_) add_all(saved, all);
  return {static_cast<i64>(all.specs()), static_cast<i64>(all.boxes()),
          static_cast<i64>(saved_.empty() ? 0 : bytes_.size())};
}

std::string SpatialMemo::frozen(std::string_view old) const {
  std::vector<std::string_view> segments;
  std::vector<Saved> maps;
  open_all(old, segments, maps);
  Map all;
  for (const Shard& s : shards_) add_all(s.map, all);
  std::string fresh = freeze_union(all);
  size_t kept = segments.size();
  while (kept > 0 && (segments[kept - 1].size() <= fresh.size() || kept >= kMostSegments)) {
    add_all(maps[--kept], all);
    fresh = freeze_union(all);
  }
  segments.resize(kept);
  segments.push_back(fresh);
  return joined(segments);
}

}  // namespace morello
