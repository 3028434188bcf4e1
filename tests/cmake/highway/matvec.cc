// A function with Highway's dynamic dispatch: this file is compiled once per target, inside a
// region where a pragma sets the target of every function. On AVX2 it calls the generated kernel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matvec.cc"
#include <cstddef>

#include "hwy/foreach_target.h"
// After foreach_target.h
#include "hwy/highway.h"

#ifdef INCLUDE_INSIDE
HWY_BEFORE_NAMESPACE();
#include "logits.h"
#else
#include "logits.h"
HWY_BEFORE_NAMESPACE();
#endif
namespace matvec {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

const char* Logits(const float* x, const float* w, float* out) {
#if HWY_TARGET == HWY_AVX2
  logits::product_avx2(x, w, out);
  return "generated";
#else
  const hn::ScalableTag<float> d;
  for (size_t n = 0; n < 48; ++n) {
    auto sum = hn::Zero(d);
    for (size_t k = 0; k < 64; k += hn::Lanes(d)) {
      sum = hn::MulAdd(hn::LoadU(d, x + k), hn::LoadU(d, w + n * 64 + k), sum);
    }
    out[n] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
  return "Highway's";
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace matvec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace matvec {

HWY_EXPORT(Logits);

const char* Logits(const float* x, const float* w, float* out);

const char* Logits(const float* x, const float* w, float* out) {
  return HWY_DYNAMIC_DISPATCH(Logits)(x, w, out);
}

}  // namespace matvec
#endif
