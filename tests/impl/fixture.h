// Problems and programs from text, for the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "impl/impl.h"
#include "spec/kernel_spec.h"

namespace doctest {
template <>
struct StringMaker<std::string_view> {
  static String convert(std::string_view s) {
    return String(s.data(), static_cast<unsigned>(s.size()));
  }
};
}  // namespace doctest

namespace morello::test {

// A small generator of our own: the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2654435769u + 88172645463325252u) {}
  // 0 <= result < n
  i64 below(i64 n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<i64>((state_ >> 11) % static_cast<std::uint64_t>(n));
  }
  i64 between(i64 low, i64 high) { return low + below(high - low + 1); }
  bool one_in(i64 n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

struct Fixture {
  std::unique_ptr<KernelSpec> spec;
  Problem problem;

  const Computation& computation() const { return spec->computation(); }
};

inline std::unique_ptr<KernelSpec> spec(std::string_view text) {
  Result<KernelSpec> parsed = parse_spec(text);
  if (!parsed) FAIL(parsed.error().str());
  return std::make_unique<KernelSpec>(std::move(*parsed));
}

// The first family, over all instruction sets, whose text starts with `family`.
inline Fixture fixture(std::string_view spec_text, std::string_view family, int threads = 1) {
  Fixture f{spec(spec_text), {}};
  f.problem.computation = &f.spec->computation();
  f.problem.threads = threads;
  for (const Isa* isa : isa_table()) {
    for (const Family& candidate : families(f.computation(), *isa)) {
      if (!candidate.str(f.computation()).starts_with(family)) continue;
      f.problem.family = candidate;
      return f;
    }
  }
  FAIL("no family ", std::string(family), " for ", std::string(spec_text));
  return f;
}

inline ImplPtr program(const Problem& p, std::string_view text) {
  Result<ImplPtr> parsed = parse_impl(text, p);
  if (!parsed) FAIL(parsed.error().str());
  return *parsed;
}

inline Spec hole_spec(const Problem& p, std::string_view text) {
  return std::get<Hole>(program(p, "hole " + std::string(text))->node).spec;
}

// Dense values for every input: small integers, which every dtype holds and every order of
// additions sums exactly.
inline std::vector<std::vector<double>> random_inputs(const Computation& c, Random& random) {
  std::vector<std::vector<double>> inputs;
  for (int t = 0; t < c.tensors(); ++t) {
    if (t == c.inputs()) continue;
    i64 elements = 1;
    for (i64 n : c.tensor(t).shape) elements *= n;
    const i64 low = c.tensor(t).dtype == Dtype::u8 ? 0 : -9;
    std::vector<double> values(elements);
    for (double& v : values) v = static_cast<double>(random.between(low, 9));
    inputs.push_back(std::move(values));
  }
  return inputs;
}

}  // namespace morello::test
