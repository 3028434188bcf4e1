// Functions whose texts differ in variables only: one for all of them, where that is asked for.
#include "codegen/functions.h"

#include <doctest/doctest.h>

namespace morello {
namespace {

// A sum over `count` elements that may start from what is there.
Body sum(i64 count, bool accumulate) {
  Writer w(1);
  w.line("int s;");
  w.either(
      "accumulate", accumulate, [&] { w.line("s = 0;"); }, [&] { w.line("s = *out;"); });
  w.open_loop("i", count);
  w.open_loop("j", 4);
  w.line("s += a[4 * i + j];");
  w.close();
  w.close();
  w.line("*out = s;");
  w.either(
      "accumulate", accumulate, [] {}, [&] { w.line("++*out;"); });
  return w.body();
}

constexpr std::string_view kParams = "const int* a, int* out, [[maybe_unused]] long n";

TEST_CASE("a text that is asked for again is the function that is there") {
  for (const bool apart : {false, true}) {
    Functions f(apart);
    CHECK(f.add("sum", kParams, sum(3, false)) == "sum_0");
    CHECK(f.add("sum", kParams, sum(3, true)) == "sum_1");
    CHECK(f.add("sum", kParams, sum(3, false)) == "sum_0");
    CHECK(f.add("sum", "const int* a, int* out", sum(3, false)) == "sum_2");
    CHECK(f.add("add", kParams, "  ++*out;\n") == "add_3");
    CHECK(f.add("add", kParams, "  ++*out;\n") == "add_3");
    CHECK(f.add("sum", kParams, sum(3, true)) == "sum_1");
  }
}

TEST_CASE("values that all functions have in common are part of the text") {
  Functions f(true);
  f.add("sum", kParams, sum(3, true));
  CHECK(
      f.text() ==
      R"(MORELLO_UNUSED MORELLO_TARGET __attribute__((noinline)) static void sum_0(const int* a, int* out, [[maybe_unused]] long n) noexcept {
  int s;
  s = *out;
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    for (std::ptrdiff_t j = 0; j < 4; ++j) {
      s += a[4 * i + j];
    }
  }
  *out = s;
  ++*out;
}
)");
  f.add("sum", kParams, sum(5, true));
  CHECK(
      f.text() ==
      R"(MORELLO_UNUSED MORELLO_TARGET __attribute__((noinline)) static void sum_0_any(const int* a, int* out, [[maybe_unused]] long n, std::ptrdiff_t i_end) noexcept {
  int s;
  s = *out;
  for (std::ptrdiff_t i = 0; i < i_end; ++i) {
    for (std::ptrdiff_t j = 0; j < 4; ++j) {
      s += a[4 * i + j];
    }
  }
  *out = s;
  ++*out;
}
MORELLO_UNUSED MORELLO_TARGET static inline void sum_0(const int* a, int* out, [[maybe_unused]] long n) noexcept { sum_0_any(a, out, n, 3); }
MORELLO_UNUSED MORELLO_TARGET static inline void sum_1(const int* a, int* out, [[maybe_unused]] long n) noexcept { sum_0_any(a, out, n, 5); }
)");
}

TEST_CASE("values that differ are parameters") {
  Functions f(true);
  f.add("sum", kParams, sum(3, true));
  f.add("sum", kParams, sum(5, false));
  CHECK(
      f.text() ==
      R"(MORELLO_UNUSED MORELLO_TARGET __attribute__((noinline)) static void sum_0_any(const int* a, int* out, [[maybe_unused]] long n, bool accumulate, std::ptrdiff_t i_end) noexcept {
  int s;
  if (accumulate) {
    s = *out;
  } else {
    s = 0;
  }
  for (std::ptrdiff_t i = 0; i < i_end; ++i) {
    for (std::ptrdiff_t j = 0; j < 4; ++j) {
      s += a[4 * i + j];
    }
  }
  *out = s;
  if (accumulate) {
    ++*out;
  }
}
MORELLO_UNUSED MORELLO_TARGET static inline void sum_0(const int* a, int* out, [[maybe_unused]] long n) noexcept { sum_0_any(a, out, n, true, 3); }
MORELLO_UNUSED MORELLO_TARGET static inline void sum_1(const int* a, int* out, [[maybe_unused]] long n) noexcept { sum_0_any(a, out, n, false, 5); }
)");
}

