#include "cli/report.h"

#include <fmt/format.h>

#include <sstream>

namespace morello {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Morello: programs found</title>
<style>
body { font: 15px sans-serif; margin: 2em; max-width: 90em; color: #222; background: #fff; }
h2 { font-size: 1.1em; margin: 2em 0 .5em; }
pre { background: #f5f5f2; padding: 1em; overflow-x: auto; line-height: 1.35; }
.next { color: #777; }
.hot { background: #f6d9c6; }
.warm { background: #faeee0; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1c1c1c; }
  pre { background: #282828; }
  .next { color: #999; }
  .hot { background: #63371c; }
  .warm { background: #44342a; }
}
</style>
</head>
<body>
<h1>Programs found</h1>
<p>Cycles are those of the cost model. A line stands for its whole subtree; lines whose own work is
half of the program, or a tenth, are coloured. Behind each is the next best choice at that place.</p>
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

// A line of the program begins with cycles, share and own cycles; `total` is the first one's.
std::string line_html(const std::string& line, double& total) {
  std::istringstream words(line);
  double cycles = 0, own = 0;
  std::string share;
  const bool node = static_cast<bool>(words >> cycles >> share >> own) && share.ends_with('%');
  const size_t next = node ? line.find("  next: ") : std::string::npos;
  std::string out = escaped(line.substr(0, next));
  if (next != std::string::npos)
    out += "<span class=\"next\">" + escaped(line.substr(next)) + "</span>";
  if (!node) return out;
  if (total == 0) total = cycles;
  const char* heat = own >= 0.5 * total ? "hot" : own >= 0.1 * total ? "warm" : nullptr;
  return heat ? fmt::format("<span class=\"{}\">{}</span>", heat, out) : out;
}

}  // namespace

std::string report_html(const std::vector<Section>& sections) {
  std::string out(kHead);
  for (const Section& s : sections) {
    out += fmt::format("<h2>{}</h2>\n<pre>", escaped(s.title));
    double total = 0;
    std::istringstream lines(s.text);
    for (std::string line; std::getline(lines, line);) out += line_html(line, total) + "\n";
    out += "</pre>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace morello
