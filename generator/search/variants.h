// The variants of a kernel: one for each instruction set that has something to offer, all in one
// header, of which the CPU picks one at run time.
#pragma once

#include <span>
#include <vector>

#include "spec/kernel_spec.h"
#include "target/isa.h"

namespace morello {

// Without those that have no rows for the kernel beyond a base's that is there, too: the variants
// would be the same.
std::vector<const Isa*> worth_a_variant(std::span<const Isa* const> isas, const KernelSpec& k);

// How many programs a variant has for sizes known at run time, about (SearchOptions::programs).
// All of a header's are compiled together; few are for what runs only on a CPU that has none of the
// other sets.
inline constexpr int kFewestPrograms = 4, kMostPrograms = 16;
int programs_of(const Isa& isa, std::span<const Isa* const> variants);

}  // namespace morello
