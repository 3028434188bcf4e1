// Options and use of the lock file in `generate`: what is in it is not searched for.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/output.h"
#include "cli/replay.h"

namespace morello {

struct LockArgs {
  std::optional<std::string> file;
  std::string target;
  bool locked = false;  // what is not in it is an error
  bool update = false;  // write to it what was found
  std::string command;  // what a user types to update it; for messages

  void declare(CLI::App& app);
};

class OpenLock {
 public:
  OpenLock(const LockArgs& args, const Machine& machine, int threads);

  // From the lock file, if its entry is one for this request.
  std::optional<Found> find(const KernelSpec& spec, const Isa& isa);
  // Ends the command if something was not found and may not be searched for.
  void may_search() const;
  // " (...)" behind a kernel's summary: from the lock file, or why not; nothing without one.
  std::string origin(const KernelSpec& spec, const Isa& isa) const;
  // The same inputs must have given the same files before; then what is new goes to the file, if
  // that was asked for. `settings`: all else the files depend on.
  void finish(const std::vector<KernelFound>& kernels, const std::string& settings,
              const std::string& files);

 private:
  struct Missing {
    std::string name, isa, why;
  };
  void write(std::vector<LockedKernel> entries, LockedOutput output) const;
  std::string advice() const;

  const LockArgs& args_;
  const Machine& machine_;
  int threads_;
  LockFile lock_;
  std::vector<Missing> missing_;
};

}  // namespace morello
