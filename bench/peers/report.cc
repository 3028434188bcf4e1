#include "bench/peers/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "bench/svg.h"

namespace morello::bench {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

const Timed* find(const std::vector<Timed>& times, const std::string& name) {
  for (const Timed& t : times)
    if (t.name == name) return &t;
  return nullptr;
}

std::string title(const Compared& w) {
  std::string out = w.name;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string rate_of(const Compared& w, const Timed* t) {
  if (t == nullptr) return "";
  if (!t->right()) return "wrong";
  const double rate = w.rate(*t) * 1e-9;
  return fmt::format("{:.{}f}", rate, rate < 9.95 ? 2 : rate < 99.5 ? 1 : 0);
}

std::string row(const Compared& w, const std::vector<std::string>& peers) {
  const Timed& mine = w.times.front();
  const std::optional<double> share = w.of_limit(mine);
  const Timed* best = w.best_peer();
  std::string out = fmt::format(
      "| {} | {} | {} | {} | {} |", title(w), rate_of(w, &mine),
      share ? fmt::format("{:.1f} %", 100 * *share) : "", best != nullptr ? best->name : "",
      best != nullptr ? fmt::format("{:.2f}", best->seconds / mine.seconds) : "");
  for (const std::string& peer : peers)
    out += fmt::format(" {} |", rate_of(w, find(w.times, peer)));
  return out + "\n";
}

std::string runs_of(const Column& column, const std::string& name) {
  std::vector<std::string> runs;
  for (const Compared& w : column.works)
    if (const Timed* t = find(w.times, name))
      if (std::find(runs.begin(), runs.end(), t->runs) == runs.end()) runs.push_back(t->runs);
  return fmt::format("{} ({})", name, fmt::join(runs, "; "));
}

std::string number(const std::optional<double>& v) {
  return v ? fmt::format("{:.6g}", *v) : "null";
}

// What several threads gain, ours and everybody's who can, beside what the machine has for them.
std::string threads_table(const Column& column) {
  std::string out;
  for (const Compared& w : column.works) {
    if (w.threads == 1) continue;
    out += fmt::format("| {} |", title(w));
    const auto gain = [&](const Timed* t) {
      const Timed* one = t != nullptr ? find(w.alone, t->name) : nullptr;
      return one != nullptr ? fmt::format("{:.2f}", one->seconds / t->seconds) : "";
    };
    out += fmt::format(" {} | {} |", gain(&w.times.front()),
                       w.fma && w.fma_alone ? fmt::format("{:.2f}", *w.fma / *w.fma_alone) : "");
    for (const std::string& peer : peers_of(column, true))
      out += fmt::format(" {} |", gain(find(w.times, peer)));
    out += "\n";
  }
  if (out.empty()) return "";
  std::string head = "\n| all threads over one | Morello | the limit |", line = "|---|---:|---:|";
  for (const std::string& peer : peers_of(column, true)) {
    head += fmt::format(" {} |", peer);
    line += "---:|";
  }
  return head + "\n" + line + "\n" + out;
}

std::string json_of(const Compared& w) {
  std::vector<std::string> times;
  for (const std::vector<Timed>* list : {&w.times, &w.alone})
    for (const Timed& t : *list)
      times.push_back(
          fmt::format("          {{\"name\": \"{}\", \"runs\": \"{}\", \"threads\": {}, "
                      "\"seconds\": {:.6g}, \"spread\": {:.4f}, \"share_of_allowed_error\": {}}}",
                      t.name, t.runs, t.threads, t.seconds, t.spread,
                      std::isfinite(t.error) ? fmt::format("{:.3g}", t.error) : "null"));
  std::vector<std::string> facts;
  for (const auto& [name, value] : w.facts)
    facts.push_back(fmt::format("\"{}\": {:.6g}", name, value));
  return fmt::format(
      "      {{\"name\": \"{}\", \"spec\": \"{}\", \"threads\": {}, \"operations\": {:.0f}, "
      "\"bytes\": {:.0f},\n"
      "        \"fma_operations_per_second\": {}, \"by_one_thread\": {}, "
      "\"read_bytes_per_second\": {},\n"
      "        \"facts\": {{{}}},\n"
      "        \"times\": [\n{}\n        ]}}",
      w.name, w.spec, w.threads, w.operations, w.bytes, number(w.fma), number(w.fma_alone),
      number(w.read), fmt::join(facts, ", "), fmt::join(times, ",\n"));
}

// Of the ratios to the best peer, and to each, of all rows of a kind by so many threads.
std::string mean(const Column& column, const std::string& kind, int threads) {
  std::string out;
  std::vector<std::string> names = others_of(column);
  names.insert(names.begin(), "the best");
  for (const std::string& name : names) {
    double logs = 0, least = INFINITY;
    int count = 0;
    for (const Compared& w : column.works) {
      const Timed* peer = name == names.front() ? w.best_peer() : w.by(name);
      if (!w.name.starts_with(kind + "_") || w.threads != threads || peer == nullptr ||
          !peer->right())
        continue;
      const double ratio = peer->seconds / w.times.front().seconds;
      logs += std::log(ratio);
      least = std::min(least, ratio);
      ++count;
    }
    if (count > 1)
      out += fmt::format("{}{} {:.2f} (at least {:.2f})", out.empty() ? "" : ", ", name,
                         std::exp(logs / count), least);
  }
  return out.empty()
             ? ""
             : fmt::format("\nGeometric mean of {}, threads: {}, to {}.\n", kind, threads, out);
}

constexpr const char* kColours[] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b",
                                    "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"};
constexpr int kRow = 18, kLeft = 190, kWide = 520, kRight = 150, kTop = 40;

// Speeds from 1/16 to 4 of ours.
double at_speed(double speed) {
  constexpr double kLow = -4, kHigh = 2;
  return kLeft + kWide * (std::clamp(std::log2(speed), kLow, kHigh) - kLow) / (kHigh - kLow);
}

void draw(const Column& column, double top, Svg& page) {
  const std::vector<std::string> peers = peers_of(column);
  const double bottom = top + kTop + kRow * static_cast<double>(column.works.size());
  page.text(8, top + 14, column.isa + ": speed over ours");
  for (const double speed : {1.0 / 16, 1.0 / 8, 0.25, 0.5, 1.0, 2.0, 4.0}) {
    page.line(at_speed(speed), top + kTop - 6, at_speed(speed), bottom,
              speed == 1 ? "#d62728" : "#ddd");
    page.text(at_speed(speed) - 8, top + kTop - 10, fmt::format("{:.2g}", speed), "#666");
  }
  for (std::size_t p = 0; p < peers.size(); ++p) {
    const double y = top + kTop + kRow * static_cast<double>(p) + 8;
    page.circle(kLeft + kWide + 30, y - 4, 4, kColours[p % std::size(kColours)]);
    page.text(kLeft + kWide + 40, y, peers[p]);
  }
  for (std::size_t i = 0; i < column.works.size(); ++i) {
    const Compared& w = column.works[i];
    const double y = top + kTop + kRow * static_cast<double>(i) + 8;
    page.text(8, y + 4, title(w));
    for (std::size_t p = 0; p < peers.size(); ++p)
      if (const Timed* t = find(w.times, peers[p]); t != nullptr && t->right())
        page.circle(at_speed(w.times[0].seconds / t->seconds), y, 4,
                    kColours[p % std::size(kColours)]);
  }
}

}  // namespace

