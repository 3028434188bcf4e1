// LIBXSMM: one kernel for the whole product, compiled at run time, as it is meant for small ones.
// It thinks in columns: row-major c = a * b is c' = b' * a'.
#include <libxsmm.h>

#include <cstdlib>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {

Contenders libxsmm(const Product& p) {
  constexpr i64 kMost =
      i64{1} << 24;  // multiplications; beyond it wants to be blocked from outside
  if (!p.is_plain_f32() || !p.b_by_rows() || p.m() * p.n() * p.k() > kMost) return {};
  static const std::string architecture = [] {
    setenv("LIBXSMM_TARGET", kAvx512 ? "cpx" : "hsw", 1);  // read once, by:
    libxsmm_init();
    return std::string(libxsmm_get_target_arch());
  }();
  const int m = static_cast<int>(p.m()), n = static_cast<int>(p.n()), k = static_cast<int>(p.k());
  const float one = 1, zero = 0;
  const auto kernel =
      libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, nullptr /* flags */, nullptr);
  if (kernel == nullptr) return {};
  return {{"LIBXSMM", architecture, [=] { kernel(p.f32_b(), p.f32_a(), p.f32_out()); }}};
}

}  // namespace morello::bench
