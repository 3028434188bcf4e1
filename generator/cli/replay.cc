#include "cli/replay.h"

#include <algorithm>
#include <cmath>

#include "support/sha256.h"

namespace morello {
namespace {

LockedProgram locked_program(const Problem& p, const Impl& impl, i64 cycles) {
  return {p.threads, cycles, p.family.str(*p.computation), print(p, impl)};
}

// A legal program may leave something to decide; one to be written may not.
bool has_hole(const Problem& p, const Spec& spec, const Impl& impl) {
  if (std::holds_alternative<Hole>(impl.node)) return true;
  const std::vector<Child> parts = children(p, spec, impl);
  return std::any_of(parts.begin(), parts.end(),
                     [&](const Child& c) { return has_hole(p, c.spec, *c.impl); });
}

// Why a program cannot be written; empty when it can.
std::string problem_of(const Problem& p, const Impl& impl) {
  if (std::string why = verify(p, p.root(), impl); !why.empty()) return why;
  return has_hole(p, p.root(), impl) ? "the program has a hole" : "";
}

// Reads the programs of one entry.
class Replay {
 public:
  Replay(const LockedKernel& entry, const Computation& c, const Machine& machine, const Isa& isa)
      : entry_(entry), c_(c), machine_(machine), isa_(isa) {}

  Result<Optimum> run() {
    if (!entry_.nest.empty()) return error("a kernel of one stage has programs, not one nest");
    Optimum best;
    best.cost = Cost::cycles(entry_.cycles);
    return c_.sizes.empty() ? known(std::move(best)) : pieces(std::move(best));
  }

 private:
  Result<Optimum> known(Optimum best) {
    if (!entry_.pieces.empty() || entry_.programs.size() != 1)
      return error("a kernel whose sizes are numbers has one program");
    Piece piece;
    if (std::string why = read(entry_.programs[0], c_, {}, piece); !why.empty()) return error(why);
    best.problem = piece.problem;
    best.impl = piece.impl;
    return best;
  }

  Result<Optimum> pieces(Optimum best) {
    const auto work = std::make_shared<Patchwork>();
    if (std::string why = read_dims(*work); !why.empty()) return error(why);
    size_t count = work->sums ? 2 : 1;
    for (const PiecedDim& d : work->dims) count *= d.sizes.size();
    if (entry_.programs.size() != count)
      return error(fmt::format("{} programs for {} pieces", entry_.programs.size(), count));
    const Level home = home_level(c_, machine_, entry_.threads);
    for (size_t n = 0; n < count; ++n) {
      const std::vector<int> which = work->pieces(n);
      Piece& piece = work->programs.emplace_back();
      piece.computation = std::make_shared<Computation>(with_extents(c_, work->extents(c_, which)));
      Part part = Part::at(home);
      part.adds = work->adds(n);
      part.elastic = work->elastic(which) | elastic(entry_.programs[n]);
      part.beside = work->threads > 1;
      const std::string why = read(entry_.programs[n], *piece.computation, part, piece);
      if (!why.empty()) return error(why);
    }
    if (std::string why = verify(*work, c_); !why.empty()) return error(why);
    choose_rests(*work, c_);
    best.problem = work->programs[0].problem;  // the largest piece, which does not add
    best.impl = work->programs[0].impl;
    best.patchwork = work;
    return best;
  }

  std::string read_dims(Patchwork& work) const {
    for (const LockedPieces& p : entry_.pieces) {
      int dim = -1;
      for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
        if (c_.dims[d].name == p.dim) dim = d;
      if (dim < 0) return fmt::format("there are no such pieces of `{}`", p.dim);
      work.sums |= c_.dims[dim].reduction;
      const PiecedDim pieced{dim, p.sizes, p.elastic};
      if (std::string why = sizes_problem(pieced, c_); !why.empty()) return why;
      work.dims.push_back(pieced);
    }
    if (std::string why = missing_dim(work); !why.empty()) return why;
    if (entry_.divided > 1) {
      work.threads = entry_.divided;
      work.threads_from = entry_.divided_from;
    }
    return "";
  }

  // Dims that a program says are elastic in it.
  std::uint8_t elastic(const LockedProgram& p) const {
    unsigned out = 0;
    for (size_t d = 0; d < c_.dims.size(); ++d)
      if (std::find(p.elastic.begin(), p.elastic.end(), c_.dims[d].name) != p.elastic.end())
        out |= 1u << d;
    return static_cast<std::uint8_t>(out);
  }

  std::string missing_dim(const Patchwork& work) const {
    for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
      const auto times = std::count_if(work.dims.begin(), work.dims.end(),
                                       [&](const PiecedDim& p) { return p.dim == d; });
      if (times != (run_time_size(c_, d) ? 1 : 0))
        return fmt::format("{} lists of pieces of `{}`", times, c_.dims[d].name);
    }
    return "";
  }

  // A small piece may use a family of the whole (search/optimize_patchwork.cc).
  Result<Family> family(const std::string& text, const Computation& part) const {
    Result<Family> own = parse_family(text, part, isa_);
    return own ? own : parse_family(text, c_, isa_);
  }

