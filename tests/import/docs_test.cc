// docs/hlo.md is true: what stands under `hlo` means what stands under `spec` behind it, errors are
// the real ones, and every operator is mentioned.
#include <doctest/doctest.h>

#include <fstream>
#include <vector>

#include "import/import.h"
#include "import/operators.h"

namespace morello::test {
namespace {

struct Block {
  std::string kind, text;
};

std::vector<Block> read_blocks(std::string& all) {
  std::ifstream in(MORELLO_IMPORT_DOCS);
  REQUIRE(in.good());
  std::vector<Block> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line); all += line + "\n") {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), ""});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

TEST_CASE("the documentation of what is imported") {
  std::string all;
  const std::vector<Block> blocks = read_blocks(all);
  size_t shown = 0;
  for (size_t i = 0; i + 1 < blocks.size(); ++i) {
    if (blocks[i].kind != "mlir" && blocks[i].kind != "hlo") continue;
    const auto kernels =
        hlo::import_kernels(blocks[i].text, blocks[i].kind == "hlo" ? "f.hlo" : "f.mlir");
    ++shown;
    CAPTURE(blocks[i].text);
    const std::string& expected = blocks[i + 1].text;
    if (blocks[i + 1].kind == "error") {
      REQUIRE_FALSE(kernels.ok());
      CHECK(kernels.error().str() == expected);
      continue;
    }
    REQUIRE_MESSAGE(kernels.ok(), kernels.error().str());
    const auto spec = parse_spec(expected);
    REQUIRE_MESSAGE(spec.ok(), spec.error().str());
    CHECK(kernels->front().str() == spec->str());
  }
  CHECK(shown >= 3);
  for (const hlo::Operator& op : hlo::operators()) {
    CAPTURE(std::string(op.name));
    CHECK(all.find("`" + std::string(op.name) + "`") != std::string::npos);
  }
}

}  // namespace
}  // namespace morello::test
