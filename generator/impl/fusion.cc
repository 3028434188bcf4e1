#include "impl/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "impl/parts.h"
#include "impl/text.h"
#include "spec/build.h"

namespace morello {

GraphExtents whole(const Graph& g) {
  GraphExtents e;
  for (const GraphDim& d : g.dims) e.push_back(d.extent);
  return e;
}

namespace {

std::vector<i64> stage_extents(const Graph& g, int stage, const GraphExtents& extents) {
  std::vector<i64> own(g.stages[stage].computation.dims.size(), 1);
  for (size_t d = 0; d < g.dims.size(); ++d)
    if (const int dim = g.dims[d].in_stage[stage]; dim >= 0) own[dim] = extents[d];
  return own;
}

// Where elements lie that are a part of a tensor of this shape.
std::vector<Stride> strides_in(const Operand& o, const std::vector<i64>& shape) {
  const Layout layout = o.packed ? Layout::row(static_cast<int>(shape.size())) : o.layout;
  std::vector<Stride> strides(layout.digits.size());
  i64 next = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i].elements = next;
    next *= layout.extent(layout.digits[i], shape);
  }
  return strides;
}

// Of a tensor where no buffer is known: what a stage puts zeros around always lies within them, so
// that its dims are collapsed the same way whatever the extents.
std::vector<i64> shape_of(const Graph& g, int stage, int tensor) {
  const Computation& all = g.stages[stage].computation;
  const bool bordered = tensor == all.inputs() && !g.stages[stage].border.empty();
  return bordered ? stored_shape(g, g.made_by(stage), whole(g)) : all.tensor(tensor).shape;
}

Computation part_in_all_dims(const Graph& g, int stage, const GraphExtents& extents,
                             const Buffers& buffers) {
  const Computation& all = g.stages[stage].computation;
  Computation part = with_extents(all, stage_extents(g, stage, extents));
  for (int t = 0; t < all.tensors(); ++t) {
    Operand& o = part.tensor(t);
    const auto buffer = buffers.find(g.buffer_of(g.tensor_of(stage, t)));
    const std::vector<i64> shape = buffer == buffers.end() ? shape_of(g, stage, t) : buffer->second;
    if (!o.shape.empty() && o.shape != shape && !o.strided) o.strides = strides_in(o, shape);
  }
  return part;
}

}  // namespace

std::vector<std::pair<int, int>> shared_memory(const Graph& g) {
  std::vector<std::pair<int, int>> out;
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s)
    if (const int t = g.made_by(s); g.memory_of(t) != t && !g.is_carried(s))
      out.emplace_back(t, g.memory_of(t));
  return out;
}

std::vector<i64> stored_shape(const Graph& g, int tensor, const GraphExtents& extents) {
  if (tensor < g.params) return morello::extents(g.tensors[tensor].shape);
  const int stage = tensor - g.params;
  const Stage& s = g.stages[stage];
  std::vector<i64> shape =
      with_extents(s.computation, stage_extents(g, stage, extents)).output().shape;
  for (size_t axis = 0; axis < s.border.size(); ++axis)
    shape[axis] += s.border[axis].low + s.border[axis].high;
  return shape;
}

std::string buffer_text(const Graph& g, int tensor, const GraphExtents& extents) {
  return fmt::format("{}[{}]{}", name(g.tensors[tensor].dtype),
                     fmt::join(stored_shape(g, tensor, extents), ","),
                     g.stages[tensor - g.params].border.empty() ? "" : " bordered");
}

Computation stage_part(const Graph& g, int stage, const GraphExtents& extents,
                       const Buffers& buffers) {
  return collapse(part_in_all_dims(g, stage, extents, buffers));
}

bool is_whole(const Graph& g, int stage, const GraphExtents& extents) {
  return stage_extents(g, stage, extents) == stage_extents(g, stage, whole(g));
}

bool has_dims_of_whole(const Graph& g, int stage, const GraphExtents& extents,
                       const Buffers& buffers) {
  return collapsed_dims(part_in_all_dims(g, stage, extents, buffers)) ==
         collapsed_dims(part_in_all_dims(g, stage, whole(g), {}));
}

