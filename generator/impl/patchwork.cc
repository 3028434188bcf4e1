#include "impl/patchwork.h"

#include <algorithm>

#include "impl/parts.h"

namespace morello {

size_t Patchwork::number(const std::vector<int>& which, bool adds) const {
  size_t n = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    n = n * dims[i].sizes.size() + static_cast<size_t>(which[i]);
  return sums ? 2 * n + (adds ? 1 : 0) : n;
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
      while (which + 1 < static_cast<int>(sizes.size()) && sizes[which + 1] >= extent - at) ++which;
      at = extent - sizes[which];
    }
    out.push_back({at, which});
    at += sizes[which];
  }
  return out;
}

namespace {

std::string extents_text(const Patchwork& work, const Computation& c, const Piece& piece) {
  std::string out;
  for (const PiecedDim& d : work.dims)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", c.dims[d.dim].name,
                       piece.computation->dims[d.dim].extent);
  return piece.problem.part.adds ? out + " adding" : out;
}

// Calls visit(which, adds, at) for every piece of the kernel, in the order in which it runs them.
class Walk {
 public:
  Walk(const Patchwork& work, const Computation& c) : work_(work), c_(c) {}
  void run(auto visit) {
    std::vector<int> which;
    std::vector<i64> at(c_.dims.size(), 0);
    bool adds = false;
    level(which, at, adds, visit);
  }

 private:
  void level(std::vector<int>& which, std::vector<i64>& at, bool& adds, auto& visit) {
    if (which.size() == work_.dims.size()) {
      visit(which, adds, at);
      adds = true;
      return;
    }
    const PiecedDim& d = work_.dims[which.size()];
    const bool reduction = c_.dims[d.dim].reduction;
    for (const Cut& cut : cuts(d, c_.dims[d.dim].extent, reduction)) {
      if (!reduction) adds = false;
      at[d.dim] = cut.at;
      which.push_back(cut.which);
      level(which, at, adds, visit);
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
    out += fmt::format("pieces of {}: {}", c.dims[d.dim].name, fmt::join(d.sizes, " "));
    if (work.threads > 1 && &d == &work.dims.front())
      out += fmt::format("; divided among {} threads from {} on", work.threads, work.threads_from);
    out += '\n';
  }
  for (const Piece& b : work.programs)
    out += fmt::format("{}: {} cycles, {}\n{}", extents_text(work, c, b), b.cost_cycles,
                       b.problem.family.str(*b.computation), print(b.problem, *b.impl));
  return out;
}

std::vector<double> interpret(const Patchwork& work, const Computation& c,
                              const std::vector<std::vector<double>>& inputs) {
  std::vector<double> out(static_cast<size_t>(count_elements(c.output().shape)), 0.0);
  Walk(work, c).run([&](const std::vector<int>& which, bool adds, const std::vector<i64>& at) {
    const Piece& piece = work.programs[work.number(which, adds)];
    const Computation& part = *piece.computation;
    std::vector<std::vector<double>> given;
    for (int t = 0; t < c.tensors(); ++t) {
      if (t == c.inputs()) continue;
      given.push_back(values_of_part(c.tensor(t), part.tensor(t), at, inputs[given.size()]));
    }
    const std::vector<double> result = interpret(piece.problem, *piece.impl, given);
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
    const RunTimeSize* size = run_time_size(c, d.dim);
    if (!size) return fmt::format("the size of {} is a number", c.dims[d.dim].name);
    if (d.sizes.empty() || d.sizes.back() != size->granule ||
        !std::is_sorted(d.sizes.rbegin(), d.sizes.rend()))
      return fmt::format("pieces of {} descend to the granule {}", size->name, size->granule);
    programs *= d.sizes.size();
  }
  if (programs != work.programs.size())
    return fmt::format("{} programs for {} pieces", work.programs.size(), programs);
  for (const Piece& b : work.programs)
    if (std::string why = verify(b.problem, b.problem.root(), *b.impl); !why.empty())
      return fmt::format("{}: {}", extents_text(work, c, b), why);
  return "";
}

}  // namespace morello
