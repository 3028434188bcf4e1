// How a row of the ISA (Transpose, target/isa.h) fits a copy: which of its digits the row moves,
// and which are left to loops. One answer for those who write copies and those who price them.
#pragma once

#include <span>
#include <vector>

#include "impl/copy_box.h"
#include "target/isa.h"

namespace morello {

struct TransposeFit {
  const Transpose* row = nullptr;
  std::vector<BoxDigit> around;  // digits that it leaves to loops
  std::vector<BoxDigit> inside;  // digits that it moves, or divides:
  size_t rows = 0;               // ... this one in parts of `step`
  size_t column = 0;             // ... this one, adjacent in the source, in parts of row->columns
  i64 step = 1;
  std::vector<Offset> sources;  // where its rows begin, in elements; of dense ones the first
};

// The first row of the ISA that fits elements of this type, moved as they are; none if `row` is
// null. The packed buffer is the destination, or (into_packed false) the source.
TransposeFit fit_transpose(const Isa& isa, Dtype type, std::span<const BoxDigit> digits,
                           bool into_packed);

}  // namespace morello