Offset advance(const Graph& g, int stage, int o, const Buffers& buffers, int dim, i64 step,
               const Problem& problem) {
  const int own = g.dims[dim].in_stage[stage];
  if (own < 0 || !touches(g.stages[stage].computation.tensor(o), own)) return 0;
  // Of what is packed ahead of time a part is found in whole panels; its dims are not collapsed
  // (search/optimize_fusion.cc). Panels may be of another type than the kernel multiplies.
  if (problem.computation->tensor(o).packed && !problem.family.packed[o].digits.empty())
    return problem.root_address(o).advance(own, step);
  const Computation part = part_in_all_dims(g, stage, whole(g), buffers);
  return given_address(part, o).advance(own, step);
}

bool is_online(const Graph& g, int dim, int begin, int end) {
  return dim == g.online.dim && begin <= g.online.begin && g.online.end <= end;
}

bool sums_over(const Graph& g, int dim, int begin, int end) {
  for (int s = begin; s < end; ++s)
    if (const int own = g.dims[dim].in_stage[s];
        own >= 0 && g.stages[s].computation.dims[own].reduction)
      return true;
  return false;
}

bool sums_over(const Graph& g, const std::set<int>& dims, int stage) {
  return std::any_of(dims.begin(), dims.end(),
                     [&](int d) { return sums_over(g, d, stage, stage + 1); });
}

i64 block_along(const Graph& g, int dim, int begin, int end) {
  i64 block = 1;
  for (int s = begin; s < end; ++s) {
    const Computation& c = g.stages[s].computation;
    const int own = g.dims[dim].in_stage[s];
    for (int t = 0; t < c.tensors(); ++t)
      for (const Digit& d : c.tensor(t).layout.digits)
        if (c.tensor(t).axes.size() > static_cast<size_t>(d.axis) && d.mod == 0 &&
            std::any_of(c.tensor(t).axes[d.axis].begin(), c.tensor(t).axes[d.axis].end(),
                        [&](const AxisTerm& a) { return a.dim == own; }))
          block = std::lcm(block, d.div);
  }
  return block;
}

bool keeps_panels(const Graph& g, int stage, int dim, i64 tile, const Family& family) {
  const Computation& c = g.stages[stage].computation;
  const int own = g.dims[dim].in_stage[stage];
  for (int o = 0; o < c.inputs(); ++o) {
    if (!c.operands[o].packed || !touches(c.operands[o], own)) continue;
    const std::vector<Digit>& order = family.packed[o].digits;
    if (family.streams > 1 || family.apart >= 0 || collapse(c).dims.size() != c.dims.size() ||
        order.empty() || order[0].axis != own || tile % order[0].div != 0)
      return false;
  }
  return true;
}

// The stages in [begin, end) that write where a tensor lies: its maker, and those that make others
// of it in place.
static std::vector<int> writers_of(const Graph& g, int tensor, int begin, int end) {
  std::vector<int> out;
  for (int s = begin; s < end; ++s)
    if (g.memory_of(g.made_by(s)) == g.memory_of(tensor)) out.push_back(s);
  return out;
}

// Whether windows along a dim of its stage reach beyond it.
static bool has_zeros(const Operand& o, int dim) {
  for (size_t axis = 0; axis < o.zeros.size(); ++axis)
    for (const AxisTerm& t : o.axes[axis])
      if (t.dim == dim && o.zeros[axis] != Border{}) return true;
  return false;
}

