#include "spec/random_spec.h"

#include <algorithm>

namespace morello {

static void shuffle(Random& random, std::vector<Digit>& digits) {
  for (size_t i = digits.size(); i > 1; --i)
    std::swap(digits[i - 1], digits[static_cast<size_t>(pick(random, 0, i64(i) - 1))]);
}

Layout random_layout(Random& random, int rank) {
  Layout layout;
  for (int axis = 0; axis < rank; ++axis) {
    i64 div = 1;
    for (i64 more = pick(random, -2, 2); more > 0; --more) {
      const i64 mod = pick(random, 2, 5);
      layout.digits.push_back({axis, div, mod});
      div *= mod;
    }
    layout.digits.push_back({axis, div, 0});
  }
  shuffle(random, layout.digits);
  return layout;
}

namespace {

struct Generator {
  Random& random;
  bool coin() { return pick(random, 0, 1) == 1; }
  std::string any(const std::vector<std::string>& words) {
    return words[static_cast<size_t>(pick(random, 0, i64(words.size()) - 1))];
  }

  std::vector<i64> shape(int least_rank, int most_rank) {
    std::vector<i64> s(static_cast<size_t>(pick(random, least_rank, most_rank)));
    for (i64& extent : s) extent = coin() ? pick(random, 1, 4) : pick(random, 1, 7);
    return s;
  }

  std::string layout(int rank, bool may_pack) {
    switch (pick(random, 0, 4)) {
      case 0:
        return rank >= 2 ? " col" : " row";
      case 1:
        return may_pack ? " packed" : "";
      case 2: {
        std::string text = random_layout(random, rank).str(rank);
        return text == "col" && rank < 2 ? "" : " " + text;
      }
      default:
        return "";
    }
  }

  std::string tensor(const std::string& dtype, const std::vector<i64>& s, bool may_pack = false) {
    return fmt::format("{}[{}]{}", dtype, fmt::join(s, coin() ? "," : " , "),
                       layout(static_cast<int>(s.size()), may_pack));
  }

  std::string matmul() {
    const std::vector<i64> batch = shape(0, 2), mnk = shape(3, 3);
    const auto with = [&](i64 rows, i64 columns, bool batched) {
      std::vector<i64> s = batched ? batch : std::vector<i64>();
      s.insert(s.end(), {rows, columns});
      return s;
    };
    const bool integers = pick(random, 0, 3) == 0;
    const std::vector<std::string> wide = {"f32", "bf16"}, bytes = {"u8", "i8"};
    const bool a_batched = coin(), b_batched = !a_batched || coin();
    return fmt::format("(a: {}, b: {}): {}{} = matmul(a, b)",
                       tensor(any(integers ? bytes : wide), with(mnk[0], mnk[2], a_batched), true),
                       tensor(any(integers ? bytes : wide), with(mnk[2], mnk[1], b_batched), true),
                       integers ? any({"i32", "i16"}) : any(wide),
                       layout(static_cast<int>(batch.size()) + 2, false));
  }

  std::string binary() {
    const std::vector<i64> s = shape(1, kMaxDims);
    const std::string dtype = any({"f32", "bf16", "f16", "i32"});
    const bool twice = pick(random, 0, 3) == 0;
    const std::string b = twice ? "first" : "b_2";
    const std::string params = twice ? "" : fmt::format(", b_2: {}", tensor(dtype, s));
    return fmt::format(
        "(first: {}{}): {} = {}", tensor(dtype, s), params, tensor(any({dtype, "f32"}), s),
        any({"add(first, " + b + ")", "mul(first," + b + ")", "first + " + b, "first*" + b}));
  }

  std::string convert() {
    const std::vector<i64> s = shape(1, kMaxDims);
    const bool floats = coin();
    return fmt::format(
        "(x: {}): {}{} = convert(x)",
        tensor(floats ? any({"f32", "bf16", "f16"}) : any({"i32", "i16", "u8", "i8"}), s),
        floats ? any({"f32", "bf16", "f16"}) : any({"f32", "i32", "i16"}),
        layout(static_cast<int>(s.size()), false));
  }

  std::string reduce_sum() {
    const std::vector<i64> s = shape(1, kMaxDims);
    const bool floats = coin();
    const int out_rank = std::max<int>(1, static_cast<int>(s.size()) - 1);
    return fmt::format(
        "(x: {}): {}{} = reduce_sum(x, axis={})",
        tensor(floats ? any({"f32", "bf16", "f16"}) : any({"i32", "i16", "u8", "i8"}), s),
        floats ? any({"f32", "bf16"}) : "i32", layout(out_rank, false),
        pick(random, 0, i64(s.size()) - 1));
  }
};

}  // namespace

std::string random_spec(Random& random) {
  Generator g{random};
  const std::string name = g.any({"", "", "f", "kernel_1", "Ffw  "});
  switch (pick(random, 0, 3)) {
    case 0:
      return name + g.matmul();
    case 1:
      return name + g.binary();
    case 2:
      return name + g.convert();
    default:
      return name + g.reduce_sum();
  }
}

}  // namespace morello
