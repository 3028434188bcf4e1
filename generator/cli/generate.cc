// morello generate: specs -> search per instruction set -> one header.
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/emit.h"
#include "cli/exit.h"
#include "cli/files.h"
#include "cli/lock.h"
#include "support/sha256.h"

namespace morello {
namespace {

struct GenerateArgs {
  SpecArgs spec;
  SearchArgs search;
  std::string space = "morello";
  LockArgs lock;
  std::optional<std::string> header, source, header_name, impl, stats, stamp, inputs;
  bool quiet = false;
};

void check_paths(const GenerateArgs& a) {
  if (a.source && !a.header) usage_error("--source needs --header: the source includes the header");
  if (a.header_name && a.header_name->find_first_of("\"\\\n") != std::string::npos)
    usage_error("--header-name: quotes, backslashes and line ends do not fit in an #include");
  if (a.inputs && (a.inputs->size() != 64 ||
                   a.inputs->find_first_not_of("0123456789abcdef") != std::string::npos))
    usage_error("--inputs-digest: not a SHA-256 in hexadecimal digits");
}

// For who checks the file in: what it was made from, and that nobody changed it since. The lines
// stand behind the first two, and the second digest is over all that follows it.
std::string with_digests(const std::string& text, const std::string& inputs) {
  size_t at = text.find('\n') + 1;
  at = text.find('\n', at) + 1;
  const std::string body = text.substr(at);
  return fmt::format("{}// inputs: sha256 {}\n// body:   sha256 {}\n{}", text.substr(0, at), inputs,
                     sha256(body), body);
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
                   const std::vector<KernelFound>& kernels, const OpenLock& lock, Emitted&& code) {
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
    for (const Found& f : k.variants)
      lines += summary(*k.spec, f) + lock.origin(*k.spec, *f.best.problem.family.isa) + "\n";
  print_out(lines);
}

// Everything that is in the lock file first: under --locked nothing is searched for in vain.
std::vector<KernelFound> find_all(const GenerateArgs& a, const std::vector<KernelSpec>& specs,
                                  const Machine& machine, OpenLock& lock) {
  const std::vector<const Isa*> given = a.search.isas();
  const std::vector<const Isa*> isas = given.empty() ? isas_of(machine) : given;
  std::vector<std::vector<std::optional<Found>>> found;
  for (const KernelSpec& spec : specs) {
    found.emplace_back();
    for (const Isa* isa : worth_a_variant(isas, spec))
      found.back().push_back(lock.find(spec, *isa));
  }
  lock.may_search();
  OpenMemo memo(a.search.memo);
  std::vector<KernelFound> kernels;
  for (size_t i = 0; i < specs.size(); ++i) {
    KernelFound& k = kernels.emplace_back(KernelFound{&specs[i], {}});
    size_t v = 0;
    const std::vector<const Isa*> variants = worth_a_variant(isas, specs[i]);
    for (const Isa* isa : variants) {
      std::optional<Found>& f = found[i][v++];
      k.variants.push_back(f ? std::move(*f)
                             : search(specs[i], machine, *isa, variants, a.search, memo));
    }
  }
  return kernels;
}

void run(const GenerateArgs& a) {
  check_paths(a);
  check_namespace(a.space);
  const std::vector<KernelSpec> specs = a.spec.load();
  require_names(specs);
  const Machine machine = a.search.load_machine();
  OpenLock lock(a.lock, machine, a.search.threads);
  const std::vector<KernelFound> kernels = find_all(a, specs, machine, lock);

  EmitOptions options;
  options.space = a.space;
  options.header_name = header_name(a, specs);
  if (a.source) options.compiled_macro = compiled_macro(options.header_name);
  Emitted code = emit(kernels, machine, a.search.threads, options);
  lock.finish(kernels,
              fmt::format("{} {} {}", options.space, options.header_name, options.compiled_macro),
              code.header + code.source);
  if (a.inputs) {
    code.header = with_digests(code.header, *a.inputs);
    if (a.source) code.source = with_digests(code.source, *a.inputs);
  }
  write_results(a, machine, kernels, lock, std::move(code));
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
  a->lock.declare(*command);
  command->add_option("--inputs-digest", a->inputs, "SHA-256 for a line at the head of the files")
      ->option_text("SHA256");
  command->add_option("--header-name", a->header_name, "How the source includes the header")
      ->option_text("NAME");
  command->add_flag("--quiet", a->quiet, "No line per kernel on standard output");
  return [a] { run(*a); };
}

}  // namespace morello
