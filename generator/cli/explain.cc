// morello explain: the winning program with the cost of every level, and what lost.
#include "search/explain.h"

#include <memory>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report.h"
#include "cli/request.h"

namespace morello {

static void run(const SpecArgs& spec, const SearchArgs& args,
                const std::optional<std::string>& html) {
  const std::vector<const Isa*> given = args.isas();
  const std::vector<KernelSpec> kernels = spec.load();
  const Machine machine = args.load_machine();
  OpenMemo memo(args.memo);
  const std::vector<const Isa*> isas = given.empty() ? std::vector{find_isa(machine.isa)} : given;
  std::string out;
  std::vector<Section> sections;
  for (const KernelSpec& k : kernels)
    for (const Isa* isa : isas) {
      const Found found = search(k, machine, *isa, worth_a_variant(isas, k), args, memo);
      if (!out.empty()) out += "\n";
      const std::string text =
          fmt::format("kernel       {}\nmachine      {}, {}\n", k.str(), machine.name, isa->name) +
          explain(found.best);
      out += text;
      sections.push_back(
          {fmt::format("{}, {}", k.name.empty() ? "kernel" : k.name, isa->name), text});
    }
  if (!html) return print_out(out);
  OutputFiles files;
  files.add("--html", *html, report_html(sections));
  files.write();
}

Run add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "Search, and print the program found with the cost of its parts");
  auto spec = std::make_shared<SpecArgs>();
  auto args = std::make_shared<SearchArgs>();
  auto html = std::make_shared<std::optional<std::string>>();
  spec->declare(*command, true);
  args->declare(*command);
  command->add_option("--html", *html, "Write a page for a browser in place of printing")
      ->option_text("FILE");
  return [spec, args, html] { run(*spec, *args, *html); };
}

}  // namespace morello
