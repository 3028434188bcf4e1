#include "impl/patchwork.h"

#include <algorithm>

#include "impl/finishing.h"
#include "impl/parts.h"

namespace morello {

size_t Patchwork::number(const std::vector<int>& which, bool adds) const {
  size_t n = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    n = n * dims[i].sizes.size() + static_cast<size_t>(which[i]);
  return sums ? 2 * n + (adds ? 1 : 0) : n;
}

std::vector<int> Patchwork::pieces(size_t number) const {
  std::vector<int> which(dims.size());
  if (sums) number /= 2;
  for (size_t i = dims.size(); i-- > 0; number /= dims[i].sizes.size())
    which[i] = static_cast<int>(number % dims[i].sizes.size());
  return which;
}

std::vector<i64> Patchwork::extents(const Computation& c, const std::vector<int>& which) const {
  std::vector<i64> out;
  for (const Dim& d : c.dims) out.push_back(d.extent);
  for (size_t i = 0; i < dims.size(); ++i)
    out[static_cast<size_t>(dims[i].dim)] = dims[i].extent(which[i]);
  return out;
}

std::uint8_t Patchwork::elastic(const std::vector<int>& which) const {
  unsigned out = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].is_elastic(which[i])) out |= 1u << dims[i].dim;
  return static_cast<std::uint8_t>(out);
}

std::uint8_t Patchwork::elastic() const {
  std::vector<int> smallest;
  for (const PiecedDim& d : dims) smallest.push_back(static_cast<int>(d.sizes.size()) - 1);
  return elastic(smallest);
}

// What does `left` of a parallel dim, or begins to: of this size or a smaller one.
static int rest_piece(const PiecedDim& dim, int which, i64 left) {
  const int last = static_cast<int>(dim.sizes.size()) - 1;
  const auto least = [&](int w) { return dim.rests.empty() ? dim.sizes[w + 1] + 1 : dim.rests[w]; };
  while (which < last && left < least(which)) ++which;
  return which;
}

std::vector<Cut> cuts(const PiecedDim& dim, i64 extent, bool reduction) {
  const std::vector<i64>& sizes = dim.sizes;
  const auto largest = [&](i64 left) {
    return static_cast<int>(
        std::find_if(sizes.begin(), sizes.end() - 1, [&](i64 s) { return s <= left; }) -
        sizes.begin());
  };
  std::vector<Cut> out;
  const int whole = largest(extent);
  for (i64 at = 0; at < extent;) {
    int which = reduction ? largest(extent - at) : whole;
    if (!reduction && extent - at < sizes[which]) {
      which = rest_piece(dim, which, extent - at);
      at = std::min(at, extent - sizes[which]);
    }
    i64 length = sizes[which];
    if (dim.is_elastic(which))
      length = std::min((extent - at) / length * length, dim.extent(which));
    out.push_back({at, which, length});
    at += length;
  }
  return out;
}

void choose_rests(PiecedDim& d, const std::vector<i64>& cycles) {
  const int last = static_cast<int>(d.sizes.size()) - 1;
  const i64 granule = d.sizes.back();
  d.rests = d.sizes;
  for (int w = last - 1; w >= 0; --w) {
    const auto by_smaller = [&](i64 left) {
      i64 sum = 0;
      while (left > 0) {
        const int piece = rest_piece(d, w + 1, left);
        sum += cycles[piece];
        left -= d.is_elastic(piece) ? left : d.sizes[piece];
      }
      return sum;
    };
    i64& least = d.rests[w];
    for (least = d.sizes[w + 1] + granule; least < d.sizes[w]; least += granule)
      if (cycles[w] <= by_smaller(least)) break;
  }
}

void choose_rests(Patchwork& work, const Computation& c) {
  for (size_t i = 0; i < work.dims.size(); ++i) {
    PiecedDim& d = work.dims[i];
    if (c.dims[d.dim].reduction) continue;
    std::vector<int> which(work.dims.size(), 0);
    std::vector<i64> cycles;
    for (; which[i] < static_cast<int>(d.sizes.size()); ++which[i])
      cycles.push_back(work.programs[work.number(which, false)].cost_cycles + kTurnCycles);
    choose_rests(d, cycles);
  }
}

