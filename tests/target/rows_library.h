// All rows of an instruction set as a shared library: compiled by a real compiler with the warnings
// a user may have on, loaded into the test.
#pragma once

#include <string>
#include <vector>

#include "target/isa.h"

namespace morello {

// Kernels and loads read a and b and write c; see rows_library.cc for what each function takes.
using RowFunction = void (*)(const void* a, const void* b, void* c);

// Between the rows, and the columns, of a Transpose.
constexpr int kRowBytes = 40;

class RowsLibrary {
 public:
  // `options` such as "-O1". An empty error() means that it compiled without a word and loaded.
  RowsLibrary(const Isa& isa, const std::string& compiler, const std::string& options);
  ~RowsLibrary();
  RowsLibrary(const RowsLibrary&) = delete;
  RowsLibrary& operator=(const RowsLibrary&) = delete;

  const std::string& error() const { return error_; }
  // `part`: "code", "finish", "partial3"; "function" of a Function, whose name a
  // Kernel may have too.
  RowFunction find(std::string_view row, std::string_view part) const;

 private:
  std::string error_;
  void* handle_ = nullptr;
};

// How many elements the partial forms in the library move.
std::vector<int> partial_sizes(const Access& a);

std::vector<std::string> test_compilers();

}  // namespace morello
