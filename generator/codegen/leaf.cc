// A leaf keeps its output tile in registers. Registers are counted in instances: a dim of the tile
// has one instance per index, the lane dim one per vector. Per step of the reduction the input with
// fewer instances is loaded whole and held, the other streams through one load at a time, so that
// live registers are accumulators + held + one load.
//
//   slot       the reduction elements one load covers: `group`, or lanes * group * regs where the
//              lanes run along the reduction
//   iteration  several slots, enough kernels to hide the loop's own cost
//   set        slots go round independent sets of accumulators, where one has few
//
// Registers are named locals, never arrays: GCC 12 keeps arrays of vectors in memory at -O2 (46
// against 133 GF/s for a 6x16 tile).
#include <algorithm>
#include <numeric>

#include "codegen/access.h"
#include "codegen/expression.h"
#include "codegen/joined.h"
#include "codegen/leaf_writer.h"
#include "codegen/pack.h"
#include "impl/finishing.h"
#include "impl/fours.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Kernel applications per iteration of the reduction loop; a vector's that keeps a pipe busy for
// longer counts as more (Clang 14 makes vectors of scalar ones, the more the better), and so does
// what comes before it.
constexpr i64 kIterationKernels = 32;
// Of leaves of what larger pieces leave. (u8[4,31,127] x i8[4,127,n to 18], packed, strided, for
// five instruction sets: 17,600 lines with as many as the largest has, 10,300 with these; f32 with
// m, k and n at run time take 0 to 3 % longer.)
constexpr i64 kBriefKernels = 8;
// The same where a stream is prefetched: memory is the limit there, and in a long iteration GCC
// gathers the prefetches at its head, which costs 5 % against a hand-written loop.
constexpr i64 kStreamKernels = 8;
// A prefetch fetches a whole line: iterations grow up to this factor to consume whole lines.
constexpr i64 kLineFactor = 4;

}  // namespace

LeafWriter::LeafWriter(Functions& functions, const Problem& p, const LeafJob& job)
    : functions_(functions),
      p_(p),
      c_(*p.computation),
      f_(p.family),
      k_(*p.family.kernel),
      job_(job),
      out_(c_.inputs()),
      finishes_(!c_.finish.empty() && !job.refs[out_].packed),
      places_(places(k_, c_)),
      before_(before_row(k_, c_)),
      w_(1, functions.apart()) {
  for (int o = 0; o < out_; ++o) regs_ = std::max<i64>(regs_, f_.loads[o]->regs);
  choose_inner();
  count_.fill(1);
  unit_.fill(1);
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
    if (d == f_.lane) unit_[d] = k_.lanes_reduce ? k_.lanes * k_.group : k_.lanes;
    if (!c_.dims[d].reduction) count_[d] = (job.extent[d] + unit_[d] - 1) / unit_[d];
  }
  if (k_.lanes_reduce) count_[f_.lane] = regs_;
  slot_ = reduction_slot(f_, c_);
  sets_ = accumulator_sets(f_, c_);
  choose_fours();
  for (int o = 0; o <= out_; ++o) pointers_[o] = stem(o);
  params_ = params_of_job();
  if (functions_.apart() && !job_.call.streaming) name_strides();
}

// Rows of outputs lie apart by numbers that differ from tile to tile: leaves know them by name.
// (f16 matmul of 44 x 7 x n to 14 with a program for every n, for three instruction sets: 14,500
// lines and 2.1 s of GCC; with these and the counts of masks by name 5,800 and 1.4.)
void LeafWriter::name_strides() {
  std::vector<AddressTerm>& terms = job_.refs[out_].map.terms;
  for (size_t i = 0; i < terms.size(); ++i) {
    AddressTerm& t = terms[i];
    if (t.symbol >= 0 || !t.is_plain() || t.stride == 1 || t.dim == f_.lane ||
        job_.extent[t.dim] == 1)
      continue;
    t.symbol = stride_symbol(kMaxTensors, static_cast<int>(i));
    w_.name(stride_name(t.symbol), t.stride);
  }
}

