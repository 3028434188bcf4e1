// Sums of exponentials in steps (algebra.h): which stages are that, and what they become.
#include <limits>
#include <set>

#include "spec/algebra.h"
#include "spec/elements.h"

namespace morello {
namespace {

// A term that is no less than the lowest number: where the maximum is infinitely low so far, all
// that it was taken from is 0 and not NaN.
int bounded(Expression& e, int term) {
  const double lowest = std::numeric_limits<float>::lowest();
  const int least = add_term(e, {.fn = Fn::kConstant, .type = Dtype::f32, .constant = lowest});
  return add_term(e, binary(Fn::kMax, term, least));
}

// The maximum that is subtracted, bounded or not; -1: something else is.
int maximum_term(const Expression& e, int term) {
  const Term& t = e[term];
  if (t.fn == Fn::kExtra) return term;
  if (t.fn != Fn::kMax || e[t.a].fn != Fn::kExtra || e[t.b].fn != Fn::kConstant) return -1;
  return e[t.b].constant == std::numeric_limits<float>::lowest() ? t.a : -1;
}
// Reads elements of the only operand so far, the output, as one more input.
void read_elements(Stage& s, const std::string& name, int tensor) {
  Computation& c = s.computation;
  Operand o = c.output();
  o.name = name;
  c.operands.insert(c.operands.end() - 1, std::move(o));
  s.arguments.push_back(tensor);
}

// The stages that are carried, for a graph whose sums are all there and follow the exponentials.
class Carrying {
 public:
  Carrying(const Graph& g, int max, int exp) : g_(g), draft_(g), max_(max), exp_(exp) {}

  Graph with(const std::vector<int>& sums) {
    std::vector<Draft::Item> carried = {kept()};
    carried.push_back(growth(carried[0]));
    std::map<int, int> in_place;
    for (const int s : sums) {
      carried.push_back(scaled(s, carried[1]));
      in_place[carried.back().tensor] = g_.made_by(s);
    }
    Expression& e = draft_.items[exp_].stage.computation.body;
    e = bounded_shift(e);
    draft_.items.insert(draft_.items.begin() + max_ + 1, carried.begin() + 1, carried.end());
    draft_.items.insert(draft_.items.begin() + max_, carried[0]);
    Graph out = draft_.graph();
    for (const auto& [made, of] : in_place) out.in_place[draft_.number(made)] = draft_.number(of);
    out.apart = true;
    Online& o = out.online;
    o.max = max_ + 1;
    o.exp = exp_ + static_cast<int>(carried.size());
    o.begin = max_;
    for (const int s : sums)
      o.end = std::max(o.end, static_cast<int>(draft_.find(g_.made_by(s))) + 1);
    for (const Draft::Item& i : carried)
      o.carried.push_back(static_cast<int>(draft_.find(i.tensor)));
    const Computation& c = out.stages[o.max].computation;
    for (size_t d = 0; d < c.dims.size(); ++d)
      if (c.dims[d].reduction) o.dim = out.dim_of(o.max, static_cast<int>(d));
    return out;
  }

 private:
  // A stage on elements of what another one makes; inputs and body are still missing.
  Draft::Item on(int stage, std::string_view suffix) {
    const Computation& c = g_.stages[stage].computation;
    Draft::Item out;
    out.tensor = draft_.next++;
    const std::string name = fmt::format("{}_{}", g_.tensors[g_.made_by(stage)].name, suffix);
    Operand made = between(c.output(), name, Dtype::f32);
    out.made = tensor_of(made);
    out.stage.computation = on_elements(c, std::move(made)).c;
    return out;
  }

