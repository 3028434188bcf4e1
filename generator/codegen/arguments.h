// What a kernel takes beside its tensors: sizes and strides that are known at run time only.
#pragma once

#include <string>
#include <vector>

#include "spec/kernel_spec.h"

namespace morello {

// Names of the arguments of type std::ptrdiff_t, which follow the result: sizes in the order in
// which the spec mentions them, then strides, tensor by tensor.
std::vector<std::string> run_time_arguments(const KernelSpec& spec);

// What has to hold of a size: "n >= 16 && n % 16 == 0 && n <= 64".
std::string size_condition(const RunTimeSize& size);

// The value of a stride (stride_symbol) in terms of these arguments: "b_stride", "16 * k".
std::string stride_value(const KernelSpec& spec, int symbol);

}  // namespace morello
