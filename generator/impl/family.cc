// What families want of operands and memory. Which there are: families.cc.
#include "impl/family.h"

#include <algorithm>
#include <utility>

#include "impl/finishing.h"
#include "spec/sizes.h"

namespace morello {

// Whether a body has a row's at term `at`; `found` gets what stands in the places of its inputs.
static bool matches(const Expression& row, size_t i, const Expression& body, int at,
                    std::vector<int>& found) {
  const Term &r = row[i], &t = body[at];
  if (r.fn == Fn::kInput) {
    int& place = found[r.a];
    return std::exchange(place, at) == -1 || place == at;
  }
  if (r.fn != t.fn || r.type != t.type) return false;
  for (const auto& [in_row, in_body] : {std::pair(r.a, t.a), std::pair(r.b, t.b)})
    if (in_row >= 0 && !matches(row, in_row, body, in_body, found)) return false;
  return true;
}

std::vector<int> places(const Kernel& k, const Computation& c) {
  const Expression& row = meaning(k.implements).body;
  if (!k.maps && row != c.body) return {};
  std::vector<int> found(operands_of(row, Fn::kInput), -1);
  const int root = static_cast<int>(c.body.size()) - 1;
  return matches(row, row.size() - 1, c.body, root, found) ? found : std::vector<int>();
}

Expression before_row(const Kernel& k, const Computation& c) {
  const std::vector<int> at = places(k, c);
  if (std::all_of(at.begin(), at.end(), [&](int t) { return c.body[t].fn == Fn::kInput; }))
    return {};
  return {c.body.begin(), c.body.begin() + *std::max_element(at.begin(), at.end()) + 1};
}

int load_regs(const Family& f, const Computation& c) {
  int regs = 1;
  for (int o = 0; o < c.inputs(); ++o) regs = std::max(regs, f.loads[o]->regs);
  return regs;
}

i64 reduction_slot(const Family& f, const Computation& c) {
  const Kernel& k = *f.kernel;
  if (f.overlap) return f.overlap->taps;
  return k.lanes_reduce ? k.lanes * k.group * load_regs(f, c) : k.group;
}

bool shared_by_vectors(const Family& f, const Computation& c, const Operand& o) {
  if (c.reduces()) return false;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (touches(o, d) && (d == f.lane || f.quantum[d] > 1)) return false;
  return true;
}

i64 accumulator_sets(const Family& f, const Computation& c) {
  i64 sets = 1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (!c.dims[d].reduction) continue;
    sets = std::max(sets, f.quantum[d] / reduction_slot(f, c));
  }
  return sets;
}

int streams_of(const Family& f, const Computation& c, int o) {
  const Operand& operand = c.operands[o];
  if (!operand.packed || f.loads[o]->memory != operand.dtype) return 1;
  int panels = 0;
  bool even = true;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (!touches(operand, d) || c.dims[d].reduction || f.quantum[d] == 1) continue;
    const i64 least = d == f.lane ? f.kernel->lanes * f.loads[o]->regs : 1;
    even &= f.quantum[d] % (f.streams * least) == 0;
    ++panels;
  }
  return panels == 1 && even ? f.streams : 1;
}

i64 rows_apart(const Family& f, const Computation& c, int o) {
  return f.apart >= 0 && touches(c.operands[o], f.apart) ? f.quantum[f.apart] : 1;
}

PackedOrder packed_order(const Family& f, const Computation& c, int operand, int group_dim) {
  const Operand& o = c.operands[operand];
  const Kernel& k = *f.kernel;
  const bool output = operand == c.inputs();
  PackedOrder order;
  auto add = [&](int dim, i64 div, i64 mod) {
    if (mod != 1) order.digits.push_back({dim, div, mod});
  };
  // Parallel dims without a quantum come first, then panels, then the reduction, then the inside of
  // a panel, so that one panel is one sequential stream over the whole reduction.
  std::vector<int> panels;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (!touches(o, d) || c.dims[d].reduction) continue;
    if (f.quantum[d] == 1 || output) {
      if (d != f.lane) add(d, 1, 0);
    } else {
      panels.push_back(d);
    }
  }
  if (output) {  // a plain tile, lanes innermost
    if (f.lane >= 0 && touches(o, f.lane)) add(f.lane, 1, 0);
    return order;
  }
  for (int d : panels) add(d, f.quantum[d], 0);
  const i64 streams = streams_of(f, c, operand);
  if (streams > 1) {
    const int d = panels.front();
    order.digits.insert(order.digits.begin(), {d, f.quantum[d] / streams, streams});
  }
  const int regs = f.loads[operand]->regs;
  const i64 step = k.lanes_reduce ? k.lanes * k.group * regs : k.group;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (!touches(o, d) || !c.dims[d].reduction) continue;
    const bool inner = d == (k.lanes_reduce ? f.lane : group_dim);
    add(d, inner ? step : 1, 0);
  }
  for (int d : panels)
    if (d == f.lane)
      add(d, k.lanes * regs, f.quantum[d] / streams / (k.lanes * regs));
    else
      add(d, 1, f.quantum[d] / streams);
  if (k.lanes_reduce) {
    if (touches(o, f.lane)) add(f.lane, 1, step);
    return order;
  }
  if (f.lane >= 0 && touches(o, f.lane)) {
    add(f.lane, 1, k.lanes);
    add(f.lane, k.lanes, regs);
  }
  if (group_dim >= 0) add(group_dim, 1, k.group);
  return order;
}