  Draft::Item kept() {
    Draft::Item out = on(max_, "before");
    read_elements(out.stage, g_.tensors[g_.made_by(max_)].name, g_.made_by(max_));
    out.stage.computation.body = {read_input(0)};
    return out;
  }
  // exp(before - now)
  Draft::Item growth(const Draft::Item& before) {
    Draft::Item out = on(max_, "growth");
    read_elements(out.stage, before.made.name, before.tensor);
    read_elements(out.stage, g_.tensors[g_.made_by(max_)].name, g_.made_by(max_));
    out.stage.computation.body = growth_of_inputs();
    return out;
  }
  Draft::Item scaled(int sum, const Draft::Item& growth) {
    Draft::Item out = on(sum, "scaled");
    Computation& c = out.stage.computation;
    c.operands.back().layout = g_.stages[sum].computation.output().layout;  // it lies there
    read_elements(out.stage, g_.tensors[g_.made_by(sum)].name, g_.made_by(sum));
    const std::vector<int> to = on_elements(g_.stages[sum].computation, {}).to;
    Operand by = g_.stages[max_].computation.output();
    by.name = growth.made.name;
    std::vector<int> dims;  // of the maxima
    for (size_t d = 0; d < g_.stages[max_].computation.dims.size(); ++d) {
      const int own = g_.dims[g_.dim_of(max_, static_cast<int>(d))].in_stage[sum];
      dims.push_back(own < 0 ? -1 : to[own]);
    }
    map_dims(by, dims);
    out.stage.arguments.push_back(growth.tensor);
    const bool whole = by.axes == c.output().axes;
    if (whole)
      c.operands.insert(c.operands.end() - 1, std::move(by));
    else
      c.extras.push_back(std::move(by));
    c.body = {read_input(0), whole ? read_input(1) : read_extra(0), binary(Fn::kMul, 0, 1)};
    return out;
  }

  const Graph& g_;
  Draft draft_;
  int max_, exp_;
};

Graph carrying(const Graph& g, int max, int exp, const std::vector<int>& sums) {
  return Carrying(g, max, exp).with(sums);
}

// What Graph::online is about, in a Graph.
class Exponentials {
 public:
  explicit Exponentials(const Graph& g) : g_(g) {}
  std::optional<ShiftedSums> shifted();

 private:
  bool find();
  bool is_read_once() const;
  bool reads_elements(int stage, int operand) const;
  bool is_sum(int stage, int tensor) const;
  bool use(int stage);
  bool move_axes(Operand& o, int from, int to) const;
  bool factor(int stage);
  void compute_again(int stage);
  bool order();

  const Expression& body(int stage) const { return g_.stages[stage].computation.body; }
  Draft::Item& item(int stage) { return draft_.at(g_.made_by(stage)); }

