// Walks the Impl with, for every operand, a pointer to the current tile and the address map of the
// buffer it lies in. Pointers advance by constants: no index arithmetic is left in the code.
//
// The body of a parallel loop becomes a function of its own (no lambdas: Clang 14 refuses
// intrinsics in a lambda of a function with a target attribute) that gets the pointers in a struct
// and the number of a task. Parallel loops directly inside it only divide that number further.
#include "codegen/nest.h"

#include "codegen/ask.h"
#include "codegen/combine.h"
#include "codegen/finish.h"
#include "codegen/leaf.h"
#include "codegen/pack.h"
#include "codegen/workspace.h"
#include "impl/clip.h"
#include "impl/patchwork.h"
#include "impl/shares.h"
#include "impl/text.h"

namespace morello {
namespace {

constexpr const char* kArena = "arena";

struct Shared {
  const Problem& p;
  Library& library;
  i64 chunk_offset = 0;  // where in the workspace the arenas of chunks begin
  bool parallel = false;
};

// Writes the body of one function: the serial part of the nest or one chunk.
class NestWriter {
 public:
  explicit NestWriter(Shared& shared) : shared_(shared), p_(shared.p), c_(*shared.p.computation) {}

  Writer w{1};
  Names names;
  bool streams = false;  // some leaf stores past the caches
  void emit(const Spec& spec, const Impl& impl, const Refs& refs, i64 arena);
  // Others see what was stored past the caches.
  void fence() {
    if (streams) w.code(p_.family.isa->fence);
  }

 private:
  void node(const Spec& spec, const Impl& impl, const Loop& n, const Refs& refs, i64 arena);
  void node(const Spec& spec, const Impl& impl, const Move& n, const Refs& refs, i64 arena);
  void view(const Spec& spec, const Move& n, const Child& body, const Refs& refs, i64 arena);
  void node(const Spec& spec, const Impl& impl, const Clip& n, const Refs& refs, i64 arena);
  void node(const Spec& spec, const Impl& impl, const Block& n, const Refs& refs, i64 arena);
  void node(const Spec& spec, const Impl& impl, const Call& n, const Refs& refs, i64 arena);
  void node(const Spec& spec, const Impl& impl, const Hole& n, const Refs& refs, i64 arena);
  void parallel(const Spec& spec, const Impl& impl, const Loop& n, const Refs& refs, i64 arena);
  std::string chunk(const Spec& spec, const Impl& impl, const Loop& n, const Refs& refs);
  void task(const Spec& spec, const Impl& impl, const Refs& refs, const std::string& index);
  void region(const std::string& function, i64 tasks, const std::string& values);
  bool divides_reduction(const Loop& n) const { return n.parallel && c_.dims[n.dim].reduction; }
  std::string pointer_type(int o, const Ref& r) const {
    return o == c_.inputs() ? mutable_pointer(r.dtype) : const_pointer(r.dtype);
  }
  std::string stem(int t) const { return c_.tensor(t).name; }
  int tensors(const Spec& spec) const { return tensors_of(c_, spec.place[c_.inputs()].packed); }

  // What leaves ask for before they begin, for the copies that they stand in.
  struct Asked {
    Asking asking;
    std::string source, count, strides;
    Dtype dtype;
  };
  // What leaves of `body` ask for, if anything, in parts of x.
  template <class F>
  void emit_asking(const std::optional<Asking>& asking, const Ref& x, F body) {
    if (asking) {
      asked_.push_back({*asking, x.pointer, names.fresh("asked"), stride_args(x.map), x.dtype});
      w.line("std::ptrdiff_t {} = 0;", asked_.back().count);
    }
    body();
    if (asking) asked_.pop_back();
  }

