#include "spec/graph.h"

#include <algorithm>
#include <tuple>

#include "spec/elements.h"

namespace morello {

int Graph::tensor_of(int stage, int t) const {
  const Stage& s = stages[stage];
  if (t == s.computation.inputs()) return made_by(stage);
  return s.arguments[t < s.computation.inputs() ? t : t - 1];
}

i64 Graph::first_inside(int stage, std::span<const i64> buffer) const {
  i64 at = 0;
  for (size_t axis = 0; axis < stages[stage].border.size(); ++axis)
    at = at * buffer[axis] + stages[stage].border[axis].low;
  return at;
}

int Graph::dim_of(int stage, int dim) const {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d].in_stage[stage] == dim) return static_cast<int>(d);
  MORELLO_CHECK(false, "stage {} has no dim {}", stage, dim);
  return -1;
}

int Graph::operand_of(int stage, int tensor) const {
  for (int t = 0; t < stages[stage].computation.tensors(); ++t)
    if (tensor_of(stage, t) == tensor) return t;
  return -1;
}

bool Graph::uses_buffer(int stage, int tensor) const {
  for (int t = 0; t < stages[stage].computation.tensors(); ++t)
    if (buffer_of(tensor_of(stage, t)) == tensor) return true;
  return false;
}

namespace {

// The dims of all stages, joined step by step: no two of one stage become one.
class Joined {
 public:
  explicit Joined(const Graph& g) : g_(g) {
    for (size_t s = 0; s < g.stages.size(); ++s)
      for (size_t d = 0; d < g.stages[s].computation.dims.size(); ++d)
        all_.push_back({{static_cast<int>(s), static_cast<int>(d)}});
  }

  // Axis by axis of one tensor.
  void join(int stage, const Operand& o, int other_stage, const Operand& other) {
    for (size_t axis = 0; axis < o.axes.size() && o.axes.size() == other.axes.size(); ++axis)
      if (is_plain(o.axes[axis]) && is_plain(other.axes[axis]))
        join({stage, o.axes[axis][0].dim}, {other_stage, other.axes[axis][0].dim});
  }

  std::vector<GraphDim> dims() const {
    std::vector<GraphDim> out;
    for (const Class& c : all_) {
      const Dim& first = dim(c.front());
      GraphDim& d = out.emplace_back();
      d.extent = first.extent;
      d.in_stage.assign(g_.stages.size(), -1);
      for (const auto& [stage, number] : c) d.in_stage[stage] = number;
      d.name = fresh(first.name.substr(0, first.name.find_first_of("0123456789")), out);
    }
    return out;
  }

 private:
  using Class = std::vector<std::pair<int, int>>;  // stage and dim

  // "n", "n1", "n2"
  static std::string fresh(const std::string& letter, const std::vector<GraphDim>& taken) {
    std::string name = letter;
    const auto same = [&](const GraphDim& d) { return d.name == name; };
    for (int i = 1; std::any_of(taken.begin(), taken.end(), same); ++i)
      name = fmt::format("{}{}", letter, i);
    return name;
  }
  static bool is_plain(const AxisMap& axis) { return axis.size() == 1 && axis[0].coefficient == 1; }
  const Dim& dim(std::pair<int, int> d) const {
    return g_.stages[d.first].computation.dims[d.second];
  }
  size_t find(std::pair<int, int> d) const {
    size_t i = 0;
    while (std::find(all_[i].begin(), all_[i].end(), d) == all_[i].end()) ++i;
    return i;
  }
  void join(std::pair<int, int> a, std::pair<int, int> b) {
    const size_t to = find(a), from = find(b);
    if (to == from || dim(a).extent != dim(b).extent) return;
    for (const auto& x : all_[to])
      for (const auto& y : all_[from])
        if (x.first == y.first) return;
    all_[to].insert(all_[to].end(), all_[from].begin(), all_[from].end());
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(from));
  }

  const Graph& g_;
  std::vector<Class> all_;
};

// Whether a stage reads the tensor at no other elements than that of the output which it makes, and
// before anything is there: what goes into a sum is read as long as it gathers. (Ranges of long
// rows were wrong by several threads, of which one gathers in the output.)
bool by_elements(const Graph& g, int stage, int tensor) {
  const Computation& c = g.stages[stage].computation;
  for (int t = 0; t < c.tensors(); ++t) {
    if (t == c.inputs() || g.tensor_of(stage, t) != tensor) continue;
    const int extra = t - c.inputs() - 1;
    if (c.tensor(t).axes != c.output().axes) return false;
    if (c.reduces() && (extra < 0 || names(c.body, Fn::kExtra, extra))) return false;
  }
  return true;
}

// Between the same elements of the same type at the same distances.
bool alike(const Param& a, const Param& b) {
  return !a.packed && !a.strided && !b.packed && !b.strided && a.dtype == b.dtype &&
         a.shape == b.shape && a.layout == b.layout;
}

