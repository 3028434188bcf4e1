#include "spec/elements.h"

#include "spec/draft.h"

namespace morello {
namespace {

const Expression& body(const Graph& g, int stage) { return g.stages[stage].computation.body; }

int without_rounding(const Expression& e, int term) {
  while (e[term].fn == Fn::kRounded) term = e[term].a;
  return term;
}

// The operand or extra that a term is; -1: it is none.
int operand(const Graph& g, TermPlace p) {
  const Term& t = body(g, p.stage)[p.term];
  return t.fn == Fn::kInput   ? t.a
         : t.fn == Fn::kExtra ? g.stages[p.stage].computation.inputs() + 1 + t.a
                              : -1;
}

// Whether the maximum over some dims is stored as it is.
bool makes_maximum(const Stage& s) {
  const Computation& c = s.computation;
  return c.combine == Combine::kMax && c.reduces() && c.compute == Dtype::f32 &&
         c.gathers_in_output() && s.border.empty();
}

// Terms of one stage, with exponentials of what is below a maximum as such.
class Bounded {
 public:
  Bounded(const Graph& g, int stage) : g_(g), stage_(stage), from_(body(g, stage)) {}

  Expression expression() {
    copy(static_cast<int>(from_.size()) - 1);
    return std::move(out_);
  }

 private:
  bool is_difference(int term) const {
    const Term& t = from_[term];
    return t.fn == Fn::kSub && is_no_less({stage_, t.a}, t.b);
  }
  // Whether it is the maximum of the expression, or the maximum of that and something else.
  bool is_no_less(TermPlace expression, int term) const {
    const Term& t = from_[term];
    if (t.fn == Fn::kMax) return is_no_less(expression, t.a) || is_no_less(expression, t.b);
    return maximum_of(g_, expression, {stage_, term}) >= 0;
  }
  // Such a difference, or some of it.
  bool is_nonpositive(int term) const {
    const Term& t = from_[term];
    const auto is_factor = [&](int at) {
      return from_[at].fn == Fn::kConstant && from_[at].constant >= 0;
    };
    if (t.fn == Fn::kMul)
      return (is_factor(t.a) && is_nonpositive(t.b)) || (is_factor(t.b) && is_nonpositive(t.a));
    if (t.fn == Fn::kDiv) return is_factor(t.b) && is_nonpositive(t.a);
    return is_difference(term);
  }
  bool is_product(int term) const {
    while (from_[term].fn == Fn::kNeg) term = from_[term].a;
    return from_[term].fn == Fn::kMul;
  }

  int copy(int at) {
    if (done_[at] < 0) done_[at] = add_term(out_, copied(from_[at], at));
    return done_[at];
  }
  Term copied(Term t, int at) {
    const FnDef* f = fn_def(t.fn);
    if (!f) return t;
    if (t.fn == Fn::kExp && is_nonpositive(t.a)) t.fn = Fn::kExpNonpositive;
    const bool rounds = is_difference(at) && is_product(t.a);
    t.a = copy(t.a);
    if (rounds) t.a = add_term(out_, {.fn = Fn::kRounded, .type = Dtype::f32, .a = t.a});
    if (f->arity > 1) t.b = copy(t.b);
    if (f->arity > 2) t.c = copy(t.c);
    return t;
  }

  const Graph& g_;
  int stage_;
  const Expression& from_;
  Expression out_;
  std::vector<int> done_ = std::vector<int>(from_.size(), -1);
};

}  // namespace

std::vector<AxisMap> axes_in(const Graph& g, int stage, const Operand& o) {
  std::vector<AxisMap> axes = o.axes;
  const std::vector<Dim>& dims = g.stages[stage].computation.dims;
  for (AxisMap& axis : axes) {
    std::erase_if(axis, [&](const AxisTerm& t) { return dims[t.dim].extent == 1; });
    for (AxisTerm& t : axis) t.dim = g.dim_of(stage, t.dim);
  }
  return axes;
}

std::vector<AxisMap> elements(const Graph& g, int stage, const Operand& o) {
  std::vector<AxisMap> axes = axes_in(g, stage, o);
  std::erase_if(axes, [](const AxisMap& axis) { return axis.empty(); });
  return axes;
}

bool same_elements(const Graph& g, TermPlace p, TermPlace q) {
  p.term = without_rounding(body(g, p.stage), p.term);
  q.term = without_rounding(body(g, q.stage), q.term);
  const int x = operand(g, p), y = operand(g, q);
  if (x >= 0 && y >= 0)
    return g.tensor_of(p.stage, x) == g.tensor_of(q.stage, y) &&
           elements(g, p.stage, g.stages[p.stage].computation.tensor(x)) ==
               elements(g, q.stage, g.stages[q.stage].computation.tensor(y));
  const Term &a = body(g, p.stage)[p.term], &b = body(g, q.stage)[q.term];
  if (a.fn != b.fn || a.type != b.type) return false;
  if (!fn_def(a.fn)) return a == b;
  const auto both = [&](int i, int j) {
    return (i < 0 && j < 0) || same_elements(g, {p.stage, i}, {q.stage, j});
  };
  return both(a.a, b.a) && both(a.b, b.b) && both(a.c, b.c);
}

int maximum_of(const Graph& g, TermPlace expression, TermPlace maximum) {
  const int o = operand(g, maximum);
  if (o < 0) return -1;
  const int max = g.tensor_of(maximum.stage, o) - g.params;
  if (max < 0 || !makes_maximum(g.stages[max])) return -1;
  const Computation& c = g.stages[max].computation;
  const bool reads_it = elements(g, maximum.stage, g.stages[maximum.stage].computation.tensor(o)) ==
                        elements(g, max, c.output());
  const TermPlace of{max, static_cast<int>(c.body.size()) - 1};
  return reads_it && same_elements(g, expression, of) ? max : -1;
}

void bound_exponentials(Graph& g) {
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s) {
    Expression e = Bounded(g, s).expression();
    if (e.size() <= kMaxTerms) g.stages[s].computation.body = std::move(e);
  }
}

}  // namespace morello
