// What an instruction set takes from its families of rows.
#pragma once

#include <span>
#include <string>

#include "target/tables.h"

namespace morello::isas {

using RowList = std::span<const Rows* const>;

inline std::string preludes(RowList families) {
  std::string out;
  for (const Rows* rows : families) out += rows->prelude;
  return out;
}

// Behind those that it has; earlier rows are preferred.
inline void add_rows(Isa& isa, RowList families) {
  for (const Rows* rows : families) {
    isa.kernels.push_back(rows->kernels);
    isa.accesses.push_back(rows->accesses);
    isa.transposes.push_back(rows->transposes);
    isa.functions.push_back(rows->functions);
    isa.folds.push_back(rows->folds);
  }
}

}  // namespace morello::isas