std::string sizes_problem(const PiecedDim& d, const RunTimeSize& size) {
  const auto not_below = [](i64 a, i64 b) { return a <= b; };
  if (d.sizes.empty() || d.sizes.back() != size.granule ||
      std::adjacent_find(d.sizes.begin(), d.sizes.end(), not_below) != d.sizes.end())
    return fmt::format("pieces of {} descend to the granule {}", size.name, size.granule);
  for (const i64 s : d.sizes)
    if (s % size.granule != 0) return fmt::format("{} is no multiple of {}", s, size.granule);
  if (d.sizes.front() / size.granule > kMostGranules)
    return fmt::format("a piece of {} has {} granules at most", size.name, kMostGranules);
  return "";
}

std::string sizes_problem(const PiecedDim& d, const Computation& c) {
  const Dim& dim = c.dims[static_cast<size_t>(d.dim)];
  const RunTimeSize* size = run_time_size(c, d.dim);
  if (!size) return fmt::format("the size of {} is a number", dim.name);
  if (std::string why = sizes_problem(d, *size); !why.empty()) return why;
  const int count = static_cast<int>(d.sizes.size());
  if (d.elastic < 0 || d.elastic >= count)
    return fmt::format("{} is elastic from piece {} on", dim.name, d.elastic);
  if (d.elastic > 0 && !dim.reduction && d.elastic + 1 < count)
    return fmt::format("{} is no reduction, and more than one size is elastic", dim.name);
  for (size_t i = 1; i < d.sizes.size(); ++i)
    if (d.is_elastic(static_cast<int>(i)) && d.sizes[i - 1] % d.sizes[i] != 0)
      return fmt::format("{} is elastic and {} no multiple of {}", dim.name, d.sizes[i - 1],
                         d.sizes[i]);
  return "";
}

// Whether vectors of a tensor along its lanes can be masked by a number that is a variable.
static bool masks(const Access* a, const Operand& o, const AddressMap& map, int lane) {
  if (!touches(o, lane)) return true;
  return a && a->regs == 1 && a->group == 1 && map.unit_stride(lane) == 1 &&
         a->partial.find("{count}") != std::string_view::npos;
}

static bool masks_lanes(const Family& f, const Computation& c) {
  if (f.lane < 0 || f.kernel->lanes == 1 || f.kernel->lanes_reduce) return false;
  if (finishes_by_helpers(f, c)) return false;
  const auto all = [&](const Access* a, int t) {
    return !c.tensor(t).packed && masks(a, c.tensor(t), given_address(c, t), f.lane);
  };
  const int out = c.inputs();
  for (int o = 0; o < out; ++o)
    if (!all(f.loads[o], o)) return false;
  if (!all(f.store, out) || (c.reduces() && !all(f.reload, out))) return false;
  for (int e = 0; e < static_cast<int>(c.extras.size()); ++e)
    for (const auto* rows : {&f.extras, &f.body_extras})
      if (static_cast<size_t>(e) < rows->size() && (*rows)[e] && !all((*rows)[e], out + 1 + e))
        return false;
  return true;
}

bool can_be_elastic(const Family& f, const Computation& c, int dim, i64 size) {
  if (!c.dims[static_cast<size_t>(dim)].reduction) return f.lane == dim && masks_lanes(f, c);
  return !f.kernel->lanes_reduce || f.lane != dim || size % reduction_slot(f, c) == 0;
}

static bool is_one_plain_digit(const AddressMap& map, int dim) {
  const auto of_dim = [&](const AddressTerm& t) { return t.dim == dim; };
  const auto term = std::find_if(map.terms.begin(), map.terms.end(), of_dim);
  return term != map.terms.end() && term->is_plain() && term->stride != 1 &&
         std::count_if(map.terms.begin(), map.terms.end(), of_dim) == 1;
}

