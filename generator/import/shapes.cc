#include "import/shapes.h"

#include <fmt/format.h>

#include <algorithm>

namespace morello::hlo {
namespace {

constexpr std::string_view kBatch[] = {"lhs_batch", "rhs_batch"},
                           kSum[] = {"lhs_contracting", "rhs_contracting"};

// -1: more than there can be.
i64 elements(const std::vector<i64>& shape) {
  i64 n = 1;
  for (const i64 extent : shape) {
    if (n > (i64{1} << 62) / extent) return -1;
    n *= extent;
  }
  return n;
}

std::vector<int> others(size_t rank, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  for (int axis = 0; axis < static_cast<int>(rank); ++axis)
    if (std::count(a.begin(), a.end(), axis) + std::count(b.begin(), b.end(), axis) == 0)
      out.push_back(axis);
  return out;
}

// `b01f_01io->b01f` and `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: three times four letters.
bool read_labels(std::string_view text, std::array<std::vector<int>, 3>& axes) {
  static constexpr std::string_view kOrders[] = {"b01f", "01io", "b01f"};
  if (const size_t open = text.find('<'); open != std::string_view::npos) {
    if (!text.ends_with(">") || text.find("raw") != std::string_view::npos) return false;
    text = text.substr(open + 1, text.size() - open - 2);
  }
  std::string letters;
  for (const char c : text)
    if (std::string_view("[], _x->\n\t").find(c) == std::string_view::npos) letters += c;
  if (letters.size() != 12) return false;
  for (size_t part = 0; part < 3; ++part)
    for (const char c : letters.substr(part * 4, 4)) {
      const size_t axis = kOrders[part].find(c);
      const auto n = static_cast<int>(axis);
      if (axis == std::string_view::npos || std::count(axes[part].begin(), axes[part].end(), n) > 0)
        return false;
      axes[part].push_back(n);
    }
  return true;
}

class Shapes {
 public:
  Shapes(const std::vector<Instruction>& in, const Source& source) : in_(in), source_(source) {}
  bool check(const Instruction& in);
  Diagnostic take_error() { return std::move(error_); }

 private:
  bool elements_of(const Instruction& in);
  bool broadcast(const Instruction& in);
  bool transpose(const Instruction& in);
  bool reshape(const Instruction& in);
  bool rounding(const Instruction& in);
  bool reduce(const Instruction& in);
  bool dot(const Instruction& in);
  bool dot_axes(const Instruction& in);
  bool convolution(const Instruction& in);
  bool window(const Instruction& in);
  bool pad(const Instruction& in);

