// Loops over tiles of several stages (impl/fusion.h) as code: one function per program, one per
// parallel tile for its tasks, and `run` around them. Pointers are those of operands of stages, not
// of tensors: a tensor that is used through two access maps moves differently in each.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/nest.h"
#include "codegen/operand.h"
#include "codegen/workspace.h"

namespace morello {
namespace {

// A program that takes as long is a function of its own, whatever the compiler thinks of functions
// that are called once: together with others GCC 12 spills the sums of a register tile (attention
// over 1024 positions, 64 wide, AVX-512: 2.62 ms, apart 1.91). Calls cost some 20 cycles (softmax
// of one row of 512 with AVX-512, programs of 80 to 200 cycles: 0.10 us, apart 0.11).
constexpr i64 kApartCycles = 2000;

using Pointers = std::map<std::pair<int, int>, std::string>;  // of stage and operand

// A node, with all that the nodes around it say.
struct Here {
  GraphExtents extents;
  Buffers buffers;
  Pointers at;
  std::string arena;  // pointer to the first byte that nobody around uses
};

class FusionWriter {
 public:
  FusionWriter(Library& library, const Fusion& f, const std::string& stem)
      : f_(f), g_(*f.graph), library_(library), stem_(stem) {}
  NestCode code();

 private:
  i64 arena_bytes(const FusedPtr& n, const GraphExtents& extents) const;
  i64 task_bytes(const Tile& t, const GraphExtents& extents) const;
  i64 stored_bytes(int tensor, const GraphExtents& extents) const {
    return round_up_to_line(count_elements(stored_shape(g_, tensor, extents)) *
                            bytes(g_.tensors[tensor].dtype));
  }
  i64 tasks(const Tile& t, const GraphExtents& extents) const {
    return (extents[t.dim] + t.tile - 1) / t.tile;
  }
  std::set<int> programs_in(const FusedPtr& n) const;
  // Operands of the stages in there, each with a program that has it; of these, what lies outside.
  std::map<std::pair<int, int>, int> operands_in(const FusedPtr& n) const;
  std::map<std::pair<int, int>, int> given(const FusedPtr& n, const Here& here) const;
  const std::string& type(std::pair<int, int> operand, int program) const {
    return programs_[program].pointers[operand.second];
  }

  void emit(Writer& w, const FusedPtr& n, const Here& here);
  void node(Writer& w, const FusedPtr& n, const Tile& t, const Here& here);
  void node(Writer& w, const FusedPtr& n, const Sequence& s, const Here& here);
  void node(Writer& w, const FusedPtr& n, const StageCall& r, const Here& here);
  void parallel(Writer& w, const FusedPtr& n, const Tile& t, const Here& here);
  Here step(const Here& here, const Tile& t, i64 extent) const;
  std::string chunk(const FusedPtr& n, const Tile& t, const Here& here);
  void packers();
  void fence(Writer& w) {
    if (std::exchange(streams_, false)) w.code(f_.programs[0].problem.family.isa->fence);
  }
  // The symbol of a stride of the kernel: with the number of an argument in place of an operand's.
  int of_kernel(int stage, int symbol) const {
    const int tensor = g_.tensor_of(stage, symbol / kMostDigits);
    const auto result = std::find(g_.results.begin(), g_.results.end(), tensor);
    const int number =
        tensor < g_.params ? tensor : g_.params + static_cast<int>(result - g_.results.begin());
    return stride_symbol(number, symbol % kMostDigits);
  }
  // By how much an operand goes on with a step of a tile; "" if by nothing.
  std::string step_text(std::pair<int, int> operand, int program, const Here& here,
                        const Tile& t) const {
    const Offset by = advance(g_, operand.first, operand.second, here.buffers, t.dim, t.tile,
                              f_.programs[program].problem);
    Offset out(by.fixed());
    for (const auto& [symbol, times] : by.strides())
      out += Offset::of(of_kernel(operand.first, symbol), times, 0);
    return by == 0 ? "" : text(out);
  }
  void list_strides();
  std::string moved(const std::string& pointer, i64 by) const {
    return by == 0 ? pointer : fmt::format("{} + {}", pointer, by);
  }

