// Whether this processor multiplies quads of bytes in 256-bit vectors (AVX-VNNI), and the operating
// system saves those. __builtin_cpu_supports() of Clang 14 does not know the feature.
//
// Generated headers that need it carry a copy of this file, so it includes nothing of ours and
// keeps its guard.
#ifndef MORELLO_AVX_VNNI_H_
#define MORELLO_AVX_VNNI_H_

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

namespace morello {

__attribute__((target("no-avx"))) inline bool ask_for_avx_vnni() noexcept {
  // "avx2" stands for the registers, too: it is no where XCR0 says that they are not saved.
  if (!__builtin_cpu_supports("avx2")) return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || a < 1) return false;
  __get_cpuid_count(7, 1, &a, &b, &c, &d);
  return (a >> 4 & 1u) != 0;
}

// Asked once: CPUID takes a hundred cycles, in virtual machines up to 30 us.
__attribute__((target("no-avx"))) inline bool has_avx_vnni() noexcept {
  static const bool has = ask_for_avx_vnni();
  return has;
}

}  // namespace morello

#else

namespace morello {
inline bool has_avx_vnni() noexcept { return false; }
}  // namespace morello

#endif

#endif  // MORELLO_AVX_VNNI_H_
