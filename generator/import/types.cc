#include "import/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "spec/computation.h"
#include "spec/sizes.h"
#include "spec/syntax.h"

namespace morello::hlo {
namespace {

struct Element {
  std::string_view name;
  Dtype dtype;
  bool pred = false;
};
constexpr Element kHlo[] = {{"f32", Dtype::f32}, {"bf16", Dtype::bf16},    {"f16", Dtype::f16},
                            {"s32", Dtype::i32}, {"s16", Dtype::i16},      {"s8", Dtype::i8},
                            {"u8", Dtype::u8},   {"pred", Dtype::u8, true}};
constexpr Element kStableHlo[] = {{"f32", Dtype::f32},  {"bf16", Dtype::bf16},  {"f16", Dtype::f16},
                                  {"i32", Dtype::i32},  {"si32", Dtype::i32},   {"i16", Dtype::i16},
                                  {"si16", Dtype::i16}, {"i8", Dtype::i8},      {"si8", Dtype::i8},
                                  {"ui8", Dtype::u8},   {"i1", Dtype::u8, true}};

bool element(Scanner& in, const Token& at, std::string_view word, std::span<const Element> known,
             TensorType& out) {
  std::vector<std::string> names;
  for (const Element& e : known) {
    if (e.name == word) {
      out.dtype = e.dtype;
      out.pred = e.pred;
      return true;
    }
    if (!e.name.starts_with("si")) names.emplace_back(e.name);
  }
  return in.fail(at, fmt::format("element type `{}` is not supported; allowed: {}", word,
                                 fmt::join(names, ", ")));
}

bool dimension(Scanner& in, const Token& at, std::string_view digits, TensorType& out) {
  i64 n = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (status != std::errc() || end != digits.data() + digits.size() || n < 1 || n > kMaxExtent)
    return in.fail(at, fmt::format("a dimension is a number from 1 to {}; got `{}`", kMaxExtent,
                                   digits.empty() ? at.text : digits));
  out.shape.push_back(n);
  if (out.shape.size() <= kMaxDims) return true;
  return in.fail(at, fmt::format("a tensor has at most {} dimensions", kMaxDims));
}

}  // namespace

std::string str(const TensorType& t) {
  return fmt::format("{}[{}]", t.pred ? "pred" : name(t.dtype),
                     fmt::join(t.written.empty() ? t.shape : t.written, ","));
}

std::vector<int> outwards(const TensorType& t) {
  std::vector<int> out = t.minor_to_major;
  if (out.empty())
    for (int axis = static_cast<int>(t.shape.size()); axis-- > 0;) out.push_back(axis);
  return out;
}

bool read_minor_to_major(Scanner& in, const Token& text, TensorType& out) {
  if (text.text.find(':') != std::string_view::npos)
    return in.fail(text,
                   "tiled layouts are not supported; allowed: an order of axes, such as {1,0}");
  Numbers axes;
  Diagnostic error;
  if (!read_numbers(in.source(), text, axes, error)) return in.fail(error);
  Numbers sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool all = axes.size() == out.shape.size();
  for (size_t i = 0; i < sorted.size() && all; ++i) all = sorted[i] == static_cast<i64>(i);
  if (!all)
    return in.fail(text, fmt::format("a layout of {} has each of its axes once, from the one whose "
                                     "elements are adjacent outwards",
                                     str(out)));
  for (const i64 axis : axes) out.minor_to_major.push_back(static_cast<int>(axis));
  if (std::is_sorted(axes.rbegin(), axes.rend())) out.minor_to_major.clear();
  return true;
}

bool read_hlo_type(Scanner& in, TensorType& out) {
  out = {};
  out.at = in.word();
  if (out.at.text.empty()) return in.expected("a type, such as f32[8,512]{1,0}");
  if (!element(in, out.at, out.at.text, kHlo, out)) return false;
  if (!in.expect("[", "`[` and the dimensions")) return false;
  while (!in.take("]")) {
    if (in.is("?") || in.is("<="))
      return in.fail(in.here(), "dimensions are numbers; others are not supported");
    const Token size = in.word();
    if (size.text.empty()) return in.expected("a dimension");
    if (!dimension(in, size, size.text, out)) return false;
    if (!in.take(",") && !in.is("]")) return in.expected("`,` or `]` after a dimension");
  }
  Token layout;
  if (!in.touches('{')) return true;  // behind a blank it is the body of a computation
  return in.group(layout) && read_minor_to_major(in, layout, out);
}

bool read_stablehlo_type(Scanner& in, TensorType& out) {
  out = {};
  out.at = in.here();
  if (!in.take_word("tensor") || !in.take("<"))
    return in.fail(out.at, fmt::format("expected a type, such as tensor<8x512xf32>; got {}",
                                       describe(out.at)));
  if (in.is("?") || in.is("*"))
    return in.fail(in.here(), "dimensions are numbers; others are not supported");
  const Token word = in.word();
  std::string_view left = word.text;
  for (size_t x = left.find('x'); x != std::string_view::npos; x = left.find('x')) {
    if (!dimension(in, word, left.substr(0, x), out)) return false;
    left.remove_prefix(x + 1);
  }
  if (left.empty() && in.is("?"))
    return in.fail(in.here(), "dimensions are numbers; others are not supported");
  if (!element(in, word, left, kStableHlo, out)) return false;
  return in.expect(">", "`>` after the element type");
}

}  // namespace morello::hlo
