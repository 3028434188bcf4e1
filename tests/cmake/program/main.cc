// Prints the instruction sets that were chosen; fails when a result is wrong.
#include "check.h"

int wrong_elsewhere();

int main() {
  const int wrong = check::wrong_results() + wrong_elsewhere();
  std::printf("selected: %s %s %s %s\n", morello::floats_selected(), morello::halves_selected(),
              morello::bytes_selected(), morello::sums_selected());
  if (wrong == 0) std::printf("all kernels right\n");
  return wrong == 0 ? 0 : 1;
}
