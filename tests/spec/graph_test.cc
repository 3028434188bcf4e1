// Stages with the dims that they have in common.
#include "spec/graph.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace morello {
namespace {

// The extents of all dims.
struct Row {
  std::string_view text;
  std::string_view dims;
};

const Row kRows[] = {
    {"(x: f32[6,5]): f32 = softmax(x, axis=1)", "6 5"},
    // One run of rows, or of columns.
    {"(x: f32[2,3,4,5]): f32 = softmax(x, axis=3)", "24 5"},
    {"(x: f32[2,3,4,5]): f32 = softmax(x, axis=1)", "2 20 3"},
    {"(x: f32[2,3,4,5]): f32 = softmax(x, axis=0)", "60 2"},
    // All of it: nothing but elements.
    {"(x: f32[2,3,4]): f32 = h + x where h: bf16 = exp(x)", "24"},
    // Heads of a batch; of keys and queries each has axes that the other has not.
    {"(q: f32[2,3,4,8], k: f32[2,3,5,8], v: f32[2,3,5,7]): f32 = "
     "matmul(softmax(matmul(q, transpose(k)), axis=3), v)",
     "6 4 5 8 7"},
    // What is read beside it has one of the axes only; or is turned around.
    {"(x: f32[2,3,5], y: f32[3,5]): f32 = softmax(x + y, axis=2)", "2 3 5"},
    {"(x: f32[2,3,5], y: f32[3]): f32 = softmax(x, axis=2) * broadcast(y, axis=1)", "2 3 5"},
    {"(x: f32[4,4]): f32 = h + transpose(h) where h: f32 = x * x", "4 4"},
    // Summed over one after the other.
    {"(x: f32[2,3,4]): f32 = reduce_sum(reduce_max(x, axis=2), axis=1)", "2 3 4"},
    // The caller decides where rows lie.
    {"(x: f32[2,3,5] order(1, 0, 2)): f32 = softmax(x, axis=2)", "2 3 5"},
    {"(x: f32[2,3,5] order(2, 0, 1)): f32 = softmax(x, axis=2)", "6 5"},
    {"(x: f32[4,6,5] order(1/2, 0, 1%2, 2)): f32 = softmax(x, axis=2)", "4 6 5"},
    // A border along one of the axes lies between the rows of the other.
    {"(x: f32[2,3,4,5]): f32 = pad(x, axis=1, low=1) * 2", "2 3 20 4"},
    {"(x: f32[2,3,4,5]): f32 = pad(x, axis=0, low=1) * 2", "2 60 3"},
};

std::vector<double> numbers(const Param& p, int& value) {
  std::vector<double> out;
  for (i64 i = 0; i < count_elements(extents(p.shape)); ++i)
    out.push_back((value = (value * 5 + 3) % 11) % 4);
  return out;
}

// The stages as the spec has them.
Graph given(const KernelSpec& spec) {
  Graph g{.stages = spec.stages,
          .tensors = {},
          .params = static_cast<int>(spec.params.size()),
          .dims = {}};
  for (int t = 0; t < spec.tensors(); ++t) g.tensors.push_back(spec.tensor(t));
  for (const int stage : spec.results) g.results.push_back(spec.made_by(stage));
  return g;
}

TEST_CASE("neighbouring dims of all stages become one, and nothing else changes") {
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const auto spec = parse_spec(row.text);
    REQUIRE(spec);
    const Graph g = graph_of(*spec), plain = given(*spec);
    std::vector<i64> dims;
    for (const GraphDim& d : g.dims) dims.push_back(d.extent);
    CHECK(fmt::format("{}", fmt::join(dims, " ")) == row.dims);
    std::vector<std::vector<double>> params;
    int value = 0;
    for (const Param& p : spec->params) params.push_back(numbers(p, value));
    CHECK(evaluate(g, params) == evaluate(plain, params));
    for (size_t t = 0; t < g.tensors.size(); ++t) {
      CHECK(count_elements(extents(g.tensors[t].shape)) ==
            count_elements(extents(plain.tensors[t].shape)));
      CHECK(layout_problem(g.tensors[t].layout, static_cast<int>(g.tensors[t].shape.size())) == "");
    }
  }
}

TEST_CASE("what lies in the memory of the result") {
  const auto in_result = [](std::string_view text) {
    const Graph g = graph_of(*parse_spec(text));
    return g.in_result < 0 ? "nothing" : g.tensors[static_cast<size_t>(g.in_result)].name;
  };
  CHECK(in_result("(x: f32[3,40]): f32 = softmax(x, axis=1)") != "nothing");
  // Read when a sum is finished.
  CHECK(in_result("(x: f32[3,40]): f32 = reduce_sum(x, axis=1) + reduce_max(x, axis=1)") !=
        "nothing");
  // Read for every element of what is compared, where the least so far lies.
  CHECK(in_result("(x: f32[3,40]): f32 = reduce_min(x - broadcast(reduce_max(x, axis=1), axis=1), "
                  "axis=1)") == "nothing");
}

}  // namespace
}  // namespace morello
