// Tables: where the memo of a family comes from before its search and goes to after it.
#pragma once

#include <memory>
#include <string>

#include "search/spatial_memo.h"

namespace morello {

// Safe for several threads. An answer never depends on what a table holds, only its price does.
class Tables {
 public:
  virtual ~Tables() = default;
  // The table of a signature (Space::signature()), with what is known already; safe for `threads`.
  virtual std::unique_ptr<SpatialMemo> open(const std::string& signature, int threads) = 0;
  // Takes back a table after a search that was not cut short.
  virtual void close(const std::string& signature, std::unique_ptr<SpatialMemo> memo) = 0;
};

}  // namespace morello
