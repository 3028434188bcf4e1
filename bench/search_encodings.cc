// How the memo is best stored: tables that real searches make, in several structures. Prints bytes
// per box, as allocated, and nanoseconds per insert and find, in the order in which the search
// asks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "bench/encodings.h"
#include "bench/layers.h"
#include "bench/memo_pictures.h"
#include "bench/rounds.h"
#include "search/freeze.h"
#include "search/optimize.h"
#include "spec/kernel_spec.h"

namespace {

using namespace morello;
using namespace morello::bench;
using Saved = SavedMap<kCoordinates, Limits::kCount>;

// A memo that remembers what it was asked.
class Recorder final : public Memo {
 public:
  struct Insert {
    Key key;
    Content content;
  };
  struct Find {
    Key key;
    Map::Vector limits;
  };
  static constexpr std::size_t kMostFinds = 1'000'000;

  bool find(const Key& key, const Limits& limits, Entry& found) const override {
    if (finds.size() < kMostFinds) finds.push_back({key, limits.bytes});
    Content c;
    if (!map.find(key.page, key.point, limits.bytes, c)) return false;
    found.cost =
        c.cost == Map::kInfeasible ? Cost::infinite() : Cost::milli(static_cast<i64>(c.cost));
    found.peak.bytes = c.peak;
    found.limit.bytes = c.limit;
    found.decision = decision(c.decision);
    return true;
  }
  void insert(const Key& key, const Limits&, const Entry& e) override {
    inserts.push_back({key,
                       {e.cost.finite() ? e.cost.value() : Map::kInfeasible, e.peak.bytes,
                        e.limit.bytes, number(e.decision)}});
    map.insert(key.page, key.point, inserts.back().content);
  }
  MemoSize size() const override { return {}; }

  Map map;
  std::vector<Insert> inserts;
  mutable std::vector<Find> finds;
};

using Tables = std::map<std::string, Recorder>;  // by signature

// Solves the families that a search of one kernel would; only the one with the least bound if
// asked.
double solve(const KernelSpec& kernel, const Machine& machine, const Isa& isa, bool first_only,
             Tables& tables) {
  Cost best = Cost::infinite();
  double spent = 0;
  for (const auto& [problem, bound] : by_bound(kernel.computation(), machine, isa, 1)) {
    if (bound > best || (first_only && best.finite())) continue;
    const Space space(problem);
    Solver solver(space, tables[space.signature()]);
    spent += seconds([&] {
      best = std::min(best, solver.solve(space.problem().root(), space.capacity()).cost);
    });
  }
  return spent;
}

struct Totals {
  double bytes = 0, inserts = 0, finds = 0;  // seconds
};

// The least of three rounds: what disturbs only adds.
template <typename F>
double best_of(F&& f) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) best = std::min(best, seconds(f));
  return best;
}

void check_same(bool same, const char* what) {
  if (same) return;
  fmt::print(stderr, "{} answers otherwise\n", what);
  std::exit(1);
}

// The map itself takes a page key and a point.
struct Pages {
  Map map;
  bool find(const Key& k, const Map::Vector& q, Content& c) const {
    return map.find(k.page, k.point, q, c);
  }
  void insert(const Key& k, const Content& c) { map.insert(k.page, k.point, c); }
  std::size_t bytes() const { return map.bytes(); }
};
struct Frozen {
  Saved map;
  bool find(const Key& k, const Map::Vector& q, Content& c) const {
    return map.find(k.page, k.point, q, c);
  }
};

// Seconds for all finds; every answer has the cost that the recorder's own map gives.
template <typename Structure>
double time_finds(const Structure& s, const Recorder& r, const char* name) {
  for (std::size_t i = 0; i < r.finds.size(); i += 17) {
    Content a, b;
    const Recorder::Find& f = r.finds[i];
    const bool found = r.map.find(f.key.page, f.key.point, f.limits, a);
    check_same(s.find(f.key, f.limits, b) == found && (!found || a.cost == b.cost), name);
  }
  std::size_t found = 0;
  const double seconds = best_of([&] {
    Content c;
    for (const Recorder::Find& f : r.finds) found += s.find(f.key, f.limits, c);
  });
  check_same(found > 0, name);
  return seconds;
}

template <typename Structure>
Totals time_online(const Recorder& r, const char* name) {
  Totals t;
  t.inserts = best_of([&] {
    Structure s;
    for (const Recorder::Insert& i : r.inserts) s.insert(i.key, i.content);
    t.bytes = static_cast<double>(s.bytes());
  });
  Structure s;
  for (const Recorder::Insert& i : r.inserts) s.insert(i.key, i.content);
  t.finds = time_finds(s, r, name);
  return t;
}

Totals time_saved(const Recorder& r) {
  Totals t;
  std::string bytes;
  t.inserts = seconds([&] { bytes = freeze(r.map); });
  Frozen s;
  check_same(Saved::open(std::as_bytes(std::span(bytes)), s.map), "the saved form");
  std::vector<std::tuple<Map::PageKey, Map::Point, Content>> live;
  r.map.for_each([&](const auto& k, const auto& p, const auto& c) { live.emplace_back(k, p, c); });
  std::size_t i = 0;
  s.map.for_each([&](const auto& k, const auto& p, const auto& c) {
    check_same(i < live.size() && live[i] == std::tuple(k, p, c), "the saved form");
    ++i;
  });
  check_same(i == live.size(), "the saved form");
  t.bytes = static_cast<double>(bytes.size());
  t.finds = time_finds(s, r, "the saved form");
  return t;
}

