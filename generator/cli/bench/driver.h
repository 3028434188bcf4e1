// A kernel of a generated header, verified against a reference in double precision (integers:
// exactly) and timed: the programs of `morello bench`, morello_add_test() and
// morello_add_benchmark(). What a kernel computes is said by a type S that `morello` writes
// (subject.cc); this file knows no kernel.
#ifndef MORELLO_TESTBENCH_DRIVER_H_
#define MORELLO_TESTBENCH_DRIVER_H_

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "morello/aligned.h"
#include "morello/bf16.h"
#include "morello/thread_pool.h"

namespace morello::testbench {

using Clock = std::chrono::steady_clock;

enum class Type { f32, bf16, f16, i32, i16, u8, i8 };

struct Buffer {
  Type type;
  std::int64_t elements;
  std::size_t packed_bytes;
  void (*pack)(const void*, void*);
};

// Functions of a spec's expression: of double, and of integers in 64 bits that wrap to 32.
namespace fn {
inline std::int64_t wrap(std::int64_t x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(x)));
}
inline double wrap(double x) { return x; }
template <class T>
T add_of(T a, T b) {
  return wrap(a + b);
}
template <class T>
T sub_of(T a, T b) {
  return wrap(a - b);
}
template <class T>
T mul_of(T a, T b) {
  return wrap(a * b);
}
template <class T>
T max_of(T a, T b) {
  return a != a || b != b ? a + b : a < b ? b : a;
}
template <class T>
T min_of(T a, T b) {
  return a != a || b != b ? a + b : a < b ? a : b;
}
template <class T>
T neg_of(T a) {
  return wrap(-a);
}
template <class T>
T lt_of(T a, T b) {
  return a < b ? 1 : 0;
}
template <class T>
T le_of(T a, T b) {
  return a <= b ? 1 : 0;
}
template <class T>
T eq_of(T a, T b) {
  return a == b ? 1 : 0;
}
template <class T>
T select_of(T condition, T a, T b) {
  return condition != 0 ? a : b;
}
inline double div_of(double a, double b) { return a / b; }
inline double exp_of(double a) { return std::exp(a); }
inline double tanh_of(double a) { return std::tanh(a); }
inline double erf_of(double a) { return std::erf(a); }
inline double sqrt_of(double a) { return std::sqrt(a); }
template <class T>
double float_of(T a) {
  return static_cast<double>(a);
}
}  // namespace fn

inline std::size_t size_of(Type t) {
  constexpr std::size_t kSizes[] = {4, 2, 2, 4, 2, 1, 1};
  return kSizes[static_cast<int>(t)];
}

// Bytes that begin at a cache line; or, `guarded`, that end where a page begins that nobody may
// touch: a read or write behind them ends the program, and they begin at any address that fits
// their elements.
class Memory {
 public:
  Memory(std::size_t bytes, bool guarded) : plain_(guarded ? 0 : bytes) {
    data_ = plain_.data();
#if defined(__unix__)
    if (!guarded) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes + page - 1) / page * page + page;
    void* all = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    base_ = static_cast<unsigned char*>(all);
    if (mprotect(base_ + mapped_ - page, page, PROT_NONE) != 0) std::abort();
    data_ = base_ + mapped_ - page - bytes;
#else
    plain_ = AlignedBuffer<unsigned char>(bytes);
    data_ = plain_.data();
#endif
  }
  Memory(Memory&& other) noexcept
      : plain_(std::move(other.plain_)),
        data_(other.data_),
        base_(other.base_),
        mapped_(other.mapped_) {
    other.base_ = nullptr;
  }
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
#if defined(__unix__)
    if (base_ != nullptr) munmap(base_, mapped_);
#endif
  }
  unsigned char* data() { return data_; }

 private:
  AlignedBuffer<unsigned char> plain_;
  unsigned char* data_ = nullptr;
  unsigned char* base_ = nullptr;
  std::size_t mapped_ = 0;
};

