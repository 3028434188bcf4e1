#include "import/reshapes.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "import/parts.h"
#include "import/shapes.h"
#include "spec/computation.h"

namespace morello::hlo {
namespace {

// A constant is the same in every shape: who reads one has it alone, so that it ties no axes
// together.
class Constants {
 public:
  explicit Constants(const Function& f) : f_(f) {}
  Function run();

 private:
  int add(Instruction in) {
    out_.instructions.push_back(std::move(in));
    return static_cast<int>(out_.instructions.size()) - 1;
  }
  bool is_constant(int i) const { return out_.instructions[i].op->kind == Kind::kConstant; }

  const Function& f_;
  Function out_;
};

bool only_reads(Kind kind) {
  return kind == Kind::kBroadcast || kind == Kind::kReshape || kind == Kind::kTranspose ||
         kind == Kind::kSame;
}

Function Constants::run() {
  out_.name = f_.name;
  out_.is_public = f_.is_public;
  std::vector<int> now;  // by instruction
  for (Instruction in : f_.instructions) {
    for (int& arg : in.args) arg = now[arg];
    if (only_reads(in.op->kind) && is_constant(in.args[0])) {
      in.op = find_operator("constant");
      in.constant = out_.instructions[in.args[0]].constant;
      in.args.clear();
    }
    for (int& arg : in.args)
      if (is_constant(arg)) arg = add(out_.instructions[arg]);
    now.push_back(add(std::move(in)));
  }
  for (const int r : f_.results) out_.results.push_back(now[r]);
  return std::move(out_);
}

class Regrouping {
 public:
  Regrouping(const Function& f, Parts parts)
      : f_(f), in_(f.instructions), parts_(std::move(parts)) {
    find_classes();
    find_neighbours();
  }
  Function run();
  // After that.
  bool is_divided(const Axis& a) const { return axes_[a.instruction][a.axis].size() > 1; }

 private:
  void find_classes();
  void find_neighbours();
  void see(const std::vector<int>& sequence);
  std::vector<int> classes_of(int i, int axis) const;
  std::vector<int> in_memory(int i) const;
  // Whether it is the rest of an axis that the part before it begins.
  bool joins(int c) const {
    const int before = before_[c];
    return before >= 0 && before != c && behind_[before] == c && together_.contains({before, c});
  }
  int root(int part);
  void shape(int i, Instruction& in);
  std::vector<i64> moved(int i, const std::vector<int>& axes) const;
  void dimensions(int i, Instruction& in);
  void broadcast(int i, Instruction& in);
  void padding(int i, Instruction& in) const;
  void product(int i, Instruction& in) const;

