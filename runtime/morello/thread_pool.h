// ThreadPool: runs the parallel regions of generated kernels; converts to morello::Parallel.
//
//   morello::ThreadPool pool(4);          // the caller and three workers
//   morello::ffw(x, w, y, pool);
//
// A region offers one share to each worker it can use and does its own share meanwhile. With
// n <= size(), index i belongs to thread i (the caller is thread 0); with more indices each thread
// has a run of neighbouring ones, and takes those that others have not begun once it has none left.
// A thread therefore meets the same part of the data every time, and what is in its caches.
// A worker that has not begun when the caller has nothing left to do is not waited for: the caller
// takes the offer back and does that share itself. A short region therefore never pays for waking
// a sleeper, and a pool with more threads than cores makes progress.
//
// Workers wait for the next region by spinning for about 50 microseconds, then sleep. Only workers
// with a share are woken. Measured by bench/pool.cc on two cores of a Zen 5: an empty region takes
// 0.02 microseconds, reaching the other thread 0.2 to 0.6 while it spins and 26 when it sleeps; on
// a Granite Rapids 0.03, 0.37 and 28 to 55 (0.53 while what to do lay in a line of its own).
//
// Regions from several threads at once are safe: they run one after the other. A region begun
// inside another one's body runs serially on its thread. A body must not throw.
#ifndef MORELLO_THREAD_POOL_H_
#define MORELLO_THREAD_POOL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "morello/parallel.h"

namespace morello {

class ThreadPool {
 public:
  using Body = void (*)(void* data, std::size_t index) noexcept;