template <class T>
T& at(unsigned char* data, std::int64_t i) {
  return reinterpret_cast<T*>(data)[i];
}

// Element i as a number; integers keep their sign.
inline double load(Type t, unsigned char* data, std::int64_t i) {
  switch (t) {
    case Type::f32:
      return static_cast<double>(at<float>(data, i));
    case Type::bf16:
      return static_cast<double>(bf16_to_float(at<std::uint16_t>(data, i)));
    case Type::f16:
      return static_cast<double>(f16_to_float(at<std::uint16_t>(data, i)));
    case Type::i32:
      return at<std::int32_t>(data, i);
    case Type::i16:
      return at<std::int16_t>(data, i);
    case Type::u8:
      return at<std::uint8_t>(data, i);
    case Type::i8:
      return at<std::int8_t>(data, i);
  }
  std::abort();
}

// What a run's inputs are made of.
struct Inputs {
  std::uint64_t seed = 0x9E3779B97F4A7C15U;
  bool edges = false;    // zeros of both signs, ones, powers of two; the ends of integer ranges
  bool guarded = false;  // see Memory
};

// xorshift64*: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed != 0 ? seed : 1) {}
  std::uint64_t bits() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DU;
  }

 private:
  std::uint64_t state_;
};

// Floats in [-1, 1), integers of the full range; or values at the edges of both.
inline void fill(Type t, unsigned char* data, std::int64_t count, Random& random, bool edges) {
  constexpr float kEdges[] = {0.0F, -0.0F, 1.0F, -1.0F, 0.5F, -2.0F, 0x1p-10F, -0x1p10F};
  constexpr std::uint32_t kEnds[] = {0, 1, 0xFFFFFFFFU, 0x7FFFFFFFU, 0x80000000U, 2, 0x7F, 0x80};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random.bits() >> 32;
    const float x = edges ? kEdges[bits & 7] : static_cast<float>(bits >> 8) * 0x1p-23F - 1.0F;
    const std::uint32_t n = edges ? kEnds[bits & 7] : static_cast<std::uint32_t>(bits);
    switch (t) {
      case Type::f32:
        at<float>(data, i) = x;
        break;
      case Type::bf16:
        at<std::uint16_t>(data, i) = bf16_from_float(x);
        break;
      case Type::f16:
        at<std::uint16_t>(data, i) = f16_from_float(x);
        break;
      case Type::i32:
        at<std::uint32_t>(data, i) = n;
        break;
      case Type::i16:
        at<std::uint16_t>(data, i) = static_cast<std::uint16_t>(edges ? n >> 16 | (n & 1) : n);
        break;
      default:
        data[i] = static_cast<unsigned char>(n);
        break;
    }
  }
}

template <class S>
struct Data {
  std::vector<Memory> plain;   // parameters, then the output
  std::vector<Memory> packed;  // empty where the kernel takes the plain one
  std::vector<void*> arguments;
  Memory workspace;

  explicit Data(const Inputs& inputs) : workspace(S::Info::workspace_bytes, inputs.guarded) {
    Random random(inputs.seed);
    for (int b = 0; b < S::kBuffers; ++b) {
      const Buffer& s = S::buffers()[b];
      const std::size_t bytes = size_of(s.type) * static_cast<std::size_t>(s.elements);
      plain.emplace_back(bytes, inputs.guarded);
      packed.emplace_back(s.packed_bytes, inputs.guarded);
      // What the kernel forgets to write must not look right.
      std::memset(plain.back().data(), 0xFF, bytes);
      const bool input = b + 1 < S::kBuffers;
      if (input) fill(s.type, plain.back().data(), s.elements, random, inputs.edges);
      if (s.pack != nullptr) s.pack(plain.back().data(), packed.back().data());
      arguments.push_back(s.pack != nullptr ? packed.back().data() : plain.back().data());
    }
  }
  template <class... Hook>
  void run(Hook... hook) {
    S::call(arguments.data(), static_cast<void*>(workspace.data()), hook...);
  }
};

