#include "import/parts.h"

#include <algorithm>
#include <numeric>

#include "import/shapes.h"

namespace morello::hlo {
namespace {

// Of an axis or a whole tensor: how many elements lie behind each place where it is divided,
// ascending. Each divides the next one, and the last one what is divided.
using Cuts = std::vector<i64>;

class Divider {
 public:
  Divider(const std::vector<Instruction>& in, const Source& source) : in_(in), source_(source) {
    for (const Instruction& i : in) cuts_.emplace_back(i.type.shape.size());
  }
  bool run();
  Parts parts() const;
  Diagnostic take_error() { return std::move(error_); }

 private:
  bool visit(int i);
  bool unite(const Instruction& at, Cuts& a, Cuts& b, const TensorType& of);
  bool unite_axes(const Instruction& at, const Axis& a, const Axis& b);
  bool reshape(int i);
  Cuts of_tensor(int i) const;
  void set(int i, const Cuts& all);
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const std::vector<Instruction>& in_;
  const Source& source_;
  std::vector<std::vector<Cuts>> cuts_;
  bool changed_ = false;
  Diagnostic error_;
};

bool Divider::unite(const Instruction& at, Cuts& a, Cuts& b, const TensorType& of) {
  if (a == b) return true;
  Cuts all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] % all[i - 1] != 0) {
      const std::string what =
          at.op->kind == Kind::kReshape
              ? fmt::format("a reshape of {} to {}", str(in_[at.args[0]].type), str(at.type))
              : fmt::format("{} of {}", at.op->name, str(of));
      return fail(at.at,
                  fmt::format("{} is not supported here: reshapes divide the tensor into groups of "
                              "{} elements and of {}, and neither divides the other; allowed: "
                              "those that split axes and join neighbours, in ways that fit "
                              "together. {}",
                              what, all[i - 1], all[i], kOutside));
    }
  changed_ = true;
  a = b = std::move(all);
  return true;
}

bool Divider::unite_axes(const Instruction& at, const Axis& a, const Axis& b) {
  return unite(at, cuts_[a.instruction][a.axis], cuts_[b.instruction][b.axis],
               in_[a.instruction].type);
}

// With those between axes.
Cuts Divider::of_tensor(int i) const {
  Cuts out;
  i64 behind = 1;
  const std::vector<i64>& shape = in_[i].type.shape;
  for (size_t axis = shape.size(); axis-- > 0;) {
    for (const i64 cut : cuts_[i][axis]) out.push_back(cut * behind);
    behind *= shape[axis];
    if (shape[axis] > 1) out.push_back(behind);
  }
  return out;
}

void Divider::set(int i, const Cuts& all) {
  i64 behind = 1;
  const std::vector<i64>& shape = in_[i].type.shape;
  for (size_t axis = shape.size(); axis-- > 0;) {
    Cuts& own = cuts_[i][axis];
    own.clear();
    for (const i64 cut : all)
      if (cut > behind && cut < behind * shape[axis]) own.push_back(cut / behind);
    behind *= shape[axis];
  }
}

bool Divider::reshape(int i) {
  Cuts from = of_tensor(in_[i].args[0]), to = of_tensor(i);
  if (from == to) return true;
  if (!unite(in_[i], from, to, in_[i].type)) return false;
  set(in_[i].args[0], from);
  set(i, to);
  return true;
}

bool Divider::visit(int i) {
  if (in_[i].op->kind == Kind::kReshape) return reshape(i);
  for (const auto& [a, b] : same_axes(in_, i))
    if (!unite_axes(in_[i], a, b)) return false;
  return true;
}

bool Divider::run() {
  const int count = static_cast<int>(in_.size());
  do {
    changed_ = false;
    for (int i = 0; i < count; ++i)
      if (!visit(i)) return false;
    for (int i = count; i-- > 0;)
      if (!visit(i)) return false;
  } while (changed_);
  return true;
}

Parts Divider::parts() const {
  Parts out;
  for (size_t i = 0; i < in_.size(); ++i) {
    out.emplace_back();
    for (size_t axis = 0; axis < cuts_[i].size(); ++axis) {
      std::vector<i64>& parts = out.back().emplace_back();
      i64 behind = 1;
      for (const i64 cut : cuts_[i][axis]) {
        parts.insert(parts.begin(), cut / behind);
        behind = cut;
      }
      const i64 first = in_[i].type.shape[axis] / behind;
      if (first > 1) parts.insert(parts.begin(), first);
    }
  }
  return out;
}

