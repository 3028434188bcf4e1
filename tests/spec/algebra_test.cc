// Other stages with the same results: which they are, and that their results are the same.
#include "spec/algebra.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <span>

namespace morello {
namespace {

Graph graph(std::string_view text) {
  const auto k = parse_spec(text);
  REQUIRE_MESSAGE(k.ok(), (k.ok() ? "" : k.error().str()));
  return graph_of(*k);
}

std::vector<std::string> text(const std::optional<Graph>& g) {
  std::vector<std::string> out;
  for (int s = 0; g && s < static_cast<int>(g->stages.size()); ++s)
    out.push_back((g->is_carried(s) ? "carried: " : "") + g->tensors[g->made_by(s)].name + " = " +
                  str(g->stages[s].computation));
  return out;
}

std::string joined(const auto& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

// Numbers from -2 to 2, the same every time.
std::vector<std::vector<double>> values(const Graph& g) {
  std::vector<std::vector<double>> out;
  int value = 0;
  for (int t = 0; t < g.params; ++t) {
    out.emplace_back();
    for (i64 i = 0; i < count_elements(extents(g.tensors[t].shape)); ++i)
      out.back().push_back(((value = (value * 5 + 3) % 97) % 17 - 8) * 0.25);
  }
  return out;
}

struct Row {
  std::string_view text;
  std::vector<std::string_view> apart, online;
};

const Row kRows[] = {
    {"(x: f32[8,20]): f32 = softmax(x, axis=1)",
     {"t0 = (x: f32[i0,k]) -> f32[i0]: in0, max over k; i0=8 k=20",
      "t1 = (x: f32[i0,i1], t0: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - extra0); i0=8 i1=20",
      "t2_sum = (t1: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=8 k=20",
      "t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=8",
      "out = (t1: f32[i0,i1], t2: f32[i0]) -> f32[i0,i1]: in0 * extra0; i0=8 i1=20"},
     {"carried: t0_before = (t0: f32[i0]) -> f32[i0]: in0; i0=8",
      "t0 = (x: f32[i0,k]) -> f32[i0]: in0, max over k; i0=8 k=20",
      "carried: t0_growth = (t0_before: f32[i0], t0: f32[i0]) -> f32[i0]: "
      "exp_nonpositive(max(in0, -3.4028235e+38) - max(in1, -3.4028235e+38)); i0=8",
      "carried: t2_sum_scaled = (t2_sum: f32[i0], t0_growth: f32[i0]) -> f32[i0]: in0 * in1; i0=8",
      "t1 = (x: f32[i0,i1], t0: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - max(extra0, "
      "-3.4028235e+38)); "
      "i0=8 i1=20",
      "t2_sum = (t1: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=8 k=20",
      "t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=8",
      "out = (x: f32[i0,i1], t0: f32[i0], t2: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - "
      "extra0) * extra1; "
      "i0=8 i1=20"}},
    // Attention: no scores are divided by their sum, but rows of the result are.
    {"(s: f32[9,30], v: f32[30,4]): f32 = matmul(softmax(s, axis=1), v)",
     {"t0 = (s: f32[i0,k]) -> f32[i0]: in0, max over k; i0=9 k=30",
      "t1 = (s: f32[i0,i1], t0: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - extra0); i0=9 i1=30",
      "t2_sum = (t1: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=9 k=30",
      "t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=9",
      "t3 = (t1: f32[i0,i1], t2: f32[i0]) -> f32[i0,i1]: in0 * extra0; i0=9 i1=30",
      "out = (t3: f32[m,k], v: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=9 n=4 k=30"},
     {"carried: t0_before = (t0: f32[i0]) -> f32[i0]: in0; i0=9",
      "t0 = (s: f32[i0,k]) -> f32[i0]: in0, max over k; i0=9 k=30",
      "carried: t0_growth = (t0_before: f32[i0], t0: f32[i0]) -> f32[i0]: "
      "exp_nonpositive(max(in0, -3.4028235e+38) - max(in1, -3.4028235e+38)); i0=9",
      "carried: t2_sum_scaled = (t2_sum: f32[i0], t0_growth: f32[i0]) -> f32[i0]: in0 * in1; i0=9",
      "carried: out_sum_scaled = (out_sum: f32[m,n], t0_growth: f32[m]) -> f32[m,n]: in0 * extra0; "
      "m=9 n=4",
      "t1 = (s: f32[i0,i1], t0: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - max(extra0, "
      "-3.4028235e+38)); "
      "i0=9 i1=30",
      "t2_sum = (t1: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=9 k=30",
      "out_sum = (t1: f32[m,k], v: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=9 n=4 k=30",
      "t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=9",
      "out = (out_sum: f32[m,n], t2: f32[m]) -> f32[m,n]: in0 * extra0; m=9 n=4"}},
    // No exponentials; and sums that are stored as they are added up.
    {"(a: f32[4,5], b: f32[5,6], c: f32[6,7]): f32 = matmul(matmul(a, b), c)", {}, {}},
    {"(a: f32[4,5], b: f32[5,6], c: f32[6,7]): bf16 = relu(matmul(matmul(a, b), c))",
     {"t0 = (a: f32[m,k], b: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=4 n=6 k=5",
      "out_sum = (t0: f32[m,k], c: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=4 n=7 k=6",
      "out = (out_sum: f32[m,n]) -> bf16[m,n]: max(in0, 0); m=4 n=7"},
     {}},
    // Of another maximum than that of the exponents; of a maximum that is read elsewhere, too.
    {"(x: f32[8,20], y: f32[8,20]): f32 = reduce_sum(exp(x - spread(reduce_max(y, axis=1), "
     "axis=1)), "
     "axis=1)",
     {},
     {}},
};

// Rows without stages: nothing is left out.
const std::pair<std::string_view, std::vector<std::string_view>> kPadded[] = {
    {"(x: f32[1,6,7,4], k: f32[3,3,4,5]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2), k)",
     {"out = (x: f32[b,h+r-1,w+s-2,c], k: f32[r,s,c,f]) -> f32[b,h,w,f]: in0 * in1, sum over r s "
      "c; "
      "b=1 h=6 w=7 f=5 r=3 s=3 c=4"}},
    {"(x: f32[1,6,7,4] order(0, 3, 1, 2), k: f32[3,1,1,4]): f32 = "
     "conv2d(pad(x, axis=1, low=2, high=1), k, groups=4, stride=2)",
     {"out = (x: f32[b,2*h+r-2,2*w,g] order(0, 3, 1, 2), k: f32[r,0,0,g]) -> f32[b,h,w,g]: in0 * "
      "in1, sum over r; b=1 h=4 w=4 g=4 r=3"}},
    // Windows in one place, of which less lies inside.
    {"(x: f32[2,3,6,4], k: f32[3,3,4,5]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k, dilation=2)",
     {"out = (x: f32[b,h+2*r-1,w+2*s-1,c], k: f32[r,s,c,f]) -> f32[b,h,w,f]: in0 * in1, sum over r "
      "s c; b=2 h=1 w=4 f=5 r=3 s=3 c=4"}},
    {"(x: f32[1,1,5,4], k: f32[3,3,4,1]): f32 = conv2d(pad(x, axis=1, low=1, high=1), k)",
     {"out = (x: f32[b,h+r-1,c+4*w], k: f32[r,c,0]) -> f32[b,h,w,0]: in0 * in1, sum over r c; b=1 "
      "h=1 w=3 f=1 r=3 c=12"}},
    // In one place along two axes, which are one dim then.
    {"(x: f32[1,1,1,4], k: f32[3,3,4,5]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k)",
     {}},
    // The second one reads what the first makes; that is stored with zeros around it.
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2], l: f32[3,1,2,2]): f32 = "
     "conv2d(pad(conv2d(pad(x, axis=1, low=1, high=1), k), axis=1, low=1, high=1), l)",
     {"t1 = (x: f32[b,h+r-1,w,0], k: f32[r,0,0,f]) -> f32[b,h,w,f]: in0 * in1, sum over r; "
      "b=1 h=6 w=3 f=2 r=3",
      "out = (t1: f32[b,h+r,w,c], l: f32[r,0,c,f]) -> f32[b,h,w,f]: in0 * in1, sum over r c; "
      "b=1 h=6 w=3 f=2 r=3 c=2"}},
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2]): f32 = conv2d(pad(x, axis=2, low=1), k)", {}},
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2]): f32 = conv2d(pad(x, axis=1, low=3), k)", {}},
    {"(x: f32[1,20,3,1], k: f32[9,1,1,2]): f32 = conv2d(pad(x, axis=1, low=4), k)", {}},
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2]): f32 = conv2d(relu(pad(x, axis=1, low=1)), k)", {}},
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2]): f32 = conv2d(pad(relu(x), axis=1, low=1), k)", {}},
    {"(x: f32[1,6,3,2] order(0, 1, 2, 3/2, 3%2), k: f32[3,1,2,2]): f32 = "
     "conv2d(pad(x, axis=1, low=1), k)",
     {}},
    {"(x: f32[1,6,3,1], k: f32[3,1,1,1]): (y: f32, p: f32) where p = pad(x, axis=1, low=1), "
     "y = conv2d(p, k)",
     {}},
};

