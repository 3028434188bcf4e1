#include "morello/thread_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace morello {
namespace {

// Calls through the hook, as a generated kernel does; `f(i)` may be any callable.
template <class F>
void run(Parallel pool, std::size_t n, F f) {
  pool.run(
      pool.context, n, [](void* data, std::size_t i) noexcept { (*static_cast<F*>(data))(i); }, &f);
}

// Plain, not atomic: two calls with one index would be a race, which ThreadSanitizer reports.
bool each_once(const std::vector<int>& counts, int times = 1) {
  for (const int c : counts) {
    if (c != times) return false;
  }
  return true;
}

TEST_CASE("every index exactly once") {
  for (int threads = 1; threads <= 8; ++threads) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (std::size_t n = 0; n <= 1000; n += n < 20 ? 1 : 97) {
      std::vector<int> counts(n);
      run(pool, n, [&](std::size_t i) { ++counts[i]; });
      CAPTURE(threads);
      CAPTURE(n);
      CHECK(each_once(counts));
    }
  }
}

TEST_CASE("what a region wrote is seen by the caller and by the next region") {
  ThreadPool pool(4);
  std::vector<long> values(64);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t n = round % 2 == 0 ? 4 : 64;  // one index a thread, and many
    run(pool, n, [&](std::size_t i) { values[(i + std::size_t(round)) % 64] += 1; });
  }
  long sum = 0;
  for (const long v : values) sum += v;
  CHECK(sum == 1000 * (4 + 64));
}

TEST_CASE("after a sleep") {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::vector<int> counts(3);
    run(pool, 3, [&](std::size_t i) { ++counts[i]; });
    CHECK(each_once(counts));
  }
}

// Bodies that wait for each other only return when they really run at the same time.
TEST_CASE("the threads run together, each with the same run of indices every time") {
  constexpr std::size_t kThreads = 3;
  for (const std::size_t length : {1, 4}) {
    CAPTURE(length);
    ThreadPool pool(kThreads);
    std::vector<std::set<std::thread::id>> ids(kThreads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<std::size_t> arrived{0};
      run(pool, kThreads * length, [&](std::size_t i) {
        if (i % length != 0) return;
        ids[i / length].insert(std::this_thread::get_id());
        ++arrived;
        while (arrived.load() < kThreads) std::this_thread::yield();
      });
    }
    for (const auto& seen : ids) CHECK(seen.size() == 1);
    CHECK(ids[0].count(std::this_thread::get_id()) == 1);
    CHECK(*ids[1].begin() != *ids[2].begin());
  }
}

// Index 0 returns only when all others are done, those of its own run as well.
TEST_CASE("who has nothing left takes what others have not begun") {
  for (int threads = 2; threads <= 5; ++threads) {
    ThreadPool pool(threads);
    const std::size_t n = 4 * static_cast<std::size_t>(threads) + 1;
    std::atomic<std::size_t> done{0};
    run(pool, n, [&](std::size_t i) {
      while (i == 0 && done.load() + 1 < n) std::this_thread::yield();
      ++done;
    });
    CHECK(done.load() == n);
  }
}

TEST_CASE("a region inside a body runs serially, of this pool or another") {
  ThreadPool pool(3);
  ThreadPool other(2);
  std::vector<int> counts(30);
  run(pool, 3, [&](std::size_t i) {
    const std::thread::id self = std::this_thread::get_id();
    run(i == 0 ? other : pool, 10,
        [&](std::size_t j) { counts[i * 10 + j] += std::this_thread::get_id() == self; });
  });
  CHECK(each_once(counts));
}

TEST_CASE("many callers") {
  constexpr std::size_t kCallers = 4;
  ThreadPool pool(3);
  std::vector<int> good(kCallers);
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < kCallers; ++c) {
    callers.emplace_back([&, c] {
      for (std::size_t round = 0; round < 200; ++round) {
        std::vector<int> counts(round % 17);
        run(pool, counts.size(), [&](std::size_t i) { ++counts[i]; });
        good[c] += each_once(counts);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(each_once(good, 200));
}

TEST_CASE("construct and destroy: unused, used, asleep") {
  for (int round = 0; round < 100; ++round) {
    ThreadPool pool(1 + round % 8);
    if (round % 3 != 0) {
      std::vector<int> counts(5);
      run(pool, 5, [&](std::size_t i) { ++counts[i]; });
      CHECK(each_once(counts));
    }
    if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("0 threads stands for the processors of this process") {
  const ThreadPool pool(0);
  CHECK(pool.size() >= 1);
  CHECK(pool.size() <= int(std::max(1U, std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace morello
