// Attributes of instructions: what both formats call them, and the one name that they have here.
//
//   numbers  dimensions, lhs_batch, rhs_batch, lhs_contracting, rhs_contracting,
//            low, high, interior, stride, pad (low and high of every axis), lhs_dilation,
//            rhs_dilation, reversal, groups, batch_groups, exponent_bits, mantissa_bits
//   words    direction, order (of floats in a comparison), labels, callee, target, format

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "import/module.h"
#include "spec/syntax.h"

namespace morello::hlo {
namespace {

enum class Form { kNumbers, kLists, kWord, kWindow, kDot, kPadding };

struct Spelling {
  std::string_view written, name;
  Form form;
};

constexpr Spelling kSpellings[] = {
    {"dims", "dimensions", Form::kNumbers},
    {"dimensions", "dimensions", Form::kNumbers},
    {"broadcast_dimensions", "dimensions", Form::kNumbers},
    {"permutation", "dimensions", Form::kNumbers},
    {"lhs_batch_dims", "lhs_batch", Form::kNumbers},
    {"rhs_batch_dims", "rhs_batch", Form::kNumbers},
    {"lhs_contracting_dims", "lhs_contracting", Form::kNumbers},
    {"rhs_contracting_dims", "rhs_contracting", Form::kNumbers},
    {"batching_dims", "batch", Form::kLists},
    {"contracting_dims", "contracting", Form::kLists},
    {"dot_dimension_numbers", {}, Form::kDot},
    {"lhs_batching_dimensions", "lhs_batch", Form::kNumbers},
    {"rhs_batching_dimensions", "rhs_batch", Form::kNumbers},
    {"lhs_contracting_dimensions", "lhs_contracting", Form::kNumbers},
    {"rhs_contracting_dimensions", "rhs_contracting", Form::kNumbers},
    {"low", "low", Form::kNumbers},
    {"high", "high", Form::kNumbers},
    {"interior", "interior", Form::kNumbers},
    {"edge_padding_low", "low", Form::kNumbers},
    {"edge_padding_high", "high", Form::kNumbers},
    {"interior_padding", "interior", Form::kNumbers},
    {"padding", "pad", Form::kPadding},
    {"window", {}, Form::kWindow},
    {"size", "size", Form::kNumbers},
    {"stride", "stride", Form::kNumbers},
    {"window_strides", "stride", Form::kNumbers},
    {"pad", "pad", Form::kNumbers},
    {"lhs_dilate", "lhs_dilation", Form::kNumbers},
    {"lhs_dilation", "lhs_dilation", Form::kNumbers},
    {"rhs_dilate", "rhs_dilation", Form::kNumbers},
    {"rhs_dilation", "rhs_dilation", Form::kNumbers},
    {"reverse", "reversal", Form::kNumbers},
    {"rhs_reversal", "reversal", Form::kNumbers},
    {"window_reversal", "reversal", Form::kNumbers},
    {"dim_labels", "labels", Form::kWord},
    {"dim_numbers", "labels", Form::kWord},
    {"dimension_numbers", "labels", Form::kWord},
    {"feature_group_count", "groups", Form::kNumbers},
    {"batch_group_count", "batch_groups", Form::kNumbers},
    {"direction", "direction", Form::kWord},
    {"comparison_direction", "direction", Form::kWord},
    {"type", "order", Form::kWord},
    {"compare_type", "order", Form::kWord},
    {"exponent_bits", "exponent_bits", Form::kNumbers},
    {"mantissa_bits", "mantissa_bits", Form::kNumbers},
    {"format", "format", Form::kWord},
    {"to_apply", "callee", Form::kWord},
    {"callee", "callee", Form::kWord},
    {"custom_call_target", "target", Form::kWord},
    {"call_target_name", "target", Form::kWord},
};

// They say where something came from, or how exact it has to be at least: here it is f32.
constexpr std::string_view kIgnored[] = {
    "metadata",         "frontend_attributes", "backend_config", "precision",
    "precision_config", "operand_precision",   "algorithm",      "api_version",
    "has_side_effect",  "result_accuracy",     "sharding",       "is_host_transfer"};

class Reader {
 public:
  Reader(const Source& source, Instruction& out, Diagnostic& error)
      : source_(source), out_(out), error_(error) {}

