// What a copy of the output holds, finished into the output.
#pragma once

#include "codegen/functions.h"
#include "codegen/operand.h"

namespace morello {

struct FinishJob {
  AddressMap sums;  // of the copy, in the type of sums
  Refs refs;        // of the output and the extras, as given
  Extents extent{};
};

// Name of a function (const S* sums, T* out, extras.., strides) that does it.
std::string finish_function(Functions& functions, const Problem& p, const FinishJob& job);
// What it takes: "sums, out, extras..", strides.
std::string finish_arguments(const Problem& p, const FinishJob& job, const std::string& sums);

}  // namespace morello
