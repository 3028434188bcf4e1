// Links and names of files on the pages lead somewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>

#include "docs/markdown.h"

namespace morello {
namespace {

namespace fs = std::filesystem;

// "## How to add an operator" -> "how-to-add-an-operator"
std::string anchor(const std::string& heading) {
  std::string out;
  for (const char c : heading.substr(heading.find_first_not_of("# "))) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || c == '-' || c == '_') out += static_cast<char>(std::tolower(u));
    if (c == ' ') out += '-';
  }
  return out;
}

bool has_anchor(const std::string& path, const std::string& name) {
  const std::vector<std::string> lines = read_page(path).prose();
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with("#") && anchor(line) == name;
  });
}

struct Match {
  std::string text;
  int line;
};

// Group 1 of every match in the page's prose, with its line.
std::vector<Match> matches(const Page& page, const std::regex& pattern) {
  std::vector<Match> found;
  const std::vector<std::string> lines = page.prose();
  for (size_t i = 0; i < lines.size(); ++i)
    for (std::sregex_iterator m(lines[i].begin(), lines[i].end(), pattern), end; m != end; ++m)
      found.push_back({(*m)[1].str(), static_cast<int>(i) + 1});
  return found;
}

TEST_CASE("links lead to files and headings that exist") {
  const std::regex link(R"re((?:\]\(|src="|href=")([^)" ]+))re");
  size_t count = 0;
  for (const std::string& path : pages()) {
    const Page page = read_page(path);
    for (const Match& m : matches(page, link)) {
      if (m.text.find("://") != std::string::npos) continue;
      INFO(path, ":", m.line, ": ", m.text);
      ++count;
      const size_t hash = m.text.find('#');
      const std::string file = m.text.substr(0, hash);
      const std::string to =
          file.empty() ? path : (fs::path(path).parent_path() / file).lexically_normal().string();
      REQUIRE(fs::exists(source_path(to)));
      if (hash != std::string::npos) CHECK(has_anchor(to, m.text.substr(hash + 1)));
    }
  }
  CHECK(count >= 10);
}

// `search/rewrites/tile.cc`: from the root, from generator/ or from beside the page. A part in
// capitals (NAME.cc) is to be filled in.
TEST_CASE("files that are named exist") {
  const std::regex name(
      R"(`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\.(?:cc|h|md|txt|toml|cmake|in))`)");
  const std::regex blank(R"([A-Z]{4,}[_.])");
  size_t count = 0;
  for (const std::string& path : {std::string("README.md"), std::string("generator/README.md"),
                                  std::string("generator/search/README.md"),
                                  std::string("docs/machines.md"), std::string("docs/memo.md")}) {
    for (const Match& m : matches(read_page(path), name)) {
      if (std::regex_search(m.text, blank) && m.text.find("README") == std::string::npos) continue;
      INFO(path, ":", m.line, ": ", m.text);
      ++count;
      const fs::path beside = fs::path(path).parent_path() / m.text;
      CHECK((fs::exists(source_path(m.text)) || fs::exists(source_path("generator/" + m.text)) ||
             fs::exists(source_path("runtime/" + m.text)) ||
             fs::exists(source_path(beside.string()))));
    }
  }
  CHECK(count >= 20);
}

}  // namespace
}  // namespace morello
