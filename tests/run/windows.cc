#include "run/windows.h"

#include <cmath>

namespace morello::run {
namespace {

std::size_t place(i64 n) { return static_cast<std::size_t>(n); }

// Number `i` of so many.
i64 attribute(double value, int i, int count) {
  i64 rest = static_cast<i64>(value);
  for (int n = 0; n < i; ++n) rest /= kAttributeBase;
  return i + 1 == count ? rest : rest % kAttributeBase;
}

i64 elements(const std::vector<i64>& shape) {
  i64 n = 1;
  for (const i64 extent : shape) n *= extent;
  return n;
}

// Element `from` of another one; a zero that is none has no radius.
void take(Factor& to, const Factor& of, i64 from) {
  to.value.push_back(of.value[place(from)]);
  if (!of.radius.empty()) to.radius.push_back(of.radius[place(from)]);
}

// The windows of one group: [b * h * w, r * s * channels].
Factor rows_of(const Factor& x, const Factor& k, const Windows& w, i64 group, i64 high, i64 wide) {
  const i64 channels = k.shape[2];
  Factor out;
  out.integers = x.integers;
  out.subnormals_flush = x.subnormals_flush;
  out.shape = {x.shape[0] * high * wide, k.shape[0] * k.shape[1] * channels};
  for (i64 b = 0; b < x.shape[0]; ++b)
    for (i64 i = 0; i < high; ++i)
      for (i64 j = 0; j < wide; ++j)
        for (i64 r = 0; r < k.shape[0]; ++r)
          for (i64 s = 0; s < k.shape[1]; ++s)
            for (i64 c = 0; c < channels; ++c) {
              const i64 row = i * w.stride[0] + r * w.dilation[0];
              const i64 column = j * w.stride[1] + s * w.dilation[1];
              const i64 pixel = (b * x.shape[1] + row) * x.shape[2] + column;
              take(out, x, pixel * x.shape[3] + group * channels + c);
            }
  return out;
}

// The filters of one group: [r * s * channels, f].
Factor filters_of(const Factor& k, i64 group, i64 filters) {
  Factor out;
  out.integers = k.integers;
  out.subnormals_flush = k.subnormals_flush;
  out.shape = {k.shape[0] * k.shape[1] * k.shape[2], filters};
  for (i64 i = 0; i < out.shape[0]; ++i)
    for (i64 f = 0; f < filters; ++f) take(out, k, i * k.shape[3] + group * filters + f);
  return out;
}

}  // namespace

Padding padding_of(const Node& n) {
  return {attribute(n.value, 0, 3), attribute(n.value, 1, 3), attribute(n.value, 2, 3)};
}

std::vector<i64> padded_shape(std::vector<i64> shape, const Padding& p) {
  shape[place(p.axis)] += p.low + p.high;
  return shape;
}

std::vector<i64> padded_from(const std::vector<i64>& shape, const Padding& p) {
  i64 inner = 1;
  for (std::size_t a = place(p.axis) + 1; a < shape.size(); ++a) inner *= shape[a];
  const i64 length = shape[place(p.axis)], all = p.low + length + p.high;
  std::vector<i64> out;
  for (i64 i = 0; i < elements(shape) / length * all; ++i) {
    const i64 at = i / inner % all - p.low;
    const bool there = at >= 0 && at < length;
    out.push_back(there ? (i / inner / all * length + at) * inner + i % inner : -1);
  }
  return out;
}

Windows windows_of(const Node& n) {
  const auto digit = [&](int i) { return attribute(n.value, i, 5); };
  return {{digit(0), digit(1)}, {digit(2), digit(3)}, digit(4)};
}

Product convolution(const Factor& x, const Factor& k, const Windows& w, Type type) {
  i64 extent[2];
  for (const int a : {0, 1}) {
    const i64 reach = w.dilation[a] * (k.shape[place(a)] - 1) + 1;
    extent[a] = (x.shape[place(a + 1)] - reach) / w.stride[a] + 1;
  }
  const i64 filters = k.shape[3] / w.groups;
  Product out;
  out.shape = {x.shape[0], extent[0], extent[1], k.shape[3]};
  out.sums.resize(place(elements(out.shape)));
  for (i64 g = 0; g < w.groups; ++g) {
    const Product one =
        product(rows_of(x, k, w, g, extent[0], extent[1]), filters_of(k, g, filters), false, type);
    for (i64 row = 0; row < one.rows(); ++row)
      for (i64 f = 0; f < filters; ++f)
        out.sums[place(row * k.shape[3] + g * filters + f)] = one.sums[place(row * filters + f)];
  }
  return out;
}

}  // namespace morello::run
