// morello check: the canonical form of specs, and what they compute.
#include <memory>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/request.h"

namespace morello {

Run add_check(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("check", "Parse specs, infer shapes, print the canonical form");
  auto spec = std::make_shared<SpecArgs>();
  spec->declare(*command, false);
  return [spec] {
    std::string out;
    for (const KernelSpec& k : spec->load())
      out += fmt::format("{}\n  {}\n", k.str(), str(k.computation));
    print_out(out);
  };
}

}  // namespace morello
