// morello generate: specs -> search per instruction set -> one header.
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/emit.h"
#include "cli/exit.h"
#include "cli/files.h"

namespace morello {
namespace {

struct GenerateArgs {
  SpecArgs spec;
  SearchArgs search;
  std::string space = "morello";
  std::optional<std::string> header, source, header_name, impl, stats, stamp;
  bool quiet = false;
};

void check_paths(const GenerateArgs& a) {
  if (a.source && !a.header) usage_error("--source needs --header: the source includes the header");
  if (a.header_name && a.header_name->find_first_of("\"\\\n") != std::string::npos)
    usage_error("--header-name: quotes, backslashes and line ends do not fit in an #include");
}

void require_names(const std::vector<KernelSpec>& specs) {
  for (const KernelSpec& s : specs)
    if (s.name.empty())
      usage_error("the kernel has no name: write one before its `(` or give --name");
}

// The name of the header in an #include.
std::string header_name(const GenerateArgs& a, const std::vector<KernelSpec>& specs) {
  if (a.header_name) return *a.header_name;
  if (a.header) return std::filesystem::path(*a.header).filename().string();
  return specs.front().name + ".h";
}

void write_results(const GenerateArgs& a, const Machine& machine,
                   const std::vector<KernelFound>& kernels, Emitted&& code) {
  if (!a.header) print_out(code.header);
  OutputFiles files;
  if (a.header) files.add("--header", *a.header, std::move(code.header));
  if (a.source) files.add("--source", *a.source, std::move(code.source));
  if (a.impl) files.add("--impl", *a.impl, impl_text(kernels));
  if (a.stats) files.add("--stats", *a.stats, stats_json(kernels, machine));
  if (a.stamp) files.add("--stamp", *a.stamp, "", true);
  files.write();
  if (!a.header || a.quiet) return;
  std::string lines;
  for (const KernelFound& k : kernels)
    for (const Found& f : k.variants) lines += summary(*k.spec, f);
  print_out(lines);
}

void run(const GenerateArgs& a) {
  check_paths(a);
  check_namespace(a.space);
  const std::vector<const Isa*> given = a.search.isas();
  const std::vector<KernelSpec> specs = a.spec.load();
  require_names(specs);
  const Machine machine = a.search.load_machine();
  const std::vector<const Isa*> isas = given.empty() ? isas_of(machine) : given;
  OpenMemo memo(a.search.memo);

  std::vector<KernelFound> kernels;
  for (const KernelSpec& spec : specs) {
    KernelFound& k = kernels.emplace_back(KernelFound{&spec, {}});
    for (const Isa* isa : worth_a_variant(isas, spec.computation))
      k.variants.push_back(search(spec, machine, *isa, a.search, memo));
  }

  EmitOptions options;
  options.space = a.space;
  options.header_name = header_name(a, specs);
  if (a.source) options.compiled_macro = compiled_macro(options.header_name);
  write_results(a, machine, kernels, emit(kernels, machine, a.search.threads, options));
}

}  // namespace

Run add_generate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "Search for kernels and write a C++ header");
  auto a = std::make_shared<GenerateArgs>();
  a->spec.declare(*command, true);
  a->search.declare(*command);
  command->add_option("--namespace", a->space, "C++ namespace of the kernels")
      ->option_text("A::B [morello]");
  const auto file = [&](const char* option, std::optional<std::string>& value, const char* text) {
    command->add_option(option, value, text)->option_text("FILE");
  };
  file("--header", a->header, "The header; without it the header goes to standard output");
  file("--source", a->source, "A source file with the code; the header then only declares");
  file("--impl", a->impl, "The programs found, as text");
  file("--stats", a->stats, "Statistics of the search, JSON");
  file("--stamp", a->stamp, "An empty file that gets a new time when all others are written");
  command->add_option("--header-name", a->header_name, "How the source includes the header")
      ->option_text("NAME");
  command->add_flag("--quiet", a->quiet, "No line per kernel on standard output");
  return [a] { run(*a); };
}

}  // namespace morello
