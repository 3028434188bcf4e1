// Dims of a Graph that all stages walk through as if they were one. Axes of tensors become one with
// them, in all stages that use the tensor, whatever the dims are called there:
//
//   h[m,a,b] = ...    out = matmul(h, transpose(h))     a, b are k0, k1 of the second stage
//
// so that a pair of dims has others as its consequence, and all become one or none.
#include <algorithm>
#include <set>

#include "spec/build.h"
#include "spec/graph.h"

namespace morello {
namespace {

using Pair = std::pair<int, int>;  // dims of the graph, the outer one first

class Run {
 public:
  explicit Run(const Graph& g) : g_(g) {}

  // Whether the pair can become one dim, with all that follows.
  bool add(Pair p);
  void merge(Graph& g) const;

 private:
  bool add_tensor_axis(int tensor, int axis);
  bool add_axes(int stage, int outer);
  static void merge_axes(Graph& g, int tensor, int axis);

  const Graph& g_;
  std::set<Pair> pairs_;
  std::set<int> dims_;   // of pairs
  std::set<Pair> axes_;  // tensor and outer axis
};

bool Run::add(Pair p) {
  if (!pairs_.insert(p).second) return true;
  if (!dims_.insert(p.first).second || !dims_.insert(p.second).second) return false;
  for (size_t s = 0; s < g_.stages.size(); ++s) {
    const int outer = g_.dims[p.first].in_stage[s], inner = g_.dims[p.second].in_stage[s];
    if (outer < 0 && inner < 0) continue;
    if (outer < 0 || inner != outer + 1 || !can_merge(g_.stages[s].computation, outer))
      return false;
    if (!add_axes(static_cast<int>(s), outer)) return false;
  }
  return true;
}

// Of all that the stage reads and makes.
bool Run::add_axes(int stage, int outer) {
  const Computation& c = g_.stages[stage].computation;
  const auto is_inner = [&](const AxisMap& a) { return a.size() == 1 && a[0].dim == outer + 1; };
  for (int t = 0; t < c.tensors(); ++t) {
    const std::vector<AxisMap>& axes = c.tensor(t).axes;
    if (!touches(c.tensor(t), outer)) continue;
    const auto inner = std::find_if(axes.begin(), axes.end(), is_inner);
    if (!add_tensor_axis(g_.tensor_of(stage, t), static_cast<int>(inner - axes.begin()) - 1))
      return false;
  }
  return true;
}

bool Run::add_tensor_axis(int tensor, int axis) {
  if (!axes_.insert({tensor, axis}).second) return true;
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
    const Computation& c = g_.stages[s].computation;
    const std::vector<Border>& border = g_.stages[s].border;
    if (g_.made_by(s) == tensor && !border.empty() &&
        (border[axis] != Border{} || border[axis + 1] != Border{}))
      return false;
    for (int t = 0; t < c.tensors(); ++t) {
      if (g_.tensor_of(s, t) != tensor) continue;
      const std::vector<AxisMap>& axes = c.tensor(t).axes;
      if (axes.size() < static_cast<size_t>(axis) + 2 || axes[axis + 1].size() != 1) return false;
      const int inner = axes[axis + 1][0].dim;
      const auto is_before = [&](const AxisTerm& a) { return a.dim == inner - 1; };
      if (std::none_of(axes[axis].begin(), axes[axis].end(), is_before)) return false;
      if (!add({g_.dim_of(s, inner - 1), g_.dim_of(s, inner)})) return false;
    }
  }
  return true;
}

void Run::merge(Graph& g) const {
  for (const auto& [outer, inner] : pairs_) {
    g.dims[inner].extent *= g.dims[outer].extent;
    for (size_t s = 0; s < g.stages.size(); ++s) {
      const int own = g.dims[outer].in_stage[s];
      if (own < 0) continue;
      morello::merge(g.stages[s].computation, own);
      for (GraphDim& d : g.dims) d.in_stage[s] -= d.in_stage[s] > own;
    }
  }
  for (auto p = pairs_.rbegin(); p != pairs_.rend(); ++p) g.dims.erase(g.dims.begin() + p->first);
  for (auto a = axes_.rbegin(); a != axes_.rend(); ++a) merge_axes(g, a->first, a->second);
}

// What its stages have done already.
void Run::merge_axes(Graph& g, int tensor, int axis) {
  Param& p = g.tensors[tensor];
  p.shape[axis + 1].extent *= p.shape[axis].extent;
  p.shape.erase(p.shape.begin() + axis);
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s) {
    if (const int t = g.operand_of(s, tensor); t >= 0)
      p.layout = g.stages[s].computation.tensor(t).layout;
    if (std::vector<Border>& b = g.stages[s].border; g.made_by(s) == tensor && !b.empty())
      b.erase(b.begin() + axis);
  }
}

// The next one that there is.
bool merge_one(Graph& g) {
  const int dims = static_cast<int>(g.dims.size());
  for (int outer = 0; outer < dims; ++outer)
    for (int inner = 0; inner < dims; ++inner)
      if (Run run(g); outer != inner && run.add({outer, inner})) {
        run.merge(g);
        return true;
      }
  return false;
}

// "n", "n1", "n2"
void renumber(std::vector<GraphDim>& dims) {
  std::set<std::string> taken;
  for (GraphDim& d : dims) {
    const std::string letter = d.name.substr(0, d.name.find_first_of("0123456789"));
    d.name = letter;
    for (int i = 1; !taken.insert(d.name).second; ++i) d.name = fmt::format("{}{}", letter, i);
  }
}

}  // namespace

void collapse(Graph& g) {
  while (merge_one(g)) continue;
  renumber(g.dims);
}

}  // namespace morello
