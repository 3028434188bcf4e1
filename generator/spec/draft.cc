#include "spec/draft.h"

#include <set>
#include <string>

namespace morello {

Draft::Draft(const Graph& g)
    : params(g.tensors.begin(), g.tensors.begin() + g.params),
      results(g.results),
      next(static_cast<int>(g.tensors.size())) {
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s)
    items.push_back({g.made_by(s), g.stages[s], g.tensors[g.made_by(s)]});
}

size_t Draft::find(int tensor) const {
  size_t i = 0;
  while (items.at(i).tensor != tensor) ++i;
  return i;
}

void Draft::insert_late(Item item) {
  const auto reader = std::find_if(items.begin(), items.end(), [&](const Item& i) {
    const std::vector<int>& read = i.stage.arguments;
    return std::find(read.begin(), read.end(), item.tensor) != read.end();
  });
  items.insert(reader, std::move(item));
}

int Draft::number(int tensor) const {
  const int given = static_cast<int>(params.size());
  return tensor < given ? tensor : given + static_cast<int>(find(tensor));
}

// Programs are written with names of tensors, and with those of the operands of one stage: no two
// are the same. A user may have taken what a rewrite calls a tensor.
static void name_apart(std::vector<Stage>& stages, std::vector<Param>& tensors) {
  const auto unique = [](std::set<std::string>& taken, std::string& name) {
    const std::string first = name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}{}", first, i);
  };
  std::set<std::string> taken;
  for (Param& t : tensors) unique(taken, t.name);
  for (Stage& s : stages) {
    std::set<std::string> operands;
    for (Operand& o : s.computation.operands) unique(operands, o.name);
  }
}

void Draft::number_all(std::vector<Stage>& stages, std::vector<Param>& tensors) const {
  tensors = params;
  for (const Item& i : items) {
    stages.push_back(i.stage);
    for (int& t : stages.back().arguments) t = number(t);
    tensors.push_back(i.made);
  }
  name_apart(stages, tensors);
}

Graph Draft::graph(Dims dims) const {
  std::vector<Stage> stages;
  std::vector<Param> tensors;
  number_all(stages, tensors);
  std::vector<int> made;
  for (const int t : results) made.push_back(number(t));
  return graph_of(std::move(stages), std::move(tensors), static_cast<int>(params.size()),
                  std::move(made), dims);
}

KernelSpec Draft::kernel(const std::vector<RunTimeSize>& sizes) const {
  KernelSpec out;
  std::vector<Param> tensors;
  number_all(out.stages, tensors);
  const auto given = tensors.begin() + static_cast<std::ptrdiff_t>(params.size());
  out.params.assign(tensors.begin(), given);
  out.made.assign(given, tensors.end());
  for (const int t : results) out.results.push_back(number(t) - static_cast<int>(params.size()));
  const bool named = std::any_of(out.stages.begin(), out.stages.end(), [](const Stage& s) {
    const std::vector<Dim>& dims = s.computation.dims;
    return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d.size.empty(); });
  });
  for (Stage& s : out.stages) s.computation.sizes = named ? sizes : std::vector<RunTimeSize>();
  if (named) return out;
  for (Param& p : out.params)  // nobody reads those that have one
    for (Size& s : p.shape) s.name.clear();
  return out;
}

Term read_input(int operand, Dtype type) { return {.fn = Fn::kInput, .type = type, .a = operand}; }
Term read_extra(int operand, Dtype type) { return {.fn = Fn::kExtra, .type = type, .a = operand}; }
Term binary(Fn fn, int a, int b) { return {.fn = fn, .type = Dtype::f32, .a = a, .b = b}; }

Operand between(const Operand& like, std::string name, Dtype dtype) {
  return {.name = std::move(name),
          .dtype = dtype,
          .shape = like.shape,
          .axes = like.axes,
          .layout = Layout::row(static_cast<int>(like.shape.size()))};
}

Param tensor_of(const Operand& o) {
  Param p{.name = o.name, .dtype = o.dtype, .shape = {}};
  for (const i64 n : o.shape) p.shape.emplace_back(n);
  p.layout = Layout::row(static_cast<int>(p.shape.size()));
  return p;
}

void map_dims(Operand& o, const std::vector<int>& to) {
  for (AxisMap& axis : o.axes) {
    std::erase_if(axis, [&](const AxisTerm& t) { return to[t.dim] < 0; });
    for (AxisTerm& t : axis) t.dim = to[t.dim];
  }
}

Elements on_elements(const Computation& of, Operand output) {
  Elements e;
  for (const Dim& d : of.dims) {
    e.to.push_back(d.reduction ? -1 : static_cast<int>(e.c.dims.size()));
    if (!d.reduction) e.c.dims.push_back(d);
  }
  map_dims(output, e.to);
  e.c.operands = {std::move(output)};
  return e;
}

}  // namespace morello
