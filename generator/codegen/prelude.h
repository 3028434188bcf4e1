// The helper functions of an instruction set that a program calls.
#pragma once

#include <string>
#include <string_view>

namespace morello {

// Of the functions in `prelude`, each of which calls earlier ones only, those that `code` needs, as
// they are and in their order. A reader of a header sees no other, and no compiler parses them.
std::string needed_helpers(std::string_view prelude, std::string_view code);

}  // namespace morello