  bool read(const Token& name, const Token& value);

 private:
  bool numbers(std::string_view name, const Token& value);
  bool sides(std::string_view name, const Token& value);
  bool inside(const Token& value, char open);
  bool separated(const Token& value, std::initializer_list<std::string_view> names);
  bool unknown(const Token& name);
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const Source& source_;
  Instruction& out_;
  Diagnostic& error_;
  bool inside_ = false;
};

bool Reader::unknown(const Token& name) {
  std::vector<std::string> known;
  for (const Spelling& s : kSpellings) known.emplace_back(s.written);
  return fail(name, fmt::format("unknown attribute `{}`; known are those of the operators that can "
                                "be imported{}",
                                name.text, suggestion(name.text, known)));
}

bool Reader::read(const Token& name, const Token& value) {
  if (name.text.find('.') != std::string_view::npos ||
      std::find(std::begin(kIgnored), std::end(kIgnored), name.text) != std::end(kIgnored))
    return true;
  const auto s = std::find_if(std::begin(kSpellings), std::end(kSpellings),
                              [&](const Spelling& row) { return row.written == name.text; });
  if (s == std::end(kSpellings) || (inside_ && s->name.empty())) return unknown(name);
  switch (s->form) {
    case Form::kNumbers:
      if (value.text.find_first_of("[{<") == std::string_view::npos &&
          value.text.find_first_of("x_") != std::string_view::npos)
        return separated(value, {s->name});
      return numbers(s->name, value);
    case Form::kLists:
      return sides(s->name, value);
    case Form::kWord:
      out_.words[s->name] = value;
      return true;
    case Form::kWindow:
      return inside(value, '{');
    case Form::kDot:
      return inside(value, '<');
    case Form::kPadding:
      return value.text.find('_') == std::string_view::npos
                 ? numbers(s->name, value)
                 : separated(value, {"low", "high", "interior"});
  }
  return false;
}

bool Reader::numbers(std::string_view name, const Token& value) {
  out_.numbers[name].clear();
  return read_numbers(source_, value, out_.numbers[name], error_);
}

// `[0] x [0]`: of the first operand, then of the second.
bool Reader::sides(std::string_view name, const Token& value) {
  Scanner in(source_, value);
  for (const bool left : {true, false}) {
    Token list;
    if (!in.is("[")) return fail(value, "expected two lists, such as [1] x [0]");
    if (!in.group(list)) return error_ = in.error(), false;
    const std::string_view to = name == "batch" ? (left ? "lhs_batch" : "rhs_batch")
                                                : (left ? "lhs_contracting" : "rhs_contracting");
    if (!numbers(to, list)) return false;
    in.take_word("x");
  }
  return true;
}

// Attributes within brackets: `{size=3x3 pad=1_1x1_1}`, `#stablehlo.dot<lhs_... = [1], ...>`.
bool Reader::inside(const Token& value, char open) {
  const size_t at = value.text.find(open);
  if (at == std::string_view::npos || value.text.size() < at + 2)
    return fail(value, fmt::format("expected `{}` and attributes", open));
  const Token part{Token::Kind::kName, value.text.substr(at + 1, value.text.size() - at - 2),
                   value.offset + at + 1};
  Scanner in(source_, part);
  inside_ = true;
  while (!in.at_end()) {
    const Token name = in.word();
    Token inner;
    if (name.text.empty() || !in.take("="))
      return fail(in.here(), "expected an attribute and its value, such as stride = [1, 1]");
    if (!in.value(inner)) return error_ = in.error(), false;
    if (!read(name, inner)) return false;
    in.take(",");
  }
  return true;
}

// `0_1x2_3`: for every axis a number of each name, or all of them for one name. Missing are 0.
bool Reader::separated(const Token& value, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) out_.numbers[name].clear();
  size_t name = 0;
  const char* at = value.text.data();
  const char* const end = at + value.text.size();
  while (true) {
    i64 n = 0;
    const auto [next, status] = std::from_chars(at, end, n);
    if (status != std::errc())
      return fail(value, "expected numbers such as 1_1x2_2: low_high for every axis");
    out_.numbers[names.begin()[std::min(name, names.size() - 1)]].push_back(n);
    if (next == end) return true;
    if (*next != 'x' && *next != '_') return fail(value, "expected numbers such as 1_1x2_2");
    name = *next == 'x' ? 0 : name + 1;
    at = next + 1;
  }
}

}  // namespace

