// SHA-256 (FIPS 180-4), for what CMake has to recompute without the generator: it has this one
// built in.
#pragma once

#include <string>
#include <string_view>

namespace morello {

// 64 hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace morello
