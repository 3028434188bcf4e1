// What the emitter is made of: text that two emitters wrote may differ.
#pragma once

#include <string_view>

namespace morello {

// SHA-256 over codegen/ and the runtime's headers that are copied into generated ones, in hex;
// computed by sources.cmake in every build.
std::string_view codegen_sources();

}  // namespace morello
