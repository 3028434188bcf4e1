// What becomes of what a stage of several stores.
#include "impl/stage_output.h"

#include "fixture.h"
#include "spec/graph.h"

namespace morello {
namespace {

struct Row {
  const char* shape;
  bool in_result;  // exponentials lie in the result's memory
  const char* described;
};
// Of results of 1 MiB and more, which leave the caches.
constexpr Row kRows[] = {
    {"[8,1024]", false, "t0: | t1: | t2: | out:"},
    {"[8,1024]", true, "t0: | t1: | t2: | out: in place"},
    {"[8,65536]", false, "t0: | t1: | t2: | out: leaves"},
    {"[8,65536]", true, "t0: | t1: leaves, read again | t2: | out:"},
};

TEST_CASE("what a stage stores leaves the caches, or stays where it was read") {
  Machine machine;
  machine.streamed_bytes = 1 << 20;
  for (const Row& row : kRows) {
    CAPTURE(row.shape);
    const KernelSpec k =
        *parse_spec(fmt::format("(x: f32{}): f32 = softmax(x, axis=1)", row.shape));
    Graph g = graph_of(k);
    REQUIRE(g.stages.size() == 4);
    g.in_result = row.in_result ? g.made_by(1) : -1;
    std::string described;
    for (int stage = 0; stage < 4; ++stage) {
      Part p;
      describe_output(g, machine, stage, p);
      described +=
          fmt::format("{}{}:{}{}{}", stage == 0 ? "" : " | ",
                      stage == 3 ? "out" : fmt::format("t{}", stage), p.leaves ? " leaves" : "",
                      p.read_again ? ", read again" : "", p.in_place ? " in place" : "");
    }
    CHECK(described == row.described);
  }
}

}  // namespace
}  // namespace morello