bool read_attribute(const Source& source, const Token& name, const Token& value, Instruction& out,
                    Diagnostic& error) {
  return Reader(source, out, error).read(name, value);
}

std::string_view custom_target(const Instruction& call) {
  const auto target = call.words.find("target");
  std::string_view name = target == call.words.end() ? "custom_call" : target->second.text;
  if (name.starts_with("\"")) name = name.substr(1, name.size() - 2);
  if (name.starts_with("@")) name.remove_prefix(1);
  if (name.starts_with("mhlo.") || name.starts_with("chlo.")) name.remove_prefix(5);
  return name;
}

bool find_row(const Source& source, const Token& written, std::string_view name, Instruction& out,
              Diagnostic& error) {
  std::string word(name);
  std::replace(word.begin(), word.end(), '-', '_');
  out.at = written;
  out.op = find_operator(word);
  if (out.op && out.op->kind != Kind::kNone) return true;
  if (out.op) {
    error = source.error(written, fmt::format("`{}` has no counterpart in the spec language; {}",
                                              word, out.op->text));
    return false;
  }
  std::vector<std::string> known;
  for (const Operator& op : operators())
    if (op.kind != Kind::kNone) known.emplace_back(op.name);
  error =
      source.error(written, fmt::format("`{}` has no counterpart in the spec language; allowed: "
                                        "{}{}",
                                        word, fmt::join(known, ", "), suggestion(word, known)));
  return false;
}

bool read_constant(const Source& source, const Token& value, Instruction& out, Diagnostic& error) {
  Scanner in(source, value);
  const auto fail = [&](const Token& at, std::string message) {
    error = source.error(at, std::move(message));
    return false;
  };
  bool any = false;
  while (!in.at_end() && !in.is(":")) {
    const bool negative = in.take("-");
    Token word = in.word();
    if (word.text.empty()) {
      if (negative ||
          !(in.take("{") || in.take("}") || in.take("[") || in.take("]") || in.take("<") ||
            in.take(">") || in.take("(") || in.take(")") || in.take(",")))
        return fail(in.here(),
                    "expected the number that all elements of a constant are; others "
                    "are passed as arguments");
      continue;
    }
    if (word.text == "dense") continue;
    if (word.text.back() == 'e' || word.text.back() == 'E') {  // 1.5e+03
      if (in.take("+")) word.text = source.text.substr(word.offset, word.text.size());
      const Token exponent = in.word();
      word.text =
          source.text.substr(word.offset, exponent.offset + exponent.text.size() - word.offset);
    }
    const double size =
        read_element(word.text, bytes(out.type.dtype) * 8, out.type.dtype == Dtype::bf16);
    if (std::isnan(size)) return fail(word, fmt::format("`{}` is not a number", word.text));
    if (std::isfinite(size) && size > std::numeric_limits<float>::max())
      return fail(word, fmt::format("`{}` is no number that f32 has", word.text));
    if (any && (negative ? -size : size) != out.constant)
      return fail(word, "the elements of this constant differ; pass it as an argument");
    out.constant = negative ? -size : size;
    any = true;
  }
  return any || fail(value, "this constant says no number; pass it as an argument");
}

}  // namespace morello::hlo