bool packs_alike(const Family& a, const Family& b, const Computation& c) {
  for (size_t o = 0; o < c.operands.size(); ++o)
    if (c.operands[o].packed && a.packed[o] != b.packed[o]) return false;
  return true;
}

std::string packed_order_text(const Family& f, const Computation& c, int operand) {
  const Operand& o = c.operands[operand];
  std::vector<std::pair<i64, i64>> loops;  // elements that one step goes on in row order, and steps
  for (const Digit& d : f.packed[operand].digits) {
    i64 step = 0, next = 1;
    for (size_t axis = o.axes.size(); axis-- > 0; next *= o.shape[axis])
      for (const AxisTerm& t : o.axes[axis])
        if (t.dim == d.axis) step += t.coefficient * next;
    step *= d.div;
    const i64 count = d.mod > 0 ? d.mod : ceil_div(c.dims[d.axis].extent, d.div);
    if (count == 1) continue;
    if (!loops.empty() && loops.back().first == step * count)
      loops.back() = {step, loops.back().second * count};
    else
      loops.emplace_back(step, count);
  }
  std::string out;
  for (const auto& [step, count] : loops)
    out += fmt::format("{}{}x{}", out.empty() ? "" : " ", count, step);
  return out;
}

Computation with_all_rows(const Computation& c, RowShare share) {
  std::vector<i64> extents;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    const bool rows = !c.dims[d].reduction &&
                      std::none_of(c.operands.begin(), c.operands.end(),
                                   [&](const Operand& o) { return o.packed && touches(o, d); });
    const i64 extent = c.dims[d].extent;
    const i64 all = ceil_div(saturating_product(extent, share.of), share.rows);
    extents.push_back(rows ? std::min(all, kMaxExtent) : extent);
  }
  return with_extents(c, extents);
}

std::vector<std::vector<Family>> by_packing(std::span<const Family> families,
                                            const Computation& c) {
  std::vector<std::vector<Family>> out;
  for (const Family& f : families) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const std::vector<Family>& others) {
      return packs_alike(f, others.front(), c);
    });
    if (same == out.end())
      out.push_back({f});
    else
      same->push_back(f);
  }
  return out;
}

Dtype packed_dtype(const Family& f, const Computation& c, int operand) {
  if (operand < c.inputs()) return f.loads[operand]->memory;
  return f.kernel->output;
}

// The reduction dim along which the kernel takes its groups.
static int group_of(const Family& f, const Computation& c) {
  int dim = -1;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (c.dims[d].reduction && f.quantum[d] > 1) dim = d;
  MORELLO_CHECK(dim >= 0, "{} has no dim for its groups", f.kernel->name);
  return dim;
}

const Access* store_access(const Family& f, bool packed) {
  if (!packed) return f.store;
  const Access* a = store_row(*f.isa, f.store->lanes, f.kernel->output, f.kernel->output);
  MORELLO_CHECK(a, "{} has no store of {}", f.isa->name, name(f.kernel->output));
  return a;
}

bool loads_given(const Family& f, const Computation& c, int operand) {
  const Access& a = *f.loads[operand];
  const Operand& o = c.operands[operand];
  if (o.packed || !a.takes(o.dtype)) return false;
  const AddressMap map = given_address(c, operand);
  const bool vector = a.kind == Access::Kind::kVector;
  const bool natural_pairs = f.kernel->lanes_reduce && touches(o, f.lane);
  if (!natural_pairs && a.regs > 1) return false;
  if (!natural_pairs && a.group > 1)  // a group in every lane may lie as it is
    return !vector && !f.kernel->lanes_reduce && map.is_plain() &&
           map.unit_stride(group_of(f, c)) == 1;
  return !vector || map.unit_stride(f.lane) == 1;
}

std::string Family::str(const Computation& c) const {
  std::string out(kernel->name);
  if (lane >= 0) out += " lane=" + c.dims[lane].name;
  std::string q;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    if (quantum[d] != 1)
      q += fmt::format("{}{}:{}", q.empty() ? "" : ",", c.dims[d].name, quantum[d]);
  if (!q.empty()) out += " quantum=" + q;
  if (streams != 1) out += fmt::format(" streams={}", streams);
  if (apart >= 0) out += " apart=" + c.dims[apart].name;
  if (joined >= 0) out += " joined=" + c.dims[joined].name;
  if (overlap) out += fmt::format(" taps={}:{}", c.dims[overlap->tap].name, overlap->taps);
  for (size_t o = 0; o < loads.size(); ++o)
    out += fmt::format(" {}={}", c.operands[o].name, loads[o]->name);
  return out + fmt::format(" {}={}", c.output().name, store->name);
}

}  // namespace morello
