// A stage is what elaborate() takes: one sum, and what is elementwise of its shape around it. A
// kernel is divided as its author would by hand:
//
//   gelu(matmul(x, w1)) * matmul(x, w2)      t0 = gelu(matmul(x, w1))    out = t0 * matmul(x, w2)
//
// The expression becomes a graph in which equal parts are one node. From the operands up, every
// node is the part of a stage (a Region) until it has to be stored:
//
//   - a sum that stands below another sum, an axis operator or a larger shape, and all but the last
//     of several sums of one shape: what is elementwise above it stays with it as far as possible;
//   - operands of a sum that are more than a tensor or a tensor transposed, but for what a
//   reduction
//     makes of elements as it reads them;
//   - what several stages use, unless it is a few cheap functions of tensors: those are computed
//     again;
//   - what the user gave a type, and results.

#include "spec/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

#include "spec/build.h"
#include "spec/elaborate.h"
#include "spec/names.h"
#include "spec/resolve.h"

namespace morello {
namespace {

struct Node {
  Token at;
  Expr::Kind kind = Expr::Kind::kCall;
  std::string_view name;  // of the operator or parameter
  double number = 0;
  std::vector<int> args = {};
  std::vector<AttributeSyntax> attributes = {};
  std::string wanted = {};                   // the name its tensor should have
  std::optional<Dtype> type = {};            // given by the user
  bool integers = false;                     // all that it is made of, and it itself
  std::set<int> parents = {}, regions = {};  // that use it; negative ones are the results'
};

// A part of a stage.
struct Region {
  ExprSyntax expr;
  int sum = -1;  // node of the sum in it
  bool dear = false;
  size_t size = 1;  // operators as they would be written
  std::vector<Size> shape = {}, sum_shape = {};
};

// Shared parts are written as often as they are used: no region becomes longer than this.
constexpr size_t kMaxRegion = 256;

// What names stand for.
struct Scope {
  std::map<std::string_view, int> nodes;
  const std::vector<AttributeSyntax>* attributes = nullptr;  // of what is defined
  std::optional<Token> at;                                   // of what is defined
};

class Divider {
 public:
  Divider(const KernelSyntax& kernel, const std::vector<Param>& params,
          const std::vector<std::vector<Size>>& shapes, const Source& source)
      : k_(kernel),
        source_(source),
        shapes_(shapes),
        elements_(accumulator(kernel.results[0].dtype)),
        params_(params),
        given_(params.size()) {}
  Result<Staged> run();

 private:
  bool resolve_all();
  bool resolve_results();
  int add(Node n, const std::string& key);
  int stored_as(int n, Dtype type, const std::string& key);
  bool of_integers(const Node& n) const;
  int graph(const ExprSyntax& s, const Scope& scope);
  int call(const ExprSyntax& s, const Scope& scope);
  int defined(const ExprSyntax& s, const Scope& scope, std::vector<int> args, const OpDef& op);
  int named_result(std::string_view name) const;
  int result_node(int n, int result);
  void find_uses();
  bool region(int n, Region& out);
  bool sum(const Node& n, std::vector<Region>& args);
  bool axis(const Node& n, std::vector<Region>& args, Region& out);
  bool pad(int n, Region& out);
  bool border(const Node& n, const std::vector<Size>& shape, std::vector<Border>& out);
  bool elementwise(const Node& n, std::vector<Region>& args, Region& out);
  bool shape(Region& r);
  ExprSyntax stored_expr(int n, const Region& r) const;
  bool store(int n, Region& r, std::optional<Dtype> type, std::vector<Border> border = {});
  std::string fresh_name(const std::string& wanted) const;
  Dtype type_of(int n, const Region& r) const;

