// What no text may do to the importer: crash it, or give a spec that does not print and parse.
// Every text of cases.txt, cut off everywhere and changed at random, the same way on every run.
#include <doctest/doctest.h>

#include "import/cases.h"
#include "import/import.h"
#include "long.h"

namespace morello::test {
namespace {

unsigned next(unsigned& seed, unsigned below) {
  seed = seed * 1664525 + 1013904223;
  return (seed >> 8) % below;
}

void try_text(const std::string& text, const std::string& name) {
  const auto kernels = hlo::import_kernels(text, name);
  if (!kernels) {
    const Diagnostic& d = kernels.error();
    REQUIRE(!d.text.empty());
    REQUIRE(d.line >= 1);
    REQUIRE(d.column >= 1);
    REQUIRE(d.column + d.length <= static_cast<int>(d.source_line.size()) + 2);
    for (const char c : d.str()) REQUIRE((c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f)));
    return;
  }
  for (const KernelSpec& k : *kernels) {
    const auto again = parse_spec(k.str());
    REQUIRE_MESSAGE(again.ok(), k.str(), "\n", again.error().str());
    REQUIRE(*again == k);
  }
}

std::string changed(std::string text, unsigned& seed) {
  static const std::string kPieces[] = {"(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "<",
                                        ">",
                                        ",",
                                        ":",
                                        "=",
                                        "->",
                                        "%",
                                        "\"",
                                        "-",
                                        "x",
                                        "1",
                                        "0",
                                        "99999999999999",
                                        "%0",
                                        "%arg0",
                                        "f32",
                                        "@f",
                                        "#",
                                        "\n",
                                        "\x01",
                                        "\xff",
                                        "/*",
                                        "//",
                                        "ROOT ",
                                        "tensor<",
                                        "dense<",
                                        "init:",
                                        "add",
                                        "inf",
                                        "f32[2,2]"};
  for (unsigned changes = 1 + next(seed, 3); changes > 0; --changes) {
    const size_t at = next(seed, static_cast<unsigned>(text.size()) + 1), length = next(seed, 6);
    const std::string& piece = kPieces[next(seed, std::size(kPieces))];
    switch (next(seed, 4)) {
      case 0:
        text.insert(at, piece);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.replace(at, length, piece);
        break;
      default:  // a line somewhere else
        text.insert(at, text.substr(next(seed, static_cast<unsigned>(text.size()) + 1), 60));
    }
  }
  return text;
}

TEST_CASE("texts that are cut off") {
  for (const Case& c : read_cases())
    for (size_t at = 0; at < c.text.size(); at += c.in_texts ? 7 : 1)
      try_text(c.text.substr(0, at), c.name);
}

TEST_CASE("texts that are changed") {
  constexpr int kRounds = kLong ? 2000 : 60;
  unsigned seed = 11;
  for (const Case& c : read_cases())
    for (int i = 0; i < kRounds; ++i) try_text(changed(c.text, seed), c.name);
}

TEST_CASE("texts that are deep") {
  for (const char* open : {"(", "[", "{", "<", "dense<", "window={"}) {
    std::string text = "HloModule m\nENTRY e {\n  a = f32[2] parameter(0), window=";
    for (int i = 0; i < 100000; ++i) text += open;
    try_text(text, "deep.hlo");
  }
  std::string calls =
      "func.func public @f0(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
      "  return %a : tensor<2xf32>\n}\n";
  for (int i = 1; i < 60; ++i)
    calls += fmt::format(
        "func.func public @f{0}(%a: tensor<2xf32>) -> tensor<2xf32> {{\n"
        "  %0 = call @f{1}(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  %1 = call @f{1}(%0) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  return %1 : tensor<2xf32>\n}}\n",
        i, i - 1);
  try_text(calls, "calls.mlir");
}

}  // namespace
}  // namespace morello::test