// What an instruction says of axes of one operand and its result, in pairs.
struct Pairs {
  const std::vector<Instruction>& in;
  std::vector<std::pair<Axis, Axis>> out = {};

  void add(const Axis& a, const Axis& b) {
    if (in[a.instruction].type.shape[a.axis] > 1 && in[b.instruction].type.shape[b.axis] > 1)
      out.emplace_back(a, b);
  }
};

void add_dot(int i, Pairs& pairs) {
  const Instruction& dot = pairs.in[i];
  const Product p = product_of(dot, pairs.in);
  int made = 0;
  for (size_t n = 0; n < p.batch[0].size(); ++n, ++made)
    for (int side = 0; side < 2; ++side) pairs.add({dot.args[side], p.batch[side][n]}, {i, made});
  for (int side = 0; side < 2; ++side)
    for (const int axis : p.free[side]) pairs.add({dot.args[side], axis}, {i, made++});
  for (size_t n = 0; n < p.sum[0].size(); ++n)
    pairs.add({dot.args[0], p.sum[0][n]}, {dot.args[1], p.sum[1][n]});
}

void add_pad(int i, Pairs& pairs) {
  const Instruction& in = pairs.in[i];
  for (size_t h = 0; h < in.type.shape.size(); ++h)
    if (pairs.in[in.args[0]].type.shape[h] == in.type.shape[h])
      pairs.add({in.args[0], static_cast<int>(h)}, {i, static_cast<int>(h)});
}

}  // namespace

bool find_parts(const std::vector<Instruction>& in, const Source& source, Parts& parts,
                Diagnostic& error) {
  Divider divider(in, source);
  if (!divider.run()) return error = divider.take_error(), false;
  parts = divider.parts();
  return true;
}

bool regroups(const Instruction& in, const std::vector<Instruction>& all) {
  if (in.op->kind != Kind::kReshape) return false;
  std::vector<i64> from = all[in.args[0]].type.shape, to = in.type.shape;
  std::erase(from, 1);
  std::erase(to, 1);
  return from != to;
}

std::vector<std::pair<Axis, Axis>> same_axes(const std::vector<Instruction>& in, int i) {
  Pairs pairs{in};
  const Instruction& made = in[i];
  const std::vector<int> dims = axes_of(made, "dimensions");
  switch (made.op->kind) {
    case Kind::kElements:
    case Kind::kCompare:
    case Kind::kSame:
    case Kind::kConvert:
    case Kind::kRound:
      for (const int arg : made.args)
        for (int h = 0; h < static_cast<int>(in[arg].type.shape.size()); ++h)
          pairs.add({arg, h}, {i, h});
      break;
    case Kind::kTranspose:
      for (int h = 0; h < static_cast<int>(dims.size()); ++h)
        pairs.add({made.args[0], dims[h]}, {i, h});
      break;
    case Kind::kBroadcast:
      for (int h = 0; h < static_cast<int>(dims.size()); ++h)
        pairs.add({made.args[0], h}, {i, dims[h]});
      break;
    case Kind::kReduce:
      for (int n = 0; const int h : kept_axes(made, in[made.args[0]].type.shape.size()))
        pairs.add({made.args[0], h}, {i, n++});
      break;
    case Kind::kDot:
      add_dot(i, pairs);
      break;
    case Kind::kPad:
      add_pad(i, pairs);
      break;
    default:
      break;
  }
  return pairs.out;
}

std::vector<Axis> whole_axes(const std::vector<Instruction>& in, int i) {
  std::vector<Axis> out;
  const Instruction& made = in[i];
  const Kind kind = made.op->kind;
  if (kind != Kind::kConvolution && kind != Kind::kPad) return out;
  for (int h = 0; h < static_cast<int>(made.type.shape.size()); ++h) {
    if (kind == Kind::kPad && in[made.args[0]].type.shape[h] == made.type.shape[h]) continue;
    out.push_back({i, h});
    out.push_back({made.args[0], h});
    if (kind == Kind::kConvolution) out.push_back({made.args[1], h});
  }
  return out;
}

}  // namespace morello::hlo