// One element of the output as it should be, and how far off it may be.
struct Expected {
  double value = 0;
  double tolerance = 0;  // 0: exact
};

// Sums round in any order: errors of that many float operations add up like a random walk.
inline double float_tolerance(double magnitude, std::int64_t count) {
  return (4 * std::sqrt(static_cast<double>(count)) + 2) * 0x1p-24 * magnitude + 0x1p-25;
}

inline double stored_unit(Type out) {
  return out == Type::bf16 ? 0x1p-8 : out == Type::f16 ? 0x1p-10 : 0x1p-23;
}

// The reference for one kernel.
template <class S>
class Reference {
 public:
  explicit Reference(Data<S>& data) : data_(data) {}

  Expected expected(const std::int64_t* output_point) const {
    std::int64_t point[S::kDims + 1];
    std::copy_n(output_point, S::kDims, point);
    Value sum = 0, in[S::kInputs + 1] = {}, extra[S::kExtras + 1] = {};
    double extra_numbers[S::kExtras + 1] = {};
    for (int i = 0; i < S::kExtras; ++i) {
      extra_numbers[i] = element(S::kInputs + 1 + i, point);
      extra[i] = static_cast<Value>(extra_numbers[i]);
    }
    double magnitude = 0;
    std::int64_t count = 0;
    for (bool more = true; more; ++count) {
      for (int i = 0; i < S::kInputs; ++i) in[i] = static_cast<Value>(element(i, point));
      const Value term = S::template body<Value>(in, extra);
      sum = count == 0 ? term : S::combine(sum, term);
      magnitude += std::fabs(static_cast<double>(term));
      more = next(point);
    }
    const auto number = static_cast<double>(sum);
    // The largest of them is one of them.
    double tolerance = S::kFloat ? float_tolerance(magnitude, S::kSums ? count : 1) : 0;
    if (S::kFloat && count == 1) tolerance *= 1 + S::kFunctions;
    if (!S::kFinishes) return stored(number, tolerance);
    if constexpr (S::kWhole)
      return stored(static_cast<double>(S::template finish<Value>(sum, extra)), 0);
    else
      return finished(number, tolerance, extra_numbers);
  }

  double got(const std::int64_t* point) const { return element(S::kInputs, point); }

 private:
  using Value = std::conditional_t<S::kFloat, double, std::int64_t>;

  // The next point of the reduction; false after the last one.
  static bool next(std::int64_t* point) {
    bool more = false;
    for (int d = S::kDims - 1; d >= 0 && !more; --d) {
      if (!S::kReduction[d]) continue;
      more = ++point[d] < S::kExtents[d];
      if (!more) point[d] = 0;
    }
    return more;
  }
  // Element of a tensor of the computation: inputs, the result, extras.
  double element(int tensor, const std::int64_t* point) const {
    int b = S::kBuffers - 1;
    if (tensor != S::kInputs) b = S::kBufferOf[tensor < S::kInputs ? tensor : tensor - 1];
    return load(S::buffers()[b].type, data_.plain[static_cast<std::size_t>(b)].data(),
                S::offset(tensor, point));
  }
  // What the result holds of a number: floats as they are, integers clamped or wrapped.
  static Expected stored(double value, double tolerance) {
    const Type out = S::buffers()[S::kBuffers - 1].type;
    switch (out) {
      case Type::i32:
        return {static_cast<double>(fn::wrap(static_cast<std::int64_t>(value))), 0};
      case Type::i16:
        return {std::min(32767.0, std::max(-32768.0, value)), 0};
      default:
        return {value, tolerance + stored_unit(out) * std::fabs(value)};
    }
  }
  // What is made of a sum: its error goes through, and every function rounds.
  static Expected finished(double sum, double tolerance, const double* extra) {
    const auto at = [&](double x) { return S::template finish<double>(x, extra); };
    const double value = at(sum);
    double scale = std::fabs(value) + std::fabs(sum) + 1;
    for (int i = 0; i < S::kExtras; ++i) scale += std::fabs(extra[i]);
    const double through =
        std::max(std::fabs(at(sum + tolerance) - value), std::fabs(at(sum - tolerance) - value));
    return stored(value, through + S::kFunctions * 0x1p-22 * scale);
  }

