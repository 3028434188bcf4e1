#include "search/coordinates.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "impl/finishing.h"
#include "impl/fours.h"

namespace morello {
namespace {

constexpr int kClassBits = 7;
constexpr int kWholeRowsBit = kClassBits * kMaxDims;  // behind the classes of an operand
// Pieces of rows come to L2 if the next ones lie within so much of it. (Zen 5, f32 4x11008x4096
// transposed by AVX-512, six rows of 43 KiB ahead, a quarter of 1 MiB: 11.4 cycles a line, 2.6 KiB
// ahead in the same rows 9.8; with b of 4096 each 9.7 and 10.)
constexpr i64 kShareOfL2InReach = 4;
// Of a row, the gap behind it that does not break off what reads row after row.
constexpr i64 kGapOfRow = 8;
static_assert(kPage == kLeastLine << (kSpreads - 1) && kPageOrMore + kSpreads <= 1 << kClassBits);
// Bits of page[0], from the lowest: form of every operand, accumulate, threads, dims not cut; from
// the highest: menus.
constexpr int kAccumulateBit = kMaxOperands;
constexpr int kThreadsBit = kAccumulateBit + 1;
constexpr int kUncutBit = kThreadsBit + 16;
constexpr int kMenuBits = 3;
constexpr int kMenusBit = 64 - kMenuBits * kMaxDims;

std::string digits_text(const PackedOrder& order) {
  std::string out;
  for (const Digit& d : order.digits) out += fmt::format(" {}/{}%{}", d.axis, d.div, d.mod);
  return out;
}

// Where the user put an operand: the order of the strides, and those below a line exactly, because
// costs count the lines that such rows share. Of a layout with blocks, which count as one piece of
// memory, the blocks; how far apart they are depends on the extents at the root and is not asked.
// A stride that is known at run time only says so: what it is is assumed, and no more than that.
std::string given_text(const Problem& p, int o) {
  if (p.root().place[o].packed) return " packed";
  const AddressMap map = p.given(o);
  std::string out;
  if (!map.is_plain()) {
    for (const AddressTerm& t : map.terms) {
      out += fmt::format(" {}/{}%{}", t.dim, t.div, t.mod);
      if (t.stride == 1) out += "*1";
      if (t.symbol >= 0) out += '?';
    }
    return out;
  }
  const int size = bytes(p.computation->operands[o].dtype);
  for (const AddressTerm& t : map.plain_terms()) {
    out += t.stride * size < p.machine->levels[kL1].line ? fmt::format(" {}*{}", t.dim, t.stride)
                                                         : fmt::format(" {}", t.dim);
    if (t.symbol >= 0) out += '?';
  }
  const int line = p.machine->levels[kL1].line;
  const i64 begin = rows_begin(map.plain_terms(), *p.computation, size, line);
  return begin == line ? out : out + fmt::format(" rows begin at {}", begin);
}

std::string axes_text(const Operand& operand) {
  std::string out;
  for (size_t a = 0; a < operand.axes.size(); ++a) {
    out += " [";
    for (const AxisTerm& t : operand.axes[a]) out += fmt::format("{}*{} ", t.coefficient, t.dim);
    if (!operand.zeros.empty())
      out += fmt::format("-{}+{}", operand.zeros[a].low, operand.zeros[a].high);
    out += ']';
  }
  return out;
}

std::string operand_text(const Problem& p, int o) {
  const Operand& operand = p.computation->operands[o];
  const Family& f = p.family;
  std::string out =
      fmt::format("operand {}{}", name(operand.dtype), operand.packed ? " packed" : "");
  const bool input = o < p.computation->inputs();
  out += axes_text(operand) + fmt::format(" by {}", input ? f.loads[o]->name : f.store->name);
  if (input)
    out += fmt::format(" streams {} given {}", streams_of(f, *p.computation, o),
                       loads_given(f, *p.computation, o));
  out += "; packed" + digits_text(f.packed[o]) + "; given";
  return out + given_text(p, o) + '\n';
}

// That leaves read it once, and of how many rows, which a loop may go along, they ask for the next.
std::string once_text(const Problem& p, int o) {
  std::string out = fmt::format("operand {} read once", o);
  const auto& levels = p.machine->levels;
  const auto pieces = [](const LevelDesc& l) { return l.next_pieces_millicycles > 0; };
  const AddressMap map = p.given(o);
  if (map.is_plain() && std::any_of(levels.begin(), levels.end(), pieces))
    for (const AddressTerm& t : map.plain_terms())
      out += fmt::format(" {}", rows_in_reach(p, o, t));
  return out + '\n';
}

// Costs ask which dims it has, along which its elements are adjacent, and from where it comes.
std::string extra_text(const Problem& p, int t) {
  const Computation& c = *p.computation;
  const AddressMap map = p.root_address(t);
  std::string out =
      fmt::format("extra {} from {}", name(c.tensor(t).dtype), level_name(p.home(kMaxOperands)));
  for (size_t d = 0; d < c.dims.size(); ++d)
    if (map.touches(static_cast<int>(d)))
      out += fmt::format(" {}{}", d, map.unit_stride(static_cast<int>(d)) == 1 ? "*1" : "");
  return out + '\n';
}

// Of an output in a copy.
std::string sums_text(const Problem& p) {
  const int out = p.computation->inputs();
  return fmt::format("sums {}{} by {}; packed{}\n", name(p.place_dtype(out, true)),
                     axes_text(p.computation->output()), store_access(p.family, true)->name,
                     digits_text(p.family.packed[out]));
}

// What becomes of the output.
std::string results_text(const Problem& p) {
  const Computation& c = *p.computation;
  std::string out = operand_text(p, c.inputs());
  if (!c.finish.empty())
    out += fmt::format("finish {} {}, from a copy by {}\n", name(c.result()), str(c.finish),
                       write_back(p.family, c).lanes);
  for (int t = static_cast<int>(c.operands.size()); t < c.tensors(); ++t) out += extra_text(p, t);
  if (p.output_leaves())
    out += fmt::format("output leaves{}{}\n", p.part.read_again ? ", read again" : "",
                       p.streaming_problem().empty() ? ", may stream" : "");
  if (p.part.in_place) out += "in place\n";
  return out;
}

// Of the machine of the last one asked for, which is that of this one but in tests.
const std::string& machine_text(const Machine& m) {
  thread_local Machine last;
  thread_local std::string text;
  if (text.empty() || last != m) {
    text = m.toml();
    last = m;
  }
  return text;
}

std::string signature_of(const Problem& p, const Menus& menus, bool shorter, bool sums) {
  const Computation& c = *p.computation;
  std::string out = fmt::format("body {} combine {} compute {}\ndims", str(c.body),
                                static_cast<int>(c.combine), name(c.compute));
  for (const Dim& d : c.dims) out += d.reduction ? " sum" : " all";
  const Family& f = p.family;
  out += fmt::format("\nkernel {} {} lane {} reload {} quantum", f.isa->name, f.kernel->name,
                     f.lane, f.reload ? f.reload->name : "none");
  for (size_t d = 0; d < c.dims.size(); ++d) out += fmt::format(" {}", f.quantum[d]);
  if (f.apart >= 0) out += fmt::format(" apart {}", f.apart);
  if (f.joined >= 0) out += fmt::format(" joined {}", f.joined);
  if (f.overlap)
    out += fmt::format(" overlap {} {} {} by {} and {}", f.overlap->row, f.overlap->tap,
                       f.overlap->taps, f.overlap->stride, f.overlap->gap);
  out += " tiles from";
  for (size_t d = 0; d < c.dims.size(); ++d)
    out += fmt::format(" {}{}", menus[d].first,
                       menus[d].also > 0 ? fmt::format("&{}", menus[d].also) : "");
  out += '\n';
  for (int o = 0; o < c.inputs(); ++o) out += operand_text(p, o);
  if (const int o = fours_of(p); o >= 0) out += fmt::format("operand {} in fours\n", o);
  out += sums ? sums_text(p) : results_text(p);
  if (p.part.asked >= 0)
    out += fmt::format("operand {} asked for {} ahead to {}\n", p.part.asked, p.part.asked_bytes,
                       level_name(p.part.asked_to));
  if (p.part.elastic != 0) out += fmt::format("elastic {}\n", p.part.elastic);
  const auto& levels = p.machine->levels;
  const auto asks = [](const LevelDesc& l) {
    return l.asks_ahead() || l.asked_view_millicycles > 0 || l.asked_panel_millicycles > 0;
  };
  if (p.part.is_tile() && std::any_of(levels.begin(), levels.end(), asks))
    out += "a part of a stage\n";  // in which neither copies nor views do
  if (std::any_of(levels.begin(), levels.end(), [](const LevelDesc& l) { return l.once_counts(); }))
    for (int o = 0; o < c.inputs(); ++o)
      if (read_once(p, o)) out += once_text(p, o);
  if (!shorter) out += "all attributes\n";
  return out + fmt::format("threads {}\n{}", p.threads, machine_text(*p.machine));
}

}  // namespace

i64 rows_in_reach(const Problem& p, int operand, const AddressTerm& row) {
  const i64 stride = row.stride * bytes(p.computation->operands[operand].dtype);
  return std::min(p.family.quantum[row.dim],
                  p.machine->levels[kL2].bytes / kShareOfL2InReach / stride);
}

// What a line and the steps, in bytes, that count have in common.
template <class Counts>
static i64 in_common(const std::vector<AddressTerm>& terms, const Computation& c, i64 element_bytes,
                     i64 line_bytes, const Counts& counts) {
  i64 common = line_bytes;
  for (const AddressTerm& t : terms)
    if (c.dims[t.dim].extent > 1 && counts(t)) common = std::gcd(common, t.stride * element_bytes);
  return common;
}

i64 rows_begin(const std::vector<AddressTerm>& terms, const Computation& c, i64 element_bytes,
               i64 line_bytes) {
  return in_common(terms, c, element_bytes, line_bytes,
                   [&](const AddressTerm& t) { return t.stride * element_bytes >= line_bytes; });
}

i64 vectors_begin(const std::vector<AddressTerm>& terms, const Computation& c, const Family& f,
                  i64 element_bytes, i64 line_bytes) {
  return in_common(terms, c, element_bytes, line_bytes,
                   [&](const AddressTerm& t) { return t.dim != f.lane && t.dim != f.joined; });
}

bool read_once(const Problem& p, int operand) {
  const Operand& o = p.computation->operands[operand];
  if (std::any_of(o.axes.begin(), o.axes.end(), [](const AxisMap& a) { return a.size() > 1; }))
    return false;
  const Spec root = p.root();
  for (int d = 0; d < static_cast<int>(p.computation->dims.size()); ++d)
    if (!touches(o, d) && root.extent[d] > p.family.quantum[d]) return false;
  return true;
}

int fours_of(const Problem& p) {
  const int o = broadcast_in_fours(p.family, *p.computation);
  if (o < 0 || p.root().place[o].packed) return -1;
  return p.part.is_elastic(inner_reduction(p.family, *p.computation)) ? -1 : o;
}

int spread_of(i64 bytes, i64 line_bytes) {
  const i64 common = std::gcd(bytes, kPage);
  int n = 0;
  while (common > line_bytes << n) ++n;
  return n;
}

int stride_class(i64 bytes, i64 line_bytes) {
  if (bytes < line_bytes) return kBelowLine;
  if (bytes >= kPage) return kPageOrMore + spread_of(bytes, line_bytes);
  const int octave = std::bit_width(static_cast<std::uint64_t>(bytes / line_bytes)) - 1;
  return kBelowPage + kSpreads * octave + spread_of(bytes, line_bytes);
}

std::uint64_t Menu::seen(i64 extent) const {
  if (least == 0 || extent <= 2 * least) return 0;
  return static_cast<std::uint64_t>(std::countr_zero(static_cast<std::uint64_t>(ratio))) - 1;
}

std::string Coordinates::signature(const Problem& problem) const {
  return signature_of(problem, menus_, shorter_, false);
}

std::string Coordinates::signature_of_sums(const Problem& problem) const {
  const Computation& c = *problem.computation;
  const int out = c.inputs();
  const bool apart = c.reduces() && problem.family.joined < 0 &&
                     !problem.family.packed[out].digits.empty() &&
                     !problem.root().place[out].packed && operands_of(c.body, Fn::kExtra) == 0;
  return apart ? signature_of(problem, menus_, shorter_, true) : "";
}

WholeRows::WholeRows(const std::vector<AddressTerm>& terms, const Computation& c) {
  i64 run = 1;
  for (const AddressTerm& g : terms) {
    const i64 extent = c.dims[g.dim].extent;
    if (extent == 1) continue;
    if (g.stride > run + run / kGapOfRow) {
      dim_ = -1;
      return;
    }
    if (dim_ < 0) dim_ = g.dim, extent_ = extent;
    run = g.stride * extent;
  }
}

Coordinates::Coordinates(const Problem& p, const Menus& menus, bool shorter)
    : dims_(static_cast<int>(p.computation->dims.size())),
      operands_(static_cast<int>(p.computation->operands.size())),
      line_bytes_(p.machine->levels[kL1].line),
      shorter_(shorter),
      menus_(menus) {
  MORELLO_CHECK(line_bytes_ >= kLeastLine && line_bytes_ <= kPage, "lines of {} bytes",
                line_bytes_);
  for (int o = 0; o < operands_; ++o) {
    const AddressMap map = p.given(o);
    blocked_[o] = !map.is_plain();
    size_[o] = bytes(p.computation->operands[o].dtype);
    strides_[o] = map.plain_terms();
    whole_rows_[o] = WholeRows(strides_[o], *p.computation);
  }
}

// As Space::region() walks an operand: contiguous pieces grow while the next stride is as long as
// the piece, or shorter in a window; from the first that is not, all that matters of a stride is
// its class.
void Coordinates::add_classes(const Spec& s, int o, Key& k) const {
  i64 run = 1;
  bool touching = true;
  int term = 0;
  for (const AddressTerm& g : strides_[o]) {
    const i64 e = s.extent[g.dim];
    const int at = term++;
    if (e == 1) continue;
    touching &= g.stride <= run;
    if (touching) {
      run += (e - 1) * g.stride;
      continue;
    }
    const auto kind = static_cast<std::uint64_t>(stride_class(g.stride * size_[o], line_bytes_));
    k.page[kClassesPage + o] |= kind << kClassBits * at;
  }
}

Key Coordinates::key(const Spec& s) const {
  static_assert(kWholeRowsBit < 64 && kMenusBit >= kUncutBit + kMaxDims);
  Key k;
  std::uint64_t attributes = 0;
  for (int o = 0; o < operands_; ++o) {
    const Place& place = s.place[o];
    attributes |= static_cast<std::uint64_t>(place.packed) << o;
    k.point[kMaxDims + o] = static_cast<std::uint16_t>(place.level);
    const bool filled = o + 1 == operands_ && !s.accumulate;
    const bool observed = place.level > kL1 || filled || !shorter_;
    if (place.packed || blocked_[o] || !observed) continue;
    add_classes(s, o, k);
    const bool whole = (place.level >= kL3 || !shorter_) && whole_rows_[o](s.extent);
    k.page[kClassesPage + o] |= static_cast<std::uint64_t>(whole) << kWholeRowsBit;
  }
  k.page[0] = attributes | static_cast<std::uint64_t>(s.accumulate) << kAccumulateBit |
              static_cast<std::uint64_t>(s.threads) << kThreadsBit |
              static_cast<std::uint64_t>(s.uncut) << kUncutBit;
  for (int d = 0; d < dims_; ++d) {
    const auto e = static_cast<std::uint64_t>(s.extent[d]);
    const int twos = std::countr_zero(e);
    MORELLO_CHECK(e >> twos <= 0xFFFFFFFF, "extent {} has too large an odd part", e);
    k.point[d] = static_cast<std::uint16_t>(twos);
    const i64 shown = shorter_ ? s.extent[d] : std::numeric_limits<i64>::max();
    k.page[0] |= menus_[d].seen(shown) << (kMenusBit + kMenuBits * d);
    k.page[kOddPartsPage + d / 2] |= (e >> twos) << 32 * (d % 2);
  }
  return k;
}

Level farthest_of(const Key& key) {
  Level farthest = kRegisters;
  for (int o = 0; o < kMaxOperands; ++o)
    farthest = std::max(farthest, Level{key.point[kMaxDims + o]});
  return farthest;
}

std::string describe(const Key& k, int dims, int operands) {
  std::string out;
  for (int d = 0; d < dims; ++d)
    out += fmt::format("{} ", (k.page[kOddPartsPage + d / 2] >> 32 * (d % 2) & 0xFFFFFFFF)
                                  << k.point[d]);
  for (int o = 0; o < operands; ++o) {
    out += fmt::format("{}{} ", level_name(k.point[kMaxDims + o]),
                       k.page[0] >> o & 1 ? " packed" : "");
  }
  if (k.page[0] >> kAccumulateBit & 1) out += "acc ";
  out.pop_back();
  return out;
}

}  // namespace morello
