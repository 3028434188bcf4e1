// Convolutions of f32: any size of picture and window, groups, and zeros around; and those of
// networks that many people run.
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

struct Layer {
  i64 batch, rows, columns, channels, out, groups;
  Window window;
  bool channels_first;
};

Case convolution(const Layer& l) {
  const Window& w = l.window;
  const std::vector<int> order =
      l.channels_first ? std::vector<int>{0, 3, 1, 2} : std::vector<int>();
  const Tensor x{.name = "x", .shape = {l.batch, l.rows, l.columns, l.channels}, .order = order},
      k{.name = "k", .shape = {w.size, w.size, l.channels / l.groups, l.out}, .packed = true};
  std::string of = "x";
  for (const int axis : {1, 2})
    if (w.zeros > 0) of = fmt::format("pad({0}, axis={1}, low={2}, high={2})", of, axis, w.zeros);
  std::string how;
  for (const auto& [name, value] :
       {std::pair{"stride", w.stride}, {"dilation", w.dilation}, {"groups", l.groups}})
    if (value > 1) how += fmt::format(", {}={}", name, value);
  Case c{.operands = {x, k},
         .steps = {{{.name = "out",
                     .shape = {l.batch, w.steps(l.rows), w.steps(l.columns), l.out},
                     .order = order},
                    fmt::format("conv2d({}, k{})", of, how)}}};
  c.operations = 2.0 * static_cast<double>(c.result().elements() * w.size * w.size) *
                 static_cast<double>(l.channels / l.groups);
  c.primitive = {.kind = Primitive::Kind::kConvolution,
                 .views = {picture(x, 0), filters(k, l.groups), picture(c.result(), 2)},
                 .stride = w.stride,
                 .dilation = w.dilation,
                 .zeros = {w.zeros, w.zeros}};
  return c;
}

// Of one picture of 224 x 224 where nothing else is said: rows, columns, channels, results, groups;
// window, stride, dilation, zeros around.
constexpr Layer kLayers[] = {
    // ResNet-50 (He et al., arXiv 1512.03385), whose strides are in the 3 x 3 windows
    {1, 224, 224, 3, 64, 1, {7, 2, 1, 3}, false},
    {1, 56, 56, 64, 64, 1, {1, 1, 1, 0}, false},
    {1, 56, 56, 64, 64, 1, {3, 1, 1, 1}, false},
    {1, 56, 56, 256, 512, 1, {1, 2, 1, 0}, false},
    {1, 56, 56, 128, 128, 1, {3, 2, 1, 1}, false},
    {1, 28, 28, 512, 128, 1, {1, 1, 1, 0}, false},
    {1, 28, 28, 128, 128, 1, {3, 1, 1, 1}, false},
    {1, 28, 28, 256, 256, 1, {3, 2, 1, 1}, false},
    {1, 14, 14, 256, 1024, 1, {1, 1, 1, 0}, false},
    {1, 14, 14, 256, 256, 1, {3, 1, 1, 1}, false},
    {1, 14, 14, 512, 512, 1, {3, 2, 1, 1}, false},
    {1, 7, 7, 2048, 512, 1, {1, 1, 1, 0}, false},
    {1, 7, 7, 512, 512, 1, {3, 1, 1, 1}, false},
    // MobileNetV2 (Sandler et al., arXiv 1801.04381)
    {1, 224, 224, 3, 32, 1, {3, 2, 1, 1}, false},
    {1, 112, 112, 32, 32, 32, {3, 1, 1, 1}, false},
    {1, 112, 112, 96, 96, 96, {3, 2, 1, 1}, false},
    {1, 56, 56, 144, 24, 1, {1, 1, 1, 0}, false},
    {1, 28, 28, 192, 192, 192, {3, 1, 1, 1}, false},
    {1, 14, 14, 384, 384, 384, {3, 1, 1, 1}, false},
    {1, 14, 14, 576, 576, 576, {3, 2, 1, 1}, false},
    {1, 7, 7, 960, 960, 960, {3, 1, 1, 1}, false},
    {1, 7, 7, 320, 1280, 1, {1, 1, 1, 0}, false},
    // EfficientNet-B0 (Tan and Le, arXiv 1905.11946)
    {1, 56, 56, 144, 144, 144, {5, 2, 1, 2}, false},
    {1, 14, 14, 672, 672, 672, {5, 1, 1, 2}, false},
    {1, 7, 7, 1152, 1152, 1152, {5, 1, 1, 2}, false},
    // U-Net (Ronneberger et al., arXiv 1505.04597), and a window with holes like DeepLab's (Chen et
    // al., arXiv 1706.05587), of fewer channels
    {1, 64, 64, 64, 64, 1, {3, 1, 1, 0}, false},
    {1, 28, 28, 512, 64, 1, {3, 1, 6, 6}, false},
    // Eight pictures at once
    {8, 7, 7, 512, 512, 1, {3, 1, 1, 1}, false},
    {8, 14, 14, 96, 96, 96, {3, 1, 1, 1}, false},
};

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
  return convolution({batch, rows, columns, channels, out, groups, w, random.one_in(3)});
}

std::optional<Case> draw_layer(Random& random) {
  const i64 n = static_cast<i64>(std::size(kLayers));
  Layer l = kLayers[random.pick(0, n - 1)];
  l.channels_first = random.one_in(2);
  return convolution(l);
}

}  // namespace morello::bench
