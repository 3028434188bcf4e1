// What a kernel should compute, by the words of its spec: plain loops in double precision or exact
// integers, and how far off an output may be.
#pragma once

#include <string>
#include <vector>

#include "run/interval.h"
#include "run/values.h"

namespace morello::run {

// One output. A float sum of K terms, whatever its order and with or without fused multiply-adds,
// is within (K + 2) * 2^-24 * sum|terms| of the exact one (denormals: of 2^-149 per term besides);
// then it is rounded to the result's type. Everything else is one rounding, or exact.
struct Expected {
  double value = 0;
  double slack = 0;       // of the f32 value before it is rounded to the result's type
  bool checked = true;    // false: not computed, too many
  bool overflow = false;  // a partial sum may have overflowed: nothing but a NaN is certain
  double flushed = 0;     // more slack where subnormal numbers may count as 0 (docs/spec.md)
};
// Without a sum there is nothing of this: what elements are made of is computed as they are
// compared (interval.h), every function to the bound that docs/spec.md gives.

struct Reference {
  std::vector<Expected> sums;     // of the result's elements, row-major: of a product,
  std::vector<Interval> reduced;  // ... or what is combined along an axis
  std::vector<Values> inputs;     // of each parameter
  // For a large matmul, where `sums` is a sample: per row of the result the sum of its outputs,
  // which one wrong output shifts.
  std::vector<Expected> row_sums;
};

// `inputs` are the values of each parameter, row-major.
Reference reference(const Subject& s, const std::vector<Values>& inputs);

// Outputs that were compared, and those of them of which the reference can say nothing (their
// number is not certain, or a partial sum may have overflowed). Outputs beside a sample are
// neither.
struct Compared {
  i64 outputs = 0, unchecked = 0;
};

// The first output that is not as expected, or "". `flushes`: of a variant that may take subnormal
// bf16 for 0.
std::string difference(const Subject& s, const Reference& expected, const Values& outputs,
                       bool flushes, Compared& compared);

}  // namespace morello::run
