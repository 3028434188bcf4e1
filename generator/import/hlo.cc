// HLO text, as XLA prints it:
//
//   HloModule jit_f, entry_computation_layout={(f32[8,512]{1,0})->f32[8]{0}}
//
//   region_0.2 {
//     Arg_0.3 = f32[] parameter(0)
//     Arg_1.4 = f32[] parameter(1)
//     ROOT add.5 = f32[] add(Arg_0.3, Arg_1.4)
//   }
//
//   ENTRY main.7 {
//     Arg_0.1 = f32[8,512]{1,0} parameter(0)
//     constant.6 = f32[] constant(0)
//     ROOT reduce.7 = f32[8]{0} reduce(Arg_0.1, constant.6), dimensions={1}, to_apply=region_0.2
//   }
//
// Names may have a % before them, operands their types.

#include "import/types.h"

namespace morello::hlo {
namespace {

class HloParser {
 public:
  explicit HloParser(const Source& source) : in_(source) {}
  bool modules(std::vector<Module>& out);
  const Diagnostic& error() const { return in_.error(); }

 private:
  bool module(Module& out);
  bool computation(Module& m);
  bool skip_type();
  bool instruction(const Module& m, Function& f);
  bool operands(Instruction& out);
  bool operand(Instruction& out);
  bool attributes(const Module& m, Instruction& out);
  bool applied(const Module& m, Instruction& out);
  Token name() {
    in_.take("%");
    return in_.word();
  }

  Scanner in_;
  std::map<std::string_view, int> values_;  // of the computation that is being read
};

bool HloParser::modules(std::vector<Module>& out) {
  do {
    if (!module(out.emplace_back())) return false;
  } while (!in_.at_end());
  return true;
}

bool HloParser::module(Module& out) {
  if (!in_.take_word("HloModule")) return in_.expected("`HloModule` and its name");
  out.name = in_.word();
  in_.skip_line();  // what is known of it: entry_computation_layout and so on
  while (!in_.at_end() && !in_.is_word("HloModule"))
    if (!computation(out)) return false;
  for (const Function& f : out.functions)
    if (f.is_public) return true;
  return in_.fail(out.name, "this module has no ENTRY computation");
}

bool HloParser::computation(Module& m) {
  Function f;
  f.is_public = in_.take_word("ENTRY");
  f.name = name();
  if (f.name.text.empty()) return in_.expected("a computation, such as `ENTRY main {`");
  Token ignored;
  if (in_.is("(") && !in_.group(ignored)) return false;
  if (in_.take("->") && !skip_type()) return false;
  if (!in_.expect("{", "`{` and instructions")) return false;
  values_.clear();
  while (!in_.take("}"))
    if (!instruction(m, f)) return false;
  if (f.instructions.empty()) return in_.fail(f.name, "this computation has no instructions");
  // The last one where none is marked.
  if (f.results.empty()) f.results = {static_cast<int>(f.instructions.size()) - 1};
  in_.take(",");  // execution_thread="main"
  m.functions.push_back(std::move(f));
  return true;
}

bool HloParser::skip_type() {
  Token ignored;
  if (in_.is("(")) return in_.group(ignored);
  TensorType type;
  return read_hlo_type(in_, type);
}

bool HloParser::instruction(const Module& m, Function& f) {
  const bool is_root = in_.take_word("ROOT");
  Instruction made;
  made.name = name();
  if (made.name.text.empty()) return in_.expected("an instruction or `}`");
  if (!in_.expect("=", "`=` and what it is")) return false;
  const bool tuple = in_.is("(");
  const Token type = in_.here();
  if (tuple ? !skip_type() : !read_hlo_type(in_, made.type)) return false;
  const Token op = in_.word();
  if (op.text.empty()) return in_.expected("an operator");
  const bool custom = op.text == "custom-call";
  Diagnostic error;
  if (!custom && !find_row(in_.source(), op, op.text, made, error)) return in_.fail(error);
  made.at = op;
  if (!operands(made) || !attributes(m, made)) return false;
  if (custom && !find_row(in_.source(), op, custom_target(made), made, error))
    return in_.fail(error);
  if (tuple && made.op->kind != Kind::kTuple)
    return in_.fail(
        type, fmt::format("{} has several results, which only a whole function can have", op.text));
  const int number = static_cast<int>(f.instructions.size());
  if (!values_.try_emplace(made.name.text, number).second)
    return in_.fail(made.name, fmt::format("`{}` exists already", made.name.text));
  if (is_root) f.results = {number};
  f.instructions.push_back(std::move(made));
  return true;
}

bool HloParser::operands(Instruction& out) {
  const Kind kind = out.op ? out.op->kind : Kind::kCall;
  Token group;
  Diagnostic error;
  if (kind == Kind::kConstant) {
    if (!in_.is("(")) return in_.expected("`(` and a number");
    return in_.group(group) && (read_constant(in_.source(), group, out, error) || in_.fail(error));
  }
  if (!in_.expect("(", "`(` and operands")) return false;
  if (kind == Kind::kParameter) {
    Numbers number;
    const Token word = in_.word();
    if (!read_numbers(in_.source(), word, number, error)) return in_.fail(error);
    if (number.size() != 1) return in_.fail(word, "expected the number of the parameter");
    out.parameter = number[0];
  }
  while (!in_.take(")")) {
    if (!operand(out)) return false;
    if (!in_.take(",") && !in_.is(")")) return in_.expected("`,` or `)` after an operand");
  }
  return true;
}

// `%x`, `x`, `f32[8]{0} %x`.
bool HloParser::operand(Instruction& out) {
  if (in_.is("(") && !skip_type()) return false;
  Token word = name();
  if (in_.touches('[')) {
    in_.back_to(word);
    if (!skip_type()) return false;
    word = name();
  }
  if (word.text.empty()) return in_.expected("an operand");
  const auto value = values_.find(word.text);
  if (value == values_.end())
    return in_.fail(word, fmt::format("nothing above is called `{}`", word.text));
  out.args.push_back(value->second);
  return true;
}

bool HloParser::attributes(const Module& m, Instruction& out) {
  while (in_.take(",")) {
    const Token name = in_.word();
    Token value;
    if (name.text.empty()) return in_.expected("an attribute, such as dimensions={0}");
    if (!in_.expect("=", fmt::format("`=` and the value of {}", name.text))) return false;
    if (!in_.rest_of_item(value)) return false;
    Diagnostic error;
    if (!read_attribute(in_.source(), name, value, out, error)) return in_.fail(error);
  }
  return !out.op || out.op->kind != Kind::kReduce || applied(m, out);
}

// Computations stand before those that use them.
bool HloParser::applied(const Module& m, Instruction& out) {
  const auto callee = out.words.find("callee");
  if (callee == out.words.end())
    return in_.fail(out.at, "reduce needs the computation that joins two elements: to_apply=...");
  std::string_view called = callee->second.text;
  if (called.starts_with("%")) called.remove_prefix(1);
  for (size_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[i].name.text == called) out.region = static_cast<int>(i);
  if (out.region >= 0) return true;
  return in_.fail(callee->second, fmt::format("no computation above is called `{}`", called));
}

}  // namespace

Result<std::vector<Module>> parse_hlo(const Source& source) {
  HloParser parser(source);
  std::vector<Module> modules;
  if (!parser.modules(modules)) return parser.error();
  return modules;
}

}  // namespace morello::hlo
