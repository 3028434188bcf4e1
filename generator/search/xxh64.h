// XXH64, the 64-bit checksum of xxHash: detects damage, not malice. Ours, because users of the
// generator should not need a library for 50 lines; tests/search/store_test.cc compares it with the
// published values.
#pragma once

#include <cstdint>
#include <string_view>

namespace morello {

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace morello
