// Rows: what a size numbers that only run time knows, in a kernel of several stages. Every row is
// computed without the others, and those of one tensor lie one behind the other: so any number of
// them is a kernel by itself, at another place (impl/rows.h).
#pragma once

#include <string>

#include "spec/kernel_spec.h"

namespace morello {

// Why the sizes of a kernel of several stages that are known at run time only are no number of
// rows, as the end of a sentence; empty when there is one such size and it is.
std::string rows_problem(const KernelSpec& spec);

// The kernel for so many rows, a number: a multiple of the granule.
KernelSpec with_rows(const KernelSpec& spec, i64 rows);

// Elements of a parameter or a result from one row to the next; 0: it has no rows.
i64 row_elements(const Param& p);

// The axis of a tensor that has a name in place of a number; -1: none.
int rows_axis(const Param& p);

}  // namespace morello
