// Every row of kind Function, compiled and run, computes what its function means, within the error
// that it states. Doubles judge floats: a function of the C library in double is off by 2^-29 of a
// float's last place, and doubles that are rounded to float are + - * / and sqrt correctly rounded.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <set>

#include "rows_library.h"
#include "target/isa.h"

namespace morello {
namespace {

using Bits = std::uint32_t;
constexpr size_t kMostLanes = 16;
using Block = std::array<Bits, kMostLanes>;  // elements of either type as bits

float to_float(Bits b) { return std::bit_cast<float>(b); }
double value(Dtype t, Bits b) {
  return t == Dtype::f32 ? static_cast<double>(to_float(b))
                         : static_cast<double>(std::bit_cast<std::int32_t>(b));
}

// ---- Errors. ----

// Units in the last place of a float of the size of x, which is at least that of subnormal ones.
double unit(double x) {
  const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1023;
  const int least = std::numeric_limits<float>::min_exponent - 1;
  return std::bit_cast<double>(static_cast<std::uint64_t>(std::max(exponent, least) - 23 + 1023)
                               << 52);
}

// By how many units in the last place the result is off; infinite where one of the two is not
// finite, or the signs differ, and they should not. What is beyond the floats by less than the
// error allowed counts as if floats went on, so that a result may overflow there or not.
double error(float got, double want) {
  const double inf = std::numeric_limits<double>::infinity();
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : inf;
  if (std::isinf(want)) return static_cast<double>(got) == want ? 0 : inf;
  if (std::signbit(got) != std::signbit(want)) return inf;
  const double beyond = std::ldexp(1.0, 128);
  const double is = std::isinf(got) ? std::copysign(beyond, want) : static_cast<double>(got);
  if (std::isinf(got) && std::abs(want) > beyond) return 0;
  return std::abs(is - want) / unit(std::min(std::abs(want), beyond / 2));
}

// max(0, -0) may be either: the sign of zero counts where there is one zero only.
bool either_zero(Fn fn, float got, double a, double b) {
  return (fn == Fn::kMax || fn == Fn::kMin) && got == 0 && a == 0 && b == 0;
}

// Of what is positive, exp_nonpositive is from 1 to exp of it: the nearer one of what is computed.
double nearest(Fn fn, double x, double got, double want) {
  if (fn != Fn::kExpNonpositive || !(x > 0)) return want;
  return std::clamp(got, 1.0, std::exp(x));
}

// Worst error of the results of one register; for integers, and for what rounds exactly, whether
// there is any.
double worst_error(const Function& f, const Block& a, const Block& b, const Block& d,
                   const Block& c) {
  const FnDef& def = *fn_def(f.fn);
  const Dtype from = f.fn == Fn::kToFloat ? Dtype::i32 : f.type;
  double worst = 0;
  for (size_t i = 0; i < static_cast<size_t>(f.lanes); ++i) {
    const double x = value(from, a[i]), y = value(from, b[i]);
    const double want =
        nearest(f.fn, x, value(f.type, c[i]), apply(def, f.type, x, y, value(from, d[i])));
    if (f.type == Dtype::i32) {
      if (value(Dtype::i32, c[i]) != want) return std::numeric_limits<double>::infinity();
    } else if (!either_zero(f.fn, to_float(c[i]), x, y)) {
      const double exact = f.ulps == 0 ? static_cast<double>(static_cast<float>(want)) : want;
      worst = std::max(worst, error(to_float(c[i]), exact));
    }
  }
  return worst;
}

// What rows state is a whole number beyond the half; exp shall be within 2 units.
double bound(const Function& f) {
  if (f.ulps == 0) return 0;
  return f.fn == Fn::kExp || f.fn == Fn::kExpNonpositive ? std::min(2.0, 0.5 + f.ulps)
                                                         : 0.5 + f.ulps;
}

// ---- Rows. ----

struct Row {
  const Function* function;
  RowFunction run;
};

// The third operand, which the result replaces.
Block third(const Block& b) {
  Block d{};
  for (size_t i = 0; i < d.size(); ++i) d[i] = ~b[i];
  return d;
}

double run(const Row& row, const Block& a, const Block& b) {
  const Block d = third(b);
  Block c = d;
  row.run(a.data(), b.data(), c.data());
  return worst_error(*row.function, a, b, d, c);
}

void check(const Row& row, const Block& a, const Block& b) {
  const double error = run(row, a, b);
  if (error <= bound(*row.function)) return;
  CAPTURE(row.function->name);
  CAPTURE(error);
  for (size_t i = 0; i < static_cast<size_t>(row.function->lanes); ++i) {
    Block one{}, other{};
    one.fill(a[i]), other.fill(b[i]);
    Block c = third(other);
    if (run(row, one, other) <= bound(*row.function)) continue;
    row.run(one.data(), other.data(), c.data());
    FAIL_CHECK("of " << to_float(a[i]) << " and " << to_float(b[i]) << ": " << to_float(c[0])
                     << fmt::format(" ({:08x}, {:08x}: {:08x})", a[i], b[i], c[0]));
    return;
  }
  FAIL_CHECK("among others only");
}

// ---- Arguments. ----

// Where functions begin and end to be subnormal, infinite, 0 or 1, where rows clamp, and what is
// hard anyway.
std::vector<Bits> hard_floats() {
  std::vector<Bits> list = {0x7fc00000u, 0x7f800001u, 0x7fffffffu};  // NaN, one of them signalling
  for (const float x : {0.0f,
                        0x1p-149f,
                        0x1p-126f,
                        0x1.fffffcp-127f,
                        0x1p-60f,
                        0x1p-24f,
                        0x1p-12f,
                        0x1p-5f,
                        0.0625f,
                        0.125f,
                        0.34657359f,
                        0.5f,
                        0.693147181f,
                        1.0f,
                        1.5f,
                        2.0f,
                        3.0f,
                        3.8325069f,
                        3.919206f,
                        3.95f,
                        4.0f,
                        8.0f,
                        8.6643398f,
                        9.010913f,
                        9.25f,
                        10.0f,
                        16.0f,
                        87.336544f,
                        87.33655f,
                        88.3762627f,
                        88.7228317f,
                        88.722839f,
                        89.0f,
                        103.278929f,
                        103.972076f,
                        104.0f,
                        128.0f,
                        1000.0f,
                        0x1p+23f,
                        0x1p+31f,
                        0x1.8p+63f,
                        0x1p+100f,
                        0x1.fffffep+126f,
                        0x1.fffffep+127f,
                        std::numeric_limits<float>::infinity()})
    for (const int step : {-1, 0, 1}) {
      const Bits b = std::bit_cast<Bits>(x) + static_cast<Bits>(step);
      if (std::isnan(to_float(b))) continue;
      list.push_back(b);
    }
  const size_t positive = list.size();
  for (size_t i = 0; i < positive; ++i) list.push_back(list[i] ^ 0x80000000u);
  return list;
}

std::vector<Bits> hard_integers() {
  return {0u,          1u,          2u,          0xffffffffu, 0x80000000u, 0x80000001u,
          0x7fffffffu, 0x7ffffffeu, 0x00ffffffu, 0x01000000u, 0x01000001u, 0x01000003u,
          0xff000001u, 0x0000ffffu, 0x00010000u, 0x00008000u, 0xffff8000u, 0x7fffffc0u,
          0x7fffffbfu, 0x40000000u, 0xc0000000u};
}

// Calls take(block) with all elements, in blocks; the last block repeats some.
template <class Take>
void in_blocks(const std::vector<Bits>& list, Take take) {
  Block block{};
  for (size_t i = 0; i < list.size(); i += kMostLanes) {
    for (size_t l = 0; l < kMostLanes; ++l) block[l] = list[(i + l) % list.size()];
    take(block);
  }
}

// The elements of a block for rows of fewer lanes, register by register.
template <class Take>
void in_registers(const Row& row, const Block& a, const Block& b, Take take) {
  const auto lanes = static_cast<size_t>(row.function->lanes);
  for (size_t i = 0; i < kMostLanes; i += lanes) {
    Block x{}, y{};
    for (size_t l = 0; l < kMostLanes; ++l) {
      x[l] = a[(i + l) % kMostLanes];
      y[l] = b[(i + l) % kMostLanes];
    }
    take(x, y);
  }
}

void test_hard(const Row& row) {
  const bool floats = row.function->type == Dtype::f32 && row.function->fn != Fn::kToFloat;
  const std::vector<Bits> list = floats ? hard_floats() : hard_integers();
  const auto test = [&](const Block& a, const Block& b) {
    in_registers(row, a, b, [&](const Block& x, const Block& y) { check(row, x, y); });
  };
  if (fn_def(row.function->fn)->arity == 1)
    in_blocks(list, [&](const Block& a) { test(a, a); });
  else
    for (const Bits b : list) {
      Block second{};
      second.fill(b);
      in_blocks(list, [&](const Block& a) { test(a, second), test(second, a); });
    }
}

void test_random(const Row& row, int rounds) {
  std::mt19937 random(20240607);
  for (int round = 0; round < rounds; ++round) {
    Block a{}, b{};
    for (Bits& x : a) x = static_cast<Bits>(random());
    for (Bits& x : b) x = static_cast<Bits>(random());
    check(row, a, b);
  }
}

// Every step-th argument of a function of one.
void test_all(const Row& row, std::uint64_t step) {
  const auto lanes = static_cast<std::uint64_t>(row.function->lanes);
  for (std::uint64_t at = 0; at < std::uint64_t{1} << 32; at += step * lanes) {
    Block a{};
    for (size_t l = 0; l < kMostLanes; ++l) a[l] = static_cast<Bits>(at + l * step);
    check(row, a, a);
  }
}

void test_row(const Row& row, std::uint64_t step) {
  test_hard(row);
  test_random(row, 2000);
  if (fn_def(row.function->fn)->arity == 1) test_all(row, step);
}

// What it has and its base has not.
std::vector<const Function*> own_functions(const Isa& isa) {
  std::vector<const Function*> list;
  for (const auto& rows : isa.functions) {
    const auto same = [&](const auto& other) { return other.data() == rows.data(); };
    if (isa.base != nullptr &&
        std::any_of(isa.base->functions.begin(), isa.base->functions.end(), same))
      continue;
    for (const Function& f : rows) list.push_back(&f);
  }
  return list;
}

void test_functions(const Isa& isa, const std::string& compiler, const std::string& options,
                    std::uint64_t step) {
  CAPTURE(compiler);
  CAPTURE(options);
  const RowsLibrary library(isa, compiler, options);
  REQUIRE_MESSAGE(library.error() == "", library.error());
  for (const Function* f : own_functions(isa))
    test_row({f, library.find(f->name, "function")}, step);
}

// Steps are odd, so that all significands occur.
TEST_CASE("every function computes what it means") {
  for (const Isa* isa : isa_table()) {
    if (own_functions(*isa).empty()) continue;
    if (!isa->runs_here()) {
      MESSAGE("skipped: this CPU lacks " << std::string(isa->name));
      continue;
    }
    CAPTURE(isa->name);
    for (const std::string& compiler : test_compilers())
      for (const auto& [options, step] :
           {std::pair{"-O2", 4095}, {"-O0", 65537}, {"-O3 -march=native", 65537}})
        test_functions(*isa, compiler, options, static_cast<std::uint64_t>(step));
  }
}

// What is more than an instruction; a row that several instruction sets have in the first of them.
TEST_CASE("long: every function of every argument" * doctest::skip()) {
  std::set<const Function*> tested;
  for (const Isa* isa : isa_table()) {
    if (own_functions(*isa).empty() || !isa->runs_here()) continue;
    const RowsLibrary library(*isa, test_compilers().front(), "-O2");
    REQUIRE_MESSAGE(library.error() == "", library.error());
    for (const Function* f : own_functions(*isa)) {
      if (fn_def(f->fn)->arity != 1 || f->helpers.empty() || !tested.insert(f).second) continue;
      MESSAGE(std::string(isa->name) << ": " << std::string(f->name));
      test_all({f, library.find(f->name, "function")}, 1);
    }
  }
}

}  // namespace
}  // namespace morello
