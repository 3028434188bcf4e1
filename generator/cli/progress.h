// What is shown while a search takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "search/solver.h"

namespace morello {

// kTerminal: a line on stderr that is written anew all the time, after two seconds, and disappears
// with the object; only where stderr is a terminal. kLog: a new line every ten seconds, for logs of
// builds, which some servers stop when they are silent.
class Progress {
 public:
  enum class Kind { kOff, kTerminal, kLog };
  Progress(std::string title, Kind kind, const SearchProgress& counters);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void rewrite_line();
  void add_lines();
  std::string line(double seconds) const;

  std::string title_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  const SearchProgress& counters_;
  std::thread thread_;
};

}  // namespace morello