// Why operand or extra t of a stage does not read along a dim what `writer` writes along it; empty
// when it does.
static std::string crosses(const Graph& g, const GraphDim& d, int writer, int stage, int t) {
  const Operand &made = g.stages[writer].computation.output(),
                &used = g.stages[stage].computation.tensor(t);
  const int written = d.in_stage[writer], read = d.in_stage[stage];
  const auto along = [](const AxisMap& a, int of) {
    return a.size() == 1 && a[0].dim == of && a[0].coefficient == 1;
  };
  const std::string& name = g.tensors[g.tensor_of(stage, t)].name;
  for (size_t axis = 0; axis < made.axes.size() && written >= 0; ++axis) {
    const std::vector<Border>& border = g.stages[writer].border;
    if (!border.empty() && border[axis] != Border{} && along(made.axes[axis], written))
      return fmt::format("{} has a border along {}", name, d.name);
    if (used.axes.empty() || along(made.axes[axis], written) != along(used.axes[axis], read))
      return fmt::format("{} is used along another axis than it is written", name);
  }
  return "";
}

std::string tile_problem(const Graph& g, int dim, int begin, int end) {
  const GraphDim& d = g.dims[dim];
  const bool online = is_online(g, dim, begin, end);
  bool any = false;
  for (int s = begin; s < end; ++s) {
    if (dim == g.online.dim && g.is_carried(s)) continue;
    any = true;
    const Computation& c = g.stages[s].computation;
    const int own = d.in_stage[s];
    if (own < 0) return fmt::format("stage {} has no {}", s, d.name);
    if (c.dims[own].reduction && !c.gathers_in_output())
      return fmt::format("stage {} has its sums over {} nowhere", s, d.name);
    for (int t = 0; t < c.tensors(); ++t) {
      if (has_zeros(c.tensor(t), own))
        return fmt::format("zeros lie around {} along {}", c.tensor(t).name, d.name);
      if (t == c.inputs()) continue;
      const int tensor = g.tensor_of(s, t);
      for (const int writer : writers_of(g, tensor, begin, end)) {
        const bool so_far = online && writer == g.online.max && s == g.online.exp;
        if (sums_over(g, dim, writer, writer + 1) && !so_far)
          return fmt::format("{} is a sum over {}", g.tensors[tensor].name, d.name);
        if (std::string why = crosses(g, d, writer, s, t); !why.empty()) return why;
      }
    }
  }
  return any ? "" : fmt::format("no stage has {}", d.name);
}

namespace {

class Printer {
 public:
  explicit Printer(const Fusion& f) : f_(f), g_(*f.graph) {}
  std::string text;

  void node(const FusedPtr& n, int depth, const GraphExtents& extents) {
    std::visit([&](const auto& x) { print(x, depth, extents); }, n->node);
  }

 private:
  void line(int depth, const std::string& words) {
    text += std::string(static_cast<size_t>(2 * depth), ' ') + words + "\n";
  }
  void print(const Tile& t, int depth, GraphExtents extents) {
    const i64 extent = extents[t.dim];
    line(depth,
         fmt::format("{} {} by {}", t.parallel ? "parallel" : "loop", g_.dims[t.dim].name, t.tile));
    extents[t.dim] = t.tile;
    if (t.next) line(depth, "first");
    node(t.body, depth + 1, extents);
    if (t.next) {
      line(depth, "body");
      node(t.next, depth + 1, extents);
    }
    if (!t.rest) return;
    extents[t.dim] = extent % t.tile;
    line(depth, fmt::format("rest {}", extents[t.dim]));
    node(t.rest, depth + 1, extents);
  }
  void print(const Sequence& s, int depth, const GraphExtents& extents) {
    std::vector<std::string> names;
    for (const int t : s.stored)
      names.push_back(fmt::format("{} {}", g_.tensors[t].name, buffer_text(g_, t, extents)));
    if (!names.empty()) line(depth++, fmt::format("with {}", fmt::join(names, ", ")));
    for (const FusedPtr& part : s.parts) node(part, depth, extents);
  }
  void print(const StageCall& r, int depth, const GraphExtents&) {
    const StageProgram& p = f_.programs[r.program];
    line(depth, fmt::format("{}{}: {} cycles, {}, {}", g_.tensors[g_.made_by(p.stage)].name,
                            p.problem.part.adds ? " adding" : "", p.cost_cycles, places(p),
                            p.problem.family.str(*p.computation)));
    const std::string inner = morello::print(p.problem, *p.impl);
    for (size_t at = 0; at < inner.size();) {
      const size_t end = std::min(inner.find('\n', at), inner.size());
      line(depth + 1, inner.substr(at, end - at));
      at = end + 1;
    }
  }

