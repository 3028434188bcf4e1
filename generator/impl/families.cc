// Which families an ISA has for a computation: rows that fit, register tiles, streams.
#include <algorithm>
#include <set>

#include "impl/family.h"
#include "impl/finishing.h"
#include "impl/joined.h"
#include "impl/register_tiles.h"
#include "spec/sizes.h"

namespace morello {

namespace {

// Rows that are read far apart, the best first.
constexpr i64 kParts[] = {4, 3, 2};
// Accumulators that keep two FMA pipes of latency 4 busy; smaller tiles are considered only where
// the extents allow no larger one.
constexpr i64 kBusyAccumulators = 8;
// Compilers keep one register for themselves: tiles that use all 16 spill (14x8 with GCC 12 runs at
// 0.67 of OpenBLAS where 6x16 runs at 1.01).
constexpr int kReserve = 1;

template <class F>
void each_access(const Isa& isa, F f) {
  for (std::span<const Access> rows : isa.accesses)
    for (const Access& a : rows) f(a);
}

// Rows that bring an operand into the kernel's registers: from its own type in memory, or from a
// packed copy that holds the register type, if that is the type of the arithmetic or loses nothing.
bool brings(const Access& a, const Kernel& k, const Computation& c, int operand) {
  if (a.stands_in) return false;
  if (a.lanes != k.lanes || a.group != k.group || a.reg != k.input_of(operand)) return false;
  const Dtype memory = c.operands[operand].dtype;
  if (a.kind == Access::Kind::kStore || a.takes(memory)) return a.kind != Access::Kind::kStore;
  return a.memory == a.reg && (a.reg == c.compute || holds(a.reg, memory));
}

// Whether a row can have a part in the body.
bool fits(const Kernel& k, const Isa& isa, const Computation& c) {
  const Computation& m = meaning(k.implements);
  const bool input_fits = k.input == c.compute || k.group > 1;
  if (m.combine != c.combine || k.output != c.compute || !input_fits) return false;
  if (places(k, c).empty() || !computes(isa, before_row(k, c), k.lanes)) return false;
  for (int o = 0; o < c.inputs(); ++o) {
    bool any = false;
    each_access(isa, [&](const Access& a) { any |= brings(a, k, c, o); });
    if (!any) return false;
  }
  return true;
}

// Whether another row does the same with less before it: a multiply-add instead of a sum of
// products.
bool outdone(const Kernel& k, const Isa& isa, const Computation& c) {
  const auto more = [&](const Kernel& r) {
    return (r.lanes > 1) == (k.lanes > 1) && r.lanes_reduce == k.lanes_reduce &&
           count_functions(meaning(r.implements).body) >
               count_functions(meaning(k.implements).body) &&
           fits(r, isa, c);
  };
  return std::any_of(isa.kernels.begin(), isa.kernels.end(), [&](std::span<const Kernel> rows) {
    return std::any_of(rows.begin(), rows.end(), more);
  });
}

struct Builder {
  const Computation& c;
  const Isa& isa;
  const Kernel& k;
  std::vector<Family>& out;

  Family f{};
  int lane = -1;
  int group_dim = -1;

