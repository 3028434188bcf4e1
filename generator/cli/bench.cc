#include "cli/commands.h"
#include "cli/exit.h"
namespace morello {
Run add_bench(CLI::App& app) {
  app.add_subcommand("bench", "Generate, compile with $CXX, verify and time");
  return [] { fail(kInternal, "bench: not built yet"); };
}
}  // namespace morello