  Shared& shared_;
  const Problem& p_;
  const Computation& c_;
  std::vector<Asked> asked_ = {};
};

// How many leaves a function runs; what tasks run are other functions.
i64 leaves_of(const Problem& p, const Spec& spec, const Impl& impl) {
  if (const Call* call = std::get_if<Call>(&impl.node)) return call->kind == Call::Kind::kLeaf;
  if (const Loop* loop = std::get_if<Loop>(&impl.node); loop && loop->parallel) return 0;
  i64 leaves = 0;
  for (const Child& part : children(p, spec, impl))
    leaves += part.times * leaves_of(p, part.spec, *part.impl);
  return leaves;
}

// Whether leaves ask for the lines that a copy of their sums will be written to: the copy computes
// nothing meanwhile, so that its stores wait in turn. What is added to was read before; what calls
// say the lengths of could be asked for beyond its end. (Zen 5, f32 by AVX-512, 5x5x3 to 512 over
// 99x99 channels first, tiles of 97 x 32 whose rows lie 37 KB apart: 0.91 of the time on a quiet
// L3, 0.68 on a loud one; the copies were 30 % of all.)
bool asks_for_copied_output(const Problem& p, const Spec& spec, const Move& n) {
  const Computation& c = *p.computation;
  return n.operand == c.inputs() && c.reduces() && !spec.accumulate &&
         spec.place[n.operand].level >= kL3 && elastic_dims(p, n.operand) == 0;
}

void NestWriter::emit(const Spec& spec, const Impl& impl, const Refs& refs, i64 arena) {
  std::visit([&](const auto& n) { node(spec, impl, n, refs, arena); }, impl.node);
}

void NestWriter::node(const Spec& spec, const Impl& impl, const Loop& n, const Refs& refs,
                      i64 arena) {
  if (n.parallel) return parallel(spec, impl, n, refs, arena);
  Refs moving = refs;
  std::vector<std::string> advances;
  for (int t = 0; t < tensors(spec); ++t) {
    const Offset step = refs[t].map.advance(n.dim, n.tile);
    if (step == 0) continue;
    moving[t].pointer = names.fresh(stem(t));
    advances.push_back(fmt::format("{} += {};", moving[t].pointer, text(step)));
    w.line("{} {} = {};", pointer_type(t, refs[t]), moving[t].pointer, refs[t].pointer);
  }
  const std::vector<Child> parts = children(p_, spec, impl);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Child& part = parts[i];
    if (part.times > 1)
      w.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", names.fresh("i"), part.times);
    emit(part.spec, *part.impl, moving, arena);
    if (part.times > 1 || i + 1 < parts.size())
      for (const std::string& advance : advances) w.line("{}", advance);
    if (part.times > 1) w.close();
  }
}

void NestWriter::node(const Spec& spec, const Impl& impl, const Move& n, const Refs& refs,
                      i64 arena) {
  const Child body = children(p_, spec, impl).front();
  if (!n.copy) return view(spec, n, body, refs, arena);
  const int o = n.operand;
  const bool output = o == c_.inputs();
  Refs moved = refs;
  Ref& buffer = moved[o];
  buffer = {.pointer = names.fresh(stem(o)),
            .map = p_.family.packed[o].address(spec.extent),
            .dtype = p_.place_dtype(o, true),
            .packed = true};
  w.line("{0} {1} = static_cast<{0}>(static_cast<void*>({2}));", mutable_pointer(buffer.dtype),
         buffer.pointer, at(kArena, arena));
  PackJob job{.packed = buffer.map,
              .other = refs[o].map,
              .packed_type = buffer.dtype,
              .other_type = refs[o].dtype,
              .extent = spec.extent,
              .ahead = n.ahead_dim < 0 ? Offset()
                                       : refs[o].map.advance(n.ahead_dim, spec.extent[n.ahead_dim]),
              .elastic = elastic_dims(p_, o),
              .into_packed = true};
  std::optional<Asking> asking;
  if (n.ahead_in_leaves || asks_for_copied_output(p_, spec, n))
    asking = ask_function(shared_.library.functions, *p_.family.isa, job, kL2,
                          leaves_of(p_, body.spec, *body.impl), asks_within(p_));
  if (asking) job.ahead = 0;
  if (!output || spec.accumulate)
    w.line("{}({}, {}{});", pack_function(shared_.library.functions, *p_.family.isa, job),
           refs[o].pointer, buffer.pointer, pack_args(job));
  arena += round_up_to_line(p_.packed_bytes(o, spec.extent));
  emit_asking(asking, refs[o], [&] { emit(body.spec, *body.impl, moved, arena); });
  if (!output) return;
  if (!c_.finish.empty()) {
    const FinishJob finish{.sums = buffer.map, .refs = refs, .extent = spec.extent};
    return w.line("{}({});", finish_function(shared_.library.functions, p_, finish),
                  finish_arguments(p_, finish, buffer.pointer));
  }
  job.into_packed = false;
  w.line("{}({}, {}{});", pack_function(shared_.library.functions, *p_.family.isa, job),
         buffer.pointer, refs[o].pointer, pack_args(job));
}

// No code but for leaves that ask for what the next step reads.
void NestWriter::view(const Spec& spec, const Move& n, const Child& body, const Refs& refs,
                      i64 arena) {
  const Ref& x = refs[n.operand];
  std::optional<Asking> asking;
  if (n.ahead_dim >= 0) {
    const PackJob part{.packed = x.map,
                       .other = x.map,
                       .packed_type = x.dtype,
                       .other_type = x.dtype,
                       .extent = spec.extent,
                       .ahead = x.map.advance(n.ahead_dim, spec.extent[n.ahead_dim]),
                       .elastic = elastic_dims(p_, n.operand)};
    asking = ask_function(shared_.library.functions, *p_.family.isa, part, n.level,
                          leaves_of(p_, body.spec, *body.impl), asks_within(p_));
  }
  emit_asking(asking, x, [&] { emit(body.spec, *body.impl, refs, arena); });
}

// Pointers to where a tensor with zeros around it would begin are never formed: the first segment
// moves them inside.
void NestWriter::node(const Spec& spec, const Impl& impl, const Clip& n, const Refs& refs,
                      i64 arena) {
  const std::vector<Child> parts = children(p_, spec, impl);
  for (const Clipped& x : clipped(c_)) {
    if (x.dim != n.dim) continue;
    for (const Segment& segment : x.segments) {
      Refs inside = refs;
      for (int t = 0; t < tensors(spec); ++t) {
        const Offset begin = begin_of(x, segment, t, refs[t].map);
        if (begin == 0) continue;
        inside[t].pointer = names.fresh(stem(t));
        w.line("{} {} = {} + {};", pointer_type(t, refs[t]), inside[t].pointer, refs[t].pointer,
               text(begin));
      }
      const Child& part = parts[static_cast<size_t>(segment.shape)];
      emit(part.spec, *part.impl, inside, arena);
    }
  }
}

void NestWriter::node(const Spec& spec, const Impl& impl, const Block&, const Refs& refs,
                      i64 arena) {
  for (const Child& part : children(p_, spec, impl)) emit(part.spec, *part.impl, refs, arena);
}

void NestWriter::node(const Spec& spec, const Impl&, const Call& n, const Refs& refs, i64) {
  const Ref& out = refs[c_.inputs()];
  if (n.kind == Call::Kind::kFill) {
    const std::string name =
        fill_function(shared_.library.functions, out, spec.extent, neutral(c_.combine, c_.compute));
    return w.line("{}({}{});", name, out.pointer, stride_args(out.map));
  }
  for (const Asked& a : asked_) {
    if (a.asking.times > 1) continue;
    w.line("{}({}, {}{});", a.asking.function, a.source, a.count, a.strides);
    w.line("{} += {};", a.count, a.asking.share);
  }
  streams |= n.streaming;
  LeafJob job{spec.extent, spec.accumulate, refs, n, shared_.library.brief};
  for (int o = 0; o < c_.inputs(); ++o)
    if (spec.place[o].level == kL2) job.from_l2 |= static_cast<std::uint8_t>(1 << o);
  std::string args, strides;
  for (int t = 0; t < tensors(spec); ++t) {
    args += fmt::format("{}{}", t == 0 ? "" : ", ", refs[t].pointer);
    strides += stride_args(refs[t].map);
  }
  args += strides + length_args(p_.part.elastic);
  std::vector<std::string> asked;
  for (const Asked& a : asked_) {
    if (a.asking.times == 1) continue;
    job.asks.push_back({a.asking, a.dtype});
    args += fmt::format(", {}, {}", a.source, a.count);
    asked.push_back(fmt::format("{} += {};", a.count, a.asking.share * a.asking.times));
  }
  w.line("{}({});", leaf_function(shared_.library.functions, p_, job), args);
  for (const std::string& line : asked) w.line("{}", line);
}

void NestWriter::node(const Spec& spec, const Impl&, const Hole&, const Refs&, i64) {
  MORELLO_CHECK(false, "code of a hole: {}", str(spec, c_));
}

// Copies of the output that shares of a reduction sum into begin at `arena`.
void NestWriter::parallel(const Spec& spec, const Impl& impl, const Loop& n, const Refs& refs,
                          i64 arena) {
  shared_.parallel = true;
  const bool copies = divides_reduction(n);
  const Ref& out = refs[c_.inputs()];
  const std::string body = chunk(spec, impl, n, refs);
  std::string values;
  for (int t = 0; t < tensors(spec); ++t)
    values += fmt::format("{}{}", t == 0 ? "" : ", ", refs[t].pointer);
  for (int t = 0; t < tensors(spec); ++t) values += stride_args(refs[t].map);
  values += length_args(p_.part.elastic);
  if (chunk_arena_bytes(p_, spec, impl) > kLocalBytes)
    values += ", " + at("workspace", shared_.chunk_offset);
  std::string first_copy;
  if (copies) {
    first_copy = names.fresh("copies");
    w.line("{0} {1} = static_cast<{0}>(static_cast<void*>({2}));", mutable_pointer(out.dtype),
           first_copy, at(kArena, arena));
    values += ", " + first_copy;
  }
  region(body, task_count(p_, spec, impl), values);
  if (!copies) return;
  const Shares shares = shares_of(p_, spec, n);
  const Function& join = *p_.family.isa->function(joined_by(c_.combine), out.dtype, 1);
  const std::string add = combine_function(shared_.library.functions, join, shares,
                                           element_boxes(out.map, AddressMap(), spec.extent));
  if (shares.tasks == 1)
    return w.line("{}({}, {}, 0, {});", add, out.pointer, first_copy, shares.elements);
  const std::string name = fmt::format("chunk_{}", shared_.library.chunk_count++);
  shared_.library.chunks += combine_task(name, add, out.dtype, shares);
  region(name, shares.tasks, fmt::format("{}, {}", out.pointer, first_copy));
}

// Runs function(data, i) for all i below `tasks`, on the pool if there is one.
void NestWriter::region(const std::string& function, i64 tasks, const std::string& values) {
  const std::string data = names.fresh("data"), i = names.fresh("i");
  w.line("{}_data {} = {{{}}};", function, data, values);
  w.line("MORELLO_SHARED(&{});", data);
  w.open("if (pool.run != nullptr)");
  w.line("pool.run(pool.context, {}, {}, &{});", tasks, function, data);
  w.otherwise();
  w.line("for (std::size_t {0} = 0; {0} < {1}; ++{0}) {2}(&{3}, {0});", i, tasks, function, data);
  w.close();
}

// The function for one task of a parallel loop.
std::string NestWriter::chunk(const Spec& spec, const Impl& impl, const Loop& n, const Refs& refs) {
  const std::string name = fmt::format("chunk_{}", shared_.library.chunk_count++);
  const i64 arena = chunk_arena_bytes(p_, spec, impl);
  NestWriter inside(shared_);
  Writer& w = inside.w;
  Writer fields(1);
  Refs here = refs;
  w.line("const {0}_data* data = static_cast<const {0}_data*>(argument);", name);
  w.line("const std::ptrdiff_t task = static_cast<std::ptrdiff_t>(index);");
  for (int t = 0; t < tensors(spec); ++t) {
    const std::string type = pointer_type(t, refs[t]);
    fields.line("{} operand_{};", type, t);
    here[t].pointer = inside.names.fresh(stem(t));
    w.line("{} {} = data->operand_{};", type, here[t].pointer, t);
  }
  for (int t = 0; t < tensors(spec); ++t)
    for (const int symbol : stride_symbols(refs[t].map)) {
      fields.line("std::ptrdiff_t {};", stride_name(symbol));
      w.line("[[maybe_unused]] const std::ptrdiff_t {0} = data->{0};", stride_name(symbol));
    }
  for (int d = 0; d < kMaxDims; ++d) {
    if (!p_.part.is_elastic(d)) continue;
    fields.line("std::ptrdiff_t {};", length_name(d));
    w.line("const std::ptrdiff_t {0} = data->{0};", length_name(d));
  }
  if (arena > kLocalBytes) {
    fields.line("unsigned char* workspace;");
    w.line("unsigned char* {} = data->workspace + task * {};", kArena, arena);
  } else if (arena > 0) {
    w.line("alignas(64) unsigned char {}[{}];", kArena, arena);
    w.line("MORELLO_SHARED({});", kArena);
  }
  if (divides_reduction(n)) fields.line("{} copies;", mutable_pointer(refs[c_.inputs()].dtype));
  inside.task(spec, impl, here, "task");
  inside.fence();
  shared_.library.chunks += fmt::format(
      "struct {0}_data {{\n{1}}};\nMORELLO_UNUSED MORELLO_TARGET static void {0}(void* argument, "
      "std::size_t index) noexcept {{\n{2}}}\n",
      name, fields.text(), w.text());
  return name;
}

// The step of this loop that task `index` belongs to, and the task within the step. The rest, if
// there is one, is the last step.
void NestWriter::task(const Spec& spec, const Impl& impl, const Refs& refs,
                      const std::string& index) {
  const Loop* n = std::get_if<Loop>(&impl.node);
  if (!n || !n->parallel) return emit(spec, impl, refs, 0);
  const std::vector<Child> parts = children(p_, spec, impl);
  const i64 each = task_count(p_, parts[0].spec, *parts[0].impl);
  const i64 full = parts[0].times * each;
  std::string step = index, inner = index;
  if (each > 1) {
    step = names.fresh("step");
    inner = names.fresh("task");
    const bool rest = parts.size() == 2;
    const std::string which = rest ? fmt::format("{} < {} ? ", index, full) : "";
    w.line("const std::ptrdiff_t {} = {}{} / {}{};", step, which, index, each,
           rest ? fmt::format(" : {}", parts[0].times) : "");
    w.line("const std::ptrdiff_t {} = {} - {} * {};", inner, index, step, each);
  }
  Refs here = refs;
  for (int t = 0; t < tensors(spec); ++t)
    if (const Offset advance = refs[t].map.advance(n->dim, n->tile); !(advance == 0))
      w.line("{} += {} * {};", here[t].pointer, step, text(advance));
  Ref& out = here[c_.inputs()];
  if (divides_reduction(*n))
    w.line("if ({0} > 0) {1} = data->copies + ({0} - 1) * {2};", step, out.pointer,
           shares_of(p_, spec, *n).copy_bytes / bytes(out.dtype));
  w.line("static_cast<void>({});", inner);
  if (parts.size() == 2) w.open("if ({} < {})", index, full);
  task(parts[0].spec, *parts[0].impl, here, inner);
  if (parts.size() == 2) {
    w.otherwise();
    task(parts[1].spec, *parts[1].impl, here, inner);
    w.close();
  }
}

// Packs a `packed` parameter ahead of time: from row order as given into the root's order.
std::string packer(Library& library, const Problem& p, int o) {
  const Computation& c = *p.computation;
  Computation given = c;
  given.operands[o].packed = false;
  given.operands[o].layout = Layout::row(static_cast<int>(c.operands[o].shape.size()));
  const PackJob job{.packed = p.root_address(o),
                    .other = given_address(given, o),
                    .packed_type = c.operands[o].dtype,
                    .other_type = c.operands[o].dtype,
                    .extent = p.root().extent,
                    .into_packed = true};
  return pack_function(library.functions, *p.family.isa, job);
}

}  // namespace