bool read_behind(const Graph& g, int stage, int tensor) {
  for (int s = stage + 1; s < static_cast<int>(g.stages.size()); ++s)
    if (g.operand_of(s, tensor) >= 0) return true;
  return false;
}

// The tensor between stages that a stage can make its own of in place; -1: none. Sums would have to
// gather where what is added to them lies.
int overwritten_by(const Graph& g, int stage) {
  const Param& made = g.tensors[g.made_by(stage)];
  if (g.stages[stage].computation.reduces() || !g.stages[stage].border.empty()) return -1;
  for (const int t : g.stages[stage].arguments)
    if (t >= g.params && t < g.made_by(stage) && !g.is_result(t) &&
        g.stages[t - g.params].border.empty() && alike(g.tensors[t], made) &&
        by_elements(g, stage, t) && !read_behind(g, stage, t))
      return t;
  return -1;
}

std::map<int, int> find_in_place(const Graph& g) {
  std::map<int, int> out;
  for (int s = 0; s + 1 < static_cast<int>(g.stages.size()); ++s) {
    const int of = g.is_result(g.made_by(s)) ? -1 : overwritten_by(g, s);
    if (of >= 0) out[g.made_by(s)] = out.contains(of) ? out[of] : of;
  }
  return out;
}

// A parameter that may lie there too (docs/spec.md, in place) would be lost.
int find_in_result(const Graph& g) {
  const Param& result = g.tensors.back();
  const int last = static_cast<int>(g.stages.size()) - 1;
  for (int t = 0; t < g.params; ++t) {
    bool elements = alike(g.tensors[t], result);
    for (int s = 0; s <= last; ++s) elements = elements && by_elements(g, s, t);
    if (elements) return -1;
  }
  for (const int t : g.stages[last].arguments)
    if (t >= g.params && !g.is_result(t) && g.stages[t - g.params].border.empty() &&
        alike(g.tensors[t], result) && by_elements(g, last, t))
      return g.buffer_of(t);
  return -1;
}

}  // namespace

// Tensors between stages first: they decide what can run together.
Graph graph_of(std::vector<Stage> all, std::vector<Param> tensors, int params,
               std::vector<int> results, Dims dims) {
  Graph g{.stages = std::move(all),
          .tensors = std::move(tensors),
          .params = params,
          .dims = {},
          .results = std::move(results)};
  Joined joined(g);
  const int stages = static_cast<int>(g.stages.size());
  for (const bool between : {true, false})
    for (int t = 0; t < static_cast<int>(g.tensors.size()); ++t) {
      if ((t >= g.params) != between) continue;
      int first_stage = -1, first_operand = -1;
      for (int s = 0; s < stages; ++s)
        for (int o = 0; o < g.stages[s].computation.tensors(); ++o) {
          if (g.tensor_of(s, o) != t) continue;
          const Operand& operand = g.stages[s].computation.tensor(o);
          if (first_stage >= 0)
            joined.join(first_stage, g.stages[first_stage].computation.tensor(first_operand), s,
                        operand);
          else
            std::tie(first_stage, first_operand) = std::pair(s, o);
        }
    }
  g.dims = joined.dims();
  g.in_place = find_in_place(g);
  g.in_result = find_in_result(g);
  bound_exponentials(g);
  if (dims == Dims::kJoined) collapse(g);
  return g;
}

std::optional<Graph> result_apart(const Graph& g) {
  if (g.in_result < 0) return std::nullopt;
  Graph out = g;
  out.in_result = -1;
  out.result_apart = true;
  return out;
}

Graph graph_of(const KernelSpec& spec, Dims dims) {
  std::vector<Param> tensors;
  for (int t = 0; t < spec.tensors(); ++t) tensors.push_back(spec.tensor(t));
  std::vector<int> results;
  for (const int stage : spec.results) results.push_back(spec.made_by(stage));
  return graph_of(spec.stages, std::move(tensors), static_cast<int>(spec.params.size()),
                  std::move(results), dims);
}

std::vector<double> evaluate(const Graph& g, const std::vector<std::vector<double>>& params) {
  std::vector<std::vector<double>> values = params;
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s) {
    values.emplace_back();
    if (g.is_carried(s)) continue;
    std::vector<std::vector<double>> inputs;
    for (const int t : g.stages[s].arguments) inputs.push_back(values[t]);
    const Computation& c = g.stages[s].computation;
    values.back() = evaluate(c, inputs);
    if (const std::vector<Border>& border = g.stages[s].border; !border.empty())
      values.back() = with_border(values.back(), c.output().shape, border);
  }
  std::vector<double> out;
  for (const int t : g.results) out.insert(out.end(), values[t].begin(), values[t].end());
  return out;
}

}  // namespace morello
