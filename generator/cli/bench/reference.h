// What a kernel should have written, element by element, and the comparison. The stages of a kernel
// (docs/spec.md, several sums) are evaluated one element at a time, as they are asked for.
#ifndef MORELLO_TESTBENCH_REFERENCE_H_
#define MORELLO_TESTBENCH_REFERENCE_H_

#include <cstring>
#include <numeric>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "inputs.h"

namespace morello::testbench {

// A float sum of terms in any order, with or without fused multiply-adds.
class Total {
 public:
  void add(const Bounds& term) {
    last_ = term;
    ++count_;
    open_ = open_ || term.open;
    lo_ += term.lo;
    hi_ += term.hi;
    const double size = std::max(std::fabs(term.lo), std::fabs(term.hi));
    if (size < kInfinity)
      magnitude_ += size;
    else
      special(term);
  }
  Bounds sum() const {
    if (count_ == 1) return last_;
    if (nan_ || (!open_ && (lo_ != lo_ || hi_ != hi_))) return Bounds::exactly(kNan);
    // A part of it may have overflowed; in no order if it is infinite anyway.
    if (open_ || magnitude_ > kLargest / 2) return Bounds::unknown();
    // Errors of so many roundings add up like a random walk; and subnormal steps may be lost.
    const auto n = static_cast<double>(count_);
    const double slack = (4 * std::sqrt(n) + 2) * 0x1p-24 * magnitude_ + n * 0x1p-125;
    return {lo_ - slack, hi_ + slack};
  }

 private:
  void special(const Bounds& term) {
    if (term.is_nan())
      nan_ = true;
    else if (!term.exact())
      open_ = true;
  }

  Bounds last_;
  std::int64_t count_ = 0;
  double lo_ = 0, hi_ = 0, magnitude_ = 0;
  bool open_ = false, nan_ = false;
};

template <class S>
class Reference {
 public:
  explicit Reference(Data<S>& data) : data_(data) {}

  template <std::size_t R>
  static std::int64_t outputs() {
    return count<Maker<R>>();
  }
  // Of output o of result R, counted along the dimensions of the stage that makes it.
  template <std::size_t R>
  Bounds expected(std::int64_t o) {
    std::int64_t point[Maker<R>::kDims + 1];
    point_of<Maker<R>>(o, point);
    return value<Maker<R>>(point);
  }
  template <std::size_t R>
  double got(std::int64_t o) const {
    using G = Maker<R>;
    std::int64_t point[G::kDims + 1];
    point_of<G>(o, point);
    return load(G::kType, data_.plain[static_cast<std::size_t>(S::kParams) + R].data(),
                G::offset(G::kInputs, point));
  }
  // A measure of the work so far.
  std::int64_t steps() const { return steps_; }

 private:
  using Stages = typename S::Stages;
  static constexpr std::size_t kStages = std::tuple_size_v<Stages>;
  template <std::size_t R>
  using Maker = std::tuple_element_t<static_cast<std::size_t>(S::kResults[R]), Stages>;
  template <class G>
  using Value = std::conditional_t<G::kFloat, Bounds, std::int64_t>;

  template <class G>
  static std::int64_t count() {
    std::int64_t n = 1;
    for (int d = 0; d < G::kDims; ++d)
      if (!G::kReduction[d]) n *= G::kExtents[d];
    return n;
  }
  template <class G>
  static void point_of(std::int64_t o, std::int64_t* point) {
    for (int d = G::kDims - 1; d >= 0; --d) {
      point[d] = G::kReduction[d] ? 0 : o % G::kExtents[d];
      if (!G::kReduction[d]) o /= G::kExtents[d];
    }
  }
  // The next point of the reduction; false after the last one.
  template <class G>
  static bool next(std::int64_t* point) {
    bool more = false;
    for (int d = G::kDims - 1; d >= 0 && !more; --d) {
      if (!G::kReduction[d]) continue;
      more = ++point[d] < G::kExtents[d];
      if (!more) point[d] = 0;
    }
    return more;
  }

  template <std::size_t... I>
  static bool in_border(std::size_t stage, std::int64_t at, std::index_sequence<I...>) {
    static constexpr bool (*kLocate[])(std::int64_t, std::int64_t*) = {
        &Reference::template locate<std::tuple_element_t<I, Stages>>...};
    constexpr int kMostDims = std::max({std::tuple_element_t<I, Stages>::kDims...});
    std::int64_t point[kMostDims + 1] = {};
    return !kLocate[stage](at, point);
  }
  template <class G>
  static bool reads_border([[maybe_unused]] const std::int64_t* point) {
    if constexpr (G::kPadded < 0) {
      return false;
    } else {
      const auto stage = static_cast<std::size_t>(G::kTensors[G::kPadded] - S::kParams);
      return in_border(stage, G::offset(G::kPadded, point), std::make_index_sequence<kStages>());
    }
  }