  const Graph& g_;
  Draft draft_{g_};
  int max_ = -1, exp_ = -1;  // stages
  int dim_ = -1;             // that the maximum is over
  std::vector<int> sums_;    // tensors of sums over exponentials
};

// Whether only one stage reads the maximum.
bool Exponentials::is_read_once() const {
  int readers = 0;
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s)
    readers += s != max_ && g_.operand_of(s, g_.made_by(max_)) >= 0;
  return readers == 1;
}

// exp(x - max), as the only thing that a stage makes, with the maximum over one dim, which nobody
// else reads.
bool Exponentials::find() {
  for (int s = 0; s + 1 < static_cast<int>(g_.stages.size()); ++s) {
    const Computation& c = g_.stages[s].computation;
    if (c.reduces() || c.output().dtype != Dtype::f32 || !g_.stages[s].border.empty()) continue;
    const Term& root = c.body.back();
    if (root.fn != Fn::kExpNonpositive || c.body[root.a].fn != Fn::kSub) continue;
    const Term& difference = c.body[root.a];
    const int maximum = maximum_term(c.body, difference.b);
    if (maximum < 0) continue;
    max_ = maximum_of(g_, {s, difference.a}, {s, maximum});
    if (max_ < 0 || !is_read_once()) continue;
    exp_ = s;
    const Computation& m = g_.stages[max_].computation;
    for (size_t d = 0; d < m.dims.size(); ++d)
      if (m.dims[d].reduction) dim_ = g_.dim_of(max_, static_cast<int>(d));
    return std::count_if(m.dims.begin(), m.dims.end(), [](const Dim& d) { return d.reduction; }) ==
               1 &&
           g_.dims[dim_].in_stage[exp_] >= 0;
  }
  return false;
}

// Whether a stage reads a tensor by the elements that the stage which makes it has.
bool Exponentials::reads_elements(int stage, int operand) const {
  const Operand& o = g_.stages[stage].computation.tensor(operand);
  const int maker = g_.tensor_of(stage, operand) - g_.params;
  return elements(g_, stage, o) == elements(g_, maker, g_.stages[maker].computation.output());
}

// A sum over the dim of a tensor, or of products with it; for each element of a maximum others.
bool Exponentials::is_sum(int stage, int tensor) const {
  const Computation& c = g_.stages[stage].computation;
  const int own = g_.dims[dim_].in_stage[stage];
  if (c.combine != Combine::kSum || c.compute != Dtype::f32 || own < 0 || !c.dims[own].reduction)
    return false;
  const bool product = c.body.size() == 3 && c.body[2].fn == Fn::kMul &&
                       c.body[0].fn == Fn::kInput && c.body[1].fn == Fn::kInput &&
                       c.inputs() == 2 &&
                       (g_.tensor_of(stage, 0) == tensor) != (g_.tensor_of(stage, 1) == tensor);
  if (!is_copy(c.body) && !product) return false;
  for (const AxisMap& axis : axes_in(g_, max_, g_.stages[max_].computation.output()))
    for (const AxisTerm& t : axis)
      if (const int d = g_.dims[t.dim].in_stage[stage]; d < 0 || c.dims[d].reduction) return false;
  return is_finished(g_.stages[stage]) || c.gathers_in_output();
}

// From the dims of one stage to those of another; false: it has not all of them.
bool Exponentials::move_axes(Operand& o, int from, int to) const {
  o.axes = axes_in(g_, from, o);
  for (AxisMap& axis : o.axes)
    for (AxisTerm& t : axis) {
      t.dim = g_.dims[t.dim].in_stage[to];
      if (t.dim < 0) return false;
    }
  return true;
}

// Elements of products e * r with r for every sum, whose only use is a sum: r becomes a factor of
// that. Not where they are a result: then they are made anyway, and are what the sum is over.
bool Exponentials::factor(int stage) {
  const Stage& p = g_.stages[stage];
  const Computation& c = p.computation;
  const int made = g_.made_by(stage), exp = g_.made_by(exp_);
  int reader = g_.is_result(made) ? -2 : -1;
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s)
    if (s != stage && g_.operand_of(s, made) >= 0) reader = reader == -1 ? s : -2;
  if (reader < 0 || !p.border.empty() || c.reduces() || c.body.size() != 3 ||
      c.body[2].fn != Fn::kMul || c.output().dtype != Dtype::f32 || !is_sum(reader, made))
    return false;
  int other = -1;
  for (int t = 0; t < c.tensors(); ++t)
    if (t != c.inputs() && g_.tensor_of(stage, t) != exp) other = t;
  if (other < 0 || c.tensors() != 3 || c.tensor(other).dtype != Dtype::f32 ||
      touches(c.tensor(other), g_.dims[dim_].in_stage[stage]))
    return false;
  const int operand = g_.operand_of(reader, made);
  Stage& sum = item(reader).stage;
  Computation& of = sum.computation;
  if (!reads_elements(reader, operand) || of.extras.size() + 1 > kMaxExtras) return false;
  // The product may be another order of axes than the exponentials are.
  Operand by = c.tensor(other), read = c.tensor(g_.operand_of(stage, exp));
  if (!move_axes(by, stage, reader) || !move_axes(read, stage, reader)) return false;
  for (const AxisMap& axis : by.axes)
    for (const AxisTerm& t : axis)
      if (of.dims[t.dim].reduction) return false;
  Expression finish = {{.fn = Fn::kValue, .type = Dtype::f32},
                       read_extra(static_cast<int>(of.extras.size())),
                       binary(Fn::kMul, 0, 1)};
  for (Term t : of.finish) {  // of the product, in place of the sum
    if (t.fn == Fn::kValue) continue;
    finish.push_back(t);
  }
  if (!of.finish.empty()) {
    std::vector<int> to;
    int next = 3;
    for (const Term& t : of.finish) to.push_back(t.fn == Fn::kValue ? 2 : next++);
    for (size_t i = 3; i < finish.size(); ++i)
      if (fn_def(finish[i].fn))
        for (int* arg : {&finish[i].a, &finish[i].b, &finish[i].c})
          if (*arg >= 0) *arg = to[*arg];
  }
  if (finish.size() > kMaxTerms) return false;
  read.name = g_.tensors[exp].name;
  of.operands[operand] = std::move(read);
  sum.arguments[operand] = exp;
  of.finish = pruned(finish);
  of.extras.push_back(std::move(by));
  sum.arguments.push_back(g_.tensor_of(stage, other));
  draft_.items.erase(draft_.items.begin() + static_cast<std::ptrdiff_t>(draft_.find(made)));
  sums_.push_back(g_.made_by(reader));
  return true;
}