bool can_copy_elastic(const Problem& p, int operand, int dim) {
  const Operand& o = p.computation->operands[operand];
  if (operand == p.computation->inputs()) return false;
  // No window, whose other dim would share the axis.
  for (const AxisMap& axis : o.axes)
    if (axis.size() > 1 &&
        std::any_of(axis.begin(), axis.end(), [&](const AxisTerm& t) { return t.dim == dim; }))
      return false;
  const Extents extent = p.root().extent;
  return is_one_plain_digit(p.family.packed[operand].address(extent), dim) &&
         is_one_plain_digit(p.root_address(operand), dim);
}

std::uint8_t elastic_dims(const Problem& p, int operand) {
  unsigned out = 0;
  for (int d = 0; d < static_cast<int>(p.computation->dims.size()); ++d)
    if (p.part.is_elastic(d) && touches(p.computation->operands[operand], d)) out |= 1u << d;
  return static_cast<std::uint8_t>(out);
}

namespace {

// Why a program is not for every extent of its elastic dims; empty when it is.
std::string elastic_problem(const Problem& p, const Spec& spec, const Impl& impl) {
  const Computation& c = *p.computation;
  const auto elastic = [&](int d) { return p.part.is_elastic(d); };
  bool output = false;
  for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
    output |= elastic(d) && !c.dims[static_cast<size_t>(d)].reduction;
  if (const Loop* loop = std::get_if<Loop>(&impl.node); loop) {
    if (elastic(loop->dim))
      return fmt::format("it divides {}, which is elastic", c.dims[loop->dim].name);
    if (output && loop->parallel && c.dims[loop->dim].reduction)
      return "it has copies of an output that is elastic";
  }
  if (const Move* move = std::get_if<Move>(&impl.node); move && move->copy)
    for (int d = 0; d < static_cast<int>(c.dims.size()); ++d)
      if (elastic(d) && touches(c.operands[move->operand], d) &&
          !can_copy_elastic(p, move->operand, d))
        return fmt::format("it copies {} along {}, which is elastic",
                           c.operands[move->operand].name, c.dims[d].name);
  if (const Call* call = std::get_if<Call>(&impl.node);
      call && call->kind == Call::Kind::kFill && output)
    return "it fills an output that is elastic";
  for (const Child& child : children(p, spec, impl))
    if (std::string why = elastic_problem(p, child.spec, *child.impl); !why.empty()) return why;
  return "";
}

// Why this is no program for its piece; empty when it is.
std::string program_problem(const Patchwork& work, size_t number) {
  const Problem& p = work.programs[number].problem;
  const Impl& impl = *work.programs[number].impl;
  const std::vector<int> which = work.pieces(number);
  const unsigned least = work.elastic(which), most = work.elastic();
  if ((p.part.elastic & least) != least || (p.part.elastic & most) != p.part.elastic)
    return "other dims are elastic than those of its piece";
  for (size_t i = 0; i < which.size(); ++i) {
    const PiecedDim& d = work.dims[i];
    const i64 size = d.sizes[static_cast<size_t>(which[i])];
    if (p.part.is_elastic(d.dim) && !can_be_elastic(p.family, *p.computation, d.dim, size))
      return fmt::format("its leaves cannot do any multiple of {} of {}", size,
                         p.computation->dims[static_cast<size_t>(d.dim)].name);
  }
  if (std::string why = verify(p, p.root(), impl); !why.empty()) return why;
  return elastic_problem(p, p.root(), impl);
}

std::string extents_text(const Patchwork& work, const Computation& c, const Piece& piece) {
  std::string out;
  for (const PiecedDim& d : work.dims)
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " ", c.dims[d.dim].name,
                       piece.problem.part.is_elastic(d.dim) ? "<=" : "=",
                       piece.computation->dims[d.dim].extent);
  return piece.problem.part.adds ? out + " adding" : out;
}