// Of all products, or of those by several threads.
std::vector<std::string> peers_of(const Column& column, bool threads) {
  std::vector<std::string> names;
  for (const Compared& w : column.works)
    for (std::size_t i = 1; i < w.times.size() && (!threads || w.threads > 1); ++i)
      if (std::find(names.begin(), names.end(), w.times[i].name) == names.end())
        names.push_back(w.times[i].name);
  return names;
}

std::vector<std::string> others_of(const Column& column) {
  std::vector<std::string> names = peers_of(column);
  std::erase_if(names, is_ours);
  return names;
}

std::string means(const Column& column) {
  std::vector<std::pair<std::string, int>> groups;
  for (const Compared& w : column.works) {
    const std::pair group(w.name.substr(0, w.name.find('_')), w.threads);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  std::string out;
  for (const auto& [kind, threads] : groups) out += mean(column, kind, threads);
  return out;
}

std::string what_ran(const Column& column) {
  std::vector<std::string> runs = {runs_of(column, kOurs)};
  for (const std::string& peer : peers_of(column)) runs.push_back(runs_of(column, peer));
  return fmt::format("What ran: {}.\n", fmt::join(runs, ", "));
}

std::optional<double> Compared::of_limit(const Timed& t) const {
  if (read) return bytes / t.seconds / *read;
  if (fma) return rate(t) / *fma;
  return std::nullopt;
}

bool Compared::ours_right() const {
  return std::all_of(times.begin(), times.end(),
                     [](const Timed& t) { return !is_ours(t.name) || t.right(); }) &&
         (alone.empty() || alone.front().right());
}

const Timed* Compared::by(const std::string& who) const { return find(times, who); }

bool is_ours(const std::string& name) {
  return name == kOurs || name == kKnownSizes || name == kUnfused || name == kFirstStep;
}

const Timed* Compared::best_peer() const {
  const Timed* best = nullptr;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i].right() && !is_ours(times[i].name) &&
        (best == nullptr || times[i].seconds < best->seconds))
      best = &times[i];
  return best;
}

