// The loops around programs (impl/patchwork.h) as code: one function per program, one that chooses
// among them, the loops over a part of the outermost dim, and what calls these for each thread.
//
// Variables: extent0 is the size of the first loop's dim, sizes0 the sizes its pieces can have,
// which0 the one that a piece has, at0 where it begins, have0 how much of an elastic dim it has.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/nest.h"
#include "codegen/operand.h"
#include "codegen/pieces.h"
#include "codegen/workspace.h"

namespace morello {
namespace {

// Lines from which on all are to be short. (bf16
// [n2 to 6,93] x [93,n1 near 21], AVX2: 3,028 lines of 18 programs, 2,324 in brief.)
constexpr std::ptrdiff_t kMostLines = 1500;
constexpr std::string_view kStatic = "MORELLO_UNUSED MORELLO_TARGET static ";

class PatchworkWriter {
 public:
  // Which leaves are short: those of what larger pieces leave, of most programs, or all.
  enum class Brief { kSmall, kMost, kAll };
  PatchworkWriter(const Patchwork& work, Brief brief)
      : work_(work),
        problem_(work.programs.front().problem),
        c_(*problem_.computation),
        brief_(brief) {}
  NestCode code();

 private:
  bool divided() const { return work_.threads > 1; }
  size_t loops() const { return work_.dims.size(); }
  bool reduction(size_t loop) const { return c_.dims[work_.dims[loop].dim].reduction; }
  bool is_brief(const Piece& piece) const;
  void emit_programs();
  void tables();
  void call();
  void part();
  void loop(size_t i);
  void piece(size_t i);
  void task();
  void run();
  std::string shared(bool types) const;
  std::string lengths(bool types) const;
  std::string tail(bool types) const;
  std::string pointers(bool types) const;

