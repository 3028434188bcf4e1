// What generate, check, explain and bench have in common: which kernels, for what, and the search.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/memo.h"
#include "search/optimize.h"
#include "search/variants.h"
#include "spec/kernel_spec.h"

namespace morello {

struct SpecArgs {
  std::optional<std::string> text;
  std::optional<std::string> file;
  std::optional<std::string> hlo;
  std::optional<std::string> name;

  void declare(CLI::App& app, bool with_name);
  // At least one kernel. Names are checked, but kernels may have none.
  std::vector<KernelSpec> load() const;
};

struct SearchArgs {
  std::string machine = "native";
  std::optional<std::string> isa;  // none: the command's default
  int threads = 1;
  int jobs = 0;  // 0: all processors this process may use
  i64 max_specs = 0;
  std::string progress = "auto";
  MemoArgs memo;

  void declare(CLI::App& app);
  Machine load_machine() const;
  // Those of --isa in the order of the table, widest first; none where it is not given.
  std::vector<const Isa*> isas() const;
};

// What a header for the machine has unless the user says otherwise: the machine's own instruction
// set and those narrower that extend no other.
std::vector<const Isa*> isas_of(const Machine& machine);

// One kernel searched for one instruction set.
struct Found {
  Optimum best;
  double seconds = 0;  // CPU time of the search, all threads
};
// Beside others, or alone, of which the header has variants.
Found search(const KernelSpec& kernel, const Machine& machine, const Isa& isa,
             std::span<const Isa* const> variants, const SearchArgs& args, OpenMemo& memo);

}  // namespace morello
