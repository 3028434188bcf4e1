// Files of a bench program, compiled in by CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

namespace morello {

struct TextFile {
  std::string_view path;  // in the program's directory
  std::string_view text;
};
std::span<const TextFile> bench_files();

}  // namespace morello
