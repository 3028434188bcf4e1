// What a group of stages touches, how near that is, and the groups that a choice leaves to solve.

#include <algorithm>
#include <cstdint>

#include "search/fusion_search.h"
#include "spec/sizes.h"

namespace morello {

// Elements between neighbours along each axis, the innermost first; none: there are blocks, or they
// are known at run time only.
static std::vector<std::pair<size_t, i64>> strides_of(const Operand& o) {
  std::vector<std::pair<size_t, i64>> out;
  if (o.packed || o.strided) return out;
  i64 stride = 1;
  for (auto d = o.layout.digits.rbegin(); d != o.layout.digits.rend(); ++d) {
    if (d->div != 1 || d->mod != 0) return {};
    out.emplace_back(static_cast<size_t>(d->axis), stride);
    stride *= o.shape[static_cast<size_t>(d->axis)];
  }
  return out;
}

// Asked for by every group, and there are hundreds of thousands.
void FusionSearch::list_uses() {
  const int stages = static_cast<int>(g_.stages.size());
  uses_.resize(g_.tensors.size());
  along_.resize(g_.tensors.size());
  for (int t = 0; t < static_cast<int>(g_.tensors.size()); ++t)
    for (int s = 0; s < stages; ++s) {
      const int o = g_.operand_of(s, t);
      if (o < 0) continue;
      const Operand& operand = g_.stages[s].computation.tensor(o);
      const bool lies = t < g_.params || g_.is_result(t);
      Use& use = uses_[t].emplace_back(Use{operand.axes, {}});
      if (lies) use.strides = strides_of(operand);
      for (AxisMap& axis : use.axes)
        for (AxisTerm& term : axis) {
          term.dim = g_.dim_of(s, term.dim);
          along_[t].insert(term.dim);
        }
    }
  list_askers();
  for (int begin = 0; begin < stages; ++begin)
    for (int end = begin + 1; end <= stages; ++end) touched_[{begin, end}] = list(begin, end);
}

FusionSearch::Touched FusionSearch::list(int begin, int end) const {
  std::set<int> tensors, memory;
  Touched out;
  for (int s = begin; s < end; ++s)
    for (int t = 0; t < g_.stages[s].computation.tensors(); ++t) {
      tensors.insert(g_.buffer_of(g_.tensor_of(s, t)));
      memory.insert(g_.memory_of(g_.tensor_of(s, t)));
    }
  out.tensors.assign(tensors.begin(), tensors.end());
  out.memory.assign(memory.begin(), memory.end());
  for (int d = 0; d < static_cast<int>(g_.dims.size()); ++d)
    if (std::any_of(g_.dims[d].in_stage.begin() + begin, g_.dims[d].in_stage.begin() + end,
                    [](int own) { return own >= 0; }))
      out.dims.push_back(d);
  out.around = dims_around(g_, begin, end);
  return out;
}

// A number, of as many bytes as it takes.
static void put(std::string& out, i64 x) {
  for (auto rest = static_cast<std::uint64_t>(x);; rest >>= 7) {
    out.push_back(static_cast<char>(rest < 128 ? rest : rest % 128 + 128));
    if (rest < 128) return;
  }
}

// Everything that its programs depend on.
std::string FusionSearch::key(const Group& g) const {
  std::string out;
  const Touched& all = touched(g);
  for (const i64 x : {g.begin, g.end, g.threads, int{g.beside}, int{g.coarse}, int{g.no_nearer}})
    put(out, x);
  for (int s = g.begin; s < g.end; ++s)
    put(out, sums_over(g_, g.behind, s) || (g.carries && g_.is_carried(s)));
  put(out, leaving(g) > 0 ? g.behind_lines : 0);
  if (asks(g)) {
    const Asking& a = *g.asking;
    for (const i64 x : {i64{a.tensor}, i64{a.stage}, i64{a.from}, a.bytes, i64{a.to}}) put(out, x);
  }
  for (const int d : all.dims) {
    put(out, g.tiled.contains(d));
    put(out, g.extents[d]);
  }
  for (const int t : all.tensors) {
    put(out, g.level[t]);
    const auto b = g.buffers.find(t);
    put(out, b != g.buffers.end());
    if (b == g.buffers.end()) continue;
    for (const i64 extent : b->second) put(out, extent);
  }
  return out;
}

static i64 extent_of(const AxisMap& axis, const GraphExtents& extents) {
  i64 last = 0;
  for (const AxisTerm& t : axis) last += t.coefficient * (extents[t.dim] - 1);
  return last + 1;
}

// Of the part of a tensor that stages with such extents use.
i64 FusionSearch::bytes_of(int tensor, const GraphExtents& extents) const {
  i64 most = 0;
  for (const Use& use : uses_[tensor]) {
    i64 n = bytes(g_.tensors[tensor].dtype);
    for (const AxisMap& axis : use.axes) n *= extent_of(axis, extents);
    most = std::max(most, n);
  }
  return most;
}

// What it takes of L1 or L2: short rows that lie a multiple of many lines apart share sets. (Zen 4,
// AVX2: two products of 177x224x1024 in tiles of 16 columns, of which w1, rows of 4 KiB, was read
// where it lies as if L1 had its 224 lines, 1787 us; one after the other 1501.)
i64 FusionSearch::bytes_in_sets(int tensor, const GraphExtents& extents) const {
  i64 most = bytes_of(tensor, extents);
  const i64 size = bytes(g_.tensors[tensor].dtype);
  for (const Use& use : uses_[tensor]) {
    Region r;
    r.line_bytes = machine_.levels[kL1].line;
    i64 run = 1;
    for (const auto& [axis, stride] : use.strides) {
      const i64 e = extent_of(use.axes[axis], extents);
      if (e == 1) continue;
      if (stride <= run && r.rows == 1) {
        run += (e - 1) * stride;
        continue;
      }
      if (r.rows == 1) r.row_stride = stride * size;
      r.rows *= e;
    }
    r.lines = r.rows * ceil_div(run * size, r.line_bytes);
    most = std::max(most, r.footprint(kL1));
  }
  return most;
}

i64 FusionSearch::footprint(const Group& g) const {
  i64 total = 0;
  for (const int t : touched(g).memory) total += bytes_of(t, g.extents);
  return total;
}

Level FusionSearch::nearest(const Group& g) const {
  i64 near = 0;
  for (const int t : touched(g).memory) near += bytes_in_sets(t, g.extents);
  const Level level = nearest(near, g.threads, g.beside);
  return level <= kL2 ? level : std::max(kL3, nearest(footprint(g), g.threads, g.beside));
}

// Three quarters of a level, or what others that use it leave.
i64 FusionSearch::room(Level l, bool beside) const {
  constexpr int kRoomPercent = 75;
  const LevelDesc& level = machine_.levels[l];
  const i64 sharing = beside ? std::min(level.shared_by, options_.threads) : 1;
  return level.room(kRoomPercent) / sharing;
}

// The nearest level that has room for so many bytes; for several threads one that each of them
// finds what the others have made in.
Level FusionSearch::nearest(i64 bytes, int threads, bool beside) const {
  for (Level l = threads > 1 ? kL2 : kL1; l <= kL3; ++l)
    if (bytes <= room(l, beside)) return l;
  return kMemory;
}

bool FusionSearch::depends(const Group& g, int tensor, int dim) const {
  for (int s = g.begin; s < g.end; ++s) {
    const int own = g_.dims[dim].in_stage[s];
    for (int t = 0; t < g_.stages[s].computation.tensors() && own >= 0; ++t)
      if (g_.buffer_of(g_.tensor_of(s, t)) == tensor &&
          touches(g_.stages[s].computation.tensor(t), own))
        return true;
  }
  return false;
}

// What the first part makes for the second, itself or in place, unless it has a buffer already.
std::vector<int> FusionSearch::stored(const Group& g, int cut) const {
  std::vector<int> out;
  for (int made = g.begin; made < cut; ++made) {
    const int tensor = g_.made_by(made);
    if (g_.buffer_of(tensor) != tensor || g.buffers.contains(tensor) ||
        g_.is_result(g_.memory_of(tensor)) || idle(g, made))
      continue;
    for (int s = cut; s < g.end; ++s)
      if (g_.uses_buffer(s, tensor)) {
        out.push_back(tensor);
        break;
      }
  }
  return out;
}

Group FusionSearch::first(const Group& g, int cut) const {
  Group out = keeping(g, stored(g, cut));
  out.end = cut;
  return out;
}

// What the stages of a group have touched is so near then.
void FusionSearch::touch(Group& g, Level near) const {
  const std::vector<int>& memory = touched(g).memory;
  for (size_t t = 0; t < g.level.size(); ++t)
    if (std::binary_search(memory.begin(), memory.end(), g_.memory_of(static_cast<int>(t))))
      g.level[t] = std::min(g.level[t], near);
}

// It finds near what the first part has touched, where all fits, and some of it where not.
Group FusionSearch::second(const Group& g, int cut) const {
  Group out = first(g, cut);
  touch(out, nearest(g));
  for (const Left& left : left_near(g, cut))
    for (size_t t = 0; t < out.level.size(); ++t)
      if (g_.memory_of(static_cast<int>(t)) == left.memory)
        out.level[t] = std::min(out.level[t], left.level);
  out.begin = cut;
  out.end = g.end;
  return out;
}

// Its stages one after the other.
FusionSearch::Sum FusionSearch::one_by_one(const Group& g) const {
  Sum out;
  Group left = g;
  for (int cut = g.begin + 1; cut < g.end; ++cut) {
    const Group alone = first(left, cut);
    out.base = out.base + crossing(left, cut);
    out.parts.emplace_back(alone, 1);
    left = second(left, cut);
  }
  out.parts.emplace_back(left, 1);
  return out;
}

// What steps of a tile hand on to one another, and nobody behind the tile reads. A result lies
// where it is.
std::vector<int> FusionSearch::kept(const Group& g, const Option& o) const {
  if (!is_online(g_, o.dim, g.begin, g.end)) return {};
  const int max = g_.made_by(g_.online.max);
  return g.buffers.contains(max) || g_.is_result(max) ? std::vector<int>() : std::vector{max};
}

Group FusionSearch::keeping(const Group& g, const std::vector<int>& tensors) const {
  Group out = g;
  for (const int t : tensors) {
    out.buffers[t] = stored_shape(g_, t, g.extents);
    out.level[t] = nearest(g);
  }
  return out;
}

Group FusionSearch::in_steps(const Group& g, int dim, i64 extent) const {
  Group out = g;
  out.extents[dim] = extent;
  const Level near = nearest(out);
  for (const int t : touched(g).tensors)
    if (!depends(g, t, dim)) out.level[t] = std::min(out.level[t], near);
  return out;
}

Group FusionSearch::step(const Group& g, const Option& o, i64 extent, bool first) const {
  Group inside = g;
  if (o.parallel) {
    inside.threads = 1;
    inside.beside = true;
  } else {
    inside.tiled.insert(o.dim);
  }
  Group out = in_steps(inside, o.dim, extent);
  if (!first && sums_over(g_, o.dim, g.begin, g.end)) out.behind.insert(o.dim);
  out.carries |= !first && is_online(g_, o.dim, g.begin, g.end);
  out.coarse = o.coarse;
  if (o.asking) {
    out.asking = o.asking;
    Level& level = out.level[o.asking->tensor];
    level = std::min(level, std::max(o.asking->to, nearest(out)));
  }
  out.behind_lines = o.parallel || o.asking ? 0 : lines_behind(out, o.dim);
  out.no_nearer = !o.parallel && !options_.small_gains && !gains(g, o);
  return out;
}

// Whether stages one after the other in such steps could take less than in longer ones, or in none.
// Within L2 they do not where all that they touch is as far away: whatever they share lies there,
// and each stage can be tiled by itself. (Beyond, and for results that threads write again, see
// left_near(), lines_behind() and written_again().) Along neighbours in memory, though, steps of
// one, and of whole lines, are other layouts for what lies between (Zen 4, 5x5 over each of 672
// channels of 14x14, padded, AVX-512: in steps of 64 channels 94 us, whose rows of pixels L1 has,
// in steps of 256 130), and a rest may have other leaves than all that vectors divide. (60 random
// convolutions, mostly padded, by AVX2: 62 s of CPU before this, 35 now; by AVX-512 29 and 21;
// two of these programs cost more, by less than 1 %.)
bool FusionSearch::gains(const Group& g, const Option& o) const {
  if (o.asking || (g.beside && g.tiled.empty())) return true;
  if (const i64 element = neighbours(g, o.dim); element > 0) {
    const bool leaves_rest = o.longer == g.extents[o.dim] && o.longer % o.tile > 0;
    const bool whole_lines = o.tile * element % machine_.levels[kL1].line == 0;
    if (o.tile == 1 || whole_lines || leaves_rest) return true;
  }
  Group inside = g;
  inside.tiled.insert(o.dim);
  const Group step = in_steps(inside, o.dim, o.tile);
  const Level near = nearest(step);
  if (near > kL2 || lines_behind(step, o.dim) > 0) return true;
  const Group longer = in_steps(inside, o.dim, o.longer);
  return near < nearest(longer) || step.level != longer.level;
}

// Of something that stages make, and of which neighbours along a dim are neighbours in memory, the
// bytes of an element; 0: there is nothing.
i64 FusionSearch::neighbours(const Group& g, int dim) const {
  i64 out = 0;
  for (const int t : touched(g).tensors) {
    if (t < g_.params) continue;
    const std::vector<AxisMap>& axes = uses_[t].front().axes;
    const auto last = std::find_if(axes.rbegin(), axes.rend(), [&](const AxisMap& axis) {
      return extent_of(axis, g.extents) > 1;
    });
    if (last != axes.rend() && std::any_of(last->begin(), last->end(),
                                           [&](const AxisTerm& term) { return term.dim == dim; }))
      out = std::max<i64>(out, bytes(g_.tensors[t].dtype));
  }
  return out;
}

// Stages whose results are stored past the caches.
i64 FusionSearch::leaving(const Group& g) const {
  return std::count(leaves_.begin() + g.begin, leaves_.begin() + g.end, true);
}

// Lines that steps read from memory, of those that memory can have still to write then: for each
// stage that stores past the caches.
i64 FusionSearch::lines_behind(const Group& step, int dim) const {
  const i64 stages = leaving(step);
  i64 bytes = 0;
  if (stages == 0 || machine_.written_behind_bytes == 0) return 0;
  for (const int t : touched(step).tensors)
    if (t < g_.params && step.level[t] == kMemory && depends(step, t, dim))
      bytes += bytes_of(t, step.extents);
  return std::min(bytes, machine_.written_behind_bytes) / (stages * machine_.levels[kMemory].line);
}

// What a stage takes less where at most so many lines of what it stores are written behind it.
// Where reading and storing take turns, each of so little that what was stored last waits in front
// of memory while the next is read, both take less than one after the other. (Zen 4, x * f(x) of
// rows, 64 MiB, ns of a turn less than of both apart: 1 row of 4 KiB 107, 2 to 4 rows of 4 and 1 of
// 16 KiB 156 to 190, 32 KiB and more 20 to 170, with the noise of as much.)
Cost FusionSearch::hidden_behind(const Group& stage, i64 lines) const {
  if (lines == 0 || !leaves_[static_cast<size_t>(stage.begin)]) return {};
  const i64 made = bytes_of(g_.made_by(stage.begin), stage.extents) / machine_.levels[kMemory].line;
  return std::min(made, lines) * Cost::milli(machine_.streamed_line_millicycles);
}

// Of a stage that costs so much by itself.
Cost FusionSearch::written_behind(const Group& stage, Cost cost, i64 lines) const {
  return cost.finite() ? cost - std::min(cost, hidden_behind(stage, lines)) : cost;
}

// What the first step does not find near.
Cost FusionSearch::bring(const Group& g, const Option& o) const {
  const Group inner = step(g, o, o.tile, true);
  Cost total;
  for (const int t : touched(g).tensors)
    if (inner.level[t] < g.level[t] && !(o.asking && o.asking->tensor == t)) {
      const LevelDesc& from = machine_.levels[g.level[t]];
      total = total + ceil_div(bytes_of(t, g.extents), from.line) *
                          Cost::milli(from.prefetched_millicycles);
    }
  return total;
}

// What takes no room of what a cut leaves near: it is stored past the caches, or lies in steps of a
// loop that finds a maximum on the way and is over.
bool FusionSearch::passes(int memory, int cut) const {
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
    if (g_.memory_of(g_.made_by(s)) != memory) continue;
    const bool in_steps = s >= g_.online.begin && s < g_.online.end && cut >= g_.online.end &&
                          along_[memory].contains(g_.online.dim) && !g_.is_result(memory);
    if (!leaves_[s] && !in_steps) return false;
  }
  return memory >= g_.params;
}

