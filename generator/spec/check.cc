// KernelSyntax -> KernelSpec: names, shapes, types, layouts and sizes, each error at its place.

#include <algorithm>

#include "spec/build.h"
#include "spec/op.h"
#include "spec/sizes.h"
#include "spec/syntax.h"

namespace morello {
namespace {

class Checker {
 public:
  Checker(const KernelSyntax& kernel, const Source& source) : k_(kernel), source_(source) {}
  Result<KernelSpec> run();

 private:
  bool params();
  bool find_operator();
  bool arguments();
  bool attributes();
  bool all_used();
  bool build();
  bool result();
  bool packing();
  bool finish();

  bool layout(const LayoutSyntax& syntax, const Token& type, Param& out);
  bool fits(const Param& p, const Token& at);
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const KernelSyntax& k_;
  const Source& source_;
  const OpDef* op_ = nullptr;
  KernelSpec spec_;
  Diagnostic error_;
};

Result<KernelSpec> Checker::run() {
  spec_.name = std::string(k_.name.text);
  if (params() && find_operator() && arguments() && attributes() && all_used() && build() &&
      result() && packing() && finish())
    return std::move(spec_);
  return error_;
}

bool Checker::params() {
  for (const TensorSyntax& p : k_.params) {
    for (const Param& other : spec_.params)
      if (other.name == p.name.text)
        return fail(p.name, fmt::format("parameter `{}` exists already", other.name));
    Param& param = spec_.params.emplace_back();
    param.name = std::string(p.name.text);
    param.dtype = p.dtype;
    param.shape = p.shape;
    if (!layout(p.layout, p.dtype_at, param)) return false;
  }
  return true;
}

bool Checker::layout(const LayoutSyntax& syntax, const Token& type, Param& out) {
  using Kind = LayoutSyntax::Kind;
  const int rank = static_cast<int>(out.shape.size());
  out.layout = syntax.kind == Kind::kCol     ? Layout::col(rank)
               : syntax.kind == Kind::kOrder ? Layout{syntax.digits}
                                             : Layout::row(rank);
  out.packed = syntax.kind == Kind::kPacked;
  if (syntax.kind == Kind::kCol && rank < 2)
    return fail(syntax.at, "`col` needs 2 dimensions or more");
  const std::string problem = layout_problem(out.layout, rank);
  if (!problem.empty())
    return fail(syntax.at, fmt::format("no order of {}: {}", shape_text(out.shape), problem));
  return fits(out, type);
}

bool Checker::fits(const Param& p, const Token& at) {
  if (saturating_product(p.layout.elements(p.shape), bytes(p.dtype)) < kMaxTensorBytes) return true;
  const int rank = static_cast<int>(p.shape.size());
  const std::string order = p.layout.is_row(rank) ? "" : " " + p.layout.str(rank);
  return fail(at, fmt::format("{}{}{} is too large; a tensor has less than 2^46 bytes",
                              name(p.dtype), shape_text(p.shape), order));
}

bool Checker::find_operator() {
  op_ = find_op(k_.op);
  if (op_) return true;
  std::vector<std::string> names;
  for (const OpDef* op : op_table()) names.emplace_back(op->name);
  return fail(k_.op_at, fmt::format("unknown operator `{}`; allowed: {}{}", k_.op,
                                    fmt::join(names, ", "), suggestion(k_.op, names)));
}

bool Checker::arguments() {
  spec_.expr.op = std::string(op_->name);
  if (static_cast<int>(k_.args.size()) != op_->arity)
    return fail(k_.op_at,
                fmt::format("{} takes {} operand{}, got {}; usage: {}", op_->name, op_->arity,
                            op_->arity == 1 ? "" : "s", k_.args.size(), op_->usage));
  std::vector<std::string> names;
  for (const Param& p : spec_.params) names.push_back(p.name);
  for (const Token& arg : k_.args) {
    const auto at = std::find(names.begin(), names.end(), arg.text);
    if (at == names.end())
      return fail(arg, fmt::format("unknown parameter `{}`; the parameters are: {}{}", arg.text,
                                   fmt::join(names, ", "), suggestion(arg.text, names)));
    spec_.expr.args.push_back(static_cast<int>(at - names.begin()));
  }
  return true;
}

bool Checker::attributes() {
  for (const AttributeSyntax& a : k_.attributes) {
    const std::vector<std::string>& allowed = op_->attributes;
    if (std::find(allowed.begin(), allowed.end(), a.at.text) == allowed.end())
      return fail(a.at, fmt::format("{} has no attribute `{}`; usage: {}{}", op_->name, a.at.text,
                                    op_->usage, suggestion(a.at.text, allowed)));
    for (const Attribute& other : spec_.expr.attributes)
      if (other.name == a.at.text)
        return fail(a.at, fmt::format("attribute `{}` is given twice", other.name));
    spec_.expr.attributes.push_back({std::string(a.at.text), a.value});
  }
  return true;
}

bool Checker::all_used() {
  for (size_t i = 0; i < spec_.params.size(); ++i) {
    const std::vector<int>& used = spec_.expr.args;
    if (std::find(used.begin(), used.end(), static_cast<int>(i)) == used.end())
      return fail(k_.params[i].name,
                  fmt::format("parameter `{}` is not used", spec_.params[i].name));
  }
  return true;
}

bool Checker::build() {
  std::vector<Param> args;
  for (const int i : spec_.expr.args) args.push_back(spec_.params[i]);
  Result<Computation> built =
      op_->build({.args = args, .attributes = spec_.expr.attributes, .result = k_.result.dtype});
  if (!built) return fail(k_.op_at, built.error().text);
  spec_.computation = std::move(*built);
  return true;
}

bool Checker::result() {
  Operand& out = spec_.computation.operands.back();
  const TensorSyntax& given = k_.result;
  if (!given.shape.empty() && given.shape != out.shape)
    return fail(given.dtype_at, fmt::format("the result of {} has the shape {}, not {}", op_->name,
                                            shape_text(out.shape), shape_text(given.shape)));
  if (given.layout.kind == LayoutSyntax::Kind::kPacked)
    return fail(given.layout.at, "the result cannot be packed; allowed: row, col, order(...)");
  spec_.result = {
      .name = "out", .dtype = given.dtype, .shape = out.shape, .layout = {}, .packed = false};
  if (!layout(given.layout, given.dtype_at, spec_.result)) return false;
  out.layout = spec_.result.layout;
  return true;
}

// Packing ahead of time pays where elements are used more than once, next to another operand. One
// buffer cannot be in the form of two operands.
bool Checker::packing() {
  const Computation& c = spec_.computation;
  const bool pays = c.combine != Combine::kNone && c.inputs() >= 2;
  for (const TensorSyntax& p : k_.params)
    if (p.layout.kind == LayoutSyntax::Kind::kPacked && !pays)
      return fail(p.layout.at,
                  fmt::format("only operands of a sum of products, such as matmul, can "
                              "be packed; {} reads every element once",
                              op_->name));
  const std::vector<int>& used = spec_.expr.args;
  for (auto arg = used.begin(); arg != used.end(); ++arg)
    if (spec_.params[*arg].packed && std::find(used.begin(), arg, *arg) != arg)
      return fail(
          k_.args[arg - used.begin()],
          fmt::format("`{}` is packed and so can be used only once", spec_.params[*arg].name));
  return true;
}

bool Checker::finish() {
  Computation& c = spec_.computation;
  // Both operands may be one parameter; an operand's name stands for one operand.
  if (c.inputs() == 2 && c.operands[0].name == c.operands[1].name) c.operands[1].name += "2";
  c = collapse(std::move(c));
  if (c.dims.size() > kMaxDims)
    return fail(k_.op_at, fmt::format("{} needs {} loops here; at most {} are supported", op_->name,
                                      c.dims.size(), kMaxDims));
  std::vector<i64> extents;
  for (const Dim& d : c.dims) extents.push_back(d.extent);
  if (saturating_product(extents) < kHuge) return true;
  return fail(k_.op_at, fmt::format("{} needs {} steps, which is too many; less than 2^62 are "
                                    "supported",
                                    op_->name, fmt::join(extents, " x ")));
}

}  // namespace

Result<KernelSpec> check(const KernelSyntax& kernel, const Source& source) {
  return Checker(kernel, source).run();
}

}  // namespace morello
