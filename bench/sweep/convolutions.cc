// Convolutions of f32: any size of picture and window, groups, and zeros around.
#include <fmt/format.h>

#include "bench/sweep/draw.h"

namespace morello::bench {
namespace {

struct Window {
  i64 size, stride, dilation, zeros;
  i64 reach() const { return (size - 1) * dilation + 1; }
  i64 steps(i64 extent) const {
    const i64 rest = extent + 2 * zeros - reach();
    return rest < 0 ? 0 : rest / stride + 1;
  }
};

// A picture as oneDNN counts its axes: batch, channels, rows, columns.
View picture(const Tensor& t, int number) {
  const std::vector<i64> s = t.strides();
  return {number, {t.shape[0], t.shape[3], t.shape[1], t.shape[2]}, {s[0], s[3], s[1], s[2]}};
}

View filters(const Tensor& k, i64 groups) {
  const std::vector<i64> s = k.strides();
  const i64 each = k.shape[3] / groups;
  if (groups == 1)
    return {1, {k.shape[3], k.shape[2], k.shape[0], k.shape[1]}, {s[3], s[2], s[0], s[1]}, true};
  return {1,
          {groups, each, k.shape[2], k.shape[0], k.shape[1]},
          {s[3] * each, s[3], s[2], s[0], s[1]},
          true};
}

}  // namespace

std::optional<Case> draw_convolution(Random& random) {
  const Window w{random.any<i64>({1, 1, 2, 3, 3, 3, 4, 5, 7}), random.any<i64>({1, 1, 1, 2, 3}),
                 random.any<i64>({1, 1, 1, 1, 2}), random.pick(0, 2)};
  const i64 batch = random.any<i64>({1, 1, 1, 2, 4}), rows = random.size(1, 112),
            columns = random.one_in(3) ? random.size(1, 112) : rows;
  i64 channels = random.one_in(5) ? 3 : random.features(512), out = random.features(512);
  i64 groups = 1;
  if (random.one_in(6)) groups = out = channels;  // depthwise
  if (groups == 1 && random.one_in(16)) groups = 2;
  if (channels % groups != 0 || out % groups != 0) return std::nullopt;
  if (w.zeros >= w.reach() || w.steps(rows) < 1 || w.steps(columns) < 1) return std::nullopt;
  const std::vector<int> order =
      random.one_in(3) ? std::vector<int>{0, 3, 1, 2} : std::vector<int>();
  const Tensor x{.name = "x", .shape = {batch, rows, columns, channels}, .order = order},
      k{.name = "k", .shape = {w.size, w.size, channels / groups, out}, .packed = true};
  std::string of = "x";
  for (const int axis : {1, 2})
    if (w.zeros > 0) of = fmt::format("pad({0}, axis={1}, low={2}, high={2})", of, axis, w.zeros);
  std::string how;
  for (const auto& [name, value] :
       {std::pair{"stride", w.stride}, {"dilation", w.dilation}, {"groups", groups}})
    if (value > 1) how += fmt::format(", {}={}", name, value);
  Case c{
      .operands = {x, k},
      .steps = {
          {{.name = "out", .shape = {batch, w.steps(rows), w.steps(columns), out}, .order = order},
           fmt::format("conv2d({}, k{})", of, how)}}};
  c.operations = 2.0 * static_cast<double>(c.result().elements() * w.size * w.size) *
                 static_cast<double>(channels / groups);
  c.primitive = {.kind = Primitive::Kind::kConvolution,
                 .views = {picture(x, 0), filters(k, groups), picture(c.result(), 2)},
                 .stride = w.stride,
                 .dilation = w.dilation,
                 .zeros = {w.zeros, w.zeros}};
  return c;
}

}  // namespace morello::bench