  // `count` integers from `least` on, or one that stands for all.
  bool numbers(const Instruction& in, std::string_view name, size_t count, i64 least = 0);
  // Different axes of a tensor of this rank.
  bool axes(const Instruction& in, std::string_view name, size_t rank);
  bool has_shape(const Instruction& in, const std::vector<i64>& expected);
  const TensorType& operand(const Instruction& in, size_t i) const { return in_[in.args[i]].type; }
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const std::vector<Instruction>& in_;
  const Source& source_;
  Diagnostic error_;
};

bool Shapes::numbers(const Instruction& in, std::string_view name, size_t count, i64 least) {
  const auto given = in.numbers.find(name);
  if (given == in.numbers.end() || given->second.empty()) return true;
  const Numbers& list = given->second;
  if (list.size() != 1 && list.size() != count)
    return fail(in.at, fmt::format("{} of {} has {} numbers here, not {}", name, in.op->name, count,
                                   list.size()));
  constexpr i64 kMost = 2147483647;
  for (const i64 n : list)
    if (n < least || n > kMost)
      return fail(in.at, fmt::format("{} of {} cannot be {}; allowed: {} to {}", name, in.op->name,
                                     n, least, kMost));
  return true;
}

bool Shapes::axes(const Instruction& in, std::string_view name, size_t rank) {
  const auto given = in.numbers.find(name);
  if (given == in.numbers.end()) return true;
  for (size_t i = 0; i < given->second.size(); ++i) {
    const i64 axis = given->second[i];
    if (axis < 0 || axis >= static_cast<i64>(rank))
      return fail(in.at, fmt::format("{} of {} names axis {}, and there are {}", name, in.op->name,
                                     axis, rank));
    const auto here = given->second.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::count(given->second.begin(), here, axis) > 0)
      return fail(in.at, fmt::format("{} of {} names axis {} twice", name, in.op->name, axis));
  }
  return true;
}

bool Shapes::has_shape(const Instruction& in, const std::vector<i64>& expected) {
  if (in.type.shape == expected) return true;
  return fail(in.at, fmt::format("the result of {} has the shape [{}], not [{}]", in.op->name,
                                 fmt::join(expected, ","), fmt::join(in.type.shape, ",")));
}

bool Shapes::check(const Instruction& in) {
  switch (in.op->kind) {
    case Kind::kElements:
    case Kind::kCompare:
      return elements_of(in);
    case Kind::kSame:
    case Kind::kConvert:
      return has_shape(in, operand(in, 0).shape);
    case Kind::kRound:
      return rounding(in);
    case Kind::kBroadcast:
      return broadcast(in);
    case Kind::kReshape:
      return reshape(in);
    case Kind::kTranspose:
      return transpose(in);
    case Kind::kReduce:
      return reduce(in);
    case Kind::kDot:
      return dot(in);
    case Kind::kConvolution:
      return convolution(in);
    case Kind::kPad:
      return pad(in);
    case Kind::kParameter:
    case Kind::kConstant:
    case Kind::kCall:
    case Kind::kTuple:
    case Kind::kNone:
      break;
  }
  return true;
}

// One number for all is allowed for what chooses and for bounds.
bool Shapes::elements_of(const Instruction& in) {
  for (size_t i = 0; i < in.args.size(); ++i) {
    const std::vector<i64>& shape = operand(in, i).shape;
    if (!(shape.empty() && in.args.size() == 3) && !has_shape(in, shape)) return false;
  }
  return true;
}

bool Shapes::rounding(const Instruction& in) {
  return has_shape(in, operand(in, 0).shape) && numbers(in, "exponent_bits", 1) &&
         numbers(in, "mantissa_bits", 1);
}

bool Shapes::broadcast(const Instruction& in) {
  const TensorType& from = operand(in, 0);
  if (!axes(in, "dimensions", in.type.shape.size())) return false;
  const std::vector<int> dims = axes_of(in, "dimensions");
  if (dims.size() != from.shape.size())
    return fail(in.at, fmt::format("{} says where {} axes go, and its operand {} has {}",
                                   in.op->name, dims.size(), str(from), from.shape.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const i64 extent = in.type.shape[dims[i]];
    if (from.shape[i] != 1 && from.shape[i] != extent)
      return fail(in.at, fmt::format("axis {} of {} cannot become one of {} elements", i, str(from),
                                     extent));
  }
  return true;
}

bool Shapes::transpose(const Instruction& in) {
  const TensorType& from = operand(in, 0);
  if (!axes(in, "dimensions", from.shape.size())) return false;
  const std::vector<int> dims = axes_of(in, "dimensions");
  if (dims.size() != from.shape.size())
    return fail(in.at, fmt::format("transpose names each axis of {} once", str(from)));
  std::vector<i64> shape;
  for (const int axis : dims) shape.push_back(from.shape[axis]);
  return has_shape(in, shape);
}

bool Shapes::reshape(const Instruction& in) {
  const i64 from = elements(operand(in, 0).shape), to = elements(in.type.shape);
  if (from == to && from > 0) return true;
  return fail(in.at, fmt::format("a reshape of {} to {} has another number of elements",
                                 str(operand(in, 0)), str(in.type)));
}

bool Shapes::reduce(const Instruction& in) {
  const TensorType& from = operand(in, 0);
  if (!axes(in, "dimensions", from.shape.size())) return false;
  std::vector<i64> shape;
  for (const int axis : kept_axes(in, from.shape.size())) shape.push_back(from.shape[axis]);
  return has_shape(in, shape);
}

bool Shapes::dot_axes(const Instruction& in) {
  for (int side = 0; side < 2; ++side) {
    const size_t rank = operand(in, side).shape.size();
    if (!axes(in, kBatch[side], rank) || !axes(in, kSum[side], rank)) return false;
    const std::vector<int> sums = axes_of(in, kSum[side]);
    for (const int axis : axes_of(in, kBatch[side]))
      if (std::count(sums.begin(), sums.end(), axis) > 0)
        return fail(in.at,
                    fmt::format("axis {} of operand {} is both a batch and a sum", axis, side));
  }
  return true;
}

bool Shapes::dot(const Instruction& in) {
  if (!dot_axes(in)) return false;
  const Product p = product_of(in, in_);
  std::vector<i64> shape;
  for (const auto& list : {p.batch, p.sum}) {
    if (list[0].size() != list[1].size())
      return fail(in.at, fmt::format("{} pairs {} axes of one operand with {} of the other",
                                     in.op->name, list[0].size(), list[1].size()));
    for (size_t i = 0; i < list[0].size(); ++i)
      if (operand(in, 0).shape[list[0][i]] != operand(in, 1).shape[list[1][i]])
        return fail(in.at,
                    fmt::format("axis {} of {} and axis {} of {} are not of one size", list[0][i],
                                str(operand(in, 0)), list[1][i], str(operand(in, 1))));
  }
  for (const int axis : p.batch[0]) shape.push_back(operand(in, 0).shape[axis]);
  for (int side = 0; side < 2; ++side)
    for (const int axis : p.free[side]) shape.push_back(operand(in, side).shape[axis]);
  return has_shape(in, shape);
}

bool Shapes::window(const Instruction& in) {
  const auto labels = in.words.find("labels");
  std::array<std::vector<int>, 3> axes;
  if (labels == in.words.end() || !read_labels(labels->second.text, axes) ||
      operand(in, 0).shape.size() != 4 || operand(in, 1).shape.size() != 4 ||
      in.type.shape.size() != 4)
    return fail(in.at,
                "convolution is supported with two spatial dimensions, which are named 0 and "
                "1 in dim_labels: b01f_01io->b01f, bf01_oi01->bf01 and so on");
  if (!numbers(in, "stride", 2, 1) || !numbers(in, "pad", 4) ||
      !numbers(in, "rhs_dilation", 2, 1) || !numbers(in, "groups", 1, 1) ||
      !numbers(in, "lhs_dilation", 2, 1) || !numbers(in, "batch_groups", 1, 1))
    return false;
  if (numbers_of(in, "lhs_dilation", 2, 1) != Numbers{1, 1} ||
      numbers_of(in, "batch_groups", 1, 1)[0] != 1)
    return fail(in.at,
                "convolution with lhs_dilation or batch_group_count is not supported: those "
                "belong to the gradients of another one");
  if (!numbers(in, "reversal", 2)) return false;
  return numbers_of(in, "reversal", 2, 0) == Numbers{0, 0} ||
         fail(in.at, "convolution with a reversed window is not supported");
}

// Places of the window along each axis.
bool Shapes::convolution(const Instruction& in) {
  if (!window(in)) return false;
  const Window w = window_of(in);
  std::array<i64, 4> x{}, k{}, made{};
  for (size_t i = 0; i < 4; ++i) {
    x[w.axes[0][i]] = operand(in, 0).shape[i];
    k[w.axes[1][i]] = operand(in, 1).shape[i];
  }
  made = {x[0], 0, 0, k[3]};
  for (size_t i = 0; i < 2; ++i) {
    const i64 reach = (k[i] - 1) * w.dilation[i] + 1,
              along = x[i + 1] + w.pad[2 * i] + w.pad[2 * i + 1];
    if (reach > along)
      return fail(in.at,
                  fmt::format("a window of {} does not fit {} in this convolution", reach, along));
    made[i + 1] = (along - reach) / w.stride[i] + 1;
  }
  std::vector<i64> shape;
  for (const int axis : w.axes[2]) shape.push_back(made[axis]);
  return has_shape(in, shape);
}

bool Shapes::pad(const Instruction& in) {
  std::vector<i64> shape = operand(in, 0).shape;
  for (const std::string_view name : {"low", "high", "interior"})
    if (!numbers(in, name, shape.size())) return false;
  const Numbers low = numbers_of(in, "low", shape.size(), 0),
                high = numbers_of(in, "high", shape.size(), 0),
                interior = numbers_of(in, "interior", shape.size(), 0);
  for (size_t h = 0; h < shape.size(); ++h) {
    if (interior[h] != 0) return fail(in.at, "pad between elements (interior) is not supported");
    shape[h] += low[h] + high[h];
  }
  return has_shape(in, shape);
}

}  // namespace

bool check_shapes(const Function& f, const Source& source, Diagnostic& error) {
  Shapes shapes(f.instructions, source);
  for (const Instruction& in : f.instructions)
    if (!shapes.check(in)) return error = shapes.take_error(), false;
  return true;
}

Numbers numbers_of(const Instruction& in, std::string_view name, size_t count, i64 otherwise) {
  const auto given = in.numbers.find(name);
  if (given == in.numbers.end() || given->second.empty()) return Numbers(count, otherwise);
  return given->second.size() == 1 ? Numbers(count, given->second[0]) : given->second;
}

std::vector<int> axes_of(const Instruction& in, std::string_view name) {
  const auto given = in.numbers.find(name);
  if (given == in.numbers.end()) return {};
  return {given->second.begin(), given->second.end()};
}

std::vector<int> kept_axes(const Instruction& in, size_t rank) {
  return others(rank, axes_of(in, "dimensions"), {});
}

// stablehlo.dot says nothing: the last axis of the first, the first one of the second.
Product product_of(const Instruction& in, const std::vector<Instruction>& all) {
  Product p;
  for (int side = 0; side < 2; ++side) {
    const size_t rank = all[in.args[side]].type.shape.size();
    p.batch[side] = axes_of(in, kBatch[side]);
    p.sum[side] = axes_of(in, kSum[side]);
    if (!in.numbers.contains(kSum[0]) && in.op->name == "dot" && rank > 0)
      p.sum[side] = {side == 0 ? static_cast<int>(rank) - 1 : 0};
    p.free[side] = others(rank, p.batch[side], p.sum[side]);
  }
  return p;
}

Window window_of(const Instruction& in) {
  Window w;
  read_labels(in.words.find("labels")->second.text, w.axes);
  w.stride = numbers_of(in, "stride", 2, 1);
  w.pad = numbers_of(in, "pad", 4, 0);
  w.dilation = numbers_of(in, "rhs_dilation", 2, 1);
  w.groups = numbers_of(in, "groups", 1, 1);
  return w;
}

}  // namespace morello::hlo
