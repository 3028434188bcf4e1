// The checker itself: kernels written by hand, right ones and ones with a mistake each, so that a
// pass in the other tests means something.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "run/reference.h"

namespace morello::run {
namespace {

constexpr int kM = 5, kN = 7, kK = 9;

const float* in(const Call& c, int p) { return static_cast<const float*>(c.inputs[p]); }
float* out(const Call& c) { return static_cast<float*>(c.outputs[0]); }
const char* scalar() { return "scalar"; }

void matmul(const Call& c) {
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum += in(c, 0)[m * kK + k] * in(c, 1)[k * kN + n];
      out(c)[m * kN + n] = sum;
    }
}

Subject subject(Run run) {
  Subject s{};
  s.name = "subject";
  s.params = 2;
  s.in_place = -1;
  s.nodes = 3;
  s.node[0] = {Word::matmul, 0};
  s.node[1] = {Word::param, 0};
  s.node[2] = {Word::param, 1};
  s.param[0] = {Type::f32, false, 2, {kM, kK}, 2, {{0, 1, 0}, {1, 1, 0}}, {}};
  s.param[1] = {Type::f32, false, 2, {kK, kN}, 2, {{0, 1, 0}, {1, 1, 0}}, {}};
  s.results = 1;
  s.result[0].tensor = {Type::f32, false, 2, {kM, kN}, 2, {{0, 1, 0}, {1, 1, 0}}, {}};
  s.workspace_bytes = 64;
  s.threaded = true;
  s.selected = scalar;
  s.variants = 2;
  s.variant[0] = {nullptr, run, {}};
  s.variant[1] = {"scalar", run, {}};
  return s;
}

// What check_subject() or a fault says, in a child: some of these really fault. (The seed is one
// whose hard values have rows of the result that are numbers and others that are not.)
std::string verdict(const Subject& s, std::string option = "") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    std::string program = "subject", seed = "2";
    std::array<char*, 3> arguments = {program.data(), seed.data(), option.data()};
    const int code = run_subjects(&s, 1, option.empty() ? 2 : 3, arguments.data());
    std::fflush(stdout);
    _exit(code);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 256> buffer;
  for (ssize_t n; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  CHECK(ok == text.starts_with("subject: ok, "));
  return text;
}

TEST_CASE("a right kernel passes") {
  // 5 x 7 numbers, at two places, by two functions, without a pool and with four.
  CHECK(verdict(subject(matmul)).starts_with("subject: ok, 0 of 700 outputs unchecked, of hard "));
}

TEST_CASE("a kernel whose outputs cannot be checked does not pass") {
  Subject s = subject(matmul);
  s.names = 1;
  s.named[0] = {5, false, Type::f32};
  const Node nodes[] = {{Word::div, 0},  {Word::number, 1}, {Word::sub, 0},   {Word::name, 0},
                        {Word::name, 0}, {Word::matmul, 0}, {Word::param, 0}, {Word::param, 1}};
  std::copy(std::begin(nodes), std::end(nodes), s.node);
  s.nodes = 8;  // 1 / (sum - sum), of sums that are not exact
  CHECK(verdict(s).find("35 of 35 outputs unchecked") != std::string::npos);
  // Plain values may be unknown then; what is known of hard ones is still wrong.
  CHECK(verdict(s, "unknown").find("hard values, buffers at the end") != std::string::npos);
}

struct Wrong {
  const char* what;
  Run run;
  const char* message;
};

const Wrong kWrong[] = {
    {"one output is a little off",
     [](const Call& c) {
       matmul(c);
       out(c)[17] *= 1.0f + 0x1p-16f;
     },
     "output 17 is"},
    {"an output is not written",
     [](const Call& c) {
       float* last = out(c) + kM * kN - 1;
       const float before = *last;
       matmul(c);
       *last = before;
     },
     "output 34 is"},
    {"accumulates onto what was there",
     [](const Call& c) {
       const float before = out(c)[3];
       matmul(c);
       out(c)[3] += before;
     },
     "output 3 is"},
    {"loses a NaN",
     [](const Call& c) {
       matmul(c);
       for (int i = 0; i < kM * kN; ++i)
         if (std::isnan(out(c)[i])) out(c)[i] = 0;
     },
     "hard values"},
    {"a padded lane's infinity times zero gets in",
     [](const Call& c) {
       matmul(c);
       for (int i = kN; i < kM * kN; ++i) out(c)[i % kN] += 0 * out(c)[i];
     },
     "hard values"},
    {"flushes denormals",
     [](const Call& c) {
       matmul(c);
       for (int i = 0; i < kM * kN; ++i)
         if (std::fabs(out(c)[i]) < 0.4f) out(c)[i] = 0;
     },
     " is 0, not "},
    {"reads behind an input",
     [](const Call& c) {
       matmul(c);
       const volatile float* p = in(c, 1);
       static_cast<void>(p[kK * kN]);
     },
     "outside a buffer: subject, plain values, buffers at the end"},
    {"reads before an input",
     [](const Call& c) {
       matmul(c);
       const volatile float* p = in(c, 0);
       static_cast<void>(*(p - 1));
     },
     "outside a buffer: subject, plain values, buffers at the beginning"},
    {"writes behind the result",
     [](const Call& c) {
       matmul(c);
       static_cast<volatile float*>(c.outputs[0])[kM * kN] = 1;
     },
     "outside a buffer"},
    {"writes before the result, far from the page",
     [](const Call& c) {
       matmul(c);
       *(static_cast<volatile float*>(c.outputs[0]) - 1) = 1;
     },
     "wrote beside a buffer"},
    {"writes to an input",
     [](const Call& c) {
       matmul(c);
       *const_cast<volatile float*>(in(c, 0)) = 1;
     },
     "outside a buffer"},
    {"writes behind the workspace",
     [](const Call& c) {
       matmul(c);
       static_cast<volatile unsigned char*>(c.workspace)[64] = 1;
     },
     "outside a buffer"},
    {"depends on the pool",
     [](const Call& c) {
       matmul(c);
       if (c.pool.run != nullptr) out(c)[0] = std::nextafter(out(c)[0], 1e9f);
     },
     "pool of 1: other bytes than before"},
    {"depends on the address",
     [](const Call& c) {
       matmul(c);
       if (reinterpret_cast<std::uintptr_t>(in(c, 0)) % 4096 == 0)
         out(c)[0] = std::nextafter(out(c)[0], 1e9f);
     },
     "buffers at the beginning, scalar: other bytes than before"},
};

TEST_CASE("wrong kernels do not") {
  for (const Wrong& wrong : kWrong) {
    INFO(std::string(wrong.what));
    const std::string text = verdict(subject(wrong.run));
    CAPTURE(text);
    CHECK(text.find(wrong.message) != std::string::npos);
    CHECK(text.find("FAIL subject\n") != std::string::npos);
  }
}

// Kernels of several stages on x: f32[5,7], each right or with one of these mistakes.
enum class Mistake { kNone, kScale, kTerm, kConstant, kRounding, kJoined };

// A float, and no power of two: roundings of its products are no small exponents.
constexpr int kLarge = 16777203 * 64;

// softmax(x * factor, axis=1)
template <Mistake mistake, int factor = 1>
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("fp-contract=off")))
#endif
void softmax(const Call& c) {
  for (int m = 0; m < kM; ++m) {
    const float* x = in(c, 0) + m * kN;
    float most = x[0] * factor, sum = 0;
    for (int n = 1; n < kN; ++n)
      most = std::isnan(x[n]) || x[n] * factor > most ? x[n] * factor : most;
    if (mistake == Mistake::kConstant) most = 0;
    for (int n = 0; n < kN; ++n) {
      const float y = x[n] * factor;
      const float e =
          std::exp(mistake == Mistake::kJoined ? std::fma(x[n], factor, -most) : y - most);
      if (mistake != Mistake::kTerm || n > 0) sum += e;
      out(c)[m * kN + n] = e;
    }
    const float scale = mistake == Mistake::kScale ? 1 + 0x1p-13f : 1;
    for (int n = 0; n < kN; ++n) out(c)[m * kN + n] *= scale / sum;
  }
}