  const Function& f_;
  const std::vector<Instruction>& in_;
  const Parts parts_;
  std::vector<std::vector<int>> first_;  // part, by instruction and axis
  std::vector<int> parent_;              // by part: parts that are the same one
  static constexpr int kNone = -1, kUnseen = -2;
  std::vector<int> before_, behind_;                 // by class: the only one that stands there
  std::set<std::pair<int, int>> together_;           // in one axis of the text
  std::vector<std::vector<std::vector<int>>> axes_;  // by instruction and axis: those it is now
  std::vector<int> now_;                             // by instruction
  Function out_;
};

int Regrouping::root(int part) {
  while (parent_[part] != part) part = parent_[part] = parent_[parent_[part]];
  return part;
}

void Regrouping::find_classes() {
  for (const auto& axes : parts_) {
    first_.emplace_back();
    for (const std::vector<i64>& parts : axes) {
      first_.back().push_back(static_cast<int>(parent_.size()));
      for (size_t p = 0; p < parts.size(); ++p) parent_.push_back(static_cast<int>(parent_.size()));
    }
  }
  const auto join = [&](int a, int b, size_t count) {
    for (int p = 0; p < static_cast<int>(count); ++p) parent_[root(a + p)] = root(b + p);
  };
  for (int i = 0; i < static_cast<int>(in_.size()); ++i) {
    for (const auto& [a, b] : same_axes(in_, i))
      join(first_[a.instruction][a.axis], first_[b.instruction][b.axis],
           parts_[a.instruction][a.axis].size());
    if (in_[i].op->kind != Kind::kReshape || first_[i].empty()) continue;
    const int from = in_[i].args[0];
    size_t count = 0;  // the parts of a tensor are numbered without gaps
    for (const std::vector<i64>& parts : parts_[i]) count += parts.size();
    if (count > 0) join(first_[from][0], first_[i][0], count);
  }
  for (int p = 0; p < static_cast<int>(parent_.size()); ++p) parent_[p] = root(p);
}

std::vector<int> Regrouping::classes_of(int i, int axis) const {
  std::vector<int> out;
  for (size_t p = 0; p < parts_[i][axis].size(); ++p)
    out.push_back(parent_[static_cast<size_t>(first_[i][axis]) + p]);
  return out;
}

// Outermost first.
std::vector<int> Regrouping::in_memory(int i) const {
  std::vector<int> out;
  for (const int axis : outwards(in_[i].type)) {
    const std::vector<int> classes = classes_of(i, axis);
    out.insert(out.begin(), classes.begin(), classes.end());
  }
  return out;
}

void Regrouping::see(const std::vector<int>& sequence) {
  const auto note = [](int& known, int is) {
    known = known == kUnseen || known == is ? is : kNone;
  };
  for (size_t p = 0; p < sequence.size(); ++p) {
    note(before_[sequence[p]], p > 0 ? sequence[p - 1] : kNone);
    note(behind_[sequence[p]], p + 1 < sequence.size() ? sequence[p + 1] : kNone);
  }
}

void Regrouping::find_neighbours() {
  before_.assign(parent_.size(), kUnseen);
  behind_.assign(parent_.size(), kUnseen);
  for (int i = 0; i < static_cast<int>(in_.size()); ++i) {
    std::vector<int> all;
    for (int axis = 0; axis < static_cast<int>(parts_[i].size()); ++axis) {
      const std::vector<int> classes = classes_of(i, axis);
      for (size_t p = 1; p < classes.size(); ++p) together_.emplace(classes[p - 1], classes[p]);
      all.insert(all.end(), classes.begin(), classes.end());
    }
    see(all);
    const bool is_result = std::count(f_.results.begin(), f_.results.end(), i) > 0;
    if (is_result || in_[i].op->kind == Kind::kParameter) see(in_memory(i));
    for (const Axis& a : whole_axes(in_, i)) see(classes_of(a.instruction, a.axis));
  }
}

void Regrouping::shape(int i, Instruction& in) {
  TensorType& t = in.type;
  axes_.emplace_back(t.shape.size());
  std::vector<i64> now;
  int last = -1;  // with more than one element
  for (size_t axis = 0; axis < t.shape.size(); ++axis) {
    std::vector<int>& axes = axes_.back()[axis];
    const std::vector<int> classes = classes_of(i, static_cast<int>(axis));
    for (size_t p = 0; p < classes.size(); ++p) {
      if (joins(classes[p])) {
        now[last] *= parts_[i][axis][p];
        continue;
      }
      axes.push_back(last = static_cast<int>(now.size()));
      now.push_back(parts_[i][axis][p]);
    }
    if (!classes.empty()) continue;
    axes.push_back(static_cast<int>(now.size()));
    now.push_back(1);
  }
  std::vector<int> memory;
  for (const int axis : t.minor_to_major)
    memory.insert(memory.end(), axes_.back()[axis].rbegin(), axes_.back()[axis].rend());
  t.minor_to_major = std::move(memory);
  if (now != t.shape) t.written = std::exchange(t.shape, now);
}

std::vector<i64> Regrouping::moved(int i, const std::vector<int>& axes) const {
  std::vector<i64> out;
  for (const int axis : axes) out.insert(out.end(), axes_[i][axis].begin(), axes_[i][axis].end());
  return out;
}

// Axes of one element that are stretched have no counterpart where what they become is several
// axes, or the rest of one: they are dropped before.
void Regrouping::broadcast(int i, Instruction& in) {
  const int from = in_[i].args[0];
  const std::vector<int> dims = axes_of(in, "dimensions");
  Instruction less = in;
  less.op = find_operator("reshape");
  less.numbers.clear();
  less.type = out_.instructions[now_[from]].type;
  less.type.minor_to_major.clear();
  less.type.shape.clear();
  Numbers to;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const std::vector<int>&own = axes_[from][axis], &made = axes_[i][dims[axis]];
    if (parts_[from][axis].empty() && made.size() != 1) continue;
    for (size_t p = 0; p < own.size(); ++p) {
      less.type.shape.push_back(out_.instructions[now_[from]].type.shape[own[p]]);
      to.push_back(made[p]);
    }
  }
  in.numbers["dimensions"] = std::move(to);
  if (less.type.shape == out_.instructions[now_[from]].type.shape) return;
  in.args[0] = static_cast<int>(out_.instructions.size());
  out_.instructions.push_back(std::move(less));
}

void Regrouping::padding(int i, Instruction& in) const {
  for (const std::string_view name : {"low", "high"}) {
    const Numbers old = numbers_of(in_[i], name, in_[i].type.shape.size(), 0);
    Numbers& now = in.numbers[name];
    now.assign(in.type.shape.size(), 0);
    for (size_t axis = 0; axis < old.size(); ++axis)
      if (old[axis] > 0) now[axes_[i][axis][0]] = old[axis];
  }
  in.numbers.erase("interior");
}

void Regrouping::product(int i, Instruction& in) const {
  const Product p = product_of(in_[i], in_);
  in.numbers["lhs_batch"] = moved(in_[i].args[0], p.batch[0]);
  in.numbers["rhs_batch"] = moved(in_[i].args[1], p.batch[1]);
  in.numbers["lhs_contracting"] = moved(in_[i].args[0], p.sum[0]);
  in.numbers["rhs_contracting"] = moved(in_[i].args[1], p.sum[1]);
}

// What names axes.
void Regrouping::dimensions(int i, Instruction& in) {
  switch (in.op->kind) {
    case Kind::kBroadcast:
      return broadcast(i, in);
    case Kind::kTranspose:
    case Kind::kReduce:
      in.numbers["dimensions"] = moved(in_[i].args[0], axes_of(in, "dimensions"));
      return;
    case Kind::kDot:
      return product(i, in);
    case Kind::kPad:
      return padding(i, in);
    default:
      return;
  }
}

Function Regrouping::run() {
  out_.name = f_.name;
  out_.is_public = f_.is_public;
  for (int i = 0; i < static_cast<int>(in_.size()); ++i) {
    Instruction in = in_[i];
    for (int& arg : in.args) arg = now_[arg];
    shape(i, in);
    dimensions(i, in);
    now_.push_back(static_cast<int>(out_.instructions.size()));
    out_.instructions.push_back(std::move(in));
  }
  for (const int r : f_.results) out_.results.push_back(now_[r]);
  return std::move(out_);
}

}  // namespace

