// The threading hook of a generated kernel: passed per call, never global, nothing to link.
//
// `run(context, n, body, data)` calls body(data, i) once for every i in [0, n), possibly at the
// same time on several threads, and returns when all calls are done. An empty hook means: serially,
// on the calling thread. morello::ThreadPool is one provider; any other pool takes a small adapter.
//
// Generated headers carry a copy of this file, so it includes nothing of ours and keeps its guard.
#ifndef MORELLO_PARALLEL_H_
#define MORELLO_PARALLEL_H_

#include <cstddef>

namespace morello {

struct Parallel {
  void (*run)(void* context, std::size_t n, void (*body)(void* data, std::size_t index) noexcept,
              void* data) noexcept = nullptr;
  void* context = nullptr;
};

}  // namespace morello

#endif  // MORELLO_PARALLEL_H_
