// morello testbench: the sources of a program that verifies and times the kernels of a header. No
// search: the header is there already.
#include <memory>

#include "cli/bench/subject.h"
#include "cli/bench/texts.h"
#include "cli/commands.h"
#include "cli/emit.h"
#include "cli/exit.h"
#include "cli/files.h"
#include "cli/request.h"
#include "spec/names.h"

namespace morello {
namespace {

struct TestbenchArgs {
  SpecArgs spec;
  SubjectsOptions subjects;
  std::optional<std::string> output;
};

void run(const TestbenchArgs& a) {
  check_namespace(a.subjects.space);
  if (const std::string problem = name_problem(a.subjects.suite); !problem.empty())
    usage_error(fmt::format("--suite `{}`: {}", a.subjects.suite, problem));
  if (a.subjects.header_name.empty()) usage_error("--header-name is missing");
  if (!a.output) usage_error("--output is missing");
  const std::vector<KernelSpec> specs = a.spec.load();
  for (const KernelSpec& s : specs)
    if (s.name.empty())
      usage_error("the kernel has no name: write one before its `(` or give --name");
  OutputFiles files;
  const auto add = [&](std::string_view name, std::string text) {
    files.add("--output", fmt::format("{}/{}", *a.output, name), std::move(text));
  };
  add("subjects.h", subjects_text(specs, a.subjects));
  for (const TextFile& f : bench_files())
    if (f.path != "main.cc") add(f.path, std::string(f.text));
  files.write();
}

}  // namespace

Run add_testbench(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "testbench",
      "Write the sources of a program that verifies and times the kernels of a header");
  auto a = std::make_shared<TestbenchArgs>();
  a->spec.declare(*command, true);
  command->add_option("--namespace", a->subjects.space, "C++ namespace of the kernels")
      ->option_text("A::B [morello]");
  command->add_option("--header-name", a->subjects.header_name, "How the program includes them")
      ->option_text("NAME");
  command->add_option("--threads", a->subjects.threads, "Threads the kernels may use")
      ->check(CLI::Range(1, 1024))
      ->option_text("N [1]");
  command->add_option("--suite", a->subjects.suite, "Name of the list of kernels in the program")
      ->option_text("NAME [bench]");
  command->add_option("--output", a->output, "Directory for the sources")->option_text("DIR");
  return [a] { run(*a); };
}

}  // namespace morello