  const KernelSyntax& k_;
  const Source& source_;
  const std::vector<std::vector<Size>>& shapes_;
  const Dtype elements_;       // in what elements are computed
  std::vector<Param> params_;  // and what is stored so far
  const size_t given_;
  std::vector<Node> nodes_;
  std::map<std::string, int> known_;
  std::map<int, Region> done_;
  std::map<int, int> results_;     // by node
  std::deque<std::string> names_;  // what string_views of ours point to
  Staged out_;
  Diagnostic error_;
};

bool Divider::resolve_all() {
  std::vector<std::string> names;
  for (const Param& p : params_) names.push_back(p.name);
  const auto resolved = [&](const ExprSyntax& s, Expr& e) {
    Result<Expr> r = resolve(s, names, source_);
    if (r) return e = std::move(*r), true;
    error_ = r.error();
    return false;
  };
  for (const BindingSyntax& b : k_.where) {
    if (std::find(names.begin(), names.end(), b.name.text) != names.end()) {
      error_ = source_.error(b.name, fmt::format("`{}` exists already", b.name.text));
      return false;
    }
    Binding& binding = out_.where.emplace_back();
    binding.name = std::string(b.name.text);
    if (!b.dtype_at.text.empty()) binding.dtype = b.dtype;
    if (!resolved(b.expr, binding.expr)) return false;
    names.push_back(binding.name);
  }
  return k_.names_results() ? resolve_results() : resolved(k_.expr, out_.expr.emplace());
}

// Names are bindings', each with its type in one place.
bool Divider::resolve_results() {
  for (const TensorSyntax& r : k_.results) {
    const auto bound = std::find_if(k_.where.begin(), k_.where.end(), [&](const BindingSyntax& b) {
      return b.name.text == r.name.text;
    });
    if (bound == k_.where.end())
      return error_ = source_.error(r.name, fmt::format("what the result `{0}` is stands behind "
                                                        "`where`; write `{0} = ...` there",
                                                        r.name.text)),
             false;
    if (!bound->dtype_at.text.empty())
      return error_ = source_.error(bound->dtype_at,
                                    fmt::format("`{}` is a result and has its type there; leave "
                                                "it out here",
                                                r.name.text)),
             false;
  }
  return true;
}

// Equal nodes are one, but for those that the user wants to be stored.
int Divider::add(Node n, const std::string& key) {
  const auto [at, is_new] = known_.try_emplace(key, static_cast<int>(nodes_.size()));
  if (is_new) {
    n.integers = of_integers(n);
    nodes_.push_back(std::move(n));
  }
  return at->second;
}

// Whether all terms that an elementwise operator is made of pass.
static bool all_terms(const OpDef& op, auto passes) {
  Expression e;
  std::vector<int> args;
  for (int i = 0; i < op.arity; ++i)
    args.push_back(add_term(e, {.fn = Fn::kInput, .type = Dtype::f32, .a = i}));
  Terms terms(e, Dtype::f32);
  op.term(terms, args);
  return std::all_of(e.begin(), e.end(), passes);
}

bool Divider::of_integers(const Node& n) const {
  if (n.type) return !is_float(*n.type);
  if (n.kind == Expr::Kind::kNumber)
    return std::isfinite(n.number) && n.number == std::floor(n.number);
  if (n.kind == Expr::Kind::kParam)
    return std::any_of(params_.begin(), params_.end(),
                       [&](const Param& p) { return p.name == n.name && !is_float(p.dtype); });
  const OpDef& op = *find_op(n.name);
  const auto has_integers = [](const Term& t) {
    const FnDef* f = fn_def(t.fn);
    return !f || f->integer;
  };
  if (op.after || (op.term && !all_terms(op, has_integers))) return false;
  return std::all_of(n.args.begin(), n.args.end(), [&](int a) { return nodes_[a].integers; });
}

// A node of its own: what has a type already is rounded twice.
int Divider::stored_as(int n, Dtype type, const std::string& key) {
  Node node = nodes_[n];
  if (node.type) node = {.at = node.at, .kind = Expr::Kind::kCall, .name = "convert", .args = {n}};
  node.type = type;
  return add(std::move(node), key);
}

int Divider::graph(const ExprSyntax& s, const Scope& scope) {
  const Token at = scope.at.value_or(s.at);
  if (s.kind == Expr::Kind::kNumber)
    return add({.at = at, .kind = s.kind, .name = {}, .number = s.number},
               fmt::format("{}", s.number));
  if (s.kind == Expr::Kind::kCall) return call(s, scope);
  if (const auto known = scope.nodes.find(s.op); known != scope.nodes.end()) return known->second;
  return add({.at = at, .kind = s.kind, .name = s.op}, fmt::format("param {}", s.op));
}

int Divider::call(const ExprSyntax& s, const Scope& scope) {
  const OpDef& op = *find_op(s.op);
  std::vector<int> args;
  for (const ExprSyntax& arg : s.args) args.push_back(graph(arg, scope));
  if (!op.definition.empty()) return defined(s, scope, std::move(args), op);
  Node n{.at = scope.at.value_or(s.at), .name = s.op, .args = args, .attributes = s.attributes};
  std::string key = fmt::format("{}({}", op.name, fmt::join(args, ","));
  for (AttributeSyntax& a : n.attributes) {
    for (size_t i = 0; scope.attributes && i < scope.attributes->size(); ++i)
      if ((*scope.attributes)[i].at.text == a.same_as) a.value = (*scope.attributes)[i].value;
    if (scope.at) a.at = {.kind = a.at.kind, .text = a.at.text, .offset = scope.at->offset};
    key += fmt::format(",{}={}", a.at.text, a.value);
  }
  return add(std::move(n), key);
}

int Divider::defined(const ExprSyntax& s, const Scope& scope, std::vector<int> args,
                     const OpDef& op) {
  static constexpr std::string_view kOperands[] = {"a", "b", "c"};
  const KernelSyntax text = parse_definition(op.definition);
  std::vector<AttributeSyntax> attributes = s.attributes;
  for (AttributeSyntax& a : attributes)
    for (size_t i = 0; scope.attributes && i < scope.attributes->size(); ++i)
      if ((*scope.attributes)[i].at.text == a.same_as) a.value = (*scope.attributes)[i].value;
  // Elements are computed in floats: what a definition sums of integers would be one of i32.
  for (int& arg : args)
    if (nodes_[arg].kind != Expr::Kind::kNumber && nodes_[arg].integers && is_float(elements_))
      arg = stored_as(arg, Dtype::f32, fmt::format("f32 {}", arg));
  Scope inner{.nodes = {}, .attributes = &attributes, .at = scope.at.value_or(s.at)};
  for (size_t i = 0; i < args.size(); ++i) inner.nodes[kOperands[i]] = args[i];
  for (const BindingSyntax& b : text.where) inner.nodes[b.name.text] = graph(b.expr, inner);
  return graph(text.expr, inner);
}

// The result that a name is; -1: none.
int Divider::named_result(std::string_view name) const {
  for (size_t i = 0; i < k_.results.size(); ++i)
    if (k_.results[i].name.text == name) return static_cast<int>(i);
  return -1;
}

// The node of its own that a result has: what is stored as it is anyway, or that in the type of the
// result, or a copy.
int Divider::result_node(int n, int result) {
  const TensorSyntax& r = k_.results[result];
  const Node& node = nodes_[n];
  const bool called = node.kind == Expr::Kind::kCall, pads = called && find_op(node.name)->pads;
  const bool is_stored = node.type || pads || results_.contains(n);
  const bool as_it_is = !k_.names_results() || (r.dtype == Dtype::f32 && !node.integers);
  if (called && (is_stored || !as_it_is)) {
    Node own = node;
    if (is_stored || !node.wanted.empty())
      own = {.at = node.at, .kind = Expr::Kind::kCall, .name = "convert", .args = {n}};
    own.type = r.dtype;
    n = add(std::move(own), fmt::format("result {}", result));
  }
  results_[n] = result;
  nodes_[n].wanted = k_.names_results() ? std::string(r.name.text) : "out";
  return n;
}

// Nodes are behind their operands. A sum or a result is where the region of its operands ends.
void Divider::find_uses() {
  for (const auto& [n, result] : results_) nodes_[n].parents.insert(-1 - result);
  for (int n = results_.rbegin()->first; n >= 0; --n) {
    if (nodes_[n].parents.empty()) continue;
    std::set<int> regions = nodes_[n].regions;  // of what it is made of
    if (const auto result = results_.find(n); result != results_.end())
      regions = {-1 - result->second};
    if (nodes_[n].kind == Expr::Kind::kCall && find_op(nodes_[n].name)->sums()) regions = {n};
    for (const int arg : nodes_[n].args) {
      nodes_[arg].parents.insert(n);
      nodes_[arg].regions.insert(regions.begin(), regions.end());
    }
  }
}

bool Divider::shape(Region& r) {
  Result<std::vector<Size>> found = shape_of(r.expr, params_, source_);
  if (found) return r.shape = std::move(*found), true;
  error_ = found.error();
  return false;
}

// Not as much as reading it from a cache again.
static bool is_cheap(const OpDef& op) {
  return all_terms(op, [](const Term& t) { return !fn_def(t.fn) || fn_def(t.fn)->cheap; });
}

bool Divider::region(int n, Region& out) {
  if (const auto known = done_.find(n); known != done_.end()) return out = known->second, true;
  const Node node = nodes_[n];
  if (node.kind == Expr::Kind::kCall && find_op(node.name)->pads) return pad(n, out);
  std::vector<Region> args(node.args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (!region(node.args[i], args[i])) return false;
  const OpDef* op = node.kind == Expr::Kind::kCall ? find_op(node.name) : nullptr;
  if (op && op->sums() && !sum(node, args)) return false;
  if (op && (op->inserts_axis || op->swaps_axes) && !axis(node, args, out)) return false;
  if (op && op->term && !elementwise(node, args, out)) return false;
  out.expr = {.kind = node.kind,
              .at = node.at,
              .op = node.name,
              .number = node.number,
              .args = {},
              .attributes = node.attributes};
  for (Region& arg : args) {
    out.size += arg.size;
    out.expr.args.push_back(std::move(arg.expr));
  }
  if (!shape(out)) return false;
  if (op && op->sums()) {
    out.sum = n;
    out.sum_shape = out.shape;
  }
  const bool shared = node.parents.size() > 1 && node.regions.size() > 1;
  const bool stored = node.type || results_.contains(n) || out.size > kMaxRegion ||
                      (shared && (out.dear || out.sum >= 0));
  if (stored && !store(n, out, node.type)) return false;
  done_[n] = out;
  return true;
}

// A reduction takes arithmetic on elements, if elaborate() does; what else an operand of a sum is,
// is stored.
bool Divider::sum(const Node& n, std::vector<Region>& args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const ExprSyntax& e = args[i].expr;
    if (args[i].shape.empty()) {
      error_ =
          source_.error(e.at, fmt::format("an operand of {} is a tensor; got a number", n.name));
      return false;
    }
    const bool swaps = e.kind == Expr::Kind::kCall && find_op(e.op)->swaps_axes &&
                       e.args[0].kind == Expr::Kind::kParam;
    if (e.kind == Expr::Kind::kParam || swaps) continue;
    if (find_op(n.name)->combine != Combine::kNone && args[i].sum < 0) {
      const ExprSyntax whole{
          .kind = n.kind, .at = n.at, .op = n.name, .args = {e}, .attributes = n.attributes};
      if (one_computation(whole, elements_, params_, source_)) continue;
    }
    if (!store(n.args[i], args[i], {})) return false;
  }
  return true;
}

bool Divider::axis(const Node& n, std::vector<Region>& args, Region& out) {
  if (args[0].sum >= 0 && !store(n.args[0], args[0], {})) return false;
  out.dear = args[0].dear;
  return true;
}

// Axis by axis: several pads of one operand are one border.
bool Divider::border(const Node& n, const std::vector<Size>& shape, std::vector<Border>& out) {
  const auto fail = [&](std::string message) {
    error_ = source_.error(n.at, std::move(message));
    return false;
  };
  Border b;
  std::optional<i64> axis;
  for (const AttributeSyntax& a : n.attributes)
    (a.at.text == "axis" ? axis.emplace() : a.at.text == "low" ? b.low : b.high) = a.value;
  if (!axis) return fail("pad needs an axis, such as pad(x, axis=1, low=1, high=1)");
  if (*axis >= static_cast<i64>(out.size()))
    return fail(fmt::format("there is no axis {} in {}; the last one is {}", *axis,
                            shape_text(shape), out.size() - 1));
  out[*axis].low += b.low;
  out[*axis].high += b.high;
  return true;
}

bool Divider::pad(int n, Region& out) {
  int inner = n;
  std::vector<int> pads;
  const auto is_pad = [&](int i) {
    return nodes_[i].kind == Expr::Kind::kCall && find_op(nodes_[i].name)->pads;
  };
  for (; is_pad(inner); inner = nodes_[inner].args[0]) pads.push_back(inner);
  if (!region(inner, out)) return false;
  std::vector<Border> around(out.shape.size());
  for (const int p : pads)
    if (!border(nodes_[p], out.shape, around)) return false;
  const bool none = around == std::vector<Border>(around.size());
  if (!none || nodes_[n].type) return store(n, out, nodes_[n].type, std::move(around));
  done_[n] = out;
  return true;
}

bool Divider::elementwise(const Node& n, std::vector<Region>& args, Region& out) {
  Region whole{.expr = {.kind = n.kind, .at = n.at, .op = n.name}};
  for (const Region& arg : args) whole.expr.args.push_back(arg.expr);
  int last = -1;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].sum >= 0) last = args[i].sum;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].sum < 0) continue;
    if (args[i].sum != last && !store(n.args[i], args[i], {})) return false;
    whole.expr.args[i] = args[i].expr;
  }
  if (!shape(whole)) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].sum >= 0 && args[i].sum_shape != whole.shape && !store(n.args[i], args[i], {}))
      return false;
    if (args[i].sum >= 0) {
      out.sum = args[i].sum;
      out.sum_shape = args[i].sum_shape;
    }
    out.dear |= args[i].dear;
  }
  out.dear |= !is_cheap(*find_op(n.name));
  return true;
}

