// Generated kernels beside what a user would call instead, with each instruction set that this
// processor has: runs a program for each (worker.cc) and prints a table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>

#include "bench/peers/report.h"
#include "morello/cpu.h"

namespace morello::bench {
namespace {

struct Program {
  const char* isa;
  const char* path;
  bool can_run;
};

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
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello;
  using namespace morello::bench;
  int rounds = 7;
  std::string only, json_file, svg_file, markdown_file;
  CLI::App app("Generated kernels beside other libraries");
  app.add_option("--rounds", rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", only, "Products whose name contains this");
  app.add_option("--markdown", markdown_file, "Write the table there, too");
  app.add_option("--json", json_file, "Write the results there");
  app.add_option("--svg", svg_file, "Draw the speeds there");
  CLI11_PARSE(app, argc, argv);

  const Program programs[] = {
      {"AVX2", MORELLO_PEERS_AVX2, has_avx2() && has_fma()},
      {"AVX2 and AVX-VNNI", MORELLO_PEERS_AVX2_VNNI, has_avx2() && has_fma() && has_avx_vnni()},
      {"AVX-512", MORELLO_PEERS_AVX512,
       has_avx512f() && has_avx512bw() && has_avx512dq() && has_avx512vl()}};
  std::vector<Column> columns;
  bool all_right = true;
  for (const Program& p : programs) {
    if (!p.can_run) {
      fmt::print(stderr, "skipped: this processor has no {}\n", p.isa);
      continue;
    }
    const std::string command = fmt::format("'{}' --rounds {} --only '{}'", p.path, rounds, only);
    const std::optional<std::string> lines = output_of(command);
    if (!lines) {
      fmt::print(stderr, "failed: {}\n", command);
      return 1;
    }
    std::vector<Compared> works = parse(*lines);
    if (works.empty()) continue;
    for (const Compared& w : works) all_right = all_right && w.ours_right();
    columns.push_back({p.isa, std::move(works)});
  }
  fmt::print("{}", markdown(columns));
  if (!markdown_file.empty()) std::ofstream(markdown_file) << markdown(columns);
  if (!json_file.empty()) std::ofstream(json_file) << json(columns, rounds);
  if (!svg_file.empty()) std::ofstream(svg_file) << svg(columns);
  return all_right ? 0 : 1;
}
