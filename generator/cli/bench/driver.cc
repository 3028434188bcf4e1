// The program that `morello bench` compiles with a generated kernel: verifies it against a
// reference in double precision (integers: exactly) and times it. subject.h, written by the
// generator, says what the kernel computes; results go to standard output as "key value" lines.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "morello/aligned.h"
#include "morello/bf16.h"
#include "morello/thread_pool.h"
#include "subject.h"

namespace {

using morello::AlignedBuffer;
using subject::Type;
using Clock = std::chrono::steady_clock;
using Value = std::conditional_t<subject::kFloat, double, std::int64_t>;

std::size_t size_of(Type t) {
  constexpr std::size_t kSizes[] = {4, 2, 2, 4, 2, 1, 1};
  return kSizes[static_cast<int>(t)];
}

template <class T>
T& at(unsigned char* data, std::int64_t i) {
  return reinterpret_cast<T*>(data)[i];
}

// Element i as a number; integers keep their sign.
double load(Type t, unsigned char* data, std::int64_t i) {
  switch (t) {
    case Type::f32:
      return static_cast<double>(at<float>(data, i));
    case Type::bf16:
      return static_cast<double>(morello::bf16_to_float(at<std::uint16_t>(data, i)));
    case Type::f16:
      return static_cast<double>(morello::f16_to_float(at<std::uint16_t>(data, i)));
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

// xorshift64*: the same numbers everywhere.
std::uint64_t random_bits() {
  static std::uint64_t state = 0x9E3779B97F4A7C15U;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1DU;
}

// Floats in [-1, 1), integers of the full range.
void fill(Type t, unsigned char* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random_bits() >> 32;
    const float x = static_cast<float>(bits >> 8) * 0x1p-23F - 1.0F;
    switch (t) {
      case Type::f32:
        at<float>(data, i) = x;
        break;
      case Type::bf16:
        at<std::uint16_t>(data, i) = morello::bf16_from_float(x);
        break;
      case Type::f16:
        at<std::uint16_t>(data, i) = morello::f16_from_float(x);
        break;
      case Type::i32:
        at<std::uint32_t>(data, i) = static_cast<std::uint32_t>(bits);
        break;
      case Type::i16:
        at<std::uint16_t>(data, i) = static_cast<std::uint16_t>(bits);
        break;
      default:
        data[i] = static_cast<unsigned char>(bits);
        break;
    }
  }
}

struct Data {
  std::vector<AlignedBuffer<unsigned char>> plain;   // parameters, then the output
  std::vector<AlignedBuffer<unsigned char>> packed;  // empty where the kernel takes the plain one
  std::vector<void*> arguments;
  AlignedBuffer<unsigned char> workspace{subject::Info::workspace_bytes};

  Data() {
    for (int b = 0; b < subject::kBuffers; ++b) {
      const subject::Buffer& s = subject::buffers()[b];
      plain.emplace_back(size_of(s.type) * static_cast<std::size_t>(s.elements));
      packed.emplace_back(s.packed_bytes);
      const bool input = b + 1 < subject::kBuffers;
      if (input) fill(s.type, plain.back().data(), s.elements);
      if (s.pack != nullptr) s.pack(plain.back().data(), packed.back().data());
      arguments.push_back(s.pack != nullptr ? packed.back().data() : plain.back().data());
    }
  }
  template <class... Hook>
  void run(Hook... hook) {
    subject::call(arguments.data(), static_cast<void*>(workspace.data()), hook...);
  }
};

// One element of the output as it should be, and how far off it may be.
struct Expected {
  double value = 0;
  double tolerance = 0;  // 0: exact
};

// Element of a tensor of the computation: inputs, the result, extras.
double element(Data& data, int tensor, const std::int64_t* point) {
  const int argument = tensor < subject::kInputs ? tensor : tensor - 1;
  const int b = subject::kBufferOf[argument];
  return load(subject::buffers()[b].type, data.plain[static_cast<std::size_t>(b)].data(),
              subject::offset(tensor, point));
}

// Sums round in any order: errors of that many float operations add up like a random walk.
double float_tolerance(double magnitude, std::int64_t count) {
  return (4 * std::sqrt(static_cast<double>(count)) + 2) * 0x1p-24 * magnitude + 0x1p-25;
}

double stored_unit(Type out) {
  return out == Type::bf16 ? 0x1p-8 : out == Type::f16 ? 0x1p-10 : 0x1p-23;
}

// What the result holds of a number: floats as they are, integers clamped or wrapped.
Expected stored(double value, double tolerance) {
  const Type out = subject::buffers()[subject::kBuffers - 1].type;
  switch (out) {
    case Type::i32:
      return {static_cast<double>(subject::fn::wrap(static_cast<std::int64_t>(value))), 0};
    case Type::i16:
      return {std::min(32767.0, std::max(-32768.0, value)), 0};
    default:
      return {value, tolerance + stored_unit(out) * std::fabs(value)};
  }
}

// What is made of a sum: its error goes through, and every function rounds.
Expected finished(double sum, double tolerance, const double* extra) {
  const auto at = [&](double x) { return subject::finish<double>(x, extra); };
  const double value = at(sum);
  double scale = std::fabs(value) + std::fabs(sum) + 1;
  for (int i = 0; i < subject::kExtras; ++i) scale += std::fabs(extra[i]);
  const double through =
      std::max(std::fabs(at(sum + tolerance) - value), std::fabs(at(sum - tolerance) - value));
  return stored(value, through + subject::kFunctions * 0x1p-22 * scale);
}

Expected expected(Data& data, const std::int64_t* output_point) {
  std::int64_t point[subject::kDims + 1];
  std::copy_n(output_point, subject::kDims, point);
  Value sum = 0, in[subject::kInputs + 1] = {}, extra[subject::kExtras + 1] = {};
  double extra_numbers[subject::kExtras + 1] = {};
  for (int i = 0; i < subject::kExtras; ++i) {
    extra_numbers[i] = element(data, subject::kInputs + 1 + i, point);
    extra[i] = static_cast<Value>(extra_numbers[i]);
  }
  double magnitude = 0;
  std::int64_t count = 0;
  for (bool more = true; more; ++count) {
    for (int i = 0; i < subject::kInputs; ++i) in[i] = static_cast<Value>(element(data, i, point));
    const Value term = subject::body<Value>(in, extra);
    sum = subject::fn::wrap(sum + term);
    magnitude += std::fabs(static_cast<double>(term));
    more = false;  // the next point of the reduction
    for (int d = subject::kDims - 1; d >= 0 && !more; --d) {
      if (!subject::kReduction[d]) continue;
      more = ++point[d] < subject::kExtents[d];
      if (!more) point[d] = 0;
    }
  }
  const auto number = static_cast<double>(sum);
  double tolerance = subject::kFloat ? float_tolerance(magnitude, count) : 0;
  if (subject::kFloat && count == 1) tolerance *= 1 + subject::kFunctions;
  if (!subject::kFinishes) return stored(number, tolerance);
  if constexpr (subject::kWhole)
    return stored(static_cast<double>(subject::finish<Value>(sum, extra)), 0);
  else
    return finished(number, tolerance, extra_numbers);
}

// Checks outputs at even distances, as many as about 2^25 steps of the reference allow.
bool verify(Data& data) {
  std::int64_t outputs = 1, reduction = 1;
  for (int d = 0; d < subject::kDims; ++d)
    (subject::kReduction[d] ? reduction : outputs) *= subject::kExtents[d];
  const std::int64_t most = std::max<std::int64_t>(64, (std::int64_t{1} << 25) / reduction);
  const std::int64_t step = (outputs + most - 1) / most;
  const int b = subject::kBuffers - 1;
  std::int64_t checked = 0, wrong = 0;
  double worst = 0;
  for (std::int64_t o = 0; o < outputs; o += step, ++checked) {
    std::int64_t point[subject::kDims + 1] = {};
    std::int64_t rest = o;
    for (int d = subject::kDims - 1; d >= 0; --d) {
      if (subject::kReduction[d]) continue;
      point[d] = rest % subject::kExtents[d];
      rest /= subject::kExtents[d];
    }
    const double got =
        load(subject::buffers()[b].type, data.plain[static_cast<std::size_t>(b)].data(),
             subject::offset(subject::kInputs, point));
    const Expected want = expected(data, point);
    const double error = std::fabs(got - want.value);
    if (!(error <= want.tolerance)) ++wrong;  // also a NaN
    if (want.tolerance > 0) worst = std::max(worst, error / want.tolerance);
  }
  std::printf("outputs %lld\nchecked %lld\nwrong %lld\nworst %.3f\n",
              static_cast<long long>(outputs), static_cast<long long>(checked),
              static_cast<long long>(wrong), worst);
  return wrong == 0;
}

template <class... Hook>
double seconds_of(Data& data, int repeats, Hook... hook) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < repeats; ++i) data.run(hook...);
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

// A cache with an adaptive policy takes a dozen passes over data that are not much smaller than it
// to settle on what it keeps of them (64 MiB in a large L3: 15 GB/s at first, 29 in the end).
template <class... Hook>
void settle(Data& data, Hook... hook) {
  constexpr int kCalls = 24;
  constexpr double kSeconds = 0.5;
  double spent = 0;
  for (int i = 0; i < kCalls && spent < kSeconds; ++i) spent += seconds_of(data, 1, hook...);
}

// Rounds of at least 5 ms each, so that the clock's resolution does not matter.
template <class... Hook>
void measure(Data& data, int rounds, Hook... hook) {
  int repeats = 1;
  while (seconds_of(data, repeats, hook...) * repeats < 0.005 && repeats < 1 << 28) repeats *= 2;
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) times.push_back(seconds_of(data, repeats, hook...));
  std::sort(times.begin(), times.end());
  std::printf("median %.9e\nbest %.9e\nrepeats %d\n", times[times.size() / 2], times[0], repeats);
}

template <class... Hook>
bool verify_and_measure(int rounds, Hook... hook) {
  Data data;
  // What the kernel forgets to write must not look right.
  for (unsigned char& byte : data.plain.back()) byte = 0xFF;
  data.run(hook...);
  if (!verify(data)) return false;
  settle(data, hook...);
  measure(data, rounds, hook...);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  std::printf("isa %s\nops %llu\nbytes %llu\n", subject::selected(),
              static_cast<unsigned long long>(subject::Info::flops),
              static_cast<unsigned long long>(subject::Info::bytes));
  if constexpr (subject::kThreads > 1) {
    morello::ThreadPool pool(subject::kThreads);
    verify_and_measure(rounds, static_cast<morello::Parallel>(pool));
  } else {
    verify_and_measure(rounds);
  }
  return 0;
}
