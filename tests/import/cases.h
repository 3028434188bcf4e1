// cases.txt and texts/: what is imported, and what the program makes of it.
#pragma once

#include <string>
#include <vector>

namespace morello::test {

struct Case {
  std::string name;      // of a file
  std::string text;      // that file
  std::string expected;  // the canonical specs, a line each, or the message
  bool in_texts = false;
};

// A case is `== NAME`, the text (of texts/NAME, where there is none), `--`, and what is expected.
std::vector<Case> read_cases();
void write_cases(const std::vector<Case>& cases);

// The specs or the message.
std::string imported(const Case& c);

}  // namespace morello::test
