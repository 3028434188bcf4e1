// What copies and views ask for ahead of the next one, asked for by the leaves between the two.
#pragma once

#include <optional>
#include <string>

#include "codegen/pack.h"

namespace morello {

// A function (const Source* src, std::ptrdiff_t asked[, strides of `other`]) that asks for the next
// `share` parts of what lies `ahead` of the copy's source, `asked` of which were asked for. Every
// leaf calls it so many `times`: before it begins or, where that is more than once, in between.
struct Asking {
  std::string function;
  i64 share = 0;
  i64 times = 1;
};

// Of a copy behind which so many leaves run before the next one, to L1 or L2. Nothing where the
// copy had better ask by itself: no two leaves, or too many boxes; nor for an ISA that cannot.
// `within`: leaves may ask while they compute.
std::optional<Asking> ask_function(Functions& functions, const Isa& isa, const PackJob& job,
                                   Level to, i64 leaves, bool within = false);

}  // namespace morello
