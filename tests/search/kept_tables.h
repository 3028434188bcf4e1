// Tables that stay in memory, as a process keeps them between its searches.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "search/tables.h"

namespace morello {

class KeptTables final : public Tables {
 public:
  // For searches by so many threads at most.
  explicit KeptTables(int most_jobs = 1) : most_jobs_(most_jobs) {}

  std::unique_ptr<SpatialMemo> open(const std::string& signature, int) override {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<SpatialMemo> memo = std::move(kept_[signature]);
    warm += memo != nullptr;
    return memo ? std::move(memo) : std::make_unique<SpatialMemo>(most_jobs_);
  }
  void close(const std::string& signature, std::unique_ptr<SpatialMemo> memo) override {
    const std::lock_guard lock(mutex_);
    kept_[signature] = std::move(memo);
  }
  MemoSize size() const {
    MemoSize sum;
    for (const auto& [signature, memo] : kept_) sum += memo->size();
    return sum;
  }
  int warm = 0;  // searches that began with a table

 private:
  int most_jobs_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<SpatialMemo>> kept_;
};

}  // namespace morello
