// The driver of tests and benchmarks of kernels, on kernels written by hand: what it finds, and
// what it cannot know.
#include "cli/bench/driver.h"

#include <doctest/doctest.h>

#include <functional>
#include <ostream>

namespace morello::testbench {
namespace {

// max(a, b) of 40 numbers, or what `meaning` says, computed by `kernel`.
using Kernel = std::function<void(const float*, const float*, float*)>;
Kernel kernel;
constexpr int kCount = 40;

struct Max {
  struct Info {
    static constexpr const char* name = "max";
    static constexpr std::size_t workspace_bytes = 24;
  };
  static constexpr int kThreads = 1;
  static constexpr int kParams = 2;
  static constexpr int kResults[] = {0};
  static const Buffer* buffers() {
    static constexpr Buffer kTable[] = {{Type::f32, kCount, 0, nullptr},
                                        {Type::f32, kCount, 0, nullptr},
                                        {Type::f32, kCount, 0, nullptr}};
    return kTable;
  }
  static void call(void* const* a, void*) {
    kernel(static_cast<const float*>(a[0]), static_cast<const float*>(a[1]),
           static_cast<float*>(a[2]));
  }
  static const char* selected() { return "avx2"; }
  struct stage_0 {
    static constexpr bool kFloat = true, kSums = true, kFinishes = false, kWhole = false;
    static constexpr int kDims = 1, kInputs = 2, kExtras = 0, kRank = 1;
    static constexpr std::int64_t kExtents[] = {kCount, 1}, kShape[] = {kCount};
    static constexpr std::int64_t kInner[] = {kCount}, kLow[] = {0};
    static constexpr bool kReduction[] = {false, false};
    static constexpr int kPadded = -1, kTensors[] = {0, 1};
    static constexpr Type kType = Type::f32;
    static void place(const std::int64_t* index, std::int64_t* point) { point[0] = index[0]; }
    static std::int64_t offset(int, const std::int64_t* i) { return i[0]; }
    template <class T>
    static T body(const T* in, const T*) {
      return fn::max_of(in[0], in[1]);
    }
    template <class T>
    static T combine(const T& a, const T& b) {
      return fn::add_of(a, b);
    }
    template <class T>
    static T finish(const T& sum, const T*) {
      return sum;
    }
  };
  using Stages = std::tuple<stage_0>;
};

float right(float a, float b) { return a != a || b != b ? a + b : a < b ? b : a; }

Kernel each(float (*f)(float, float)) {
  return [f](const float* a, const float* b, float* out) {
    for (int i = 0; i < kCount; ++i) out[i] = f(a[i], b[i]);
  };
}

Checked checked(Values values, const Kernel& k) {
  kernel = k;
  return run<Max>(Inputs{values, Place::end}, 0).checked;
}

TEST_CASE("a right kernel passes with all kinds of numbers") {
  for (const Values v : {Values::random, Values::edges, Values::wild}) {
    const Checked c = checked(v, each(right));
    CHECK(c.outputs == kCount);
    CHECK(c.checked == kCount);
    CHECK(c.wrong == 0);
  }
}

TEST_CASE("a maximum that loses NaN is seen, and only with NaN") {
  const Kernel second = each([](float a, float b) { return a > b ? a : b; });
  CHECK(checked(Values::random, second).wrong == 0);
  CHECK(checked(Values::edges, second).wrong == 0);
  CHECK(checked(Values::wild, second).wrong > 0);
  const Kernel never = each([](float a, float b) { return std::fmax(a, b); });
  CHECK(checked(Values::wild, never).wrong > 0);
}

TEST_CASE("small numbers that become zero, infinities that become large, NaN from nothing") {
  const auto with = [](auto change) {
    return [change](const float* a, const float* b, float* out) {
      for (int i = 0; i < kCount; ++i) out[i] = change(right(a[i], b[i]));
    };
  };
  const auto flushed = [](float x) { return std::fabs(x) < FLT_MIN ? 0.0F : x; };
  const auto finite = [](float x) { return x > FLT_MAX ? FLT_MAX : x; };
  const auto none = [](float x) { return x > FLT_MAX ? x - x : x; };
  for (const Values v : {Values::random, Values::edges}) {
    CHECK(checked(v, with(flushed)).wrong == 0);
    CHECK(checked(v, with(finite)).wrong == 0);
    CHECK(checked(v, with(none)).wrong == 0);
  }
  CHECK(checked(Values::wild, with(flushed)).wrong > 0);
  CHECK(checked(Values::wild, with(finite)).wrong > 0);
  CHECK(checked(Values::wild, with(none)).wrong > 0);
}

// relu(conv(pad(x), k)) of 6 numbers and a filter of 3.
struct Windows {
  struct Info {
    static constexpr const char* name = "windows";
    static constexpr std::size_t workspace_bytes = 0;
  };
  static constexpr int kThreads = 1;
  static constexpr int kParams = 2;
  static constexpr int kResults[] = {1};
  static const Buffer* buffers() {
    static constexpr Buffer kTable[] = {
        {Type::f32, 6, 0, nullptr}, {Type::f32, 3, 0, nullptr}, {Type::f32, 6, 0, nullptr}};
    return kTable;
  }
  static void call(void* const* a, void*) {
    kernel(static_cast<const float*>(a[0]), static_cast<const float*>(a[1]),
           static_cast<float*>(a[2]));
  }
  static const char* selected() { return "avx2"; }
  struct Stage {
    static constexpr bool kFloat = true, kSums = true, kWhole = false;
    static constexpr int kExtras = 0, kRank = 1;
    static constexpr std::int64_t kInner[] = {6};
    static constexpr Type kType = Type::f32;
    static void place(const std::int64_t* index, std::int64_t* point) { point[0] = index[0]; }
    template <class T>
    static T combine(const T& a, const T& b) {
      return fn::add_of(a, b);
    }
    template <class T>
    static T finish(const T& sum, const T*) {
      return fn::max_of(sum, T(0));
    }
  };
  struct Pad : Stage {
    static constexpr bool kFinishes = false;
    static constexpr int kDims = 1, kInputs = 1, kPadded = -1, kTensors[] = {0};
    static constexpr std::int64_t kExtents[] = {6, 1}, kShape[] = {8}, kLow[] = {1};
    static constexpr bool kReduction[] = {false, false};
    static std::int64_t offset(int, const std::int64_t* i) { return i[0]; }
    template <class T>
    static T body(const T* in, const T*) {
      return in[0];
    }
  };
  struct Conv : Stage {
    static constexpr bool kFinishes = true;
    static constexpr int kDims = 2, kInputs = 2, kPadded = 0, kTensors[] = {2, 1};
    static constexpr std::int64_t kExtents[] = {6, 3, 1}, kShape[] = {6}, kLow[] = {0};
    static constexpr bool kReduction[] = {false, true, false};
    static std::int64_t offset(int tensor, const std::int64_t* i) {
      return tensor == 0 ? i[0] + i[1] : i[tensor == 1 ? 1 : 0];
    }
    template <class T>
    static T body(const T* in, const T*) {
      return fn::mul_of(in[0], in[1]);
    }
  };
  using Stages = std::tuple<Pad, Conv>;
};

// Every product by `of`, which knows whether it is one of a zero around x.
Kernel windows(float (*of)(float x, float k, bool outside)) {
  return [of](const float* x, const float* k, float* out) {
    for (int h = 0; h < 6; ++h) {
      float sum = 0;
      for (int r = 0; r < 3; ++r) {
        const int at = h + r - 1;
        const bool outside = at < 0 || at >= 6;
        sum += of(outside ? 0.0F : x[at], k[r], outside);
      }
      out[h] = right(sum, 0);
    }
  };
}

Checked checked_windows(Values values, const Kernel& k) {
  kernel = k;
  Checked all;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Checked c = run<Windows>(Inputs{values, Place::end, seed}, 0).checked;
    all.outputs += c.outputs;
    all.checked += c.checked;
    all.wrong += c.wrong;
  }
  return all;
}

TEST_CASE("zeros around a parameter meet a filter that is infinite or NaN, or do not") {
  const Kernel meet = windows([](float x, float k, bool) { return x * k; });
  const Kernel skip = windows([](float x, float k, bool outside) { return outside ? 0 : x * k; });
  for (const Values v : {Values::random, Values::edges, Values::wild})
    for (const Kernel& k : {meet, skip}) {
      const Checked c = checked_windows(v, k);
      CHECK(c.outputs == 500 * 6);
      CHECK(10 * c.checked >= 9 * c.outputs);
      CHECK(c.wrong == 0);
    }
  // Other products are what they are; and finite filters leave no NaN.
  const Kernel lost = windows([](float x, float k, bool) { return x == 0 ? 0 : x * k; });
  const Kernel infinite =
      windows([](float x, float k, bool outside) { return outside ? std::fabs(k) : x * k; });
  const Kernel always =
      windows([](float x, float k, bool outside) { return outside ? NAN : x * k; });
  for (const Kernel& k : {lost, infinite, always})
    CHECK(checked_windows(Values::wild, k).wrong > 0);
  CHECK(checked_windows(Values::random, always).wrong == 500 * 2);
}

TEST_CASE("operands lie where they are asked to") {
  const auto address = [](Place place, std::size_t bytes, std::size_t element) {
    Memory m(bytes, element, place);
    std::memset(m.data(), 1, bytes);
    return reinterpret_cast<std::uintptr_t>(m.data());
  };
  for (const std::size_t bytes : {1U, 64U, 100U, 4096U, 5000U}) {
    CHECK(address(Place::line, bytes, 1) % 64 == 0);
    CHECK((address(Place::end, bytes, 4) + bytes) % 4096 == 0);
    CHECK(address(Place::begin, bytes, 4) % 4096 == 0);
    for (const std::size_t element : {1U, 2U, 4U})
      CHECK(address(Place::odd, bytes, element) % 64 == element);
  }
}

TEST_CASE("bounds of f32 arithmetic") {
  using B = Bounds;
  const B one = B::exactly(1), nan = B::exactly(kNan), infinite = B::exactly(kInfinity);
  const B large = B::exactly(kLargest), unknown = B::unknown();
  CHECK(fn::add_of(one, nan).is_nan());
  CHECK(fn::add_of(unknown, nan).is_nan());
  CHECK(fn::mul_of(infinite, B::exactly(0)).is_nan());
  CHECK(fn::sub_of(infinite, infinite).is_nan());
  CHECK(fn::max_of(nan, infinite).is_nan());
  CHECK(fn::min_of(one, nan).is_nan());
  CHECK(fn::sqrt_of(B::exactly(-1)).is_nan());
  CHECK(fn::log_of(B::exactly(-1)).is_nan());
  CHECK(fn::log_of(nan).is_nan());
  CHECK(fn::log_of(B::exactly(-0.0)).hi == -kInfinity);
  CHECK(fn::log_of(B(-1, 1)).open);
  CHECK(fn::div_of(B::exactly(0), B::exactly(-0.0)).is_nan());
  CHECK(fn::div_of(one, B::exactly(0)).open);
  CHECK(fn::lt_of(one, nan).hi == 0);
  CHECK(fn::select_of(nan, one, infinite).lo == 1);
  CHECK(fn::add_of(large, large).lo == kInfinity);
  // A product may be added to something before it overflows, so that this need not be NaN.
  const B twice = fn::mul_of(large, B::exactly(2));
  CHECK(twice.lo == 2 * kLargest);
  CHECK(twice.hi == kInfinity);
  CHECK(fn::sub_of(twice, infinite).open);
  CHECK(fn::mul_of(infinite, B(-1, 1)).open);
  const B product = fn::mul_of(B::exactly(0.1F), B::exactly(0.1F));
  CHECK(std::min(product.lo, product.hi) == product.lo);
  CHECK((product.lo == static_cast<double>(0.1F * 0.1F)) !=
        (product.hi == static_cast<double>(0.1F * 0.1F)));
  CHECK(product.hi - product.lo < 1e-9);
  CHECK(fn::exp_of(B::exactly(-1000)).lo == 0);
  CHECK(fn::exp_of(B::exactly(1000)).hi == kInfinity);
  CHECK(stored(Type::f16, B::exactly(65520)).lo == kInfinity);
  CHECK(stored(Type::bf16, B::exactly(1 + 0x1p-9)).hi == 1);
  CHECK(stored(Type::i16, B::exactly(40000)).lo == 32767);
  const B nan_or_one = either(nan, one), zero_or_one = either(B::exactly(0), one);
  CHECK(nan_or_one.allows(kNan));
  CHECK(nan_or_one.allows(1));
  CHECK(!nan_or_one.allows(0));
  CHECK(!zero_or_one.allows(kNan));
  CHECK(zero_or_one.allows(0.5));
  CHECK(either(nan, nan).is_nan());
  CHECK(either(nan, unknown).open);

  Total total;
  for (const double x : {1.0, 0x1p-30, -1.0}) total.add(B::exactly(x));
  CHECK(total.sum().lo <= 0);
  CHECK(total.sum().hi >= 0x1p-30);
  total.add(large);
  CHECK(total.sum().open);
  total.add(nan);
  CHECK(total.sum().is_nan());
}

}  // namespace
}  // namespace morello::testbench
