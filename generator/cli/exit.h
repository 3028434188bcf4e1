// How a command ends when it does not succeed. Exit codes are documented in docs/cli.md.
#pragma once

#include <string>

#include "support/diag.h"

namespace morello {

enum ExitCode : int {  // 128 + n: ended by signal n, as shells say it
  kSuccess = 0,
  kInternal = 1,  // also what the operating system refuses
  kUsage = 2,     // also machine files
  kBadSpec = 3,
  kLockOutOfDate = 4,
  kNoImplementation = 5,
};

// Thrown by commands, caught in main() only. `text` is all that goes to stderr.
struct Failure {
  ExitCode code = kInternal;
  std::string text;
  bool hint = false;  // name the --help of the command
};

[[noreturn]] inline void fail(ExitCode code, const std::string& text) {
  throw Failure{code, "morello: error: " + text + "\n", false};
}
[[noreturn]] inline void usage_error(const std::string& text) {
  throw Failure{kUsage, "morello: error: " + text + "\n", true};
}
// A user's text is wrong: the message names the place in it.
[[noreturn]] inline void fail(ExitCode code, const Diagnostic& d) {
  throw Failure{code, (d.file.empty() ? "morello: " : "") + d.str(), false};
}

// "; did you mean `avx2`?", or nothing.
inline std::string did_you_mean(std::string_view given, const std::vector<std::string>& allowed) {
  const std::string word = nearest(given, allowed);
  return word.empty() ? "" : fmt::format("; did you mean `{}`?", word);
}

}  // namespace morello
