// A fuzzer for compilers without libFuzzer: valid random specs with a few mutations each, the same
// ones on every run.
#include <cstdio>

#include "spec/random_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace morello {

static std::string random_piece(Random& random) {
  static constexpr std::string_view kPieces[] = {
      "(",      ")",       "[",      "]",   ":",        ",",          "=",
      "+",      "*",       "-",      "/",   "%",        "#",          "\n",
      "\t",     "\r\n",    " ",      "0",   "1",        "2147483647", "9999999999999",
      "f32",    "bf16",    "u8",     "i32", "row",      "col",        "packed",
      "order(", "matmul(", "axis=1", "a",   "\xc3\xa9", "\x01",       "\xff",
      "__",     "class",   "\\",     "`",   "\x1b[31m", "1.5"};
  const i64 n = static_cast<i64>(std::size(kPieces));
  return std::string(kPieces[pick(random, 0, n - 1)]);
}

static void mutate(Random& random, std::string& text) {
  const size_t at = static_cast<size_t>(pick(random, 0, static_cast<i64>(text.size())));
  const size_t length = static_cast<size_t>(pick(random, 0, 5));
  switch (pick(random, 0, 4)) {
    case 0:
      text.insert(at, random_piece(random));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.replace(at, length, random_piece(random));
      break;
    case 3:  // a part of itself somewhere else
      text.insert(at,
                  text.substr(static_cast<size_t>(pick(random, 0, static_cast<i64>(text.size()))),
                              length * 4));
      break;
    default:
      text.resize(at);
  }
}

static void run(std::uint64_t seed, int rounds) {
  Random random(seed);
  for (int i = 0; i < rounds; ++i) {
    std::string text = random_spec(random);
    for (i64 more = pick(random, 0, 3); more > 0; --more) text += "\n" + random_spec(random);
    for (i64 more = pick(random, 0, 4); more > 0; --more) mutate(random, text);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace morello

int main() {
  constexpr std::uint64_t kSeed = 3;
  constexpr int kRounds = 50000;
  morello::run(kSeed, kRounds);
  std::printf("%d texts, seed %llu: no crash\n", kRounds, static_cast<unsigned long long>(kSeed));
}
