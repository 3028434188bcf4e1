// What no text may do to the parser: crash it, or parse into something that does not print and
// parse as itself.
#include <cstddef>
#include <string>

#include "spec/kernel_spec.h"

static void check_round_trip(const morello::KernelSpec& spec) {
  const std::string text = spec.str();
  const auto again = morello::parse_spec(text);
  MORELLO_CHECK(again.ok(), "`{}` does not parse: {}", text, again.error().str());
  MORELLO_CHECK(*again == spec && again->str() == text, "`{}` parses differently", text);
}

static void check_error(const morello::Diagnostic& d) {
  MORELLO_CHECK(!d.text.empty() && d.line >= 1 && d.column >= 1 && d.length >= 1);
  MORELLO_CHECK(d.source_line.empty() ||
                d.column + d.length <= static_cast<int>(d.source_line.size()) + 2);
  // Nothing reaches the user's terminal that could steer it.
  for (const char c : d.str())
    MORELLO_CHECK(c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f), "byte {}",
                  static_cast<int>(c));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = morello::parse_spec(text);
  if (spec)
    check_round_trip(*spec);
  else
    check_error(spec.error());
  const auto file = morello::parse_spec_file(text, "fuzz.spec");
  if (!file) {
    check_error(file.error());
    return 0;
  }
  for (const morello::KernelSpec& kernel : *file) check_round_trip(kernel);
  return 0;
}
