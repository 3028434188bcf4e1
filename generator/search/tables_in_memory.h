// TablesInMemory: what searches in memory know, for those of the same kernel that follow.
#pragma once

#include <map>
#include <mutex>

#include "search/tables.h"

namespace morello {

class TablesInMemory final : public Tables {
 public:
  std::unique_ptr<SpatialMemo> open(const std::string& signature, int threads) override {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<SpatialMemo> memo = std::move(kept_[signature]);
    return memo ? std::move(memo) : std::make_unique<SpatialMemo>(threads);
  }
  void close(const std::string& signature, std::unique_ptr<SpatialMemo> memo) override {
    const std::lock_guard lock(mutex_);
    kept_[signature] = std::move(memo);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<SpatialMemo>> kept_;
};

}  // namespace morello