// layer_norm(x, 0.01, axis=1)
template <Mistake mistake>
void layer_norm(const Call& c) {
  for (int m = 0; m < kM; ++m) {
    const float* x = in(c, 0) + m * kN;
    float mean = 0, squares = 0;
    for (int n = 0; n < kN; ++n) mean += x[n] / kN;
    for (int n = 0; n < kN; ++n) squares += (x[n] - mean) * (x[n] - mean);
    squares /= mistake == Mistake::kTerm ? kN - 1 : kN;
    if (mistake != Mistake::kConstant) squares += 0.01f;
    const float scale = mistake == Mistake::kScale ? 1 + 0x1p-14f : 1;
    for (int n = 0; n < kN; ++n) out(c)[m * kN + n] = scale * (x[n] - mean) / std::sqrt(squares);
  }
}

// tanh(h) where h: bf16 = exp(x)
template <Mistake mistake>
void stored(const Call& c) {
  for (int i = 0; i < kM * kN; ++i) {
    const float e = std::exp(in(c, 0)[i]);
    const auto h = static_cast<float>(
        mistake == Mistake::kRounding ? e : round_to(Type::bf16, static_cast<double>(e)));
    out(c)[i] = std::tanh(h) * (mistake == Mistake::kScale ? 1 - 0x1p-20f : 1);
  }
}

