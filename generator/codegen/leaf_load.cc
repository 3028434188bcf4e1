// What a leaf loads, how, and into which registers.
#include <algorithm>

#include "codegen/access.h"
#include "codegen/leaf_writer.h"
#include "spec/sizes.h"

namespace morello {

// Of instances that several windows have in common the one of the first row that could.
Extents LeafWriter::element_of(int o, Extents instance) const {
  if (!overlaps(o)) return instance;
  instance[overlap_->row] *= overlap_->stride;
  instance[overlap_->row] += std::exchange(instance[overlap_->tap], 0) * overlap_->gap;
  return instance;
}

// b_0_1: operand b, instance 0 of its first dim with several, 1 of its second.
std::string LeafWriter::reg(int o, const Extents& of, i64 set) const {
  const Extents instance = element_of(o, of);
  std::string name(1, letter(o));
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (touches(o, d) && (count_[d] > 1 || (d == f_.lane && o != out_ && regs_ > 1)))
      name += fmt::format("_{}", instance[d]);
  if (o == out_ && sets_ > 1) name += fmt::format("_s{}", set);
  if (o != out_ && half_ == Half::kSecond) name += "_too";
  return name;
}

std::vector<LeafWriter::Load> LeafWriter::loads(int o, const Slot& slot) const {
  const i64 regs = lanes_along(o) ? f_.loads[o]->regs : 1;
  Extents counts;
  counts.fill(1);
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (touches(o, d)) counts[d] = d == f_.lane ? (count_[d] + regs - 1) / regs : count_[d];
  std::vector<Load> out;
  std::set<Extents> known;
  each(counts, [&](const Extents& at) {
    if (f_.overlap && at[f_.overlap->tap] >= slot.valid) return;
    if (overlaps(o) && !known.insert(element_of(o, at)).second) return;
    Load l{at, at};
    for (int d = 0; d < kMaxDims; ++d) {
      if (d == f_.lane) l.instance[d] *= regs;
      l.index[d] = l.instance[d] * unit_[d];
    }
    if (inner_ >= 0) l.index[inner_] += slot.start;
    out.push_back(l);
  });
  std::stable_sort(out.begin(), out.end(), [&](const Load& a, const Load& b) {
    return overlaps(o) && element_of(o, a.instance) < element_of(o, b.instance);
  });
  return out;
}

// Whether a load brings what an instance of the output wants of an input.
bool LeafWriter::fills(int o, const Load& load, const Extents& instance) const {
  const i64 regs = lanes_along(o) ? f_.loads[o]->regs : 1;
  const Extents wanted = element_of(o, instance), first = element_of(o, load.instance);
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
    const i64 width = d == f_.lane ? regs : 1, from = wanted[d] - first[d];
    if (touches(o, d) && (from < 0 || from >= width)) return false;
  }
  return true;
}

// Elements of this load that exist, from the first.
i64 LeafWriter::valid_elements(int o, const Load& load, const Slot& slot) const {
  const Access& a = *f_.loads[o];
  if (a.kind != Access::Kind::kVector) return std::min<i64>(a.group, slot.valid);
  const i64 all = a.lanes * a.group * a.regs;
  if (k_.lanes_reduce)
    return std::clamp<i64>(slot.start + slot.valid - load.index[f_.lane], 0, all);
  const i64 lanes = std::min<i64>(a.lanes * a.regs, job_.extent[f_.lane] - load.index[f_.lane]);
  return slot.valid < a.group ? lanes : lanes * a.group;
}

// Where n elements of a tensor lie, from this one on along the lanes.
std::vector<Offset> LeafWriter::along_lanes(int t, Extents index, i64 n) const {
  std::vector<Offset> out;
  for (i64 i = 0; i < n; ++i) {
    out.push_back(job_.refs[t].map.place(index));
    if (f_.lane >= 0) ++index[f_.lane];
  }
  return out;
}

// Into how many accumulators of a slot a register of an input goes.
i64 LeafWriter::uses(int o) const {
  i64 uses = 1;
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (!touches(o, d) && !c_.dims[d].reduction) uses *= count_[d];
  if (overlaps(o)) uses *= std::min(count_[overlap_->row], count_[overlap_->tap]);
  return uses;
}

// Whether these are more than one. It is to be loaded once: where registers are short, GCC 12 makes
// the load an operand of every multiply-add instead, and a tile of 2 x 48 takes 7.2 cycles a step
// for 6 (Granite Rapids, operands in L1).
bool LeafWriter::kept(int o) const { return uses(o) > 1 && k_.lanes > 1 && !f_.isa->keep.empty(); }

// Whether an accumulator is to be in its register after every application. Of integers GCC 12 moves
// sums around and spills half of them: vpdpbusd with a tile of 14 x 32 gave 465 Gop/s, kept 706;
// vpmaddwd with 12 x 8 gave 89, kept 141 (Granite Rapids; 256^3; Clang 14: 694 and 694, 119 and
// 130). Rows of floats add where the sum is by themselves.
bool LeafWriter::pinned() const {
  return c_.reduces() && k_.lanes > 1 && !is_float(k_.output) && !f_.isa->keep.empty();
}

// Whether instances of an input share elements, which each has in another slot. Compilers see that
// and keep what one has loaded until the next one wants it, which takes the registers of the sums:
// GCC 12 at -O3 spilt all 28 of them. With the pointer unknown anew in every slot each loads its
// own, as the model has it. (Granite Rapids, AVX-512: 7x7 with stride 2, 224x224x3 to 64, 3460 us
// and now 1401; 3x3, 56x56x64 in NCHW, padded by the kernel, 4209 and 1960; depthwise 3x3,
// 112x112x64 in NCHW, 674 and 524.)
bool LeafWriter::windows(int o) const {
  const std::vector<AxisMap>& axes = c_.operands[o].axes;
  return !job_.refs[o].packed && k_.lanes > 1 && !f_.isa->forget.empty() &&
         std::any_of(axes.begin(), axes.end(), [](const AxisMap& a) { return a.size() > 1; });
}

