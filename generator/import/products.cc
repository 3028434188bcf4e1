// dot: a matmul where both operands have rows or columns of their own, else a sum of products of
// elements, which is the same to the search.
//
// Leading axes of a matmul are batch axes, or missing in one operand: so a further axis of one
// operand that the other lacks, as in [batch, position, channel] x [channel, unit], is one, too.

#include <algorithm>

#include "import/lower.h"

namespace morello::hlo {

// Numbers of axes that both operands and the result have in common: the result's own first, then
// those that are summed over.
struct Lowering::Product {
  std::vector<int> batch[2], sum[2], free[2];
  std::vector<int> ids[2];
  int rank = 0;  // of the result
};

static std::vector<int> others(size_t rank, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  for (int axis = 0; axis < static_cast<int>(rank); ++axis)
    if (std::count(a.begin(), a.end(), axis) + std::count(b.begin(), b.end(), axis) == 0)
      out.push_back(axis);
  return out;
}

bool Lowering::product_of(const Instruction& in, Product& p) {
  static constexpr std::string_view kBatch[] = {"lhs_batch", "rhs_batch"},
                                    kSum[] = {"lhs_contracting", "rhs_contracting"};
  for (int side = 0; side < 2; ++side) {
    const size_t rank = operand(in, side).shape.size();
    if (!axes(in, kBatch[side], rank, p.batch[side]) || !axes(in, kSum[side], rank, p.sum[side]))
      return false;
    // stablehlo.dot says nothing: the last axis of the first, the first one of the second.
    if (!in.numbers.contains(kSum[0]) && in.op->name == "dot" && rank > 0)
      p.sum[side] = {side == 0 ? static_cast<int>(rank) - 1 : 0};
    for (const int axis : p.batch[side])
      if (std::count(p.sum[side].begin(), p.sum[side].end(), axis) > 0)
        return fail(in.at,
                    fmt::format("axis {} of operand {} is both a batch and a sum", axis, side));
    p.free[side] = others(rank, p.batch[side], p.sum[side]);
    p.ids[side].assign(rank, -1);
  }
  return true;
}

// Also gives the axes their numbers.
bool Lowering::product_shape(const Instruction& in, const Product& p) {
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

// Parameters that matmul reads: leading axes first, then rows and columns as they are.
void Lowering::product_orders(const Instruction& in) {
  Product p;
  if (!product_of(in, p) || p.sum[0].size() != 1 || p.sum[1].size() != 1) return;
  if (p.free[0].empty() || p.free[1].empty() || (p.free[0].size() > 1 && p.free[1].size() > 1))
    return;
  for (int side = 0; side < 2; ++side) {
    std::vector<int> order(p.free[side].begin(), p.free[side].end() - 1);
    order.insert(order.end(), p.batch[side].begin(), p.batch[side].end());
    std::erase_if(order, [&](int axis) { return operand(in, side).shape[axis] == 1; });
    const auto [first, last] = std::minmax(p.sum[side][0], p.free[side].back());
    order.insert(order.end(), {first, last});
    want(in.args[side], std::move(order), true);
  }
}

bool Lowering::dot_types(const Instruction& in) {
  const TensorType &a = operand(in, 0), &b = operand(in, 1);
  const bool floats = is_float(a.dtype) && is_float(b.dtype) && is_float(in.type.dtype);
  const bool integers = !is_float(a.dtype) && !is_float(b.dtype) && in.type.dtype == Dtype::i32 &&
                        !a.pred && !b.pred && !in.type.pred;
  if (floats || integers) return true;
  return fail(in.at,
              fmt::format("{} of {} and {} to {} is not supported; allowed: floats to floats, "
                          "integers to 32-bit integers",
                          in.op->name, str(a), str(b), str(in.type)));
}

// What is computed and is rounded by its type anyway is stored in that type, for a sum to read.
void Lowering::store_operand(int instruction, int node) {
  const Dtype t = type(instruction).dtype;
  int from = node;
  while (nodes_[from].op == "pad") from = nodes_[from].args[0];
  if (nodes_[from].kind == Expr::Kind::kCall && is_float(t) && t != Dtype::f32 &&
      !nodes_[node].stored)
    nodes_[node].stored = t;
}

bool Lowering::dot(const Instruction& in, Value& out) {
  Product p;
  if (!product_of(in, p) || !product_shape(in, p) || !dot_types(in)) return false;
  p.rank = static_cast<int>(in.type.shape.size());
  int next = static_cast<int>(p.batch[0].size());
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < p.batch[side].size(); ++i)
      p.ids[side][p.batch[side][i]] = static_cast<int>(i);
    for (const int axis : p.free[side]) p.ids[side][axis] = next++;
    for (size_t i = 0; i < p.sum[side].size(); ++i)
      p.ids[side][p.sum[side][i]] = p.rank + static_cast<int>(i);
  }
  Placed placed[2];
  double same = 1;  // elements of sums along which neither operand changes
  for (int side = 0; side < 2; ++side) {
    nodes_.decide(value(in, side).node);
    placed[side] = nodes_.place(value(in, side), p.ids[side]);
    store_operand(in.args[side], placed[side].node);
  }
  for (const int axis : p.sum[0])
    if (!placed[0].has(p.ids[0][axis]) && !placed[1].has(p.ids[0][axis]))
      same *= static_cast<double>(operand(in, 0).shape[axis]);
  Joint joint;
  int node = -1;
  if (!matmul(in, placed[0], placed[1], p, joint, node) &&
      !sum_of_products(in, placed[0], placed[1], p, joint, node))
    return false;
  if (same != 1)
    node = nodes_.call(in.at, "mul", {node, nodes_.number(in.at, same)}, joint.extents);
  out = Nodes::value_of(node, joint, in.type.shape.size());
  return true;
}

