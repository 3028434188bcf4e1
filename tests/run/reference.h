// What a kernel should compute, by the words of its spec: plain loops in double precision or exact
// integers, and how far off an output may be. Shares no code with the generator.
#pragma once

#include <string>
#include <vector>

#include "run/product.h"

namespace morello::run {

struct Reference {
  // The results one behind the other, row-major; before they are rounded to the types of these.
  std::vector<Interval> outputs;
  // Of a matmul alone that is too large: outputs are a sample, and sums of rows stand for the rest.
  std::vector<RowSum> row_sums;
  i64 every = 1;  // row that is in the sample; the last one is
};

// `inputs` are the values of each parameter, row-major. `flushes`: of a variant that may take
// subnormal bf16 for 0.
Reference reference(const Subject& s, const std::vector<Values>& inputs, bool flushes);

// Whether the two differ: something multiplies bf16 by bf16.
bool may_flush(const Subject& s);

// Outputs that were compared, and those of them of which the reference can say nothing (their
// number is not certain, or a partial sum may have overflowed). Outputs beside a sample are
// neither.
struct Compared {
  i64 outputs = 0, unchecked = 0;
};

// The first output that is not as expected, or ""; `outputs` as in Reference.
std::string difference(const Subject& s, const Reference& expected, const Values& outputs,
                       Compared& compared);

// Of the intervals of float outputs, relative to the number: the median.
double median_width(const Reference& r);

}  // namespace morello::run