void LeafWriter::choose_inner() {
  inner_ = inner_reduction(f_, c_);
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (c_.dims[d].reduction && d != inner_ && (job_.extent[d] > 1 || elastic(d)))
      outer_.push_back(d);
}

std::string LeafWriter::params_of_job() const {
  std::string out;
  for (int o = 0; o < out_; ++o)
    out += fmt::format("{} {}, ", const_pointer(job_.refs[o].dtype), stem(o));
  out += fmt::format("{} {}", mutable_pointer(job_.refs[out_].dtype), stem(out_));
  const int tensors = tensors_of(c_, job_.refs[out_].packed);
  for (int t = out_ + 1; t < tensors; ++t)
    out += fmt::format(", {} {}", const_pointer(job_.refs[t].dtype), stem(t));
  for (int t = 0; t < tensors; ++t) out += stride_params(job_.refs[t].map);
  out += length_params(p_.part.elastic);
  for (size_t i = 0; i < job_.asks.size(); ++i)
    out +=
        fmt::format(", {0} ask{1}, std::ptrdiff_t asked{1}", const_pointer(job_.asks[i].dtype), i);
  return out;
}

std::string_view LeafWriter::reg_type(Dtype t) const {
  return k_.lanes == 1 ? c_type(t) : p_.family.isa->register_type(t, k_.lanes);
}

// b_0_1: operand b, instance 0 of its first dim with several, 1 of its second.
std::string LeafWriter::reg(int o, const Extents& instance, i64 set) const {
  std::string name(1, letter(o));
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (touches(o, d) && (count_[d] > 1 || (d == f_.lane && o != out_ && regs_ > 1)))
      name += fmt::format("_{}", instance[d]);
  if (o == out_ && sets_ > 1) name += fmt::format("_s{}", set);
  if (o != out_ && half_ == Half::kSecond) name += "_too";
  return name;
}

Extents LeafWriter::output_instances() const {
  Extents counts = count_;
  for (int d = 0; d < kMaxDims; ++d)
    if (d < static_cast<int>(c_.dims.size()) && c_.dims[d].reduction) counts[d] = 1;
  return counts;
}

std::vector<LeafWriter::Load> LeafWriter::loads(int o, const Slot& slot) const {
  const i64 regs = lanes_along(o) ? f_.loads[o]->regs : 1;
  Extents counts;
  counts.fill(1);
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (touches(o, d)) counts[d] = d == f_.lane ? (count_[d] + regs - 1) / regs : count_[d];
  std::vector<Load> out;
  each(counts, [&](const Extents& at) {
    Load l{at, at};
    for (int d = 0; d < kMaxDims; ++d) {
      if (d == f_.lane) l.instance[d] *= regs;
      l.index[d] = l.instance[d] * unit_[d];
    }
    if (inner_ >= 0) l.index[inner_] += slot.start;
    out.push_back(l);
  });
  return out;
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

// Loops over the outer reduction dims around the inner one.
void LeafWriter::reductions(size_t next) {
  if (next == outer_.size()) return inner_loop();
  const int d = outer_[next];
  const auto saved = pointers_;
  for (int o = 0; o < out_; ++o) {
    if (!touches(o, d)) continue;
    pointers_[o] = names_.fresh(stem(o));
    w_.line("{} {} = {};", const_pointer(job_.refs[o].dtype), pointers_[o], saved[o]);
  }
  if (elastic(d))
    w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", names_.fresh("i"), length_name(d));
  else
    w_.open_loop(names_.fresh("i"), job_.extent[d]);
  const auto here = pointers_;
  for (int o = 0; o < out_; ++o) {  // the inner loop moves its pointers
    pointers_[o] = names_.fresh(stem(o));
    w_.line("{} {} = {};", const_pointer(job_.refs[o].dtype), pointers_[o], here[o]);
  }
  reductions(next + 1);
  pointers_ = here;
  for (int o = 0; o < out_; ++o)
    if (touches(o, d)) w_.line("{} += {};", here[o], text(job_.refs[o].map.advance(d, 1)));
  w_.close();
  pointers_ = saved;
}

// Lines of L2 that are used once or twice come soonest where the L1's prefetcher follows no load:
// where there are more loads in an iteration than it knows, or where each goes on so little further
// that the lines of all are neighbours. (Zen 5, loads of 512 bits, 576 KiB in one piece, cycles a
// line: 1.05 with up to 24 loads in an iteration, 1.95 with 32 to 96, 1.05 with 128; by pieces of
// twelve lines of rows of 1.3 to 8 KiB 2.0 to 2.3 with 12 to 48, 1.6 to 2.0 with 96 and 1.3 to 1.8
// with 192; of 256 bits 1.1 to 1.2 at most in one piece. From L3 there is no difference, nor with
// three multiply-adds a line and more. Kernels: zen5.toml.)
i64 LeafWriter::unfollowed(i64 slots) const {
  constexpr i64 kNeighbours = 1536;  // bytes
  const i64 followed = p_.machine ? p_.machine->pipes(kLaneBits * k_.lanes).followed_loads : 0;
  if (followed == 0 || k_.lanes == 1 || inner_ < 0 || elastic(inner_)) return slots;
  for (int o = 0; o < out_; ++o) {
    if ((job_.from_l2 >> o & 1) == 0 || !lanes_along(o) || !touches(o, inner_)) continue;
    i64 loads = 1, uses = 1;
    for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
      if (touches(o, d)) loads *= count_[d];
      uses *= count_[d];
    }
    if (2 * loads < uses) continue;
    const i64 size = bytes(job_.refs[o].dtype), all = loads * k_.lanes * k_.group * size;
    const i64 apart = job_.refs[o].map.advance(inner_, slot_).assumed() * size;
    if (apart <= all && apart > all - kLine)
      while (slots > 1 && slots * apart > kNeighbours) slots /= 2;
    else
      while (slots * loads <= followed * f_.loads[o]->regs) slots *= 2;
  }
  return slots;
}