  // `threads` counts the caller; 0 stands for the processors this process may use.
  explicit ThreadPool(int threads = 0)
      : runs_(static_cast<std::size_t>(threads > 0 ? threads : available_processors())) {
    const int wanted = static_cast<int>(runs_.size());
    const bool crowded = wanted > available_processors();
    workers_.reserve(runs_.size() - 1);
    for (int i = 1; i < wanted; ++i) {
      workers_.push_back(std::make_unique<Worker>(static_cast<std::size_t>(i), crowded));
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const noexcept { return static_cast<int>(workers_.size()) + 1; }

  // body(data, i) for every i in [0, n); returns when all are done.
  void run(std::size_t n, Body body, void* data) noexcept {
    if (n <= 1 || workers_.empty() || inside_region()) {
      for (std::size_t i = 0; i < n; ++i) body(data, i);
      return;
    }
    const std::lock_guard<std::mutex> one_region_at_a_time(callers_);
    inside_region() = true;
    const std::size_t helpers = n - 1 < workers_.size() ? n - 1 : workers_.size();
    Share share{body, data, nullptr, helpers + 1};
    if (n > share.threads) share.runs = divide(n);
    for (std::size_t w = 0; w < helpers; ++w) workers_[w]->offer(share);
    share.work(0);
    for (std::size_t w = 0; w < helpers; ++w) {
      if (workers_[w]->take_back()) share.work(w + 1);
    }
    for (std::size_t w = 0; w < helpers; ++w) workers_[w]->wait();
    inside_region() = false;
  }

  operator Parallel() noexcept {
    return {[](void* pool, std::size_t n, Body body, void* data) noexcept {
              static_cast<ThreadPool*>(pool)->run(n, body, data);
            },
            this};
  }

 private:
  // The indices of one thread that nobody has begun, where there are more of them than threads.
  struct alignas(64) Run {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  // What a thread has to do. Each worker has its own, in the cache line that it polls: one line
  // that comes from another core, not two, stands between the offer and the body.
  struct Share {
    Body body;
    void* data;
    Run* runs;  // one for each of `threads`; none: indices are threads
    std::size_t threads;

    void work(std::size_t thread) const noexcept {
      if (runs == nullptr) return body(data, thread);
      for (std::size_t i = 0; i < threads; ++i) work_on(runs[(thread + i) % threads]);
    }
    void work_on(Run& run) const noexcept {
      while (run.next.load(std::memory_order_relaxed) < run.end) {
        const std::size_t i = run.next.fetch_add(1, std::memory_order_relaxed);
        if (i < run.end) body(data, i);
      }
    }
  };

  // Before anybody is offered a share: who is done looks at the others' runs.
  Run* divide(std::size_t n) noexcept {
    const std::size_t threads = runs_.size();
    for (std::size_t t = 0; t < threads; ++t) {
      runs_[t].next.store(n * t / threads, std::memory_order_relaxed);
      runs_[t].end = n * (t + 1) / threads;
    }
    return runs_.data();
  }

  // One waits in turn: a while with the processor's pause instruction, then by giving the
  // processor away. `crowded` = more threads than processors: pausing would only delay the others.
  class Patience {
   public:
    explicit Patience(bool crowded) : pauses_(crowded ? kPauses : 0) {}
    void wait() noexcept {
      if (pauses_ < kPauses) {
        ++pauses_;
        pause();
      } else {
        std::this_thread::yield();
      }
    }

   private:
    static constexpr int kPauses = 1 << 14;
    int pauses_;
  };

  // The life of a share is one atomic word:
  //
  //   idle/asleep --caller--> offered --worker--> taken --worker--> idle
  //                              \----caller: take_back----------> idle
  //
  // `asleep` is idle with the worker blocked (or about to be) on `wake_`; whoever replaces it has
  // to wake the worker.
  class alignas(64) Worker {
   public:
    Worker(std::size_t index, bool crowded)
        : index_(index), crowded_(crowded), thread_([this] { live(); }) {}
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() {
      replace(kStop);
      thread_.join();
    }

    void offer(const Share& share) noexcept {
      share_ = share;  // nobody reads it: this worker has finished the one before, or never began
      replace(kOffered);
    }
    // Looks first: trying takes the line away from who works.
    bool take_back() noexcept {
      return state_.load(std::memory_order_relaxed) == kOffered && move(kOffered, kIdle);
    }
    void wait() noexcept {
      Patience patience(crowded_);
      while (state_.load(std::memory_order_acquire) == kTaken) patience.wait();
    }

   private:
    enum State : int { kIdle, kAsleep, kOffered, kTaken, kStop };

    bool move(int from, int to) noexcept {
      return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
    }
    void replace(State state) noexcept {
      if (state_.exchange(state, std::memory_order_acq_rel) != kAsleep) return;
      { const std::lock_guard<std::mutex> lock(mutex_); }  // it is in wait() by now, or past it
      wake_.notify_one();
    }

    void live() noexcept {
      inside_region() = true;  // a region begun by a body here is a nested one
      for (;;) {
        const int state = next_order();
        if (state == kStop) return;
        if (!move(kOffered, kTaken)) continue;  // taken back meanwhile
        const Share share = share_;  // a caller that looks whether it is free takes the line away
        share.work(index_);
        state_.store(kIdle, std::memory_order_release);
      }
    }
    // Waits until there is something to do: kOffered or kStop.
    int next_order() noexcept {
      for (;;) {
        const int state = spin();
        if (state != kIdle) return state;
        std::unique_lock<std::mutex> lock(mutex_);
        if (!move(kIdle, kAsleep)) continue;
        wake_.wait(lock, [this] { return state_.load(std::memory_order_acquire) != kAsleep; });
      }
    }
    int spin() noexcept {
      using Clock = std::chrono::steady_clock;
      const Clock::time_point end = Clock::now() + std::chrono::microseconds(50);
      do {
        for (int i = 0; i < 32; ++i) {
          const int state = state_.load(std::memory_order_acquire);
          if (state != kIdle) return state;
          pause();
        }
        if (crowded_) std::this_thread::yield();
      } while (Clock::now() < end);
      return kIdle;
    }

    std::atomic<int> state_{kIdle};
    Share share_{};
    alignas(64) const std::size_t index_;  // the rest away from the line that others write
    const bool crowded_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;  // last: it uses all of the above
  };

  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("yield");
#endif
  }

  static bool& inside_region() noexcept {
    static thread_local bool inside = false;
    return inside;
  }

  static int available_processors() noexcept {
#if defined(__linux__) && defined(CPU_COUNT)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
    const unsigned processors = std::thread::hardware_concurrency();
    return processors == 0 ? 1 : static_cast<int>(processors);
  }

  std::mutex callers_;
  std::vector<Run> runs_;                         // one for each thread
  std::vector<std::unique_ptr<Worker>> workers_;  // last: they use the rest
};

}  // namespace morello

#endif  // MORELLO_THREAD_POOL_H_
