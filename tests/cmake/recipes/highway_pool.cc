// A pool with the interface of hwy::ThreadPool, which Debian 12's libhwy does not have yet.
#include "highway_pool.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "adapter.h"

namespace {

class Pool {
 public:
  template <class Closure>
  void Run(std::uint64_t begin, std::uint64_t end, const Closure& closure) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 3; ++t) {
      threads.emplace_back([=, &closure] {
        for (std::uint64_t task = begin + t; task < end; task += 3) closure(task, t);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};

}  // namespace

int main() {
  Pool pool;
  return adapter::test(highway_pool(pool));
}