std::string Divider::fresh_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    return std::any_of(params_.begin(), params_.end(),
                       [&](const Param& p) { return p.name == name; }) ||
           std::any_of(out_.where.begin(), out_.where.end(),
                       [&](const Binding& b) { return b.name == name && name != wanted; });
  };
  if (!wanted.empty() && !taken(wanted)) return wanted;
  for (size_t i = params_.size() - given_;; ++i)
    if (std::string name = fmt::format("t{}", i); !taken(name)) return name;
}

// A sum alone is stored as it was added up, if nothing is made of it; what a sum of integers adds
// up as such; all else in the type in which elements are computed.
Dtype Divider::type_of(int n, const Region& r) const {
  for (const Param& p : params_)
    if (r.expr.kind == Expr::Kind::kParam && p.name == r.expr.op) return p.dtype;  // a copy
  const auto adds_integers = [&](int use) {
    return use >= 0 && std::all_of(nodes_[use].args.begin(), nodes_[use].args.end(),
                                   [&](int arg) { return nodes_[arg].integers; });
  };
  const std::set<int>& uses = nodes_[n].regions;
  if (nodes_[n].integers && std::any_of(uses.begin(), uses.end(), adds_integers)) return Dtype::i32;
  if (r.sum != n || find_op(nodes_[n].name)->after) return elements_;
  const ExprSyntax* operand = &r.expr.args[0];
  while (operand->kind == Expr::Kind::kCall) operand = &operand->args[0];
  for (const Param& p : params_)
    if (p.name == operand->op) return accumulator(p.dtype);
  return elements_;
}

