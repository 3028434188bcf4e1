#include "import/cases.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "import/import.h"

namespace morello::test {

static std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in.good());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<Case> read_cases() {
  std::istringstream in(read_text(MORELLO_IMPORT_CASES));
  std::vector<Case> cases;
  bool expected = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      cases.push_back({.name = line.substr(3), .text = {}, .expected = {}});
      expected = false;
    } else if (line == "--") {
      expected = true;
    } else if (!cases.empty()) {
      (expected ? cases.back().expected : cases.back().text) += line + "\n";
    }
  }
  for (Case& c : cases)
    if (c.text.empty()) {
      c.in_texts = true;
      c.text = read_text(std::string(MORELLO_IMPORT_TEXTS) + "/" + c.name);
    }
  return cases;
}

void write_cases(const std::vector<Case>& cases) {
  std::istringstream old(read_text(MORELLO_IMPORT_CASES));
  std::string head;
  for (std::string line; std::getline(old, line) && !line.starts_with("== ");) head += line + "\n";
  std::ofstream out(MORELLO_IMPORT_CASES, std::ios::binary);
  out << head;
  for (const Case& c : cases)
    out << "== " << c.name << "\n" << (c.in_texts ? "" : c.text) << "--\n" << imported(c);
}

std::string imported(const Case& c) {
  const auto kernels = hlo::import_kernels(c.text, c.name);
  if (!kernels) return kernels.error().str();
  std::string out;
  for (const KernelSpec& k : *kernels) out += k.str() + "\n";
  return out;
}

}  // namespace morello::test
