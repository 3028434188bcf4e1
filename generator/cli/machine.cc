// morello machine: the machine files, and the one of this computer.
#include "target/machine.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/exit.h"
#include "cli/files.h"

namespace morello {

Run add_machine_list(CLI::App& app) {
  app.add_subcommand("list", "Names of the shipped machine files");
  return [] { print_out(fmt::format("{}\n", fmt::join(shipped_machines(), "\n"))); };
}

Run add_machine_show(CLI::App& app) {
  CLI::App* command = app.add_subcommand("show", "Print a machine file");
  auto name = std::make_shared<std::optional<std::string>>();
  command->add_option("NAME", *name, "Shipped name, path of a machine file, or native")
      ->option_text(" ");
  return [name] {
    if (!*name) usage_error("which machine? NAME is missing");
    const Result<Machine> machine = load_machine(**name);
    if (!machine) fail(kUsage, machine.error());
    print_out(machine->toml());
  };
}

Run add_machine_detect(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("detect", "Print a machine file for the computer this runs on");
  auto output = std::make_shared<std::optional<std::string>>();
  command->add_option("--output", *output, "Write it there; not touched if nothing changed")
      ->option_text("FILE");
  return [output] {
    const Detection found = detect_machine();
    for (const std::string& note : found.notes) fmt::print(stderr, "morello: note: {}\n", note);
    if (!*output) return print_out(found.machine.toml());
    OutputFiles files;
    files.add("--output", **output, found.machine.toml());
    files.write();
  };
}

}  // namespace morello
