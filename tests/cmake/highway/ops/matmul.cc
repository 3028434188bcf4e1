#include "ops/matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/matmul.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h
#include "hwy/highway.h"
#include "ops/matmul-inl.h"

#if HWY_ONCE
namespace model {

HWY_EXPORT(MatVec);

const char* MatVec(const hwy::bfloat16_t* x, const Rows& w, float scale, const float* add,
                   float* out) {
  return HWY_DYNAMIC_DISPATCH(MatVec)(x, w, scale, add, out);
}

}  // namespace model
#endif
