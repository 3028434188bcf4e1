// Small graphs, as networks have them, of sizes that nobody has chosen. They are compared with
// kernels of ours of their steps, one after the other.
#include <fmt/format.h>

#include "bench/sweep/draw.h"

namespace morello::bench {
namespace {

// A graph, operand by operand and step by step.
class Builder {
 public:
  explicit Builder(Random& random) : random_(random) {}

  const std::string& operand(const std::string& name, std::vector<i64> shape) {
    return c_.operands.emplace_back(Tensor{.name = name, .shape = std::move(shape)}).name;
  }
  // Of f32 or, where the other operand may be so, too, of bf16.
  void weights(const std::string& name, i64 k, i64 n, Dtype type = Dtype::f32) {
    Tensor& w = c_.operands.emplace_back(Tensor{.name = name, .type = type, .shape = {k, n}});
    w.packed = random_.one_in(2);
    if (!w.packed && random_.one_in(2)) w.order = {1, 0};
  }
  void multiplies(i64 m, i64 k, i64 n) { c_.operations += 2.0 * static_cast<double>(m * k * n); }
  void step(const std::string& name, std::vector<i64> shape, std::string expr) {
    c_.steps.push_back({{.name = name, .shape = std::move(shape)}, std::move(expr)});
  }
  Case done() {
    if (c_.operations == 0)
      for (const Step& s : c_.steps) c_.operations += static_cast<double>(s.result.elements());
    return std::move(c_);
  }
  Case& c() { return c_; }

