// Random functions that reshape what they compute: either refused for a reason that is known, or
// right.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "import/import.h"
#include "import/meaning.h"
#include "long.h"
#include "spec/random_spec.h"

namespace morello::test {
namespace {

using Shape = std::vector<i64>;

std::string type(const Shape& s) {
  return fmt::format("tensor<{}{}f32>", fmt::join(s, "x"), s.empty() ? "" : "x");
}

i64 count(const Shape& s) {
  return std::accumulate(s.begin(), s.end(), i64{1}, std::multiplies<>());
}

class Author {
 public:
  explicit Author(Random& random) : random_(random) {}

  std::string text() {
    now_ = param(some_shape(1, 4));
    for (i64 steps = pick(random_, 3, 9); steps > 0; --steps) step();
    if (params_.size() == 1 && before_.empty()) unary();
    std::string results = type(now_.shape), names = now_.name;
    if (one_in(3)) {
      names += ", " + before_.back().name;
      results += ", " + type(before_.back().shape);
      ++results_;
    }
    return fmt::format("func.func @f({}) -> ({}) {{\n{}  return {} : {}\n}}\n",
                       fmt::join(params_, ", "), results, lines_, names, results);
  }
  int results() const { return results_; }

 private:
  struct Value {
    std::string name;
    Shape shape;
  };

  bool one_in(i64 n) { return pick(random_, 1, n) == 1; }
  int axis(const Shape& s) { return static_cast<int>(pick(random_, 0, i64(s.size()) - 1)); }

  Shape some_shape(i64 least, i64 most) {
    static constexpr i64 kExtents[] = {1, 2, 2, 3, 4, 6};
    Shape s(static_cast<size_t>(pick(random_, least, most)));
    for (i64& extent : s) extent = kExtents[pick(random_, 0, 5)];
    return s;
  }

  Value param(Shape shape) {
    const std::string name = fmt::format("%p{}", params_.size());
    params_.push_back(name + ": " + type(shape));
    return {name, std::move(shape)};
  }

  void made(const std::string& what, Shape shape) {
    before_.push_back(now_);
    now_ = {fmt::format("%v{}", before_.size()), std::move(shape)};
    lines_ += fmt::format("  {} = {}\n", now_.name, what);
  }

  void step() {
    switch (pick(random_, 0, 9)) {
      case 0:
        return unary();
      case 1:
      case 2:
        return transpose();
      case 3:
        return reduce();
      case 4:
        return broadcast();
      case 5:
        return dot();
      case 6:
        return binary();
      default:
        return reshape();
    }
  }

  void unary() {
    made(fmt::format("stablehlo.tanh {} : {}", now_.name, type(now_.shape)), now_.shape);
  }

  // With what there was of the same shape, or something new.
  void binary() {
    Value other;
    for (const Value& v : before_)
      if (v.shape == now_.shape && one_in(2)) other = v;
    if (other.name.empty()) other = param(now_.shape);
    made(fmt::format("stablehlo.add {}, {} : {}", now_.name, other.name, type(now_.shape)),
         now_.shape);
  }

  void reshape() {
    Shape factors, to;
    for (i64 extent : now_.shape) {
      Shape own;
      for (i64 prime = 2; extent > 1;)
        if (extent % prime == 0)
          own.push_back(prime), extent /= prime;
        else
          ++prime;
      if (one_in(2)) std::reverse(own.begin(), own.end());
      factors.insert(factors.end(), own.begin(), own.end());
    }
    for (const i64 f : factors) {
      if (to.empty() || to.size() < 6 ? one_in(2) || to.empty() : false)
        to.push_back(f);
      else
        to.back() *= f;
      if (one_in(10) && to.size() < 6) to.push_back(1);
    }
    made(fmt::format("stablehlo.reshape {} : ({}) -> {}", now_.name, type(now_.shape), type(to)),
         to);
  }

