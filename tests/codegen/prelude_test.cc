// Which helpers of an instruction set a header gets.
#include "codegen/prelude.h"

#include <doctest/doctest.h>

namespace morello {
namespace {

constexpr std::string_view kOne =
    "MORELLO_UNUSED MORELLO_TARGET static inline float one(float x) noexcept {\n"
    "  return x;\n}\n";
constexpr std::string_view kOneMore =
    "MORELLO_UNUSED MORELLO_TARGET static inline float one_more(\n    float x) noexcept {\n"
    "  return x + 1;\n}\n";
constexpr std::string_view kThree =
    "MORELLO_UNUSED MORELLO_TARGET static inline float three(float x) noexcept {\n"
    "#if defined(__clang__)\n  return one_more(one_more(x));\n#else\n  return 3;\n#endif\n}\n";

std::string text(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::string_view p : parts) out += p;
  return out;
}

TEST_CASE("helpers that a program calls, and those that they call") {
  const std::string prelude = text({"\n", kOne, "\n", kOneMore, "\n\n", kThree, "\n"});
  struct Row {
    std::string_view code;
    std::string wanted;
  };
  const Row rows[] = {
      {"", ""},
      {"a = one(b);", std::string(kOne)},
      {"a = one_more(b);", std::string(kOneMore)},
      {"a = three(one(b));", text({kOne, kOneMore, kThree})},
      {"a = three(b);", text({kOneMore, kThree})},
      {"a = number_one(b) + one + one_(b);", ""},
      {"one(b)", std::string(kOne)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.code);
    CHECK(needed_helpers(prelude, row.code) == row.wanted);
  }
  CHECK(needed_helpers("", "one(b)") == "");
}

}  // namespace
}  // namespace morello