// Calls visit(which, adds, at, length) for every piece of the kernel, in the order in which it runs
// them.
class Walk {
 public:
  Walk(const Patchwork& work, const Computation& c) : work_(work), c_(c) {}
  void run(auto visit) {
    std::vector<int> which;
    std::vector<i64> at(c_.dims.size(), 0), length;
    for (const Dim& d : c_.dims) length.push_back(d.extent);
    bool adds = false;
    level(which, at, length, adds, visit);
  }

 private:
  void level(std::vector<int>& which, std::vector<i64>& at, std::vector<i64>& length, bool& adds,
             auto& visit) {
    if (which.size() == work_.dims.size()) {
      visit(which, adds, at, length);
      adds = true;
      return;
    }
    const PiecedDim& d = work_.dims[which.size()];
    const bool reduction = c_.dims[d.dim].reduction;
    for (const Cut& cut : cuts(d, c_.dims[d.dim].extent, reduction)) {
      if (!reduction) adds = false;
      at[d.dim] = cut.at;
      length[d.dim] = cut.length;
      which.push_back(cut.which);
      level(which, at, length, adds, visit);
      which.pop_back();
    }
  }

  const Patchwork& work_;
  const Computation& c_;
};

}  // namespace

std::string print(const Patchwork& work, const Computation& c) {
  std::string out;
  for (const PiecedDim& d : work.dims) {
    out += fmt::format("pieces of {}: {}", c.dims[d.dim].name, d.sizes.front());
    for (size_t i = 1; i < d.sizes.size(); ++i)
      out += fmt::format(" {}{}", d.is_elastic(static_cast<int>(i)) ? "any*" : "", d.sizes[i]);
    if (work.threads > 1 && &d == &work.dims.front())
      out += fmt::format("; divided among {} threads from {} on", work.threads, work.threads_from);
    out += '\n';
  }
  for (size_t n = 0; n < work.programs.size(); ++n) {
    const Piece& b = work.programs[n];
    if (b.problem.part.elastic != work.elastic(work.pieces(n))) continue;  // it comes below
    out += fmt::format("{}: {} cycles, {}\n{}", extents_text(work, c, b), b.cost_cycles,
                       b.problem.family.str(*b.computation), print(b.problem, *b.impl));
  }
  return out;
}

std::vector<double> interpret(const Patchwork& work, const Computation& c,
                              const std::vector<std::vector<double>>& inputs) {
  std::vector<double> out(static_cast<size_t>(count_elements(c.output().shape)), 0.0);
  Walk(work, c).run([&](const std::vector<int>& which, bool adds, const std::vector<i64>& at,
                        const std::vector<i64>& length) {
    const Piece& piece = work.programs[work.number(which, adds)];
    const Computation part = with_extents(*piece.computation, length);
    Problem problem = piece.problem;
    problem.computation = &part;
    std::vector<std::vector<double>> given;
    for (int t = 0; t < c.tensors(); ++t) {
      if (t == c.inputs()) continue;
      given.push_back(values_of_part(c.tensor(t), part.tensor(t), at, inputs[given.size()]));
    }
    const std::vector<double> result = interpret(problem, *piece.impl, given);
    each_element(c.output(), part.output(), at, [&](size_t i, size_t there) {
      double& to = out.at(there);
      to = adds ? apply(*fn_def(joined_by(c.combine)), c.compute, to, result[i]) : result[i];
    });
  });
  return out;
}

std::string verify(const Patchwork& work, const Computation& c) {
  size_t programs = work.sums ? 2 : 1;
  for (const PiecedDim& d : work.dims) {
    if (std::string why = sizes_problem(d, c); !why.empty()) return why;
    programs *= d.sizes.size();
  }
  if (programs != work.programs.size())
    return fmt::format("{} programs for {} pieces", work.programs.size(), programs);
  for (size_t n = 0; n < work.programs.size(); ++n)
    if (std::string why = program_problem(work, n); !why.empty())
      return fmt::format("{}: {}", extents_text(work, c, work.programs[n]), why);
  return "";
}

}  // namespace morello
