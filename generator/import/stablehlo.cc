// StableHLO text, as jax prints it, in its pretty and in its generic form:
//
//   module @jit_f {
//     func.func public @main(%arg0: tensor<8x512xf32>) -> (tensor<8xf32> {jax.result_info = ""}) {
//       %cst = stablehlo.constant dense<0.0> : tensor<f32>
//       %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1]
//            : (tensor<8x512xf32>, tensor<f32>) -> tensor<8xf32>
//       %1 = "stablehlo.tanh"(%0) : (tensor<8xf32>) -> tensor<8xf32>
//       return %1 : tensor<8xf32>
//     }
//   }
//
// The pretty form of an operator is read without knowing which one it is: operands have a %,
// attributes a =, types stand behind a colon.

#include <optional>

#include "import/types.h"

namespace morello::hlo {
namespace {

// Regions within one another: reductions, and nothing in those.
constexpr int kMaxDepth = 4;

struct Given {
  Token name, value;
};

// An operator as it is written.
struct Written {
  Token at;
  std::string_view name;  // without its dialect
  std::vector<Token> operands;
  std::vector<Given> attributes;
  std::vector<Token> words;  // of comparisons, and the operator that a reduction applies
  Token callee, constant;
  std::optional<TensorType> type;
  int region = -1;
};

class StablehloParser {
 public:
  explicit StablehloParser(const Source& source) : in_(source) {}
  bool modules(std::vector<Module>& out);
  const Diagnostic& error() const { return in_.error(); }

 private:
  bool skip_aliases();
  bool module(Module& out);
  bool generic_module(Module& out);
  bool module_body(Module& out);
  bool function(Module& m);
  bool generic_function(Module& m);
  bool arguments(Function& f, std::string_view close);
  bool argument(Function& f);
  bool function_results(std::vector<TensorType>& types, Function& f);
  bool function_result(TensorType& type, bool list);
  bool put_in_layout(const TensorType& as, Function& f, int& result);
  bool layout_mode(const std::vector<Given>& attributes, TensorType& type);
  bool block(Module& m, Function& f);
  bool operation(Module& m, Function& f, bool& returns);
  bool operator_name(Written& out, bool& generic);
  bool items(Module& m, Written& out);
  bool item(Module& m, Written& out);
  bool in_parentheses(Module& m, Written& out);
  bool region(Module& m, Written& out);
  bool word(Written& out);
  bool types(Written& out);
  bool several_types(Written& out);
  bool dictionary(std::vector<Given>& out);
  bool location();
  bool instruction(Function& f, const Token& result, Written& w);
  bool value_of(const Token& name, int& out);
  bool add(Function& f, Instruction made);

