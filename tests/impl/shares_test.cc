// How the shares of a divided reduction become one sum.
#include "impl/shares.h"

#include "fixture.h"

namespace morello {
namespace {

struct Row {
  const char* machine;  // null: none
  int threads;
  i64 elements;  // of the output, f32
  int shares;
  i64 tasks;
  i64 task_elements;
};

// A task reads 32 KiB at the least on zen5, 16 KiB on Granite Rapids (from memory, which more than
// two threads share there, 8), and there are no more tasks than threads.
constexpr Row kRows[] = {
    {"zen5", 8, 2048, 3, 1, 2048},
    {"zen5", 8, 8192, 3, 3, 2736},
    {"zen5", 8, 16384, 2, 4, 4096},
    {"zen5", 8, 16384, 7, 8, 2048},
    {"zen5", 8, 65536, 8, 8, 8192},
    {"zen5", 2, 65536, 2, 2, 32768},
    {"zen5", 2, 100, 2, 1, 112},
    {"graniterapids", 2, 2048, 2, 1, 2048},
    {"graniterapids", 2, 4096, 2, 2, 2048},
    {"graniterapids", 4, 2048, 2, 2, 1024},
    {nullptr, 8, 65536, 8, 1, 65536},
};

TEST_CASE("tasks of an addition are worth starting") {
  for (const Row& row : kRows) {
    CAPTURE(row.elements);
    CAPTURE(row.shares);
    test::Fixture f =
        test::fixture(fmt::format("(x: f32[1680,{}]): f32 = reduce_sum(x, axis=0)", row.elements),
                      "", row.threads);
    Machine machine;
    if (row.machine) {
      machine = *load_machine(row.machine);
      f.problem.machine = &machine;
    }
    const Spec root = f.problem.root();
    int dim = 0;
    while (!f.computation().dims[dim].reduction) ++dim;
    const Loop loop{.dim = dim, .tile = 1680 / row.shares, .parallel = true};
    const Shares shares = shares_of(f.problem, root, loop);
    CHECK(shares.count == row.shares);
    CHECK(shares.tasks == row.tasks);
    CHECK(shares.task_elements == row.task_elements);
  }
}

}  // namespace
}  // namespace morello