std::vector<Compared> parse(const std::string& lines) {
  std::vector<Compared> works;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> f = fields_of(line);
    if (f.size() == 6 && f[0] == "work") {
      Compared& w = works.emplace_back();
      w.name = f[1];
      w.spec = f[2];
      w.operations = std::stod(f[3]);
      w.bytes = std::stod(f[4]);
      w.threads = std::stoi(f[5]);
    } else if (f.size() == 7 && f[0] == "time" && !works.empty()) {
      Compared& w = works.back();
      const int threads = std::stoi(f[6]);
      (threads == w.threads ? w.times : w.alone)
          .push_back({f[1], f[2], std::stod(f[3]), std::stod(f[4]), std::stod(f[5]), threads});
    } else if (f.size() == 4 && f[0] == "limit" && !works.empty()) {
      Compared& w = works.back();
      (f[1] == "read"                 ? w.read
       : std::stoi(f[3]) == w.threads ? w.fma
                                      : w.fma_alone) = std::stod(f[2]);
    } else if (f.size() == 3 && f[0] == "fact" && !works.empty()) {
      works.back().facts[f[1]] = std::stod(f[2]);
    } else {
      throw std::runtime_error("not a line of a measurement: " + line);
    }
  }
  return works;
}

std::string markdown(const std::vector<Column>& columns) {
  std::string out;
  for (const Column& c : columns) {
    const std::vector<std::string> peers = peers_of(c);
    out += fmt::format("### {}\n\n| product, Gop/s | Morello | of the limit | best peer | ratio |",
                       c.isa);
    for (const std::string& peer : peers) out += fmt::format(" {} |", peer);
    out += "\n|---|---:|---:|---|---:|";
    for (std::size_t i = 0; i < peers.size(); ++i) out += "---:|";
    out += "\n";
    for (const Compared& w : c.works) out += row(w, peers);
    out += threads_table(c);
    out += "\n" + what_ran(c) + "\n";
  }
  return out;
}

std::string json(const std::vector<Column>& columns, int rounds) {
  std::vector<std::string> out;
  for (const Column& c : columns) {
    std::vector<std::string> works;
    for (const Compared& w : c.works) works.push_back(json_of(w));
    out.push_back(fmt::format("    {{\"isa\": \"{}\", \"products\": [\n{}\n    ]}}", c.isa,
                              fmt::join(works, ",\n")));
  }
  return fmt::format("{{\n  \"rounds\": {},\n  \"isas\": [\n{}\n  ]\n}}\n", rounds,
                     fmt::join(out, ",\n"));
}

std::string svg(const std::vector<Column>& columns) {
  std::vector<double> tops;
  double height = 0;
  for (const Column& c : columns) {
    tops.push_back(height);
    height += kTop + kRow * static_cast<double>(std::max(c.works.size(), peers_of(c).size())) + 16;
  }
  Svg page(kLeft + kWide + kRight, static_cast<int>(height));
  for (std::size_t i = 0; i < columns.size(); ++i) draw(columns[i], tops[i], page);
  return page.str();
}

}  // namespace morello::bench
