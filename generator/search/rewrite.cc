#include "search/rewrite.h"

namespace morello {

namespace rewrites {
#define X(name) extern const Rewrite name;
#include "rewrites.inc"
#undef X
}  // namespace rewrites

std::span<const Rewrite* const> rewrite_table() {
#define X(name) &rewrites::name,
  static const Rewrite* const table[] = {
#include "rewrites.inc"
  };
#undef X
  return table;
}

void expand(const Space& space, const Spec& spec, Emit emit) {
  std::int16_t row = 0;
  for (const Rewrite* r : rewrite_table()) r->expand(space, spec, emit.of(row++));
}

ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
              std::span<const ImplPtr> children) {
  return rewrite_table()[d.rewrite]->build(space, spec, d, children);
}

}  // namespace morello