// (y: f32, h: bf16) where h = exp(x), y = tanh(h)
template <Mistake mistake>
void two_results(const Call& c) {
  auto* stored = static_cast<unsigned char*>(c.outputs[1]);
  for (int i = 0; i < kM * kN; ++i) {
    const float e = std::exp(in(c, 0)[i]);
    const double h = round_to(Type::bf16, static_cast<double>(e));
    out(c)[i] = std::tanh(mistake == Mistake::kRounding ? e : static_cast<float>(h));
    const bool lost = mistake == Mistake::kTerm && i == 17;
    encode(Type::bf16, mistake == Mistake::kScale ? h * (1 + 0x1p-6) : h,
           stored + 2 * (lost ? i - 1 : i));
  }
  if (mistake == Mistake::kConstant) stored[2 * kM * kN] = 1;
}

Subject of_x(Run run, std::initializer_list<Node> nodes) {
  Subject s = subject(run);
  s.params = 1;
  s.param[0].shape[1] = kN;
  s.nodes = static_cast<int>(nodes.size());
  std::copy(nodes.begin(), nodes.end(), s.node);
  return s;
}

Subject softmax_subject(Run run, int factor = 1) {
  return of_x(run,
              {{Word::softmax, 1}, {Word::mul, 0}, {Word::param, 0}, {Word::number, 1.0 * factor}});
}
Subject layer_norm_subject(Run run) {
  return of_x(run, {{Word::layer_norm, 1}, {Word::param, 0}, {Word::number, 0.01}});
}
Subject stored_subject(Run run) {
  Subject s = of_x(run, {{Word::tanh, 0}, {Word::name, 0}, {Word::exp, 0}, {Word::param, 0}});
  s.names = 1;
  s.named[0] = {2, true, Type::bf16};
  return s;
}

Subject two_results_subject(Run run) {
  Subject s = of_x(run, {{Word::exp, 0}, {Word::param, 0}, {Word::tanh, 0}, {Word::name, 0}});
  s.names = 2;
  s.named[0] = {0, true, Type::bf16};
  s.named[1] = {2, true, Type::f32};
  s.results = 2;
  s.result[1] = {s.result[0].tensor, 0};
  s.result[1].tensor.type = Type::bf16;
  s.result[0].node = 2;
  return s;
}

