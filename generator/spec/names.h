// Which names a user may give to kernels and parameters: they become names in C++ code.
#pragma once

#include <string>
#include <string_view>

namespace morello {

// The number that is greater than all others, in expressions.
inline constexpr std::string_view kInfinity = "inf";

// Why `name` cannot be used ("it is a C++ keyword"); empty when it can.
std::string name_problem(std::string_view name);

}  // namespace morello