  // -> piece; why not, or "".
  std::string read(const LockedProgram& p, const Computation& c, const Part& part, Piece& piece) {
    if (p.threads > entry_.threads) return "a program with more threads than the kernel";
    Result<Family> found = family(p.family, c);
    if (!found) return found.error().text;
    piece.problem = Problem{&c, &machine_, std::move(*found), p.threads, part};
    Result<ImplPtr> impl = parse_impl(p.nest, piece.problem);
    if (!impl) return impl.error().text;
    piece.impl = std::move(*impl);
    piece.cost_cycles = p.cycles;
    return problem_of(piece.problem, *piece.impl);
  }

  const LockedKernel& entry_;
  const Computation& c_;
  const Machine& machine_;
  const Isa& isa_;
};

}  // namespace

// Why the nest of an entry cannot be written; empty when it can.
static std::string problem_of(const Fusion& f, const LockedKernel& entry) {
  if (f.threads != entry.threads) return fmt::format("a nest for {} threads", f.threads);
  for (const StageProgram& p : f.programs)
    if (std::string why = problem_of(p.problem, *p.impl); !why.empty()) return why;
  return "";
}

// Of several stages.
static Result<Optimum> replay_fusion(const LockedKernel& entry, const KernelSpec& spec,
                                     const Machine& machine, const Isa& isa) {
  Result<Fusion> fusion = parse_fusion(entry.nest, spec, machine, isa);
  if (!fusion) return fusion.error();
  if (std::string why = verify(*fusion); !why.empty()) return error(why);
  if (std::string why = problem_of(*fusion, entry); !why.empty()) return error(why);
  const StageProgram& most = dearest(*fusion);
  Optimum best{most.problem, most.impl, Cost::cycles(entry.cycles), {}, 0, {}};
  best.fusion = std::make_shared<const Fusion>(std::move(*fusion));
  return best;
}

// The same for any number of rows.
static Result<Optimum> replay_rows(const LockedKernel& entry, const KernelSpec& spec,
                                   const Machine& machine, const Isa& isa) {
  Result<AnyRows> rows = parse_rows(entry.nest, spec, machine, isa);
  if (!rows) return rows.error();
  if (std::string why = verify(*rows); !why.empty()) return error(why);
  for (const Fusion* f : fusions(*rows))
    if (std::string why = problem_of(*f, entry); !why.empty()) return error(why);
  const StageProgram& most = dearest(*fusions(*rows).front());
  Optimum best{most.problem, most.impl, Cost::cycles(entry.cycles), {}, 0, {}};
  best.rows = std::make_shared<const AnyRows>(std::move(*rows));
  return best;
}

static Result<Optimum> replay_stages(const LockedKernel& entry, const KernelSpec& spec,
                                     const Machine& machine, const Isa& isa) {
  if (!entry.pieces.empty() || !entry.programs.empty() || entry.divided != 1)
    return error("a kernel of several stages has one nest");
  return spec.sizes().empty() ? replay_fusion(entry, spec, machine, isa)
                              : replay_rows(entry, spec, machine, isa);
}

LockedKernel locked(const KernelSpec& spec, const Machine& machine, int threads, const Found& f) {
  const Optimum& best = f.best;
  LockedKernel k{.target = "",
                 .name = spec.name,
                 .isa = std::string(best.problem.family.isa->name),
                 .spec = spec.str(),
                 .machine = machine.name,
                 .machine_sha256 = sha256(machine.toml()),
                 .threads = threads,
                 .cycles = std::llround(best.cost.as_cycles())};
  if (best.fusion) k.nest = print(*best.fusion);
  if (best.rows) k.nest = print(*best.rows);
  if (!k.nest.empty()) return k;
  if (!best.patchwork) {
    k.programs.push_back(locked_program(best.problem, *best.impl, k.cycles));
    return k;
  }
  const Patchwork& work = *best.patchwork;
  for (const PiecedDim& d : work.dims)
    k.pieces.push_back(
        {spec.computation().dims[static_cast<size_t>(d.dim)].name, d.sizes, d.elastic});
  k.divided = work.threads;
  k.divided_from = work.threads_from;
  for (size_t n = 0; n < work.programs.size(); ++n) {
    const Piece& p = work.programs[n];
    k.programs.push_back(locked_program(p.problem, *p.impl, p.cost_cycles));
    const Part& part = p.problem.part;
    if (part.elastic == work.elastic(work.pieces(n))) continue;
    for (const PiecedDim& d : work.dims)
      if (part.is_elastic(d.dim))
        k.programs.back().elastic.push_back(
            spec.computation().dims[static_cast<size_t>(d.dim)].name);
  }
  return k;
}

std::string out_of_date(const LockedKernel& entry, const KernelSpec& spec, const Machine& machine,
                        int threads) {
  if (entry.spec != spec.str())
    return fmt::format("its spec is `{}`, the lock file has `{}`", spec.str(), entry.spec);
  if (entry.threads != threads)
    return fmt::format("it may use {} threads, the lock file says {}", threads, entry.threads);
  const std::string digest = sha256(machine.toml());
  if (entry.machine != machine.name || entry.machine_sha256 != digest)
    return fmt::format("its machine is {} (sha256 {}), the lock file has {} (sha256 {})",
                       machine.name, digest, entry.machine, entry.machine_sha256);
  return "";
}

Result<Found> replay(const LockedKernel& entry, const KernelSpec& spec, const Machine& machine,
                     const Isa& isa) {
  Result<Optimum> best = spec.stages.size() > 1
                             ? replay_stages(entry, spec, machine, isa)
                             : Replay(entry, spec.computation(), machine, isa).run();
  if (!best) return best.error();
  return Found{std::move(*best), 0};
}

}  // namespace morello