  const Fusion& f_;
  const Graph& g_;
  Library& library_;
  const std::string& stem_;
  std::vector<ProgramCode> programs_;
  std::string chunks_;
  Names names_;
  int chunk_count_ = 0;
  bool parallel_ = false;
  bool streams_ = false;  // some program since the last fence does
  NestCode out_;
};

i64 FusionWriter::task_bytes(const Tile& t, const GraphExtents& extents) const {
  GraphExtents inner = extents;
  inner[t.dim] = t.tile;
  i64 most = arena_bytes(t.body, inner);
  // Programs of their own, which may store more than the body: stages less divided.
  if (t.next) most = std::max(most, arena_bytes(t.next, inner));
  inner[t.dim] = extents[t.dim] % t.tile;
  if (t.rest) most = std::max(most, arena_bytes(t.rest, inner));
  return round_up_to_line(most);
}

// Of the function that this is in. Tasks have an array of their own, or a part of the workspace.
i64 FusionWriter::arena_bytes(const FusedPtr& n, const GraphExtents& extents) const {
  if (const StageCall* r = std::get_if<StageCall>(&n->node))
    return programs_[r->program].workspace_bytes;
  if (const Tile* t = std::get_if<Tile>(&n->node)) {
    const i64 each = task_bytes(*t, extents);
    return !t->parallel ? each : each > kLocalBytes ? tasks(*t, extents) * each : 0;
  }
  const Sequence& s = std::get<Sequence>(n->node);
  i64 own = 0, most = 0;
  for (const int t : s.stored) {
    own += stored_bytes(t, extents);
  }
  for (const FusedPtr& part : s.parts) most = std::max(most, arena_bytes(part, extents));
  return own + most;
}

std::set<int> FusionWriter::programs_in(const FusedPtr& n) const {
  if (const StageCall* r = std::get_if<StageCall>(&n->node)) return {r->program};
  std::set<int> out;
  if (const Tile* t = std::get_if<Tile>(&n->node)) {
    for (const FusedPtr& part : {t->body, t->next, t->rest})
      if (part) out.merge(programs_in(part));
    return out;
  }
  for (const FusedPtr& part : std::get<Sequence>(n->node).parts) out.merge(programs_in(part));
  return out;
}

std::map<std::pair<int, int>, int> FusionWriter::operands_in(const FusedPtr& n) const {
  std::map<std::pair<int, int>, int> out;
  for (const int program : programs_in(n)) {
    const int stage = f_.programs[program].stage;
    for (int t = 0; t < g_.stages[stage].computation.tensors(); ++t)
      out.emplace(std::pair(stage, t), program);
  }
  return out;
}

std::map<std::pair<int, int>, int> FusionWriter::given(const FusedPtr& n, const Here& here) const {
  auto out = operands_in(n);
  std::erase_if(out, [&](const auto& o) { return !here.at.contains(o.first); });
  return out;
}

void FusionWriter::emit(Writer& w, const FusedPtr& n, const Here& here) {
  std::visit([&](const auto& x) { node(w, n, x, here); }, n->node);
}

Here FusionWriter::step(const Here& here, const Tile& t, i64 extent) const {
  Here out = here;
  out.extents[t.dim] = extent;
  return out;
}

void FusionWriter::node(Writer& w, const FusedPtr& n, const Tile& t, const Here& here) {
  if (t.parallel) return parallel(w, n, t, here);
  const i64 extent = here.extents[t.dim];
  Here inside = step(here, t, t.tile);
  std::vector<std::string> advances;
  for (const auto& [operand, program] : given(n, here)) {
    const std::string by = step_text(operand, program, here, t);
    if (by.empty()) continue;
    std::string& name = inside.at[operand];
    name = names_.fresh(g_.tensors[g_.tensor_of(operand.first, operand.second)].name);
    w.line("{} {} = {};", type(operand, program), name, here.at.at(operand));
    advances.push_back(fmt::format("{} += {};", name, by));
  }
  if (t.next) {
    emit(w, t.body, inside);
    for (const std::string& a : advances) w.line("{}", a);
  }
  w.open("for (std::ptrdiff_t {0} = {1}; {0} < {2}; ++{0})", names_.fresh("i"), t.next ? 1 : 0,
         extent / t.tile);
  emit(w, t.next ? t.next : t.body, inside);
  for (const std::string& a : advances) w.line("{}", a);
  w.close();
  if (!t.rest) return;
  inside.extents[t.dim] = extent % t.tile;
  emit(w, t.rest, inside);
}

void FusionWriter::node(Writer& w, const FusedPtr& n, const Sequence& s, const Here& here) {
  Here inside = here;
  i64 used = 0;
  for (const int t : s.stored) {
    const std::string name = names_.fresh(g_.tensors[t].name);
    w.line("{0} {1} = static_cast<{0}>(static_cast<void*>({2}));",
           mutable_pointer(g_.tensors[t].dtype), name, moved(here.arena, used));
    used += stored_bytes(t, here.extents);
    const std::vector<i64>& shape = inside.buffers[t] = stored_shape(g_, t, here.extents);
    const int maker = t - g_.params;
    if (!g_.stages[maker].border.empty())
      w.line("__builtin_memset({}, 0, {});", name,
             count_elements(shape) * bytes(g_.tensors[t].dtype));
    for (const auto& [operand, program] : operands_in(n)) {
      if (g_.buffer_of(g_.tensor_of(operand.first, operand.second)) != t) continue;
      const bool makes = operand.first == maker;
      inside.at[operand] = makes ? moved(name, g_.first_inside(maker, shape)) : name;
    }
  }
  inside.arena = moved(here.arena, used);
  for (const FusedPtr& part : s.parts) emit(w, part, inside);
}

void FusionWriter::node(Writer& w, const FusedPtr&, const StageCall& r, const Here& here) {
  const ProgramCode& p = programs_[r.program];
  const int stage = f_.programs[r.program].stage;
  std::vector<std::string> args;
  for (int t = 0; t < g_.stages[stage].computation.tensors(); ++t)
    args.push_back(here.at.at({stage, t}));
  for (const int s : p.strides) args.push_back(stride_name(of_kernel(stage, s)));
  if (p.workspace_bytes > 0) args.push_back(here.arena);
  if (p.parallel) args.emplace_back("pool");
  parallel_ |= p.parallel;
  streams_ |= p.streams;
  w.line("{}({});", p.name, fmt::join(args, ", "));
}

void FusionWriter::parallel(Writer& w, const FusedPtr& n, const Tile& t, const Here& here) {
  parallel_ = true;
  const std::string function = chunk(n, t, here);
  std::vector<std::string> values;
  for (const auto& [operand, program] : given(n, here)) values.push_back(here.at.at(operand));
  for (const int s : out_.strides) values.push_back(stride_name(s));
  if (task_bytes(t, here.extents) > kLocalBytes) values.push_back(here.arena);
  const i64 count = tasks(t, here.extents);
  const std::string data = names_.fresh("data"), i = names_.fresh("i");
  w.line("{}_data {} = {{{}}};", function, data, fmt::join(values, ", "));
  w.line("MORELLO_SHARED(&{});", data);
  w.open("if (pool.run != nullptr)");
  w.line("pool.run(pool.context, {}, {}, &{});", count, function, data);
  w.otherwise();
  w.line("for (std::size_t {0} = 0; {0} < {1}; ++{0}) {2}(&{3}, {0});", i, count, function, data);
  w.close();
}

// The function for one task of a parallel tile.
std::string FusionWriter::chunk(const FusedPtr& n, const Tile& t, const Here& here) {
  const std::string name = fmt::format("{}tile_{}", stem_, chunk_count_++);
  Writer fields(1), w(1);
  Here inside = step(here, t, t.tile);
  w.line("const {0}_data* data = static_cast<const {0}_data*>(argument);", name);
  w.line("const std::ptrdiff_t task = static_cast<std::ptrdiff_t>(index);");
  for (const int s : out_.strides)
    w.line("[[maybe_unused]] const std::ptrdiff_t {0} = data->{0};", stride_name(s));
  for (const auto& [operand, program] : given(n, here)) {
    const std::string field = fmt::format("operand_{}_{}", operand.first, operand.second);
    fields.line("{} {};", type(operand, program), field);
    const std::string by = step_text(operand, program, here, t);
    std::string& pointer = inside.at[operand];
    pointer = names_.fresh(g_.tensors[g_.tensor_of(operand.first, operand.second)].name);
    w.line("{} {} = data->{}{};", type(operand, program), pointer, field,
           by.empty() ? "" : fmt::format(" + task * {}", by));
  }
  for (const int s : out_.strides) fields.line("std::ptrdiff_t {};", stride_name(s));
  const i64 each = task_bytes(t, here.extents);
  inside.arena = names_.fresh("arena");
  if (each > kLocalBytes) {
    fields.line("unsigned char* workspace;");
    w.line("unsigned char* {} = data->workspace + task * {};", inside.arena, each);
  } else if (each > 0) {
    w.line("alignas(64) unsigned char {}[{}];", inside.arena, each);
    w.line("MORELLO_SHARED({});", inside.arena);
  }
  const i64 extent = here.extents[t.dim];
  const bool outside = std::exchange(streams_, false);
  if (t.rest) w.open("if (task < {})", extent / t.tile);
  emit(w, t.body, inside);
  if (t.rest) {
    inside.extents[t.dim] = extent % t.tile;
    w.otherwise();
    emit(w, t.rest, inside);
    w.close();
  }
  fence(w);
  streams_ = outside;
  chunks_ += fmt::format(
      "struct {0}_data {{\n{1}}};\nMORELLO_UNUSED MORELLO_TARGET static void {0}(void* argument, "
      "std::size_t index) noexcept {{\n{2}}}\n",
      name, fields.text(), w.text());
  return name;
}

// One program of each stage says how its operands are packed; all of them find them so.
void FusionWriter::packers() {
  for (int stage = 0; stage < static_cast<int>(g_.stages.size()); ++stage) {
    const Stage& s = g_.stages[stage];
    const auto of_stage = std::find_if(f_.programs.begin(), f_.programs.end(),
                                       [&](const StageProgram& p) { return p.stage == stage; });
    for (int o = 0; o < s.computation.inputs(); ++o) {
      if (!s.computation.operands[o].packed) continue;
      const Computation all = stage_part(g_, stage, whole(g_), {});
      Problem problem = of_stage->problem;
      problem.computation = &all;
      out_.packers[g_.tensor_of(stage, o)] = emit_packers(library_, problem).at(o);
    }
  }
}

// Of all parameters and results: a loop may go on by one that no program needs.
void FusionWriter::list_strides() {
  for (int stage = 0; stage < static_cast<int>(g_.stages.size()); ++stage) {
    const Computation& c = g_.stages[stage].computation;
    for (int t = 0; t < c.tensors(); ++t)
      for (const int s : stride_symbols(given_address(c, t)))
        out_.strides.insert(of_kernel(stage, s));
  }
}

NestCode FusionWriter::code() {
  list_strides();
  for (const StageProgram& p : f_.programs)
    programs_.push_back(emit_program(library_, p.problem, *p.impl,
                                     fmt::format("{}program_{}", stem_, programs_.size()), false));
  packers();
  Writer w(1);
  Here here{.extents = whole(g_), .buffers = {}, .at = {}, .arena = "arena"};
  std::vector<std::string> params;
  std::vector<std::string> names;
  for (const Param& t : g_.tensors) names.push_back(names_.fresh(t.name));
  for (const auto& [operand, program] : operands_in(f_.root))
    if (const int t = g_.memory_of(g_.tensor_of(operand.first, operand.second));
        t < g_.params || g_.is_result(t))
      here.at[operand] = names[t];
  const auto is_read = [&](int t) {
    return std::any_of(g_.stages.begin(), g_.stages.end(), [&](const Stage& s) {
      return std::find(s.arguments.begin(), s.arguments.end(), t) != s.arguments.end();
    });
  };
  for (int t = 0; t < g_.params; ++t)  // others parts of the kernel read (spec/positions.h)
    params.push_back(fmt::format("{}{} {}", is_read(t) ? "" : "[[maybe_unused]] ",
                                 const_pointer(g_.tensors[t].dtype), names[t]));
  for (const int t : g_.results)
    params.push_back(fmt::format("{} {}", mutable_pointer(g_.tensors[t].dtype), names[t]));
  for (const int s : out_.strides)
    params.push_back("[[maybe_unused]] std::ptrdiff_t " + stride_name(s));
  const i64 arena = arena_bytes(f_.root, here.extents);
  if (arena > kLocalBytes) {
    out_.workspace_bytes = arena;
    here.arena = "workspace";
    params.emplace_back("unsigned char* workspace");
  } else if (arena > 0) {
    w.line("alignas(64) unsigned char arena[{}];", arena);
    w.line("MORELLO_SHARED(arena);");
  }
  emit(w, f_.root, here);
  fence(w);
  out_.parallel = parallel_;
  if (parallel_) params.emplace_back("const ::morello::Parallel& pool");
  for (size_t i = 0; i < programs_.size(); ++i)
    out_.functions +=
        (f_.programs[i].cost_cycles >= kApartCycles ? "__attribute__((noinline)) " : "") +
        programs_[i].text;
  out_.functions += chunks_;
  out_.functions +=
      fmt::format("MORELLO_UNUSED MORELLO_TARGET static void {}run({}) noexcept {{\n{}}}\n", stem_,
                  fmt::join(params, ", "), w.text());
  return std::move(out_);
}

}  // namespace

NestCode emit_fusion(Library& library, const Fusion& f, const std::string& stem) {
  return FusionWriter(library, f, stem).code();
}

NestCode emit_nest(const Fusion& f, bool brief) {
  Library library{.functions = Functions()};
  library.brief = brief;
  NestCode out = emit_fusion(library, f, "");
  out.functions = library.text() + out.functions;
  return out;
}

}  // namespace morello
