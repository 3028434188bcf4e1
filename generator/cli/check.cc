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
    for (const KernelSpec& k : spec->load()) {
      out += k.str() + "\n";
      for (size_t s = 0; s < k.stages.size(); ++s) {
        const std::string& made = k.tensor(k.made_by(static_cast<int>(s))).name;
        out += fmt::format("  {}{}\n", k.stages.size() > 1 ? made + " = " : "",
                           str(k.stages[s].computation));
      }
    }
    print_out(out);
  };
}

}  // namespace morello
