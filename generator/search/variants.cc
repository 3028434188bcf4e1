#include "search/variants.h"

#include <algorithm>

#include "impl/family.h"
#include "spec/build.h"

namespace morello {
namespace {

// Of all variants but the fallback together. (bf16 [n2 near 24,558] x [558,n1%3 to 33] for three
// sets and the fallback: 7,400 lines with 48, 6,400 with these.)
constexpr int kProgramsInHeader = 36;

}  // namespace

std::vector<const Isa*> worth_a_variant(std::span<const Isa* const> isas, const KernelSpec& k) {
  const auto idle = [&](const Isa* isa) {
    for (const Isa* base = isa->base; base != nullptr; base = base->base)
      if (std::find(isas.begin(), isas.end(), base) != isas.end() &&
          std::none_of(k.stages.begin(), k.stages.end(), [&](const Stage& s) {
            return adds_to(*isa, *base, collapse(s.computation));
          }))
        return true;
    return false;
  };
  std::vector<const Isa*> out;
  std::remove_copy_if(isas.begin(), isas.end(), std::back_inserter(out), idle);
  return out;
}

int programs_of(const Isa& isa, std::span<const Isa* const> variants) {
  if (variants.size() < 2) return kMostPrograms;
  if (&isa == isa_table().back()) return kFewestPrograms;
  const int others = static_cast<int>(variants.size()) - 1;
  return std::clamp(kProgramsInHeader / others, kFewestPrograms, kMostPrograms);
}

}  // namespace morello
