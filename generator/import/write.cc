// Nodes -> KernelSyntax. A name stands behind `where` for what is used more than once, for what is
// stored in a type of its own, and where an expression would become too deep to read.

#include <algorithm>
#include <numeric>
#include <set>

#include "import/lower.h"
#include "spec/names.h"

namespace morello::hlo {
namespace {

constexpr int kMaxHeight = 16;

// As C++ and the language can have it: `%5` is v5, `Arg_0.1` is Arg_0_1.
std::string identifier(std::string_view text, std::string_view otherwise) {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && (out.empty() || out.back() == '_')) continue;
    if (digit && out.empty()) out = "v";
    out += letter || digit ? c : '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) out = otherwise;
  if (!name_problem(out).empty() || out == "where") out = "v_" + out;
  return out;
}

class Writer {
 public:
  Writer(const Nodes& nodes, const std::vector<Instruction>& in, const Source& source)
      : nodes_(nodes), in_(in), source_(source) {}
  Result<KernelSpec> run(const std::vector<Root>& roots, const Token& name);

 private:
  int meaning(int n) const;
  void find_uses(const std::vector<Root>& roots);
  bool has_name(int n) const;
  void parameter(const Instruction& in, int n);
  void binding(int n);
  ExprSyntax call(int n);
  ExprSyntax expr(int n);
  void layout(const TensorType& type, const std::vector<int>& order, LayoutSyntax& out) const;
  static std::vector<DimSyntax> shape(const TensorType& type, const std::vector<int>& order);
  ExprSyntax copy_of(int n);
  void only_result(const Root& r);
  void named_results(const std::vector<Root>& roots);
  void bindings(int end);
  TensorSyntax result(const Root& r) const;
  Token unique(const Token& at, std::string_view text, std::string_view otherwise);

