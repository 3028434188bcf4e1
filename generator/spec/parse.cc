// Text -> KernelSyntax, by recursive descent; then check() gives it a meaning.
//
// A method returns false after it has put the first error into error_.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "spec/names.h"
#include "spec/op.h"
#include "spec/sizes.h"
#include "spec/syntax.h"

namespace morello {

std::string suggestion(std::string_view given, const std::vector<std::string>& allowed) {
  // A single letter is near to every other.
  const std::string word = given.size() < 2 ? "" : nearest(given, allowed);
  return word.empty() ? "" : fmt::format("; did you mean `{}`?", word);
}

namespace {

constexpr std::string_view kExample = "(a: f32[4,8], b: f32[8,16]): f32 = matmul(a, b)";

// Of parentheses, signs and operators within one another.
constexpr int kMaxDepth = 64;

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), tokens_(tokenize(source.text)) {}

  bool kernel(KernelSyntax& out);
  bool definition(KernelSyntax& out);
  bool end_of_text();
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  bool fail(const Token& at, std::string message);
  const Diagnostic& error() const { return error_; }

 private:
  Token take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }
  bool is(char c, size_t ahead = 0) const {
    const Token& t = peek(ahead);
    return t.kind == Token::Kind::kPunctuation && t.text[0] == c;
  }
  bool is_name(size_t ahead = 0) const { return peek(ahead).kind == Token::Kind::kName; }
  bool is_number(size_t ahead = 0) const { return peek(ahead).kind == Token::Kind::kNumber; }
  // Not the parameters of the next kernel of a file, which has no name: `a (b: f32[2]) ...`.
  bool is_call() const { return is_name() && is('(', 1) && !(is_name(2) && is(':', 3)); }
  bool take_if(char c) { return is(c) && (take(), true); }

  // Refuses the next token: "expected ...; got `x`".
  bool expected(std::string_view what) {
    return fail(peek(), fmt::format("expected {}; got {}", what, describe(peek())));
  }
  bool expect(char c, std::string_view what) { return take_if(c) || expected(what); }

  bool declared_name(std::string_view of, Token& out);
  bool params(std::vector<TensorSyntax>& out);
  bool param(TensorSyntax& out);
  bool results(KernelSyntax& out);
  bool named_results(std::vector<TensorSyntax>& out);
  bool result(TensorSyntax& out);
  bool dtype(TensorSyntax& out);
  bool shape(std::vector<DimSyntax>& out);
  bool dim(DimSyntax& out);
  bool number(i64 least, std::string_view what, i64& out);
  bool layout(LayoutSyntax& out);
  bool order_of_elements(LayoutSyntax& out);
  bool order(std::vector<Digit>& out);
  bool digit(Digit& out);
  bool expr(ExprSyntax& out, int depth = 0);
  bool product(ExprSyntax& out, int depth);
  bool factor(ExprSyntax& out, int depth);
  bool signed_factor(ExprSyntax& out, int depth);
  bool literal(ExprSyntax& out);
  bool call(ExprSyntax& out, int depth);
  bool argument(ExprSyntax& out, int depth);
  bool apply(ExprSyntax& left, const Token& sign, std::string_view op, ExprSyntax right);
  bool counted(const Token& at);
  bool where(std::vector<BindingSyntax>& out);
  bool binding(BindingSyntax& out);

  const Source& source_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  int operators_ = 0;  // of this kernel
  bool defines_ = false;
  Diagnostic error_;
};

bool Parser::fail(const Token& at, std::string message) {
  if (at.kind == Token::Kind::kBad)
    message = fmt::format(
        "{} is no part of the language; outside comments a spec is made of letters, digits and "
        "( ) [ ] : , = + * / %",
        describe(at));
  error_ = source_.error(at, std::move(message));
  return false;
}

bool Parser::kernel(KernelSyntax& out) {
  operators_ = 0;
  if (!is_name() && !is('(')) return expected(fmt::format("a kernel, such as {}", kExample));
  if (is_name() && !declared_name("kernel", out.name)) return false;
  if (!expect('(', "`(` and the parameters")) return false;
  if (!params(out.params)) return false;
  if (!expect(':', "`:` and the type of the result")) return false;
  return results(out) && where(out.where);
}

