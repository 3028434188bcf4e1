// print() and parse_impl(): the notation, the round trip, and every error with its whole text.

#include "fixture.h"

namespace morello {
namespace {

using test::Random;

constexpr std::string_view kSpec = "(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)";
constexpr std::string_view kFamily = "fma_f32x8 lane=n quantum=m:6,n:16";

constexpr std::string_view kPrograms[] = {
    "call\n",
    "fill\n",
    "call ahead b 16384\n",
    "call ahead b 8192 to L2\n",
    "call streaming\n",
    "copy b to L2 ahead k\n"
    "  copy a to L1 ahead k in leaves\n"
    "    call\n",
    "view b to L2 ahead n in leaves\n"
    "  call\n",
    "call ahead a 64 streaming\n",
    "hole m=7 n=37 k=19 a@mem b@mem out@mem\n",
    "parallel n by 16\n"
    "  body\n"
    "    copy a to L1\n"
    "      loop m by 6\n"
    "        body\n"
    "          view b to L2\n"
    "            split k by 4\n"
    "              first\n"
    "                call\n"
    "              body\n"
    "                call ahead b 16384\n"
    "              rest 3\n"
    "                call\n"
    "        rest 1\n"
    "          hole m=1 n=16 k=19 a@L1 packed b@mem out@mem\n"
    "  rest 5\n"
    "    block\n"
    "      fill\n"
    "      loop m by 1\n"
    "        call\n",
    "parallel split k by 10 leaving 2\n"
    "  body\n"
    "    parallel m by 7\n"
    "      call\n"
    "  rest 9\n"
    "    call\n",
};

TEST_CASE("what prints parses") {
  const auto f = test::fixture(kSpec, kFamily);
  for (std::string_view text : kPrograms)
    CHECK(print(f.problem, *test::program(f.problem, text)) == text);
}

TEST_CASE("blank lines, final newlines and carriage returns do not matter") {
  const auto f = test::fixture(kSpec, kFamily);
  const ImplPtr plain =
      test::program(f.problem, "loop n by 16\n  body\n    call\n  rest 5\n    call\n");
  const ImplPtr odd =
      test::program(f.problem, "\nloop  n by 16 \r\n\n  body\r\n    call\r\n  rest 5\r\n    call");
  CHECK(equal(*plain, *odd));
}

// Any tree, legal or not: the text must tell all of them apart.
ImplPtr random_impl(Random& random, const Computation& c, const Extents& extent, int depth);

ImplPtr maybe(Random& random, const Computation& c, Extents extent, int dim, i64 size, int depth) {
  if (random.one_in(2) || size < 1) return nullptr;
  extent[dim] = size;
  return random_impl(random, c, extent, depth);
}

Loop random_loop(Random& random, const Computation& c, const Extents& extent, int depth) {
  Loop n;
  n.dim = static_cast<int>(random.below(3));
  n.tile = random.between(1, 9);
  n.parallel = random.one_in(3);
  if (n.parallel && random.one_in(2)) n.threads = static_cast<int>(random.between(2, 9));
  Extents tile = extent;
  tile[n.dim] = n.tile;
  n.body = random_impl(random, c, tile, depth);
  n.first = maybe(random, c, extent, n.dim, n.tile, depth);
  n.rest = maybe(random, c, extent, n.dim, extent[n.dim] % n.tile, depth);
  if (n.first && random.one_in(4)) n.body = nullptr;
  return n;
}

Hole random_hole(Random& random) {
  Hole n;
  n.spec.extent.fill(1);
  for (int d = 0; d < 3; ++d) n.spec.extent[d] = random.between(1, 99);
  for (Place& place : n.spec.place)
    place = {static_cast<Level>(random.below(kLevels)), random.one_in(2)};
  n.spec.accumulate = random.one_in(2);
  n.spec.threads = static_cast<int>(random.between(1, 3));
  return n;
}

ImplPtr random_impl(Random& random, const Computation& c, const Extents& extent, int depth) {
  Impl impl;
  switch (depth == 0 ? random.between(3, 4) : random.below(5)) {
    case 0:
      impl.node = random_loop(random, c, extent, depth - 1);
      break;
    case 1:
      impl.node = Move{static_cast<int>(random.below(3)), static_cast<Level>(random.below(kLevels)),
                       random.one_in(2)};
      if (Move& n = std::get<Move>(impl.node); random.one_in(2)) {
        n.ahead_dim = static_cast<int>(random.below(static_cast<i64>(c.dims.size())));
        n.ahead_in_leaves = !n.copy || random.one_in(2);
      }
      std::get<Move>(impl.node).body = random_impl(random, c, extent, depth - 1);
      break;
    case 2: {
      Block n;
      for (i64 parts = random.below(4); parts > 0; --parts)
        n.parts.push_back(random_impl(random, c, extent, depth - 1));
      impl.node = n;
      break;
    }
    case 3:
      impl.node = random_hole(random);
      break;
    default: {
      Call n{random.one_in(3) ? Call::Kind::kFill : Call::Kind::kLeaf, -1, 0};
      if (n.kind == Call::Kind::kLeaf && random.one_in(2)) {
        n.ahead_operand = static_cast<int>(random.below(3));
        n.ahead_bytes = random.between(1, 100000);
        if (random.one_in(2)) n.ahead_to = kL2;
      }
      n.streaming = n.kind == Call::Kind::kLeaf && random.one_in(3);
      impl.node = n;
    }
  }
  return std::make_shared<const Impl>(std::move(impl));
}

TEST_CASE("random trees print and parse") {
  const auto f = test::fixture(kSpec, kFamily);
  std::string previous;
  ImplPtr other;
  for (int seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const ImplPtr impl = random_impl(random, f.computation(), f.problem.root().extent, 5);
    const std::string text = print(f.problem, *impl);
    CAPTURE(text);
    const ImplPtr parsed = test::program(f.problem, text);
    CHECK(equal(*parsed, *impl));
    CHECK(print(f.problem, *parsed) == text);
    if (other) CHECK(equal(*impl, *other) == (text == previous));
    previous = text;
    other = impl;
  }
}

struct ErrorRow {
  std::string_view text, error;
};

constexpr ErrorRow kErrors[] = {
    {"", "<impl>:1:1: error: empty program\n"},
    {"  call", "<impl>:1:1: error: indentation before the root\n    call\n  ^~\n"},
    {"lop n by 16\n  call",
     "<impl>:1:1: error: no node `lop`; did you mean `loop`?\n  lop n by 16\n  ^~~\n"},
    {"unrolled n by 16\n  call",
     "<impl>:1:1: error: no node `unrolled`; allowed: loop, split, parallel, copy, view, clip, "
     "block, "
     "call, fill, hole\n  unrolled n by 16\n  ^~~~~~~~\n"},
    {"loop q by 16\n  call",
     "<impl>:1:6: error: no dim `q`; did you mean `m`?\n  loop q by 16\n       ^\n"},
    {"loop n of 16\n  call",
     "<impl>:1:8: error: expected `by`, got `of`\n  loop n of 16\n         ^~\n"},
    {"loop n by 0\n  call",
     "<impl>:1:11: error: `0` is no whole number of at least 1\n  loop n by 0\n            ^\n"},
    {"loop n by 9223372036854775808\n  call",
     "<impl>:1:11: error: `9223372036854775808` is no whole number of at least 1\n"
     "  loop n by 9223372036854775808\n            ^~~~~~~~~~~~~~~~~~~\n"},
    {"loop n by\n  call", "<impl>:1:10: error: expected a tile size\n  loop n by\n           ^\n"},
    {"loop n by 16 32\n  call",
     "<impl>:1:14: error: unexpected `32`\n  loop n by 16 32\n               ^~\n"},
    {"loop k by 4\n  call",
     "<impl>:1:1: error: k is a reduction dim: write `split k by ...`\n  loop k by 4\n  ^~~~\n"},
    {"split n by 4\n  call",
     "<impl>:1:1: error: n is a parallel dim: write `loop n by ...`\n  split n by 4\n  ^~~~~\n"},
    {"parallel k by 4\n  call",
     "<impl>:1:1: error: k is a reduction dim: write `parallel split k by ...`\n"
     "  parallel k by 4\n  ^~~~~~~~\n"},
    {"parallel split n by 4\n  call",
     "<impl>:1:1: error: n is a parallel dim: write `parallel n by ...`\n"
     "  parallel split n by 4\n  ^~~~~~~~\n"},
    {"parallel n by 4 leaving\n  call",
     "<impl>:1:24: error: expected a number of threads\n"
     "  parallel n by 4 leaving\n                         ^\n"},
    {"parallel n by 4 leaving 99999999999\n  call",
     "<impl>:1:25: error: too many threads\n"
     "  parallel n by 4 leaving 99999999999\n                          ^~~~~~~~~~~\n"},
    {"loop n by 4 leaving 2\n  call",
     "<impl>:1:13: error: unexpected `leaving`\n"
     "  loop n by 4 leaving 2\n              ^~~~~~~\n"},
    {"loop n by 16",
     "<impl>:1:1: error: `loop` needs a child, indented below it\n  loop n by 16\n  ^~~~\n"},
    {"loop n by 16\ncall",
     "<impl>:1:1: error: `loop` needs a child, indented below it\n  loop n by 16\n  ^~~~\n"},
    {"loop n by 16\n   call",
     "<impl>:2:1: error: expected 2 spaces of indentation, got 3\n     call\n  ^~~\n"},
    {"loop n by 16\n  call\n  call",
     "<impl>:3:3: error: `loop` has one child; this is a second\n    call\n    ^~~~\n"},
    {"loop n by 16\n  body\n    call\n  rest 4\n    call",
     "<impl>:4:8: error: the remainder here is 5\n    rest 4\n         ^\n"},
    {"loop n by 16\n  body\n    call\n  rest\n    call",
     "<impl>:4:3: error: the remainder here is 5\n    rest\n    ^~~~\n"},
    {"loop n by 16\n  rest 5\n    call\n  body\n    call",
     "<impl>:4:3: error: `body` after `rest`\n    body\n    ^~~~\n"},
    {"loop n by 16\n  body\n    call\n  body\n    call",
     "<impl>:4:3: error: `body` after `body`\n    body\n    ^~~~\n"},
    {"loop n by 16\n  body\n    call\n  call",
     "<impl>:4:3: error: no part of a loop `call`; allowed: first, body, rest\n"
     "    call\n    ^~~~\n"},
    {"rest 5\n  call",
     "<impl>:1:1: error: no node `rest`; allowed: loop, split, parallel, copy, view, clip, block, "
     "call, fill, hole\n  rest 5\n  ^~~~\n"},
    {"copy c to L1\n  call",
     "<impl>:1:6: error: no operand `c`; did you mean `a`?\n  copy c to L1\n       ^\n"},
    {"copy a to L9\n  call",
     "<impl>:1:11: error: no level `L9`; did you mean `L1`?\n  copy a to L9\n            ^~\n"},
    {"copy a to L1 ahead\n  call",
     "<impl>:1:19: error: expected dim\n  copy a to L1 ahead\n                    ^\n"},
    {"copy a to L1 ahead j\n  call",
     "<impl>:1:20: error: no dim `j`; did you mean `m`?\n  copy a to L1 ahead j\n                  "
     "   "
     "^\n"},
    {"copy a to L1 ahead k in\n  call",
     "<impl>:1:24: error: expected `leaves`\n  copy a to L1 ahead k in\n                         "
     "^\n"},
    {"view a to L1 ahead k\n  call",
     "<impl>:1:21: error: expected `in leaves`\n  view a to L1 ahead k\n                      ^\n"},
    {"view a to L1\n  call\n  call",
     "<impl>:3:3: error: `view` has one child; this is a second\n    call\n    ^~~~\n"},
    {"call\ncall",
     "<impl>:2:1: error: a program has one root; this line is beside it\n  call\n  ^~~~\n"},
    {"call\n  call", "<impl>:2:3: error: `call` has no children\n    call\n    ^~~~\n"},
    {"call ahead b",
     "<impl>:1:13: error: expected a number of bytes\n  call ahead b\n              ^\n"},
    {"call behind b 3",
     "<impl>:1:6: error: unexpected `behind`\n  call behind b 3\n       ^~~~~~\n"},
    {"hole m=7 k=19",
     "<impl>:1:10: error: expected `n=...`, got `k=19`\n  hole m=7 k=19\n           ^~~~\n"},
    {"hole m=7 n=37 k=x",
     "<impl>:1:17: error: `x` is no whole number of at least 1\n  hole m=7 n=37 k=x\n"
     "                  ^\n"},
    {"hole m=7 n=37 k=19 a@mem b@L0 out@mem",
     "<impl>:1:28: error: no level `L0`; did you mean `L1`?\n"
     "  hole m=7 n=37 k=19 a@mem b@L0 out@mem\n                             ^~\n"},
    {"hole m=7 n=37 k=19 a@mem out@mem",
     "<impl>:1:26: error: expected `b@...`, got `out@mem`\n"
     "  hole m=7 n=37 k=19 a@mem out@mem\n                           ^~~~~~~\n"},
    {"hole m=7 n=37 k=19 a@mem b@mem out@mem threads=99999999999",
     "<impl>:1:48: error: too many threads\n"
     "  hole m=7 n=37 k=19 a@mem b@mem out@mem threads=99999999999\n"
     "                                                 ^~~~~~~~~~~\n"},
};

TEST_CASE("parse errors") {
  const auto f = test::fixture(kSpec, kFamily);
  for (const ErrorRow& row : kErrors) {
    CAPTURE(row.text);
    const Result<ImplPtr> parsed = parse_impl(row.text, f.problem);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.error().str() == row.error);
  }
}

// Truncated and mutated programs are refused or parsed, never anything else.
TEST_CASE("mutated text") {
  const auto f = test::fixture(kSpec, kFamily);
  const std::string text(kPrograms[4]);
  for (size_t n = 0; n <= text.size(); ++n) (void)parse_impl(text.substr(0, n), f.problem);
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string mutated = text;
    for (i64 edits = random.between(1, 3); edits > 0; --edits) {
      const i64 at = random.below(static_cast<i64>(mutated.size()));
      mutated[at] = static_cast<char>(random.one_in(3) ? '\n' : random.between(1, 255));
    }
    const Result<ImplPtr> parsed = parse_impl(mutated, f.problem);
    if (parsed) CHECK(equal(**parsed, *test::program(f.problem, print(f.problem, **parsed))));
  }
}

}  // namespace
}  // namespace morello
