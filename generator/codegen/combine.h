// Functions that add the copies of the output which shares of a divided reduction have summed into.
#pragma once

#include "codegen/writer.h"
#include "impl/shares.h"

namespace morello {

// Name of a function (T* out, const T* copies, std::ptrdiff_t count): out[i] += every copy's i, in
// order, for i < count.
std::string combine_function(Functions& functions, Dtype type, const Shares& shares);

// The text of `<task>_data {out, copies}` and of `<task>(data, index)`, which does one of
// shares.tasks parts.
std::string combine_task(const std::string& task, const std::string& combine, Dtype type,
                         const Shares& shares);

}  // namespace morello
