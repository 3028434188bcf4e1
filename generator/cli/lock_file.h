// The lock file: what searches found, as text that is checked in. A kernel that is in it is not
// searched for again, whatever a newer generator would find.
//
//   version = 1
//
//   [[kernel]]
//   target  = "ffw"            whose update replaces all entries of this name
//   name    = "ffw"
//   isa     = "avx2"
//   spec    = "ffw(a: ...): ..."
//   machine = "zen5"
//   machine_sha256 = "..."     of its canonical text
//   threads = 4                that it may use
//   cycles  = 123              by the model
//   nest    = """..."""        of several stages: all of it (impl/fusion.h, rows.h), and no program
//   below
//
//   [[kernel.program]]         one; of a kernel with sizes known at run time only, one per piece
//   threads = 1
//   cycles  = 123
//   family  = "..."
//   nest    = """..."""
//
//   [[output]]                 what a target's files were, and what they were made from
//   target = "ffw"
//   inputs_sha256 = "..."
//   output_sha256 = "..."
//
// Sorted, one block per kernel, so that merges are local. The writer is ours: another version of a
// library may format the same content otherwise.
#pragma once

#include <string>
#include <vector>

#include "support/diag.h"

namespace morello {

struct LockedProgram {
  int threads = 1;
  i64 cycles = 0;
  std::string family, nest;
  std::vector<std::string> elastic = {};  // dims; none: those of its piece
  bool operator==(const LockedProgram&) const = default;
};

struct LockedPieces {
  std::string dim;
  std::vector<i64> sizes;
  int elastic = 0;  // from which size on they are; 0: none is
  bool operator==(const LockedPieces&) const = default;
};

struct LockedKernel {
  std::string target, name, isa, spec, machine, machine_sha256;
  int threads = 1;
  i64 cycles = 0;
  std::vector<LockedPieces> pieces = {};  // outermost first; none: all sizes are numbers
  int divided = 1;                        // threads among which the outermost loop is divided
  i64 divided_from = 0;
  std::string nest = {};  // of several stages
  std::vector<LockedProgram> programs = {};
  bool operator==(const LockedKernel&) const = default;
};

struct LockedOutput {
  std::string target, inputs_sha256, output_sha256;
  bool operator==(const LockedOutput&) const = default;
};

struct LockFile {
  std::vector<LockedKernel> kernels;
  std::vector<LockedOutput> outputs;

  const LockedKernel* find(const std::string& target, const std::string& name,
                           const std::string& isa) const;
  const LockedOutput* find_output(const std::string& target) const;
  // In place of everything that this target had.
  void replace(const std::string& target, std::vector<LockedKernel> kernels,
               std::vector<LockedOutput> outputs);
  std::string toml() const;  // canonical; parse_lock(toml()) gives the same
};

Result<LockFile> parse_lock(std::string_view toml, const std::string& file);

}  // namespace morello
