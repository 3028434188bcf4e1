// Where solved sub-problems are kept between runs: the options, and what is said about trouble.
#pragma once

#include <CLI/CLI.hpp>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "search/stored_tables.h"

namespace morello {

struct MemoArgs {
  std::optional<std::string> given;
  bool none = false;
  std::optional<i64> budget_given;  // MiB

  // `may_do_without`: --no-memo, and no directory is no mistake.
  void declare(CLI::App& app, bool may_do_without);
  // --memo, else MORELLO_CACHE_DIR; empty: do without.
  std::string directory() const;
  // --memo-budget, else MORELLO_CACHE_BUDGET, else a GiB.
  StoreOptions options() const;
};

// A table that cannot be used, a disk that is full: worth a line, but not one for each of a hundred
// tables, and never an error. May be called from any thread.
class MemoNotes {
 public:
  // "memo table PATH: REASON": only the first of every reason is printed.
  void say(const std::string& note);

 private:
  std::mutex mutex_;
  std::set<std::string> reasons_;
};

// The memo of one command.
class OpenMemo {
 public:
  explicit OpenMemo(const MemoArgs& args);
  OpenMemo(const OpenMemo&) = delete;
  OpenMemo& operator=(const OpenMemo&) = delete;
  Tables* tables() { return tables_ ? &*tables_ : nullptr; }  // null: do without

 private:
  MemoNotes notes_;
  std::optional<MemoStore> store_;
  std::optional<StoredTables> tables_;
};

}  // namespace morello
