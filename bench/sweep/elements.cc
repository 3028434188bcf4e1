// Element by element: functions, two operands of which one may be broadcast, other orders.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "bench/sweep/draw.h"

namespace morello::bench {

std::optional<Case> draw_function(Random& random) {
  // As the language has it, and as oneDNN.
  const auto [op, algorithm] =
      random.any<std::pair<const char*, const char*>>({{"tanh", "tanh"},
                                                       {"gelu", "gelu_erf"},
                                                       {"exp", "exp"},
                                                       {"relu", "relu"},
                                                       {"sigmoid", "logistic"},
                                                       {"gelu_tanh", "gelu_tanh"},
                                                       {"silu", "swish"}});
  const std::vector<i64> shape = {random.size(1, 2000), random.size(1, 2000)};
  Case c{.operands = {{.name = "x", .shape = shape}},
         .steps = {{{.name = "out", .shape = shape}, fmt::format("{}(x)", op)}}};
  c.operations = static_cast<double>(c.result().elements());
  c.primitive = {.kind = Primitive::Kind::kFunction,
                 .views = {view(c.operands[0], 0), view(c.result(), 1)},
                 .algorithm = algorithm};
  if (c.primitive.algorithm == "relu")
    c.loop = fmt::format("for (long i = 0; i < {}; ++i) out[i] = x[i] > 0 ? x[i] : 0;\n",
                         c.result().elements());
  return c;
}

std::optional<Case> draw_pair(Random& random) {
  enum class Second { kAll, kRow, kColumn, kByColumns };
  const i64 m = random.size(1, 2000), n = random.size(1, 2000);
  const Second how = random.any({Second::kAll, Second::kRow, Second::kColumn, Second::kByColumns});
  const std::string op = random.any<const char*>({"add", "mul", "max"});
  Tensor b{.name = "b", .shape = {m, n}};
  if (how == Second::kRow) b.shape = {n};
  if (how == Second::kColumn) b.shape = {m};
  if (how == Second::kByColumns) b.order = {1, 0};
  Case c{.operands = {{.name = "a", .shape = {m, n}}, b},
         .steps = {{{.name = "out", .shape = {m, n}},
                    fmt::format("{}(a, {})", op,
                                how == Second::kColumn ? "broadcast(b, axis=1)" : "b")}}};
  c.operations = static_cast<double>(m * n);
  View second = view(b, 1);
  if (how == Second::kRow) second = {1, {1, n}, {n, 1}};
  if (how == Second::kColumn) second = {1, {m, 1}, {1, 1}};
  c.primitive = {.kind = Primitive::Kind::kBinary,
                 .views = {view(c.operands[0], 0), second, view(c.result(), 2)},
                 .algorithm = op};
  const char* at[] = {"b[i * n + j]", "b[j]", "b[i]", "b[j * m + i]"};
  const std::string y = at[static_cast<int>(how)], x = "a[i * n + j]";
  c.loop = fmt::format(
      "const long m = {}, n = {};\nfor (long i = 0; i < m; ++i)\n"
      "  for (long j = 0; j < n; ++j) out[i * n + j] = {};\n",
      m, n,
      op == "max" ? fmt::format("std::max({}, {})", x, y)
                  : fmt::format("{} {} {}", x, op == "add" ? '+' : '*', y));
  return c;
}

std::optional<Case> draw_order(Random& random) {
  const i64 rank = random.pick(2, 4), most[] = {3000, 300, 64};
  std::vector<i64> shape;
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (i64 i = 0; i < rank; ++i) {
    shape.push_back(random.size(1, most[rank - 2]));
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(random.pick(0, i))]);
  }
  if (std::is_sorted(order.begin(), order.end())) return std::nullopt;
  const Dtype from = random.any({Dtype::f32, Dtype::f32, Dtype::f32, Dtype::bf16, Dtype::u8}),
              to = from == Dtype::f32 ? random.any({Dtype::f32, Dtype::f32, Dtype::bf16})
                                      : Dtype::f32;
  Case c{.operands = {{.name = "x", .type = from, .shape = shape}},
         .steps = {{{.name = "out", .type = to, .shape = shape, .order = order}, "convert(x)"}}};
  c.operations = static_cast<double>(c.result().elements());
  c.primitive = {.kind = Primitive::Kind::kReorder,
                 .views = {view(c.operands[0], 0), view(c.result(), 1)}};
  return c;
}

}  // namespace morello::bench
