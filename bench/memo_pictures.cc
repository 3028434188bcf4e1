#include "bench/memo_pictures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "search/rewrite.h"

namespace morello::bench {
namespace {

using Map = SpatialMemo::Map;
using Content = Map::Content;
using Spec = std::pair<Map::PageKey, Map::Point>;

// Dark enough for white letters.
constexpr const char* kColours[] = {"#3f6a98", "#c4620a", "#43833c", "#c23f42", "#33807b",
                                    "#8f7000", "#85547f", "#b3476b", "#745643", "#5f5a55"};
constexpr const char* kHead = R"(
  <style>
    :root { color-scheme: light dark; }
    text { fill: #1f2328; text-anchor: middle; }
    .left { text-anchor: start; }
    .small { font-size: 11px; fill: #59636e; }
    .key { fill: #ffffff; font-weight: bold; }
    .axis { stroke: #59636e; fill: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .small { fill: #9198a1; }
      .axis { stroke: #9198a1; }
    }
  </style>
)";

std::string operand_name(const Computation& c, std::size_t o) {
  return o == static_cast<std::size_t>(c.inputs()) ? "out"
                                                   : std::string(1, static_cast<char>('a' + o));
}

// Colours and letters of decisions, in the order in which they are met.
class Legend {
 public:
  explicit Legend(const Computation& c) : computation_(c) {}

  // The same for the same decision and note.
  std::size_t id(std::uint64_t n, const std::string& note = "") {
    const auto at = std::find(numbers_.begin(), numbers_.end(), std::pair(n, note));
    const auto id = static_cast<std::size_t>(at - numbers_.begin());
    if (at == numbers_.end()) numbers_.emplace_back(n, note);
    return id;
  }
  const char* colour(std::size_t id) const { return kColours[id % std::size(kColours)]; }
  char letter(std::size_t id) const { return static_cast<char>('A' + id % 26); }
  std::string text(std::size_t id) const {
    const Decision d = decision(numbers_[id].first);
    if (d.rewrite < 0) return "no program";
    const std::string_view name = rewrite_table()[static_cast<std::size_t>(d.rewrite)]->name;
    if (name == "tile" || name == "split_reduction")
      return fmt::format("{} {} by {}", name == "tile" ? "loop" : "split",
                         computation_.dims[static_cast<std::size_t>(d.subject)].name, d.value);
    if (name == "view" || name == "pack")
      return fmt::format("{} {} to {}", name == "view" ? "view" : "copy",
                         operand_name(computation_, static_cast<std::size_t>(d.subject)),
                         level_name(static_cast<Level>(d.detail)));
    return name == "select_kernel" ? "call the leaf" : std::string(name);
  }
  std::string svg(int x, int y) const {
    std::string out;
    for (std::size_t i = 0; i < numbers_.size(); ++i, y += 24)
      out += fmt::format(
          "  <rect x=\"{}\" y=\"{}\" width=\"18\" height=\"18\" fill=\"{}\"/>\n"
          "  <text class=\"key\" x=\"{}\" y=\"{}\">{}</text>\n"
          "  <text class=\"left\" x=\"{}\" y=\"{}\">{}</text>\n",
          x, y, colour(i), x + 9, y + 14, letter(i), x + 26, y + 14, numbers_[i].second + text(i));
    return out;
  }

 private:
  const Computation& computation_;
  std::vector<std::pair<std::uint64_t, std::string>> numbers_;
};

std::map<Spec, std::vector<Content>> specs_of(const Map& map) {
  std::map<Spec, std::vector<Content>> specs;
  map.for_each([&](const auto& k, const auto& p, const Content& c) { specs[{k, p}].push_back(c); });
  return specs;
}

// The box that holds the greatest limits: with as much cache as there is.
const Content& widest(const std::vector<Content>& boxes) {
  return *std::max_element(boxes.begin(), boxes.end(),
                           [](const Content& a, const Content& b) { return a.limit < b.limit; });
}

void write(const std::string& path, int width, int height, const std::string& title,
           const std::string& body) {
  std::ofstream(path) << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\"\n     aria-labelledby=\"title\" font-family=\"system-ui, "
      "sans-serif\" font-size=\"13\">\n  <title id=\"title\">{2}</title>{3}{4}</svg>\n",
      width, height, title, kHead, body);
}

std::uint64_t odd(const Map::PageKey& page, std::size_t d) {
  return page[kOddPartsPage + d / 2] >> 32 * (d % 2) & 0xFFFFFFFF;
}

// "n = 192; a in L3, b packed in L2, out in L2": what is fixed, for people.
std::string where(const Spec& spec, const Computation& c, std::set<std::size_t> varied) {
  std::string out;
  for (std::size_t d = 0; d < c.dims.size(); ++d)
    if (!varied.contains(d))
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", c.dims[d].name,
                         odd(spec.first, d) << spec.second[d]);
  const std::string all = describe({spec.first, spec.second}, static_cast<int>(c.dims.size()),
                                   static_cast<int>(c.operands.size()));
  std::istringstream words(all);
  std::string word;
  for (std::size_t d = 0; d < c.dims.size(); ++d) words >> word;
  for (std::size_t o = 0; o < c.operands.size(); ++o) {
    std::string level;
    words >> level;
    const auto here = words.tellg();
    const bool packed = words >> word && word == "packed";
    if (!packed) words.seekg(here);
    out +=
        fmt::format("{}{}{} in {}",
                    out.empty() ? ""
                    : o == 0    ? "; "
                                : ", ",
                    operand_name(c, o), packed ? " packed" : "", level == "mem" ? "memory" : level);
  }
  return out;
}

// A plane through a page: the page and a point on it, whose coordinates x and y are to be varied.
struct Plane {
  Spec at;
  std::size_t x = 0, y = 0;
  std::size_t points = 0, decisions = 0;
};

// The plane that has the most decisions; of those, the most points.
Plane choose_plane(const std::map<Spec, std::vector<Content>>& specs, std::size_t dims) {
  Plane best;
  for (std::size_t x = 0; x < dims; ++x)
    for (std::size_t y = 0; y < dims; ++y) {
      if (x == y) continue;
      std::map<Spec, std::pair<std::size_t, std::set<std::uint64_t>>> planes;
      for (const auto& [spec, boxes] : specs) {
        Spec corner = spec;
        corner.second[x] = corner.second[y] = 0;
        auto& [count, decisions] = planes[corner];
        ++count;
        if (widest(boxes).cost != Map::kInfeasible) decisions.insert(widest(boxes).decision);
      }
      for (const auto& [corner, found] : planes)
        if (found.second.size() > best.decisions ||
            (found.second.size() == best.decisions && found.first > best.points))
          best = {corner, x, y, found.first, found.second.size()};
    }
  return best;
}

void draw_plane(const std::map<Spec, std::vector<Content>>& specs, const Computation& c,
                const std::string& path) {
  constexpr int kCell = 44, kLeft = 86, kTop = 40;
  const Plane plane = choose_plane(specs, c.dims.size());
  std::map<std::pair<int, int>, const std::vector<Content>*> cells;
  int low_x = 99, high_x = 0, low_y = 99, high_y = 0;
  for (const auto& [spec, boxes] : specs) {
    Spec corner = spec;
    corner.second[plane.x] = corner.second[plane.y] = 0;
    if (corner != plane.at) continue;
    const int x = spec.second[plane.x], y = spec.second[plane.y];
    cells[{x, y}] = &boxes;
    low_x = std::min(low_x, x), high_x = std::max(high_x, x);
    low_y = std::min(low_y, y), high_y = std::max(high_y, y);
  }
  Legend legend(c);
  std::string body;
  const auto at_x = [&](int x) { return kLeft + (x - low_x) * kCell; };
  const auto at_y = [&](int y) { return kTop + (high_y - y) * kCell; };
  for (const auto& [at, boxes] : cells) {
    const std::size_t id = legend.id(widest(*boxes).decision);
    const int x = at_x(at.first), y = at_y(at.second);
    body += fmt::format("  <rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x,
                        y, kCell - 2, kCell - 2, legend.colour(id));
    body += fmt::format("  <text class=\"key\" x=\"{}\" y=\"{}\">{}{}</text>\n", x + kCell / 2,
                        y + kCell / 2 + 4, legend.letter(id),
                        boxes->size() > 1 ? fmt::format(" {}", boxes->size()) : "");
  }
  for (int x = low_x; x <= high_x; ++x)
    body +=
        fmt::format("  <text class=\"small\" x=\"{}\" y=\"{}\">{}</text>\n", at_x(x) + kCell / 2,
                    at_y(low_y) + kCell + 14, odd(plane.at.first, plane.x) << x);
  for (int y = low_y; y <= high_y; ++y)
    body += fmt::format("  <text class=\"small\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft - 24,
                        at_y(y) + kCell / 2 + 4, odd(plane.at.first, plane.y) << y);
  const int bottom = at_y(low_y) + kCell + 36;
  body += fmt::format("  <text x=\"{}\" y=\"{}\">extent of {}: {} times a power of 2</text>\n",
                      (at_x(low_x) + at_x(high_x + 1)) / 2, bottom, c.dims[plane.x].name,
                      odd(plane.at.first, plane.x));
  body += fmt::format(
      "  <text x=\"{0}\" y=\"{1}\" transform=\"rotate(-90 {0} {1})\">extent of {2}"
      "</text>\n",
      18, (at_y(high_y) + at_y(low_y) + kCell) / 2, c.dims[plane.y].name);
  body += fmt::format("  <text class=\"left small\" x=\"8\" y=\"20\">{}</text>\n",
                      where(plane.at, c, {plane.x, plane.y}));
  body += legend.svg(at_x(high_x + 1) + 24, kTop);
  write(path, at_x(high_x + 1) + 230, std::max(bottom + 14, kTop + 24 * 12),
        "One plane of a page, coloured by decision", body);
}

constexpr int kSide = 420;

// Limits of two levels as pixels: logarithmic from 64 bytes on.
struct Scale {
  double far[2] = {1024, 1024};
  explicit Scale(const std::vector<Content>& boxes) {
    for (const Content& b : boxes)
      for (std::size_t l = 0; l < 2; ++l)
        for (const std::int64_t v : {b.peak[l], b.limit[l]})
          if (v < Map::kUnlimited) far[l] = std::max(far[l], 2.0 * static_cast<double>(v + 64));
  }
  int at(std::size_t l, std::int64_t v) const {
    const double x = std::min(far[l], static_cast<double>(v) + 64);
    return static_cast<int>(std::lround(kSide * std::log2(x / 64) / std::log2(far[l] / 64)));
  }
};

// How well a picture shows a Spec's boxes: 0 if one is too small or covers another; else the more,
// the more they differ in both levels.
std::size_t telling(const std::vector<Content>& boxes) {
  const Scale scale(boxes);
  std::vector<std::array<int, 4>> seen;
  std::set<std::pair<int, int>> rows, columns;
  for (const Content& c : boxes) {
    const std::array<int, 4> r = {scale.at(0, c.peak[0]), scale.at(0, c.limit[0]),
                                  scale.at(1, c.peak[1]), scale.at(1, c.limit[1])};
    if (r[1] - r[0] < 20 || r[3] - r[2] < 20) return 0;
    for (const auto& o : seen)
      if (o[0] < r[1] && r[0] < o[1] && o[2] < r[3] && r[2] < o[3]) return 0;
    seen.push_back(r);
    columns.insert({r[0], r[1]});
    rows.insert({r[2], r[3]});
  }
  return std::min(rows.size(), columns.size()) * 100 + seen.size();
}

void draw_boxes(const std::map<Spec, std::vector<Content>>& specs, const Computation& c,
                const std::string& path) {
  constexpr int kLeft = 70, kTop = 40;
  const auto best = std::max_element(specs.begin(), specs.end(), [](const auto& a, const auto& b) {
    return telling(a.second) < telling(b.second);
  });
  const Scale scale(best->second);
  Legend legend(c);
  std::string body;
  for (const Content& b : best->second) {
    const std::size_t id =
        legend.id(b.decision, fmt::format("{:.0f} cycles: ", static_cast<double>(b.cost) / 1000));
    const int x = kLeft + scale.at(0, b.peak[0]), right = kLeft + scale.at(0, b.limit[0]);
    const int y = kTop + kSide - scale.at(1, b.limit[1]),
              bottom = kTop + kSide - scale.at(1, b.peak[1]);
    body += fmt::format(
        "  <rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"0.75\" "
        "stroke=\"#ffffff\"/>\n",
        x, y, std::max(2, right - x), std::max(2, bottom - y), legend.colour(id));
    body += fmt::format("  <text class=\"key\" x=\"{}\" y=\"{}\">{}</text>\n", (x + right) / 2,
                        (y + bottom) / 2 + 4, legend.letter(id));
  }
  body += fmt::format("  <path class=\"axis\" d=\"M{0} {1} V{2} H{3}\"/>\n", kLeft, kTop,
                      kTop + kSide, kLeft + kSide);
  for (std::size_t l = 0; l < 2; ++l)
    for (std::int64_t kib = 0; static_cast<double>(kib) * 1024 < scale.far[l];
         kib = kib == 0 ? 1 : kib * 4) {
      const int at = scale.at(l, kib * 1024);
      body += l == 0 ? fmt::format("  <text class=\"small\" x=\"{}\" y=\"{}\">{}</text>\n",
                                   kLeft + at, kTop + kSide + 16, kib)
                     : fmt::format("  <text class=\"small\" x=\"{}\" y=\"{}\">{}</text>\n",
                                   kLeft - 20, kTop + kSide - at + 4, kib);
    }
  body += fmt::format("  <text x=\"{}\" y=\"{}\">KiB that may be used in L1</text>\n",
                      kLeft + kSide / 2, kTop + kSide + 38);
  body += fmt::format(
      "  <text x=\"{0}\" y=\"{1}\" transform=\"rotate(-90 {0} {1})\">KiB that may be used in "
      "L2</text>\n",
      18, kTop + kSide / 2);
  body += fmt::format("  <text class=\"left small\" x=\"8\" y=\"20\">{}</text>\n",
                      where(best->first, c, {}));
  body += legend.svg(kLeft + kSide + 30, kTop);
  write(path, kLeft + kSide + 290, kTop + kSide + 56,
        "The boxes of one Spec over the limits of two levels", body);
}

}  // namespace

void draw_memo(const Map& map, const Computation& computation, const std::string& folder) {
  const auto specs = specs_of(map);
  draw_plane(specs, computation, folder + "/memo_plane.svg");
  draw_boxes(specs, computation, folder + "/memo_boxes.svg");
}

}  // namespace morello::bench
