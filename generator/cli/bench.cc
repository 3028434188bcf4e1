// morello bench: generate, compile with $CXX, verify against a reference, time.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "cli/bench/subject.h"
#include "cli/bench/texts.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/emit.h"
#include "cli/exit.h"
#include "cli/files.h"

namespace morello {
namespace {

struct BenchArgs {
  SpecArgs spec;
  SearchArgs search;
  std::optional<std::string> json;
  int rounds = 11;
};

// "key value" lines of the driver.
using Report = std::map<std::string, std::string>;

Report parse_report(const std::string& text) {
  Report report;
  std::istringstream lines(text);
  for (std::string key, value; lines >> key >> value;) report[key] = value;
  return report;
}

std::vector<std::string> compiler() {
  const char* given = std::getenv("CXX");
  std::istringstream words(given != nullptr ? given : "");
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  if (out.empty()) out.emplace_back("c++");
  return out;
}

Report compile_and_run(const std::string& header, const KernelSpec& spec, const BenchArgs& a) {
  const Interruptible interruptible;
  const TemporaryDirectory directory;
  const std::string& path = directory.path();
  OutputFiles files;
  files.add("kernel.h", path + "/kernel.h", header);
  files.add("subjects.h", path + "/subjects.h",
            subjects_text({spec}, {"kernel.h", "bench", "bench", a.search.threads}));
  for (const TextFile& f : bench_files())
    files.add(std::string(f.path), fmt::format("{}/{}", path, f.path), std::string(f.text));
  files.write();

  std::vector<std::string> command = compiler();
  for (const char* word : {"-O2", "-std=c++17", "-pthread"}) command.emplace_back(word);
  command.insert(command.end(), {"-I" + path, path + "/main.cc", "-o", path + "/driver"});
  morello::run(command);
  return parse_report(morello::run({path + "/driver", std::to_string(a.rounds)}));
}

struct Rates {
  double ops = 0, bytes = 0;  // per second
};

double number(const Report& r, const std::string& key) {
  const auto found = r.find(key);
  MORELLO_CHECK(found != r.end(), "the bench program printed no {}", key);
  return std::stod(found->second);
}

Rates rates(const Report& r) {
  const double median = number(r, "median");
  return {number(r, "ops") / median, number(r, "bytes") / median};
}

std::string text_for_people(const KernelSpec& spec, const Report& r, const Found& found,
                            int threads) {
  const Rates rate = rates(r);
  std::string out = fmt::format(
      "{}\n  verified {:.0f} of {:.0f} outputs; worst error {} of what is allowed\n"
      "  {}, {} thread{}: median {:.4g} us, best {:.4g} us",
      spec.str(), number(r, "checked"), number(r, "outputs"), r.at("worst"), r.at("isa"), threads,
      threads == 1 ? "" : "s", number(r, "median") * 1e6, number(r, "best") * 1e6);
  if (rate.ops > 0)
    out += fmt::format(", {:.4g} {}/s", rate.ops / 1e9,
                       is_float(spec.stages.back().computation.compute) ? "GFLOP" : "GOP");
  out += fmt::format(", {:.4g} GB/s\n", rate.bytes / 1e9);
  return out + fmt::format("  model: {:.0f} cycles, {}\n", found.best.cost.as_cycles(),
                           family_text(spec, found));
}

std::string json_row(const KernelSpec& spec, const Report& r, const Found& found, int threads) {
  const Rates rate = rates(r);
  return fmt::format(
      "    {{\n      \"spec\": {},\n      \"isa\": {},\n      \"threads\": {},\n"
      "      \"seconds_median\": {:.9g},\n      \"seconds_best\": {:.9g},\n"
      "      \"operations_per_second\": {:.6g},\n      \"bytes_per_second\": {:.6g},\n"
      "      \"model_cycles\": {:.0f},\n      \"outputs\": {:.0f},\n      \"checked\": {:.0f},\n"
      "      \"worst_error\": {}\n    }}",
      json_string(spec.str()), json_string(r.at("isa")), threads, number(r, "median"),
      number(r, "best"), rate.ops, rate.bytes, found.best.cost.as_cycles(), number(r, "outputs"),
      number(r, "checked"), r.at("worst"));
}

// The variant that ran.
const Found& variant(const KernelFound& k, const std::string& isa) {
  for (const Found& f : k.variants)
    if (f.best.problem.family.isa->name == isa) return f;
  MORELLO_CHECK(false, "the bench program ran {}", isa);
  return k.variants.front();
}

void run_bench(const BenchArgs& a) {
  const std::vector<const Isa*> given = a.search.isas();
  const std::vector<KernelSpec> specs = a.spec.load();
  const Machine machine = a.search.load_machine();
  const std::vector<const Isa*> isas = given.empty() ? isas_of(machine) : given;
  OpenMemo memo(a.search.memo);
  std::vector<std::string> rows;
  for (const KernelSpec& spec : specs) {
    KernelSpec subject = spec;
    subject.name = "kernel";
    KernelFound found{&subject, {}};
    const std::vector<const Isa*> variants = worth_a_variant(isas, spec);
    for (const Isa* isa : variants)
      found.variants.push_back(search(spec, machine, *isa, variants, a.search, memo));
    EmitOptions options;
    options.space = "bench";
    options.header_name = "kernel.h";
    const Emitted code = emit({found}, machine, a.search.threads, options);
    const Report report = compile_and_run(code.header, subject, a);
    const Found& ran = variant(found, report.at("isa"));
    if (number(report, "wrong") > 0)
      fail(kInternal,
           fmt::format("wrong results: {} of {} outputs checked, {}: {}", report.at("wrong"),
                       report.at("checked"), report.at("isa"), spec.str()));
    print_out(text_for_people(spec, report, ran, a.search.threads));
    rows.push_back(json_row(spec, report, ran, a.search.threads));
  }
  if (!a.json) return;
  OutputFiles files;
  files.add(
      "--json", *a.json,
      fmt::format("{{\n  \"machine\": {},\n  \"rounds\": {},\n  \"kernels\": [\n{}\n  ]\n}}\n",
                  json_string(machine.name), a.rounds, fmt::join(rows, ",\n")));
  files.write();
}

}  // namespace

Run add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Generate, compile with $CXX (c++ if unset), verify and time");
  auto a = std::make_shared<BenchArgs>();
  a->spec.declare(*command, false);
  a->search.declare(*command);
  command->add_option("--json", a->json, "Write the results there")->option_text("FILE");
  command->add_option("--rounds", a->rounds, "Timed rounds of at least 5 ms; the median counts")
      ->check(CLI::Range(1, 100000))
      ->option_text("N [11]");
  return [a] { run_bench(*a); };
}

}  // namespace morello
