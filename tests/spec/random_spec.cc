#include "spec/random_spec.h"

#include <fmt/format.h>

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
    const std::vector<std::string> wide = {"f32", "bf16", "f16"}, bytes = {"u8", "i8", "i7"};
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
        tensor(floats ? any({"f32", "bf16", "f16"}) : any({"i32", "i16", "u8", "i8", "i7"}), s),
        floats ? any({"f32", "bf16", "f16"}) : any({"f32", "i32", "i16"}),
        layout(static_cast<int>(s.size()), false));
  }

  std::string reduction() {
    const std::vector<i64> s = shape(1, kMaxDims);
    const bool floats = coin();
    const int out_rank = std::max<int>(1, static_cast<int>(s.size()) - 1);
    return fmt::format(
        "(x: {}): {}{} = {}(x, axis={})",
        tensor(floats ? any({"f32", "bf16", "f16"}) : any({"i32", "i16", "u8", "i8", "i7"}), s),
        floats ? any({"f32", "bf16"}) : "i32", layout(out_rank, false),
        any({"reduce_sum", "reduce_max", "reduce_min"}), pick(random, 0, i64(s.size()) - 1));
  }
};

// Operators within one another, over parameters of the shape, of its last axes, of others by
// broadcast, of one number; around a matmul or not.
class Composer {
 public:
  Composer(Random& random, bool safe) : random_(random), g_{random}, safe_(safe) {}

  std::string kernel() {
    shape_ = g_.shape(1, 3);
    integers_ = pick(random_, 0, 3) == 0;
    const i64 form = pick(random_, 0, 2);
    const bool sums = form == 0 || (form == 1 && shape_.size() == 2);
    if (sums) sum_ = form == 0 ? reduction() : product();
    std::string body = node(sums ? 3 : 2);
    if (sums && !summed_) body = "add(" + body + ", " + sum_ + ")";
    // Something has the shape of the result.
    if (!sums && !full_) body = "add(" + body + ", " + tensor(shape_) + ")";
    const std::string result =
        integers_ ? g_.any({"i32", "i16"}) : g_.any({"f32", "f32", "bf16", "f16"});
    return fmt::format("({}): {}[{}] = {}", fmt::join(params_, ", "), result,
                       fmt::join(shape_, ","), body.find('(') == body.npos ? "-" + body : body);
  }

 private:
  std::string param(const std::string& text) {
    const std::string name = fmt::format("p{}", params_.size());
    params_.push_back(name + ": " + text);
    return name;
  }

  // As many as a kernel reads beside the first two.
  bool room() const { return params_.size() < 5; }

  std::string tensor(const std::vector<i64>& s) {
    full_ |= s == shape_;
    const std::string dtype = integers_ ? g_.any({"i32", "i16", "u8", "i8", "i7"})
                                        : g_.any({"f32", "bf16", "f16", "i32"});
    const bool col = s.size() >= 2 && pick(random_, 0, 2) == 0;
    return param(fmt::format("{}[{}]{}", dtype, fmt::join(s, ","), col ? " col" : ""));
  }

  std::string product() {
    const i64 k = pick(random_, 1, 9);
    const bool bytes = integers_ || pick(random_, 0, 3) == 0;
    const auto operand = [&](i64 rows, i64 columns, bool packed) {
      return param(fmt::format("{}[{},{}]{}",
                               bytes ? g_.any({"u8", "i8", "i7"}) : g_.any({"f32", "bf16", "f16"}),
                               rows, columns, packed ? " packed" : ""));
    };
    const std::string a = operand(shape_[0], k, false);
    return "matmul(" + a + ", " + operand(k, shape_[1], g_.coin()) + ")";
  }

  // Of anything elementwise; at most two operands have its axis, and one at least.
  std::string reduction() {
    inner_ = shape_;
    axis_ = pick(random_, 0, static_cast<i64>(shape_.size()));
    inner_.insert(inner_.begin() + axis_, pick(random_, 1, 9));
    if (g_.coin()) {  // of a vector there remains one number
      inner_ = {inner_[axis_]};
      shape_ = {1};
      axis_ = 0;
    }
    along_ = 0;
    const std::string first =
        along(integers_ ? g_.any({"i32", "u8", "i8", "i7"}) : g_.any({"f32", "bf16"}));
    const std::string op = g_.any(
        {"reduce_sum", "reduce_max", "reduce_min", integers_ ? "reduce_sum" : "reduce_mean"});
    const std::string rest =
        g_.coin() ? first : fmt::format("({} {} {})", first, g_.any({"+", "-", "*"}), body(2));
    return fmt::format("{}({}, axis={})", op, rest, axis_);
  }

