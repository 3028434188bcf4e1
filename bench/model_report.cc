#include "bench/model_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bench/svg.h"

namespace morello::bench {
namespace {

const Point& cheapest(const Ranking& r) {
  return *std::min_element(r.points.begin(), r.points.end(),
                           [](const Point& a, const Point& b) { return a.cycles < b.cycles; });
}
const Point& fastest(const Ranking& r) {
  return *std::min_element(r.points.begin(), r.points.end(),
                           [](const Point& a, const Point& b) { return a.seconds < b.seconds; });
}
int sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

double median_of(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

}  // namespace

double Ranking::tau(double clear) const {
  double score = 0, cost_pairs = 0, time_pairs = 0;
  for (size_t i = 0; i < points.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const double ratio = points[i].seconds / points[j].seconds;
      if (std::max(ratio, 1 / ratio) <= 1 + clear) continue;
      const int cost = sign(points[i].cycles - points[j].cycles);
      const int time = sign(points[i].seconds - points[j].seconds);
      score += cost * time;
      cost_pairs += cost * cost;
      time_pairs += time * time;
    }
  return cost_pairs * time_pairs > 0 ? score / std::sqrt(cost_pairs * time_pairs) : 1;
}
double Ranking::tau() const { return tau(-1); }

double Ranking::regret() const { return cheapest(*this).seconds / fastest(*this).seconds; }

double Ranking::clock() const {
  std::vector<double> rates;
  for (const Point& p : points) rates.push_back(p.cycles / p.seconds * 1e-9);
  return median_of(rates);
}

std::string table(const std::vector<Ranking>& rankings) {
  std::string out =
      fmt::format("{:<22}{:>9}{:>8}{:>12}{:>8}{:>8}{:>12}{:>12}\n", "kernel", "programs", "tau",
                  "tau > 5 %", "regret", "GHz", "chosen us", "fastest us");
  std::vector<double> taus, regrets;
  for (const Ranking& r : rankings) {
    taus.push_back(r.tau());
    regrets.push_back(r.regret());
    out += fmt::format("{:<22}{:>9}{:>8.3f}{:>12.3f}{:>8.3f}{:>8.2f}{:>12.2f}{:>12.2f}\n", r.name,
                       r.points.size(), r.tau(), r.tau(0.05), r.regret(), r.clock(),
                       cheapest(r).seconds * 1e6, fastest(r).seconds * 1e6);
  }
  if (rankings.empty()) return out;
  return out + fmt::format("tau: median {:.3f}, least {:.3f}; regret: median {:.3f}, most {:.3f}\n",
                           median_of(taus), *std::min_element(taus.begin(), taus.end()),
                           median_of(regrets), *std::max_element(regrets.begin(), regrets.end()));
}

std::string json(const std::vector<Ranking>& rankings, const std::string& machine) {
  std::vector<std::string> rows;
  for (const Ranking& r : rankings) {
    std::vector<std::string> points;
    for (const Point& p : r.points)
      points.push_back(
          fmt::format("        {{\"cycles\": {:.0f}, \"seconds\": {:.6g}, \"program\": \"{}\"}}",
                      p.cycles, p.seconds, escaped(p.program)));
    rows.push_back(fmt::format(
        "    {{\"name\": \"{}\", \"tau\": {:.4f}, \"regret\": {:.4f},\n      \"programs\": "
        "[\n{}\n      ]}}",
        r.name, r.tau(), r.regret(), fmt::join(points, ",\n")));
  }
  return fmt::format("{{\n  \"machine\": \"{}\",\n  \"kernels\": [\n{}\n  ]\n}}\n", machine,
                     fmt::join(rows, ",\n"));
}

namespace {

constexpr int kSide = 220, kPad = 26, kHead = 40;

void draw(const Ranking& r, int left, int top, Svg& page) {
  const Point &best = cheapest(r), &fast = fastest(r);
  double range = 2;
  for (const Point& p : r.points)
    range = std::max({range, p.cycles / best.cycles, p.seconds / fast.seconds});
  constexpr int kInner = kSide - 2 * kPad;
  const int x0 = left + kPad, y0 = top + kPad, bottom = top + kSide - kPad;
  const double scale = kInner / std::log(range);
  page.text(x0, top - 8, r.name);
  page.text(x0, top + 8, fmt::format("tau {:.2f}, regret {:.3f}", r.tau(), r.regret()), "#666");
  page.square(x0, y0, kInner, "#bbb");
  page.line(x0, bottom, x0 + kInner, y0, "#ddd");
  for (const Point& p : r.points)
    page.circle(x0 + scale * std::log(p.cycles / best.cycles),
                bottom - scale * std::log(p.seconds / fast.seconds), 3,
                &p == &best   ? "#d62728"
                : &p == &fast ? "#2ca02c"
                              : "#1f77b4");
  page.text(x0, top + kSide - 8, fmt::format("cost, to {:.1f} times the least", range), "#666");
}

}  // namespace

std::string svg(const std::vector<Ranking>& rankings) {
  constexpr int kColumns = 4;
  const int rows = (static_cast<int>(rankings.size()) + kColumns - 1) / kColumns;
  Svg page(kColumns * kSide, rows * (kSide + kHead));
  for (size_t i = 0; i < rankings.size(); ++i)
    draw(rankings[i], static_cast<int>(i) % kColumns * kSide,
         static_cast<int>(i) / kColumns * (kSide + kHead) + kHead, page);
  return page.str();
}

}  // namespace morello::bench
