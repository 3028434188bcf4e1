#include <set>

#include "spec/algebra.h"

namespace morello {

bool is_finished(const Stage& s) {
  const Computation& c = s.computation;
  return c.reduces() && !c.gathers_in_output() && c.result() == c.compute && !c.output().packed;
}

namespace {

// What is made of a sum, as arithmetic on elements; extras in the order of their first use.
void add_finish(const Stage& sum, const std::vector<int>& to, Stage& made) {
  const Computation& from = sum.computation;
  Computation& c = made.computation;
  Expression finish = from.finish;
  if (finish.empty()) finish.push_back({.fn = Fn::kValue, .type = from.compute});
  std::map<int, int> numbers;
  for (Term t : finish) {
    if (t.fn == Fn::kValue) t = read_input(0, t.type);
    if (t.fn == Fn::kExtra) {
      const auto [number, is_new] = numbers.emplace(t.a, static_cast<int>(numbers.size()));
      if (is_new) {
        c.extras.push_back(from.extras[t.a]);
        map_dims(c.extras.back(), to);
        made.arguments.push_back(sum.arguments[from.inputs() + t.a]);
      }
      t.a = number->second;
    }
    c.body.push_back(t);
  }
}

}  // namespace

int split_sum(Draft& draft, int tensor) {
  Draft::Item made = draft.at(tensor);
  Draft::Item& sum = draft.at(tensor);
  Computation& c = sum.stage.computation;
  const std::string name = made.made.name + "_sum";
  Elements last = on_elements(c, c.output());
  last.c.operands.insert(last.c.operands.begin(), between(last.c.output(), name, c.compute));
  last.c.compute = c.compute;
  made.stage.computation = std::move(last.c);
  made.stage.arguments = {draft.next};
  add_finish(sum.stage, last.to, made.stage);

  c.finish.clear();
  c.extras.resize(static_cast<size_t>(operands_of(c.body, Fn::kExtra)));
  c.operands.back() = between(c.output(), name, c.compute);
  sum.stage.arguments.resize(static_cast<size_t>(c.inputs()) + c.extras.size());
  sum.stage.border.clear();
  sum.made = tensor_of(c.output());
  sum.tensor = draft.next++;
  draft.insert_late(std::move(made));
  return draft.next - 1;
}

// Where a stage before or behind has a dim that the sum is over: they could share a tile.
static bool is_next_to_its_terms(const Graph& g, int stage) {
  for (const GraphDim& d : g.dims)
    for (const int other : {stage - 1, stage + 1})
      if (other >= 0 && other < static_cast<int>(g.stages.size()) && d.in_stage[other] >= 0 &&
          d.in_stage[stage] >= 0 && g.stages[stage].computation.dims[d.in_stage[stage]].reduction)
        return true;
  return false;
}

std::optional<Graph> sums_apart(const Graph& g) {
  Draft draft(g);
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s)
    if (is_finished(g.stages[s]) && is_next_to_its_terms(g, s)) split_sum(draft, g.made_by(s));
  if (draft.items.size() == g.stages.size()) return std::nullopt;
  Graph out = draft.graph();
  out.apart = true;
  return out;
}

}  // namespace morello
