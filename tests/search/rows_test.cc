// Kernels of several stages for any number of rows: pieces that are there, that are right for every
// number, and that find what is packed ahead of time in one order.
#include "impl/rows.h"

#include <fmt/ranges.h>

#include "search/kept_tables.h"
#include "search/toy.h"
#include "spec/graph.h"
#include "spec/rows.h"

namespace morello {
namespace {

constexpr std::string_view kSpecs[] = {
    "(x: f32[m near 20,30]): f32 = softmax(x, axis=1)",
    "(x: f32[m near 9,6] strided, y: f32[5,6] strided): f32 strided = "
    "transpose(matmul(y, transpose(softmax(x, axis=1))))",
    "(x: bf16[m%4 near 24,9] order(0/4, 1, 0%4)): f32 = layer_norm(x, 1, axis=1)",
    "(x: f32[m to 5,24], w: f32[24]): bf16 = rms_norm(x, 1, axis=1) * w",
    "(x: f32[m to 12,12], w: f32[12,20] packed, v: f32[12,20] packed): f32 = "
    "relu(matmul(x, w)) * matmul(x, v)",
    "(x: bf16[m near 30,12], w: bf16[12,10] packed, v: bf16[10,12] packed): bf16 = matmul(h, v) "
    "where h: bf16 = relu(matmul(x, w))",
    "(q: f32[m near 9,4], k: f32[11,4], v: f32[11,3]): f32 = "
    "matmul(matmul(q, transpose(k)), v)",
    // Windows that leave the last column out.
    "(x: f32[b near 5,4,6,3], k: f32[3,3,3,6] packed): f32 = relu(conv2d(relu(x), k, stride=2))",
    // Rows inside of something else.
    "(x: f32[3,m near 20,4], w: f32[4,5]): f32[3,m,5] order(2, 0, 1) = "
    "softmax(matmul(x, w), axis=2)",
    "(x: f32[6,m near 20] strided): f32 = softmax(x, axis=0)",
    "(x: i32[3,m near 7] col, y: i32[m]): (a: i32[3,m] col, b: i32[m]) where a = x + "
    "broadcast(y, axis=0), b = reduce_sum(a, axis=0)",
    "(x: f32[2,m near 6,5] order(1, 0, 2), y: f32[5,5]): f32[2,m,5] order(1, 2, 0) = "
    "matmul(matmul(x, y), y)",
    "(x: f32[b near 5,4,5,3], k: f32[3,3,3,6] packed): f32 = "
    "relu(conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=1, high=1), k))",
    // What has no rows is made for each piece.
    "(x: f32[m near 9,8], y: f32[8], z: f32[8]): (a: f32[m,8], b: f32[8]) where b = y * z, "
    "a = x - broadcast(b, axis=0)",
};

// Something is summed over the size.
constexpr std::string_view kSummed[] = {
    "(x: f32[5,n near 30]): f32 = softmax(x, axis=1)",
    "(x: f32[5,n near 1]): f32 = softmax(x, axis=1)",
    "(x: f32[n%3 near 30,5]): bf16 = softmax(x, axis=0)",
    "(x: f32[5,n to 6]): f32 = softmax(x, axis=1)",
    "(q: f32[7,4], k: f32[n near 40,4], v: f32[n,6]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)) * 0.5, axis=1), v)",
    "(q: bf16[7,4], k: bf16[4,n near 40] strided, v: bf16[n,6], mask: f32[7,n]): "
    "(o: bf16[7,6], most: f32[7], all: f32[7]) where s = matmul(q, k) + mask, "
    "most = reduce_max(s, axis=1), e = exp(s - broadcast(most, axis=1)), "
    "all = reduce_sum(e, axis=1), o = matmul(e, v) / broadcast(all, axis=1)",
    "(q: f32[2,3,4], k: f32[2,n near 20,4] order(1, 0, 2), v: f32[2,n,5], w: f32[5,6] packed): "
    "f32 = matmul(matmul(softmax(matmul(q, transpose(k)), axis=2), v), w)",
    // No exponentials: sums add, greatest and least are compared, and some need others.
    "(x: f32[4,n near 20], y: f32[n,5]): f32 = matmul(matmul(x, y), transpose(y))",
    "(x: i16[4,n near 20]): i32 = x - broadcast(reduce_max(x, axis=1) + reduce_min(x, axis=1), "
    "axis=1)",
    "(x: f32[4,n near 20]): f32 = reduce_sum(relu(x - broadcast(reduce_sum(x, axis=1), axis=1)), "
    "axis=1) * 2",
    "(x: f32[4,n near 20]): (y: f32[4,n], e: f32[4,n]) where m = reduce_max(x, axis=1), "
    "e = exp(x - broadcast(m, axis=1)), y = e / broadcast(reduce_sum(e, axis=1), axis=1)",
    "(x: f32[4,n near 20]): f32 = e * d / broadcast(reduce_sum(d, axis=1), axis=1) where "
    "e = exp(x), d = exp(x - broadcast(reduce_sum(e, axis=1), axis=1))",
    // A result that has positions and goes into a sum, too.
    "(x: f32[4,n near 20]): (y: f32[4,n] col, s: f32[4]) where y = exp(x), "
    "s = reduce_sum(y, axis=1)",
    // The largest number of all is of no use before it is known; other sums beside it.
    "(x: f32[4,n near 20], y: f32[n,3]): (a: f32[4,3], b: f32[3]) where "
    "a = matmul(softmax(x, axis=1), y), b = reduce_max(y, axis=0)",
};

// Pieces of one size, each in pieces of another one.
constexpr std::string_view kTwice[] = {
    "(x: f32[m near 9,n near 20]): f32 = softmax(x, axis=1)",
    "(x: f32[n near 20,m%2 near 8] strided): f32[n,m] strided = softmax(x, axis=0)",
    "(q: f32[m near 9,4], k: f32[n near 20,4] strided, v: f32[n,6], mask: f32[m,n]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)) * 0.5 + mask, axis=1), v)",
    "(q: bf16[m to 2,4], k: bf16[n%4 near 20,4], v: bf16[n,6]): (o: bf16[m,6], l: f32[m], s: "
    "f32[n,m]) where p = matmul(q, transpose(k)), e = exp(p - broadcast(reduce_max(p, axis=1), "
    "axis=1)), l = reduce_sum(e, axis=1), o = matmul(e, v) / broadcast(l, axis=1), "
    "s = transpose(e)",
    "(q: f32[2,m near 9,4], k: f32[2,n to 4,4], v: f32[2,n,6]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)), axis=2), v)",
    // Nothing is summed over either.
    "(x: f32[b near 3,m near 9,6]): f32[b,m,6] order(1, 0, 2) = softmax(x, axis=2)",
    "(x: f32[m near 9,8], w: f32[8,n near 20], b: f32[n]): f32[m,n] = "
    "matmul(relu(x), w) + b",
    "(x: bf16[b near 2,m near 6,12], w: bf16[12,10] packed, v: bf16[10,12] packed): bf16 = "
    "matmul(h, v) where h: bf16 = relu(matmul(x, w))",
    "(x: f32[b to 3,m to 2,8]): f32 = softmax(x, axis=2)",
};

std::vector<std::vector<double>> small_params(const KernelSpec& k) {
  std::vector<std::vector<double>> out;
  int value = 0;
  for (const Param& p : k.params) {
    out.emplace_back();
    for (i64 n = count_elements(extents(p.shape)); n > 0; --n)
      out.back().push_back((value = (value * 5 + 3) % 11) - 4);
  }
  return out;
}

// Of two sizes, pairs of some numbers.
std::vector<Counts> some_counts(const KernelSpec& k) {
  const bool pairs = k.sizes().size() > 1;
  std::vector<Counts> out = {{}};
  for (const RunTimeSize& s : k.sizes()) {
    std::vector<Counts> more;
    for (const Counts& c : out)
      for (const i64 granules :
           pairs ? std::vector<i64>{1, 2, 7, 31} : std::vector<i64>{1, 2, 3, 5, 7, 12, 31, 50}) {
        if (s.bound > 0 && granules * s.granule > s.bound) continue;
        more.push_back(c);
        more.back()[s.name] = granules * s.granule;
      }
    out = std::move(more);
  }
  return out;
}

void check_counts(const AnyRows& rows, const KernelSpec& k) {
  for (const Counts& counts : some_counts(k)) {
    CAPTURE(fmt::format("{}", counts));
    KernelSpec fixed = k;
    while (!fixed.sizes().empty()) fixed = with_rows(fixed, counts.at(rows_size(fixed).name));
    const auto params = small_params(fixed);
    const std::vector<double> made = interpret(rows, k, counts, params);
    const std::vector<double> meant = evaluate(graph_of(fixed), params);
    REQUIRE(made.size() == meant.size());
    for (size_t i = 0; i < made.size(); ++i)
      REQUIRE(std::abs(made[i] - meant[i]) <= 1e-9 * (1 + std::abs(meant[i])));
  }
}

void check_programs(std::span<const std::string_view> specs) {
  const Machine machines[] = {toy_machine(256, 1024, 4096), toy_machine(1024, 4096, 65536)};
  size_t turn = 0;
  for (const std::string_view text : specs)
    for (const Isa* isa : {find_isa("avx2"), find_isa("scalar")})
      for (const int threads : {1, 3}) {
        const Machine& machine = machines[turn++ % 2];
        CAPTURE(text);
        CAPTURE(isa->name);
        CAPTURE(threads);
        const KernelSpec k = spec(text);
        const Optimum o = found(optimize(k, machine, *isa, {.threads = threads}));
        REQUIRE(o.rows != nullptr);
        REQUIRE(verify(*o.rows) == "");
        check_counts(*o.rows, k);
        const std::string printed = print(*o.rows);
        const Result<AnyRows> read = parse_rows(printed, k, machine, *isa);
        REQUIRE_MESSAGE(read, read.error().str() << printed);
        CHECK(verify(*read) == "");
        CHECK(print(*read) == printed);
        CHECK(read->pieces.rests == o.rows->pieces.rests);
      }
}

TEST_CASE("any number of rows is legal, right and the same text when read") {
  check_programs(kSpecs);
}

TEST_CASE("any number of positions is legal, right and the same text when read") {
  check_programs(kSummed);
}

TEST_CASE("any number of both is legal, right and the same text when read") {
  check_programs(kTwice);
}

AnyRows rows_of(std::string_view text, int programs = kMostPrograms, const char* isa = "avx2") {
  return *found(optimize(spec(text), *load_machine("zen5"), *find_isa(isa),
                         {.threads = 1, .programs = programs}))
              .rows;
}

TEST_CASE("which pieces there are") {
  const auto sizes = [](std::string_view text, int programs = kMostPrograms) {
    return fmt::format("{}", fmt::join(rows_of(text, programs).pieces.sizes, " "));
  };
  // Every number up to a small bound, but not in a fallback; what is typical at once, where less
  // would cost more; no more than one granule where that does as well.
  CHECK(sizes("(x: f32[m to 6,512]): f32 = softmax(x, axis=1)") == "6 5 4 3 2 1");
  CHECK(sizes("(x: f32[m%2 to 6,512]): f32 = softmax(x, axis=1)") == "6 4 2");
  CHECK(sizes("(x: f32[m to 6,512]): f32 = softmax(x, axis=1)", kFewestPrograms) == "6 4 1");
  CHECK(sizes("(x: f32[m near 1,512]): f32 = softmax(x, axis=1)") == "1");
  const std::string layer = sizes(
      "(x: bf16[m near 48,256], w: bf16[256,512] packed, v: bf16[256,512] packed): bf16 = "
      "gelu_tanh(matmul(x, w)) * matmul(x, v)");
  CHECK(layer.starts_with("48 "));
  CHECK(layer.ends_with(" 1"));
}

TEST_CASE("pieces find what is packed in the order that the nominal size likes") {
  const char* layer =
      "(x: f32[m near 64,256], w: f32[256,512] packed, v: f32[256,512] packed): f32 = "
      "relu(matmul(x, w)) * matmul(x, v)";
  for (const char* isa : {"avx2", "avx512", "scalar"}) {
    CAPTURE(isa);
    const AnyRows rows = rows_of(layer, kMostPrograms, isa);
    REQUIRE(rows.programs.size() > 1);
    const auto orders = packed_orders(*rows.programs[0].fusion);
    CHECK(orders.size() == 2);
    for (const RowsPiece& p : rows.programs) CHECK(packed_orders(*p.fusion) == orders);
  }
  // By itself one row would like another one.
  const KernelSpec one = with_rows(spec(layer), 1);
  const Optimum alone = found(optimize(one, *load_machine("zen5"), *find_isa("avx2"), {}));
  CHECK(packed_orders(*alone.fusion) != packed_orders(*rows_of(layer).programs[0].fusion));
}

TEST_CASE("rows do not depend on who searches, nor on what was kept") {
  for (const std::string_view text : {kSpecs[0], kSpecs[3], kSpecs[8]}) {
    CAPTURE(text);
    const KernelSpec k = spec(text);
    const Machine machine = toy_machine(1024, 4096, 65536);
    const Isa& isa = *find_isa("avx2");
    const Optimum one = found(optimize(k, machine, isa, {.threads = 2}));
    KeptTables kept(2);
    for (const int jobs : {1, 2}) {
      const Optimum again =
          found(optimize(k, machine, isa, {.threads = 2, .jobs = jobs, .tables = &kept}));
      CHECK(print(*again.rows) == print(*one.rows));
      CHECK(again.cost == one.cost);
    }
  }
}

TEST_CASE("a budget is for all pieces") {
  const auto stopped = optimize(spec(kSpecs[0]), *load_machine("zen5"), *find_isa("avx2"),
                                {.threads = 1, .max_specs = 2});
  REQUIRE(std::holds_alternative<StopReason>(stopped));
  CHECK(std::get<StopReason>(stopped) == StopReason::kBudget);
}

TEST_CASE("what is no program for any number of rows") {
  const Machine machine = toy_machine(1024, 4096, 65536);
  const KernelSpec k = spec("(x: f32[m%2 near 8,6]): f32 = softmax(x, axis=1)");
  const Isa& isa = *find_isa("scalar");
  const AnyRows rows = *found(optimize(k, machine, isa, {})).rows;
  const std::string text = print(rows);
  const std::string sizes = text.substr(0, text.find('\n'));
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string damaged = text;
    damaged.replace(damaged.find(from), from.size(), to);
    const Result<AnyRows> read = parse_rows(damaged, k, machine, isa);
    return read ? "none" : read.error().text;
  };
  CHECK(parse_rows("", k, machine, isa).error().text == "empty program");
  CHECK(error("pieces", "piece") == "expected `pieces`, got `piece`");
  CHECK(error("of m:", "of n:") == "expected `m:`, got `n:`");
  CHECK(error(sizes, "pieces of m: 8 3") == "pieces of m descend to the granule 2");
  CHECK(error(sizes, "pieces of m: 9 2") == "9 is no multiple of 2");
  CHECK(error(" 2\n", " x\n") == "`x` is no whole number of at least 1");
  CHECK(error("cycles\n", "hours\n") == "expected `cycles`, got `hours`");
  CHECK(parse_rows(text + "m=1: 5 cycles\n", k, machine, isa).error().text ==
        "there is no such piece");
  const size_t last = text.rfind("m=2:");
  CHECK(parse_rows(text.substr(0, last), k, machine, isa).error().text == "no `m=2:` behind it");
  // Errors of programs are where they are.
  const Result<AnyRows> read = parse_rows(text + "  nonsense\n", k, machine, isa);
  REQUIRE(!read);
  CHECK(read.error().line == std::count(text.begin(), text.end(), '\n') + 1);

