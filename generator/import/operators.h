// The operators of HLO and StableHLO that there are, a row each; names are StableHLO's, and those
// of HLO where they differ.
#pragma once

#include <span>
#include <string_view>

namespace morello::hlo {

enum class Kind {
  kElements,  // an expression of the language on the elements of its operands a, b, c
  kCompare,
  kParameter,
  kConstant,
  kBroadcast,
  kReshape,
  kTranspose,
  kSame,     // its operand
  kConvert,  // its operand, in another type
  kRound,    // its operand, rounded to a smaller type
  kReduce,
  kDot,
  kConvolution,
  kPad,
  kCall,
  kTuple,
  kNone,  // refused, and what to do instead
};

// Element types for which an elementwise operator means what the language's does.
enum Types : unsigned { kFloats = 1, kInt32 = 2, kSmallInts = 4, kBools = 8, kAll = 15 };

struct Operator {
  std::string_view name;
  Kind kind = Kind::kNone;
  int arity = -1;  // -1: any
  // kElements: the expression. kNone: what to write instead.
  std::string_view text = {};
  unsigned types = kAll;
};

std::span<const Operator> operators();
const Operator* find_operator(std::string_view name);

}  // namespace morello::hlo
