// layer_norm: a less its mean along one axis, divided by the root of its variance; b is added to
// the variance (Ba, Kiros and Hinton, arXiv 1607.06450). The variance is the mean of squared
// differences: the mean of squares less the square of the mean loses all digits where the mean is
// large.

#include "spec/op.h"

namespace morello::ops {

extern const OpDef layer_norm = {
    .name = "layer_norm",
    .arity = 2,
    .usage = "layer_norm(a[...], epsilon, axis=n)",
    .attributes = {"axis"},
    .definition =
        "d * spread(rsqrt(reduce_mean(d * d, axis=axis) + b), axis=axis) where "
        "d = a - spread(reduce_mean(a, axis=axis), axis=axis)"};

}  // namespace morello::ops
