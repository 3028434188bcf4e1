// evaluate() against loops written by hand, and its laws.
#include "spec/computation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "spec/graph.h"
#include "spec/random_spec.h"

namespace morello {
namespace {

using Values = std::vector<double>;

Values evaluate_spec(const std::string& text, const std::vector<Values>& inputs) {
  const auto spec = parse_spec(text);
  if (!spec) FAIL(spec.error().str());
  return evaluate(spec->computation(), inputs);
}

Values random_values(Random& random, i64 n, i64 least = -9, i64 most = 9) {
  Values v(static_cast<size_t>(n));
  for (double& x : v) x = static_cast<double>(pick(random, least, most));
  return v;
}

TEST_CASE("matmul, batched and with a missing batch dimension") {
  Random random(1);
  constexpr i64 kBatch = 3, kM = 4, kN = 5, kK = 6;
  for (const bool a_batched : {false, true}) {
    for (const bool b_batched : {false, true}) {
      const i64 batch = a_batched || b_batched ? kBatch : 1;
      const Values a = random_values(random, (a_batched ? batch : 1) * kM * kK);
      const Values b = random_values(random, (b_batched ? batch : 1) * kK * kN);
      Values expected(static_cast<size_t>(batch * kM * kN));
      for (i64 i = 0; i < batch; ++i)
        for (i64 m = 0; m < kM; ++m)
          for (i64 n = 0; n < kN; ++n) {
            double sum = 0;
            for (i64 k = 0; k < kK; ++k)
              sum += a[static_cast<size_t>(((a_batched ? i : 0) * kM + m) * kK + k)] *
                     b[static_cast<size_t>(((b_batched ? i : 0) * kK + k) * kN + n)];
            expected[static_cast<size_t>((i * kM + m) * kN + n)] = sum;
          }
      // Layouts say where elements lie, not what they are.
      for (const char* layouts : {"", " col", " packed"}) {
        const std::string text = fmt::format(
            "(a: f32[{}4,6]{}, b: f32[{}6,5]{}): f32{} = matmul(a, b)", a_batched ? "3," : "",
            layouts, b_batched ? "3," : "", layouts, layouts[0] == ' ' ? " col" : "");
        CAPTURE(text);
        CHECK(evaluate_spec(text, {a, b}) == expected);
      }
    }
  }
}

// Strides, dilations and groups, whatever the layouts; a stage stores the border.
TEST_CASE("conv2d and pad") {
  struct Row {
    i64 stride_h, stride_w, dilation, groups, channels, filters, taps_h, taps_w;
  };
  Random random(3);
  for (const Row& r : {Row{1, 1, 1, 1, 3, 4, 3, 2},
                       {2, 1, 1, 1, 2, 5, 2, 3},
                       {1, 3, 2, 1, 4, 2, 3, 3},
                       {1, 1, 1, 2, 4, 6, 3, 1},
                       {2, 2, 1, 6, 6, 6, 2, 2},
                       {1, 1, 1, 1, 3, 2, 1, 1},
                       {1, 2, 2, 3, 3, 6, 1, 2}}) {
    constexpr i64 kBatch = 2, kRows = 7, kColumns = 8, kBefore = 1, kBehind = 2;
    const i64 inner = r.channels / r.groups, each = r.filters / r.groups;
    const i64 rows = (kRows + kBefore + kBehind - (r.taps_h - 1) * r.dilation - 1) / r.stride_h + 1;
    const i64 columns = (kColumns - (r.taps_w - 1) * r.dilation - 1) / r.stride_w + 1;
    const Values x = random_values(random, kBatch * kRows * kColumns * r.channels);
    const Values k = random_values(random, r.taps_h * r.taps_w * inner * r.filters);
    Values expected;
    for (i64 b = 0; b < kBatch; ++b)
      for (i64 h = 0; h < rows; ++h)
        for (i64 w = 0; w < columns; ++w)
          for (i64 f = 0; f < r.filters; ++f) {
            double sum = 0;
            for (i64 i = 0; i < r.taps_h; ++i)
              for (i64 j = 0; j < r.taps_w; ++j)
                for (i64 c = 0; c < inner; ++c) {
                  const i64 row = h * r.stride_h + i * r.dilation - kBefore;
                  const i64 column = w * r.stride_w + j * r.dilation;
                  if (row < 0 || row >= kRows) continue;
                  sum +=
                      x[static_cast<size_t>(((b * kRows + row) * kColumns + column) * r.channels +
                                            f / each * inner + c)] *
                      k[static_cast<size_t>(((i * r.taps_w + j) * inner + c) * r.filters + f)];
                }
            expected.push_back(sum);
          }
    for (const char* layout : {"", " order(0, 3, 1, 2)", " order(3, 1, 2, 0)"}) {
      const std::string text = fmt::format(
          "(x: f32[{},{},{},{}]{}, k: f32[{},{},{},{}]): f32{} = conv2d(pad(x, axis=1, low={}, "
          "high={}), k, stride_h={}, stride_w={}, dilation={}, groups={})",
          kBatch, kRows, kColumns, r.channels, layout, r.taps_h, r.taps_w, inner, r.filters, layout,
          kBefore, kBehind, r.stride_h, r.stride_w, r.dilation, r.groups);
      CAPTURE(text);
      const auto spec = parse_spec(text);
      if (!spec) FAIL(spec.error().str());
      CHECK(evaluate(graph_of(*spec), {x, k}) == expected);
    }
  }
}

TEST_CASE("reduce_sum over each axis") {
  Random random(2);
  const Values x = random_values(random, 2 * 3 * 4);
  const auto at = [&](int i, int j, int k) { return x[static_cast<size_t>((i * 3 + j) * 4 + k)]; };
  Values over0(12), over1(8), over2(6);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) {
        over0[static_cast<size_t>(j * 4 + k)] += at(i, j, k);
        over1[static_cast<size_t>(i * 4 + k)] += at(i, j, k);
        over2[static_cast<size_t>(i * 3 + j)] += at(i, j, k);
      }
  for (const char* layout : {"", " col", " order(2, 0, 1)", " order(0, 2/2, 1, 2%2)"}) {
    const std::string x_type = fmt::format("(x: f32[2,3,4]{}): f32 = reduce_sum(x, axis=", layout);
    CHECK(evaluate_spec(x_type + "0)", {x}) == over0);
    CHECK(evaluate_spec(x_type + "1)", {x}) == over1);
    CHECK(evaluate_spec(x_type + "2)", {x}) == over2);
  }
  CHECK(evaluate_spec("(x: f32[3]): f32 = reduce_sum(x, axis=0)", {{1, 2, 4.5}}) == Values{7.5});
}

TEST_CASE("the largest, the smallest and the mean") {
  const Values x = {3, -1, 7, 2, -9, 4};
  CHECK(evaluate_spec("(x: f32[2,3]): f32 = reduce_max(x, axis=1)", {x}) == Values{7, 4});
  CHECK(evaluate_spec("(x: f32[2,3]): f32 = reduce_min(x, axis=0)", {x}) == Values{2, -9, 4});
  CHECK(evaluate_spec("(x: i8[2,3]): f32 = reduce_mean(x, axis=1)", {x}) == Values{3, -1});
  CHECK(evaluate_spec("(x: i32[2]): i32 = reduce_max(x, axis=0)", {{-5, -2147483648.0}}) ==
        Values{-5});
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(evaluate_spec("(x: f32[2]): f32 = reduce_max(x, axis=0)", {{-inf, -inf}}) == Values{-inf});
  for (const char* op : {"reduce_max", "reduce_min", "reduce_mean"})
    for (const Values& v : {Values{1, NAN, 2}, Values{NAN, inf, -inf}})
      CHECK(std::isnan(
          evaluate_spec(fmt::format("(x: f32[3]): f32 = {}(x, axis=0)", op), {v}).front()));
}

TEST_CASE("elementwise") {
  const std::vector<Values> inputs = {{1, 2, 3, 4}, {0.5, -1, 10, 0}};
  CHECK(evaluate_spec("(a: f32[2,2], b: f32[2,2]): f32 = a + b", inputs) == Values{1.5, 1, 13, 4});
  CHECK(evaluate_spec("(a: f32[2,2], b: f32[2,2] col): f32 = a * b", inputs) ==
        Values{0.5, -2, 30, 0});
  CHECK(evaluate_spec("(a: f32[2,2]): f32 col = convert(a)", {inputs[0]}) == inputs[0]);
}

TEST_CASE("integers are exact and wrap to 32 bits") {
  // 255 * -128 * 70000 = -2284800000 is below -2^31.
  const std::string text = "(a: u8[1,70000], b: i8[70000,1]): i32 = matmul(a, b)";
  CHECK(evaluate_spec(text, {Values(70000, 255), Values(70000, -128)}) == Values{2010167296});
  const Values extremes = {2147483647, -2147483648.0};
  CHECK(evaluate_spec("(a: i32[2]): i32 = a + a", {extremes}) == Values{-2, 0});
  CHECK(evaluate_spec("(a: i32[2]): i32 = a * a", {extremes}) == Values{1, 0});
  CHECK(evaluate_spec("(a: i32[2]): f32 = a + a", {extremes}) == Values{4294967294, -4294967296});
}

// The definition once more, as slow and as literal as possible: axis maps, no strides.
Values evaluate_literally(const Computation& c, const std::vector<Values>& inputs) {
  i64 points = 1, out_size = 1;
  for (const Dim& d : c.dims) points *= d.extent;
  for (const i64 extent : c.output().shape) out_size *= extent;
  const auto element = [&](const Operand& o, const std::vector<i64>& index) {
    i64 at = 0;
    for (size_t axis = 0; axis < o.shape.size(); ++axis) {
      i64 x = 0;
      for (const AxisTerm& t : o.axes[axis]) x += t.coefficient * index[static_cast<size_t>(t.dim)];
      REQUIRE((x >= 0 && x < o.shape[axis]));
      at = at * o.shape[axis] + x;
    }
    return static_cast<size_t>(at);
  };
  Values out(static_cast<size_t>(out_size));
  const auto at = [&](int tensor, const std::vector<i64>& index) {
    const size_t i = static_cast<size_t>(tensor < c.inputs() ? tensor : tensor - 1);
    return inputs[i][element(c.tensor(tensor), index)];
  };
  std::vector<double> in, extra;
  for (i64 p = 0; p < points; ++p) {
    std::vector<i64> index(c.dims.size());
    i64 rest = p;
    for (size_t d = 0; d < c.dims.size(); rest /= c.dims[d].extent, ++d)
      index[d] = rest % c.dims[d].extent;
    in.clear();
    extra.clear();
    for (int t = 0; t < c.tensors(); ++t)
      if (t != c.inputs()) (t < c.inputs() ? in : extra).push_back(at(t, index));
    const double value = evaluate(c.body, in, extra);
    double& result = out[element(c.output(), index)];
    bool first = true;
    for (size_t d = 0; d < c.dims.size(); ++d)
      if (c.dims[d].reduction) first &= index[d] == 0;
    result = first                        ? value
             : c.combine == Combine::kSum ? result + value
             : c.combine == Combine::kMax ? std::max(result, value)
                                          : std::min(result, value);
    // The last point of a sum: reductions come last, so nothing is added any more.
    bool last = true;
    for (size_t d = 0; d < c.dims.size(); ++d)
      if (c.dims[d].reduction) last &= index[d] + 1 == c.dims[d].extent;
    if (last && !c.finish.empty()) result = evaluate(c.finish, in, extra, result);
  }
  return out;
}

TEST_CASE("random specs: every index is inside its tensor, and evaluate follows the axis maps") {
  constexpr std::uint64_t kSeed = 11;
  Random random(kSeed);
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_spec(random);
    CAPTURE(kSeed);
    CAPTURE(round);
    CAPTURE(text);
    const auto spec = parse_spec(text);
    REQUIRE(spec.ok());
    const Computation& c = spec->computation();
    REQUIRE(c.dims.size() <= kMaxDims);
    std::vector<Values> inputs;
    for (size_t i = 0; i < spec->arguments().size(); ++i) {
      // Collapsing keeps the sequence of values, so the sizes are those of the parameters.
      i64 n = 1, user = 1;
      const int argument = static_cast<int>(i);
      const Operand& o = c.tensor(argument < c.inputs() ? argument : argument + 1);
      for (const i64 extent : o.shape) n *= extent;
      for (const Size& size : spec->params[static_cast<size_t>(spec->arguments()[i])].shape)
        user *= size.extent;
      REQUIRE(n == user);
      inputs.push_back(random_values(random, n, 0, 9));
    }
    REQUIRE(evaluate(c, inputs) == evaluate_literally(c, inputs));
  }
}