TEST_CASE("several results") {
  CHECK(verdict(two_results_subject(two_results<Mistake::kNone>))
            .starts_with("subject: ok, 0 of 1400 outputs unchecked"));
  const std::pair<Run, const char*> wrong[] = {
      {two_results<Mistake::kScale>, "result 1, output 0 is"},
      {two_results<Mistake::kTerm>, "result 1, output 16 is"},
      {two_results<Mistake::kConstant>, "outside a buffer"},
      {two_results<Mistake::kRounding>, "result 0, output "},
  };
  for (const auto& [run, message] : wrong) {
    const std::string text = verdict(two_results_subject(run));
    CAPTURE(text);
    CHECK(text.find(message) != std::string::npos);
    CHECK(text.find("FAIL subject\n") != std::string::npos);
  }
}

TEST_CASE("several stages") {
  for (const Subject& s :
       {softmax_subject(softmax<Mistake::kNone>),
        softmax_subject(softmax<Mistake::kNone, kLarge>, kLarge),
        layer_norm_subject(layer_norm<Mistake::kNone>), stored_subject(stored<Mistake::kNone>)}) {
    const std::string text = verdict(s);
    CAPTURE(text);
    CHECK(text.starts_with("subject: ok, 0 of 700 outputs unchecked"));
  }
  for (const Subject& s :
       {softmax_subject(softmax<Mistake::kScale>), softmax_subject(softmax<Mistake::kTerm>),
        softmax_subject(softmax<Mistake::kConstant, 60>, 60),
        softmax_subject(softmax<Mistake::kJoined, kLarge>, kLarge),
        layer_norm_subject(layer_norm<Mistake::kScale>),
        layer_norm_subject(layer_norm<Mistake::kTerm>),
        layer_norm_subject(layer_norm<Mistake::kConstant>), stored_subject(stored<Mistake::kScale>),
        stored_subject(stored<Mistake::kRounding>)}) {
    const std::string text = verdict(s);
    CAPTURE(text);
    CHECK(text.find(", plain values, ") != std::string::npos);
    CHECK(text.find("FAIL subject\n") != std::string::npos);
  }
}

// A sample of the outputs, and sums of rows for the others.
TEST_CASE("large results") {
  Subject s = subject(nullptr);
  constexpr int kLarge = 1000;
  s.param[0].shape[0] = s.param[0].shape[1] = s.param[1].shape[0] = kLarge;
  Tensor& made = s.result[0].tensor;
  s.param[1].shape[1] = made.shape[0] = made.shape[1] = kLarge;
  Numbers numbers(3);
  std::vector<Values> inputs(2, Values(static_cast<size_t>(kLarge * kLarge)));
  for (Values& values : inputs)
    for (double& v : values) v = round_to(Type::f32, 2 * numbers.unit() - 1);
  const Reference r = reference(s, inputs, false);
  REQUIRE(r.row_sums.size() == static_cast<size_t>(kLarge));
  Values outputs(static_cast<size_t>(kLarge * kLarge), 0.0);
  for (size_t m = 0; m < kLarge; ++m)
    for (size_t k = 0; k < kLarge; ++k)
      for (size_t n = 0; n < kLarge; ++n)
        outputs[m * kLarge + n] += inputs[0][m * kLarge + k] * inputs[1][k * kLarge + n];
  for (double& v : outputs) v = round_to(Type::f32, v);
  Compared compared;
  CHECK(difference(s, r, outputs, compared) == "");
  CHECK(compared.outputs >= kLarge);
  CHECK(compared.outputs < kLarge * kLarge);
  CHECK(compared.unchecked == 0);
  for (const size_t at : {size_t{5}, size_t{1234}, outputs.size() - 1}) {
    const double right = outputs[at];
    outputs[at] += 0.5;
    CHECK(difference(s, r, outputs, compared) != "");
    outputs[at] = right;
  }
}

