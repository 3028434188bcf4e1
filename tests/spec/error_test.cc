// wrong_specs.txt: what the user wrote and everything the program answers, line by line. A block is
//   spec: <text, with \n \r \t \xNN>     or     file: <text of a file with several kernels>
//   | <line of the message>
#include <doctest/doctest.h>

#include <fstream>

#include "spec/kernel_spec.h"

namespace morello {
namespace {

struct Block {
  bool file = false;
  std::string text, message;
};

std::string unescape(std::string_view in) {
  std::string out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] != '\\') {
      out += in[i];
      continue;
    }
    const char c = in[++i];
    REQUIRE(std::string_view("nrtx").find(c) != std::string_view::npos);
    if (c == 'x') {
      out += static_cast<char>(std::stoi(std::string(in.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += c == 'n' ? '\n' : c == 'r' ? '\r' : '\t';
    }
  }
  return out;
}

std::vector<Block> read_blocks() {
  std::ifstream in(MORELLO_WRONG_SPECS);
  REQUIRE(in.good());
  std::vector<Block> blocks;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("spec:") || line.starts_with("file:")) {
      const std::string text = line.size() > 6 ? line.substr(6) : "";
      blocks.push_back({line[0] == 'f', unescape(text), ""});
    } else if (line.starts_with("| ")) {
      REQUIRE_FALSE(blocks.empty());
      blocks.back().message += line.substr(2) + "\n";
    } else {
      REQUIRE((line.empty() || line[0] == '#'));
    }
  }
  return blocks;
}

TEST_CASE("wrong specs: the whole message") {
  const std::vector<Block> blocks = read_blocks();
  CHECK(blocks.size() >= 130);
  for (const Block& block : blocks) {
    CAPTURE(block.text);
    std::string message;
    if (block.file) {
      const auto parsed = parse_spec_file(block.text, "k.spec");
      if (!parsed) message = parsed.error().str();
    } else {
      const auto parsed = parse_spec(block.text);
      if (!parsed) message = parsed.error().str();
    }
    CHECK(message == block.message);
  }
}

}  // namespace
}  // namespace morello
