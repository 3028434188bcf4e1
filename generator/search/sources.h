// What the search is made of. A saved table is good only for exactly these sources: they are part
// of what its signature says.
#pragma once

#include <string_view>

namespace morello {

// SHA-256 over spec/, target/, impl/ and search/, in hex; computed by sources.cmake in every build.
std::string_view search_sources();

}  // namespace morello
