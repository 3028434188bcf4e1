// reduce_mean: the sum of a along one axis, which disappears, divided by how many they are.

#include "spec/op.h"

namespace morello::ops {

static int divided(Terms& terms, int combined, double count) {
  return count == 1 ? combined : terms(Fn::kDiv, combined, terms.number(count));
}

extern const OpDef reduce_mean = {.name = "reduce_mean",
                                  .arity = 1,
                                  .usage = "reduce_mean(a[...], axis=n)",
                                  .attributes = {"axis"},
                                  .combine = Combine::kSum,
                                  .after = divided};

}  // namespace morello::ops
