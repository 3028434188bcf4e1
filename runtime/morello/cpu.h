// What this processor and its operating system can run. Elsewhere than on x86-64 with GCC or
// Clang every answer is no. The names are those of x86-64's features.
#ifndef MORELLO_CPU_H_
#define MORELLO_CPU_H_

#include "morello/avx_vnni.h"

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define MORELLO_CPU_SUPPORTS(feature) (__builtin_cpu_supports(feature) != 0)
#else
#define MORELLO_CPU_SUPPORTS(feature) false
#endif

namespace morello {

inline bool has_avx() noexcept { return MORELLO_CPU_SUPPORTS("avx"); }
inline bool has_avx2() noexcept { return MORELLO_CPU_SUPPORTS("avx2"); }
inline bool has_fma() noexcept { return MORELLO_CPU_SUPPORTS("fma"); }
inline bool has_avx512f() noexcept { return MORELLO_CPU_SUPPORTS("avx512f"); }
inline bool has_avx512bw() noexcept { return MORELLO_CPU_SUPPORTS("avx512bw"); }
inline bool has_avx512dq() noexcept { return MORELLO_CPU_SUPPORTS("avx512dq"); }
inline bool has_avx512vl() noexcept { return MORELLO_CPU_SUPPORTS("avx512vl"); }
inline bool has_avx512_bf16() noexcept { return MORELLO_CPU_SUPPORTS("avx512bf16"); }
inline bool has_avx512_vnni() noexcept { return MORELLO_CPU_SUPPORTS("avx512vnni"); }

}  // namespace morello

#undef MORELLO_CPU_SUPPORTS

#endif  // MORELLO_CPU_H_
