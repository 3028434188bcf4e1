// XNNPACK: its softmax, with a pool of its own kind. It cannot be told which instructions to use.
#include <pthreadpool.h>
#include <xnnpack.h>

#include <map>
#include <memory>

#include "bench/graphs/graph.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

// Null, which is the caller alone, for one thread.
pthreadpool_t pool_of(int threads) {
  if (threads == 1) return nullptr;
  using Pool = std::unique_ptr<struct pthreadpool, void (*)(pthreadpool_t)>;
  static std::map<int, Pool> pools;
  const auto [at, is_new] = pools.try_emplace(threads, nullptr, pthreadpool_destroy);
  if (is_new) at->second.reset(pthreadpool_create(static_cast<std::size_t>(threads)));
  return at->second.get();
}

}  // namespace

Contenders xnnpack(const Graph& g) {
  if (!g.is("softmax")) return {};
  static const bool ready = xnn_initialize(nullptr) == xnn_status_success;
  const auto n = static_cast<std::size_t>(g.columns());
  const pthreadpool_t pool = pool_of(g.threads());
  xnn_operator_t made = nullptr;
  if (!ready || xnn_create_softmax_nc_f32(n, n, n, 0, &made) != xnn_status_success) return {};
  const std::shared_ptr<xnn_operator> layer(made, xnn_delete_operator);
  if (xnn_setup_softmax_nc_f32(made, static_cast<std::size_t>(g.rows()), g.f32(0), g.out, pool) !=
      xnn_status_success)
    return {};
  return {{"XNNPACK", "chosen by itself", [=] { xnn_run_operator(layer.get(), pool); }}};
}

}  // namespace morello::bench
