#pragma once

#include <string>

namespace morello {

// "morello 0.1.0 (sources 1f0c...)". Only for people: never part of what is generated.
std::string version_text();

}  // namespace morello