  // Threads, where it has some to itself, what it asks for, and levels of operands.
  static std::string places(const StageProgram& p) {
    const Part& part = p.problem.part;
    std::string out;
    if (!part.beside && p.problem.threads > 1) out = fmt::format("threads={} ", p.problem.threads);
    const std::vector<Operand>& operands = p.computation->operands;
    if (part.asked >= 0)
      out += fmt::format("asks={} ahead={} ", operands[part.asked].name, part.asked_bytes);
    if (part.asked >= 0 && part.asked_to != kL1)
      out += fmt::format("to={} ", level_name(part.asked_to));
    for (size_t o = 0; o < operands.size(); ++o)
      out += fmt::format("{}{}@{}", o > 0 ? " " : "", operands[o].name, level_name(part.home[o]));
    if (p.computation->extras.empty()) return out;
    return out + fmt::format(" {}@{}", kExtrasName, level_name(part.home[kMaxOperands]));
  }

  const Fusion& f_;
  const Graph& g_;
};

class Interpreter {
 public:
  Interpreter(const Fusion& f, const std::vector<std::vector<double>>& params)
      : f_(f), g_(*f.graph), values_(params) {
    for (size_t t = params.size(); t < g_.tensors.size(); ++t)
      values_.emplace_back(count_elements(morello::extents(g_.tensors[t].shape)), kNan);
  }

  std::vector<double> run() {
    node(f_.root, whole(g_), std::vector<i64>(g_.dims.size(), 0));
    std::vector<double> out;
    for (const int t : g_.results) out.insert(out.end(), values_[t].begin(), values_[t].end());
    return out;
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  void node(const FusedPtr& n, const GraphExtents& extents, const std::vector<i64>& at) {
    std::visit([&](const auto& x) { run(x, extents, at); }, n->node);
  }
  // Tasks run backwards: one that needs what another has made shows it.
  void run(const Tile& t, GraphExtents extents, std::vector<i64> at) {
    const i64 extent = extents[t.dim], from = at[t.dim];
    for (i64 i = 0; i < extent; i += t.tile) {
      const i64 done = t.parallel ? (extent - 1) / t.tile * t.tile - i : i;
      extents[t.dim] = std::min(t.tile, extent - done);
      at[t.dim] = from + done;
      node(extents[t.dim] != t.tile ? t.rest : done > 0 && t.next ? t.next : t.body, extents, at);
    }
  }
  void run(const Sequence& s, const GraphExtents& extents, const std::vector<i64>& at) {
    for (const int t : s.stored) clear(t);
    for (const FusedPtr& part : s.parts) node(part, extents, at);
  }
  void run(const StageCall& r, const GraphExtents& extents, const std::vector<i64>& at) {
    const StageProgram& p = f_.programs[r.program];
    const Computation& all = g_.stages[p.stage].computation;
    const Computation part = with_extents(all, stage_extents(g_, p.stage, extents));
    const std::vector<i64> begin = [&] {
      std::vector<i64> out(all.dims.size(), 0);
      for (size_t d = 0; d < g_.dims.size(); ++d)
        if (const int own = g_.dims[d].in_stage[p.stage]; own >= 0) out[own] = at[d];
      return out;
    }();
    std::vector<std::vector<double>> inputs;
    for (int t = 0; t < all.tensors(); ++t) {
      if (t == all.inputs()) continue;
      inputs.push_back(values_of_part(all.tensor(t), part.tensor(t), begin,
                                      values_[g_.memory_of(g_.tensor_of(p.stage, t))]));
    }
    const std::vector<double> made = interpret(p.problem, *p.impl, inputs);
    std::vector<double>& to = values_[g_.memory_of(g_.made_by(p.stage))];
    each_made(p.stage, part.output(), begin, [&](size_t i, size_t there) {
      double& value = to.at(there);
      value = p.problem.part.adds
                  ? apply(*fn_def(joined_by(all.combine)), all.compute, value, made[i])
                  : made[i];
    });
  }

  // each_element() of what a stage makes, in its tensor: inside the border.
  void each_made(int stage, const Operand& part, const std::vector<i64>& at, auto visit) const {
    Operand whole = g_.stages[stage].computation.output();
    whole.shape = morello::extents(g_.tensors[g_.made_by(stage)].shape);
    const auto first = static_cast<size_t>(g_.first_inside(stage, whole.shape));
    each_element(whole, part, at, [&](size_t i, size_t there) { visit(i, first + there); });
  }

  // Nothing is in a buffer but zeros around it.
  void clear(int tensor) {
    const int stage = tensor - g_.params;
    std::vector<double>& values = values_[tensor];
    std::fill(values.begin(), values.end(), g_.stages[stage].border.empty() ? kNan : 0);
    if (g_.stages[stage].border.empty()) return;
    const Computation& c = g_.stages[stage].computation;
    each_made(stage, c.output(), std::vector<i64>(c.dims.size(), 0),
              [&](size_t, size_t there) { values.at(there) = kNan; });
  }

  const Fusion& f_;
  const Graph& g_;
  std::vector<std::vector<double>> values_;
};

class Verifier {
 public:
  explicit Verifier(const Fusion& f) : f_(f), g_(*f.graph) {}