  Scanner in_;
  std::map<std::string_view, int> values_;  // of the function that is being read
  int depth_ = 0;
};

// Lines such as `#loc1 = loc("x")`.
bool StablehloParser::skip_aliases() {
  while (in_.is("#")) in_.skip_line();
  return true;
}

bool StablehloParser::modules(std::vector<Module>& out) {
  while (skip_aliases() && !in_.at_end()) {
    Module& m = out.emplace_back();
    const bool bare = in_.is_word("func.func") || in_.is("\"func.func\"");
    if (bare ? !module_body(m) : !module(m)) return false;
  }
  for (const Module& m : out)
    for (const Function& f : m.functions)
      if (f.is_public) return true;
  return in_.fail(in_.here(), "there is no public function here: `func.func public @main(...)`");
}

bool StablehloParser::module(Module& out) {
  if (in_.take("\"builtin.module\"")) return generic_module(out);
  if (!in_.take_word("module") && !in_.take_word("builtin.module"))
    return in_.expected("`module`, or `HloModule` of HLO text");
  if (in_.is("@")) out.name = in_.name("@");
  std::vector<Given> ignored;
  if (in_.take_word("attributes") && !dictionary(ignored)) return false;
  return in_.expect("{", "`{` and functions") && module_body(out) &&
         in_.expect("}", "a function or `}`") && location();
}

// "builtin.module"() <{sym_name = "jit_f"}> ({ ... }) {..} : () -> ()
bool StablehloParser::generic_module(Module& out) {
  std::vector<Given> attributes;
  if (!in_.expect("(", "`(`") || !in_.expect(")", "`)`")) return false;
  if (in_.is("<{") && !dictionary(attributes)) return false;
  for (const Given& g : attributes)
    if (g.name.text == "sym_name" && g.value.text.size() > 2)
      out.name = {g.value.kind, g.value.text.substr(1, g.value.text.size() - 2),
                  g.value.offset + 1};
  if (!in_.expect("({", "`({` and functions") || !module_body(out) ||
      !in_.expect("})", "a function or `})`"))
    return false;
  if (in_.is("{") && !dictionary(attributes)) return false;
  Token ignored;
  return in_.expect(":", "`:` and types") && in_.value(ignored) && location();
}

bool StablehloParser::module_body(Module& out) {
  while (in_.is_word("func.func") || in_.is("\"func.func\""))
    if (in_.is("\"") ? !generic_function(out) : !function(out)) return false;
  return true;
}

bool StablehloParser::function(Module& m) {
  Function f;
  in_.take_word("func.func");
  const bool is_private = in_.take_word("private");
  in_.take_word("public");
  f.is_public = !is_private;
  f.name = in_.name("@");
  if (f.name.text.empty()) return in_.expected("a function's name, such as @main");
  values_.clear();
  std::vector<TensorType> results;
  std::vector<Given> ignored;
  if (!in_.expect("(", "`(` and arguments") || !arguments(f, ")")) return false;
  if (!function_results(results, f)) return false;
  if (in_.take_word("attributes") && !dictionary(ignored)) return false;
  if (!in_.expect("{", "`{` and operators") || !block(m, f) || !in_.expect("}", "`}`"))
    return false;
  if (results.size() != f.results.size())
    return in_.fail(f.name, fmt::format("`{}` has {} results and returns {}", f.name.text,
                                        results.size(), f.results.size()));
  for (size_t i = 0; i < results.size(); ++i)
    if (!put_in_layout(results[i], f, f.results[i])) return false;
  m.functions.push_back(std::move(f));
  return location();
}

// A copy: what is returned may be an argument, which has its own layout.
bool StablehloParser::put_in_layout(const TensorType& as, Function& f, int& result) {
  if (as.minor_to_major.empty()) return true;
  Instruction copy = f.instructions[result];
  if (copy.type.shape.size() != as.minor_to_major.size())
    return in_.fail(f.name, "the layout of the result has another number of axes than the result");
  copy.op = find_operator("copy");
  copy.args = {result};
  copy.type.minor_to_major = as.minor_to_major;
  result = static_cast<int>(f.instructions.size());
  f.instructions.push_back(std::move(copy));
  return true;
}

// "func.func"() <{function_type = .., sym_name = "main", ..}> ({ ^bb0(%arg0: ..): .. }) : () -> ()
bool StablehloParser::generic_function(Module& m) {
  Function f{.name = {}, .is_public = true, .instructions = {}, .results = {}};
  Token ignored;
  in_.take("\"func.func\"");
  values_.clear();
  std::vector<Given> attributes;
  if (!in_.expect("(", "`(`") || !in_.expect(")", "`)`")) return false;
  if (in_.is("<{") && !dictionary(attributes)) return false;
  if (!in_.expect("({", "`({` and operators")) return false;
  if (in_.take("^")) {
    in_.word();
    if (!in_.expect("(", "`(` and arguments") || !arguments(f, ")") ||
        !in_.expect(":", "`:` and operators"))
      return false;
  }
  if (!block(m, f) || !in_.expect("})", "`})`")) return false;
  if (in_.is("{") && !dictionary(attributes)) return false;
  for (const Given& g : attributes) {
    if (g.name.text == "sym_name" && g.value.text.size() > 2)
      f.name = {g.value.kind, g.value.text.substr(1, g.value.text.size() - 2), g.value.offset + 1};
    if (g.name.text == "sym_visibility") f.is_public = g.value.text != "\"private\"";
  }
  if (f.name.text.empty()) return in_.fail(in_.here(), "this function has no sym_name");
  m.functions.push_back(std::move(f));
  return in_.expect(":", "`:` and types") && in_.value(ignored) && location();
}

bool StablehloParser::arguments(Function& f, std::string_view close) {
  while (!in_.take(close)) {
    if (!argument(f)) return false;
    if (!in_.take(",") && !in_.is(close)) return in_.expected("`,` or `)` after an argument");
  }
  return true;
}

bool StablehloParser::argument(Function& f) {
  Instruction p;
  p.name = p.at = in_.name("%");
  if (p.name.text.empty()) return in_.expected("an argument, such as %arg0: tensor<8xf32>");
  p.op = find_operator("parameter");
  p.parameter = static_cast<i64>(f.instructions.size());
  if (!in_.expect(":", "`:` and a type") || !read_stablehlo_type(in_, p.type)) return false;
  std::vector<Given> attributes;
  if (in_.is("{") && (!dictionary(attributes) || !layout_mode(attributes, p.type))) return false;
  return location() && add(f, std::move(p));
}

// -> tensor<8xf32>     -> (tensor<8xf32> {jax.result_info = ""})
bool StablehloParser::function_results(std::vector<TensorType>& types, Function& f) {
  if (!in_.take("->")) return in_.fail(f.name, "this function has no result");
  const bool list = in_.take("(");
  do {
    if (!function_result(types.emplace_back(), list)) return false;
  } while (list && in_.take(","));
  return !list || in_.expect(")", "`,` or `)` after a result");
}

bool StablehloParser::function_result(TensorType& type, bool list) {
  std::vector<Given> attributes;
  if (!read_stablehlo_type(in_, type)) return false;
  if (list && in_.is("{") && !dictionary(attributes)) return false;
  return layout_mode(attributes, type);
}

// What jax says of layouts that are not the usual one: mhlo.layout_mode = "{0,1}".
bool StablehloParser::layout_mode(const std::vector<Given>& attributes, TensorType& type) {
  for (const Given& g : attributes) {
    if (g.name.text != "mhlo.layout_mode" || g.value.text.find('{') == std::string_view::npos)
      continue;
    const Token inner{g.value.kind, g.value.text.substr(1, g.value.text.size() - 2),
                      g.value.offset + 1};
    if (!read_minor_to_major(in_, inner, type)) return false;
  }
  return true;
}

// Operators up to the one that returns.
bool StablehloParser::block(Module& m, Function& f) {
  bool returns = false;
  while (!returns)
    if (!operation(m, f, returns)) return false;
  return true;
}

bool StablehloParser::operation(Module& m, Function& f, bool& returns) {
  Token result;
  if (in_.is("%")) {
    result = in_.name("%");
    if (in_.take(":"))
      return in_.fail(result, "this makes several results, which only a whole function can have");
    if (!in_.expect("=", "`=` and an operator")) return false;
  }
  Written w;
  bool generic = false;
  if (!operator_name(w, generic)) return false;
  returns = w.name == "return";
  if (!items(m, w)) return false;
  if (!returns) return instruction(f, result, w);
  for (const Token& operand : w.operands)
    if (!value_of(operand, f.results.emplace_back())) return false;
  return !w.operands.empty() || in_.fail(w.at, "this returns nothing");
}

bool StablehloParser::operator_name(Written& out, bool& generic) {
  generic = in_.take("\"");
  out.at = in_.word();
  if (out.at.text.empty()) return in_.expected("an operator, such as stablehlo.add");
  if (generic && !in_.expect("\"", "`\"`")) return false;
  out.name = out.at.text;
  for (const std::string_view dialect : {"stablehlo.", "mhlo.", "chlo.", "func."})
    if (out.name.starts_with(dialect)) out.name.remove_prefix(dialect.size());
  if (out.name == out.at.text && out.name != "return" && out.name != "call")
    return in_.fail(out.at, fmt::format("`{}` is no operator of stablehlo or chlo, which can be "
                                        "imported",
                                        out.name));
  return true;
}

bool StablehloParser::items(Module& m, Written& out) {
  while (!in_.is(":")) {
    if (out.name == "return" && out.operands.empty() && in_.is("}")) return true;
    if (!item(m, out)) return false;
  }
  return in_.take(":") && types(out) && (!in_.take_word("reducer") || region(m, out)) && location();
}

bool StablehloParser::item(Module& m, Written& out) {
  if (in_.take(",")) return true;
  if (in_.is("%")) return out.operands.push_back(in_.name("%")), true;
  if (in_.is("@")) return out.callee = in_.name("@"), true;
  if (in_.is("<{") || in_.is("{")) return dictionary(out.attributes);
  if (in_.take("(")) return in_parentheses(m, out);
  return word(out);
}

bool StablehloParser::in_parentheses(Module& m, Written& out) {
  if (in_.take("{")) {  // a region of the generic form
    if (!in_.take("^")) return in_.expected("`^` and the arguments of the region");
    in_.word();
    return region(m, out) && in_.expect(")", "`)` after the region");
  }
  while (!in_.take(")")) {
    if (in_.is("%"))
      out.operands.push_back(in_.name("%"));
    else if (in_.take_word("init"))
      in_.take(":");
    else if (!in_.take(","))
      return in_.expected("an operand or `)`");
  }
  return true;
}

// (%a: tensor<f32>, %b: tensor<f32>) { ... }     ^bb0(..): ... })
bool StablehloParser::region(Module& m, Written& out) {
  Function f;
  f.name = out.at;
  std::map<std::string_view, int> outside = std::move(values_);
  values_.clear();
  if (++depth_ > kMaxDepth) return in_.fail(out.at, "regions are nested too deeply");
  const bool read = in_.expect("(", "`(` and arguments") && arguments(f, ")") &&
                    (in_.take(":") || in_.expect("{", "`{` and operators")) && block(m, f) &&
                    in_.expect("}", "`}`");
  --depth_;
  values_ = std::move(outside);
  if (!read) return false;
  out.region = static_cast<int>(m.functions.size());
  m.functions.push_back(std::move(f));
  return true;
}

bool StablehloParser::word(Written& out) {
  const Token name = in_.here();
  if (name.text == "dense") return in_.value(out.constant);
  Token w = in_.word();
  if (w.text.empty()) return in_.expected("an operand, an attribute or `:` and types");
  if (in_.take("=")) {
    Given& g = out.attributes.emplace_back();
    g.name = w;
    if (!in_.value(g.value)) return false;
    return !g.value.text.empty() || in_.expected(fmt::format("the value of {}", w.text));
  }
  if (w.text != "across" && w.text != "applies") out.words.push_back(w);
  return true;
}

// tensor<8xi1>, tensor<8xf32>     tensor<8xf32> -> tensor<8xf32>     (tensor<8xf32>) ->
// tensor<8xf32>
bool StablehloParser::types(Written& out) {
  const Token at = in_.here();
  if (!in_.is("(")) return several_types(out);
  Token ignored;
  if (!in_.group(ignored) || !in_.expect("->", "`->` and the type of the result")) return false;
  const bool list = in_.take("(");
  if (list && in_.take(")")) return true;
  if (!read_stablehlo_type(in_, out.type.emplace())) return false;
  if (list && in_.is(",")) return in_.fail(at, "this makes several results");
  return !list || in_.expect(")", "`)` after the type");
}

bool StablehloParser::several_types(Written& out) {
  do {
    if (!read_stablehlo_type(in_, out.type.emplace())) return false;
  } while (in_.take(",") || in_.take("->"));
  return true;
}

// {key = value : type, "key", ...} and <{...}>
bool StablehloParser::dictionary(std::vector<Given>& out) {
  const bool properties = in_.take("<");
  if (!in_.expect("{", "`{` and attributes")) return false;
  while (!in_.take("}")) {
    const bool quoted = in_.take("\"");
    Given g;
    g.name = in_.word();
    if (g.name.text.empty()) return in_.expected("an attribute or `}`");
    if (quoted && !in_.expect("\"", "`\"`")) return false;
    Token ignored;
    if (in_.take("=") && (!in_.value(g.value) || (in_.take(":") && !in_.value(ignored))))
      return false;
    out.push_back(g);
    if (!in_.take(",") && !in_.is("}")) return in_.expected("`,` or `}` after an attribute");
  }
  return !properties || in_.expect(">", "`>`");
}

bool StablehloParser::location() {
  Token ignored;
  return !in_.take_word("loc") || !in_.is("(") || in_.group(ignored);
}

bool StablehloParser::instruction(Function& f, const Token& result, Written& w) {
  Instruction made;
  made.name = result;
  Diagnostic error;
  if (w.name != "custom_call" && !find_row(in_.source(), w.at, w.name, made, error))
    return in_.fail(error);
  for (const Given& g : w.attributes) {
    if (g.name.text == "value") w.constant = g.value;
    const bool known = g.name.text == "value" || g.name.text == "function_type" ||
                       read_attribute(in_.source(), g.name, g.value, made, error);
    if (!known) return in_.fail(error);
  }
  if (!w.callee.text.empty()) made.words[w.name == "call" ? "callee" : "target"] = w.callee;
  if (w.name == "custom_call" && !find_row(in_.source(), w.at, custom_target(made), made, error))
    return in_.fail(error);
  if (result.text.empty()) return in_.fail(w.at, "nothing names what this makes: `%0 = ...`");
  if (!w.type) return in_.fail(w.at, "the type of what this makes is missing");
  made.type = *w.type;
  made.region = w.region;
  static constexpr std::string_view kWords[] = {"direction", "order"};
  for (size_t i = 0; i < w.words.size() && i < 2; ++i)
    made.words.try_emplace(made.op->kind == Kind::kReduce ? "reducer" : kWords[i], w.words[i]);
  for (const Token& operand : w.operands)
    if (!value_of(operand, made.args.emplace_back())) return false;
  if (made.op->kind == Kind::kConstant && !read_constant(in_.source(), w.constant, made, error))
    return in_.fail(error);
  return add(f, std::move(made));
}

bool StablehloParser::value_of(const Token& name, int& out) {
  const auto value = values_.find(name.text);
  if (value == values_.end() || name.text.empty())
    return in_.fail(name, fmt::format("nothing above is called `%{}`", name.text));
  out = value->second;
  return true;
}

bool StablehloParser::add(Function& f, Instruction made) {
  const int number = static_cast<int>(f.instructions.size());
  if (!values_.try_emplace(made.name.text, number).second)
    return in_.fail(made.name, fmt::format("`%{}` exists already", made.name.text));
  f.instructions.push_back(std::move(made));
  return true;
}

}  // namespace

Result<std::vector<Module>> parse_stablehlo(const Source& source) {
  StablehloParser parser(source);
  std::vector<Module> modules;
  if (!parser.modules(modules)) return parser.error();
  return modules;
}

}  // namespace morello::hlo
