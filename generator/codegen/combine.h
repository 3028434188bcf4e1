// Functions that join the copies of the output which shares of a divided reduction have summed
// into.
#pragma once

#include "codegen/writer.h"
#include "impl/shares.h"
#include "target/isa.h"

namespace morello {

// Name of a function (T* out, const T* copies, std::ptrdiff_t count): out[i] is joined with every
// copy's i, in order, for i < count. `join` is a row for one element.
std::string combine_function(Functions& functions, const Function& join, const Shares& shares);

// The text of `<task>_data {out, copies}` and of `<task>(data, index)`, which does one of
// shares.tasks parts.
std::string combine_task(const std::string& task, const std::string& combine, Dtype type,
                         const Shares& shares);

}  // namespace morello