std::map<int, std::string> emit_packers(Library& library, const Problem& p) {
  std::map<int, std::string> out;
  for (int o = 0; o < p.computation->inputs(); ++o)
    if (p.computation->operands[o].packed) out[o] = packer(library, p, o);
  return out;
}

ProgramCode emit_program(Library& library, const Problem& p, const Impl& impl, std::string name,
                         bool fenced) {
  const Computation& c = *p.computation;
  const Spec root = p.root();
  Shared shared{.p = p, .library = library};
  const i64 arena = arena_bytes(p, root, impl);
  const bool local = arena <= kLocalBytes;
  shared.chunk_offset = local ? 0 : arena;
  ProgramCode code;
  code.name = std::move(name);
  code.workspace_bytes = shared.chunk_offset + chunks_workspace_bytes(p, root, impl);

  NestWriter nest(shared);
  std::string params;
  Refs refs;
  for (int t = 0; t < c.tensors(); ++t) {
    const Dtype type = c.tensor(t).dtype;
    refs[t] = {.pointer = nest.names.fresh(c.tensor(t).name),
               .map = p.root_address(t),
               .dtype = type,
               .packed = t <= c.inputs() && root.place[t].packed};
    code.pointers[t] = t == c.inputs() ? mutable_pointer(type) : const_pointer(type);
    params += fmt::format("{}{} {}", t == 0 ? "" : ", ", code.pointers[t], refs[t].pointer);
  }
  for (const Ref& r : refs) {
    params += stride_params(r.map);
    code.strides.merge(stride_symbols(r.map));
  }
  params += length_params(p.part.elastic);
  if (code.workspace_bytes > 0) params += ", unsigned char* workspace";
  if (local && arena > 0)
    nest.w.line("alignas(64) unsigned char {}[{}];", kArena, arena);
  else if (arena > 0)
    nest.w.line("unsigned char* {} = workspace;", kArena);
  for (int t = 0; t < c.tensors(); ++t) nest.w.line("MORELLO_SHARED({});", refs[t].pointer);
  if (local && arena > 0) nest.w.line("MORELLO_SHARED({});", kArena);
  nest.emit(root, impl, refs, 0);
  if (fenced) nest.fence();
  code.streams = nest.streams;
  code.parallel = shared.parallel;
  if (code.parallel) params += ", const ::morello::Parallel& pool";
  code.text = fmt::format("MORELLO_UNUSED MORELLO_TARGET static void {}({}) noexcept {{\n{}}}\n",
                          code.name, params, nest.w.text());
  return code;
}

NestCode emit_nest(const Problem& p, const Impl& impl, bool brief) {
  Library library;
  library.brief = brief;
  const ProgramCode program = emit_program(library, p, impl, "run");
  NestCode code;
  code.packers = emit_packers(library, p);
  code.functions = library.text() + program.text;
  code.strides = program.strides;
  code.workspace_bytes = program.workspace_bytes;
  code.parallel = program.parallel;
  return code;
}

}  // namespace morello
