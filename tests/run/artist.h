// What random kernels are drawn with: sizes at which loops, tiles and vectors do not divide, every
// layout.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "spec/random_spec.h"

namespace morello::run {

inline const std::vector<std::string> kBytes = {"u8", "i8", "i7"};

class Artist {
 public:
  explicit Artist(Random& random) : random_(random) {}

  bool one_in(i64 n) { return pick(random_, 1, n) == 1; }
  template <class T>
  T any(const std::vector<T>& list) {
    return list[static_cast<size_t>(pick(random_, 0, static_cast<i64>(list.size()) - 1))];
  }

 protected:
  // Mostly small, odd, prime, or beside a power of two.
  i64 size() {
    switch (pick(random_, 0, 6)) {
      case 0:
        return pick(random_, 1, 4);
      case 1:
      case 2:
        return pick(random_, 1, 20);
      case 3:
        return std::max<i64>(1, (i64{1} << pick(random_, 1, 7)) + pick(random_, -1, 1));
      case 4:
        return any<i64>({5, 7, 11, 13, 17, 19, 23, 29, 37, 53, 67, 83, 97, 101, 127});
      case 5:
        return pick(random_, 0, 64) * 2 + 1;
      default:
        return pick(random_, 1, 130);
    }
  }

  // Whole axes in some order; the elements of such a tensor may be strided.
  std::string axes(size_t rank) {
    if (rank < 3 || !one_in(4)) return rank >= 2 && one_in(3) ? " col" : "";
    std::vector<std::string> digits;
    for (std::vector<size_t> left = iota(rank); !left.empty();) {
      const size_t axis = any(left);
      std::erase(left, axis);
      digits.push_back(std::to_string(axis));
    }
    return fmt::format(" order({})", fmt::join(digits, ", "));
  }

  static std::vector<size_t> iota(size_t count) {
    std::vector<size_t> out(count);
    std::iota(out.begin(), out.end(), size_t{0});
    return out;
  }

  // `strided`: rows may lie apart.
  std::string layout(size_t rank, bool strided) {
    // A block of padding in every axis would be most of the tensor.
    if (one_in(6) && rank <= 3)
      return " " + random_layout(random_, static_cast<int>(rank)).str(static_cast<int>(rank));
    const std::string text = axes(rank);
    return strided && rank > 1 && one_in(4) ? text + " strided" : text;
  }

  Random& random_;
};

}  // namespace morello::run
