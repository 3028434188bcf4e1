// SpatialMemo: the memo that searches use, on a SpatialMap (search/spatial_map.h). For several
// threads it is divided by page into shards with a lock each.
#pragma once

#include <mutex>
#include <vector>

#include "search/memo.h"
#include "search/spatial_map.h"

namespace morello {

class SpatialMemo final : public Memo {
 public:
  using Map = SpatialMap<kMaxDims, Limits::kCount>;

  // Safe for that many threads at once.
  explicit SpatialMemo(int threads = 1);

  bool find(const Key& key, const Limits& limits, Entry& found) const override;
  void insert(const Key& key, const Limits& asked, const Entry& entry) override;
  MemoSize size() const override;

 private:
  struct Shard {
    mutable std::mutex mutex;
    Map map;
  };
  Shard& shard(const Key& key) const;

  bool locked_;
  mutable std::vector<Shard> shards_;
};

// A decision as a number and back; the saved form relies on it.
std::uint64_t number(const Decision& d);
Decision decision(std::uint64_t number);

}  // namespace morello