  std::string run() {
    int next = 0;
    std::string why = node(f_.root, {.extents = whole(g_)}, next);
    if (why.empty() && next != static_cast<int>(g_.stages.size()))
      return fmt::format("{} of {} stages", next, g_.stages.size());
    return why;
  }

 private:
  // What the nodes around one say.
  struct Here {
    GraphExtents extents;
    Buffers buffers = {};
    std::vector<const Tile*> tiles = {};
    std::set<int> behind = {};  // dims, of which this is not the first step
    bool carries = false;       // carried stages have something to do
    bool beside = false;        // in one of several tasks
  };

  std::string node(const FusedPtr& n, const Here& here, int& next) {
    return std::visit([&](const auto& x) { return check(x, here, next); }, n->node);
  }
  std::string check(const Tile& t, Here here, int& next) {
    const i64 extent = here.extents[t.dim];
    const int begin = next;
    if (t.tile < 1 || t.tile >= extent || (extent % t.tile != 0) != (t.rest != nullptr))
      return fmt::format("{} in steps of {}", extent, t.tile);
    if (t.parallel && (here.beside || f_.threads < 2)) return "there is one thread here";
    here.beside |= t.parallel;
    here.tiles.push_back(&t);
    here.extents[t.dim] = t.tile;
    if (std::string why = node(t.body, here, next); !why.empty()) return why;
    const int end = next;
    const bool sums = sums_over(g_, t.dim, begin, end);
    if (sums && t.parallel) return "threads would add to one sum";
    if ((t.next != nullptr) != (sums && extent / t.tile > 1))
      return sums ? "no step adds" : "a step adds where nothing is a sum";
    here.behind.insert(t.dim);
    here.carries |= is_online(g_, t.dim, begin, end);
    for (const FusedPtr& other : {t.next, t.rest}) {
      if (!other) continue;
      next = begin;
      here.extents[t.dim] = other == t.rest ? extent % t.tile : t.tile;
      if (std::string why = node(other, here, next); !why.empty()) return why;
      if (next != end) return "other stages in another step";
    }
    if (const i64 block = block_along(g_, t.dim, begin, end); t.tile % block != 0)
      return fmt::format("steps of {} cut blocks of {}", t.tile, block);
    const int max = g_.made_by(g_.online.max);
    if (is_online(g_, t.dim, begin, end) && !here.buffers.contains(max) && !g_.is_result(max))
      return fmt::format("{} is not kept from step to step", g_.tensors[max].name);
    return tile_problem(g_, t.dim, begin, end);
  }
  std::string check(const Sequence& s, Here here, int& next) {
    for (const int t : s.stored) {
      if (t < g_.params || g_.is_result(g_.memory_of(t)))
        return "a buffer for a parameter or the result";
      if (g_.buffer_of(t) != t) return fmt::format("{} has a buffer already", g_.tensors[t].name);
      if (!here.buffers.emplace(t, stored_shape(g_, t, here.extents)).second)
        return "a buffer in a buffer";
    }
    const int begin = next;
    for (const FusedPtr& part : s.parts)
      if (std::string why = node(part, here, next); !why.empty()) return why;
    for (const int t : s.stored)
      if (t < g_.made_by(begin) || t >= g_.made_by(next))
        return fmt::format("{} is not made where its buffer is", g_.tensors[t].name);
    return "";
  }
  std::string check(const StageCall& r, const Here& here, int& next) {
    const StageProgram& p = f_.programs[r.program];
    while (!here.carries && g_.is_carried(next)) ++next;
    if (p.stage != next++) return fmt::format("stage {} is not the next one", p.stage);
    if (*p.computation != stage_part(g_, p.stage, here.extents, here.buffers))
      return fmt::format("another part of stage {}", p.stage);
    if (p.problem.part.adds != sums_over(g_, here.behind, p.stage))
      return fmt::format("stage {} adds in another step", p.stage);
    if (p.problem.part.beside != here.beside || p.problem.threads > f_.threads)
      return fmt::format("stage {} has other threads", p.stage);
    const std::vector<Operand>& operands = p.computation->operands;
    if (std::any_of(operands.begin(), operands.end(), [](const Operand& o) { return o.packed; }) &&
        !has_dims_of_whole(g_, p.stage, here.extents, here.buffers))
      return fmt::format("stage {} is packed in other dims", p.stage);
    for (const Tile* t : here.tiles)
      if (!keeps_panels(g_, p.stage, t->dim, t->tile, p.problem.family))
        return fmt::format("steps of {} cut panels of stage {}", t->tile, p.stage);
    for (const StageProgram& other : f_.programs)
      if (other.stage == p.stage &&
          !packs_alike(other.problem.family, p.problem.family, *p.computation))
        return fmt::format("programs of stage {} pack in several ways", p.stage);
    for (int t = 0; t < g_.stages[p.stage].computation.tensors(); ++t)
      if (const int tensor = g_.buffer_of(g_.tensor_of(p.stage, t));
          tensor >= g_.params && !g_.is_result(g_.memory_of(tensor)) &&
          !here.buffers.contains(tensor))
        return fmt::format("{} has no buffer", g_.tensors[tensor].name);
    return verify(p.problem, p.problem.root(), *p.impl);
  }