  // As an operand of arithmetic in integers or in f32, to which integers are converted.
  template <class G>
  std::int64_t operand(int tensor, const std::int64_t* point, std::int64_t) {
    return static_cast<std::int64_t>(element<G>(tensor, point).lo);
  }
  template <class G>
  Bounds operand(int tensor, const std::int64_t* point, Bounds) {
    const Bounds b = element<G>(tensor, point);
    return type_of(tensor_of<G>(tensor)) == Type::i32 ? fn::float_of(b) : b;
  }
  static Bounds bounds(const Bounds& b) { return b; }
  static Bounds bounds(std::int64_t n) { return Bounds::exactly(static_cast<double>(n)); }

  // The element of a stage's result at its point.
  template <class G>
  Bounds value(std::int64_t* point) {
    using V = Value<G>;
    V in[G::kInputs + 1] = {}, extra[G::kExtras + 1] = {};
    for (int i = 0; i < G::kExtras; ++i) extra[i] = operand<G>(G::kInputs + 1 + i, point, V());
    bool met_zeros = false;
    const V sum = combined<G>(point, in, extra, met_zeros);
    const Bounds out = finished<G>(point, sum, extra);
    if constexpr (G::kFloat)
      if (met_zeros) return either(out, finished<G>(point, Bounds::exactly(kNan), extra));
    return out;
  }
  template <class G, class V>
  Bounds finished(const std::int64_t* point, const V& sum, const V* extra) {
    if constexpr (!G::kFinishes) {
      return stored(G::kType, bounds(sum));
    } else if constexpr (G::kFloat || G::kWhole) {
      return stored(G::kType, bounds(G::template finish<V>(sum, extra)));
    } else {  // of integers, something in f32
      Bounds real[G::kExtras + 1];
      for (int i = 0; i < G::kExtras; ++i)
        real[i] = operand<G>(G::kInputs + 1 + i, point, Bounds());
      return stored(G::kType, G::template finish<Bounds>(bounds(sum), real));
    }
  }
  // `met_zeros`: without terms that are NaN, if they count, because the filter is infinite or NaN
  // where a window reads zeros around a parameter (docs/spec.md, NaN).
  template <class G, class V>
  V combined(std::int64_t* point, V* in, const V* extra, bool& met_zeros) {
    Total total;
    V all{};
    for (bool first = true, more = true; more; first = false) {
      for (int i = 0; i < G::kInputs; ++i) in[i] = operand<G>(i, point, V());
      const V term = G::template body<V>(in, extra);
      if constexpr (G::kFloat && G::kSums) {
        if (term.is_nan() && reads_border<G>(point))
          met_zeros = true;
        else
          total.add(term);
      } else {
        all = first ? term : G::combine(all, term);
      }
      ++steps_;
      more = next<G>(point);
    }
    if constexpr (G::kFloat && G::kSums) return total.sum();
    return all;
  }

  // Of the tensors of a stage (inputs, the result, extras): which of the kernel's it is.
  template <class G>
  static int tensor_of(int tensor) {
    return G::kTensors[tensor < G::kInputs ? tensor : tensor - 1];
  }
  template <std::size_t... I>
  static Type made_type(std::size_t stage, std::index_sequence<I...>) {
    constexpr Type kTypes[] = {std::tuple_element_t<I, Stages>::kType...};
    return kTypes[stage];
  }
  static Type type_of(int t) {
    if (t < S::kParams) return S::buffers()[t].type;
    return made_type(static_cast<std::size_t>(t - S::kParams), std::make_index_sequence<kStages>());
  }
  template <class G>
  Bounds element(int tensor, const std::int64_t* point) {
    const int t = tensor_of<G>(tensor);
    const std::int64_t at = G::offset(tensor, point);
    if (t >= S::kParams) return made(static_cast<std::size_t>(t - S::kParams), at);
    const Type type = S::buffers()[t].type;
    const double x = load(type, data_.plain[static_cast<std::size_t>(t)].data(), at);
    return flushed(type, Bounds::exactly(x));
  }
  // What a stage made, where a tensor of its shape has that element.
  Bounds made(std::size_t stage, std::int64_t at) {
    const auto found = made_[stage].find(at);
    if (found != made_[stage].end()) return found->second;
    constexpr std::int64_t kSteps = 16;  // what remembering it takes
    steps_ += kSteps;
    Bounds b = table(std::make_index_sequence<kStages>())[stage](*this, at);
    if (b.or_nan) b = Bounds::unknown();
    made_[stage].emplace(at, b);
    return b;
  }
  using Make = Bounds (*)(Reference&, std::int64_t);
  template <std::size_t... I>
  static const Make* table(std::index_sequence<I...>) {
    static constexpr Make kMake[] = {&Reference::template make<std::tuple_element_t<I, Stages>>...};
    return kMake;
  }
  template <class G>
  static Bounds make(Reference& r, std::int64_t at) {
    std::int64_t point[G::kDims + 1] = {};
    if (!locate<G>(at, point)) return Bounds::exactly(0);  // in its border
    return r.flushed(G::kType, r.value<G>(point));
  }