  void run();
  void with_lane(int dim);
  void moving();
  bool load_body_extras();
  void choose_loads(int operand);
  void choose_quantum();
  void add_apart(Family g, int dim);
  void overlap(Family& g, const RegisterTile& t) const;
  void choose_orders(Family& g);
  std::vector<const Access*> candidates(int operand) const;
};

// Whether a dim may be read in any order: all that have it have it as one axis, in no blocks, and
// no windows move along anything.
bool any_order(const Computation& c, int dim) {
  for (int t = 0; t < c.tensors(); ++t) {
    const Operand& o = c.tensor(t);
    if (!o.zeros.empty()) return false;
    for (const AxisMap& axis : o.axes)
      if (axis.size() > 1 || (axis.size() == 1 && axis[0].coefficient != 1)) return false;
    if (!touches(o, dim)) continue;
    if (o.packed) return false;
    int terms = 0;
    for (const AddressTerm& a : given_address(c, t).terms)
      if (a.dim == dim && (++terms > 1 || !a.is_plain())) return false;
  }
  return true;
}

// Whether copies take rows of so many elements apart, and put them together, by rows of the ISA.
bool takes_apart(const Isa& isa, Dtype type, i64 elements) {
  const auto fits = [&](const Transpose& t) {
    return t.dense_rows && t.bytes == bytes(type) && t.columns == elements;
  };
  return std::any_of(isa.transposes.begin(), isa.transposes.end(),
                     [&](const auto& rows) { return std::any_of(rows.begin(), rows.end(), fits); });
}

// Dims along which vectors of the output can run: where its elements are adjacent, so that a store
// is a store, or those of an input, so that a load is one; then the output is gathered in a buffer.
// (f32 512x373 stored by columns, times 373x4: 0.26 of the time by AVX2, 0.41 by AVX-512.) Where
// all of these are a few elements, along any: copies take such rows apart. (`a * b` of 1440 rows
// of 2 and 3 f32: 0.59 and 0.77 of the time by AVX2, 0.76 and 0.81 by AVX-512; of 4, which a store
// does, 1.38 and 1.36.) Dims of extent 1 offer nothing unless there is nothing else.
std::vector<int> lane_dims(const Computation& c, const Isa& isa, bool reduce) {
  std::vector<int> all, adjacent;
  bool short_rows = c.output().dtype == c.compute;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (c.dims[d].reduction != reduce || c.dims[d].extent == 1) continue;
    all.push_back(d);
    bool unit = false;
    for (int o = 0; o <= c.inputs(); ++o) unit |= given_address(c, o).unit_stride(d) == 1;
    if (!unit) continue;
    adjacent.push_back(d);
    short_rows = short_rows && takes_apart(isa, c.compute, c.dims[d].extent);
  }
  return reduce || adjacent.empty() || short_rows ? all : adjacent;
}

void Builder::run() {
  if (!fits(k, isa, c) || outdone(k, isa, c)) return;
  f.isa = &isa;
  f.kernel = &k;
  if (k.moves) return moving();
  if (k.group > 1) {
    // Pairs run along the innermost reduction dim, which every input touches.
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
      if (c.dims[d].reduction && inputs_touch(c, d)) group_dim = d;
    if (group_dim < 0) return;
  }
  if (k.lanes == 1) return with_lane(-1);
  // Part of a long vector is what masks are for; where all of a dim is a short one, that needs
  // none. (G, AVX-512: f32 6x256x8 334 ns, with masks 478; 8 cubed 13.4 and 14.0, and 26.1 where
  // the output lies right behind b: loads wait for stores to what their masks leave out.)
  const bool narrow = k.lanes < isa.widest();
  for (int d : lane_dims(c, isa, k.lanes_reduce))
    if (!narrow || c.dims[d].extent <= k.lanes) with_lane(d);
}

// Tiles that a copy takes at once, in elements: along what is adjacent in the source or the result,
// and all together.
constexpr i64 kMovedSide = 64;
constexpr i64 kMovedTile = 4096;

// Leaves that are copies, where the result is the operand in another order.
void Builder::moving() {
  const Operand &from = c.operands[0], &to = c.output();
  const bool bare = c.body.size() == 1 && c.finish.empty() && c.extras.empty();
  if (!bare || stored(from.dtype) != stored(to.dtype) || !c.sizes.empty()) return;
  const AddressMap source = given_address(c, 0), target = given_address(c, 1);
  if (!source.is_plain() || !target.is_plain()) return;
  bool other_order = false;
  f.quantum.fill(1);
  i64 tile = 1;
  std::vector<std::pair<i64, int>> by_stride;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d) {
    if (!any_order(c, d) || !all_touch(c, d)) return;
    if (c.dims[d].extent == 1) continue;
    const i64 in = source.unit_stride(d), out = target.unit_stride(d);
    other_order |= in != out;
    if (in == 1 || out == 1) tile *= f.quantum[d] = std::min(c.dims[d].extent, kMovedSide);
    by_stride.emplace_back(std::min(in, out), d);
  }
  // Bytes are stored as tensors between stages alone, which is never in place.
  if (!other_order && bytes(to.dtype) > 1) return;
  // What of the tile is left goes to the dims whose elements lie next to one another.
  std::sort(by_stride.begin(), by_stride.end());
  for (const auto& [stride, d] : by_stride) {
    tile /= f.quantum[d];
    const i64 left = kMovedTile / tile, sides = left / kMovedSide * kMovedSide;
    const i64 most = std::max(f.quantum[d], sides > 0 ? sides : left);
    tile *= f.quantum[d] = std::min(c.dims[d].extent, most);
  }
  const Access* load = load_row(isa, 1, from.dtype, c.compute);
  f.store = store_row(isa, 1, to.dtype, c.compute);
  if (load == nullptr || f.store == nullptr) return;
  f.loads = {load};
  f.packed.resize(c.operands.size());
  out.push_back(f);
}