static ExprSyntax converted(const ExprSyntax& e) {
  return {.kind = Expr::Kind::kCall, .at = e.at, .op = "convert", .args = {e}, .attributes = {}};
}

// Tensors are copied where something was to be made of them. (A result that is a parameter is
// refused.)
ExprSyntax Divider::stored_expr(int n, const Region& r) const {
  const bool is_made = !results_.contains(n) || nodes_[n].kind == Expr::Kind::kCall;
  return r.expr.kind == Expr::Kind::kParam && is_made ? converted(r.expr) : r.expr;
}

// The stage that makes it; what uses it reads a tensor.
bool Divider::store(int n, Region& r, std::optional<Dtype> type, std::vector<Border> border) {
  const auto result = results_.find(n);
  const bool is_result = result != results_.end();
  if (!is_result && r.expr.kind == Expr::Kind::kNumber) return true;
  if (!is_result && r.expr.kind == Expr::Kind::kParam && !type && border.empty()) return true;
  StageSyntax stage;
  stage.expr = stored_expr(n, r);
  if (is_result) {
    stage.result = k_.results[result->second];
  } else {
    stage.result.dtype = type ? *type : type_of(n, r);
    stage.result.dtype_at = r.expr.at;
    stage.copies =
        !border.empty() && r.expr.kind == Expr::Kind::kParam && stage.result.dtype == type_of(n, r);
  }
  const std::vector<Size> given = is_result ? shapes_[result->second] : std::vector<Size>();
  Result<Elaborated> made = elaborate(stage, params_, given, source_);
  if (!made) {
    error_ = made.error();
    return false;
  }
  for (size_t axis = 0; axis < border.size(); ++axis)
    made->shape[axis].extent += border[axis].low + border[axis].high;
  out_.stages.push_back(
      {std::move(made->computation), std::move(made->arguments), std::move(border)});
  if (is_result) out_.results[result->second] = static_cast<int>(out_.stages.size()) - 1;
  const std::string& wanted = nodes_[n].wanted;
  const std::string& name = names_.emplace_back(is_result ? wanted : fresh_name(wanted));
  Param tensor{.name = name, .dtype = stage.result.dtype, .shape = made->shape};
  tensor.layout = Layout::row(static_cast<int>(made->shape.size()));
  params_.push_back(tensor);
  out_.made.push_back(std::move(tensor));
  const Token at = r.expr.at;
  r = {.expr = {.kind = Expr::Kind::kParam, .at = at, .op = name}, .shape = std::move(made->shape)};
  done_[n] = r;
  return true;
}

