// The file of one table: magic, version, lengths, checksum, signature, payload. store.h says why.
#pragma once

#include <string>
#include <string_view>

#include "support/diag.h"

namespace morello {

struct TableFile {
  bool absent = false;
  bool unreadable = false;  // for a reason outside of the file: it may be a good table
  std::string problem;      // why it cannot be used; empty: all is well
  std::string signature;
  std::string payload;
  i64 bytes = 0;  // of the file
};

// All of it, checked. `renew`: make the modification time now if it is over an hour old.
TableFile read_table(const std::string& path, bool renew);

// Without the payload, so that damage there is not seen.
TableFile read_table_head(const std::string& path);

// A new file, which must not exist. The problem, or empty; with a problem there is no file.
std::string write_table(const std::string& path, std::string_view signature,
                        std::string_view payload);

// How large the file of such a table is.
i64 table_bytes(std::string_view signature, std::string_view payload);

}  // namespace morello
