#include "docs/markdown.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace morello {

namespace fs = std::filesystem;

std::string source_path(const std::string& path) { return std::string(SOURCE) + "/" + path; }

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream in(source_path(path));
  REQUIRE_MESSAGE(in.good(), path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Page read_page(const std::string& path) {
  Page page{path, read_lines(path), {}};
  bool inside = false;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const std::string& line = page.lines[i];
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) page.fences.push_back({line.substr(3), "", static_cast<int>(i) + 2});
    } else if (inside) {
      page.fences.back().text += line + "\n";
    }
  }
  REQUIRE_MESSAGE(!inside, path << ": a fence is not closed");
  return page;
}

std::vector<std::string> Page::prose() const {
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string& line : lines) {
    const bool fence = line.starts_with("```");
    if (fence) inside = !inside;
    out.push_back(inside || fence ? "" : line);
  }
  return out;
}

std::vector<std::string> files_below(const std::string& folder,
                                     const std::vector<std::string>& endings) {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
    const std::string end = entry.path().extension().string();
    if (entry.is_regular_file() && std::find(endings.begin(), endings.end(), end) != endings.end())
      found.push_back(fs::relative(entry.path(), SOURCE).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> pages() {
  std::vector<std::string> out = {"README.md"};
  for (const char* folder : {"docs", "examples", "generator"})
    for (std::string& path : files_below(folder, {".md"})) out.push_back(std::move(path));
  return out;
}

}  // namespace morello