  const Fusion& f_;
  const Graph& g_;
};

}  // namespace

const StageProgram& dearest(const Fusion& f) {
  return *std::max_element(
      f.programs.begin(), f.programs.end(),
      [](const StageProgram& a, const StageProgram& b) { return a.cost_cycles < b.cost_cycles; });
}

// What it is a program of.
static std::string head(const Fusion& f) {
  const Graph& g = *f.graph;
  std::string out;
  if (f.threads > 1) out += fmt::format("threads {}\n", f.threads);
  if (g.online.dim >= 0)
    out += fmt::format("online {}\n", g.dims[g.online.dim].name);
  else if (g.apart)
    out += "sums apart\n";
  if (g.pads_out == PadsOut::kFirst) out += "first ";
  if (g.pads_out != PadsOut::kNone) out += "pads left out\n";
  if (g.result_apart) out += "result apart\n";
  for (const auto& [made, of] : shared_memory(g))
    out += fmt::format("{} in {}\n", g.tensors[made].name, g.tensors[of].name);
  return out;
}

std::string print(const Fusion& f) {
  Printer printer(f);
  printer.text = head(f);
  printer.node(f.root, 0, whole(*f.graph));
  return printer.text;
}

std::vector<double> interpret(const Fusion& f, const std::vector<std::vector<double>>& params) {
  return Interpreter(f, params).run();
}

std::string verify(const Fusion& f) { return Verifier(f).run(); }

}  // namespace morello
