// A line on the terminal while a search takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "search/cost.h"

namespace morello {

// Shows nothing before two seconds have passed; the line disappears with the object. Only a
// terminal on stderr ever sees it.
class Progress {
 public:
  Progress(std::string title, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int done, int total, Cost best);

 private:
  void run();

  std::string title_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  int done_ = 0;
  int total_ = 0;
  Cost best_ = Cost::infinite();
  std::thread thread_;
};

}  // namespace morello
