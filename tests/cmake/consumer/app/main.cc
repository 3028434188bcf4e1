// Every kernel of the project, called; second.cc includes the header-only one again.
#include <cstdio>

#include "my/static.h"
#include "square.h"
#include "square_object.h"
#include "squares.hpp"

void square_elsewhere(const float* a, const float* b, float* c);

static int wrong(const char* name, const float* c) {
  const float expected[] = {19, 22, 43, 50};
  for (int i = 0; i < 4; ++i) {
    if (c[i] != expected[i]) {
      std::printf("%s: element %d is %g, not %g\n", name, i, double(c[i]), double(expected[i]));
      return 1;
    }
  }
  return 0;
}

int main() {
  const float a[] = {1, 2, 3, 4};
  const float b[] = {5, 6, 7, 8};
  float c[4] = {};
  int failures = 0;
  const auto check = [&](const char* name, auto kernel) {
    for (float& x : c) x = -1;
    kernel(a, b, c);
    failures += wrong(name, c);
  };
  check("square", [](auto... p) { morello::square(p...); });
  check("static", [](auto... p) { in_static::square(p...); });
  check("object", [](auto... p) { in::object::square(p...); });
  check("other", [](auto... p) { in::object::other(p...); });
  check("first", [](auto... p) { morello::first(p...); });
  check("second", [](auto... p) { morello::second(p...); });
  check("elsewhere", square_elsewhere);
  if (failures == 0) std::printf("all kernels right\n");
  return failures;
}
