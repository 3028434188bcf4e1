// Elementwise operators.
//
// Floats are computed in f32 and not rounded in between, as XLA does where it may be more exact
// than asked (xla_allow_excess_precision, the default): bf16 and f16 are how tensors are stored.
// reduce_precision rounds. Integers are computed exactly: what is made of i32 by arithmetic and
// then becomes a float is stored as i32 first, because f32 would not hold it.

#include <algorithm>

#include "import/lower.h"

namespace morello::hlo {

static unsigned types_of(const TensorType& t) {
  return t.pred                  ? kBools
         : is_float(t.dtype)     ? kFloats
         : t.dtype == Dtype::i32 ? kInt32
                                 : kSmallInts;
}
static bool same_type(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.pred == b.pred;
}

bool Lowering::defined_for(const Instruction& in) {
  const TensorType& t = in.op->kind == Kind::kCompare ? operand(in, 0) : in.type;
  if (types_of(t) & in.op->types) return true;
  std::string allowed;
  static constexpr std::string_view kNames[] = {"floats", "32-bit integers",
                                                "8 and 16-bit integers", "booleans"};
  for (unsigned i = 0; i < 4; ++i)
    if (in.op->types >> i & 1) allowed += (allowed.empty() ? "" : ", ") + std::string(kNames[i]);
  return fail(in.at,
              fmt::format("{} of {} is not supported; allowed: {}", in.op->name, str(t), allowed));
}

// The expression, with nodes for a, b and c.
int Lowering::instance(const Token& at, const ExprSyntax& e, const std::vector<int>& args,
                       const std::vector<i64>& shape) {
  if (e.kind == Expr::Kind::kNumber) return nodes_.number(at, e.number);
  if (e.kind == Expr::Kind::kParam) return args[e.op[0] - 'a'];
  std::vector<int> operands;
  for (const ExprSyntax& arg : e.args) operands.push_back(instance(at, arg, args, shape));
  return nodes_.call(at, e.op, std::move(operands), shape);
}

bool Lowering::elements(const Instruction& in, std::string_view definition, Value& out) {
  if (!defined_for(in)) return false;
  const bool compares = in.op->kind == Kind::kCompare;
  const bool is_select = in.op->name == "select";
  bool wide = false;
  std::vector<Placed> operands;
  for (size_t i = 0; i < in.args.size(); ++i) {
    const TensorType& t = operand(in, i);
    const TensorType& expected = compares ? operand(in, 0) : in.type;
    if (is_select && i == 0 ? !t.pred : !same_type(t, expected))
      return fail(in.at,
                  fmt::format("operand {} of {} has the type {}; expected {}", i, in.op->name,
                              str(t), is_select && i == 0 ? "pred" : str(expected)));
    std::vector<int> ids;
    for (size_t h = 0; h < t.shape.size(); ++h) ids.push_back(static_cast<int>(h));
    const Value& v = value(in, i);
    if (is_float(in.type.dtype) && !is_float(t.dtype)) round_integers(v.node);
    wide |= (!t.pred && t.dtype == Dtype::i32) || nodes_[v.node].wide;
    operands.push_back(nodes_.place(v, ids));
  }
  std::vector<int> args;
  Joint joint;
  if (!nodes_.join(in.at, std::move(operands), args, joint)) return fail_in_nodes();
  const KernelSyntax text = parse_definition(definition);
  const int node = instance(in.at, text.expr, args, joint.extents);
  nodes_[node].wide = wide && !is_float(in.type.dtype);
  out = Nodes::value_of(node, joint, in.type.shape.size());
  return true;
}

// Before it becomes a float.
void Lowering::round_integers(int node) {
  if (nodes_[node].wide) nodes_[node].stored = Dtype::i32;
}

bool Lowering::comparison(const Instruction& in, Value& out) {
  static constexpr std::pair<std::string_view, std::string_view> kDirections[] = {
      {"EQ", "eq(a, b)"}, {"NE", "ne(a, b)"}, {"LT", "lt(a, b)"},
      {"LE", "le(a, b)"}, {"GT", "gt(a, b)"}, {"GE", "ge(a, b)"}};
  const auto word = [&](std::string_view name) {
    const auto given = in.words.find(name);
    std::string_view text = given == in.words.end() ? "" : given->second.text;
    if (text.ends_with(">")) text.remove_suffix(1);  // #stablehlo<comparison_direction GT>
    const size_t blank = text.rfind(' ');
    return blank == std::string_view::npos ? text : text.substr(blank + 1);
  };
  if (!in.type.pred)
    return fail(in.at, fmt::format("a comparison makes pred, not {}", str(in.type)));
  if (word("order") == "TOTALORDER" && is_float(operand(in, 0).dtype))
    return fail(in.at, "comparisons by TOTALORDER are not supported; allowed: FLOAT");
  for (const auto& [direction, definition] : kDirections)
    if (direction == word("direction")) return elements(in, definition, out);
  return fail(in.at, "a comparison has a direction: EQ, NE, LT, LE, GT or GE");
}

bool Lowering::conversion(const Instruction& in, Value& out) {
  const TensorType &from = operand(in, 0), &to = in.type;
  out = value(in, 0);
  if (same_type(from, to)) return true;
  if (to.pred) {
    const std::vector<i64> shape = nodes_.shape_of(out.node);
    nodes_.decide(out.node);
    const int differs = nodes_.call(in.at, "ne", {out.node, nodes_.number(in.at, 0)}, shape);
    nodes_[differs].wide = nodes_[out.node].wide || from.dtype == Dtype::i32;
    for (int& axis : out.axes) axis = nodes_.position(out.node, axis);
    out.node = differs;
    return true;
  }
  if (is_float(from.dtype) && is_float(to.dtype)) {
    if (holds(to.dtype, from.dtype) || nodes_[out.node].kind == Expr::Kind::kNumber) return true;
    nodes_.decide(out.node);
    const int node = nodes_.call(in.at, "convert", {out.node}, nodes_.shape_of(out.node));
    for (int& axis : out.axes) axis = nodes_.position(out.node, axis);
    return out.node = node, true;
  }
  if (is_float(to.dtype)) return round_integers(out.node), true;
  if (!is_float(from.dtype) && (from.pred || holds(to.dtype, from.dtype))) return true;
  return fail(in.at,
              fmt::format("{} cannot become {}: the spec language has no rounding of floats to "
                          "integers, and none of integers to smaller ones",
                          str(from), str(to)));
}

// reduce_precision to what bf16 or f16 hold: rounded, and stored so.
bool Lowering::rounding(const Instruction& in, Value& out) {
  const Numbers exponent = numbers_of(in, "exponent_bits", 1, 0),
                mantissa = numbers_of(in, "mantissa_bits", 1, 0);
  const auto format = in.words.find("format");
  const std::string_view text = format == in.words.end() ? "" : format->second.text;
  const bool is_bf16 = text == "e8m7" || (exponent[0] == 8 && mantissa[0] == 7);
  const bool is_f16 = text == "e5m10" || (exponent[0] == 5 && mantissa[0] == 10);
  const bool is_f32 = text == "e8m23" || (exponent[0] == 8 && mantissa[0] == 23);
  if (!is_bf16 && !is_f16 && !is_f32)
    return fail(in.at,
                "reduce_precision to this format is not supported; allowed: e8m7 (bf16), "
                "e5m10 (f16), e8m23 (f32)");
  out = value(in, 0);
  if (is_f32 || nodes_[out.node].kind == Expr::Kind::kNumber) return true;
  nodes_.decide(out.node);
  const int node = nodes_.call(in.at, "convert", {out.node}, nodes_.shape_of(out.node));
  nodes_[node].stored = is_bf16 ? Dtype::bf16 : Dtype::f16;
  for (int& axis : out.axes) axis = nodes_.position(out.node, axis);
  return out.node = node, true;
}

}  // namespace morello::hlo
