// Random compositions of operators.
#pragma once

#include <span>
#include <string_view>

#include "spec/random_spec.h"

namespace morello::run {

// What is applied to something that is computed already: an operator, or one of a few that are
// alike, the other operands being parameters or what was there before.
enum class Step {
  kUnary,
  kBinary,
  kSelect,
  kBroadcast,
  kSpread,
  kTranspose,
  kMatmulLeft,   // what was computed is its first operand
  kMatmulRight,  // ... its second
  kConv2d,       // ... what windows move over
  kPad,
  kReduceSum,
  kReduceMax,
  kReduceMin,
  kReduceMean,
  kSoftmax,
  kRmsNorm,
  kLayerNorm,
  kConvert,
  kStore,  // a name with a type
};
inline constexpr int kSteps = 19;
std::string_view name(Step step);

// A kernel without a name that applies these steps, the first one first, to a parameter. It may be
// one that the language does not take, as its layouts are.
std::string composition(Random& random, std::span<const Step> steps);

}  // namespace morello::run