  // The point of a stage whose result lies there, in the dense tensor with its border.
  template <class G>
  static bool locate(std::int64_t at, std::int64_t* point) {
    bool inside = true;
    std::int64_t index[G::kRank + 1] = {};
    for (int a = G::kRank - 1; a >= 0; --a) {
      index[a] = at % G::kShape[a] - G::kLow[a];
      at /= G::kShape[a];
      inside = inside && index[a] >= 0 && index[a] < G::kInner[a];
    }
    if (inside) G::place(index, point);
    return inside;
  }

  // Where products of bf16 are made by an instruction of their own, subnormal numbers may be 0.
  Bounds flushed(Type t, Bounds b) const {
    if (!flushes_ || t != Type::bf16 || b.open || b.is_nan()) return b;
    if (std::fabs(b.lo) < FLT_MIN) b.lo = std::min(b.lo, 0.0);
    if (std::fabs(b.hi) < FLT_MIN) b.hi = std::max(b.hi, 0.0);
    return b;
  }

  Data<S>& data_;
  const bool flushes_ = std::strcmp(S::selected(), "avx512_bf16") == 0;
  std::unordered_map<std::int64_t, Bounds> made_[kStages];
  std::int64_t steps_ = 0;
};

struct Checked {
  // Of all outputs; those of which nothing can be said (f32 may have overflowed) count nowhere
  // else.
  std::int64_t outputs = 0, checked = 0, wrong = 0;
  double worst = 0;  // error, of what is allowed
};

// Checks all outputs of result R, or as many as so many steps of the reference allow. The golden
// ratio's part of them from one to the next spreads them evenly.
template <std::size_t R, class S>
void verify_result(Reference<S>& reference, std::int64_t steps, Checked& c) {
  constexpr std::int64_t kLeast = 64;
  constexpr double kGoldenRatio = 0.6180339887498949;
  const std::int64_t outputs = Reference<S>::template outputs<R>();
  auto step = static_cast<std::int64_t>(kGoldenRatio * static_cast<double>(outputs));
  step = std::max<std::int64_t>(1, step);
  while (std::gcd(step, outputs) != 1) ++step;
  c.outputs += outputs;
  const std::int64_t end = reference.steps() + steps;
  std::int64_t o = 0;
  for (std::int64_t n = 0; n < outputs && (n < kLeast || reference.steps() < end); ++n) {
    const double got = reference.template got<R>(o);
    const Bounds want = reference.template expected<R>(o);
    o = (o + step) % outputs;
    if (want.open) continue;
    ++c.checked;
    const bool right = want.allows(got);
    if (!right) ++c.wrong;
    const double allowed = (want.hi - want.lo) / 2;
    if (right && allowed > 0 && allowed < kInfinity)
      c.worst = std::max(c.worst, std::fabs(got - (want.lo + allowed)) / allowed);
  }
}

template <class S, std::size_t... R>
Checked verify_results(Data<S>& data, std::index_sequence<R...>) {
  constexpr std::int64_t kSteps = std::int64_t{1} << 23;  // a quarter of a second, optimised
  Reference<S> reference(data);
  Checked c;
  (verify_result<R>(reference, kSteps / static_cast<std::int64_t>(sizeof...(R)), c), ...);
  return c;
}

template <class S>
Checked verify(Data<S>& data) {
  return verify_results(data, std::make_index_sequence<std::size(S::kResults)>());
}

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_REFERENCE_H_
