// Random kernels of the language, valid by construction; the same for the same seed everywhere
// (no std:: distributions, whose results differ between libraries).
#pragma once

#include <random>
#include <string>

#include "spec/kernel_spec.h"

namespace morello {

using Random = std::mt19937_64;

inline i64 pick(Random& random, i64 least, i64 most) {
  return least + static_cast<i64>(random() % static_cast<std::uint64_t>(most - least + 1));
}

Layout random_layout(Random& random, int rank);
std::string random_spec(Random& random);
// Of operators within one another, with no name; `safe`: none that makes a NaN of numbers.
std::string random_composition(Random& random, bool safe);

}  // namespace morello
