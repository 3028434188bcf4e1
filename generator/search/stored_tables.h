// StoredTables: tables in a directory, for the next kernel, build or process. What they hold never
// changes an answer (search/tables.h), so that trouble with the disk is a note.
#pragma once

#include <functional>

#include "search/store.h"
#include "search/tables.h"

namespace morello {

class StoredTables final : public Tables {
 public:
  // `note` may be called from any thread.
  StoredTables(MemoStore& store, std::function<void(const std::string&)> note)
      : store_(store), note_(std::move(note)) {}

  std::unique_ptr<SpatialMemo> open(const std::string& signature, int threads) override;
  void close(const std::string& signature, std::unique_ptr<SpatialMemo> memo) override;

 private:
  MemoStore& store_;
  std::function<void(const std::string&)> note_;
};

// What is in the directory, for people.
struct StoredTable {
  std::string path;
  std::string machine, family;  // of its signature
  bool usable = false;          // by this generator: made by the same sources
  std::string problem;          // why by nobody; empty: it is whole
  i64 bytes = 0;                // of the file
  i64 specs = 0, boxes = 0;     // if usable
};
std::vector<StoredTable> stored_tables(MemoStore& store);

}  // namespace morello
