// The shipped machine files (machines/*.toml), compiled in by CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

namespace morello {

struct MachineFile {
  std::string_view name;  // "zen5"
  std::string_view text;
};
std::span<const MachineFile> machine_files();

}  // namespace morello
