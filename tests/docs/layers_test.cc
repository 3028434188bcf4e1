// The order of folders in generator/README.md, and the sizes that keep files readable.
#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>

#include "docs/markdown.h"

namespace morello {
namespace {

// Which folders a folder may include, itself aside.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"support", {}},
    {"spec", {"support"}},
    {"target", {"support", "spec", "morello"}},  // asks the runtime what the CPU can do
    {"impl", {"support", "spec", "target"}},
    {"search", {"support", "spec", "target", "impl"}},
    {"codegen", {"support", "spec", "target", "impl"}},
    {"cli", {"support", "spec", "target", "impl", "search", "codegen"}},
};

TEST_CASE("includes follow the order of the folders") {
  const std::regex include(R"re(^#include "([a-z_0-9]+)/.*)re");
  size_t count = 0;
  for (const std::string& path : files_below("generator", {".h", ".cc", ".in"})) {
    const std::string rest = path.substr(std::string("generator/").size());
    const std::string folder = rest.substr(0, rest.find('/'));
    CAPTURE(path);
    REQUIRE(kMayInclude.contains(folder));
    // What `bench` compiles is a program of its own, on top of the runtime.
    if (path == "generator/cli/bench/driver.h" || path == "generator/cli/bench/main.cc" ||
        path == "generator/cli/bench/program.h")
      continue;
    for (const std::string& line : read_lines(path)) {
      std::smatch m;
      if (!std::regex_match(line, m, include)) continue;
      ++count;
      CAPTURE(line);
      CHECK((m[1] == folder || kMayInclude.at(folder).contains(m[1])));
    }
  }
  CHECK(count > 50);
}

TEST_CASE("the runtime stands alone") {
  const std::regex include(R"re(^#include "([^"]+)".*)re");
  for (const std::string& path : files_below("runtime", {".h"}))
    for (const std::string& line : read_lines(path)) {
      std::smatch m;
      if (!std::regex_match(line, m, include)) continue;
      CAPTURE(path);
      CHECK(m[1].str().starts_with("morello/"));
    }
}

constexpr int kMostLinesOfFile = 600;
constexpr int kMostLinesOfFunction = 60;

// Opening lines of definitions in code as clang-format leaves it: at this indent, ending in `{`
// here or on a line further in. Blocks inside functions match too; they are shorter.
struct Body {
  size_t first, last;
};

std::vector<Body> bodies(const std::vector<std::string>& lines, size_t indent) {
  static const std::regex other(
      R"(^\s*(namespace|struct|class|enum|union|static const.*=|#|//|\}).*)");
  std::vector<Body> found;
  const std::string close = std::string(indent, ' ') + "}";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() <= indent || lines[i].find_first_not_of(' ') != indent) continue;
    if (std::regex_match(lines[i], other)) continue;
    size_t open = i;
    while (open + 1 < lines.size() && !lines[open].empty() && lines[open].back() != '{' &&
           lines[open].back() != ';')
      ++open;
    if (lines[open].empty() || lines[open].back() != '{') continue;
    size_t end = open + 1;
    while (end < lines.size() && !lines[end].starts_with(close)) ++end;
    if (lines[open].find('(') != std::string::npos || lines[i].find('(') != std::string::npos)
      found.push_back({i, end});
    if (indent == 0) i = end;
  }
  return found;
}

TEST_CASE("files and functions stay readable") {
  std::vector<std::string> sources;
  for (const char* folder : {"generator", "runtime", "tests", "bench", "examples", "cmake"})
    for (std::string& path : files_below(folder, {".h", ".cc", ".cmake"}))
      sources.push_back(std::move(path));
  REQUIRE(sources.size() > 100);
  size_t functions = 0;
  for (const std::string& path : sources) {
    const std::vector<std::string> lines = read_lines(path);
    CAPTURE(path);
    CHECK(lines.size() <= kMostLinesOfFile);
    if (path.ends_with(".cmake") || path.starts_with("tests/")) continue;
    for (const size_t indent : {0, 2})
      for (const Body& b : bodies(lines, indent)) {
        CAPTURE(lines[b.first]);
        ++functions;
        CHECK(b.last - b.first <= kMostLinesOfFunction);
      }
  }
  CHECK(functions > 500);
}

}  // namespace
}  // namespace morello
