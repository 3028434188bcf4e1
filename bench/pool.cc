// What a parallel region of morello::ThreadPool costs. Arguments: the number of threads (default:
// the processors of this process).
//
// "meet" regions have one body for each thread, which returns when all have begun: every thread
// must really be reached. Empty ones need not reach anybody; the caller may take all shares back.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/rounds.h"
#include "morello/thread_pool.h"

namespace {

using morello::ThreadPool;
using morello::bench::median;
using morello::bench::seconds;

struct Meeting {
  std::size_t size;
  std::atomic<std::size_t> begun{0};
};

void nothing(void*, std::size_t) noexcept {}

void meet(void* data, std::size_t) noexcept {
  Meeting& meeting = *static_cast<Meeting*>(data);
  meeting.begun.fetch_add(1);
  for (int spins = 0; meeting.begun.load() < meeting.size; ++spins) {
    if (spins > 10000) std::this_thread::yield();  // more threads than processors
  }
}

// About `data` microseconds of work, by the clock.
void work(void* data, std::size_t) noexcept {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + std::chrono::microseconds(*static_cast<const int*>(data));
  while (Clock::now() < end) {
  }
}

void run_meeting(ThreadPool& pool) {
  Meeting meeting{static_cast<std::size_t>(pool.size())};
  pool.run(meeting.size, meet, &meeting);
}

// Short pauses by the clock: asking the system for them takes longer than they are.
void idle(std::chrono::microseconds duration) {
  if (duration >= std::chrono::milliseconds(1)) return std::this_thread::sleep_for(duration);
  int length = static_cast<int>(duration.count());
  work(&length, 0);
}

struct Sampling {
  int samples;
  int calls = 1;                             // in one sample
  std::chrono::microseconds idle_before{0};  // the sample
};

template <class Call>
void print(const char* what, const Sampling& how, const Call& call) {
  std::vector<double> times;
  for (int i = 0; i < how.samples; ++i) {
    idle(how.idle_before);
    const double total = seconds([&] {
      for (int c = 0; c < how.calls; ++c) call();
    });
    times.push_back(total / how.calls);
  }
  const double fastest = *std::min_element(times.begin(), times.end());
  fmt::print("{:<44}{:>10.3f}{:>10.3f}\n", what, median(times) * 1e6, fastest * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 0;
  if (argc > 2 ||
      (argc == 2 &&
       std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), threads).ec != std::errc())) {
    fmt::print(stderr, "usage: {} [threads]\n", argv[0]);
    return 2;
  }
  ThreadPool pool(threads);
  const std::size_t n = static_cast<std::size_t>(pool.size());
  fmt::print("{} threads\n{:<44}{:>10}{:>10}\n", n, "microseconds", "median", "fastest");
  using us = std::chrono::microseconds;
  const Sampling spinning{.samples = 200, .calls = 1000};
  const Sampling asleep{.samples = 300, .idle_before = us(2000)};

  print("empty region, workers spinning", spinning, [&] { pool.run(n, nothing, nullptr); });
  print("empty region of 64 indices", spinning, [&] { pool.run(64, nothing, nullptr); });
  print("meeting, workers spinning", spinning, [&] { run_meeting(pool); });
  int length = 20;
  print("20 us of work for each thread", {.samples = 2000}, [&] { pool.run(n, work, &length); });
  print("meeting after 20 us idle", {.samples = 2000, .idle_before = us(20)},
        [&] { run_meeting(pool); });
  print("meeting after 2 ms idle, workers asleep", asleep, [&] { run_meeting(pool); });
  print("empty region after 2 ms idle", asleep, [&] { pool.run(n, nothing, nullptr); });
  print("for comparison: start and join std::thread", {.samples = 300}, [&] {
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < n; ++i) others.emplace_back([] {});
    for (std::thread& other : others) other.join();
  });
  return 0;
}