// Elements made of exponentials: with exp(x - max) in their place.
void Exponentials::compute_again(int stage) {
  const Computation& from = g_.stages[exp_].computation;
  Stage& s = item(stage).stage;
  Computation& c = s.computation;
  const Stage old = s;
  std::vector<int> to;  // dims of the exponentials
  for (size_t d = 0; d < from.dims.size(); ++d)
    to.push_back(g_.dims[g_.dim_of(exp_, static_cast<int>(d))].in_stage[stage]);
  c.operands = {c.output()};
  c.extras.clear();
  c.body.clear();
  s.arguments.clear();
  std::vector<int> extras;
  const auto operand = [&](const Operand& o, int tensor, bool whole) {
    if (whole && c.inputs() < kMaxOperands - 1) {
      c.operands.insert(c.operands.end() - 1, o);
      s.arguments.push_back(tensor);
      return read_input(c.inputs() - 1, Dtype::f32);
    }
    c.extras.push_back(o);
    extras.push_back(tensor);
    return read_extra(static_cast<int>(c.extras.size()) - 1);
  };
  const auto copy = [&](auto& self, const Stage& of, int at, bool inner) -> int {
    const Computation& theirs = of.computation;
    Term t = theirs.body[at];
    if (t.fn == Fn::kInput || t.fn == Fn::kExtra) {
      const int i = t.fn == Fn::kInput ? t.a : theirs.inputs() + t.a;
      if (!inner && of.arguments[i] == g_.made_by(exp_))
        return self(self, g_.stages[exp_], static_cast<int>(from.body.size()) - 1, true);
      Operand o = theirs.tensor(t.fn == Fn::kInput ? t.a : theirs.inputs() + 1 + t.a);
      if (inner) map_dims(o, to);
      for (int known = 0; known < c.inputs(); ++known)
        if (c.operands[known] == o && s.arguments[known] == of.arguments[i])
          return add_term(c.body, read_input(known, t.type));
      for (size_t known = 0; known < extras.size(); ++known)
        if (c.extras[known] == o && extras[known] == of.arguments[i])
          return add_term(c.body, read_extra(static_cast<int>(known)));
      Term read = operand(o, of.arguments[i], t.fn == Fn::kInput);
      read.type = t.type;
      return add_term(c.body, read);
    }
    if (const FnDef* f = fn_def(t.fn)) {
      t.a = self(self, of, t.a, inner);
      if (f->arity > 1) t.b = self(self, of, t.b, inner);
      if (f->arity > 2) t.c = self(self, of, t.c, inner);
    }
    return add_term(c.body, t);
  };
  copy(copy, old, static_cast<int>(old.computation.body.size()) - 1, false);
  s.arguments.insert(s.arguments.end(), extras.begin(), extras.end());
}