// `f32 = ..`, or names of what stands behind `where`.
bool Parser::results(KernelSyntax& out) {
  if (!is('('))
    return result(out.results.emplace_back()) && expect('=', "`=` and an operator") &&
           expr(out.expr);
  if (!named_results(out.results)) return false;
  if (is_name() && peek().text == "where") return true;
  const std::string_view name = out.results[0].name.text;
  return expected(fmt::format("`where {} = ...`: what the results are", name));
}

bool Parser::named_results(std::vector<TensorSyntax>& out) {
  take();  // (
  do {
    TensorSyntax& r = out.emplace_back();
    if (!is_name()) return expected("the name of a result");
    if (!declared_name("result", r.name)) return false;
    if (!expect(':', fmt::format("`:` and the type of `{}`", r.name.text)) || !result(r))
      return false;
  } while (take_if(','));
  return expect(')', "`,` or `)` after a result");
}

bool Parser::result(TensorSyntax& out) {
  return dtype(out) && (!is('[') || shape(out.shape)) && layout(out.layout);
}

bool Parser::definition(KernelSyntax& out) {
  defines_ = true;
  return expr(out.expr) && where(out.where) && end_of_text();
}

// `where` may be the name of the next kernel of a file: then `(` follows.
bool Parser::where(std::vector<BindingSyntax>& out) {
  if (!is_name() || peek().text != "where" || is('(', 1)) return true;
  take();
  do {
    if (!binding(out.emplace_back())) return false;
  } while (take_if(','));
  return true;
}

bool Parser::binding(BindingSyntax& out) {
  if (!is_name()) return expected("a name and what it stands for, such as `h = matmul(x, w)`");
  if (!declared_name("tensor", out.name)) return false;
  if (take_if(':')) {
    TensorSyntax type;
    if (!dtype(type)) return false;
    out.dtype = type.dtype;
    out.dtype_at = type.dtype_at;
  }
  return expect('=', fmt::format("`=` and what `{}` stands for", out.name.text)) && expr(out.expr);
}

bool Parser::end_of_text() {
  if (at_end()) return true;
  return fail(peek(), fmt::format("unexpected {} after the end of the kernel", describe(peek())));
}

bool Parser::declared_name(std::string_view of, Token& out) {
  out = take();
  const std::string problem = name_problem(out.text);
  if (problem.empty()) return true;
  return fail(out, fmt::format("`{}` cannot be the name of a {}: {}", out.text, of, problem));
}

bool Parser::params(std::vector<TensorSyntax>& out) {
  if (is(')')) return fail(peek(), "a kernel has at least one parameter");
  do {
    if (!param(out.emplace_back())) return false;
  } while (take_if(','));
  return expect(')', "`,` or `)` after a parameter");
}

bool Parser::param(TensorSyntax& out) {
  if (!is_name()) return expected("the name of a parameter");
  if (!declared_name("parameter", out.name)) return false;
  if (!expect(':', fmt::format("`:` and the type of `{}`", out.name.text))) return false;
  if (!dtype(out)) return false;
  if (!is('[')) return expected(fmt::format("`[` and the shape of `{}`", out.name.text));
  return shape(out.shape) && layout(out.layout);
}

bool Parser::dtype(TensorSyntax& out) {
  const std::optional<Dtype> t = is_name() ? parse_dtype(peek().text) : std::nullopt;
  if (t) {
    out.dtype = *t;
    out.dtype_at = take();
    return true;
  }
  std::vector<std::string> names;
  for (const Dtype known : kDtypes) names.emplace_back(name(known));
  const std::string allowed = fmt::format("{}", fmt::join(names, ", "));
  if (!is_name()) return expected("an element type: " + allowed);
  return fail(peek(), fmt::format("unknown element type `{}`; allowed: {}{}", peek().text, allowed,
                                  suggestion(peek().text, names)));
}

bool Parser::shape(std::vector<DimSyntax>& out) {
  const Token open = take();
  do {
    if (out.size() == kMaxDims)
      return fail(open, fmt::format("a tensor has at most {} dimensions", kMaxDims));
    if (!dim(out.emplace_back())) return false;
  } while (take_if(','));
  return expect(']', "`,` or `]` after a dimension");
}

bool Parser::dim(DimSyntax& out) {
  out.at = peek();
  if (is_number() || is('-')) return number(1, "a dimension", out.number);
  if (!is_name()) return expected("a dimension (a number or a name)");
  if (!declared_name("dimension", out.at)) return false;
  RunTimeSize& size = out.size;
  size.name = out.at.text;
  const auto word = [&](std::string_view w) { return is_name() && peek().text == w; };
  out.said = is('%') || is_name();
  if (take_if('%') && !number(1, "a granule", size.granule)) return false;
  if (word("to") && (take(), !number(1, "a bound", size.bound))) return false;
  if (word("near") && (take(), !number(1, "a typical size", size.typical))) return false;
  return !is_name() || expected(fmt::format("`,` or `]` after `{}`, or what is known of it: "
                                            "`%16`, `to 64`, `near 4096`, in this order",
                                            size.name));
}

