// How outputs near an edge are told from the others, and what programs may do before they are.
#include "impl/clip.h"

#include "fixture.h"
#include "spec/algebra.h"

namespace morello {
namespace {

// The convolution of a kernel without its pads.
struct Unpadded {
  std::unique_ptr<KernelSpec> spec;
  std::unique_ptr<Graph> graph;
  Problem problem;

  explicit Unpadded(std::string_view text, std::string_view family = "") : spec(test::spec(text)) {
    std::optional<Graph> g = unpadded(graph_of(*spec));
    REQUIRE(g.has_value());
    graph = std::make_unique<Graph>(std::move(*g));
    problem.computation = &graph->stages[0].computation;
    for (const Family& f : families(*problem.computation, *find_isa("avx2")))
      if (!problem.family.kernel && f.str(*problem.computation).find(family) != std::string::npos)
        problem.family = f;
    REQUIRE(problem.family.kernel);
  }
};

TEST_CASE("segments of a dim, and the part of the window that lies inside") {
  struct Row {
    std::string_view padded, attributes;
    i64 extent, window;                        // of x and k along the axis
    std::vector<std::array<i64, 5>> segments;  // first, count, window first, window count, shape
  };
  const Row rows[] = {
      {"low=1, high=1", "", 112, 3, {{0, 1, 1, 2, 0}, {1, 110, 0, 3, 1}, {111, 1, 0, 2, 0}}},
      {"low=1", "", 5, 2, {{0, 1, 1, 1, 0}, {1, 4, 0, 2, 1}}},
      {"high=2", "", 5, 3, {{0, 3, 0, 3, 0}, {3, 1, 0, 2, 1}, {4, 1, 0, 1, 2}}},
      // Steps of two; the last row of x is read by one window only.
      {"low=3, high=3",
       ", stride=2",
       224,
       7,
       {{0, 1, 3, 4, 0}, {1, 1, 1, 6, 1}, {2, 109, 0, 7, 2}, {111, 1, 0, 5, 3}}},
      // The window has gaps: two outputs each.
      {"low=2, high=2",
       ", dilation_h=2",
       6,
       3,
       {{0, 2, 1, 2, 0}, {2, 2, 0, 3, 1}, {4, 2, 0, 2, 0}}},
      // Windows are wider than x.
      {"low=1, high=1", "", 2, 3, {{0, 1, 1, 2, 0}, {1, 1, 0, 2, 0}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.padded);
    const Unpadded u(
        fmt::format("(x: f32[1,{},8,1], k: f32[{},1,1,2]): f32 = "
                    "conv2d(pad(x, axis=1, {}), k{})",
                    row.extent, row.window, row.padded, row.attributes));
    const std::vector<Clipped> all = clipped(*u.problem.computation);
    REQUIRE(all.size() == 1);
    CHECK(u.problem.computation->dims[all[0].dim].name == "h");
    CHECK(u.problem.computation->dims[all[0].window].name == "r");
    std::vector<std::array<i64, 5>> segments;
    for (const Segment& p : all[0].segments)
      segments.push_back({p.first, p.count, p.window_first, p.window_count, p.shape});
    CHECK(segments == row.segments);
  }
}

constexpr std::string_view kPadded =
    "(x: f32[1,9,8,4], k: f32[3,3,4,16]): f32 = conv2d(pad(x, axis=1, low=1, high=1), k)";

struct Row {
  std::string_view spec, program, why;
};

// Of 9 rows, 6 pixels and 16 filters.
constexpr Row kRows[] = {
    {"h=9 r=3 x@mem k@mem out@mem uncut h", "call",
     "call: windows reach beyond what they read: `clip` comes first"},
    {"h=9 r=3 x@mem k@mem out@mem uncut h", "loop h by 3\n  call",
     "loop h by 3: windows along h reach beyond what they read: `clip` comes first"},
    {"h=9 r=3 x@mem k@mem out@mem uncut h", "split r by 2\n  first\n    call\n  rest 1\n    call",
     "split r by 2: windows along r reach beyond what they read: `clip` comes first"},
    {"h=9 r=3 x@mem k@mem out@mem uncut h",
     "clip h\n  part 1 r 2\n    call\n  part 7 r 3\n    loop h by 1\n      call", ""},
    {"h=7 r=3 x@mem k@mem out@mem", "clip h\n  part 1 r 2\n    call\n  part 7 r 3\n    call",
     "clip h: no window reaches beyond what it reads along h here"},
    {"h=9 r=3 x@mem k@mem out@mem threads=2 uncut h",
     "clip h\n  part 1 r 2\n    call\n  part 7 r 3\n    parallel h by 1\n      call", ""},
    {"h=9 r=3 x@mem k@mem out@mem uncut h", "copy x to L1\n  call",
     "copy x to L1: x has nothing where windows along h reach beyond it: `clip` comes first"},
    {"h=9 r=3 x@mem k@mem out@mem uncut h",
     "view x to L1\n  copy k to L1\n    clip h\n      part 1 r 2\n        call\n      part 7 r 3\n "
     "       loop h by 1\n          call",
     ""},
};

TEST_CASE("nothing divides a dim before it is cut") {
  const Unpadded u(kPadded, "quantum=w:6,f:16 ");
  for (const Row& row : kRows) {
    CAPTURE(row.spec);
    CAPTURE(row.program);
    std::string spec(row.spec);
    spec.replace(0, spec.find(" x@"),
                 "b=1 " + spec.substr(0, 3) + " w=6 f=16 " + spec.substr(4, 3) + " c=12");
    const ImplPtr impl = test::program(u.problem, row.program);
    CHECK(verify(u.problem, test::hole_spec(u.problem, spec), *impl) == row.why);
    CHECK(print(u.problem, *impl) == std::string(row.program) + "\n");
  }
}

TEST_CASE("threads divide segments one by one, outside the region of any") {
  Unpadded u(kPadded, "quantum=w:6,f:16 ");
  const ImplPtr impl =
      test::program(u.problem, "clip h\n  part 1 r 2\n    call\n  part 7 r 3\n    call");
  for (const int threads : {2, 4}) {
    u.problem.threads = threads;
    const Spec spec = test::hole_spec(
        u.problem, "b=1 h=9 w=6 f=16 r=3 c=12 x@mem k@mem out@mem threads=2 uncut h");
    const std::string why = verify(u.problem, spec, *impl);
    CHECK((why == "clip h: directly inside a parallel loop that leaves 2 threads stands another") ==
          (threads == 4));
  }
}

TEST_CASE("what is no clip says where") {
  struct Text {
    std::string_view program, error;
  };
  constexpr Text kTexts[] = {
      {"clip w\n  part 1 r 2\n    call", "1:6: no window reaches beyond what it reads along w"},
      {"clip h\n  part 1 r 2\n    call", "1:1: lacks its `part 7 r 3`"},
      {"clip h\n  part 1 r 3\n    call", "2:3: expected `part 1 r 2`"},
      {"clip h\n  part 1 r 2\n    call\n  part 7 r 3\n    call\n  part 1 r 2\n    call",
       "6:3: there are no more parts"},
  };
  const Unpadded u(kPadded);
  for (const Text& t : kTexts) {
    CAPTURE(t.program);
    const Result<ImplPtr> parsed = parse_impl(t.program, u.problem);
    REQUIRE_FALSE(parsed.ok());
    const Diagnostic& d = parsed.error();
    CHECK(fmt::format("{}:{}: {}", d.line, d.column, d.text) == t.error);
  }
}

}  // namespace
}  // namespace morello
