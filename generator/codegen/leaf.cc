// A leaf keeps its output tile in registers. Registers are counted in instances: a dim of the tile
// has one instance per index, the lane dim one per vector. Per step of the reduction the input with
// fewer instances is loaded whole and held, the other streams through one load at a time, so that
// live registers are accumulators + held + one load.
//
//   slot       the reduction elements one load covers: `group`, or lanes * group * regs where the
//              lanes run along the reduction; taps of windows that are taken at once
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
  if (f_.overlap) {
    count_[f_.overlap->tap] = slot_;
    if (!job.refs[f_.overlap->input].packed && count_[f_.overlap->row] > 1) overlap_ = f_.overlap;
  }
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

Extents LeafWriter::output_instances() const {
  Extents counts = count_;
  for (int d = 0; d < kMaxDims; ++d)
    if (d < static_cast<int>(c_.dims.size()) && c_.dims[d].reduction) counts[d] = 1;
  return counts;
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
  if (followed == 0 || k_.lanes == 1 || inner_ < 0 || elastic(inner_) || f_.overlap) return slots;
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
  if (f_.overlap) kernels *= slot_;
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
    each(count_, [&](const Extents& instance) {
      const bool there = !f_.overlap || instance[f_.overlap->tap] < s.valid;
      if (there && fills(streamed, l, instance)) apply(instance, s);
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