using PaddedRow = std::pair<std::string_view, std::vector<std::string_view>>;

void check_unpadded(std::span<const PaddedRow> rows, PadsOut which) {
  for (const auto& [spec, stages] : rows) {
    CAPTURE(spec);
    const Graph g = graph(spec);
    const std::optional<Graph> other = unpadded(g, which);
    CHECK(joined(text(other)) == joined(stages));
    if (!other) continue;
    CHECK(other->pads_out == which);
    CHECK(evaluate(*other, values(g)) == evaluate(g, values(g)));
  }
}

TEST_CASE("pads that windows can do without") { check_unpadded(kPadded, PadsOut::kAll); }

// Those of the first padded axis only. Rows without stages: there is no other axis, or not even
// that can go.
const std::pair<std::string_view, std::vector<std::string_view>> kFirstPadded[] = {
    {"(x: f32[1,6,7,4], k: f32[3,3,4,5]): f32 = "
     "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2), k)",
     {"t0 = (x: f32[i0,i1,i2,i3]) -> f32[i0,i1,i2,i3]: in0; i0=1 i1=6 i2=7 i3=4",
      "out = (t0: f32[b,h+r-1,w+s,c], k: f32[r,s,c,f]) -> f32[b,h,w,f]: in0 * in1, sum over r s c; "
      "b=1 h=6 w=7 f=5 r=3 s=3 c=4"}},
    // What another axis lacks for windows does not matter.
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2]): f32 = "
     "conv2d(pad(pad(x, axis=2, low=1), axis=1, low=1), k)",
     {"t0 = (x: f32[i0,i1,i2,i3]) -> f32[i0,i1,i2,i3]: in0; i0=1 i1=6 i2=3 i3=1",
      "out = (t0: f32[b,h+r-1,w,0], k: f32[r,0,0,f]) -> f32[b,h,w,f]: in0 * in1, sum over r; b=1 "
      "h=5 w=4 f=2 r=3"}},
    {"(x: f32[1,6,7,4], k: f32[3,3,4,5]): f32 = conv2d(pad(x, axis=1, low=1, high=1), k)", {}},
    {"(x: f32[1,6,3,1], k: f32[3,1,1,2]): f32 = "
     "conv2d(pad(pad(x, axis=2, low=1), axis=1, low=3), k)",
     {}},
};

