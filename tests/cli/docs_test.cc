// Every command in docs/cli.md works as it is printed there.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/files.h"
#include "cli/process.h"

namespace morello {
namespace {

std::vector<std::string> shell_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  std::istringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```sh") {
      inside = true;
      blocks.emplace_back();
    } else if (line.starts_with("```")) {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

TEST_CASE("docs/cli.md") {
  const TemporaryDirectory d;
  const char* path = std::getenv("PATH");
  const std::string bin = std::filesystem::path(MORELLO_BINARY).parent_path().string();
  const Setting setting{{"PATH=" + bin + ":" + (path != nullptr ? path : "")}, d.path(), -1};
  const std::string text = contents(CLI_DOCS);
  const std::vector<std::string> blocks = shell_blocks(text);
  for (const char* command : {"generate", "check", "explain", "machine list", "machine show",
                              "machine detect", "bench", "testbench", "memo stats", "memo clear"}) {
    CAPTURE(command);
    bool shown = false;
    for (const std::string& b : blocks)
      shown = shown || b.find(std::string("morello ") + command) != std::string::npos;
    CHECK(shown);
  }
  for (const std::string& block : blocks) {
    CAPTURE(block);
    const Ran ran = shell(block, setting);
    CHECK(ran.code == 0);
    CHECK(ran.err == "");
  }
}

TEST_CASE("docs/cli.md names every option") {
  const std::string text = contents(CLI_DOCS);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"generate"},
                                                  {"check"},
                                                  {"explain"},
                                                  {"machine", "detect"},
                                                  {"bench"},
                                                  {"testbench"},
                                                  {"memo", "stats"},
                                                  {"memo", "clear"}}) {
    std::vector<std::string> words = command;
    words.emplace_back("--help");
    std::istringstream help(morello(words).out);
    for (std::string word; help >> word;) {
      if (const size_t at = word.find("--"); at != std::string::npos && word.size() > at + 2) {
        const std::string option = word.substr(at);
        CAPTURE(option);
        CHECK(text.find("`" + option) != std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace morello
