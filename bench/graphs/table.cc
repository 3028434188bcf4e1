#include "bench/graphs/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace morello::bench {
namespace {

std::string number(double value) {
  return fmt::format("{:.{}f}", value, value < 9.95 ? 2 : value < 99.5 ? 1 : 0);
}

std::string microseconds(const Timed* t) {
  return t == nullptr ? "" : !t->right() ? "wrong" : number(t->seconds * 1e6);
}

std::string title(const Compared& w) {
  std::string out = w.name;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// A fact over a power of 1024; empty if it is not known.
std::string scaled(const Compared& w, const char* fact, double unit) {
  const auto at = w.facts.find(fact);
  return at == w.facts.end() ? "" : number(at->second / unit);
}

// How many times as long the steps take, measured and by the model.
std::string gains(const Compared& w) {
  const Timed* steps = w.by(kUnfused);
  if (steps == nullptr || !steps->right()) return " | ";
  return fmt::format("{:.2f} | {:.2f}", steps->seconds / w.times.front().seconds,
                     w.facts.at("unfused_cycles") / w.facts.at("cycles"));
}

std::string row(const Compared& w, const std::vector<std::string>& peers) {
  constexpr double kKiB = 1024, kMiB = 1024 * 1024;
  const Timed& mine = w.times.front();
  const std::optional<double> share = w.of_limit(mine);
  const Timed* best = w.best_peer();
  std::string out = fmt::format(
      "| {} | {} | {} | {} | {} |", title(w), microseconds(&mine),
      share ? fmt::format("{:.0f} %", 100 * *share) : "", best != nullptr ? best->name : "",
      best != nullptr ? fmt::format("{:.2f}", best->seconds / mine.seconds) : "");
  for (const std::string& peer : peers) out += fmt::format(" {} |", microseconds(w.by(peer)));
  return out + fmt::format(" {} | {} | {} | {} | {} |\n", gains(w), scaled(w, "workspace", kKiB),
                           scaled(w, "bytes", kMiB), scaled(w, "unfused_bytes", kMiB),
                           scaled(w, "search_seconds", 1));
}

// What is done with sums beyond summing them.
std::string epilogues(const Column& column) {
  std::string out;
  for (const Compared& w : column.works)
    if (const Timed* bare = w.by(kFirstStep))
      out += fmt::format("{}{} {:+.1f} %", out.empty() ? "" : ", ", title(w),
                         100 * (w.times.front().seconds / bare->seconds - 1));
  return out.empty() ? "" : fmt::format("\nOver the bare product: {}.\n", out);
}

std::string table(const Column& column) {
  const std::vector<std::string> peers = others_of(column);
  std::string out =
      fmt::format("### {}\n\n| kernel, microseconds | Morello | of the limit | best peer | ratio |",
                  column.isa);
  std::string line = "\n|---|---:|---:|---|---:|";
  for (const std::string& peer : peers) {
    out += fmt::format(" {} |", peer);
    line += "---:|";
  }
  out += " gain | by the model | workspace, KiB | moved, MiB | unfused | search, s |";
  line += "---:|---:|---:|---:|---:|---:|\n";
  out += line;
  for (const Compared& w : column.works) out += row(w, peers);
  return out + epilogues(column) + means(column) + "\n" + what_ran(column) + "\n";
}

}  // namespace

std::string graphs_markdown(const std::vector<Column>& columns) {
  std::string out;
  for (const Column& c : columns) out += table(c);
  return out;
}

}  // namespace morello::bench
