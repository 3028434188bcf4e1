// Kernels that sum over a size known at run time only: what a piece, the join of two and the rest
// compute.
#include "spec/positions.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "spec/algebra.h"
#include "spec/rows.h"

namespace morello {
namespace {

KernelSpec parsed(std::string_view text) {
  Result<KernelSpec> k = parse_spec(text);
  REQUIRE_MESSAGE(k, k.error().str());
  return *k;
}

// Stages, a line each; results have a star.
std::string text_of(const KernelSpec& k) {
  std::string out;
  for (size_t s = 0; s < k.stages.size(); ++s) {
    const bool result =
        std::find(k.results.begin(), k.results.end(), static_cast<int>(s)) != k.results.end();
    out += fmt::format("  {}{} = {}\n", result ? "*" : "", k.made[s].name,
                       str(k.stages[s].computation));
  }
  return out;
}

std::string text_of(const Positions& p) {
  std::string kept;
  for (int i = 0; i < static_cast<int>(p.kept.size()); ++i)
    kept +=
        fmt::format("  {} in result {}\n", p.part.result(static_cast<size_t>(p.sums() + i)).name,
                    p.kept[static_cast<size_t>(i)]);
  return "part\n" + text_of(p.part) + (kept.empty() ? "" : "kept\n" + kept) + "join\n" +
         text_of(p.join) + "rest\n" + text_of(p.rest);
}

TEST_CASE("what a piece, the join of two and the rest compute") {
  const struct {
    std::string_view spec, text;
  } rows[] = {
      {"(q: f32[2,3], k: f32[n,3], v: f32[n,4]): f32 = "
       "matmul(softmax(matmul(q, transpose(k)), axis=1), v)",
       R"(part
  t0 = (q: f32[m,k], k: f32[n,k]) -> f32[m,n]: in0 * in1, sum over k; m=2 n=n~2 k=3
  *t1 = (t0: f32[i0,k]) -> f32[i0]: in0, max over k; i0=2 k=n~2
  t2 = (t0: f32[i0,i1], t1: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - max(extra0, -3.4028235e+38)); i0=2 i1=n~2
  *t3_sum = (t2: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=2 k=n~2
  *out_sum = (t2: f32[m,k], v: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=2 n=4 k=n~2
join
  *t1 = (t1_before: f32[i0], t1_more: f32[i0]) -> f32[i0]: max(in0, in1); i0=2
  t1_growth = (t1_before: f32[i0], t1: f32[i0]) -> f32[i0]: exp_nonpositive(max(in0, -3.4028235e+38) - max(in1, -3.4028235e+38)); i0=2
  t1_growth_more = (t1_more: f32[i0], t1: f32[i0]) -> f32[i0]: exp_nonpositive(max(in0, -3.4028235e+38) - max(in1, -3.4028235e+38)); i0=2
  *t3_sum = (t3_sum_before: f32[i0], t3_sum_more: f32[i0], t1_growth: f32[i0], t1_growth_more: f32[i0]) -> f32[i0]: in0 * extra0 + in1 * extra1; i0=2
  *out_sum = (out_sum_before: f32[m,n], out_sum_more: f32[m,n], t1_growth: f32[m], t1_growth_more: f32[m]) -> f32[m,n]: in0 * extra0 + in1 * extra1; m=2 n=4
rest
  t3 = (t3_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=2
  *out = (out_sum: f32[m,n], t3: f32[m]) -> f32[m,n]: in0 * extra0; m=2 n=4
)"},
      {"(x: bf16[2,n]): bf16 = softmax(x, axis=1)",
       R"(part
  *t0 = (x: bf16[i0,k] strided) -> f32[i0]: in0, max over k; i0=2 k=n~2
  t1 = (x: bf16[i0,i1] strided, t0: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - max(extra0, -3.4028235e+38)); i0=2 i1=n~2
  *t2_sum = (t1: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=2 k=n~2
join
  *t0 = (t0_before: f32[i0], t0_more: f32[i0]) -> f32[i0]: max(in0, in1); i0=2
  t0_growth = (t0_before: f32[i0], t0: f32[i0]) -> f32[i0]: exp_nonpositive(max(in0, -3.4028235e+38) - max(in1, -3.4028235e+38)); i0=2
  t0_growth_more = (t0_more: f32[i0], t0: f32[i0]) -> f32[i0]: exp_nonpositive(max(in0, -3.4028235e+38) - max(in1, -3.4028235e+38)); i0=2
  *t2_sum = (t2_sum_before: f32[i0], t2_sum_more: f32[i0], t0_growth: f32[i0], t0_growth_more: f32[i0]) -> f32[i0]: in0 * extra0 + in1 * extra1; i0=2
rest
  t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=2
  *out = (x: bf16[i0,i1] strided, t0: f32[i0], t2: f32[i0]) -> bf16[i0,i1] strided: exp_nonpositive(in0 - extra0) * extra1; i0=2 i1=n~2
)"},
      {"(x: f32[2,n], y: f32[2]): (a: f32, b: f32) where a = reduce_sum(x, axis=1), "
       "b = reduce_max(x, axis=1) * a + y",
       R"(part
  *a_sum = (x: f32[i0,k] strided) -> f32[i0]: in0, sum over k; i0=2 k=n~2
  *b_sum = (x: f32[i0,k] strided) -> f32[i0]: in0, max over k; i0=2 k=n~2
join
  *a_sum = (a_sum_before: f32[i0], a_sum_more: f32[i0]) -> f32[i0]: in0 + in1; i0=2
  *b_sum = (b_sum_before: f32[i0], b_sum_more: f32[i0]) -> f32[i0]: max(in0, in1); i0=2
rest
  *a = (a_sum: f32[i0]) -> f32[i0]: in0; i0=2
  *b = (b_sum: f32[i0], a: f32[i0], y: f32[i0]) -> f32[i0]: in0 * extra0 + extra1; i0=2
)"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.spec);
    CHECK(text_of(positions(parsed(row.spec))) == row.text);
  }
}

// In two steps, of which the second is the rest of the first.
TEST_CASE("exponentials are kept in the memory of a result") {
  const Positions first = positions(parsed("(x: f32[2,n] col): f32 col = softmax(x, axis=1)"));
  CHECK(text_of(first) == R"(part
  *t0 = (x: f32[i0,k] col) -> f32[i0]: in0, max over k; i0=2 k=n~2
join
  *t0 = (t0_before: f32[i0], t0_more: f32[i0]) -> f32[i0]: max(in0, in1); i0=2
rest
  t1 = (x: f32[i0,i1] col, t0: f32[i0]) -> f32[i0,i1]: exp_nonpositive(in0 - extra0); i0=2 i1=n~2
  t2_sum = (t1: f32[i0,k]) -> f32[i0]: in0, sum over k; i0=2 k=n~2
  t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=2
  *out = (t1: f32[i0,i1], t2: f32[i0]) -> f32[i0,i1] col: in0 * extra0; i0=2 i1=n~2
)");
  CHECK(text_of(positions(first.rest)) == R"(part
  *t1 = (x: f32[i0,i1] col, t0: f32[i0]) -> f32[i0,i1] col: exp_nonpositive(in0 - extra0); i0=2 i1=n~2
  *t2_sum = (t1: f32[i0,k] col) -> f32[i0]: in0, sum over k; i0=2 k=n~2
kept
  t1 in result 0
join
  *t2_sum = (t2_sum_before: f32[i0], t2_sum_more: f32[i0]) -> f32[i0]: in0 + in1; i0=2
rest
  t2 = (t2_sum: f32[i0]) -> f32[i0]: 1 / in0; i0=2
  *out = (t1: f32[i0,i1] col, t2: f32[i0]) -> f32[i0,i1] col: in0 * extra0; i0=2 i1=n~2
)");
  const auto kept = [](std::string_view text) {
    Positions p = positions(parsed(text));
    size_t all = p.kept.size();
    while (sums_positions(p.rest)) {
      p = positions(p.rest);
      all += p.kept.size();
    }
    return all;
  };
  CHECK(kept("(x: f32[2,n]): f32 = softmax(x, axis=1)") == 1);
  CHECK(kept("(x: f32[2,n]): (y: f32[2,n], s: f32[2]) where m = reduce_max(x, axis=1), "
             "e = exp(x - broadcast(m, axis=1)), s = reduce_sum(e, axis=1), "
             "y = e / broadcast(s, axis=1)") == 1);
  // Of another type, or transposed; read by two; cheap to compute again; a result by itself.
  CHECK(kept("(x: f32[2,n]): bf16 = softmax(x, axis=1)") == 0);
  CHECK(kept("(x: f32[n,2]): f32[2,n] = transpose(softmax(x, axis=0))") == 0);
  CHECK(kept("(x: f32[2,n]): (y: f32[2,n], z: f32[2,n]) where m = reduce_max(x, axis=1), "
             "e = exp(x - broadcast(m, axis=1)), s = broadcast(reduce_sum(e, axis=1), axis=1), "
             "y = e / s, z = e * s") == 0);
  CHECK(kept("(x: f32[2,n]): f32 = (x + 1) * broadcast(reduce_sum(x + 1, axis=1), axis=1)") == 0);
  CHECK(kept("(x: f32[2,n]): (e: f32[2,n], y: f32[2,n]) where e = exp(x), "
             "y = e / broadcast(reduce_sum(e, axis=1), axis=1)") == 0);
}

TEST_CASE("sums of exponentials in a piece can run in steps") {
  for (const std::string_view text : {"(q: f32[2,3], k: f32[n,3], v: f32[n,4]): f32 = "
                                      "matmul(softmax(matmul(q, transpose(k)), axis=1), v)",
                                      "(x: bf16[2,n]): bf16 = softmax(x * 0.3, axis=1)"}) {
    const Positions p = positions(parsed(text));
    CHECK(online(graph_of(with_rows(p.part, 40))).has_value());
    CHECK_FALSE(online(graph_of(p.join)).has_value());
  }
}

}  // namespace
}  // namespace morello
