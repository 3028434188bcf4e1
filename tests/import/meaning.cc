#include "import/meaning.h"

#include <doctest/doctest.h>

#include <cmath>

#include "import/interpret.h"
#include "spec/graph.h"

namespace morello::test {
namespace {

// Where an element of a tensor of HLO lies.
Layout layout_of(const hlo::TensorType& t) {
  Layout out = Layout::row(static_cast<int>(t.shape.size()));
  for (size_t i = 0; i < t.minor_to_major.size(); ++i)
    out.digits[t.shape.size() - 1 - i].axis = t.minor_to_major[i];
  return out;
}

// From the order of indices to that in memory, or back.
std::vector<double> in_memory(const std::vector<double>& values, const Layout& layout,
                              const std::vector<i64>& shape, bool back) {
  std::vector<double> out(values.size());
  std::vector<i64> at(shape.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto place = static_cast<size_t>(shape.empty() ? 0 : layout.offset(at, shape));
    (back ? out[i] : out[place]) = back ? values[place] : values[i];
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
  return out;
}

std::vector<double> numbers(const hlo::TensorType& t, unsigned& seed) {
  i64 count = 1;
  for (const i64 extent : t.shape) count *= extent;
  std::vector<double> out;
  for (i64 i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    const double n = static_cast<double>(seed >> 16 & 31);
    out.push_back(t.pred                 ? n < 16
                  : is_float(t.dtype)    ? n / 8 - 2
                  : t.dtype == Dtype::u8 ? n
                                         : n - 16);
  }
  return out;
}

struct Compared {
  std::vector<double> is, expected;  // as they lie in memory
};

Compared compare(const hlo::Function& f, const KernelSpec& k) {
  unsigned seed = 5;
  std::vector<Tensor> given;
  std::vector<std::vector<double>> params;
  for (size_t i = 0; i < k.params.size(); ++i) {
    const hlo::TensorType& t = f.instructions[i].type;
    given.push_back({t.shape, numbers(t, seed)});
    const std::vector<double> memory = in_memory(given[i].values, layout_of(t), t.shape, false);
    params.push_back(in_memory(memory, k.params[i].layout, extents(k.params[i].shape), true));
  }
  const std::vector<Tensor> expected = interpret(f, given);
  const std::vector<double> is = evaluate(graph_of(k), params);
  REQUIRE(expected.size() == k.results.size());
  Compared out;
  auto next = is.begin();
  const auto append = [](std::vector<double>& to, const std::vector<double>& values) {
    to.insert(to.end(), values.begin(), values.end());
  };
  for (size_t r = 0; r < expected.size(); ++r) {
    const auto begin = next;
    next += count_elements(extents(k.result(r).shape));
    append(out.is, in_memory({begin, next}, k.result(r).layout, extents(k.result(r).shape), false));
    const hlo::TensorType& made = f.instructions[static_cast<size_t>(f.results[r])].type;
    append(out.expected, in_memory(expected[r].values, layout_of(made), made.shape, false));
  }
  REQUIRE(out.is.size() == out.expected.size());
  return out;
}

}  // namespace

std::string difference(const hlo::Function& f, const KernelSpec& k) {
  const auto [is, expected] = compare(f, k);
  for (size_t i = 0; i < is.size(); ++i)
    if (is[i] != expected[i] &&
        !(std::abs(is[i] - expected[i]) <= 1e-6 * (1 + std::abs(expected[i]))))
      return fmt::format("element {}: {}, expected {}", i, is[i], expected[i]);
  return "";
}

}  // namespace morello::test