// A whole number from `least` to kMaxExtent; `what` it is, with its article.
bool Parser::number(i64 least, std::string_view what, i64& out) {
  if (is('-'))
    return fail(peek(), fmt::format("{} is at least {}; got a negative number", what, least));
  if (!is_number()) return expected(fmt::format("{} (a number)", what));
  const Token t = take();
  const auto [end, status] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), out);
  if (end != t.text.data() + t.text.size())
    return fail(t, fmt::format("`{}` is not a whole number", t.text));
  if (status != std::errc() || out > kMaxExtent)
    return fail(t,
                fmt::format("{} is too large for {}; the largest is {}", t.text, what, kMaxExtent));
  if (out < least) return fail(t, fmt::format("{} is at least {}; got {}", what, least, out));
  return true;
}

bool Parser::layout(LayoutSyntax& out) {
  if (!is_name() || is(':', 1)) return true;  // a comma is missing, as the caller will say
  out.at = peek();
  if (peek().text != "strided" && !order_of_elements(out)) return false;
  if (is_name() && peek().text == "strided") out.strided = take();
  return true;
}

bool Parser::order_of_elements(LayoutSyntax& out) {
  using Kind = LayoutSyntax::Kind;
  take();
  const std::string_view word = out.at.text;
  if (word == "row") return out.kind = Kind::kRow, true;
  if (word == "col") return out.kind = Kind::kCol, true;
  if (word == "packed") return out.kind = Kind::kPacked, true;
  if (word == "order") return out.kind = Kind::kOrder, order(out.digits);
  return fail(out.at,
              fmt::format("unknown layout `{}`; allowed: row, col, packed, order(...), strided{}",
                          word, suggestion(word, {"row", "col", "packed", "order", "strided"})));
}

bool Parser::order(std::vector<Digit>& out) {
  if (!expect('(', "`(` and the digits of the order, such as order(1/16, 0, 1%16)")) return false;
  do {
    if (!digit(out.emplace_back())) return false;
  } while (take_if(','));
  return expect(')', "`,` or `)` after a digit of the order");
}

bool Parser::digit(Digit& out) {
  i64 axis = 0;
  if (!number(0, "an axis", axis)) return false;
  out.axis = static_cast<int>(axis);
  if (take_if('/') && !number(1, "a divisor", out.div)) return false;
  return !take_if('%') || number(2, "a modulus", out.mod);
}

bool Parser::counted(const Token& at) {
  if (++operators_ <= kMaxOperators) return true;
  return fail(at, fmt::format("this is too long; at most {} operators in a kernel", kMaxOperators));
}

// `left` becomes op(left, right).
bool Parser::apply(ExprSyntax& left, const Token& sign, std::string_view op, ExprSyntax right) {
  ExprSyntax both{.kind = Expr::Kind::kCall, .at = sign, .op = op, .args = {}, .attributes = {}};
  both.args.push_back(std::move(left));
  both.args.push_back(std::move(right));
  left = std::move(both);
  return counted(sign);
}

bool Parser::expr(ExprSyntax& out, int depth) {
  if (depth > kMaxDepth)
    return fail(peek(), fmt::format("this is nested too deeply; at most {} levels", kMaxDepth));
  if (!product(out, depth)) return false;
  while (is('+') || is('-')) {
    const Token sign = take();
    ExprSyntax right;
    if (!product(right, depth)) return false;
    if (!apply(out, sign, sign.text == "+" ? "add" : "sub", std::move(right))) return false;
  }
  return true;
}

bool Parser::product(ExprSyntax& out, int depth) {
  if (!factor(out, depth)) return false;
  while (is('*') || is('/')) {
    const Token sign = take();
    ExprSyntax right;
    if (!factor(right, depth)) return false;
    if (!apply(out, sign, sign.text == "*" ? "mul" : "div", std::move(right))) return false;
  }
  return true;
}

