// XNNPACK: a fully connected layer, which packs its weights when it is made. It cannot be told
// which instructions to use.
#include <xnnpack.h>

#include <limits>
#include <memory>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {

Contenders xnnpack(const Product& p) {
  if (!p.is(Operand::Kind::f32) || !p.packed || p.threads != 1) return {};
  static const bool ready = xnn_initialize(nullptr) == xnn_status_success;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto m = static_cast<std::size_t>(p.m()), n = static_cast<std::size_t>(p.n()),
             k = static_cast<std::size_t>(p.k());
  xnn_operator_t made = nullptr;
  if (!ready ||
      xnn_create_fully_connected_nc_f32(k, n, k, n, p.f32_b(), nullptr, -kInfinity, kInfinity,
                                        XNN_FLAG_TRANSPOSE_WEIGHTS, &made) != xnn_status_success)
    return {};
  const std::shared_ptr<xnn_operator> layer(made, xnn_delete_operator);
  if (xnn_setup_fully_connected_nc_f32(made, m, p.f32_a(), p.f32_out(), nullptr) !=
      xnn_status_success)
    return {};
  return {{"XNNPACK", "chosen by itself", [=] { xnn_run_operator(layer.get(), nullptr); }}};
}

}  // namespace morello::bench
