// Every operator applied to what every other one has made, in one kernel.
#include <doctest/doctest.h>

#include "run/build.h"

namespace morello::run {
namespace {

// All pairs with this second step, in one program.
void check(Step second, std::span<const Step> firsts, const std::vector<std::string>& compilers) {
  static const Machine generic = *load_machine("x86-64-v3");
  Random of_machine(static_cast<std::uint64_t>(second));
  const Machine odd = odd_machine(of_machine);
  Batch batch(fmt::format("{}/pairs_{}", MORELLO_RUN_DIRECTORY, static_cast<int>(second)));
  batch.set_budget(100'000);
  int refused = 0;
  for (const Step first : firsts) {
    CAPTURE(name(first));
    const int number = kSteps * static_cast<int>(second) + static_cast<int>(first);
    Random random(static_cast<std::uint64_t>(number));
    const Step steps[] = {first, second};
    std::string problem(Batch::kTooLong);
    while (problem == Batch::kTooLong) {
      const Drawn drawn = draw_composition(random, fmt::format("k{}", number), steps, refused);
      problem = batch.add(drawn, number % 2 == 0 ? generic : odd);
    }
    if (!problem.empty()) FAIL(problem);
  }
  for (const std::string& compiler : compilers) CHECK(batch.check({compiler, "-O1"}, "1") == "");
  MESSAGE(fmt::format("{} after {} others: {} refused by the language", name(second), firsts.size(),
                      refused));
}

TEST_CASE("operators after one another") {
  for (int second = 0; second < kSteps; second += 4) {
    std::vector<Step> firsts;
    for (int first = second % 3; first < kSteps; first += 3)
      firsts.push_back(static_cast<Step>(first));
    const std::vector<std::string> compilers = known_compilers();
    check(static_cast<Step>(second), firsts,
          {compilers[static_cast<size_t>(second / 4) % compilers.size()]});
  }
}

TEST_CASE("long: every pair of operators" * doctest::skip()) {
  std::vector<Step> all;
  for (int first = 0; first < kSteps; ++first) all.push_back(static_cast<Step>(first));
  for (const Step second : all) check(second, all, known_compilers());
}

}  // namespace
}  // namespace morello::run