  const Patchwork& work_;
  const Problem& problem_;  // of some program: addresses are those of all
  const Computation& c_;
  const Brief brief_;
  // Dozens of programs share leaves and copies. In each of its callers, a leaf is compiled again:
  // f32 matmul with m, k and n at run time for AVX-512, AVX2 and any CPU takes Clang 14 3.9 s of
  // CPU, with functions of their own 2.3.
  Library library_{.functions = Functions(true)};
  std::vector<ProgramCode> programs_;
  NestCode out_;
  Writer w_;
  std::array<std::string, kMaxTensors> at_;  // pointers inside the loops so far
};

// Whether a program is rather short than fast: where it is for what larger pieces leave. Of dims
// that have a program for every size, and of elastic parallel ones, only if all are to be short.
bool PatchworkWriter::is_brief(const Piece& piece) const {
  if (brief_ == Brief::kAll) return true;
  const bool most = brief_ == Brief::kMost;
  return std::any_of(work_.dims.begin(), work_.dims.end(), [&](const PiecedDim& d) {
    const Dim& dim = piece.computation->dims[d.dim];
    if (d.has_every_size()) return most && d.sizes.size() > 1;
    const bool largest = dim.extent == d.sizes.front();
    return !largest && (d.elastic == 0 || (most && !dim.reduction));
  });
}

void PatchworkWriter::emit_programs() {
  std::map<std::string, size_t> known;  // where pieces have one program
  for (const Piece& b : work_.programs) {
    library_.brief = is_brief(b);
    const Problem& p = b.problem;
    std::string text = fmt::format("{} {} {}\n{}", p.part.adds, p.part.elastic,
                                   p.family.str(*b.computation), print(p, *b.impl));
    for (const Dim& d : b.computation->dims) text += fmt::format(" {}", d.extent);
    const auto [found, added] = known.try_emplace(text, programs_.size());
    programs_.push_back(
        added ? emit_program(library_, p, *b.impl, fmt::format("program_{}", programs_.size()))
              : programs_[found->second]);
    if (!added) programs_.back().text.clear();
  }
  for (const ProgramCode& p : programs_) {
    out_.strides.insert(p.strides.begin(), p.strides.end());
    out_.workspace_bytes = std::max(out_.workspace_bytes, p.workspace_bytes);
    out_.parallel |= p.parallel;
  }
}

// The operands, as parameters or as arguments of the same names.
std::string PatchworkWriter::pointers(bool types) const {
  std::string out;
  for (int o = 0; o < c_.tensors(); ++o)
    out += fmt::format("{}{}operand{}", o == 0 ? "" : ", ",
                       types ? programs_[0].pointers[o] + " " : "", o);
  return out;
}

// Strides, the workspace and the pool behind them.
std::string PatchworkWriter::tail(bool types) const {
  std::string out;
  for (int s : out_.strides)
    out += types ? fmt::format(", [[maybe_unused]] std::ptrdiff_t {}", stride_name(s))
                 : ", " + stride_name(s);
  if (out_.workspace_bytes > 0)
    out += types ? ", [[maybe_unused]] unsigned char* workspace" : ", workspace";
  if (out_.parallel) out += types ? ", [[maybe_unused]] const ::morello::Parallel& pool" : ", pool";
  return out;
}

// Operands, sizes and the rest.
std::string PatchworkWriter::shared(bool types) const {
  std::string out = pointers(types);
  for (size_t i = 0; i < loops(); ++i)
    out += fmt::format(", {}extent{}", types ? "std::ptrdiff_t " : "", i);
  return out + tail(types);
}

// How much of elastic dims a piece has.
std::string PatchworkWriter::lengths(bool types) const {
  std::string out;
  for (size_t i = 0; i < loops(); ++i)
    if (work_.dims[i].elastic)
      out += types ? fmt::format(", [[maybe_unused]] std::ptrdiff_t {}",
                                 length_name(work_.dims[i].dim))
                   : fmt::format(", have{}", i);
  return out;
}

void PatchworkWriter::tables() {
  for (size_t i = 0; i < loops(); ++i) piece_tables(w_, i, work_.dims[i], reduction(i));
}

void PatchworkWriter::call() {
  w_.open("{}inline void call(int program, {}{}{}) noexcept", kStatic, pointers(true),
          lengths(true), tail(true));
  w_.open("switch (program)");
  for (size_t i = 0; i < programs_.size(); ++i) {
    const ProgramCode& p = programs_[i];
    std::string args = pointers(false);
    for (int s : p.strides) args += ", " + stride_name(s);
    args += length_args(work_.programs[i].problem.part.elastic);
    if (p.workspace_bytes > 0) args += ", workspace";
    if (p.parallel) args += ", pool";
    const bool last = i + 1 == programs_.size();
    w_.line("{}: return {}({});", last ? "default" : fmt::format("case {}", i), p.name, args);
  }
  w_.close();
  w_.close();
}

// From `begin` to `end` of the outermost dim, in pieces of sizes0[whole].
void PatchworkWriter::part() {
  w_.open(
      "{}void part({}, std::ptrdiff_t begin, std::ptrdiff_t end, "
      "[[maybe_unused]] int whole) noexcept",
      kStatic, shared(true));
  w_.line("static_cast<void>(extent0);");
  for (int o = 0; o < c_.tensors(); ++o) at_[o] = fmt::format("operand{}", o);
  loop(0);
  w_.close();
}

void PatchworkWriter::loop(size_t i) {
  if (i == loops()) {
    std::string number = "which0", args;
    for (size_t l = 1; l < loops(); ++l)
      number = fmt::format("({}) * {} + which{}", number, work_.dims[l].sizes.size(), l);
    if (work_.sums) number = fmt::format("2 * ({}) + (adds ? 1 : 0)", number);
    for (int o = 0; o < c_.tensors(); ++o) args += ", " + at_[o];
    w_.line("call({}{}{}{});", number, args, lengths(false), tail(false));
    if (work_.sums) w_.line("adds = true;");
    return;
  }
  const bool first_sum = reduction(i) && (i == 0 || !reduction(i - 1));
  if (first_sum) w_.line("bool adds = false;");
  const size_t last = work_.dims[i].sizes.size() - 1;
  const std::string from = i == 0 ? "begin" : "0", to = i == 0 ? "end" : fmt::format("extent{}", i);
  if (i > 0 && !reduction(i)) {
    w_.line("int whole{0} = 0;", i);
    largest_piece(w_, i, work_.dims[i], fmt::format("whole{}", i), fmt::format("extent{}", i));
  }
  w_.open("for (std::ptrdiff_t at{0} = {1}; at{0} < {2};)", i, from, to);
  if (reduction(i)) {
    w_.line("int which{} = 0;", i);
    w_.line("while (which{0} < {1} && sizes{0}[which{0}] > {2} - at{0}) ++which{0};", i, last, to);
  } else {
    next_piece(w_, i, work_.dims[i], i == 0 ? "whole" : fmt::format("whole{}", i), to);
  }
  if (work_.dims[i].elastic) {
    const PiecedDim& d = work_.dims[i];
    w_.line("std::ptrdiff_t have{0} = sizes{0}[which{0}];", i);
    w_.open("if (which{} >= {})", i, d.elastic);
    w_.line("have{0} *= ({1} - at{0}) / have{0};", i, to);
    if (!reduction(i))  // there may be more where threads divide a dim
      w_.line("if (have{0} > {1}) have{0} = {1};", i, d.extent(static_cast<int>(last)));
    w_.close();
  }
  piece(i);
  w_.line("at{0} += {1};", i,
          work_.dims[i].elastic ? fmt::format("have{}", i) : fmt::format("sizes{0}[which{0}]", i));
  w_.close();
}

// Where operands lie in this piece, and what is inside.
void PatchworkWriter::piece(size_t i) {
  const int dim = work_.dims[i].dim;
  const auto outside = at_;
  for (int o = 0; o < c_.tensors(); ++o) {
    const AddressMap map = problem_.given(o);
    const i64 step = smallest_step(map, dim);
    const Offset advance = map.advance(dim, step);
    if (advance == 0) continue;
    const std::string count =
        step == 1 ? fmt::format("at{}", i) : fmt::format("at{} / {}", i, step);
    at_[o] = fmt::format("operand{}at{}", o, i);
    w_.line("{} {} = {} + {} * {};", programs_[0].pointers[o], at_[o], outside[o], count,
            text(advance));
  }
  loop(i + 1);
  at_ = outside;
}

// Neighbouring whole pieces for one of so many tasks; the last one has what is left behind them.
void PatchworkWriter::task() {
  w_.open("struct part_data");
  for (int o = 0; o < c_.tensors(); ++o) w_.line("{} operand{};", programs_[0].pointers[o], o);
  for (size_t i = 0; i < loops(); ++i) w_.line("std::ptrdiff_t extent{};", i);
  for (int s : out_.strides) w_.line("std::ptrdiff_t {};", stride_name(s));
  if (out_.workspace_bytes > 0) w_.line("unsigned char* workspace;");
  w_.line("std::ptrdiff_t pieces;");
  w_.line("std::ptrdiff_t tasks;");
  w_.line("int whole;");
  w_.close("};");
  w_.open("{}void part_task(void* argument, std::size_t index) noexcept", kStatic);
  w_.line("const part_data* data = static_cast<const part_data*>(argument);");
  w_.line("const std::ptrdiff_t task = static_cast<std::ptrdiff_t>(index);");
  w_.line("const std::ptrdiff_t size = sizes0[data->whole];");
  w_.line("const std::ptrdiff_t begin = task * data->pieces / data->tasks * size;");
  w_.line("const std::ptrdiff_t next = (task + 1) * data->pieces / data->tasks * size;");
  std::string args;
  for (int o = 0; o < c_.tensors(); ++o) args += fmt::format("data->operand{}, ", o);
  for (size_t i = 0; i < loops(); ++i) args += fmt::format("data->extent{}, ", i);
  for (int s : out_.strides) args += fmt::format("data->{}, ", stride_name(s));
  if (out_.workspace_bytes > 0)
    args += fmt::format("data->workspace + task * {}, ", round_up_to_line(out_.workspace_bytes));
  w_.line("part({}begin, task + 1 == data->tasks ? data->extent0 : next, data->whole);", args);
  w_.close();
}

void PatchworkWriter::run() {
  w_.open("{}void run({}{}) noexcept", kStatic, shared(true),
          divided() ? ", const ::morello::Parallel& pool" : "");
  // A size of nothing has nothing to do.
  for (size_t i = 0; i < loops(); ++i)
    w_.line("if (extent{} < {}) return;", i, work_.dims[i].sizes.back());
  w_.line("int which0 = 0;");
  if (reduction(0)) {
    w_.line("part({}, 0, extent0, which0);", shared(false));
    return w_.close();
  }
  if (!divided()) {
    largest_piece(w_, 0, work_.dims[0], "which0", "extent0");
    w_.line("part({}, 0, extent0, which0);", shared(false));
    return w_.close();
  }
  w_.line("const std::ptrdiff_t parts = extent0 < {} ? 1 : {};", work_.threads_from, work_.threads);
  largest_piece(w_, 0, work_.dims[0], "which0", "extent0", "parts");
  w_.line("const std::ptrdiff_t pieces = extent0 / sizes0[which0];");
  w_.line("const std::ptrdiff_t tasks = pieces < parts ? pieces : parts;");
  w_.open("if (pool.run != nullptr && tasks > 1)");
  w_.line("part_data data = {{{}, pieces, tasks, which0}};", shared(false));
  w_.line("pool.run(pool.context, static_cast<std::size_t>(tasks), part_task, &data);");
  w_.otherwise();
  w_.line("part({}, 0, extent0, which0);", shared(false));
  w_.close();
  w_.close();
}

NestCode PatchworkWriter::code() {
  emit_programs();
  out_.packers = emit_packers(library_, problem_);
  MORELLO_CHECK(!divided() || !out_.parallel, "parallel programs in a parallel loop");
  for (const PiecedDim& d : work_.dims) out_.sizes.push_back(c_.dims[d.dim].size);
  tables();
  call();
  part();
  if (divided()) task();
  run();
  out_.functions = library_.text();
  for (const ProgramCode& p : programs_) out_.functions += p.text;
  out_.functions += w_.text();
  if (divided()) {
    out_.parallel = true;
    out_.workspace_bytes = round_up_to_line(out_.workspace_bytes) * work_.threads;
  }
  return std::move(out_);
}

}  // namespace

NestCode emit_nest(const Patchwork& work, bool brief) {
  using Brief = PatchworkWriter::Brief;
  if (brief) return PatchworkWriter(work, Brief::kAll).code();
  NestCode fast = PatchworkWriter(work, Brief::kSmall).code();
  const std::string& text = fast.functions;
  if (std::count(text.begin(), text.end(), '\n') <= kMostLines) return fast;
  return PatchworkWriter(work, Brief::kMost).code();
}

}  // namespace morello
