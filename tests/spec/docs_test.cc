// docs/spec.md is true: every ```spec block parses, every ```error block is what the program says
// about the spec in it, and every operator and element type is mentioned.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "spec/op.h"

namespace morello {
namespace {

std::string read_docs() {
  std::ifstream in(MORELLO_SPEC_DOCS);
  REQUIRE(in.good());
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> fenced(const std::string& docs, const std::string& kind) {
  std::vector<std::string> blocks;
  std::stringstream in(docs);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```" + kind) {
      inside = true;
      blocks.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

TEST_CASE("specs in the documentation parse") {
  const std::vector<std::string> blocks = fenced(read_docs(), "spec");
  CHECK(blocks.size() >= 5);
  for (const std::string& block : blocks) {
    const auto one = parse_spec(block);
    const auto several = parse_spec_file(block, "docs/spec.md");
    CAPTURE(block);
    CAPTURE((one ? std::string() : one.error().str()));
    CHECK((one.ok() || several.ok()));
  }
}

TEST_CASE("errors in the documentation are the real ones") {
  const std::vector<std::string> blocks = fenced(read_docs(), "error");
  CHECK(blocks.size() >= 3);
  for (const std::string& block : blocks) {
    const size_t begin = block.find('\n') + 3;  // the spec is on the second line, indented by two
    const auto parsed = parse_spec(block.substr(begin, block.find('\n', begin) - begin));
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().str() == block);
  }
}

TEST_CASE("the documentation mentions everything") {
  const std::string docs = read_docs();
  for (const OpDef* op : op_table()) {
    CAPTURE(op->usage);
    CHECK(docs.find("`" + std::string(op->usage) + "`") != std::string::npos);
  }
  for (const Dtype t : kDtypes)
    CHECK(docs.find("`" + std::string(name(t)) + "`") != std::string::npos);
}

}  // namespace
}  // namespace morello
