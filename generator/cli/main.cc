// The command line. Data flows one way through each command:
//   spec text --parse--> KernelSpec --optimize--> Optimum per ISA --emit--> header
// generate.cc is the one that goes all the way.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "cli/exit.h"
#include "cli/files.h"
#include "cli/version.h"

namespace morello {
namespace {

struct Command {
  CLI::App* app;
  Run run;
};

// What is left over is refused by refuse_unknown(), with a suggestion.
CLI::App& lenient(CLI::App& app) { return *app.allow_extras()->require_subcommand(0, 1); }

std::vector<Command> add_commands(CLI::App& root) {
  std::vector<Command> commands;
  const auto add = [&](CLI::App& parent, Run (*make)(CLI::App&)) {
    Run run = make(parent);
    commands.push_back({&lenient(*parent.get_subcommands({}).back()), std::move(run)});
  };
  lenient(root);
  add(root, add_generate);
  add(root, add_check);
  add(root, add_explain);
  CLI::App& machine = lenient(*root.add_subcommand("machine", "Machine files: list, show, detect"));
  add(machine, add_machine_list);
  add(machine, add_machine_show);
  add(machine, add_machine_detect);
  add(root, add_bench);
  add(root, add_testbench);
  CLI::App& memo = lenient(*root.add_subcommand("memo", "What is kept between runs: stats, clear"));
  add(memo, add_memo_stats);
  add(memo, add_memo_clear);
  return commands;
}

// The command that was named last: "generate" or "machine show"; the root if there is none.
CLI::App& innermost(CLI::App& root) {
  CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return *app;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

void refuse_unknown(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty()) return;
  const std::string& word = unknown[0];
  if (word.size() > 1 && word[0] == '-') {
    const std::string option = word.substr(0, word.find('='));
    std::vector<std::string> allowed;
    for (const CLI::Option* o : app.get_options())
      for (const std::string& name : o->get_lnames()) allowed.push_back("--" + name);
    usage_error(fmt::format("unknown option `{}`{}", option, did_you_mean(option, allowed)));
  }
  std::vector<std::string> allowed;
  for (const CLI::App* sub : app.get_subcommands({})) allowed.push_back(sub->get_name());
  if (allowed.empty()) usage_error(fmt::format("unexpected argument `{}`", word));
  usage_error(fmt::format("unknown command `{}`{} (allowed: {})", word, did_you_mean(word, allowed),
                          fmt::join(allowed, ", ")));
}

void parse(CLI::App& root, int argc, char** argv) {
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_out(root.help());
    throw;
  } catch (const CLI::CallForVersion&) {
    print_out(version_text());
    throw;
  } catch (const CLI::ArgumentMismatch& e) {
    const std::string text = e.what();
    const std::string option = text.substr(0, text.find(':'));
    const bool missing = text.ends_with("missing");
    usage_error(option + (missing ? ": the value is missing" : " is given more than once"));
  } catch (const CLI::ParseError& e) {
    usage_error(e.what());
  }
  const CLI::App& app = innermost(root);
  for (const CLI::App* a = &app; a != nullptr; a = a->get_parent()) refuse_unknown(*a);
  std::vector<std::string> allowed;
  for (const CLI::App* sub : app.get_subcommands({})) allowed.push_back(sub->get_name());
  if (!allowed.empty())
    usage_error(fmt::format("a command is missing (allowed: {})", fmt::join(allowed, ", ")));
}

int run(int argc, char** argv) {
  CLI::App root("Morello: neural-network kernels, searched for while your project builds",
                "morello");
  try {
    root.set_version_flag("--version", "");
    root.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    const std::vector<Command> commands = add_commands(root);
    parse(root, argc, argv);
    for (const Command& c : commands)
      if (c.app == &innermost(root)) c.run();
    return kSuccess;
  } catch (const CLI::Success&) {
    return kSuccess;
  } catch (const Failure& f) {
    std::fputs(f.text.c_str(), stderr);
    if (f.hint) fmt::print(stderr, "Try `{} --help`.\n", full_name(innermost(root)));
    return f.code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "morello: internal error: {}\n", e.what());
    return kInternal;
  }
}

}  // namespace
}  // namespace morello

int main(int argc, char** argv) { return morello::run(argc, argv); }
