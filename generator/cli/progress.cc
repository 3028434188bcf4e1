#include "cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace morello {

using Clock = std::chrono::steady_clock;

Progress::Progress(std::string title, Kind kind, const SearchProgress& counters)
    : title_(std::move(title)), counters_(counters) {
  if (kind == Kind::kTerminal && ::isatty(STDERR_FILENO))
    thread_ = std::thread([this] { rewrite_line(); });
  if (kind == Kind::kLog) thread_ = std::thread([this] { add_lines(); });
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

// "ffw avx2: 4 s, 3 of 12 families, 812k specs/s, 1.4M entries, best 8.79e+06 cycles"
std::string Progress::line(double seconds) const {
  std::string out = fmt::format("{}: {:.0f} s", title_, seconds);
  const int families = counters_.families.load();
  if (families > 0) out += fmt::format(", {} of {} families", counters_.done.load(), families);
  out += fmt::format(", {:.0f}k specs/s, {:.1f}M entries",
                     static_cast<double>(counters_.specs.load()) / seconds / 1e3,
                     static_cast<double>(counters_.entries.load()) / 1e6);
  const Cost best = Cost::milli(static_cast<i64>(counters_.best.load()));
  if (best.finite()) out += fmt::format(", best {:.3g} cycles", best.as_cycles());
  return out;
}

void Progress::add_lines() {
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(10), [this] { return stop_; })) {
    const std::chrono::duration<double> passed = Clock::now() - start;
    fmt::print(stderr, "morello: {}\n", line(passed.count()));
  }
}

void Progress::rewrite_line() {
  const Clock::time_point start = Clock::now();
  const auto stopped = [this] { return stop_; };
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::seconds(2), stopped)) return;
  do {
    const std::chrono::duration<double> passed = Clock::now() - start;
    fmt::print(stderr, "\r{}\x1b[K", line(passed.count()));
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, std::chrono::milliseconds(250), stopped));
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace morello
