// Sizes that only run time knows, in a kernel of several stages. One numbers either rows, each of
// which is computed without the others, so that any number of them is a kernel by itself, at
// another place; or positions, which something is summed over (spec/positions.h). A kernel is then
// made of pieces (impl/rows.h), for each of which the size is a number. Of two sizes one is cut
// into pieces first, and each of these is made of pieces of the other one.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "spec/kernel_spec.h"

namespace morello {

// How many of a kernel's sizes may be known at run time only: programs multiply.
inline constexpr int kMostRowSizes = 2;

// Why the sizes of a kernel of several stages that are known at run time only cannot be cut into
// pieces, as the end of a sentence with the name of the one that cannot; nothing when they can.
struct RowsProblem {
  std::string size, why;
};
std::optional<RowsProblem> rows_problem(const KernelSpec& spec);

// Of such a kernel, the size that is cut first: one that numbers rows, if any does, so that what is
// summed has one left. "Rows" are below what it numbers, and positions as well.
const RunTimeSize& rows_size(const KernelSpec& spec);

// By name, how much there is of sizes.
using Counts = std::map<std::string, i64>;

// The kernel that expects so much of these sizes, which are still known at run time only.
KernelSpec expecting(const KernelSpec& spec, const Counts& counts);

// The kernel for so many rows, a number: a multiple of the granule. It is all of them.
KernelSpec with_rows(const KernelSpec& spec, i64 rows);

// The kernel for some rows among others: where these lie inside of something else, as columns do,
// or something has another size that is known at run time only, the parameter or result is strided.
KernelSpec among_rows(const KernelSpec& spec);

// The axis of a tensor that has this size; -1: none.
int rows_axis(const Param& p, const std::string& size);

// The digit of its layout that steps through rows; -1: it has none. Blocks of them are one: those
// of the whole.
int rows_digit(const Param& p, const std::string& size);

// Elements of a parameter or a result from one row to the next; 0: it has no rows; none: run time
// knows, as a stride says.
std::optional<i64> row_elements(const Param& p, const std::string& size);

}  // namespace morello
