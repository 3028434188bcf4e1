// Compiled once per target of Highway, inside a region where a pragma sets the target of every
// function. The generated kernel goes in as an experiment does: off unless the build says so.
#include <cstddef>

#include "hwy/highway.h"
#include "ops/matmul.h"

#if defined(MODEL_OPS_MATMUL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MODEL_OPS_MATMUL_INL_H_
#undef MODEL_OPS_MATMUL_INL_H_
#else
#define MODEL_OPS_MATMUL_INL_H_
#endif

#ifdef INCLUDE_INSIDE
HWY_BEFORE_NAMESPACE();
#if MODEL_GENERATED_MATVEC
#include "matvec.h"
#endif
#else
#if MODEL_GENERATED_MATVEC
#include "matvec.h"
#endif
HWY_BEFORE_NAMESPACE();
#endif
namespace model {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

const char* MatVec(const hwy::bfloat16_t* x, const Rows& w, float scale, const float* add,
                   float* out) {
#if MODEL_GENERATED_MATVEC && HWY_TARGET == HWY_AVX2
  generated::matvec_avx2(&x->bits, &w.first->bits, &scale, add, out,
                         static_cast<std::ptrdiff_t>(w.count),
                         static_cast<std::ptrdiff_t>(w.stride));
  return "generated";
#else
  const hn::ScalableTag<float> df;
  const hn::Rebind<hwy::bfloat16_t, decltype(df)> dbf;
  for (size_t i = 0; i < w.count; ++i) {
    const hwy::bfloat16_t* row = w.first + i * w.stride;
    auto sum = hn::Zero(df);
    for (size_t k = 0; k < kCols; k += hn::Lanes(df)) {
      sum = hn::MulAdd(hn::PromoteTo(df, hn::LoadU(dbf, x + k)),
                       hn::PromoteTo(df, hn::LoadU(dbf, row + k)), sum);
    }
    out[i] = scale * hn::GetLane(hn::SumOfLanes(df, sum)) + add[i];
  }
  return "Highway's";
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace model
HWY_AFTER_NAMESPACE();

#endif  // MODEL_OPS_MATMUL_INL_H_