i64 LeafWriter::slots_per_iteration() const {
  const Uops before = work_of(*f_.isa, before_, k_.lanes);
  const int own = k_.lanes > 1 ? std::max({1, k_.uops.fma, k_.uops.bf16, k_.uops.alu}) : 1;
  i64 kernels = (k_.lanes_reduce ? regs_ : 1) * (own + before.fma + before.alu + before.divide);
  for (i64 n : output_instances()) kernels *= n;
  i64 step = sets_ * (k_.pair.empty() ? 1 : 2);
  for (int o = 0; o < out_; ++o)
    step = std::lcm(step, std::max<i64>(1, smallest_step(job_.refs[o].map, inner_) / slot_));
  // A power of two leaves the shortest remainder behind the loop for the usual blocks of k.
  const int ahead = job_.call.ahead_operand;
  const bool stream = ahead >= 0 && ahead != out_;
  i64 slots = 1;
  const i64 most = job_.brief ? kBriefKernels : kIterationKernels;
  while (slots * kernels < (stream ? kStreamKernels : most)) slots *= 2;
  if (!stream && !job_.brief) slots = unfollowed(slots);
  if (!in_fours_.empty()) step = std::lcm(step, kFour);
  slots = (slots + step - 1) / step * step;
  if (!stream || !touches(ahead, inner_)) return slots;
  const i64 consumed =
      job_.refs[ahead].map.advance(inner_, slots * slot_).assumed() * bytes(job_.refs[ahead].dtype);
  const i64 factor = kLine / std::gcd(kLine, std::max<i64>(consumed, 1));
  return factor <= kLineFactor ? slots * factor : slots;
}

// So many slots, two by two if the kernel knows what to do with two.
void LeafWriter::whole_slots(i64 slots) {
  const i64 together = k_.pair.empty() ? 1 : 2;
  for (i64 s = 0; s < slots; s += together) {
    const i64 n = std::min(together, slots - s), set = s / together % sets_;
    step_of_four_ = s / kFour < slots / kFour && !in_fours_.empty() ? s % kFour : -1;
    if (step_of_four_ == 0) load_fours(s * slot_);
    w_.open("{}", "");
    for (i64 i = s; i < s + n; ++i) {
      half_ = n == 1 ? Half::kNone : i == s ? Half::kFirst : Half::kSecond;
      slot({i * slot_, slot_, set});
    }
    half_ = Half::kNone;
    w_.close();
  }
  step_of_four_ = -1;
}