TEST_CASE("collapsing changes no address: old and new operands agree element by element") {
  constexpr std::uint64_t kSeed = 12;
  Random random(kSeed);
  for (int round = 0; round < 400; ++round) {
    const auto spec = parse_spec(random_spec(random));
    REQUIRE(spec.ok());
    const Computation& c = spec->computation();
    for (int t = 0; t < c.tensors(); ++t) {
      const auto argument = static_cast<size_t>(t < c.inputs() ? t : t - 1);
      const Param& user = t == c.inputs()
                              ? spec->result()
                              : spec->params[static_cast<size_t>(spec->arguments()[argument])];
      if (user.packed || c.tensor(t).shape.empty()) continue;
      CAPTURE(spec->str());
      const Operand& operand = c.tensor(t);
      const std::vector<i64> shape = extents(user.shape);
      REQUIRE(user.layout.elements(shape) == operand.layout.elements(operand.shape));
      const auto offset_of = [](const Layout& layout, const std::vector<i64>& of, i64 element) {
        std::vector<i64> index(of.size());
        for (size_t axis = of.size(); axis-- > 0; element /= of[axis])
          index[axis] = element % of[axis];
        return layout.offset(index, of);
      };
      i64 n = 1;
      for (const i64 extent : shape) n *= extent;
      for (i64 element = 0; element < n; ++element)
        REQUIRE(offset_of(user.layout, shape, element) ==
                offset_of(operand.layout, operand.shape, element));
    }
  }
}

TEST_CASE("what windows leave out stays where extents change") {
  const Result<KernelSpec> k =
      parse_spec("(x: f32[4,9,6,3], k: f32[3,3,3,5]): f32 = conv2d(x, k, stride=2)");
  REQUIRE(k);
  const Computation& c = k->computation();
  std::vector<i64> extents;
  for (const Dim& d : c.dims) extents.push_back(d.name == "b" ? 7 : d.name == "h" ? 2 : d.extent);
  const Computation part = with_extents(c, extents);
  CHECK(part.operands[0].shape == std::vector<i64>{7, 5, 18});
  CHECK(part.output().shape == std::vector<i64>{7, 2, 2, 5});
}

}  // namespace
}  // namespace morello
