// SpatialMemo: the memo that searches use, on a SpatialMap (search/spatial_map.h). For several
// threads it is divided by page into shards with a lock each. Below it may lie what others have
// solved, in its saved form (search/saved_map.h), which is only read.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "search/memo.h"
#include "search/saved_map.h"
#include "search/spatial_map.h"

namespace morello {

class SpatialMemo final : public Memo {
 public:
  using Map = SpatialMap<kCoordinates, Limits::kCount>;
  using Saved = SavedMap<kCoordinates, Limits::kCount>;

  // Safe for that many threads at once.
  explicit SpatialMemo(int threads = 1);

  bool find(const Key& key, const Limits& limits, Entry& found) const override;
  void insert(const Key& key, const Limits& asked, const Entry& entry) override;
  // Of what was inserted here.
  MemoSize size() const override;

  // Before the search: answers from these bytes too. False: they are no table.
  bool use(std::string bytes);
  MemoSize saved_size() const;  // walks over all of it
  // What was inserted here and what is in `old`, as bytes for use(). Bytes that are no table have
  // nothing in them. The bytes are a few saved maps, in segments: what is new becomes a segment,
  // and only those not larger than it are merged with it. Making one map of all each time took
  // longer than the search saved (1024x2048 by 2048x2048 after two other shapes).
  std::string frozen(std::string_view old) const;

 private:
  // Held for tens of nanoseconds and seldom wanted by two: spins. (std::mutex made a search with
  // two threads take a tenth more of each.)
  class Lock {
   public:
    void lock() {
      for (int spins = 0; taken_.test_and_set(std::memory_order_acquire); ++spins)
        if (spins >= 64) std::this_thread::yield();  // its holder may not be running
    }
    void unlock() { taken_.clear(std::memory_order_release); }

   private:
    std::atomic_flag taken_;
  };
  struct alignas(64) Shard {
    mutable Lock mutex;
    Map map;
  };
  Shard& shard(const Key& key) const;

  std::string bytes_;
  std::vector<Saved> saved_;  // in bytes_
  bool locked_;
  mutable std::vector<Shard> shards_;
};

// A decision as a number and back; the saved form relies on it.
std::uint64_t number(const Decision& d);
Decision decision(std::uint64_t number);

}  // namespace morello
