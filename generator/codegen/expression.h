// Expressions on registers.
#pragma once

#include <span>

#include "codegen/functions.h"
#include "target/isa.h"

namespace morello {

// The shortest digits that give the same f32, or the integer.
std::string literal(Dtype type, double x);
// A number in every one of `lanes`.
std::string splat(const Isa& isa, Dtype type, int lanes, double x);

// Registers that terms refer to.
struct TermRegisters {
  std::span<const std::string> inputs;
  std::span<const std::string> extras;
  std::string value;
};

// Writes the terms, vectors of `lanes`, one after the other; the registers that have them.
std::vector<std::string> write_terms(Writer& w, Names& names, Functions& functions, const Isa& isa,
                                     int lanes, const Expression& e,
                                     const TermRegisters& registers);

}  // namespace morello