bool Parser::factor(ExprSyntax& out, int depth) {
  if (is('-')) return signed_factor(out, depth);
  if (is_call()) return call(out, depth);
  if (is_number()) return literal(out);
  if (take_if('(')) return expr(out, depth + 1) && expect(')', "`)`");
  if (!is_name()) return expected("a parameter, a number or an operator, such as matmul(a, b)");
  if (peek().text == kInfinity) {
    out.kind = Expr::Kind::kNumber;
    out.number = std::numeric_limits<double>::infinity();
    out.at = take();
    return true;
  }
  out.kind = Expr::Kind::kParam;
  out.at = take();
  out.op = out.at.text;
  return true;
}

// The negative of a number is a number.
bool Parser::signed_factor(ExprSyntax& out, int depth) {
  const Token sign = take();
  if (depth > kMaxDepth)
    return fail(sign, fmt::format("this is nested too deeply; at most {} levels", kMaxDepth));
  if (!factor(out, depth + 1)) return false;
  if (out.kind == Expr::Kind::kNumber) {
    out.number = -out.number;
    return true;
  }
  ExprSyntax inner = std::move(out);
  out = {.kind = Expr::Kind::kCall, .at = sign, .op = "neg", .args = {}, .attributes = {}};
  out.args.push_back(std::move(inner));
  return true;
}

bool Parser::literal(ExprSyntax& out) {
  out.kind = Expr::Kind::kNumber;
  out.at = take();
  const std::string_view text = out.at.text;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (end != text.data() + text.size())
    return fail(out.at, fmt::format("`{}` is not a number", text));
  constexpr double kMax = std::numeric_limits<float>::max();
  if (status == std::errc() && out.number <= kMax) return true;
  return fail(out.at, fmt::format("{} is no number that f32 has; the largest is {}", text, kMax));
}

bool Parser::call(ExprSyntax& out, int depth) {
  out.kind = Expr::Kind::kCall;
  out.at = take();
  out.op = out.at.text;
  take();  // (
  if (!counted(out.at)) return false;
  if (take_if(')')) return true;
  do {
    if (!argument(out, depth)) return false;
  } while (take_if(','));
  return expect(')', "`,` or `)` after an operand");
}

bool Parser::argument(ExprSyntax& out, int depth) {
  if (is_name() && is('=', 1)) {
    AttributeSyntax& attribute = out.attributes.emplace_back();
    attribute.at = take();
    take();  // =
    if (defines_ && is_name()) return attribute.same_as = take().text, true;
    return number(0, fmt::format("the value of {}", attribute.at.text), attribute.value);
  }
  if (!out.attributes.empty()) return fail(peek(), "operands come before attributes");
  ExprSyntax arg;
  if (!expr(arg, depth + 1)) return false;
  out.args.push_back(std::move(arg));
  return true;
}

}  // namespace

KernelSyntax parse_definition(std::string_view text) {
  const Source source{text, "<definition>"};
  Parser parser(source);
  KernelSyntax out;
  MORELLO_CHECK(parser.definition(out), "{}", parser.error().text);
  return out;
}

static Result<KernelSpec> parse_one(std::string_view text, const std::string& file,
                                    SumsOfOne of_one) {
  const Source source{text, file};
  Parser parser(source);
  KernelSyntax kernel;
  if (!parser.kernel(kernel) || !parser.end_of_text()) return parser.error();
  return check(kernel, source, of_one);
}

Result<KernelSpec> parse_spec(std::string_view text, const std::string& file) {
  return parse_one(text, file, SumsOfOne::kTaken);
}

Result<KernelSpec> parse_leaf_row(std::string_view text) {
  return parse_one(text, "<leaf row>", SumsOfOne::kKept);
}

Result<std::vector<KernelSpec>> parse_spec_file(std::string_view text, const std::string& file) {
  const Source source{text, file};
  Parser parser(source);
  std::vector<KernelSpec> kernels;
  std::vector<Token> names;
  do {
    KernelSyntax kernel;
    const Token begin = parser.peek();
    if (!parser.kernel(kernel)) return parser.error();
    if (kernel.name.text.empty())
      return source.error(begin, "a kernel in a file needs a name before its `(`");
    for (const Token& other : names)
      if (other.text == kernel.name.text)
        return source.error(kernel.name, fmt::format("kernel `{}` exists already, on line {}",
                                                     other.text, source.line(other)));
    names.push_back(kernel.name);
    Result<KernelSpec> checked = check(kernel, source);
    if (!checked) return checked.error();
    kernels.push_back(std::move(*checked));
  } while (!parser.at_end());
  return kernels;
}

}  // namespace morello
