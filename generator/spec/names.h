// Which names a user may give to kernels and parameters: they become names in C++ code.
#pragma once

#include <string>
#include <string_view>

namespace morello {

// Why `name` cannot be used ("it is a C++ keyword"); empty when it can.
std::string name_problem(std::string_view name);

}  // namespace morello
