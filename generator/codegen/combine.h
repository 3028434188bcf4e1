// Functions that join the copies of the output which shares of a divided reduction have summed
// into.
#pragma once

#include "codegen/functions.h"
#include "impl/copy_box.h"
#include "impl/shares.h"
#include "target/isa.h"

namespace morello {

// Name of a function (T* out, const T* copies, std::ptrdiff_t first, std::ptrdiff_t last): out[i]
// is joined with every copy's i, in order, for all i of `elements` from first on and below last.
// What pads blocks is neither read nor written: copies have nothing there. `join` is a row for one
// element.
std::string combine_function(Functions& functions, const Function& join, const Shares& shares,
                             std::span<const Box> elements);

// The text of `<task>_data {out, copies}` and of `<task>(data, index)`, which does one of
// shares.tasks parts.
std::string combine_task(const std::string& task, const std::string& combine, Dtype type,
                         const Shares& shares);

}  // namespace morello
