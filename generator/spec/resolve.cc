#include "spec/resolve.h"

#include <fmt/format.h>

#include <algorithm>

namespace morello {
namespace {

class Resolver {
 public:
  Resolver(const std::vector<std::string>& names, const Source& source)
      : names_(names), source_(source) {}
  bool resolve(const ExprSyntax& s, Expr& e);
  const Diagnostic& error() const { return error_; }

 private:
  bool name(const ExprSyntax& s, Expr& e);
  bool call(const ExprSyntax& s, Expr& e);
  bool attributes(const ExprSyntax& s, const OpDef& op, Expr& e);
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const std::vector<std::string>& names_;
  const Source& source_;
  Diagnostic error_;
};

bool Resolver::resolve(const ExprSyntax& s, Expr& e) {
  e.kind = s.kind;
  if (s.kind == Expr::Kind::kNumber) return e.number = s.number, true;
  return s.kind == Expr::Kind::kParam ? name(s, e) : call(s, e);
}

bool Resolver::name(const ExprSyntax& s, Expr& e) {
  const auto at = std::find(names_.begin(), names_.end(), s.op);
  if (at == names_.end())
    return fail(s.at, fmt::format("unknown parameter `{}`; the parameters are: {}{}", s.op,
                                  fmt::join(names_, ", "), suggestion(s.op, names_)));
  e.param = static_cast<int>(at - names_.begin());
  return true;
}

bool Resolver::call(const ExprSyntax& s, Expr& e) {
  const OpDef* op = find_op(s.op);
  if (!op) {
    std::vector<std::string> names;
    for (const OpDef* known : op_table()) names.emplace_back(known->name);
    return fail(s.at, fmt::format("unknown operator `{}`; allowed: {}{}", s.op,
                                  fmt::join(names, ", "), suggestion(s.op, names)));
  }
  e.op = std::string(op->name);
  if (static_cast<int>(s.args.size()) != op->arity)
    return fail(s.at, fmt::format("{} takes {} operand{}, got {}; usage: {}", op->name, op->arity,
                                  op->arity == 1 ? "" : "s", s.args.size(), op->usage));
  for (const ExprSyntax& arg : s.args)
    if (!resolve(arg, e.args.emplace_back())) return false;
  return attributes(s, *op, e);
}

bool Resolver::attributes(const ExprSyntax& s, const OpDef& op, Expr& e) {
  for (const AttributeSyntax& a : s.attributes) {
    if (std::find(op.attributes.begin(), op.attributes.end(), a.at.text) == op.attributes.end())
      return fail(a.at, fmt::format("{} has no attribute `{}`; usage: {}{}", op.name, a.at.text,
                                    op.usage, suggestion(a.at.text, op.attributes)));
    for (const Attribute& other : e.attributes)
      if (other.name == a.at.text)
        return fail(a.at, fmt::format("attribute `{}` is given twice", other.name));
    e.attributes.push_back({std::string(a.at.text), a.value});
  }
  if (!op.definition.empty() && e.attributes.size() < op.attributes.size())
    return fail(s.at, fmt::format("{0} needs its {1}, such as {1}=0; usage: {2}", op.name,
                                  op.attributes[0], op.usage));
  return true;
}

}  // namespace

Result<Expr> resolve(const ExprSyntax& s, const std::vector<std::string>& names,
                     const Source& source) {
  Resolver resolver(names, source);
  Expr e;
  if (!resolver.resolve(s, e)) return resolver.error();
  return e;
}

}  // namespace morello