void Builder::with_lane(int dim) {
  lane = dim;
  f.lane = dim;
  f.loads.assign(c.inputs(), nullptr);
  const Finishing last = finishing(f, c);
  f.store = last.store;
  f.reload = last.load;
  f.extras = last.extras;
  if (!f.store || (c.reduces() && !f.reload) || !load_body_extras()) return;
  choose_loads(0);
}

bool Builder::load_body_extras() {
  f.body_extras.assign(c.extras.size(), nullptr);
  for (size_t e = 0; e < c.extras.size() && c.reduces(); ++e) {
    if (!names(c.body, Fn::kExtra, static_cast<int>(e))) continue;
    f.body_extras[e] = extra_row(isa, c.extras[e], k.lanes, lane, c.compute);
    if (!f.body_extras[e]) return false;
  }
  return true;
}

std::vector<const Access*> Builder::candidates(int operand) const {
  const Operand& o = c.operands[operand];
  const bool vector = lane >= 0 && touches(o, lane);
  const auto kind = vector ? Access::Kind::kVector : Access::Kind::kBroadcast;
  std::vector<const Access*> found;
  // One number has no order that another row could bring it in.
  const auto outdone = [&](const Access& a) {
    return k.lanes == 1 && std::any_of(found.begin(), found.end(),
                                       [&](const Access* f) { return f->memory == a.memory; });
  };
  each_access(isa, [&](const Access& a) {
    if (a.kind == kind && brings(a, k, c, operand) && !outdone(a)) found.push_back(&a);
  });
  return found;
}

void Builder::choose_loads(int operand) {
  if (operand == c.inputs()) return choose_quantum();
  for (const Access* a : candidates(operand)) {
    f.loads[operand] = a;
    choose_loads(operand + 1);
  }
}

// What the rows keep busy beyond their operands while the reduction runs. (A store's temporaries
// come after it, when accumulators fall free one by one.) Functions of the body come one after the
// other; of constants that it names compilers make memory operands where registers are short.
int row_temps(const Family& f, const Computation& c) {
  int temps = f.kernel->temps;
  for (const Access* a : f.loads) temps = std::max(temps, a->temps);
  if (!c.reduces()) return temps;
  int functions = 0;
  for (const Term& t : before_row(*f.kernel, c))
    if (fn_def(t.fn))
      functions = std::max(functions, 1 + f.isa->function(t.fn, t.type, f.kernel->lanes)->temps);
  return temps + functions;
}

// Registers that hold operands beside the sums all the time.
i64 held_extras(const Family& f, const Computation& c, const RegisterTile& t) {
  i64 held = 0;
  for (size_t e = 0; e < f.body_extras.size(); ++e) {
    const Operand& o = c.extras[e];
    if (!f.body_extras[e]) continue;
    held += (t.row_dim >= 0 && touches(o, t.row_dim) ? t.rows : 1) *
            (t.column_dim >= 0 && touches(o, t.column_dim) ? t.columns : 1);
  }
  return held;
}

// Accumulators that keep the pipes busy: fewer, the more is done before each is used.
i64 busy_accumulators(const Family& f, const Computation& c) {
  if (!c.reduces()) return kBusyAccumulators;
  const Uops before = work_of(*f.isa, before_row(*f.kernel, c), f.kernel->lanes);
  return ceil_div(2 * kBusyAccumulators, 2 + before.fma + before.alu);
}

// How many instances of an input a tile has.
i64 instances(const Computation& c, const RegisterTile& t, int operand) {
  const bool row = t.row_dim >= 0 && touches(c.operands[operand], t.row_dim);
  const bool column = t.column_dim >= 0 && touches(c.operands[operand], t.column_dim);
  return (row ? t.rows : 1) * (column ? t.columns : 1);
}

// Of two inputs, the one with fewer, which a leaf holds in registers for all of the other's.
int held_input(const Computation& c, const RegisterTile& t) {
  return c.inputs() == 1 || instances(c, t, 0) <= instances(c, t, 1) ? 0 : 1;
}