// So many slots, and on to the next.
void LeafWriter::iteration(i64 slots) {
  whole_slots(slots);
  for (int o = 0; o < out_; ++o)
    if (touches(o, inner_))
      w_.line("{} += {};", pointer(o), text(job_.refs[o].map.advance(inner_, slots * slot_)));
}

// As many slots as the caller says, and of the last one as much.
void LeafWriter::elastic_loop() {
  const std::string left = names_.fresh("left"), length = length_name(inner_);
  const i64 per = slots_per_iteration();
  w_.line("std::ptrdiff_t {} = {};", left,
          slot_ == 1 ? length : fmt::format("{} / {}", length, slot_));
  if (per > 1) {
    w_.open("for (; {0} >= {1}; {0} -= {1})", left, per);
    ask_for_row();
    prefetches_ = true;
    iteration(per);
    prefetches_ = false;
    w_.close();
  }
  w_.open("for (; {0} > 0; --{0})", left);
  iteration(1);
  w_.close();
  if (k_.lanes_reduce) return;  // there are whole slots
  for (i64 tail = 1; tail < slot_; ++tail) {
    w_.open("if ({} % {} == {})", length, slot_, tail);
    slot_alone({0, tail, 0});
    w_.close();
  }
}

void LeafWriter::inner_loop() {
  if (inner_ < 0) return slot_alone({0, 1, 0});
  if (elastic(inner_)) return elastic_loop();
  const i64 full = job_.extent[inner_] / slot_, tail = job_.extent[inner_] % slot_;
  const i64 per = slots_per_iteration(), iterations = this->iterations();
  i64 first = 0;
  if (iterations > 1) {
    const i64 times = times_in_loop();
    if (times > 1) w_.open_loop(names_.fresh("i"), times);
    for (size_t i = 0; i < job_.asks.size(); ++i)
      if (times > 1 && job_.asks[i].asking.times == times) ask_next(i);
    w_.open_loop(names_.fresh("i"), iterations / times);
    ask_for_row();
    prefetches_ = true;
    iteration(per);
    prefetches_ = false;
    w_.close();
    if (times > 1) w_.close();
    first = iterations * per;
  }
  // Where others rely on it, to the end. (Else not: f32 1x4001x4000 transposed, rows of 1000 lines,
  // 1.07 and 1.10 of the time if the last ones are asked for.)
  lines_ahead_.clear();
  prefetches_ = iterations <= 1 || p_.part.asked >= 0;
  whole_slots(full - first);
  if (tail > 0) slot_alone({(full - first) * slot_, tail, 0});
}

// How often the loop over the innermost reduction runs.
i64 LeafWriter::iterations() const {
  const bool counted = c_.reduces() && inner_ >= 0 && !elastic(inner_);
  return counted ? job_.extent[inner_] / slot_ / slots_per_iteration() : 0;
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

void LeafWriter::slot_alone(const Slot& s) {
  w_.open("{}", "");
  slot(s);
  w_.close();
}

// The held input first, then every load of the streamed one with all its uses.
void LeafWriter::slot(const Slot& s) {
  for (int o = 0; o < out_; ++o)
    if (windows(o)) w_.code(expand(f_.isa->forget, {{"p", pointer(o)}}));
  const int streamed =
      out_ == 1 || loads(0, s).size() * f_.loads[0]->regs > loads(1, s).size() * f_.loads[1]->regs
          ? 0
          : 1;
  for (int o = 0; o < out_; ++o)
    if (o != streamed)
      for (const Load& l : loads(o, s)) load(o, l, s);
  for (const Load& l : loads(streamed, s)) {
    load(streamed, l, s);
    const i64 regs = lanes_along(streamed) ? f_.loads[streamed]->regs : 1;
    each(count_, [&](const Extents& instance) {
      for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
        const i64 width = d == f_.lane ? regs : 1;
        const i64 from = instance[d] - l.instance[d];
        if (touches(streamed, d) && (from < 0 || from >= width)) return;
      }
      apply(instance, s);
    });
  }
}

