// Exponentials of what is below a maximum: which ones are, and what is rounded before it is
// subtracted from.
#include "spec/elements.h"

#include <doctest/doctest.h>

namespace morello {
namespace {

struct Row {
  std::string_view text, exponential;
};

const Row kRows[] = {
    {"(x: f32[4,8]): f32 = softmax(x, axis=1)", "exp_nonpositive(in0 - extra0)"},
    {"(x: f32[8]): f32 = softmax(x, axis=0)", "exp_nonpositive(in0 - extra0)"},
    {"(x: f32[4,8]): f32 = exp(x - spread(reduce_max(x, axis=0), axis=0))",
     "exp_nonpositive(in0 - extra0)"},
    {"(x: f32[4,8], m: f32[4,8]): f32 = softmax(x + m, axis=1)",
     "exp_nonpositive(in0 + in1 - extra0)"},
    // Products that a compiler could join with the difference.
    {"(x: f32[4,8]): f32 = softmax(0.25 * x, axis=1)",
     "exp_nonpositive(rounded(0.25 * in0) - extra0)"},
    {"(x: f32[4,8]): f32 = softmax(-(0.25 * x), axis=1)",
     "exp_nonpositive(rounded(neg(0.25 * in0)) - extra0)"},
    {"(x: bf16[4,8], y: f32[8]): f32 = softmax(x * y, axis=1)",
     "exp_nonpositive(rounded(in0 * extra0) - extra1)"},
    // Less than the maximum, still; and some of the difference.
    {"(x: f32[4,8]): f32 = exp(x - max(0, spread(reduce_max(x, axis=1), axis=1)))",
     "exp_nonpositive(in0 - max(0, extra0))"},
    {"(x: f32[4,8]): f32 = exp((x - spread(reduce_max(x, axis=1), axis=1)) * 2 / 3)",
     "exp_nonpositive((in0 - extra0) * 2 / 3)"},
    {"(x: f32[4,8]): f32 = 1 + exp(x - spread(reduce_max(x, axis=1), axis=1))",
     "1 + exp_nonpositive(in0 - extra0)"},
    // What may be positive.
    {"(x: f32[4,8]): f32 = exp((x - spread(reduce_max(x, axis=1), axis=1)) * -2)",
     "exp((in0 - extra0) * -2)"},
    {"(x: f32[4,8]): f32 = exp(spread(reduce_max(x, axis=1), axis=1) - x)", "exp(extra0 - in0)"},
    {"(x: f32[4,8]): f32 = exp(x - min(0, spread(reduce_max(x, axis=1), axis=1)))",
     "exp(in0 - min(0, extra0))"},
    {"(x: f32[4,8]): f32 = exp(x - spread(reduce_min(x, axis=1), axis=1))", "exp(in0 - extra0)"},
    {"(x: f32[4,8], y: f32[4,8]): f32 = exp(x - spread(reduce_max(y, axis=1), axis=1))",
     "exp(in0 - extra0)"},
    {"(x: f32[4,8]): f32 = exp(2 * x - spread(reduce_max(x, axis=1), axis=1))",
     "exp(2 * in0 - extra0)"},
    // The maximum of row 1 below column 1.
    {"(x: f32[8,8]): f32 = exp(x - spread(reduce_max(x, axis=1), axis=0))", "exp(in0 - extra0)"},
    // Maxima that are rounded can be less than what they are of.
    {"(x: f32[4,8]): f32 = exp(x - spread(m, axis=1)) where m: bf16 = reduce_max(x, axis=1)",
     "exp(in0 - extra0)"},
    {"(x: f32[4,8]): f32 = exp(x - spread(m, axis=1)) where m: f32 = reduce_max(x, axis=1) / 2",
     "exp(in0 - extra0)"},
};

TEST_CASE("exponentials of what is below a maximum") {
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const auto k = parse_spec(row.text);
    REQUIRE_MESSAGE(k.ok(), (k.ok() ? "" : k.error().str()));
    std::string found;
    for (const Stage& s : graph_of(*k).stages)
      for (const Term& t : s.computation.body)
        if (t.fn == Fn::kExp || t.fn == Fn::kExpNonpositive) found = str(s.computation.body);
    CHECK(found == row.exponential);
  }
}

}  // namespace
}  // namespace morello
