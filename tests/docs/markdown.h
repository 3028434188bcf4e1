// The pages of documentation, as these tests read them.
#pragma once

#include <string>
#include <vector>

namespace morello {

struct Fence {
  std::string kind;  // the word behind the opening ```
  std::string text;  // whole lines
  int line = 0;      // of the first line of text, from 1
};

struct Page {
  std::string path;  // from the root of the repository
  std::vector<std::string> lines;
  std::vector<Fence> fences;

  // Lines outside of fences; the others are empty.
  std::vector<std::string> prose() const;
};

std::string source_path(const std::string& path);  // where a path of the repository is
std::vector<std::string> read_lines(const std::string& path);
Page read_page(const std::string& path);

// Every .md file of the project, sorted.
std::vector<std::string> pages();
// Files below a folder with one of the endings, sorted; from the root of the repository.
std::vector<std::string> files_below(const std::string& folder,
                                     const std::vector<std::string>& endings);

}  // namespace morello