struct Rounding {
  Type type;
  double value, rounded;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Rounding kRoundings[] = {
    {Type::f32, 1 + 0x1p-24, 1},
    {Type::f32, 1 + 0x1p-23 + 0x1p-24, 1 + 0x1p-22},
    {Type::f32, 0x1p-150, 0},
    {Type::f32, 0x1.8p-149, 0x1p-148},
    {Type::f32, 0x1.fffffep127, 0x1.fffffep127},
    {Type::f32, 0x1.ffffffp127, kInfinity},
    {Type::bf16, 1 + 0x1p-8, 1},
    {Type::bf16, 1 + 0x1p-7 + 0x1p-8, 1 + 0x1p-6},
    {Type::bf16, -0x1.ffp127, -kInfinity},
    {Type::f16, 65519, 65504},
    {Type::f16, 65520, kInfinity},
    {Type::f16, 0x1p-25, 0},
    {Type::f16, 0x1.8p-24, 0x1p-23},
};

TEST_CASE("rounding") {
  for (const Rounding& r : kRoundings) {
    CAPTURE(r.value);
    CHECK(round_to(r.type, r.value) == r.rounded);
  }
}

TEST_CASE("every 16-bit float decodes and encodes") {
  for (const Type t : {Type::bf16, Type::f16})
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      unsigned char bytes[4], back[4] = {};
      std::memcpy(bytes, &bits, 4);
      const double value = decode(t, bytes);
      encode(t, value, back);
      if (std::isnan(value) ? !std::isnan(decode(t, back)) : std::memcmp(bytes, back, 2) != 0)
        FAIL(bits, " becomes ", value);
    }
}

TEST_CASE("ends of intervals do not show what a zero between them becomes") {
  const double inf = HUGE_VAL;
  const Interval zero = Interval::between(-1, 1), positive = Interval::between(1, 2);
  const auto exactly = [](double x) { return Interval::exactly(x); };
  CHECK(div(zero, exactly(0)).unchecked);
  CHECK(mul(zero, exactly(inf)).unchecked);
  CHECK(mul(Interval::between(-inf, -5), zero).unchecked);
  const Interval infinite[] = {div(positive, exactly(0)), mul(positive, exactly(inf))};
  for (const Interval& i : infinite) CHECK((!i.unchecked && i.lo == inf && i.hi == inf));
  CHECK(std::isnan(mul(exactly(0), exactly(inf)).lo));
  const Interval product = mul(zero, positive);
  CHECK((!product.unchecked && product.lo == -2 && product.hi == 2));
}

TEST_CASE("an interval between zeros of both signs keeps both") {
  const double inf = std::numeric_limits<double>::infinity();
  // erf(0) is known to some units in the last place; divided by infinity it is a zero.
  const Interval zero = div({.lo = -0x1p-140, .hi = 0x1p-140}, Interval::exactly(inf));
  CHECK(std::signbit(zero.lo));
  CHECK_FALSE(std::signbit(zero.hi));
  const Interval over = div(Interval::exactly(-1), zero);
  CHECK(over.lo == -inf);
  CHECK(over.hi == inf);
}

TEST_CASE("of zeros of both signs either is the larger one") {
  const Interval minus = Interval::exactly(-0.0), plus = Interval::exactly(0.0);
  for (const Interval& i :
       {largest(minus, plus), largest(plus, minus), smallest(minus, plus), smallest(plus, minus)}) {
    CHECK(std::signbit(i.lo));
    CHECK(!std::signbit(i.hi));
    const Interval one_over = div(Interval::exactly(1), i);
    CHECK((one_over.lo == -HUGE_VAL && one_over.hi == HUGE_VAL));
  }
  CHECK(std::signbit(largest(minus, minus).hi));
  CHECK(!std::signbit(largest(plus, plus).lo));
}

}  // namespace
}  // namespace morello::run
