// Between what a search found and its entry in the lock file.
#pragma once

#include "cli/lock_file.h"
#include "cli/request.h"

namespace morello {

// Everything but the target.
LockedKernel locked(const KernelSpec& spec, const Machine& machine, int threads, const Found& f);

// Why the entry is not one for this request; empty when it is.
std::string out_of_date(const LockedKernel& entry, const KernelSpec& spec, const Machine& machine,
                        int threads);

// The entry's programs. An error where they are none of this kernel: someone edited them, or
// another version of the generator has other families.
Result<Found> replay(const LockedKernel& entry, const KernelSpec& spec, const Machine& machine,
                     const Isa& isa);

}  // namespace morello
