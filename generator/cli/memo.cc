// morello memo: what is kept between runs.
#include "cli/memo.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <memory>

#include "cli/commands.h"
#include "cli/exit.h"
#include "cli/files.h"
#include "cli/output.h"

namespace morello {
namespace {

constexpr const char* kDirectoryVariable = "MORELLO_CACHE_DIR";
constexpr const char* kBudgetVariable = "MORELLO_CACHE_BUDGET";
constexpr i64 kMostBudget = i64{1} << 30;  // MiB

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

i64 budget_of_variable(i64 otherwise) {
  const std::string text = variable(kBudgetVariable);
  if (text.empty()) return otherwise;
  i64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMostBudget)
    usage_error(fmt::format("{}: `{}` is not a number of MiB", kBudgetVariable, text));
  return value;
}

}  // namespace

void MemoArgs::declare(CLI::App& app, bool may_do_without) {
  app.add_option("--memo", given, "Directory of solved sub-problems; never changes the result")
      ->option_text(fmt::format("DIR [${}]", kDirectoryVariable));
  if (!may_do_without) return;
  app.add_flag("--no-memo", none, "Solve everything anew, and keep nothing");
  app.add_option("--memo-budget", budget_given, "How large that directory may become, in MiB")
      ->check(CLI::Range(i64{1}, kMostBudget))
      ->option_text("MIB [1024]");
}

std::string MemoArgs::directory() const {
  if (none && given) usage_error("--memo and --no-memo exclude each other");
  if (none) return "";
  return given ? *given : variable(kDirectoryVariable);
}

StoreOptions MemoArgs::options() const {
  StoreOptions options;
  const i64 standard = options.budget >> 20;
  options.budget = (budget_given ? *budget_given : budget_of_variable(standard)) << 20;
  return options;
}

OpenMemo::OpenMemo(const MemoArgs& args) {
  const std::string directory = args.directory();
  if (directory.empty()) return;
  store_.emplace(directory, args.options());
  tables_.emplace(*store_, [this](const std::string& note) { notes_.say(note); });
}

void MemoNotes::say(const std::string& note) {
  const size_t end_of_path = note.find(": ");
  const std::string reason = end_of_path == std::string::npos ? note : note.substr(end_of_path);
  const std::lock_guard lock(mutex_);
  if (reasons_.insert(reason).second) fmt::print(stderr, "morello: note: {}\n", note);
}

namespace {

struct StatsArgs {
  MemoArgs memo;
  bool json = false;
};

MemoStore required_store(const MemoArgs& a) {
  if (a.directory().empty())
    usage_error(fmt::format("which directory? Give --memo DIR or set {}", kDirectoryVariable));
  return MemoStore(a.directory());
}

double per_box(const StoredTable& t) {
  return t.boxes > 0 ? static_cast<double>(t.bytes) / static_cast<double>(t.boxes) : 0;
}

std::string json_row(const StoredTable& t) {
  return fmt::format(
      "    {{\n      \"file\": {},\n      \"machine\": {},\n      \"family\": {},\n"
      "      \"usable\": {},\n      \"problem\": {},\n      \"specs\": {},\n"
      "      \"boxes\": {},\n      \"bytes\": {},\n      \"bytes_per_box\": {:.2f}\n    }}",
      json_string(t.path), json_string(t.machine), json_string(t.family), t.usable,
      json_string(t.problem), t.specs, t.boxes, t.bytes, per_box(t));
}

std::string text_row(const StoredTable& t) {
  const std::string tail = !t.problem.empty() ? t.path + ": " + t.problem
                           : t.usable         ? t.machine + " " + t.family
                                              : t.machine + " " + t.family + " (another version's)";
  return fmt::format("{:>12} {:>10} {:>10} {:>9.2f}  {}\n", t.bytes, t.specs, t.boxes, per_box(t),
                     tail);
}

void stats(const StatsArgs& a) {
  MemoStore store = required_store(a.memo);
  const std::vector<StoredTable> tables = stored_tables(store);
  StoredTable total;
  for (const StoredTable& t : tables) {
    total.bytes += t.bytes;
    total.specs += t.specs;
    total.boxes += t.boxes;
  }
  std::string out;
  if (a.json) {
    std::vector<std::string> rows;
    for (const StoredTable& t : tables) rows.push_back(json_row(t));
    out = fmt::format("{{\n  \"directory\": {},\n  \"tables\": [{}{}{}]\n}}\n",
                      json_string(store.directory()), rows.empty() ? "" : "\n",
                      fmt::join(rows, ",\n"), rows.empty() ? "" : "\n  ");
  } else {
    out =
        fmt::format("{:>12} {:>10} {:>10} {:>9}  table\n", "bytes", "specs", "boxes", "bytes/box");
    for (const StoredTable& t : tables) out += text_row(t);
    out += fmt::format("{:>12} {:>10} {:>10} {:>9.2f}  {} tables\n", total.bytes, total.specs,
                       total.boxes, per_box(total), tables.size());
  }
  print_out(out);
}

void clear(const MemoArgs& a) {
  const MemoStore::Cleared cleared = required_store(a).clear();
  if (!cleared.problem.empty()) fail(kInternal, "cannot remove " + cleared.problem);
  print_out(fmt::format("{} tables removed, {} bytes\n", cleared.tables, cleared.bytes));
}

}  // namespace

Run add_memo_stats(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("stats", "The tables that are kept, and how large they are");
  auto a = std::make_shared<StatsArgs>();
  a->memo.declare(*command, false);
  command->add_flag("--json", a->json, "For programs");
  return [a] { stats(*a); };
}

Run add_memo_clear(CLI::App& app) {
  CLI::App* command = app.add_subcommand("clear", "Remove the tables");
  auto a = std::make_shared<MemoArgs>();
  a->declare(*command, false);
  return [a] { clear(*a); };
}

}  // namespace morello
