// rms_norm: a divided by the root of the mean of its squares along one axis; b is added to the mean
// (Zhang and Sennrich, arXiv 1910.07467).

#include "spec/op.h"

namespace morello::ops {

extern const OpDef rms_norm = {
    .name = "rms_norm",
    .arity = 2,
    .usage = "rms_norm(a[...], epsilon, axis=n)",
    .attributes = {"axis"},
    .definition = "a * spread(rsqrt(reduce_mean(a * a, axis=axis) + b), axis=axis)"};

}  // namespace morello::ops
