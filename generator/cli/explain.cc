// morello explain: the winning program with the cost of every level, and what lost.
#include "search/explain.h"

#include <memory>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/request.h"

namespace morello {

static void run(const SpecArgs& spec, const SearchArgs& args) {
  const std::vector<const Isa*> given = args.isas();
  const std::vector<KernelSpec> kernels = spec.load();
  const Machine machine = args.load_machine();
  OpenMemo memo(args.memo);
  const std::vector<const Isa*> isas = given.empty() ? std::vector{find_isa(machine.isa)} : given;
  std::string out;
  for (const KernelSpec& k : kernels)
    for (const Isa* isa : isas) {
      const Found found = search(k, machine, *isa, args, memo);
      if (!out.empty()) out += "\n";
      out +=
          fmt::format("kernel       {}\nmachine      {}, {}\n", k.str(), machine.name, isa->name);
      out += explain(found.best);
    }
  print_out(out);
}

Run add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "Search, and print the program found with the cost of its parts");
  auto spec = std::make_shared<SpecArgs>();
  auto args = std::make_shared<SearchArgs>();
  spec->declare(*command, false);
  args->declare(*command);
  return [spec, args] { run(*spec, *args); };
}

}  // namespace morello
