// MemoStore: payloads on disk, one file per signature, shared by kernels, builds and processes.
//
// Promise of load(): a payload that some update() saved under exactly this signature, whole, or
// nothing. Promise of update(): what it merges is never lost to another writer, and a writer that
// is killed leaves the table as it was. Neither ever throws because of what is on the disk, hangs
// or changes an answer: a store that cannot be used costs time, and a note says so.
//
// How:
// - A file is magic, version, lengths, checksum, the signature in full, the payload. Anything that
//   does not fit together (truncated, damaged, of another version, of another signature with the
//   same file name) counts as absent. The checksum is XXH64 over all of it; no flipped bit and no
//   truncation of tests/search/store_faults_test.cc passes. Measured: a table of 64 MB loads at
//   1.3 GB/s, most of it page faults; the checksum alone runs at 6 to 15 GB/s.
// - A table is replaced by rename, so that readers need no lock and see the old or the new one.
//   There is no fsync: after a power failure the checksum tells, and a table can be computed again.
// - Writers exclude each other with flock on STEM.lock, which exists only while somebody writes.
//   It is removed by its holder; who waited for a removed one notices and takes the new one. flock
//   and not fcntl, because it excludes threads of one process too and no unrelated close() drops
//   it. Where locks do not work, nothing is saved.
// - What a killed writer leaves (STEM.PID.tmp, STEM.lock) goes when another process first saves.
// - The directory has a budget. Tables not used for longest go first, by modification time, which
//   load() renews when it is over an hour old. Time decides only which tables are kept. A process
//   looks at its first update and after every sixteenth of the budget that it wrote, so that the
//   directory may exceed the budget by that much per process.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/diag.h"

namespace morello {

struct StoreOptions {
  i64 budget = i64{1024} << 20;  // bytes
  int lock_wait = 5000;          // milliseconds, once per store: who waited in vain waits no more
};

class MemoStore {
 public:
  // Nothing is created before the first update.
  explicit MemoStore(std::string directory, StoreOptions options = {});

  // The payload, or empty. `note` says why a table that is there is not used; else it stays as is.
  std::string load(const std::string& signature, std::string* note);

  // Replaces the table by merge(its payload, or empty). What merge() throws is passed on. `note`
  // says why nothing was saved; else it stays as is. A payload that is empty or unchanged is not
  // written.
  void update(const std::string& signature,
              const std::function<std::string(std::string_view old)>& merge, std::string* note);

  struct Table {
    std::string path;
    std::string signature;
    i64 bytes = 0;        // of the file
    std::string problem;  // why it cannot be used; the payload is not looked at
  };
  // By file name. Empty if there is no directory.
  std::vector<Table> list() const;

  // Removes all tables but those being written, and nothing that is not ours. How many went, and
  // their bytes.
  struct Cleared {
    i64 tables = 0;
    i64 bytes = 0;
    std::string problem;  // the first that could not be removed, and why
  };
  Cleared clear();

  // Where the table of a signature lies.
  std::string path(const std::string& signature) const;
  const std::string& directory() const { return directory_; }

 private:
  std::string save(const std::string& stem, const std::string& signature,
                   const std::function<std::string(std::string_view)>& merge);
  void trim(const std::string& keep);

  std::string directory_;
  StoreOptions options_;
  std::atomic<bool> patient_ = true;
  std::atomic<i64> written_;  // since the last trim; begins with enough for one
};

}  // namespace morello
