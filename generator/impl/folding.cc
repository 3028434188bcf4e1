#include "impl/folding.h"

#include "impl/finishing.h"

namespace morello {

// Whether what is made of sums can be made of vectors of them: nothing else is read for it.
static bool finishes_vectors(const Family& f, const Computation& c) {
  if (f.store->memory != f.kernel->output || c.result() != f.kernel->output) return false;
  return operands_of(c.finish, Fn::kExtra) == 0 && computes(*f.isa, c.finish, f.kernel->lanes);
}

Folding folding(const Family& f, const Computation& c, const AddressMap& map) {
  const Kernel& k = *f.kernel;
  if (!k.lanes_reduce) return {};
  Folding how;
  how.row = f.isa->fold(k.output, k.lanes);
  how.join = f.isa->function(joined_by(c.combine), k.output, k.lanes);
  MORELLO_CHECK(how.row && how.join, "{} cannot fold what {} sums", f.isa->name, k.name);
  if (!finishes_vectors(f, c)) return how;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (!c.dims[d].reduction && d != f.apart && f.quantum[d] >= kFold && map.unit_stride(d) == 1)
      how.together = d;
  return how;
}

Folds folds_of(const Folding& how, const Computation& c, const Extents& tile) {
  i64 registers = 1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (!c.dims[d].reduction) registers *= tile[d];
  const i64 rest = registers % kFold;
  Folds f{registers / kFold, 0, rest};
  if (how.together >= 0) {
    const i64 along = tile[how.together];
    if (along == registers || along % kFold == 0) f.together = f.folds;
  }
  if (rest >= kLeastFold) ++f.folds, f.alone = 0;
  return f;
}

}  // namespace morello