  const Nodes& nodes_;
  const std::vector<Instruction>& in_;
  const Source& source_;
  std::deque<std::string> texts_;  // what tokens of ours point to
  std::set<std::string> taken_;
  std::vector<int> uses_, height_;
  std::vector<Token> names_;  // by node; empty text: none
  KernelSyntax out_;
  int operators_ = 0;
};

Token Writer::unique(const Token& at, std::string_view text, std::string_view otherwise) {
  const std::string wanted = identifier(text, otherwise);
  std::string name = wanted;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return {Token::Kind::kName, texts_.emplace_back(std::move(name)), at.offset};
}

// Types say how tensors are stored: a conversion that is not is its operand.
int Writer::meaning(int n) const {
  while (nodes_[n].op == "convert" && !nodes_[n].stored) n = nodes_[n].args[0];
  return n;
}

void Writer::find_uses(const std::vector<Root>& roots) {
  uses_.assign(static_cast<size_t>(nodes_.size()), 0);
  height_.assign(static_cast<size_t>(nodes_.size()), 0);
  for (const Root& r : roots) ++uses_[meaning(r.node)];
  for (int n = nodes_.size() - 1; n >= 0; --n)
    if (uses_[n] > 0)
      for (const int arg : nodes_[n].args) ++uses_[meaning(arg)];
  for (int n = 0; n < nodes_.size(); ++n)
    for (const int arg : nodes_[n].args)
      height_[n] = std::max(height_[n], has_name(meaning(arg)) ? 1 : height_[meaning(arg)] + 1);
}

bool Writer::has_name(int n) const {
  return nodes_[n].kind == Expr::Kind::kCall &&
         (uses_[n] > 1 || nodes_[n].stored || height_[n] >= kMaxHeight);
}

void Writer::layout(const TensorType& type, const std::vector<int>& order,
                    LayoutSyntax& out) const {
  const std::vector<int> axes = outwards(type);
  for (size_t i = 0; i < order.size(); ++i)  // axes of one element that HLO does not have
    if (order[i] < 0) out.digits.push_back({.axis = static_cast<int>(i)});
  for (size_t i = axes.size(); i-- > 0;)
    if (const auto at = std::find(order.begin(), order.end(), axes[i]); at != order.end())
      out.digits.push_back({.axis = static_cast<int>(at - order.begin())});
  out.at = type.at;
  if (Layout{out.digits}.is_row(static_cast<int>(order.size()))) return;
  out.kind = LayoutSyntax::Kind::kOrder;
}

std::vector<DimSyntax> Writer::shape(const TensorType& type, const std::vector<int>& order) {
  std::vector<DimSyntax> out;
  for (const int axis : order)
    out.push_back({.at = type.at, .number = axis < 0 ? 1 : type.shape[axis], .size = {}});
  if (out.empty()) out.push_back({.at = type.at, .number = 1, .size = {}});
  return out;
}

void Writer::parameter(const Instruction& in, int n) {
  TensorSyntax& p = out_.params.emplace_back();
  p.name = names_[n] = unique(in.name, in.name.text, "a");
  p.dtype_at = in.type.at;
  p.dtype = in.type.dtype;
  p.shape = shape(in.type, nodes_.axes_of(n));
  layout(in.type, nodes_.axes_of(n), p.layout);
}

ExprSyntax Writer::call(int n) {
  const Node& node = nodes_[n];
  ExprSyntax e{.kind = node.kind, .at = node.at, .op = node.op, .number = node.number};
  e.attributes = node.attributes;
  operators_ += node.kind == Expr::Kind::kCall ? 1 : 0;
  for (const int arg : node.args) e.args.push_back(expr(arg));
  return e;
}

ExprSyntax Writer::expr(int n) {
  n = meaning(n);
  if (names_[n].text.empty()) return call(n);
  return {.kind = Expr::Kind::kParam, .at = nodes_[n].at, .op = names_[n].text};
}

// What is stored is rounded so: no other conversion is needed.
void Writer::binding(int n) {
  BindingSyntax b;
  b.expr = call(n);
  if (nodes_[n].op == "convert" && b.expr.args[0].kind == Expr::Kind::kCall) {
    ExprSyntax inner = std::move(b.expr.args[0]);
    b.expr = std::move(inner);
  }
  b.name = names_[n] = unique(nodes_[n].at, nodes_[n].name.text, "t");
  if (nodes_[n].stored) {
    b.dtype_at = {Token::Kind::kName, morello::name(*nodes_[n].stored), nodes_[n].at.offset};
    b.dtype = *nodes_[n].stored;
  }
  out_.where.push_back(std::move(b));
}

ExprSyntax Writer::copy_of(int n) {
  return {.kind = Expr::Kind::kCall, .at = nodes_[n].at, .op = "convert", .args = {expr(n)}};
}

TensorSyntax Writer::result(const Root& r) const {
  const TensorType& type = r.made->type;
  TensorSyntax out{.name = {}, .dtype_at = type.at, .dtype = type.dtype, .shape = {}, .layout = {}};
  out.shape = shape(type, r.order);
  layout(type, r.order, out.layout);
  return out;
}

void Writer::bindings(int end) {
  for (int n = 0; n < end; ++n)
    if (uses_[n] > 0 && has_name(n) && names_[n].text.empty()) binding(n);
}

void Writer::only_result(const Root& r) {
  const int root = meaning(r.node);
  const bool copies = nodes_[root].kind == Expr::Kind::kParam || nodes_[root].stored;
  bindings(root + (copies ? 1 : 0));
  out_.results.push_back(result(r));
  out_.expr = copies ? copy_of(root) : call(root);
}

// Each behind what it is made of. One that something else reads as well has been rounded by then to
// the result's type, as HLO would have it, unless it is a conversion of what that reads.
void Writer::named_results(const std::vector<Root>& roots) {
  for (const Root& r : roots) {
    out_.results.push_back(result(r));
    out_.results.back().name = unique(r.made->name, r.made->name.text, "y");
  }
  std::vector<size_t> order(roots.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return meaning(roots[a].node) < meaning(roots[b].node);
  });
  for (const size_t i : order) {
    const int root = meaning(roots[i].node);
    const bool alone = root == roots[i].node || uses_[root] == 1;
    const bool is_it = alone && nodes_[root].kind == Expr::Kind::kCall && !nodes_[root].stored &&
                       names_[root].text.empty();
    bindings(root + (is_it ? 0 : 1));
    BindingSyntax b{.name = out_.results[i].name, .dtype_at = {}, .expr = {}};
    b.expr = is_it ? call(root) : copy_of(root);
    if (is_it) names_[root] = b.name;
    out_.where.push_back(std::move(b));
  }
}

Result<KernelSpec> Writer::run(const std::vector<Root>& roots, const Token& name) {
  names_.assign(static_cast<size_t>(nodes_.size()), {});
  find_uses(roots);
  out_.name = {name.kind, texts_.emplace_back(identifier(name.text, "kernel")), name.offset};
  // Parameters are the first instructions, and their nodes the first ones.
  for (size_t i = 0; i < in_.size() && in_[i].op->kind == Kind::kParameter; ++i)
    parameter(in_[i], static_cast<int>(i));
  roots.size() == 1 ? only_result(roots[0]) : named_results(roots);
  if (operators_ > kMaxOperators)
    return source_.error(name,
                         fmt::format("this takes {} operators of the spec language; at most {} "
                                     "are supported: write several functions",
                                     operators_, kMaxOperators));
  return check(out_, source_);
}

}  // namespace

Result<KernelSpec> write(const Nodes& nodes, const std::vector<Instruction>& in,
                         const std::vector<Root>& roots, const Token& name, const Source& source) {
  return Writer(nodes, in, source).run(roots, name);
}

}  // namespace morello::hlo
