#include "cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace morello {

using Clock = std::chrono::steady_clock;

Progress::Progress(std::string title, bool wanted) : title_(std::move(title)) {
  if (wanted && ::isatty(STDERR_FILENO)) thread_ = std::thread([this] { run(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::update(int done, int total, Cost best) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  total_ = total;
  best_ = best;
}

void Progress::run() {
  const Clock::time_point start = Clock::now();
  const auto stopped = [this] { return stop_; };
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::seconds(2), stopped)) return;
  do {
    std::string line =
        fmt::format("{}: {} s", title_,
                    std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start).count());
    if (total_ > 0) line += fmt::format(", {} of {} families", done_, total_);
    if (best_.finite()) line += fmt::format(", best {:.3g} cycles", best_.as_cycles());
    fmt::print(stderr, "\r{}\x1b[K", line);
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, std::chrono::milliseconds(250), stopped));
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace morello