TEST_CASE("pads of the first axis that windows can do without") {
  check_unpadded(kFirstPadded, PadsOut::kFirst);
}

// What lies in the memory of the result, if anything does.
constexpr std::pair<std::string_view, std::string_view> kInResult[] = {
    {"(x: f32[4,9]): f32 = softmax(x, axis=1)", "t1"},
    {"(a: f32[4,3], b: f32[3,5], v: f32[5]): f32 = exp(matmul(a, b)) * v", ""},
    {"(a: f32[4,3], b: f32[3,5]): f32 = matmul(a, b) / broadcast(reduce_sum(matmul(a, b), axis=1), "
     "axis=1)",
     "t0"},
    {"(a: f32[4,4], b: f32[4,4], c: f32[4,4]): f32 = matmul(matmul(a, b), c)", ""},
};

TEST_CASE("results that nothing else lies in") {
  for (const auto& [spec, inside] : kInResult) {
    CAPTURE(spec);
    const Graph g = graph(spec);
    const std::optional<Graph> other = result_apart(g);
    REQUIRE(other.has_value() == !inside.empty());
    if (!other) continue;
    CHECK(g.tensors[g.in_result].name == inside);
    CHECK(!result_apart(*other).has_value());
    CHECK(other->stages == g.stages);
    CHECK(g.is_result(g.memory_of(g.in_result)));
    for (int t = g.params; t + 1 < static_cast<int>(g.tensors.size()); ++t)
      CHECK(!other->is_result(other->memory_of(t)));
  }
}

