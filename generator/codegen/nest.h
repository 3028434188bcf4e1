// The loop nest of one variant as C++ functions.
#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "codegen/functions.h"
#include "impl/fusion.h"
#include "impl/patchwork.h"
#include "impl/rows.h"

namespace morello {

// What the programs of one variant share: helper functions, each text once.
struct Library {
  Functions functions;
  std::string chunks = {};  // functions for the tasks of parallel loops
  int chunk_count = 0;
  size_t loops = 0;    // over pieces of rows
  bool brief = false;  // the programs to come have little to do: their code is rather short
  std::string text() const { return functions.text() + chunks; }
};

// One program as a function.
struct ProgramCode {
  std::string name;
  std::string text;
  std::array<std::string, kMaxTensors> pointers;  // types of the parameters
  std::set<int> strides;    // symbols of those that it takes, in this order, after the pointers;
                            // behind them lengths (operand.h)
  i64 workspace_bytes = 0;  // what `workspace` points to, from a 64-byte boundary; 0: no parameter
  bool parallel = false;    // takes a pool, last
  bool streams = false;     // stores past the caches: a fence is to follow
};
// Tasks end with their own fences, and the program with one if `fenced`.
ProgramCode emit_program(Library& library, const Problem& p, const Impl& impl, std::string name,
                         bool fenced = true);

// Names of the packers of `packed` operands.
std::map<int, std::string> emit_packers(Library& library, const Problem& p);

struct NestCode {
  // All functions, the last one `run(inputs..., out[, sizes][, strides][, unsigned char* workspace]
  // [, const ::morello::Parallel& pool])` over typed pointers: tensors as the Computation has them,
  // or, of several stages, parameters and results.
  std::string functions;
  std::vector<std::string> sizes;  // names of those that run takes, in this order
  // Symbols of those that run takes, in this order (stride_symbol(); of several stages with the
  // number of an argument in place of an operand's).
  std::set<int> strides;
  i64 workspace_bytes = 0;  // what `workspace` points to, from a 64-byte boundary; 0: no parameter
  bool parallel = false;    // run takes a pool
  // Names of the packers (const T* given, T* packed) of `packed` tensors, as run() numbers them.
  std::map<int, std::string> packers;

  bool operator==(const NestCode&) const = default;
};

// Of a program, of all pieces of a kernel (patchwork.cc), of several stages (fusion.cc), and of
// these for any number of rows (rows.cc).
// `brief`: all leaves are rather short than fast.
NestCode emit_nest(const Problem& p, const Impl& impl, bool brief);
NestCode emit_nest(const Patchwork& work, bool brief);
NestCode emit_nest(const Fusion& f, bool brief);
NestCode emit_nest(const AnyRows& rows, const KernelSpec& spec, bool brief);
// The functions of a fusion beside those of the library, called <stem>run and so on.
NestCode emit_fusion(Library& library, const Fusion& f, const std::string& stem);

}  // namespace morello
