// print() and parse_fusion(): names, every error with its whole text, and what damaged text
// becomes: an error, an illegal program, or one that computes what it should. fusion_test.cc reads
// back what searches find.
#include "search/fusion_text.h"

#include <cmath>
#include <random>
#include <span>

#include "long.h"
#include "search/fused_specs.h"
#include "search/toy.h"
#include "spec/algebra.h"

namespace morello {
namespace {

constexpr std::string_view kRows =
    "(x: f32[5,9]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)";

constexpr std::string_view kText =
    "threads 2\n"
    "parallel i by 3\n"
    "  with t0 f32[3]\n"
    "    t0: 194 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
    "      loop i by 1\n"
    "        call\n"
    "    out: 332 cycles, x@L1 out@mem extras@L1, map_f32 x=load_f32 out=store_f32\n"
    "      loop i0 by 1\n"
    "        loop i1 by 1\n"
    "          call\n"
    "rest 2\n"
    "  with t0 f32[2]\n"
    "    t0: 194 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
    "      loop i by 1\n"
    "        call\n"
    "    out: 332 cycles, x@L1 out@mem extras@L1, map_f32 x=load_f32 out=store_f32\n"
    "      loop i0 by 1\n"
    "        loop i1 by 1\n"
    "          call\n";

constexpr std::string_view kSums =
    "(a: f32[4,6], b: f32[6,20], c: f32[20,8]): f32 = matmul(matmul(a, b), c)";

constexpr std::string_view kSumsText =
    "loop n by 8\n"
    "first\n"
    "  with t0 f32[4,8]\n"
    "    t0: 1 cycles, a@L1 b@L1 out@L1, fma_f32 quantum=m:2,n:4 a=load_f32 b=load_f32 "
    "out=store_f32\n"
    "      loop m by 2\n"
    "        loop n by 4\n"
    "          call\n"
    "    out: 1 cycles, t0@L1 c@L1 out@L1, fma_f32 quantum=m:2,n:4 t0=load_f32 c=load_f32 "
    "out=store_f32\n"
    "      loop m by 2\n"
    "        loop n by 4\n"
    "          call\n"
    "body\n"
    "  with t0 f32[4,8]\n"
    "    t0: 1 cycles, a@L1 b@L1 out@L1, fma_f32 quantum=m:2,n:4 a=load_f32 b=load_f32 "
    "out=store_f32\n"
    "      loop m by 2\n"
    "        loop n by 4\n"
    "          call\n"
    "    out adding: 1 cycles, t0@L1 c@L1 out@L1, fma_f32 quantum=m:2,n:4 t0=load_f32 c=load_f32 "
    "out=store_f32\n"
    "      loop m by 2\n"
    "        loop n by 4\n"
    "          call\n"
    "rest 4\n"
    "  with t0 f32[4,4]\n"
    "    t0: 1 cycles, a@L1 b@L1 out@L1, fma_f32 quantum=m:2,n:4 a=load_f32 b=load_f32 "
    "out=store_f32\n"
    "      loop m by 2\n"
    "        call\n"
    "    out adding: 1 cycles, t0@L1 c@L1 out@L1, fma_f32 quantum=m:2,n:4 t0=load_f32 c=load_f32 "
    "out=store_f32\n"
    "      loop m by 2\n"
    "        loop n by 4\n"
    "          call\n";

// Steps of 8 rows would do.
constexpr std::string_view kBlocks =
    "(x: f32[16,9] order(0/8, 1, 0%8)): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)";

constexpr std::string_view kBlocksText =
    "loop i by 4\n"
    "  with t0 f32[4]\n"
    "    t0: 1 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
    "      copy x to L1\n"
    "        loop i by 1\n"
    "          call\n"
    "    out: 1 cycles, x@L2 out@L1 extras@L1, map_f32 x=load_f32 out=store_f32\n"
    "      copy x to L1\n"
    "        loop i1 by 1\n"
    "          loop i0 by 1\n"
    "            call\n";

struct Case {
  std::string_view spec, text;
};
constexpr Case kCases[] = {{kRows, kText}, {kSums, kSumsText}, {kBlocks, kBlocksText}};
constexpr int kLegalCases = 2;

// Memory is far away.
Machine far_machine() {
  Machine machine = toy_machine(1024, 8192, 0);
  machine.levels[kMemory] = {0, 64, 1, 200'000, 200'000, 900'000, 0};
  return machine;
}

const Isa& scalar() { return *find_isa("scalar"); }

// Every program but for rounding: sums of small numbers.
void check_values(const Fusion& f, const Graph& given) {
  const std::vector<double> expected = evaluate(given, small_numbers(given));
  const std::vector<double> values = interpret(f, small_numbers(given));
  REQUIRE(values.size() == expected.size());
  bool same = true;
  for (size_t i = 0; i < values.size(); ++i)
    same &= std::abs(values[i] - expected[i]) <= 1e-9 * (1 + std::abs(expected[i]));
  CHECK(same);
}

TEST_CASE("what prints parses, written by hand") {
  const Machine machine = toy_machine();
  for (const Case& c : std::span(kCases).first(kLegalCases)) {
    const KernelSpec k = spec(c.spec);
    const Result<Fusion> f = parse_fusion(c.text, k, machine, scalar());
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    CHECK(print(*f) == c.text);
    CHECK(verify(*f) == "");
    check_values(*f, graph_of(k));
    check_reads_back(*f, k, machine, scalar());
  }
}

// Every spec with every instruction set, by one thread on one of the machines, two on the other; a
// third of these where time is short.
TEST_CASE("programs that read zeros nowhere read back") {
  const Machine machines[] = {toy_machine(), far_machine()};
  size_t turn = 0;
  for (std::string_view text : kPaddedSpecs)
    for (const char* isa : {"scalar", "avx2", "avx512"}) {
      ++turn;
      for (const int threads : {1, 2}) {
        if (!has_turn(turn + turn / 3 + static_cast<size_t>(threads), 5)) continue;
        const Machine& machine = machines[(turn + threads) % 2];
        CAPTURE(text);
        CAPTURE(isa);
        const KernelSpec k = spec(text);
        const Graph given = graph_of(k);
        REQUIRE(unpadded(given).has_value());
        for (const PadsOut which : {PadsOut::kAll, PadsOut::kFirst}) {
          const std::optional<Graph> g = unpadded(given, which);
          if (!g) continue;  // one axis only
          const Optimum o =
              found(optimize_graph(*g, machine, *find_isa(isa), {.threads = threads}));
          const std::string text = print(*o.fusion);
          CHECK(text.starts_with("threads") == (threads > 1));
          CHECK(text.find("pads left out\n") != std::string::npos);
          CHECK((text.find("first pads") != std::string::npos) == (which == PadsOut::kFirst));
          check_values(*o.fusion, given);
          check_reads_back(*o.fusion, k, machine, *find_isa(isa));
        }
      }
    }
}

TEST_CASE("names that a rewrite would use are taken") {
  const Machine machine = toy_machine();
  const KernelSpec k = spec(
      "(q: f32[5,4], k: f32[140,4], v: f32[140,3], t0_before: f32[5,3], t2_sum: f32[5,3], "
      "out_sum: f32[5,3]): f32 = t0_before + t2_sum + out_sum + "
      "matmul(softmax(matmul(q, transpose(k)) * 0.125, axis=1), v)");
  const Graph given = graph_of(k);
  for (const auto& g : {sums_apart(given), online(given)}) {
    REQUIRE(g.has_value());
    const Optimum o = found(optimize_graph(*g, machine, scalar(), {}));
    check_values(*o.fusion, given);
    check_reads_back(*o.fusion, k, machine, scalar());
  }
}

struct ErrorRow {
  int text;
  std::string_view from, to, error;
};

constexpr ErrorRow kErrors[] = {
    {0, kText, "", "<impl>:1:1: error: empty program\n"},
    {0, "threads 2\n", "threads 0\n",
     "<impl>:1:9: error: `0` is no whole number of at least 1\n"
     "  threads 0\n"
     "          ^\n"},
    {0, "threads 2\n",
     "threads 2\n"
     "sums apart\n",
     "<impl>:2:1: error: no sum of this kernel can be apart\n"
     "  sums apart\n"
     "  ^~~~\n"},
    {0, "threads 2\n",
     "threads 2\n"
     "online k\n",
     "<impl>:2:1: error: no sums of this kernel can be online\n"
     "  online k\n"
     "  ^~~~~~\n"},
    {1, "loop n by 8\n",
     "sums together\n"
     "loop n by 8\n",
     "<impl>:1:1: error: no sum of this kernel can be apart\n"
     "  sums together\n"
     "  ^~~~\n"},
    {0, "parallel i by 3", "  parallel i by 3",
     "<impl>:2:1: error: expected 0 spaces of indentation, got 2\n"
     "    parallel i by 3\n"
     "  ^~\n"},
    {0, "parallel i by 3", "unrolled i by 3",
     "<impl>:2:1: error: no node `unrolled`; allowed: loop, parallel, with, t0:, out:\n"
     "  unrolled i by 3\n"
     "  ^~~~~~~~\n"},
    {0, "parallel i by 3", "parallel q by 3",
     "<impl>:2:10: error: no dim `q`; did you mean `i`?\n"
     "  parallel q by 3\n"
     "           ^\n"},
    {0, "parallel i by 3", "parallel i of 3",
     "<impl>:2:12: error: expected `by`, got `of`\n"
     "  parallel i of 3\n"
     "             ^~\n"},
    {0, "parallel i by 3", "parallel i by 5",
     "<impl>:2:15: error: the tile must be less than the extent 5\n"
     "  parallel i by 5\n"
     "                ^\n"},
    {0, "parallel i by 3", "parallel i by 3 4",
     "<impl>:2:17: error: unexpected `4`\n"
     "  parallel i by 3 4\n"
     "                  ^\n"},
    {0, "parallel i by 3\n",
     "parallel i by 3\n"
     "rest 2\n",
     "<impl>:2:1: error: `parallel` needs a child, indented below it\n"
     "  parallel i by 3\n"
     "  ^~~~~~~~\n"},
    {0, "rest 2", "rest 1",
     "<impl>:11:6: error: expected `2`, got `1`\n"
     "  rest 1\n"
     "       ^\n"},
    {0, "rest 2", "next 2",
     "<impl>:2:1: error: `parallel` lacks its `rest 2`\n"
     "  parallel i by 3\n"
     "  ^~~~~~~~\n"},
    {1,
     "\n"
     "body",
     "\n"
     "next",
     "<impl>:1:1: error: `loop` lacks its `body`\n"
     "  loop n by 8\n"
     "  ^~~~\n"},
    {1, "rest 4\n", "rest\n",
     "<impl>:22:5: error: expected `4`\n"
     "  rest\n"
     "      ^\n"},
    {0, "t0 f32[3]", "x f32[3]",
     "<impl>:3:8: error: no tensor without a buffer `x`; allowed: t0\n"
     "    with x f32[3]\n"
     "         ^\n"},
    {0, "t0 f32[3]", "t0 f32[4]",
     "<impl>:3:11: error: t0 is f32[3] here\n"
     "    with t0 f32[4]\n"
     "            ^~~~~~\n"},
    {0, "t0 f32[3]", "t0 f32[3],",
     "<impl>:3:11: error: t0 is f32[3] here\n"
     "    with t0 f32[3],\n"
     "            ^~~~~~~\n"},
    {0, "t0 f32[3]", "t0 f32[3], t0 f32[3]",
     "<impl>:3:19: error: no tensor without a buffer `t0`; allowed: \n"
     "    with t0 f32[3], t0 f32[3]\n"
     "                    ^~\n"},
    {0, "t0: 194", "t1: 194",
     "<impl>:4:5: error: no stage `t1`; did you mean `t0`?\n"
     "      t1: 194 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "      ^~\n"},
    {0, "t0: 194", "t0 194",
     "<impl>:4:5: error: no node `t0`; did you mean `t0:`?\n"
     "      t0 194 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "      ^~\n"},
    {0, "t0: 194", "t0: -1",
     "<impl>:4:9: error: `-1` is no whole number of at least 0\n"
     "      t0: -1 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "          ^~\n"},
    {0, "cycles,", "seconds,",
     "<impl>:4:13: error: expected `cycles,`, got `seconds,`\n"
     "      t0: 194 seconds, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "              ^~~~~~~~\n"},
    {0, "x@L2", "asks=y ahead=64 x@L2",
     "<impl>:4:26: error: no operand `y`; did you mean `x`?\n"
     "      t0: 194 cycles, asks=y ahead=64 x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "                           ^\n"},
    {0, "x@L2", "asks=x x@L2",
     "<impl>:4:28: error: expected `ahead=...`, got `x@L2`\n"
     "      t0: 194 cycles, asks=x x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "                             ^~~~\n"},
    {0, "x@L2", "asks=x ahead=64 to=L9 x@L2",
     "<impl>:4:40: error: no level `L9`; did you mean `L1`?\n"
     "      t0: 194 cycles, asks=x ahead=64 to=L9 x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "                                         ^~\n"},
    {0, "x@L2", "y@L2",
     "<impl>:4:21: error: expected `x@...`, got `y@L2`\n"
     "      t0: 194 cycles, y@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "                      ^~~~\n"},
    {0, "x@L2", "x@L9",
     "<impl>:4:23: error: no level `L9`; did you mean `L1`?\n"
     "      t0: 194 cycles, x@L9 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "                        ^~\n"},
    {0, "out@L1,", "out@L1",
     "<impl>:4:30: error: expected a comma behind the last level\n"
     "      t0: 194 cycles, x@L2 out@L1 sum_f32 x=load_f32 out=store_f32\n"
     "                               ^~\n"},
    {0, "out@mem extras@L1,", "out@mem,",
     "<impl>:7:31: error: expected `extras@...` behind it\n"
     "      out: 332 cycles, x@L1 out@mem, map_f32 x=load_f32 out=store_f32\n"
     "                                ^~~~\n"},
    {0, "sum_f32 ", "sum_f64 ",
     "<impl>:4:34: error: no family `sum_f64 x=load_f32 out=store_f32` for this computation on "
     "scalar\n"
     "      t0: 194 cycles, x@L2 out@L1, sum_f64 x=load_f32 out=store_f32\n"
     "                                   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"},
    {0,
     "      loop i by 1\n"
     "        call\n",
     "",
     "<impl>:4:5: error: no program is indented below it\n"
     "      t0: 194 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "      ^~\n"},
    {0, "      loop i by 1\n", "       loop i by 1\n",
     "<impl>:5:1: error: expected 6 spaces of indentation, got 7\n"
     "         loop i by 1\n"
     "  ^~~~~~~\n"},
    {0, "        call\n", "        cal\n",
     "<impl>:6:9: error: no node `cal`; did you mean `call`?\n"
     "          cal\n"
     "          ^~~\n"},
    {0, "        call\n",
     "        call\n"
     "      call\n",
     "<impl>:7:7: error: a program has one root; this line is beside it\n"
     "        call\n"
     "        ^~~~\n"},
    {0, "        call\n", "          call\n",
     "<impl>:6:1: error: expected 8 spaces of indentation, got 10\n"
     "            call\n"
     "  ^~~~~~~~~~\n"},
};

// The text with the first `from` replaced.
std::string edited(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const size_t at = out.find(from);
  REQUIRE(at != out.npos);
  return out.replace(at, from.size(), to);
}

// Lines.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST_CASE("wrong texts") {
  const Machine machine = toy_machine();
  for (const ErrorRow& row : kErrors) {
    const Case& c = kCases[row.text];
    const std::string text = edited(c.text, row.from, row.to);
    CAPTURE(text);
    const Result<Fusion> f = parse_fusion(text, spec(c.spec), machine, scalar());
    REQUIRE_FALSE(f.ok());
    CHECK(f.error().str() == row.error);
  }
}

// What parses and is no program.
constexpr ErrorRow kIllegal[] = {
    {1, "t0: 1 cycles, a@L1", "t0: 1 cycles, threads=2 a@L1", "stage 0 has other threads"},
    {2, "", "", "steps of 4 cut blocks of 8"},
    {0, "threads 2\n", "", "there is one thread here"},
    {0, "    out: 332", "    out adding: 332", "stage 1 adds in another step"},
    {0,
     "  with t0 f32[3]\n"
     "    t0: 194 cycles, x@L2 out@L1, sum_f32 x=load_f32 out=store_f32\n"
     "      loop i by 1\n"
     "        call\n",
     "  with t0 f32[3]\n", "stage 1 is not the next one"},
    {0, "      loop i by 1\n", "      loop i by 3\n",
     "loop i by 3: the tile must be at least 1 and less than the extent 3"},
    {1, "out adding: 1", "out: 1", "stage 1 adds in another step"},
    {1, "loop m by 2\n", "loop m by 4\n",
     "loop m by 4: the tile must be at least 1 and less than the extent 4"},
    {1,
     "loop n by 8\n"
     "first",
     "parallel n by 8\n"
     "first",
     "there is one thread here"},
    {0, "    out: 332",
     "  with t0 f32[3]\n"
     "    out: 332",
     "t0 is not made where its buffer is"},
};

TEST_CASE("illegal texts") {
  const Machine machine = toy_machine();
  for (const ErrorRow& row : kIllegal) {
    const Case& c = kCases[row.text];
    const std::string text = edited(c.text, row.from, row.to);
    CAPTURE(text);
    const Result<Fusion> f = parse_fusion(text, spec(c.spec), machine, scalar());
    REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
    CHECK(verify(*f) == row.error);
  }
}

TEST_CASE("a maximum is kept from step to step") {
  const Machine machine = far_machine();
  const KernelSpec k = spec("(x: f32[2,3000]): f32 = softmax(x, axis=1)");
  const std::optional<Graph> g = online(graph_of(k));
  REQUIRE(g.has_value());
  const Optimum o = found(optimize_graph(*g, machine, scalar(), {}));
  // Its buffer, not around the loop, but in each of its steps.
  std::string text, inside;
  for (const std::string& line : split(edited(print(*o.fusion), "with t0 f32[2], ", "with "))) {
    const size_t indent = line.find_first_not_of(' ');
    if (indent <= 4) inside.clear();
    text += inside + line + "\n";
    if (line == "    first" || line == "    body" || line.starts_with("    rest ")) {
      text += "      with t0 f32[1]\n";
      inside = "  ";
    }
  }
  CAPTURE(text);
  const Result<Fusion> f = parse_fusion(text, k, machine, scalar());
  REQUIRE_MESSAGE(f.ok(), (f.ok() ? "" : f.error().str()));
  CHECK(verify(*f) == "t0 is not kept from step to step");
}

class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  std::string operator()(const std::string& text) {
    std::vector<std::string> lines = split(text);
    for (int edits = below(2) + 1; edits > 0 && !lines.empty(); --edits) edit(lines);
    std::string out;
    for (const std::string& l : lines) out += l + "\n";
    return out;
  }

 private:
  int below(size_t n) { return static_cast<int>(random_() % n); }
  void edit(std::vector<std::string>& lines) {
    const int i = below(lines.size()), j = below(lines.size());
    std::string& line = lines[i];
    switch (below(6)) {
      case 0:
        std::swap(line, lines[j]);
        break;
      case 1:
        lines.erase(lines.begin() + i);
        break;
      case 2: {
        const std::string copy = line;
        lines.insert(lines.begin() + j, copy);
        break;
      }
      case 3:
        line[below(line.size())] = static_cast<char>(1 + below(255));
        break;
      default:
        number(line);
    }
  }
  // A number becomes another one.
  void number(std::string& line) {
    const size_t from = line.find_first_of("0123456789", below(line.size()));
    if (from == line.npos) return;
    const size_t end = std::min(line.find_first_not_of("0123456789", from), line.size());
    line.replace(from, end - from, std::to_string(below(3) == 0 ? below(1000) : 1 + below(12)));
  }

  std::mt19937 random_;
};

bool has_hole(const std::string& text) { return text.find("hole ") != text.npos; }

// Damaged texts of one program; how many of them are programs still.
int check_damaged(const Fusion& f, const KernelSpec& k, const Machine& machine, const Isa& isa,
                  int texts) {
  Damage damage(7);
  const std::string whole = print(f);
  int legal = 0;
  for (int i = 0; i < texts; ++i) {
    const std::string text = damage(whole);
    CAPTURE(text);
    const Result<Fusion> read = parse_fusion(text, k, machine, isa);
    if (!read) {
      CHECK(read.error().file == "<impl>");
      continue;
    }
    const std::string printed = print(*read);
    const Result<Fusion> again = parse_fusion(printed, k, machine, isa);
    REQUIRE(again.ok());
    CHECK(print(*again) == printed);
    if (!verify(*read).empty() || has_hole(printed)) continue;
    check_values(*read, graph_of(k));
    ++legal;
  }
  return legal;
}

TEST_CASE("damaged texts") {
  constexpr std::string_view kSpecs[] = {
      "(a: f32[12,5], b: f32[5,40], c: f32[40,6]): f32 = matmul(matmul(a, b), c)",
      "(a: f32[12,16], b: f32[16,24] order(1/8, 0, 1%8), w: f32[24,16] packed): f32 = "
      "matmul(matmul(a, b), w)",
      "(x: f32[12,16], w: f32[16,48] packed, v: f32[16,48] packed): f32 = "
      "relu(matmul(x, w)) * matmul(x, v)",
      "(x: f32[9,40]): f32 = x * broadcast(reduce_sum(x, axis=1), axis=1)",
      "(q: f32[5,4], k: f32[140,4], v: f32[140,3]): f32 = "
      "matmul(softmax(matmul(q, transpose(k)) * 0.5, axis=1), v)",
      "(x: f32[1,5,4,3], k: f32[3,3,3,10]): f32 = "
      "conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2), k)",
      "(x: f32[9,40]): f32 = softmax(x, axis=1)",
  };
  const Machine machine = far_machine();
  int legal = 0;
  size_t turn = 0;
  for (std::string_view text : kSpecs)
    for (int threads : {1, 2}) {
      ++turn;
      if (!has_turn(turn + turn / 2, 2)) continue;  // each, by one thread or by two
      const KernelSpec k = spec(text);
      const Graph given = graph_of(k);
      std::vector<Graph> graphs = {given};
      for (const auto& other : {sums_apart(given), online(given), unpadded(given),
                                unpadded(given, PadsOut::kFirst), result_apart(given)})
        if (other) graphs.push_back(*other);
      for (const Graph& g : graphs) {
        const Isa& isa = *find_isa("avx2");
        const Optimum o = found(optimize_graph(g, machine, isa, {.threads = threads}));
        legal += check_damaged(*o.fusion, k, machine, isa, 200);
      }
    }
  MESSAGE("damaged texts that are programs: ", legal);
  CHECK(legal > 100);
}

}  // namespace
}  // namespace morello