  void transpose() {
    std::vector<int> order(now_.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    Shape to;
    for (const int from : order) to.push_back(now_.shape[static_cast<size_t>(from)]);
    made(fmt::format("stablehlo.transpose {}, dims = [{}] : ({}) -> {}", now_.name,
                     fmt::join(order, ", "), type(now_.shape), type(to)),
         to);
  }

  void reduce() {
    if (now_.shape.empty()) return unary();
    const int along = axis(now_.shape);
    Shape to = now_.shape;
    to.erase(to.begin() + along);
    const bool adds = one_in(2);
    const std::string start = fmt::format("%c{}", before_.size());
    lines_ += fmt::format("  {} = stablehlo.constant dense<{}> : tensor<f32>\n", start,
                          adds ? "0.0" : "0xFF800000");
    made(
        fmt::format("stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = [{}] : "
                    "({}, tensor<f32>) -> {}",
                    now_.name, start, adds ? "add" : "maximum", along, type(now_.shape), type(to)),
        to);
  }

  // One more axis, and those of one element become longer.
  void broadcast() {
    if (now_.shape.size() > 4 || count(now_.shape) > 200) return unary();
    Shape to = now_.shape;
    std::vector<int> dims(to.size());
    std::iota(dims.begin(), dims.end(), 0);
    for (i64& extent : to)
      if (extent == 1 && one_in(2)) extent = 2;
    const i64 at = pick(random_, 0, i64(to.size()));
    to.insert(to.begin() + at, pick(random_, 1, 3));
    for (int& d : dims) d += d >= at;
    made(fmt::format("stablehlo.broadcast_in_dim {}, dims = [{}] : ({}) -> {}", now_.name,
                     fmt::join(dims, ", "), type(now_.shape), type(to)),
         to);
  }

  // With something new that has some of the axes, and one of its own.
  void dot() {
    if (now_.shape.empty()) return unary();
    std::vector<int> batch, sum;
    Shape other, to;
    const int along = axis(now_.shape);
    for (int a = 0; a < static_cast<int>(now_.shape.size()); ++a) {
      if (a == along || one_in(5))
        sum.push_back(a);
      else if (one_in(4))
        batch.push_back(a);
    }
    std::vector<int> other_batch, other_sum, order(batch.size() + sum.size() + 1);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    other.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const bool is_batch = i < batch.size(), is_sum = !is_batch && i < batch.size() + sum.size();
      const int own = is_batch ? batch[i] : is_sum ? sum[i - batch.size()] : -1;
      other[static_cast<size_t>(order[i])] =
          own < 0 ? pick(random_, 1, 4) : now_.shape[static_cast<size_t>(own)];
      if (is_batch) other_batch.push_back(order[i]);
      if (is_sum) other_sum.push_back(order[i]);
    }
    for (const int a : batch) to.push_back(now_.shape[static_cast<size_t>(a)]);
    for (int a = 0; a < static_cast<int>(now_.shape.size()); ++a)
      if (std::count(batch.begin(), batch.end(), a) + std::count(sum.begin(), sum.end(), a) == 0)
        to.push_back(now_.shape[static_cast<size_t>(a)]);
    to.push_back(other[static_cast<size_t>(order.back())]);
    const Value with = param(other);
    made(
        fmt::format("stablehlo.dot_general {}, {}, batching_dims = [{}] x [{}], contracting_dims = "
                    "[{}] x [{}] : ({}, {}) -> {}",
                    now_.name, with.name, fmt::join(batch, ", "), fmt::join(other_batch, ", "),
                    fmt::join(sum, ", "), fmt::join(other_sum, ", "), type(now_.shape), type(other),
                    type(to)),
        to);
  }

  Random& random_;
  int results_ = 1;
  Value now_;
  std::vector<Value> before_;
  std::vector<std::string> params_;
  std::string lines_;
};

// What a function may be refused for. Results that are one tensor or one number repeated along axes
// are not always something that the language can say, above all of two of them at once.
struct Reason {
  std::string_view text;
  int least_results = 1;
};
constexpr Reason kReasons[] = {{"neither divides the other"},
                               {"is needed with its axes in another order"},
                               {"at most"},
                               {"the result of broadcast has the shape"},
                               {"no operand says how long the axis is"},
                               {"needs operands of one shape", 2}};

TEST_CASE("random functions with reshapes") {
  constexpr int kRounds = kLong ? 5000 : 500;
  Random random(5);
  int right = 0;
  std::map<std::string_view, int> refused;
  for (int i = 0; i < kRounds; ++i) {
    Author author(random);
    const std::string text = author.text();
    CAPTURE(text);
    const auto kernels = hlo::import_kernels(text, "f.mlir");
    if (!kernels) {
      const auto why = std::find_if(std::begin(kReasons), std::end(kReasons), [&](const Reason& r) {
        return author.results() >= r.least_results &&
               kernels.error().text.find(r.text) != std::string::npos;
      });
      REQUIRE_MESSAGE(why != std::end(kReasons), kernels.error().str());
      ++refused[why->text];
      continue;
    }
    CAPTURE(kernels->front().str());
    const Source source{text, "f.mlir"};
    const auto modules = hlo::parse_stablehlo(source);
    const hlo::Module& m = modules->front();
    REQUIRE(difference(*hlo::inlined(m, m.functions[0], source), kernels->front()) == "");
    ++right;
  }
  for (const auto& [why, n] : refused) MESSAGE(n, " refused: ", why);
  MESSAGE(right, " right");
  CHECK(right > kRounds * 2 / 3);
}

}  // namespace
}  // namespace morello::test
