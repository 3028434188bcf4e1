// What kinds draw from.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <random>
#include <string_view>

#include "bench/sweep/case.h"

namespace morello::bench {

// No std:: distributions: they differ from library to library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  i64 pick(i64 least, i64 most) {
    return least + static_cast<i64>(bits_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(i64 n) { return pick(1, n) == 1; }
  template <class T>
  T any(std::initializer_list<T> of) {
    return of.begin()[pick(0, static_cast<i64>(of.size()) - 1)];
  }
  // Every power of two as often as the others.
  i64 size(i64 least, i64 most) {
    const auto log2 = [](i64 x) { return std::bit_width(static_cast<std::uint64_t>(x)) - 1; };
    const i64 base = i64{1} << pick(log2(least), log2(most));
    return pick(std::max(least, base), std::min(most, 2 * base - 1));
  }
  // Of channels or features: half of them what networks have.
  i64 features(i64 most) { return one_in(2) ? 16 * size(1, most / 16) : size(4, most); }

 private:
  std::mt19937_64 bits_;
};

// Nothing: to be drawn again.
using Draw = std::optional<Case> (*)(Random&);

struct Kind {
  std::string_view name;
  Draw draw;
  double least, most;  // operations
};
extern const std::vector<Kind> kKinds;

std::optional<Case> draw_product(Random& random);
std::optional<Case> draw_bytes(Random& random);
std::optional<Case> draw_bf16(Random& random);
std::optional<Case> draw_convolution(Random& random);
std::optional<Case> draw_layer(Random& random);
std::optional<Case> draw_softmax(Random& random);
std::optional<Case> draw_norm(Random& random);
std::optional<Case> draw_reduction(Random& random);
std::optional<Case> draw_function(Random& random);
std::optional<Case> draw_pair(Random& random);
std::optional<Case> draw_order(Random& random);
std::optional<Case> draw_stages(Random& random);

// All of a tensor as it lies.
View view(const Tensor& t, int number);

}  // namespace morello::bench