Result<Function> without_reshapes(const Function& f, const Source& source) {
  const auto changes = [&](const Instruction& in) { return regroups(in, f.instructions); };
  if (std::none_of(f.instructions.begin(), f.instructions.end(), changes)) return f;
  const Function own = Constants(f).run();
  Parts parts;
  Diagnostic error;
  if (!find_parts(own.instructions, source, parts, error)) return error;
  Regrouping regrouping(own, std::move(parts));
  Function out = regrouping.run();
  for (int i = 0; i < static_cast<int>(own.instructions.size()); ++i)
    for (const Axis& a : whole_axes(own.instructions, i))
      if (regrouping.is_divided(a)) {
        const Instruction& in = own.instructions[i];
        return source.error(
            in.at,
            fmt::format("axis {} of {} is divided by a reshape, which {} does not support; "
                        "allowed: axes that stay whole. {}",
                        a.axis, str(own.instructions[a.instruction].type), in.op->name, kOutside));
      }
  for (const Instruction& in : out.instructions)
    if (in.type.shape.size() > kMaxDims)
      return source.error(in.at, fmt::format("reshapes divide {} into {} axes; at most {} are "
                                             "supported: write several functions",
                                             str(in.type), in.type.shape.size(), kMaxDims));
  return out;
}

}  // namespace morello::hlo