  AnyRows few = rows;
  few.programs.pop_back();
  CHECK(verify(few) ==
        fmt::format("{} programs for {} pieces", few.programs.size(), few.programs.size() + 1));
  AnyRows other = rows;
  other.programs.back() =
      rows_of("(x: f32[m%2 near 8,6]): f32 = softmax(x, axis=1)").programs.back();
  CHECK(verify(other).ends_with(" another instruction set"));
}

TEST_CASE("what is no program for any number of positions") {
  const Machine machine = toy_machine(1024, 4096, 65536);
  const KernelSpec k = spec(
      "(q: f32[3,4], k: f32[n near 40,4], v: f32[n,5]): f32 = "
      "matmul(softmax(matmul(q, transpose(k)), axis=1), v)");
  const Isa& isa = *find_isa("scalar");
  const AnyRows rows = *found(optimize(k, machine, isa, {})).rows;
  REQUIRE(rows.sums.has_value());
  const std::string text = print(rows);
  const auto without = [&](const std::string& from, const std::string& to) {
    const size_t begin = text.find(from);
    const Result<AnyRows> read = parse_rows(
        text.substr(0, begin) + text.substr(std::min(text.size(), text.find(to))), k, machine, isa);
    return read ? "none" : read.error().text;
  };
  CHECK(without("\njoin:", "\nrest:").starts_with("expected `join:`, got `rest:`"));
  CHECK(without("rest:", "no such text") == "no `rest:` behind it");

  const AnyRows twice = *found(optimize(k, machine, isa, {.threads = 2})).rows;
  AnyRows mixed = rows;
  mixed.sums->join = twice.sums->join;
  CHECK(verify(mixed) == "join: other threads");
  mixed = rows;
  mixed.sums->rest = twice.sums->rest;
  CHECK(verify(mixed) == "rest: other threads");
}

TEST_CASE("which pieces of positions there are") {
  const auto sizes = [](std::string_view text, int programs = kMostPrograms) {
    const AnyRows rows = rows_of(text, programs);
    return fmt::format("{}{}", fmt::join(rows.pieces.sizes, " "),
                       !rows.sums             ? ""
                       : rows.sums->rest.rows ? ", rest in pieces"
                                              : ", one rest");
  };
  // As many as a bound of 8 allows are whole kernels.
  CHECK(sizes("(x: f32[4,n to 6]): f32 = softmax(x, axis=1)") == "6 5 4 3 2 1");
  CHECK(sizes("(x: f32[4,n to 9]): f32 = softmax(x, axis=1)").ends_with(" 1, rest in pieces"));
  CHECK(sizes("(x: f32[4,n to 2]): f32 = softmax(x, axis=1)", kFewestPrograms) == "2 1");
  CHECK(sizes("(q: f32[8,64], k: f32[n near 1024,64], v: f32[n,64]): f32 = "
              "matmul(softmax(matmul(q, transpose(k)), axis=1), v)")
            .ends_with(" 1, one rest"));
}

// Rows are cut first, and then what is summed, whatever comes first in the spec.
TEST_CASE("which pieces are made of pieces") {
  const auto sizes = [](std::string_view text, int programs = kMostPrograms) {
    const AnyRows rows = rows_of(text, programs);
    std::string out = fmt::format("{}: {}", rows.size.name, fmt::join(rows.pieces.sizes, " "));
    for (const RowsPiece& p : rows.programs) {
      REQUIRE(p.rows != nullptr);
      out += fmt::format("; {}: {} sizes", p.rows->size.name, p.rows->pieces.sizes.size());
    }
    return out;
  };
  constexpr std::string_view kAttention =
      "(k: f32[n near 256,64], q: f32[m near 64,64], v: f32[n,64]): f32 = "
      "matmul(softmax(matmul(q, transpose(k)), axis=1), v)";
  CHECK(sizes(kAttention) == "m: 64 16 4 1; n: 5 sizes; n: 5 sizes; n: 5 sizes; n: 5 sizes");
  CHECK(sizes(kAttention, kFewestPrograms) == "m: 64 1; n: 3 sizes; n: 3 sizes");
  // One row at a time is as good as several, and then it is all there is.
  CHECK(sizes("(x: f32[b near 64,m near 64,512]): f32 = softmax(x, axis=2)") == "b: 1; m: 2 sizes");
  CHECK(sizes("(x: f32[b to 2,m near 64,512]): f32 = softmax(x, axis=2)") ==
        "b: 2 1; m: 2 sizes; m: 3 sizes");
}

}  // namespace
}  // namespace morello