// A cache that evicts what nobody has touched for longest still has an element if what was touched
// in between fits. Of what runs along with a memory from beginning to end that is what the first
// part had left to touch, and what the second has touched already: the longer the memory, the more
// of one and the less of the other. Of anything else it is all. (G, L2 2 MiB, softmax of rows of 1
// MiB: row by row, the maximum, exponentials stored in the result, and these scaled, 0.79 of the
// time of what reads x from L3 twice and makes exponentials twice, AVX-512, 8 rows; 0.82, 32 rows;
// AVX2 0.84, 0.88.)
std::optional<FusionSearch::Left> FusionSearch::left(const Group& g, int cut, int memory) const {
  const auto touches = [&](int stage, int m) {
    const std::vector<int>& all = touched_.at({stage, stage + 1}).memory;
    return std::binary_search(all.begin(), all.end(), m);
  };
  const Level level = nearest(g) - 1;
  const i64 room = this->room(level, g.beside), bytes = bytes_of(memory, g.extents);
  if (bytes > room) return {};
  int last = cut - 1, next = cut;
  while (!touches(last, memory)) --last;
  while (!touches(next, memory)) ++next;
  i64 all = bytes, before = 0, behind = 0;
  for (const int m : touched_.at({last, next + 1}).memory) {
    if (m == memory || passes(m, cut)) continue;
    bool along = touches(last, m) != touches(next, m) && along_[m] == along_[memory];
    for (int s = last + 1; s < next; ++s) along &= !touches(s, m);
    (!along ? all : touches(last, m) ? before : behind) += bytes_of(m, g.extents);
  }
  const i64 least = all + std::min(before, behind), most = all + std::max(before, behind);
  if (least > room) return {};
  const i64 lines = ceil_div(bytes, machine_.levels[level].line);
  const i64 gone = most <= room ? 0 : ceil_div(lines * (most - room), most - least);
  if (gone == lines) return {};
  return Left{memory, level, gone};
}

