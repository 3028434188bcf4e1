#include "impl/finishing.h"

#include <algorithm>

namespace morello {

template <class Wanted>
static const Access* find(const Isa& isa, Wanted wanted) {
  for (std::span<const Access> rows : isa.accesses)
    for (const Access& a : rows)
      if (a.regs == 1 && a.group == 1 && wanted(a)) return &a;
  return nullptr;
}

// `exact`: one that does not flush.
static const Access* row(const Isa& isa, Access::Kind kind, int lanes, Dtype memory, Dtype reg,
                         bool exact = false) {
  return find(isa, [&](const Access& a) {
    return a.kind == kind && a.lanes == lanes && a.takes(memory) && a.reg == reg &&
           !(exact && a.flushes);
  });
}

const Access* load_row(const Isa& isa, int lanes, Dtype memory, Dtype reg) {
  // One element is what a broadcast brings to the one lane there is.
  const auto kind = lanes == 1 ? Access::Kind::kBroadcast : Access::Kind::kVector;
  return row(isa, kind, lanes, memory, reg);
}
const Access* splat_row(const Isa& isa, int lanes, Dtype memory, Dtype reg) {
  return row(isa, Access::Kind::kBroadcast, lanes, memory, reg);
}
const Access* store_row(const Isa& isa, int lanes, Dtype memory, Dtype reg) {
  return row(isa, Access::Kind::kStore, lanes, memory, reg);
}

const Access* extra_row(const Isa& isa, const Operand& o, int lanes, int lane, Dtype reg) {
  const Access* a = lane >= 0 && touches(o, lane) ? nullptr : splat_row(isa, lanes, o.dtype, reg);
  return a ? a : load_row(isa, lanes, o.dtype, reg);
}

bool finishes_by_helpers(const Family& f, const Computation& c) {
  const int lanes = f.kernel->lanes;
  if (lanes == 1 || f.kernel->lanes_reduce) return false;
  return std::any_of(c.finish.begin(), c.finish.end(), [&](const Term& t) {
    return fn_def(t.fn) && !f.isa->function(t.fn, t.type, lanes)->helpers.empty();
  });
}

// Elements are those of the input: nothing is rounded.
static bool moves_only(const Computation& c) {
  return !c.reduces() && c.finish.empty() && c.body.size() == 1 && c.inputs() == 1 &&
         c.operands[0].dtype == c.output().dtype;
}

bool computes(const Isa& isa, const Expression& e, int lanes) {
  return std::all_of(e.begin(), e.end(), [&](const Term& t) {
    return !fn_def(t.fn) || isa.function(t.fn, t.type, lanes);
  });
}

Finishing finishing(const Isa& isa, const Computation& c, int lanes, int lane) {
  Finishing f{.lanes = lanes, .lane = lane, .extras = {}};
  f.load = load_row(isa, lanes, c.compute, c.compute);
  for (const Operand& o : c.extras) {
    f.extras.push_back(extra_row(isa, o, lanes, lane, c.result()));
    if (!f.extras.back()) return f;
  }
  if (!computes(isa, c.finish, lanes) || !(c.reduces() || computes(isa, c.body, lanes))) return f;
  f.store = row(isa, Access::Kind::kStore, lanes, c.output().dtype, c.result(), moves_only(c));
  return f;
}

Finishing finishing(const Family& f, const Computation& c) {
  const bool vector = f.kernel->lanes > 1 && !f.kernel->lanes_reduce;
  return finishing(*f.isa, c, vector ? f.kernel->lanes : 1, vector ? f.lane : -1);
}

Finishing write_back(const Family& f, const Computation& c) {
  const AddressMap map = given_address(c, c.inputs());
  if (f.kernel->lanes > 1)
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
      if (c.dims[d].reduction || c.dims[d].extent == 1 || map.unit_stride(d) != 1) continue;
      Finishing wide = finishing(*f.isa, c, f.kernel->lanes, d);
      if (wide.store && wide.load) return wide;
    }
  return finishing(*f.isa, c, 1, -1);
}

Uops work_of(const Isa& isa, const Expression& e, int lanes) {
  Uops all;
  for (const Term& t : e)
    if (fn_def(t.fn)) all += isa.function(t.fn, t.type, lanes)->uops;
  return all;
}

Uops work_of(const Isa& isa, const Expression& e, const Finishing& f) {
  Uops all = work_of(isa, e, f.lanes);
  for (size_t i = 0; i < f.extras.size(); ++i)
    if (names(e, Fn::kExtra, static_cast<int>(i))) all += f.extras[i]->uops;
  return all;
}

}  // namespace morello