void LeafWriter::load(int o, const Load& load, const Slot& slot) {
  prefetch(o, load);
  if (o == fours_ && picked(load)) return;
  const Access& a = *f_.loads[o];
  const Ref& ref = job_.refs[o];
  std::vector<std::string> regs;
  for (int r = 0; r < a.regs; ++r) {
    Extents instance = load.instance;
    if (f_.lane >= 0 && lanes_along(o)) instance[f_.lane] += r;
    regs.push_back(reg(o, instance));
  }
  const std::string whole = at(pointer(o), ref.map.place(load.index));
  const i64 all = a.kind == Access::Kind::kVector ? a.lanes * a.group * a.regs : a.group;
  const i64 valid = valid_elements(o, load, slot);
  if (a.kind != Access::Kind::kVector) {
    if (ref.packed || valid == all) return fill_registers(o, a.code, whole, all, regs);
    std::vector<Offset> offsets;
    for (i64 i = 0; i < valid; ++i) offsets.push_back(ref.map.place(load.index) + i);
    const std::string group = stage_group(w_, names_, ref.dtype, pointer(o), offsets, all);
    return fill_registers(o, a.code, group, all, regs);
  }
  if (ref.packed) {  // padded to whole blocks, and a block is a number of loads
    MORELLO_CHECK(valid == all || block_of(ref.map, f_.lane) % (a.lanes * a.regs) == 0,
                  "{} reads past its packed block", a.name);
    return fill_registers(o, a.code, whole, all, regs);
  }
  if (masks_lanes() && lanes_along(o))
    return fill_registers(o, a.partial, whole, valid, regs, lanes_there(load.instance));
  const std::vector<Offset> offsets = along_lanes(o, load.index, valid);
  if (!adjacent(offsets))
    return fill_registers(o, a.code, stage(w_, names_, ref.dtype, pointer(o), offsets, all), all,
                          regs);
  if (valid == all) return fill_registers(o, a.code, whole, all, regs);
  if (!a.partial.empty()) return fill_registers(o, a.partial, whole, valid, regs);
  fill_registers(o, a.code, stage(w_, names_, ref.dtype, pointer(o), offsets, all), all, regs);
}

// Declares the registers and loads `n` elements into them, or as many as a variable says.
void LeafWriter::fill_registers(int o, std::string_view code, const std::string& p, i64 n,
                                const std::vector<std::string>& regs, const std::string& counted) {
  const Access& a = *f_.loads[o];
  const std::string_view type = reg_type(a.reg);
  std::vector<std::pair<std::string_view, std::string>> values = {
      {"p", p},
      {"n", std::to_string(n)},
      {"count", counted.empty() ? count(w_, code, n) : counted},
      {"r0", regs[0]},
      {"r1", regs.back()}};
  if (code.find("{t}") != std::string_view::npos) values.emplace_back("t", names_.fresh("t"));
  const std::string statements = expand(code, values);
  if (a.regs == 1 && code.starts_with("{r0} = ") && code.find(';') + 1 == code.size()) {
    w_.line("{}{} {}", kept(o) ? "" : "const ", type, statements);
  } else {
    for (int r = 0; r < a.regs; ++r) w_.line("{} {};", type, regs[r]);
    w_.code(statements);
  }
  // The last of an odd number of columns has no use for its second register.
  for (int r = 1; r < a.regs; ++r) w_.line("static_cast<void>({});", regs[r]);
  if (!kept(o)) return;
  for (const std::string& r : regs) w_.code(expand(f_.isa->keep, {{"r", r}}));
}

// Asks for the line `ahead_bytes` behind a load, once per line and iteration, right before the
// load: side by side with the loads it keeps the same few lines in flight all the time.
void LeafWriter::prefetch(int o, const Load& l) {
  if (!prefetches_ || o != job_.call.ahead_operand || f_.isa->prefetch.empty()) return;
  const Ref& ref = job_.refs[o];
  const i64 size = bytes(ref.dtype);
  const Offset place = ref.map.place(l.index);
  const i64 line = place.fixed() * size / kLine;
  // Where rows follow each other at a stride known at run time only: in the same row, or so many
  // rows ahead. Streams far apart lie in the same sets of L1 where that is a multiple of a page: no
  // farther ahead than was meant. (Zen 5, bf16 by AVX2, four rows of 1280 bytes, 4096 wanted: 3840
  // takes 13.2 us, 5120 16.5.)
  Offset rows = place + -place.fixed();
  i64 ahead = job_.call.ahead_bytes;
  for (const AddressTerm& t : ref.map.terms)
    if (t.symbol >= 0 && t.mod == 0 && job_.extent[t.dim] > 1 && ahead >= t.stride * size) {
      const bool far = rows_apart(f_, c_, o) > 1;
      rows += t.steps(far ? ahead / (t.stride * size) : ceil_div(ahead, t.stride * size));
      ahead = 0;
    }
  if (!lines_ahead_.insert({text(rows), line}).second) return;
  const std::string from = at(pointer(o), rows);
  w_.code(ask(job_.call.ahead_to == kL2 ? f_.isa->prefetch_to_l2 : f_.isa->prefetch, ref.dtype,
              from, line * kLine + ahead));
}

}  // namespace morello
