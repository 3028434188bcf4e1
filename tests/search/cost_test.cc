#include "search/cost.h"

#include <doctest/doctest.h>

namespace morello {
namespace {

TEST_CASE("costs saturate and infinity absorbs") {
  const Cost inf = Cost::infinite();
  const Cost big = Cost::milli(std::numeric_limits<i64>::max());
  CHECK((big + big).finite());
  CHECK(!(big + big + big).finite());
  CHECK(!(3 * big).finite());
  CHECK(inf + Cost::cycles(1) == inf);
  CHECK(2 * inf == inf);
  CHECK(0 * inf == Cost());
  CHECK(Cost::cycles(2) == Cost::milli(2000));
  CHECK(Cost::milli(1500).as_cycles() == doctest::Approx(1.5));
}

TEST_CASE("the order is total, infinity last") {
  const Cost costs[] = {Cost(), Cost::milli(1), Cost::cycles(1), Cost::infinite()};
  for (size_t i = 0; i < std::size(costs); ++i)
    for (size_t j = 0; j < std::size(costs); ++j) {
      CHECK((costs[i] < costs[j]) == (i < j));
      CHECK((costs[i] == costs[j]) == (i == j));
    }
}

TEST_CASE("an affine cost never falls when a child's cost rises") {
  AffineCost a{.base = Cost::cycles(5)};
  a.add(3);
  a.add(0);
  a.add(1);
  Cost child[] = {Cost::cycles(10), Cost::cycles(1000), Cost::cycles(2)};
  CHECK(a(child) == Cost::cycles(5 + 30 + 2));
  const Cost before = a(child);
  for (Cost& c : child) {
    const Cost old = c;
    for (Cost higher : {old + Cost::milli(1), old + Cost::cycles(7), Cost::infinite()}) {
      c = higher;
      CHECK(a(child) >= before);
    }
    c = old;
  }
}

}  // namespace
}  // namespace morello