// Of L2 and L3 only: what a line from L2 costs more than one from L1 is soon covered. For several
// threads see nearest().
std::vector<FusionSearch::Left> FusionSearch::left_near(const Group& g, int cut) const {
  std::vector<Left> out;
  if (g.threads > 1 || nearest(g) <= kL2) return out;
  const std::vector<int>& behind = touched_.at({cut, g.end}).memory;
  for (const int m : touched_.at({g.begin, cut}).memory)
    if (std::binary_search(behind.begin(), behind.end(), m))
      if (const std::optional<Left> some = left(g, cut, m)) out.push_back(*some);
  return out;
}

Cost FusionSearch::coming_back(const Group& g, int cut) const {
  const auto line = [&](Level l) { return machine_.levels[l].prefetched_millicycles; };
  Cost total;
  for (const Left& some : left_near(g, cut))
    total =
        total + Cost::milli(some.gone * std::max<i64>(0, line(some.level + 1) - line(some.level)));
  return total;
}

// What a cut costs besides its parts.
Cost FusionSearch::crossing(const Group& g, int cut) const {
  return storing(first(g, cut), stored(g, cut)) + written_again(g, cut) + coming_back(g, cut);
}

// A thread that writes all of its share of a result again, behind a cut, has lost its borders to
// the others, who were at their ends. In tiles of the share it comes there once only. (G, two
// threads, AVX-512: softmax 8x1024 2.1 us, in two steps of two rows for each 1.1; the caller and
// the worker in memory of their own 1.5; AVX2 8x512 1.6 and 1.3, 8x1024 2.2 and 1.8.)
Cost FusionSearch::written_again(const Group& g, int cut) const {
  Cost total;
  if (!g.beside || !g.tiled.empty()) return total;
  for (int made = g.begin; made < cut; ++made) {
    const int memory = g_.memory_of(g_.made_by(made));
    if (!g_.is_result(memory) || idle(g, made)) continue;
    for (int again = cut; again < g.end; ++again)
      if (g_.memory_of(g_.made_by(again)) == memory) {
        total = total + border(machine_);
        break;
      }
  }
  return total;
}

// Buffers that have a border are filled with zeros first; what lies beyond L2 is written back from
// there, which nothing hides. (G: scores of attention over 4096 positions, 64 MiB, AVX2: the
// product that stores them takes 26.5 ms, 18.4 without this.)
Cost FusionSearch::storing(const Group& g, const std::vector<int>& stored) const {
  Cost total;
  for (const int t : stored) {
    const LevelDesc& at = machine_.levels[g.level[t]];
    const Cost once = ceil_div(bytes_of(t, g.extents), at.line) * Cost::milli(at.line_millicycles);
    if (!g_.stages[t - g_.params].border.empty()) total = total + once;
    if (g.level[t] > kL2) total = total + once;
  }
  return total;
}

}  // namespace morello