// Vector registers a leaf needs: accumulators, the input that is held, one instance of the other
// streamed through, and the rows' temporaries. What goes into one sum only is streamed, too. (Zen
// 5, sums of `x * y` down 300 rows of 96 f32 by AVX2, twelve sums at a time for eight: 0.51 of the
// time.) Without a reduction one vector of the output is computed at a time.
int count_registers(const Family& f, const Computation& c, const RegisterTile& t) {
  const int regs = load_regs(f, c);
  const int temps = row_temps(f, c);
  if (!c.reduces()) return regs * (1 + c.inputs()) + temps;
  const i64 live = t.rows * t.columns * t.unroll + temps + held_extras(f, c, t);
  if (c.inputs() == 1) return static_cast<int>(live + regs);
  const int held = held_input(c, t);
  const i64 parts = f.kernel->lanes_reduce ? f.loads[held]->regs : 1;
  const bool once = instances(c, t, held) == t.rows * t.columns;
  if (once) return static_cast<int>(live + f.loads[0]->regs + f.loads[1]->regs);
  return static_cast<int>(live + instances(c, t, held) * parts + f.loads[1 - held]->regs);
}

// Constants that rows keep in registers, which those that bring the same type share.
int constants_of(const Family& f) {
  int constants = 0;
  for (const Access* a : f.loads) constants = std::max(constants, a->constants);
  return constants;
}

// A row whose constants have no registers reads them from memory, where it loads the input that is
// held: for the other, a load more for every vector is too many. (2 x 48 of bf16 by AVX2, where GCC
// 12 has five sums of twelve on the stack: 1.04 to 1.06 of the time.)
void place_constants(Family& f, const Computation& c, const RegisterTile& t) {
  const int constants = constants_of(f);
  const bool spare = f.registers + constants + kReserve <= f.isa->vector_registers;
  const Access*& held = f.loads[held_input(c, t)];
  if (spare || held->crowded.empty()) {
    f.registers = std::min(f.registers + constants, f.isa->vector_registers);
    return;
  }
  const std::string_view name = held->crowded;
  each_access(*f.isa, [&](const Access& a) {
    if (a.name == name) held = &a;
  });
}

// The reduction dim that leaves walk along, in steps of the kernel's group; -1: no reduction.
int walked(const Computation& c, int group_dim) {
  for (int d = static_cast<int>(c.dims.size()); group_dim < 0 && d-- > 0;)
    if (c.dims[d].reduction) return d;
  return group_dim;
}

bool streams_fit(const Family& f, const Computation& c) {
  if (f.streams == 1) return true;
  for (int o = 0; o < c.inputs(); ++o)
    if (streams_of(f, c, o) > 1) return true;
  return false;
}

void Builder::choose_orders(Family& g) {
  g.packed.clear();
  for (int o = 0; o < static_cast<int>(c.operands.size()); ++o)
    g.packed.push_back(packed_order(g, c, o, group_dim));
}

// How many rows of a dim are read far apart, one from each of as many equal parts: a few streams
// are as good as many. 0: no such number divides it, or neighbours are all there is.
i64 parts_of(i64 extent) {
  for (const i64 n : kParts)
    if (extent % n == 0) return extent > n ? n : 0;
  return 0;
}

// The same with rows of a dim far apart, where lanes run along rows as the user has them. What has
// the dim is not copied then, as copies have an order of their own; so it is in no blocks, which
// are always copied.
void Builder::add_apart(Family g, int dim) {
  if (!k.lanes_reduce || dim < 0 || g.quantum[dim] != parts_of(c.dims[dim].extent)) return;
  if (!any_order(c, dim)) return;
  g.apart = dim;
  choose_orders(g);
  bool rows = false;
  for (int o = 0; o < static_cast<int>(c.operands.size()); ++o) {
    const bool has = touches(c.operands[o], dim);
    if (has && !given_address(c, o).is_plain()) return;
    if (has) g.packed[o].digits.clear();
    if (o == c.inputs()) continue;
    if (g.packed[o].digits.empty() && !loads_given(g, c, o)) return;
    rows |= has && touches(c.operands[o], lane);
  }
  if (rows) out.push_back(g);
}

// All taps of windows at once, or as many as leave registers for what is held of the filter at
// each.
void Builder::overlap(Family& g, const RegisterTile& t) const {
  g.overlap.reset();
  if (t.rows == 1 || t.unroll > 1 || k.lanes == 1 || k.lanes_reduce || k.group > 1) return;
  if (!k.pair.empty() || !c.reduces() || !before_row(k, c).empty()) return;
  std::optional<Overlap> all = overlap_along(c, t.row_dim);
  if (!all || !touches(c.operands[all->input], lane)) return;
  const int filter = 1 - all->input;
  if (held_input(c, t) != filter) return;
  const i64 each = instances(c, t, filter);
  const i64 spare = isa.vector_registers - kReserve - g.registers - constants_of(g);
  all->taps = std::min(all->taps, 1 + std::max<i64>(0, spare) / each);
  if (all->at_once(t.rows, all->taps) == t.rows * all->taps) return;
  g.registers += static_cast<int>((all->taps - 1) * each);
  g.overlap = all;
}

