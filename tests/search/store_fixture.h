// A directory for stores, and what must hold of it when all is done.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "search/store.h"
#include "search/table_file.h"

namespace morello {

class Scratch {
 public:
  Scratch() {
    const char* parent = std::getenv("TMPDIR");
    path_ = fmt::format("{}/morello_store.XXXXXX", parent && *parent ? parent : "/tmp");
    REQUIRE(::mkdtemp(path_.data()) != nullptr);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Names in the directory, sorted.
inline std::vector<std::string> listing(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Puts `payload` into the table, whatever it had. The note, or empty.
inline std::string save(MemoStore& store, const std::string& signature,
                        const std::string& payload) {
  std::string note;
  store.update(
      signature, [&](std::string_view) { return payload; }, &note);
  return note;
}

// How many whole tables the directory has, or -1 if anything else is there.
inline int whole_tables(const std::string& directory) {
  int tables = 0;
  for (const std::string& name : listing(directory)) {
    const TableFile file = read_table(directory + "/" + name, false);
    if (!name.ends_with(".memo") || file.absent || !file.problem.empty()) return -1;
    ++tables;
  }
  return tables;
}

inline int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// What `f` returns, computed by a process of its own: it may change limits and mounts.
template <class F>
int in_child(F f) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(f());
  return wait_for(pid);
}

}  // namespace morello