Result<Staged> Divider::run() {
  if (!resolve_all()) return error_;
  Scope scope;
  for (const BindingSyntax& b : k_.where) {
    int n = graph(b.expr, scope);
    if (const int result = named_result(b.name.text); result >= 0) n = result_node(n, result);
    if (!b.dtype_at.text.empty()) n = stored_as(n, b.dtype, fmt::format("where {}", b.name.text));
    if (nodes_[n].wanted.empty()) nodes_[n].wanted = std::string(b.name.text);
    scope.nodes[b.name.text] = n;
  }
  if (!k_.names_results()) result_node(graph(k_.expr, scope), 0);
  find_uses();
  for (const BindingSyntax& b : k_.where)
    if (nodes_[scope.nodes[b.name.text]].parents.empty())
      return source_.error(b.name, fmt::format("`{}` is not used", b.name.text));
  out_.results.resize(k_.results.size());
  std::map<int, int> nodes;  // in the order of the results
  for (const auto& [n, result] : results_) nodes[result] = n;
  for (const auto& [result, n] : nodes)
    if (Region r; !region(n, r)) return error_;
  return std::move(out_);
}

}  // namespace

Result<Staged> divide_into_stages(const KernelSyntax& kernel, const std::vector<Param>& params,
                                  const std::vector<std::vector<Size>>& shapes,
                                  const Source& source) {
  return Divider(kernel, params, shapes, source).run();
}

}  // namespace morello
