// What is imported: the text of the specs and of messages (cases.txt), and that a kernel computes
// what HLO says, with its arguments as they lie in memory.
//   MORELLO_UPDATE_IMPORTS=1 build/tests/import/import_tests     writes cases.txt anew
#include "import/import.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "import/cases.h"
#include "import/meaning.h"

namespace morello::test {
namespace {

TEST_CASE("texts and what they mean") {
  const std::vector<Case> cases = read_cases();
  if (std::getenv("MORELLO_UPDATE_IMPORTS") != nullptr) write_cases(cases);
  CHECK(cases.size() >= 60);
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CAPTURE(c.text);
    CHECK(imported(c) == c.expected);
  }
}

TEST_CASE("what is imported prints and parses") {
  for (const Case& c : read_cases()) {
    const auto kernels = hlo::import_kernels(c.text, c.name);
    if (!kernels) continue;
    for (const KernelSpec& k : *kernels) {
      const auto again = parse_spec(k.str());
      CAPTURE(k.str());
      REQUIRE_MESSAGE(again.ok(), again.error().str());
      CHECK(*again == k);
    }
  }
}

TEST_CASE("kernels compute what HLO says") {
  size_t compared = 0;
  for (const Case& c : read_cases()) {
    const auto kernels = hlo::import_kernels(c.text, c.name);
    if (!kernels) continue;
    const Source source{c.text, c.name};
    const auto modules = hlo::Scanner(source).is_word("HloModule") ? hlo::parse_hlo(source)
                                                                   : hlo::parse_stablehlo(source);
    size_t next = 0;
    for (const hlo::Module& m : *modules)
      for (const hlo::Function& f : m.functions) {
        if (!f.is_public) continue;
        const auto whole = hlo::inlined(m, f, source);
        const KernelSpec& k = (*kernels)[next++];
        CAPTURE(k.str());
        ++compared;
        REQUIRE(difference(*whole, k) == "");
      }
  }
  CHECK(compared >= 40);
}

}  // namespace
}  // namespace morello::test