void report(const std::string& name, const Tables& tables, double seconds) {
  using Columns = Saved::Columns;
  double boxes = 0, specs = 0, pages = 0, finds = 0, costs = 0, runs = 0;
  MergedCounts merged;
  std::map<std::string, Totals> totals;
  const auto add = [&](const char* structure, const Totals& t) {
    Totals& sum = totals[structure];
    sum.bytes += t.bytes;
    sum.inserts += t.inserts;
    sum.finds += t.finds;
  };
  for (const auto& [signature, r] : tables) {
    boxes += static_cast<double>(r.map.boxes());
    specs += static_cast<double>(r.map.specs());
    pages += static_cast<double>(r.map.pages());
    finds += static_cast<double>(r.finds.size());
    add("1 flat table, 56-byte slots", time_online<FlatTable>(r, "the flat table"));
    add("2 tree of boxes", time_online<BoxTree>(r, "the tree"));
    add("3 SpatialMap", time_online<Pages>(r, "the map"));
    add("4 SavedMap", time_saved(r));
    const std::string bytes = freeze(r.map);
    Saved saved;
    Saved::open(std::as_bytes(std::span(bytes)), saved);
    costs += static_cast<double>(saved.cost_bits()) / 8;
    for (int c = Columns::kDecisions; c <= Columns::kLists; ++c)
      runs += static_cast<double>(saved.bits_of(c)) / 8;
    runs += static_cast<double>(nested_runs(r.map).bytes);
    const MergedCounts m = merge_neighbours(r.map);
    merged.with_cost += m.with_cost;
    merged.without_cost += m.without_cost;
    merged.decisions += m.decisions;
  }
  fmt::print(
      "\n{}: searched in {:.2f} s; {} tables, {:.0f} boxes of {:.0f} specs in {:.0f} pages\n", name,
      seconds, tables.size(), boxes, specs, pages);
  fmt::print("  {:<34}{:>10}{:>12}{:>10}\n", "", "bytes/box", "insert ns", "find ns");
  for (const auto& [structure, t] : totals)
    fmt::print("  {:<34}{:>10.1f}{:>12.0f}{:>10.0f}\n", structure.substr(2), t.bytes / boxes,
               t.inserts / boxes * 1e9, t.finds / finds * 1e9);
  fmt::print("  {:<34}{:>10.1f}\n", "nested runs, saved, with costs", (runs + costs) / boxes);
  fmt::print("  of a SavedMap's bytes, costs are    {:>8.1f}\n", costs / boxes);
  fmt::print(
      "  specs per rectangle of equal neighbours: {:.2f} with cost, {:.2f} without, {:.2f} for "
      "the decisions alone\n",
      specs / static_cast<double>(merged.with_cost),
      specs / static_cast<double>(merged.without_cost),
      specs / static_cast<double>(merged.decisions));
  std::fflush(stdout);
}

struct Single {
  const char* name;
  const char* spec;
};
constexpr Single kSingles[] = {
    {"gemma", "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)"},
    {"f32_256", "(a: f32[256,256], b: f32[256,256]): f32 = matmul(a, b)"},
    {"f32_512x2048x2048", "(a: f32[512,2048], b: f32[2048,2048]): f32 = matmul(a, b)"},
    {"f32_100x300x77", "(a: f32[100,300], b: f32[300,77]): f32 = matmul(a, b)"},
};

int run(const std::string& machine_name, const std::string& only, const std::string& svg) {
  const Result<Machine> machine = load_machine(machine_name);
  if (!machine) {
    fmt::print(stderr, "{}\n", machine.error().str());
    return 2;
  }
  const Isa& isa = *find_isa("avx2");
  for (const Single& single : kSingles) {
    if (!only.empty() && only != single.name) continue;
    const Result<KernelSpec> kernel = parse_spec(single.spec);
    Tables tables;
    const double seconds = solve(*kernel, *machine, isa, !svg.empty(), tables);
    if (svg.empty())
      report(single.name, tables, seconds);
    else
      draw_memo(tables.begin()->second.map, kernel->computation(), svg);
  }
  if (!only.empty() && only != "llm") return 0;
  Tables tables;
  double seconds = 0;
  for (const auto& [k, n] : kWeights)
    for (int m : kRows) {
      const Result<KernelSpec> kernel = parse_spec(
          fmt::format("(a: f32[{},{}], b: f32[{},{}] packed): f32 = matmul(a, b)", m, k, k, n));
      seconds += solve(*kernel, *machine, isa, true, tables);
    }
  report("llm: 56 kernels, of each the family with the least bound", tables, seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string machine = "zen5", only, svg;
  CLI::App app("How the memo is best stored");
  app.add_option("--machine", machine, "A shipped name, a file, or native");
  app.add_option("--only", only, "gemma, f32_256, f32_512x2048x2048, f32_100x300x77 or llm");
  app.add_option("--svg", svg, "Draw the table of --only into this folder instead");
  CLI11_PARSE(app, argc, argv);
  return run(machine, only, svg);
}