// Two rows of so many numbers, so far apart.
Body rows(i64 count, i64 stride) {
  Writer w(1, true);
  w.name("s0s0", stride);
  w.line("store(out, {});", w.number(count));
  w.line("store(out + s0s0, {});", w.number(count));
  return w.body();
}

TEST_CASE("numbers by name are constants where all functions have the same") {
  Functions f(true);
  CHECK(f.add("rows", "int* out", rows(3, 8)) == "rows_0");
  CHECK(f.add("rows", "int* out", rows(3, 8)) == "rows_0");
  CHECK(
      f.text() ==
      R"(MORELLO_UNUSED MORELLO_TARGET __attribute__((noinline)) static void rows_0(int* out) noexcept {
  const std::ptrdiff_t n0 = 3;
  const std::ptrdiff_t s0s0 = 8;
  store(out, n0);
  store(out + s0s0, n0);
}
)");
  CHECK(f.add("rows", "int* out", rows(3, 9)) == "rows_1");
  CHECK(
      f.text() ==
      R"(MORELLO_UNUSED MORELLO_TARGET __attribute__((noinline)) static void rows_0_any(int* out, std::ptrdiff_t s0s0) noexcept {
  const std::ptrdiff_t n0 = 3;
  store(out, n0);
  store(out + s0s0, n0);
}
MORELLO_UNUSED MORELLO_TARGET static inline void rows_0(int* out) noexcept { rows_0_any(out, 8); }
MORELLO_UNUSED MORELLO_TARGET static inline void rows_1(int* out) noexcept { rows_0_any(out, 9); }
)");
}

TEST_CASE("numbers by name that only what is left out knows are left out, too") {
  const auto body = [](i64 count, bool accumulate) {
    Writer w(1, true);
    w.either(
        "accumulate", accumulate, [&] { w.line("clear(n01);"); },
        [&] { w.line("load({});", w.number(count)); });
    return w.body();
  };
  Functions f(true);
  CHECK(f.add("sum", "int* n01", body(3, false)) == "sum_0");
  CHECK(f.add("sum", "int* n01", body(5, false)) == "sum_1");
  CHECK(
      f.text() ==
      R"(MORELLO_UNUSED MORELLO_TARGET __attribute__((noinline)) static void sum_0_any(int* n01) noexcept {
  clear(n01);
}
MORELLO_UNUSED MORELLO_TARGET static inline void sum_0(int* n01) noexcept { sum_0_any(n01); }
MORELLO_UNUSED MORELLO_TARGET static inline void sum_1(int* n01) noexcept { sum_0_any(n01); }
)");
  CHECK(f.add("sum", "int* n01", body(5, true)) == "sum_2");
  CHECK(f.text().find("n0, bool") == std::string::npos);
  CHECK(f.text().find("bool accumulate, std::ptrdiff_t n0)") != std::string::npos);
}

TEST_CASE("elsewhere every function has its own text, for compilers to put into its caller") {
  Functions f;
  f.add("sum", kParams, sum(3, false));
  f.add("sum", kParams, sum(5, false));
  const std::string text = f.text();
  for (std::string_view part :
       {"static inline void sum_0(", "i < 3;", "static inline void sum_1(", "i < 5;"})
    CHECK_MESSAGE(text.find(part) != text.npos, part);
  CHECK(text.find("_any") == text.npos);
  CHECK(text.find("noinline") == text.npos);
}

}  // namespace
}  // namespace morello
