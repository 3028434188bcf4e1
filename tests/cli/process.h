// Running the built `morello` the way a user does.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace morello {

struct Ran {
  int code = 0;  // 128 + n: ended by signal n
  std::string out;
  std::string err;
};

struct Setting {
  std::vector<std::string> environment;  // "LC_ALL=C"
  std::string directory;                 // empty: ours
  int umask = -1;                        // -1: ours
};

Ran morello(const std::vector<std::string>& arguments, const Setting& setting = {});
Ran shell(const std::string& script, const Setting& setting = {});

// Starts morello without waiting; its output is thrown away.
pid_t start_morello(const std::vector<std::string>& arguments, const Setting& setting = {});
int wait_for(pid_t pid);  // as Ran::code

std::string contents(const std::string& path);  // fails the test if it cannot be read
// Names of everything in a directory, sorted.
std::vector<std::string> listing(const std::string& directory);

inline constexpr const char* kTiny = "(a: f32[4,8], b: f32[8,16] packed): f32 = matmul(a, b)";

}  // namespace morello
