#include "bench/peers/compare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>

#include "morello/cpu.h"

namespace morello::bench {
namespace {

// What the program prints; nothing when it fails.
std::optional<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string out;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  if (pclose(pipe) != 0) return std::nullopt;
  return out;
}

}  // namespace

bool runs_avx2() { return has_avx2() && has_fma(); }
bool runs_avx2_vnni() { return runs_avx2() && has_avx_vnni(); }
bool runs_avx512() { return has_avx512f() && has_avx512bw() && has_avx512dq() && has_avx512vl(); }

int compare(CLI::App& app, int argc, char** argv, const std::vector<Program>& programs,
            const ComparisonKind& kind) {
  int rounds = 7;
  std::string only, json_file, svg_file, markdown_file;
  app.add_option("--rounds", rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", only, "Rows whose name contains this");
  app.add_option("--markdown", markdown_file, "Write the table there, too");
  app.add_option("--json", json_file, "Write the results there");
  app.add_option("--svg", svg_file, "Draw the speeds there");
  CLI11_PARSE(app, argc, argv);

  std::vector<Column> columns;
  bool all_right = true;
  for (const Program& p : programs) {
    if (!p.can_run) {
      fmt::print(stderr, "skipped: this processor has no {}\n", p.isa);
      continue;
    }
    const std::string command =
        fmt::format("'{}' --rounds {} --only '{}'{}", p.path, rounds, only, kind.arguments());
    const std::optional<std::string> lines = output_of(command);
    if (!lines) {
      fmt::print(stderr, "failed: {}\n", command);
      return 1;
    }
    Column column{p.isa, parse(*lines)};
    if (column.works.empty()) continue;
    kind.complete(column);
    for (const Compared& w : column.works) all_right = all_right && w.ours_right();
    columns.push_back(std::move(column));
  }
  const std::string table = kind.markdown(columns);
  fmt::print("{}", table);
  if (!markdown_file.empty()) std::ofstream(markdown_file) << table;
  if (!json_file.empty()) std::ofstream(json_file) << json(columns, rounds);
  if (!svg_file.empty()) std::ofstream(svg_file) << svg(columns);
  return all_right ? 0 : 1;
}

}  // namespace morello::bench