std::string_view LeafWriter::instruction() const {
  if (half_ == Half::kSecond) return k_.pair;
  const bool once = c_.inputs() == 2 && std::min(uses(0), uses(1)) == 1;
  return once && !k_.once.empty() ? k_.once : k_.code;
}

void LeafWriter::apply(const Extents& instance, const Slot& s) {
  static constexpr std::string_view kPlaces[] = {"a", "b"};
  const std::string sum = reg(out_, instance, s.set);
  std::vector<std::string> made;
  if (!before_.empty()) made = terms(before_, in_body(), instance, "");
  std::vector<std::pair<std::string_view, std::string>> values = {{"c", sum}};
  for (size_t i = 0; i < places_.size(); ++i) {
    const Term& t = c_.body[places_[i]];
    const std::string value = made.empty() ? reg(t.a, instance) : made[places_[i]];
    values.emplace_back(kPlaces[i], counted(t, value, instance, s));
  }
  if (half_ == Half::kFirst) {
    first_[instance] = values[1].second;
    return;
  }
  if (half_ == Half::kSecond)
    values = {values[0], {kPlaces[0], first_[instance]}, {kPlaces[1], values[1].second}};
  w_.code(expand(instruction(), values));
  if (pinned()) w_.code(expand(f_.isa->keep, {{"r", sum}}));
}

// A register that the row takes, where its lanes run along the reduction: behind the end of that
// they hold zeros, or what was made of zeros, and are to hold what changes nothing. Products are to
// have two zeros: another number might be infinite.
std::string LeafWriter::counted(const Term& t, const std::string& value, const Extents& instance,
                                const Slot& s) {
  const double nothing = places_.size() > 1 ? 0 : neutral(c_.combine, k_.output);
  const bool loaded = t.fn == Fn::kInput && lanes_along(t.a);
  if (!k_.lanes_reduce || s.valid == slot_ || (loaded && nothing == 0)) return value;
  unsigned lanes = 0;
  for (i64 l = 0; l < k_.lanes; ++l)
    if (l * regs_ + instance[f_.lane] < s.valid) lanes |= 1u << l;
  const std::string name = names_.fresh("x");
  w_.line("const {} {} = {};", reg_type(k_.output), name,
          expand(f_.isa->blend(k_.output, k_.lanes),
                 {{"m", fmt::format("{:#x}", lanes)},
                  {"a", value},
                  {"b", splat(*f_.isa, k_.output, k_.lanes, nothing)}}));
  return name;
}

Body LeafWriter::body() {
  count_lanes();
  ask_for_output();
  ask_before();
  if (!c_.reduces()) {
    elementwise();
    return w_.body();
  }
  accumulators();
  load_body_extras();
  reductions(0);
  extras_.clear();
  if (sets_ > 1) join_sets();
  add_old();
  store_all();
  return w_.body();
}

// A leaf that moves its tile.
static std::string moving_leaf(Functions& functions, const Problem& p, const LeafJob& job) {
  const Ref &in = job.refs[0], &out = job.refs[1];
  const std::string params =
      fmt::format("{} __restrict src, {} __restrict dst{}{}", const_pointer(in.dtype),
                  mutable_pointer(out.dtype), stride_params(in.map), stride_params(out.map));
  return functions.add("leaf", params,
                       copy_body(*p.family.isa, {.packed = out.map,
                                                 .other = in.map,
                                                 .packed_type = out.dtype,
                                                 .other_type = in.dtype,
                                                 .extent = job.extent}));
}

bool asks_within(const Problem& p) {
  return p.computation->reduces() && !p.family.kernel->moves && p.family.joined < 0;
}

std::string leaf_function(Functions& functions, const Problem& p, const LeafJob& job) {
  if (p.family.kernel->moves) return moving_leaf(functions, p, job);
  if (p.family.joined >= 0) return joined_leaf(functions, p, job);
  LeafWriter leaf(functions, p, job);
  return functions.add("leaf", leaf.params(), leaf.body());
}

}  // namespace morello