// Whether it is one; of operands [batch.., m, k] and [batch.., k, n], each in this order or with
// the last two exchanged.
bool Lowering::matmul(const Instruction& in, const Placed& a, const Placed& b, const Product& p,
                      Joint& joint, int& node) {
  const auto multiplied = [](Dtype t) { return is_float(t) || bytes(t) == 1; };
  if (!multiplied(operand(in, 0).dtype) || !multiplied(operand(in, 1).dtype)) return false;
  const size_t m_rank = a.ids.size(), n_rank = b.ids.size();
  if (m_rank < 2 || n_rank < 2) return false;
  const auto is_sum = [&](int id) { return id >= p.rank; };
  if (std::count_if(a.ids.begin(), a.ids.end(), is_sum) != 1 ||
      std::count_if(b.ids.begin(), b.ids.end(), is_sum) != 1)
    return false;
  const bool a_exchanged = is_sum(a.ids[m_rank - 2]), b_exchanged = is_sum(b.ids[n_rank - 1]);
  const int k = a.ids[m_rank - (a_exchanged ? 2 : 1)], m = a.ids[m_rank - (a_exchanged ? 1 : 2)];
  const int n = b.ids[n_rank - (b_exchanged ? 2 : 1)];
  if (!is_sum(k) || b.ids[n_rank - (b_exchanged ? 1 : 2)] != k || a.has(n) || b.has(m))
    return false;
  const std::vector<int> leading_a(a.ids.begin(), a.ids.end() - 2),
      leading_b(b.ids.begin(), b.ids.end() - 2);
  const auto& longer = m_rank >= n_rank ? leading_a : leading_b;
  const auto& shorter = m_rank >= n_rank ? leading_b : leading_a;
  if (!std::equal(shorter.rbegin(), shorter.rend(), longer.rbegin())) return false;
  std::vector<i64> left = nodes_.shape_of(a.node), right = nodes_.shape_of(b.node);
  joint.extents = m_rank >= n_rank ? left : right;
  joint.extents.resize(longer.size());
  joint.extents.push_back(left[m_rank - (a_exchanged ? 1 : 2)]);
  joint.extents.push_back(right[n_rank - (b_exchanged ? 2 : 1)]);
  joint.ids = longer;
  joint.ids.insert(joint.ids.end(), {m, n});
  node = nodes_.call(in.at, "matmul",
                     {a_exchanged ? nodes_.transposed(a.node) : a.node,
                      b_exchanged ? nodes_.transposed(b.node) : b.node},
                     joint.extents);
  return true;
}

// reduce_sum(a * b): what is computed is stored first, unless each element is used once.
bool Lowering::sum_of_products(const Instruction& in, Placed a, Placed b, const Product& p,
                               Joint& joint, int& node) {
  for (const auto& [own, other, side] : {std::tuple{&a, &b, 0}, std::tuple{&b, &a, 1}}) {
    Node& n = nodes_[own->node];
    const bool repeats = std::any_of(other->ids.begin(), other->ids.end(),
                                     [own = own](int id) { return !own->has(id); });
    if (n.kind != Expr::Kind::kCall || n.stored || !repeats) continue;
    const Dtype t = operand(in, static_cast<size_t>(side)).dtype;
    n.stored = is_float(t) ? t : Dtype::i32;
  }
  std::vector<int> args;
  if (!nodes_.join(in.at, {a, b}, args, joint)) return fail_in_nodes();
  node = nodes_.call(in.at, "mul", args, joint.extents);
  for (size_t i = joint.ids.size(); i-- > 0;) {
    if (joint.ids[i] < p.rank) continue;
    joint.ids.erase(joint.ids.begin() + static_cast<std::ptrdiff_t>(i));
    joint.extents.erase(joint.extents.begin() + static_cast<std::ptrdiff_t>(i));
    node = nodes_.along(in.at, "reduce_sum", node, static_cast<i64>(i), joint.extents);
  }
  return true;
}

}  // namespace morello::hlo