  Data<S>& data_;
};

struct Checked {
  std::int64_t outputs = 1, checked = 0, wrong = 0;
  double worst = 0;  // error, of what is allowed
};

// Checks outputs at even distances, as many as about 2^25 steps of the reference allow.
template <class S>
Checked verify(Data<S>& data) {
  const Reference<S> reference(data);
  Checked c;
  std::int64_t reduction = 1;
  for (int d = 0; d < S::kDims; ++d) (S::kReduction[d] ? reduction : c.outputs) *= S::kExtents[d];
  const std::int64_t most = std::max<std::int64_t>(64, (std::int64_t{1} << 25) / reduction);
  const std::int64_t step = (c.outputs + most - 1) / most;
  for (std::int64_t o = 0; o < c.outputs; o += step, ++c.checked) {
    std::int64_t point[S::kDims + 1] = {};
    std::int64_t rest = o;
    for (int d = S::kDims - 1; d >= 0; --d) {
      if (S::kReduction[d]) continue;
      point[d] = rest % S::kExtents[d];
      rest /= S::kExtents[d];
    }
    const double got = reference.got(point);
    const Expected want = reference.expected(point);
    // Of what is no number it is enough that both are none (division by zero).
    if (!std::isfinite(want.value)) {
      if (std::isfinite(got)) ++c.wrong;
      continue;
    }
    const double error = std::fabs(got - want.value);
    if (!(error <= want.tolerance)) ++c.wrong;  // also a NaN
    if (want.tolerance > 0) c.worst = std::max(c.worst, error / want.tolerance);
  }
  return c;
}

template <class S, class... Hook>
double seconds_of(Data<S>& data, int repeats, Hook... hook) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < repeats; ++i) data.run(hook...);
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

// A cache with an adaptive policy takes a dozen passes over data that are not much smaller than it
// to settle on what it keeps of them (64 MiB in a large L3: 15 GB/s at first, 29 in the end).
template <class S, class... Hook>
void settle(Data<S>& data, Hook... hook) {
  constexpr int kCalls = 24;
  constexpr double kSeconds = 0.5;
  double spent = 0;
  for (int i = 0; i < kCalls && spent < kSeconds; ++i) spent += seconds_of(data, 1, hook...);
}

struct Times {
  double median = 0, best = 0;
};

// Rounds of at least 5 ms each, so that the clock's resolution does not matter.
template <class S, class... Hook>
Times measure(Data<S>& data, int rounds, Hook... hook) {
  int repeats = 1;
  while (seconds_of(data, repeats, hook...) * repeats < 0.005 && repeats < 1 << 28) repeats *= 2;
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) times.push_back(seconds_of(data, repeats, hook...));
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[0]};
}

struct Report {
  Checked checked;
  Times times;
};

// `rounds` 0: verifies only. Nothing is timed that is wrong.
template <class S>
Report run(const Inputs& inputs, int rounds) {
  Data<S> data(inputs);
  Report report;
  const auto go = [&](auto... hook) {
    data.run(hook...);
    report.checked = verify(data);
    if (report.checked.wrong > 0 || rounds == 0) return;
    settle(data, hook...);
    report.times = measure(data, rounds, hook...);
  };
  if constexpr (S::kThreads > 1) {
    ThreadPool pool(S::kThreads);
    go(static_cast<Parallel>(pool));
  } else {
    go();
  }
  return report;
}

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_DRIVER_H_