 private:
  Random& random_;
  Case c_;
};

std::string activation(Random& random, const std::string& of) {
  return fmt::format(
      "{}({})", random.any<const char*>({"relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"}),
      of);
}

std::string norm(Random& random, const std::string& of) {
  return fmt::format("{}({}, 0.00001, axis=1)", random.any<const char*>({"layer_norm", "rms_norm"}),
                     of);
}

Case layers(Random& random) {
  Builder b(random);
  const i64 m = random.size(1, 512), count = random.pick(2, 3);
  i64 k = random.features(1024);
  std::string x = b.operand("x", {m, k});
  for (i64 i = 1; i <= count; ++i) {
    const i64 n = random.features(1024);
    const std::string w = fmt::format("w{}", i), s = fmt::format("s{}", i);
    b.weights(w, k, n);
    std::string sum = fmt::format("matmul({}, {})", x, w);
    if (random.one_in(2)) sum += " + " + b.operand(fmt::format("b{}", i), {n});
    b.step(s, {m, n}, i < count ? activation(random, sum) : sum);
    b.multiplies(m, k, n);
    x = s;
    k = n;
  }
  return b.done();
}

Case gated(Random& random) {
  Builder b(random);
  const i64 m = random.size(1, 256), k = random.features(1024), n = random.features(1024);
  const Dtype type = random.any({Dtype::f32, Dtype::bf16});
  b.operand("x", {m, k});
  b.c().operands.back().type = type;
  for (const char* w : {"w1", "w2"}) b.weights(w, k, n, type);
  b.step("s1", {m, n}, "matmul(x, w1)");
  b.step("s2", {m, n}, "matmul(x, w2)");
  b.step("s3", {m, n}, activation(random, "s1") + " * s2");
  b.multiplies(2 * m, k, n);
  return b.done();
}

// A product with what is done to its rows before it, or behind it.
Case around_product(Random& random) {
  Builder b(random);
  const i64 m = random.size(1, 800), k = random.features(1024), n = random.features(2048);
  b.operand("x", {m, k});
  b.weights("w", k, n);
  switch (random.pick(0, 2)) {
    case 0:
      b.operand("g", {k});
      b.step("s1", {m, k}, norm(random, "x") + " * g");
      b.step("s2", {m, n}, "matmul(s1, w)");
      break;
    case 1:
      b.operand("r", {m, n});
      b.step("s1", {m, n}, "matmul(x, w) + r");
      b.step("s2", {m, n}, norm(random, "s1"));
      break;
    default:
      b.step("s1", {m, n}, "matmul(x, w)");
      b.step("s2", {m, n}, "softmax(0.125 * s1, axis=1)");
  }
  b.multiplies(m, k, n);
  return b.done();
}

Case attention(Random& random) {
  Builder b(random);
  const i64 heads = random.any<i64>({1, 2, 4, 8, 12}),
            m = random.one_in(4) ? 1 : random.size(2, 512), n = random.size(4, 1024),
            d = random.one_in(3) ? random.size(8, 128) : 64;
  b.operand("q", {heads, m, d});
  b.operand("k", {heads, n, d});
  b.operand("v", {heads, n, d});
  const bool masked = random.one_in(3);
  if (masked) b.operand("mask", {m, n});
  b.step("s1", {heads, m, n}, "matmul(q, transpose(k))");
  b.step("s2", {heads, m, n},
         masked ? "softmax(0.125 * s1 + mask, axis=2)" : "softmax(0.125 * s1, axis=2)");
  b.step("s3", {heads, m, d}, "matmul(s2, v)");
  b.multiplies(2 * heads * m, n, d);
  return b.done();
}

// Two convolutions, the first one of all channels or of each by itself.
std::optional<Case> convolutions(Random& random) {
  Builder b(random);
  const bool each = random.one_in(2);
  const i64 size = random.size(5, each ? 112 : 56), window = random.any<i64>({3, 3, 5}),
            channels = random.features(256), between = each ? channels : random.features(256),
            last = random.features(256), rest = size - window + 1,
            second = each ? 1 : random.any<i64>({1, 3}), end = rest - second + 1;
  if (end < 1) return std::nullopt;
  b.operand("x", {1, size, size, channels});
  b.operand("k1", {window, window, each ? 1 : channels, between});
  b.c().operands.back().packed = true;
  b.operand("k2", {second, second, between, last});
  b.c().operands.back().packed = true;
  b.step("s1", {1, rest, rest, between},
         each ? fmt::format("relu(conv2d(x, k1, groups={}))", channels) : "relu(conv2d(x, k1))");
  b.step("s2", {1, end, end, last}, "conv2d(s1, k2)");
  b.multiplies(rest * rest, window * window * (each ? 1 : channels), between);
  b.multiplies(end * end, second * second * between, last);
  return b.done();
}

Case chain(Random& random) {
  Builder b(random);
  const i64 m = random.size(1, 600), k = random.size(1, 600), n = random.size(1, 600),
            last = random.size(1, 600);
  b.operand("a", {m, k});
  b.operand("b", {k, n});
  b.operand("c", {n, last});
  b.step("s1", {m, n}, "matmul(a, b)");
  b.step("s2", {m, last}, "matmul(s1, c)");
  b.multiplies(m, k, n);
  b.multiplies(m, n, last);
  return b.done();
}

// Of rows or columns, with no product.
Case statistics(Random& random) {
  Builder b(random);
  const i64 m = random.size(1, 2000), n = random.size(2, 4000), axis = random.pick(0, 1);
  b.operand("x", {m, n});
  const std::vector<i64> one = {axis == 0 ? n : m};
  switch (random.pick(0, 2)) {
    case 0:
      b.step("s1", {m, n},
             fmt::format("{}(x)", random.any<const char*>({"exp", "sigmoid", "relu"})));
      b.step("s2", one, fmt::format("reduce_sum(s1, axis={})", axis));
      b.step("s3", {m, n}, axis == 0 ? "s1 / s2" : "s1 / broadcast(s2, axis=1)");
      break;
    case 1:
      b.operand("y", {m, n});
      b.step("s1", {m, n}, random.any<const char*>({"x * y", "(x - y) * (x - y)"}));
      b.step("s2", one,
             fmt::format("reduce_{}(s1, axis={})", random.any<const char*>({"sum", "max", "mean"}),
                         axis));
      break;
    default:
      b.operand("y", {m, n});
      b.step("s1", {m, n}, "x + y");
      b.step("s2", {m, n}, axis == 0 ? "softmax(s1, axis=0)" : norm(random, "s1"));
  }
  return b.done();
}

}  // namespace

std::optional<Case> draw_stages(Random& random) {
  switch (random.pick(0, 7)) {
    case 0:
    case 1:
      return layers(random);
    case 2:
      return gated(random);
    case 3:
      return around_product(random);
    case 4:
      return attention(random);
    case 5:
      return convolutions(random);
    case 6:
      return chain(random);
    default:
      return statistics(random);
  }
}

}  // namespace morello::bench
