#include "impl/folding.h"

#include <optional>
#include <utility>

#include "impl/address.h"
#include "impl/finishing.h"

namespace morello {

// Whether what is made of sums can be made of vectors of them.
static bool finishes_vectors(const Family& f, const Computation& c) {
  if (f.store->memory != f.kernel->output || c.result() != f.kernel->output) return false;
  return computes(*f.isa, c.finish, f.kernel->lanes);
}

static bool is_read(const Computation& c, size_t extra) {
  return names(c.finish, Fn::kExtra, static_cast<int>(extra));
}

// How extras come beside four sums along d (Folding::extras); none: one of them does not.
static std::optional<std::vector<const Access*>> loads_beside(const Family& f, const Computation& c,
                                                              int d) {
  const Kernel& k = *f.kernel;
  std::vector<const Access*> out;
  if (operands_of(c.finish, Fn::kExtra) == 0) return out;
  for (size_t e = 0; e < c.extras.size(); ++e) {
    out.push_back(nullptr);
    if (!is_read(c, e)) continue;
    const Operand& o = c.extras[e];
    if (touches(o, d)) {
      const int tensor = static_cast<int>(c.operands.size() + e);
      if (o.dtype != k.output || given_address(c, tensor).unit_stride(d) != 1) return {};
    } else {
      out.back() = splat_row(*f.isa, k.lanes, o.dtype, k.output);
      if (!out.back()) return {};
    }
  }
  return out;
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
      if (auto loads = loads_beside(f, c, d)) {
        how.together = d;
        how.extras = std::move(*loads);
      }
  return how;
}

Uops Folding::finish_of_four(const Family& f, const Computation& c) const {
  Uops all = work_of(*f.isa, c.finish, f.kernel->lanes);
  for (size_t e = 0; e < extras.size(); ++e)
    if (is_read(c, e)) all += extras[e] ? extras[e]->uops : Uops{.load = 1};
  return all;
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