void Builder::choose_quantum() {
  const int regs = load_regs(f, c);
  if (k.lanes_reduce)  // both inputs must be split the same way
    for (int o = 0; o < c.inputs(); ++o)
      if (touches(c.operands[o], lane) && f.loads[o]->regs != regs) return;
  std::vector<RegisterTile> fitting;
  const int walk = k.lanes_reduce ? lane : walked(c, group_dim);
  const bool joins = walk >= 0 && isa.function(joined_by(c.combine), k.output, k.lanes);
  const i64 steps = joins ? c.dims[walk].extent / k.group : 1;
  for (const RegisterTile& t : tiles(c, k, lane, regs, steps))
    if (count_registers(f, c, t) + kReserve <= isa.vector_registers) fitting.push_back(t);
  std::set<Extents> known;  // one row is one row, whatever dim it might have more along
  for (const RegisterTile& t : worthwhile(fitting, isa, busy_accumulators(f, c))) {
    Family g = f;
    g.quantum.fill(1);
    if (t.row_dim >= 0) g.quantum[t.row_dim] = t.rows;
    if (t.column_dim >= 0)
      g.quantum[t.column_dim] = t.columns * (t.column_dim == lane ? k.lanes : 1);
    if (k.lanes_reduce)
      g.quantum[lane] = k.lanes * k.group * regs * t.unroll;
    else if (walk >= 0)
      g.quantum[walk] = k.group * t.unroll;
    if (!known.insert(g.quantum).second) continue;
    g.registers = count_registers(f, c, t);
    overlap(g, t);
    place_constants(g, c, t);
    for (int streams : {1, 2, 4}) {
      g.streams = streams;
      if (!streams_fit(g, c)) continue;
      choose_orders(g);
      // What is neither loaded as it is nor has an order to be copied to: one number for all.
      bool reads = true;
      for (int o = 0; o < c.inputs(); ++o)
        reads &= !g.packed[o].digits.empty() || loads_given(g, c, o);
      if (reads) out.push_back(g);
    }
    g.streams = 1;
    for (const int d : {t.row_dim, t.column_dim}) add_apart(g, d);
  }
  if (lane < 0) return;
  f.registers = count_registers(f, c, {});
  if (const std::optional<Family> g = joined(f, c)) out.push_back(*g);
}

}  // namespace

// Whether scalar code has nothing on a family: without a reduction compilers make vectors of it by
// themselves (GCC 12 and Clang 14 at -O2: the same time), and no operand need be copied for it.
static bool replaces_scalar(const Family& f, const Computation& c) {
  if (f.lane < 0 || c.reduces()) return false;
  if (c.dims[f.lane].extent < f.kernel->lanes) return false;
  for (int o = 0; o < c.inputs(); ++o)
    if (!loads_given(f, c, o)) return false;
  return given_address(c, c.inputs()).unit_stride(f.lane) == 1;
}

std::vector<Family> families(const Computation& c, const Isa& isa) {
  std::vector<Family> out;
  for (std::span<const Kernel> rows : isa.kernels)
    for (const Kernel& k : rows) Builder{c, isa, k, out}.run();
  if (std::any_of(out.begin(), out.end(), [&](const Family& f) { return replaces_scalar(f, c); }))
    std::erase_if(out, [](const Family& f) { return f.kernel->lanes == 1 && !f.kernel->moves; });
  return out;
}

bool adds_to(const Isa& isa, const Isa& base, const Computation& c) {
  const auto own = [](const auto& all, const auto* row) {
    return std::none_of(all.begin(), all.end(), [&](const auto& rows) {
      return std::any_of(rows.begin(), rows.end(), [&](const auto& r) { return &r == row; });
    });
  };
  const std::vector<Family> all = families(c, isa);
  return std::any_of(all.begin(), all.end(), [&](const Family& f) {
    return own(base.kernels, f.kernel) || own(base.accesses, f.store) ||
           std::any_of(f.loads.begin(), f.loads.end(),
                       [&](const Access* a) { return own(base.accesses, a); });
  });
}

Result<Family> parse_family(std::string_view text, const Computation& c, const Isa& isa) {
  for (Family& f : families(c, isa))
    if (f.str(c) == text) return std::move(f);
  return error(fmt::format("no family `{}` for this computation on {}", text, isa.name));
}

}  // namespace morello
