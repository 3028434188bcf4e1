#include "import/nodes.h"

#include <algorithm>
#include <numeric>

namespace morello::hlo {

static int index_of(const std::vector<int>& list, int x) {
  const auto at = std::find(list.begin(), list.end(), x);
  return at == list.end() ? -1 : static_cast<int>(at - list.begin());
}

bool Placed::has(int id) const { return index_of(ids, id) >= 0; }
int Joint::at(int id) const { return index_of(ids, id); }

int Nodes::call(const Token& at, std::string_view op, std::vector<int> args,
                std::vector<i64> shape) {
  return add({.at = at, .op = op, .args = std::move(args), .shape = std::move(shape)});
}

int Nodes::number(const Token& at, double value) {
  return add({.kind = Expr::Kind::kNumber, .at = at, .number = value});
}

int Nodes::along(const Token& at, std::string_view op, int operand, i64 axis,
                 std::vector<i64> shape) {
  const int n = call(at, op, {operand}, std::move(shape));
  nodes_[n].attributes.push_back({{Token::Kind::kName, "axis", at.offset}, axis, {}});
  return n;
}

std::vector<int> Nodes::axes_of(int n) const {
  const Node& node = nodes_[n];
  if (node.order) return *node.order;
  std::vector<int> axes;
  for (size_t i = 0; i < node.shape.size(); ++i)
    if (node.kind != Expr::Kind::kParam || node.shape[i] > 1) axes.push_back(static_cast<int>(i));
  return axes;
}

void Nodes::decide(int n) {
  if (undecided(n)) nodes_[n].order = axes_of(n);
}

std::vector<i64> Nodes::shape_of(int n) const {
  std::vector<i64> shape;
  for (const int axis : axes_of(n)) shape.push_back(nodes_[n].shape[axis]);
  return shape;
}

int Nodes::position(int n, int axis) const { return axis < 0 ? -1 : index_of(axes_of(n), axis); }

Placed Nodes::place(const Value& v, std::span<const int> ids) {
  Placed out{.node = v.node, .axes = axes_of(v.node), .ids = {}};
  for (const int axis : out.axes) {
    const int h = index_of(v.axes, axis);
    out.ids.push_back(h >= 0 ? ids[h] : --fresh_);
  }
  return out;
}

// Behind what stands before it in its operand, or before what stands behind it there.
static void insert(std::vector<int>& all, const std::vector<int>& ids, size_t which) {
  for (size_t next = which + 1; next < ids.size(); ++next)
    if (const int at = index_of(all, ids[next]); at >= 0)
      return void(all.insert(all.begin() + at, ids[which]));
  for (size_t last = which; last-- > 0;)
    if (const int at = index_of(all, ids[last]); at >= 0)
      return void(all.insert(all.begin() + at + 1, ids[which]));
  const auto behind = std::find_if(all.begin(), all.end(), [&](int id) { return id > ids[which]; });
  all.insert(behind, ids[which]);
}

static bool in_order(const std::vector<int>& ids, const std::vector<int>& to) {
  return std::is_sorted(ids.begin(), ids.end(),
                        [&](int a, int b) { return index_of(to, a) < index_of(to, b); });
}

bool Nodes::can_join(std::span<const Placed> operands, const std::vector<int>& order) const {
  return std::all_of(operands.begin(), operands.end(), [&](Placed p) {
    std::erase_if(p.ids, [&](int id) { return index_of(order, id) < 0; });
    return undecided(p.node) || in_order(p.ids, order) || exchanged(p, order);
  });
}

bool Nodes::join(const Token& at, std::vector<Placed> operands, std::vector<int>& args,
                 Joint& out) {
  // The order of the longest one, and of these rather of one that cannot have another.
  const Placed* first = &operands[0];
  for (const Placed& p : operands)
    if (p.ids.size() > first->ids.size() ||
        (p.ids.size() == first->ids.size() && undecided(first->node) && !undecided(p.node)))
      first = &p;
  if (out.ids.empty()) out.ids = first->ids;
  std::erase_if(out.ids, [&](int id) {
    return std::none_of(operands.begin(), operands.end(),
                        [&](const Placed& p) { return p.has(id); });
  });
  for (const Placed& p : operands)
    for (size_t i = 0; i < p.ids.size(); ++i)
      if (out.at(p.ids[i]) < 0) insert(out.ids, p.ids, i);
  out.extents.assign(out.ids.size(), 1);
  for (const Placed& p : operands)
    for (size_t i = 0; i < p.ids.size(); ++i)
      out.extents[out.at(p.ids[i])] = nodes_[p.node].shape[p.axes[i]];
  for (const Placed& p : operands)
    if (!fit(at, p, out.ids, false, args.emplace_back())) return false;
  return true;
}

bool Nodes::exchanged(Placed& p, const std::vector<int>& to) const {
  const size_t rank = p.ids.size();
  if (rank < 2) return false;
  std::swap(p.ids[rank - 2], p.ids[rank - 1]);
  return in_order(p.ids, to);
}

int Nodes::transposed(int n) {
  std::vector<i64> shape = shape_of(n);
  std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  return call(nodes_[n].at, "transpose", {n}, std::move(shape));
}

bool Nodes::fit(const Token& at, Placed p, const std::vector<int>& to, bool whole, int& out) {
  if (undecided(p.node)) {
    std::vector<int> order;
    for (const int id : to)
      if (p.has(id)) order.push_back(p.axes[index_of(p.ids, id)]);
    nodes_[p.node].order = order;
  }
  // One of several operands that are the same parameter has decided.
  std::vector<int> ids;
  for (const int axis : axes_of(p.node)) ids.push_back(p.ids[index_of(p.axes, axis)]);
  p.ids = std::move(ids);
  out = p.node;
  if (!in_order(p.ids, to)) {
    if (!exchanged(p, to)) {
      error_ = source_.error(
          at,
          "an operand is needed with its axes in another order than it has, and only its last two "
          "could be exchanged here: transpose arguments of the function instead");
      return false;
    }
    out = transposed(p.node);
  }
  if (p.ids.empty() && !whole) return true;  // one number
  std::vector<i64> shape = shape_of(out);
  bool seen = whole;
  for (size_t i = 0, axis = 0; i < to.size(); ++i) {
    const bool has = p.has(to[i]);
    seen |= has;
    if (!seen) continue;
    if (!has) {
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
      out = along(at, "broadcast", out, static_cast<i64>(axis), shape);
    }
    ++axis;
  }
  return true;
}

Value Nodes::value_of(int node, const Joint& joint, size_t rank) {
  Value v{.node = node, .axes = {}};
  for (size_t h = 0; h < rank; ++h) v.axes.push_back(joint.at(static_cast<int>(h)));
  return v;
}

}  // namespace morello::hlo