  std::string along(const std::string& dtype) {
    ++along_;
    std::vector<i64> s = inner_;
    const bool swaps = s.size() >= 2 && pick(random_, 0, 4) == 0;
    if (swaps) std::swap(s[s.size() - 2], s.back());
    const std::string text =
        param(fmt::format("{}[{}]{}", dtype, fmt::join(s, ","),
                          s.size() >= 2 && pick(random_, 0, 2) == 0 ? " col" : ""));
    return swaps ? "transpose(" + text + ")" : text;
  }

  std::string body(int depth) {
    const i64 way = pick(random_, 0, depth == 0 ? 2 : 6);
    if (way == 0 && along_ < 2)
      return along(integers_ ? g_.any({"i16", "i8"}) : g_.any({"f16", "f32", "u8"}));
    if (way == 1 && room() && inner_.size() > 1)
      return fmt::format("broadcast({}, axis={})", beside(shape_), axis_);
    if (way <= 2) return room() && g_.coin() ? beside({1}) : number();
    if (way == 3)
      return fmt::format("select({}, {}, {})", body(depth - 1), body(depth - 1), body(depth - 1));
    if (way == 4 && !integers_)
      return fmt::format("{}({})", g_.any({"sigmoid", "tanh", "neg", safe_ ? "erf" : "exp"}),
                         body(depth - 1));
    return fmt::format("{}({}, {})", g_.any({"add", "sub", "mul", "max", "min", "lt", "ge", "eq"}),
                       body(depth - 1), body(depth - 1));
  }

  std::string beside(const std::vector<i64>& s) {
    return param(fmt::format("{}[{}]",
                             integers_ ? g_.any({"i32", "i8"}) : g_.any({"f32", "bf16", "i8"}),
                             fmt::join(s, ",")));
  }

  std::string leaf() {
    if (!sum_.empty() && !summed_) return summed_ = true, sum_;
    if (!room()) return number();
    switch (pick(random_, 0, 5)) {
      case 0:
        return number();
      case 1:  // the last axes
        return tensor({shape_.end() - pick(random_, 1, i64(shape_.size())), shape_.end()});
      case 2:
        return tensor({1});
      case 3: {
        const i64 axis = pick(random_, 0, i64(shape_.size()) - 1);
        std::vector<i64> s = shape_;
        s.erase(s.begin() + axis);
        if (s.empty()) s.push_back(1);
        return s.size() < shape_.size() ? fmt::format("broadcast({}, axis={})", tensor(s), axis)
                                        : tensor(s);
      }
      default:
        return tensor(shape_);
    }
  }

  std::string number() {
    return integers_ ? fmt::format("{}", pick(random_, -9, 9))
                     : g_.any({"0.5", "-2", "0.044715", "1e-3", "3"});
  }

  std::string node(int depth) {
    if (depth == 0 || pick(random_, 0, 5) == 0) return leaf();
    if (g_.coin()) {
      const std::string a = node(depth - 1), b = node(depth - 1);
      if (pick(random_, 0, 9) == 0) return fmt::format("select({}, {}, {})", leaf(), a, b);
      const std::string op = g_.any({"+", "-", "*", "max", "min", safe_ || integers_ ? "+" : "/",
                                     g_.any({"lt", "le", "gt", "ge", "eq", "ne"})});
      return op.size() == 1 ? fmt::format("({} {} {})", a, op, b)
                            : fmt::format("{}({}, {})", op, a, b);
    }
    std::vector<std::string> ops = {"neg", "relu", "convert"};
    if (shape_.size() >= 2 && room() && pick(random_, 0, 3) == 0) {
      std::vector<i64> s = shape_;
      std::swap(s[s.size() - 2], s.back());
      return "transpose(" + tensor(s) + ")";
    }
    if (!integers_) ops.insert(ops.end(), {"sigmoid", "silu", "gelu", "gelu_tanh", "tanh", "erf"});
    if (!integers_ && !safe_) ops.insert(ops.end(), {"exp", "sqrt", "rsqrt"});
    return g_.any(ops) + "(" + node(depth - 1) + ")";
  }

  Random& random_;
  Generator g_;
  const bool safe_;  // without what makes NaNs of numbers
  bool integers_ = false, summed_ = false, full_ = false;
  std::vector<i64> shape_;
  std::vector<std::string> params_;
  std::string sum_;
  std::vector<i64> inner_;  // of what is reduced
  i64 axis_ = 0;
  int along_ = 0;
};

}  // namespace

std::string random_composition(Random& random, bool safe) {
  return Composer(random, safe).kernel();
}

std::string random_spec(Random& random) {
  Generator g{random};
  const std::string name = g.any({"", "", "f", "kernel_1", "Ffw  "});
  switch (pick(random, 0, 5)) {
    case 4:
    case 5:
      return name + random_composition(random, true);
    case 0:
      return name + g.matmul();
    case 1:
      return name + g.binary();
    case 2:
      return name + g.convert();
    default:
      return name + g.reduction();
  }
}

}  // namespace morello
