// A size that only run time knows, in a kernel of several stages. It numbers either rows, each of
// which is computed without the others, so that any number of them is a kernel by itself, at
// another place; or positions, which something is summed over (spec/positions.h). A kernel is then
// made of pieces (impl/rows.h), for each of which the size is a number.
#pragma once

#include <string>

#include "spec/kernel_spec.h"

namespace morello {

// Why the sizes of a kernel of several stages that are known at run time only cannot be cut into
// pieces, as the end of a sentence; empty when there is one such size and it can.
std::string rows_problem(const KernelSpec& spec);

// The kernel that expects so many rows, which are still known at run time only.
KernelSpec expecting_rows(const KernelSpec& spec, i64 rows);

// The kernel for so many rows, a number: a multiple of the granule. It is all of them.
KernelSpec with_rows(const KernelSpec& spec, i64 rows);

// The kernel for some rows among others: where these lie inside of something else, as columns do,
// the parameter or result is strided.
KernelSpec among_rows(const KernelSpec& spec);

// The axis of a tensor that has a name in place of a number; -1: none.
int rows_axis(const Param& p);

// The digit of its layout that steps through rows. Blocks of them are one: those of the whole.
int rows_digit(const Param& p);

// Elements of a parameter or a result from one row to the next, in a tensor that is not strided; 0:
// it has no rows.
i64 row_elements(const Param& p);

}  // namespace morello
