// A line on the terminal while a search takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "search/solver.h"

namespace morello {

// Shows nothing before two seconds have passed; the line disappears with the object. Only a
// terminal on stderr ever sees it.
class Progress {
 public:
  Progress(std::string title, bool wanted, const SearchProgress& counters);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void run();
  std::string line(double seconds) const;

  std::string title_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  const SearchProgress& counters_;
  std::thread thread_;
};

}  // namespace morello
