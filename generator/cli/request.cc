#include "cli/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "cli/exit.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "import/import.h"
#include "spec/names.h"

namespace morello {

void SpecArgs::declare(CLI::App& app, bool with_name) {
  app.add_option("--spec", text, "The kernel, for example \"(a: f32[4,8]): f32 = convert(a)\"")
      ->option_text("TEXT");
  app.add_option("--spec-file", file,
                 "File with one or more named kernels, or *.hlo, *.mlir; - reads standard input")
      ->option_text("FILE");
  app.add_option("--hlo", hlo, "File with StableHLO or HLO text, whatever its name; - as above")
      ->option_text("FILE");
  if (with_name)
    app.add_option("--name", name, "Name of the kernel, in place of the one in the spec")
        ->option_text("NAME");
}

// A file holds named kernels or one without a name.
static Result<std::vector<KernelSpec>> parse_kernels(const std::string& text,
                                                     const std::string& file) {
  Result<std::vector<KernelSpec>> several = parse_spec_file(text, file);
  if (several) return several;
  Result<KernelSpec> single = parse_spec(text, file);
  if (!single) {
    // Both are wrong. In a text without any name the first error of the other reading is only that.
    const bool unnamed = text.find_first_not_of(" \t\r\n") != std::string::npos &&
                         text[text.find_first_not_of(" \t\r\n")] == '(';
    return unnamed ? single.error() : several.error();
  }
  return std::vector<KernelSpec>{std::move(*single)};
}

// One of --spec, --spec-file and --hlo.
static void require_one_source(const SpecArgs& a) {
  if (a.text && a.file) usage_error("--spec and --spec-file exclude each other");
  if (a.hlo && (a.text || a.file))
    usage_error(fmt::format("{} and --hlo exclude each other", a.text ? "--spec" : "--spec-file"));
  if (!a.text && !a.file && !a.hlo) usage_error("--spec, --spec-file or --hlo is missing");
}

std::vector<KernelSpec> SpecArgs::load() const {
  require_one_source(*this);
  if (name)
    if (const std::string problem = name_problem(*name); !problem.empty())
      usage_error(fmt::format("--name `{}`: {}", *name, problem));
  const std::string path = text ? "" : file ? *file : *hlo;
  const std::string origin = text ? "<spec>" : path == "-" ? "<stdin>" : path;
  const std::string words = text ? *text : read_file(path);
  Result<std::vector<KernelSpec>> kernels = hlo || hlo::is_file_name(path)
                                                ? hlo::import_kernels(words, origin)
                                                : parse_kernels(words, origin);
  if (!kernels) fail(kBadSpec, kernels.error());
  if (name && kernels->size() != 1)
    usage_error(fmt::format("--name is for one kernel, but {} has {}", origin, kernels->size()));
  if (name) kernels->front().name = *name;
  return std::move(*kernels);
}

void SearchArgs::declare(CLI::App& app) {
  app.add_option("--machine", machine,
                 "Shipped name, path of a machine file, or native: the machine this runs on")
      ->option_text("NAME|FILE [native]");
  app.add_option("--isa", isa, "Instruction sets, separated by commas")->option_text("LIST");
  app.add_option("--threads", threads, "Threads the kernel may use at run time")
      ->check(CLI::Range(1, 1024))
      ->option_text("N [1]");
  app.add_option("-j,--jobs", jobs, "Threads the search may use; never changes the result")
      ->check(CLI::Range(1, 1024))
      ->option_text("N [all processors]");
  app.add_option("--max-specs", max_specs,
                 "Give up after as many sub-problems per family (exit code 5)")
      ->check(CLI::Range(i64{1}, i64{1} << 60))
      ->option_text("N [no limit]");
  memo.declare(app, true);
  app.add_option("--progress", progress,
                 "auto: a line on a terminal when it takes long; log: one every ten seconds; off")
      ->check(CLI::IsMember({"auto", "log", "off"}))
      ->option_text("auto|log|off [auto]");
}

Machine SearchArgs::load_machine() const {
  if (machine == "native") {
    Detection found = detect_machine();
    for (const std::string& note : found.notes) fmt::print(stderr, "morello: note: {}\n", note);
    return std::move(found.machine);
  }
  Result<Machine> loaded = morello::load_machine(machine);
  if (!loaded) fail(kUsage, loaded.error());
  return std::move(*loaded);
}

static std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const Isa* isa : isa_table()) names.emplace_back(isa->name);
  return names;
}

std::vector<const Isa*> isas_of(const Machine& machine) {
  const std::span<const Isa* const> all = isa_table();
  const auto own = std::find(all.begin(), all.end(), find_isa(machine.isa));
  std::vector<const Isa*> out = {*own};
  std::copy_if(own + 1, all.end(), std::back_inserter(out),
               [](const Isa* isa) { return isa->base == nullptr; });
  return out;
}

std::vector<const Isa*> SearchArgs::isas() const {
  if (!isa) return {};
  const std::vector<std::string> known = isa_names();
  const std::string& list = *isa;
  std::vector<const Isa*> chosen;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    const Isa* found = find_isa(word);
    if (found == nullptr)
      usage_error(fmt::format("--isa: unknown instruction set `{}`{} (allowed: {})", word,
                              did_you_mean(word, known), fmt::join(known, ", ")));
    if (std::find(chosen.begin(), chosen.end(), found) != chosen.end())
      usage_error(fmt::format("--isa: `{}` is given twice", word));
    chosen.push_back(found);
    begin = end + 1;
  }
  const Isa* portable = isa_table().back();
  if (chosen.size() > 1 && std::find(chosen.begin(), chosen.end(), portable) == chosen.end())
    usage_error(fmt::format("--isa: a kernel that chooses at run time needs the fallback: add `{}`",
                            portable->name));
  const auto place = [](const Isa* i) {
    return std::find(isa_table().begin(), isa_table().end(), i);
  };
  std::sort(chosen.begin(), chosen.end(),
            [&](const Isa* a, const Isa* b) { return place(a) < place(b); });
  return chosen;
}

static double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

static Progress::Kind kind_of(const std::string& progress) {
  using Kind = Progress::Kind;
  return progress == "auto" ? Kind::kTerminal : progress == "log" ? Kind::kLog : Kind::kOff;
}

Found search(const KernelSpec& kernel, const Machine& machine, const Isa& isa,
             std::span<const Isa* const> variants, const SearchArgs& args, OpenMemo& memo) {
  const std::string title =
      fmt::format("{} {}", kernel.name.empty() ? "kernel" : kernel.name, isa.name);
  SearchProgress counters;
  const Progress progress(title, kind_of(args.progress), counters);
  SearchOptions options;
  options.threads = args.threads;
  options.programs = programs_of(isa, variants);
  options.jobs = args.jobs > 0 ? args.jobs
                               : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  options.max_specs = args.max_specs;
  options.progress = &counters;
  options.tables = memo.tables();
  const double start = cpu_seconds();
  std::variant<Optimum, StopReason> result = optimize(kernel, machine, isa, options);
  const double seconds = cpu_seconds() - start;
  if (const StopReason* reason = std::get_if<StopReason>(&result)) {
    if (*reason == StopReason::kBudget)
      fail(kNoImplementation,
           fmt::format("{}: --max-specs {} is too small to find the best program", title,
                       args.max_specs));
    fail(kNoImplementation, title + ": no program found");
  }
  return {std::move(std::get<Optimum>(result)), seconds};
}

}  // namespace morello