TEST_CASE("stages that can run in other tiles") {
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const Graph g = graph(row.text);
    CHECK(joined(text(sums_apart(g))) == joined(row.apart));
    CHECK(joined(text(online(g))) == joined(row.online));
    for (const auto& other : {sums_apart(g), online(g)}) {
      if (!other) continue;
      const std::vector<double> a = evaluate(g, values(g)), b = evaluate(*other, values(g));
      REQUIRE(a.size() == b.size());
      for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == doctest::Approx(a[i]).epsilon(1e-12));
    }
  }
}

// What elements are made of the exponentials, and where they begin to differ.
TEST_CASE("sums over exponentials, with more around them") {
  for (std::string_view text : {
           "(x: f32[6,7,20], s: f32[20]): f32 = softmax(x * 0.5 + s, axis=2)",
           "(x: f32[6,20,7]): f32 = softmax(x, axis=1)",
           "(x: f32[1,20]): f32 = softmax(x, axis=1)",
           "(x: f32[20]): f32 = softmax(x, axis=0)",
           "(q: f32[1,1,8], k: f32[1,30,8], v: f32[1,30,4]): f32 = "
           "matmul(softmax(matmul(q, transpose(k)), axis=2), v)",
           "(q: f32[12,8], k: f32[30,8], v: f32[30,4]): bf16 = "
           "matmul(softmax(matmul(q, transpose(k)) * 0.3, axis=1), v)",
           "(q: f32[2,12,8], k: f32[2,30,8], v: f32[2,30,4], m: f32[12,30], r: f32[2,12,4]): f32 = "
           "relu(matmul(softmax(matmul(q, transpose(k)) * 0.3 + m, axis=2), v)) + r",
           "(x: f32[9,30], w: f32[30,4]): f32 = matmul(e, w) + "
           "broadcast(reduce_sum(e, axis=1), axis=1) where "
           "e = exp(x - broadcast(reduce_max(x, axis=1), axis=1))",
           // The products with 1 / sum are a result beside the sum over them.
           "(x: f32[9,30], w: f32[30,4]): (o: f32, p: f32) where p = softmax(x, axis=1), "
           "o = matmul(p, w)",
           "(x: f32[9,30], w: f32[30,4]): (o: f16, p: f32) where p = softmax(x, axis=1), "
           "o = matmul(p, w)",
           // The maximum is a result, too.
           "(x: f32[9,30], w: f32[30,4]): (m: f32, s: f32, o: bf16) where "
           "m = reduce_max(x, axis=1), e = exp(x - broadcast(m, axis=1)), "
           "s = reduce_sum(e, axis=1), o = matmul(e, w)",
           // The products are another order of axes than the exponentials.
           "(x: f32[9,30], w: f32[4,30]): f32 = matmul(w, transpose(softmax(x, axis=1)))",
           "(x: f32[2,30,9], w: f32[30,4]): f32 = matmul(transpose(softmax(x * 2, axis=1)), w)",
           "(x: f32[2,9,30], w: f32[2,4,30]): f32 = "
           "transpose(matmul(w, transpose(softmax(x, axis=2))))",
       }) {
    CAPTURE(text);
    const Graph g = graph(text);
    const auto other = online(g);
    REQUIRE(other.has_value());
    CHECK(other->online.carried.size() >= 3);
    const std::vector<double> a = evaluate(g, values(g)), b = evaluate(*other, values(g));
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == doctest::Approx(a[i]).epsilon(1e-12));
  }
  // The maximum is used again; sums over another dim than the maximum's; sums of products with what
  // is made of the exponentials.
  for (std::string_view text : {
           "(x: f32[9,30]): f32 = reduce_sum(exp(x - broadcast(m, axis=1)), axis=1) * m where "
           "m = reduce_max(x, axis=1)",
           "(x: f32[9,30]): f32 = reduce_sum(exp(x - broadcast(reduce_max(x, axis=1), axis=1)), "
           "axis=0)",
           "(x: f32[5,23]): f32 = matmul(s, transpose(s)) where s = softmax(x, axis=1)",
           "(x: f32[5,23]): f32 = matmul(s, transpose(s + 1)) where s = softmax(x, axis=1)",
       }) {
    CAPTURE(text);
    CHECK_FALSE(online(graph(text)).has_value());
  }
}

}  // namespace
}  // namespace morello
