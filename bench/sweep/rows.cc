// What is computed of all elements along an axis.
#include <fmt/format.h>

#include "bench/sweep/draw.h"

namespace morello::bench {
namespace {

// Of two to four dims, with some eight million elements at most.
std::vector<i64> shape(Random& random) {
  const i64 rank = random.pick(2, 4), most[] = {3000, 300, 80};
  std::vector<i64> out;
  for (i64 i = 0; i < rank; ++i) out.push_back(random.size(1, most[rank - 2]));
  return out;
}

Case of_x(std::vector<i64> of, std::vector<i64> result, std::string expr) {
  Case c{.operands = {{.name = "x", .shape = std::move(of)}},
         .steps = {{{.name = "out", .shape = std::move(result)}, std::move(expr)}}};
  c.operations = static_cast<double>(c.operands[0].elements());
  return c;
}

}  // namespace

std::optional<Case> draw_softmax(Random& random) {
  const std::vector<i64> s = shape(random);
  const auto axis = static_cast<int>(random.pick(0, static_cast<i64>(s.size()) - 1));
  Case c = of_x(s, s, fmt::format("softmax(x, axis={})", axis));
  c.primitive = {.kind = Primitive::Kind::kSoftmax,
                 .views = {view(c.operands[0], 0), view(c.result(), 1)},
                 .axis = axis};
  return c;
}

std::optional<Case> draw_norm(Random& random) {
  const std::vector<i64> s = {random.size(1, 1000), random.size(2, 8000)};
  Case c = of_x(s, s, "layer_norm(x, 0.00001, axis=1)");
  c.primitive = {.kind = Primitive::Kind::kLayerNorm,
                 .views = {view(c.operands[0], 0), view(c.result(), 1)}};
  return c;
}

std::optional<Case> draw_reduction(Random& random) {
  const std::vector<i64> s = shape(random);
  const auto axis = random.pick(0, static_cast<i64>(s.size()) - 1);
  const std::string how = random.any<const char*>({"sum", "max", "mean"});
  std::vector<i64> result = s;
  result.erase(result.begin() + axis);
  Case c = of_x(s, result, fmt::format("reduce_{}(x, axis={})", how, axis));
  View to{.tensor = 1, .shape = s};
  to.shape[static_cast<size_t>(axis)] = 1;
  to.strides = Tensor{.name = "", .shape = to.shape}.strides();
  c.primitive = {
      .kind = Primitive::Kind::kReduction, .views = {view(c.operands[0], 0), to}, .algorithm = how};
  i64 before = 1, behind = 1;
  for (i64 i = 0; i < axis; ++i) before *= s[static_cast<size_t>(i)];
  for (size_t i = static_cast<size_t>(axis) + 1; i < s.size(); ++i) behind *= s[i];
  const std::string first = how == "max" ? "-INFINITY" : "0",
                    take = how == "max" ? "std::max(s, v)" : "s + v";
  // What is adjacent goes innermost: all that lies behind the axis or, where that is one element,
  // the axis itself.
  const char* text = behind == 1 ? R"(const long n = {0};
for (long p = 0; p < {2}; ++p) {{
  float s = {3};
  for (long i = 0; i < n; ++i) {{ const float v = x[p * n + i]; s = {4}; }}
  out[p] = s{5};
}}
)"
                                 : R"(const long n = {0}, behind = {1};
for (long p = 0; p < {2}; ++p) {{
  float* to = out + p * behind;
  for (long q = 0; q < behind; ++q) to[q] = {3};
  for (long i = 0; i < n; ++i)
    for (long q = 0; q < behind; ++q) {{
      const float s = to[q], v = x[(p * n + i) * behind + q];
      to[q] = {4};
    }}
  for (long q = 0; q < behind; ++q) to[q] = to[q]{5};
}}
)";
  c.loop = fmt::format(fmt::runtime(text), s[static_cast<size_t>(axis)], behind, before, first,
                       take, how == "mean" ? " / n" : "");
  return c;
}

}  // namespace morello::bench
