#include "impl/folding.h"

#include "impl/address.h"
#include "impl/finishing.h"

namespace morello {

static bool is_read(const Computation& c, size_t extra) {
  return names(c.finish, Fn::kExtra, static_cast<int>(extra));
}

// Of a register for four sums: by one load where all take the same number, or neighbours along
// `along`; or element by element.
static Uops load_beside(const Family& f, const Computation& c, size_t extra, int along) {
  const Operand& o = c.extras[extra];
  if (along >= 0 && !touches(o, along)) {
    const Access* one = splat_row(*f.isa, f.kernel->lanes, o.dtype, c.result());
    if (one) return one->uops;
  } else if (along >= 0 && along != f.apart && o.dtype == c.result()) {
    const int tensor = static_cast<int>(c.operands.size() + extra);
    if (given_address(c, tensor).unit_stride(along) == 1) return {.load = 1};
  }
  Uops each = {.alu = kFold - 1, .shuffle = kFold - 1};
  for (i64 i = 0; i < kFold; ++i) each += load_row(*f.isa, 1, o.dtype, c.result())->uops;
  return each;
}

// All of them: shuffles are among the others.
static i64 micro_operations(const Uops& u) {
  return u.fma + u.bf16 + u.alu + u.divide + u.load + u.store;
}

// Of one sum.
static i64 work_alone(const Family& f, const Computation& c) {
  return c.finish.empty() ? 0 : micro_operations(work_of(*f.isa, c.finish, finishing(f, c)));
}

// Makes results of four sums where that takes less than one by one. Elements of registers that are
// not stored at once take a store, a load and another store each.
static void finish_fours(const Family& f, const Computation& c, int along, Folding& how) {
  const int lanes = f.kernel->lanes;
  if (!computes(*f.isa, c.finish, lanes)) return;
  how.finish_of_four = work_of(*f.isa, c.finish, lanes);
  for (size_t e = 0; e < c.extras.size(); ++e)
    if (is_read(c, e)) how.finish_of_four += load_beside(f, c, e, along);
  const i64 apart = 1 + 2 * kFold, alone = work_alone(f, c);
  const i64 stores = how.together >= 0 ? 1 : apart;
  if (c.finish.empty() || micro_operations(how.finish_of_four) + stores < kFold * alone + apart)
    how.made = f.isa->fold(c.result(), lanes);
}

Folding folding(const Family& f, const Computation& c, const AddressMap& map) {
  const Kernel& k = *f.kernel;
  if (!k.lanes_reduce) return {};
  Folding how;
  how.row = f.isa->fold(k.output, k.lanes);
  how.join = f.isa->function(joined_by(c.combine), k.output, k.lanes);
  MORELLO_CHECK(how.row && how.join, "{} cannot fold what {} sums", f.isa->name, k.name);
  int along = -1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (c.dims[d].reduction || f.quantum[d] < kFold) continue;
    along = d;
    if (d != f.apart && f.store->memory == c.result() && map.unit_stride(d) == 1) how.together = d;
  }
  finish_fours(f, c, how.together >= 0 ? how.together : along, how);
  if (!how.made) how.together = -1;
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
