// Emits, compiles and runs headers, and compares what they compute with evaluate().
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "impl/fixture.h"

namespace morello::test {

// One kernel: a spec and, per instruction set, a program.
struct Kernel {
  std::unique_ptr<KernelSpec> spec;
  KernelCode code;

  Kernel(std::string_view spec_text, const std::string& name, int threads);
  // Adds a variant of the first family of `isa` whose text starts with `family`.
  void add(std::string_view isa, std::string_view family, std::string_view program);
};

struct Compiler {
  std::string command = MORELLO_TEST_CXX;
  std::string flags = "-std=c++17 -O2";
};

bool runs_here(std::string_view isa);
// A fresh directory below the build tree.
std::string work_directory(const std::string& name);
// Raw bytes of values in a dtype.
// How often `part` is in `text`.
int count(std::string_view text, std::string_view part);
std::string encode(Dtype t, const std::vector<double>& values);
void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);

// Compiles with all warnings as errors; "" or what the compiler said.
std::string compile(const Compiler& compiler, const std::string& source, const std::string& binary,
                    const std::string& more = "");

// All kernels in one header, all variants, with buffers against guard pages at both ends; returns
// the first difference or failure, "" when everything is right.
std::string compile_and_run(const std::vector<std::unique_ptr<Kernel>>& kernels,
                            const Compiler& compiler, const std::string& name,
                            const std::vector<std::vector<std::vector<double>>>* inputs = nullptr);

}  // namespace morello::test
