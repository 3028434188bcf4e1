#include "fixture.h"

namespace morello {
namespace {

struct Row {
  std::string_view spec, node, children;
};

// Children may be missing: a node says what they are to be before there are any.
constexpr Row kRows[] = {
    {"m=7 n=37 k=19 a@mem b@mem out@mem threads=2", "loop n by 16",
     "2 x m=7 n=16 k=19 a@mem b@mem out@mem threads=2\n"
     "1 x m=7 n=5 k=19 a@mem b@mem out@mem threads=2\n"},
    {"m=7 n=37 k=19 a@mem b@mem out@mem threads=2", "parallel n by 16",
     "2 x m=7 n=16 k=19 a@mem b@mem out@mem\n"
     "1 x m=7 n=5 k=19 a@mem b@mem out@mem\n"},
    {"m=7 n=37 k=19 a@mem b@mem out@mem threads=6", "parallel n by 16 leaving 2",
     "2 x m=7 n=16 k=19 a@mem b@mem out@mem threads=2\n"
     "1 x m=7 n=5 k=19 a@mem b@mem out@mem threads=2\n"},
    // Shares of a reduction have outputs of their own: none accumulates.
    {"m=7 n=37 k=19 a@mem b@mem out@mem threads=6", "parallel split k by 8 leaving 2",
     "2 x m=7 n=37 k=8 a@mem b@mem out@mem threads=2\n"
     "1 x m=7 n=37 k=3 a@mem b@mem out@mem threads=2\n"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem", "loop m by 3", "2 x m=3 n=16 k=20 a@mem b@mem out@mem\n"},
    // The first step of a reduction gives the output a value, the others add to it.
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "split k by 5",
     "1 x m=6 n=16 k=5 a@mem b@mem out@mem\n"
     "2 x m=6 n=16 k=5 a@mem b@mem out@mem acc\n"
     "1 x m=6 n=16 k=4 a@mem b@mem out@mem acc\n"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "split k by 10",
     "1 x m=6 n=16 k=10 a@mem b@mem out@mem\n"
     "1 x m=6 n=16 k=9 a@mem b@mem out@mem acc\n"},
    {"m=6 n=16 k=20 a@mem b@mem out@mem acc", "split k by 5",
     "4 x m=6 n=16 k=5 a@mem b@mem out@mem acc\n"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "copy a to L1",
     "1 x m=6 n=16 k=19 a@L1 packed b@mem out@mem\n"},
    {"m=6 n=16 k=19 a@L3 packed b@mem out@mem", "view a to L2",
     "1 x m=6 n=16 k=19 a@L2 packed b@mem out@mem\n"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem threads=3", "view out to L3",
     "1 x m=6 n=16 k=19 a@mem b@mem out@L3 threads=3\n"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "block",
     "1 x m=6 n=16 k=19 a@mem b@mem out@mem\n"
     "1 x m=6 n=16 k=19 a@mem b@mem out@mem acc\n"},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "call", ""},
    {"m=6 n=16 k=19 a@mem b@mem out@mem", "fill", ""},
};

TEST_CASE("children") {
  const auto f = test::fixture("(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)",
                               "fma_f32x8 lane=n quantum=m:6,n:16", 2);
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    CAPTURE(row.node);
    std::string text(row.node);
    if (text == "block")
      text += "\n  fill\n  call";
    else if (text != "call" && text != "fill")
      text += "\n  call";
    const ImplPtr impl = test::program(f.problem, text);
    std::string got;
    for (const Child& c : children(f.problem, test::hole_spec(f.problem, row.spec), *impl))
      got += fmt::format("{} x {}\n", c.times, str(c.spec, f.computation()));
    CHECK(got == row.children);
  }
}

TEST_CASE("children come with their Impls") {
  const auto f = test::fixture("(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)",
                               "fma_f32x8 lane=n quantum=m:6,n:16");
  const ImplPtr impl = test::program(f.problem,
                                     "split k by 5\n"
                                     "  first\n    call\n"
                                     "  body\n    call ahead a 64\n"
                                     "  rest 4\n    call ahead b 64\n");
  const Loop& loop = std::get<Loop>(impl->node);
  const auto got = children(f.problem, f.problem.root(), *impl);
  REQUIRE(got.size() == 3);
  CHECK(got[0].impl == loop.first);
  CHECK(got[1].impl == loop.body);
  CHECK(got[2].impl == loop.rest);
}

}  // namespace
}  // namespace morello