// Whatever reads the exponentials.
bool Exponentials::use(int stage) {
  const int exp = g_.made_by(exp_);
  const Computation& c = g_.stages[stage].computation;
  for (int t = 0; t < c.tensors(); ++t)
    if (g_.tensor_of(stage, t) == exp && t != c.inputs() && !reads_elements(stage, t)) return false;
  if (is_sum(stage, exp)) return sums_.push_back(g_.made_by(stage)), true;
  if (c.reduces()) return false;
  if (factor(stage)) return true;
  compute_again(stage);
  const Computation& again = item(stage).stage.computation;
  return again.body.size() <= kMaxTerms && again.extras.size() <= kMaxExtras;
}

// First what does not need the maximum, then what can run in steps, then what is made of it. False:
// a step needs what is made of others.
bool Exponentials::order() {
  std::set<int> late = {g_.made_by(max_)};
  std::vector<Draft::Item> before, steps, after;
  for (Draft::Item& i : draft_.items) {
    const bool step = i.tensor == g_.made_by(max_) || i.tensor == g_.made_by(exp_) ||
                      std::find(sums_.begin(), sums_.end(), i.tensor) != sums_.end();
    const bool waits = std::any_of(i.stage.arguments.begin(), i.stage.arguments.end(),
                                   [&](int t) { return late.contains(t); });
    for (const int t : i.stage.arguments)
      if (step && late.contains(t) && t != g_.made_by(exp_) &&
          !(t == g_.made_by(max_) && i.tensor == g_.made_by(exp_)))
        return false;
    if (step || waits) late.insert(i.tensor);
    (step ? steps : waits ? after : before).push_back(std::move(i));
  }
  draft_.items = std::move(before);
  for (auto* part : {&steps, &after})
    for (Draft::Item& i : *part) draft_.items.push_back(std::move(i));
  return true;
}

std::optional<ShiftedSums> Exponentials::shifted() {
  if (!find()) return std::nullopt;
  const int exp = g_.made_by(exp_);
  if (g_.is_result(exp)) return std::nullopt;
  for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
    const std::vector<int>& read = g_.stages[s].arguments;
    if (std::find(read.begin(), read.end(), exp) != read.end() && !use(s)) return std::nullopt;
  }
  if (sums_.empty()) return std::nullopt;
  for (int& sum : sums_)
    if (is_finished(draft_.at(sum).stage)) sum = split_sum(draft_, sum);
  if (!order()) return std::nullopt;
  return ShiftedSums{std::move(draft_), g_.made_by(max_), exp, std::move(sums_)};
}

}  // namespace

std::optional<ShiftedSums> shifted_sums(const Graph& g) { return Exponentials(g).shifted(); }

Expression bounded_shift(const Expression& e) {
  const Term root = e.back(), difference = e[root.a];
  if (e[difference.b].fn != Fn::kExtra) return e;
  Expression out(e.begin(), e.end() - 2);
  MORELLO_CHECK(root.a + 2 == static_cast<int>(e.size()), "terms behind the difference");
  const int shift = bounded(out, difference.b);
  const int less = add_term(out, binary(Fn::kSub, difference.a, shift));
  add_term(out, {.fn = Fn::kExpNonpositive, .type = Dtype::f32, .a = less});
  return pruned(out);
}

Expression growth_of_inputs() {
  Expression e = {read_input(0), read_input(1)};
  const int was = bounded(e, 0), is = bounded(e, 1);
  const int less = add_term(e, binary(Fn::kSub, was, is));
  add_term(e, {.fn = Fn::kExpNonpositive, .type = Dtype::f32, .a = less});
  return pruned(e);
}

std::optional<Graph> online(const Graph& g) {
  const std::optional<ShiftedSums> of = shifted_sums(g);
  if (!of) return std::nullopt;
  const auto stage = [&](int tensor) { return static_cast<int>(of->draft.find(tensor)); };
  std::vector<int> sums;
  for (const int sum : of->sums) sums.push_back(stage(sum));
  return carrying(of->draft.graph(), stage(of->max), stage(of->exp), sums);
}

}  // namespace morello
