// BLIS, by its own interface. The environment is read at its first call.
#include <blis.h>

#include <cstdlib>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {

Contenders blis(const Product& p) {
  if (!p.is_plain_f32()) return {};
  static const std::string architecture = [] {
    setenv("BLIS_ARCH_TYPE", std::to_string(kAvx512 ? BLIS_ARCH_SKX : BLIS_ARCH_HASWELL).c_str(),
           1);
    setenv("BLIS_NUM_THREADS", "1", 1);
    bli_init();
    return std::string(bli_arch_string(bli_arch_query_id()));
  }();
  const i64 down = p.b_by_rows() ? p.b.stride() : 1, right = p.b_by_rows() ? 1 : p.b.stride();
  return {{"BLIS", architecture, [=] {
             static float one = 1, zero = 0;
             // Not written to; the interface takes no const.
             bli_sgemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, p.m(), p.n(), p.k(), &one,
                       const_cast<float*>(p.f32_a()), p.k(), 1, const_cast<float*>(p.f32_b()), down,
                       right, &zero, p.f32_out(), p.n(), 1);
           }}};
}

}  // namespace morello::bench
