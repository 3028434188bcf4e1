#include "import/operators.h"

namespace morello::hlo {

// Arithmetic wraps at 32 bits here and at 8 or 16 there: so not on small integers.
static constexpr Operator kTable[] = {
    {"add", Kind::kElements, 2, "a + b", kFloats | kInt32},
    {"subtract", Kind::kElements, 2, "a - b", kFloats | kInt32},
    {"multiply", Kind::kElements, 2, "a * b", kFloats | kInt32},
    {"divide", Kind::kElements, 2, "a / b", kFloats},
    {"maximum", Kind::kElements, 2, "max(a, b)", kAll},
    {"minimum", Kind::kElements, 2, "min(a, b)", kAll},
    {"negate", Kind::kElements, 1, "-a", kFloats | kInt32},
    {"abs", Kind::kElements, 1, "max(a, -a)", kFloats | kInt32},
    {"square", Kind::kElements, 1, "a * a", kFloats | kInt32},
    {"exponential", Kind::kElements, 1, "exp(a)", kFloats},
    {"log", Kind::kElements, 1, "log(a)", kFloats},
    {"tanh", Kind::kElements, 1, "tanh(a)", kFloats},
    {"logistic", Kind::kElements, 1, "sigmoid(a)", kFloats},
    {"sqrt", Kind::kElements, 1, "sqrt(a)", kFloats},
    {"rsqrt", Kind::kElements, 1, "rsqrt(a)", kFloats},
    {"erf", Kind::kElements, 1, "erf(a)", kFloats},
    {"erfc", Kind::kElements, 1, "1 - erf(a)", kFloats},
    {"select", Kind::kElements, 3, "select(a, b, c)", kAll},
    {"clamp", Kind::kElements, 3, "min(max(b, a), c)", kAll},
    {"and", Kind::kElements, 2, "min(a, b)", kBools},
    {"or", Kind::kElements, 2, "max(a, b)", kBools},
    {"xor", Kind::kElements, 2, "ne(a, b)", kBools},
    {"not", Kind::kElements, 1, "eq(a, 0)", kBools},
    {"compare", Kind::kCompare, 2},
    {"parameter", Kind::kParameter, 0},
    {"constant", Kind::kConstant, 0},
    {"broadcast_in_dim", Kind::kBroadcast, 1},
    {"broadcast", Kind::kBroadcast, 1},
    {"reshape", Kind::kReshape, 1},
    {"transpose", Kind::kTranspose, 1},
    {"copy", Kind::kSame, 1},
    {"optimization_barrier", Kind::kSame, 1},
    {"convert", Kind::kConvert, 1},
    {"reduce_precision", Kind::kRound, 1},
    {"reduce", Kind::kReduce, 2},
    {"dot_general", Kind::kDot, 2},
    {"dot", Kind::kDot, 2},
    {"convolution", Kind::kConvolution, 2},
    {"pad", Kind::kPad, 2},
    {"call", Kind::kCall},
    {"tuple", Kind::kTuple},
    {"fusion", Kind::kNone, -1, "give the text before XLA's optimisation, as .lower().as_text()"},
    {"iota", Kind::kNone, -1, "compute it before, and pass it as an argument"},
    {"gather", Kind::kNone, -1, "pass what it picks as an argument"},
    {"dynamic_slice", Kind::kNone, -1, "pass the slice as an argument"},
    {"slice", Kind::kNone, -1, "pass the parts as arguments"},
    {"concatenate", Kind::kNone, -1, "write a kernel for each part"},
    {"while", Kind::kNone, -1, "write a kernel for its body"},
    {"power", Kind::kNone, -1, "multiply, or use sqrt and rsqrt"},
    {"exponential_minus_one", Kind::kNone, -1,
     "exponential and subtract, where that is exact enough"},
};

std::span<const Operator> operators() { return kTable; }

const Operator* find_operator(std::string_view name) {
  for (const Operator& op : kTable)
    if (op.name == name) return &op;
  return nullptr;
}

}  // namespace morello::hlo
