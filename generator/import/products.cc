// dot: a matmul where both operands have rows or columns of their own, else a sum of products of
// elements, which is the same to the search.
//
// Leading axes of a matmul are batch axes, or missing in one operand: so a further axis of one
// operand that the other lacks, as in [batch, position, channel] x [channel, unit], is one, too.

#include <algorithm>
#include <numeric>

#include "import/lower.h"

namespace morello::hlo {

// Numbers of axes that both operands and the result have in common: the result's own first, then
// those that are summed over.
struct Lowering::Factors {
  std::vector<int> ids[2];
  int rank = 0;  // of the result

  Factors(const Product& p, const Instruction& in, const std::vector<Instruction>& all)
      : rank(static_cast<int>(in.type.shape.size())) {
    int next = static_cast<int>(p.batch[0].size());
    for (int side = 0; side < 2; ++side) {
      ids[side].assign(all[in.args[side]].type.shape.size(), -1);
      for (size_t i = 0; i < p.batch[side].size(); ++i)
        ids[side][p.batch[side][i]] = static_cast<int>(i);
      for (const int axis : p.free[side]) ids[side][axis] = next++;
      for (size_t i = 0; i < p.sum[side].size(); ++i)
        ids[side][p.sum[side][i]] = rank + static_cast<int>(i);
    }
  }
};

// The result's axes as somebody wants them, and what is summed over before the last of these; of
// several sums all but the last one first. Empty: nobody wants them in an order.
std::vector<int> Lowering::joint_order(int instruction, const Factors& f, const Product& p) const {
  const std::vector<i64>& shape = type(instruction).shape;
  std::vector<int> order = wanted_[instruction];
  std::erase_if(order, [&](int axis) { return shape[axis] == 1; });
  const auto axes = std::count_if(shape.begin(), shape.end(), [](i64 n) { return n > 1; });
  if (order.empty() || static_cast<std::ptrdiff_t>(order.size()) != axes) return {};
  return with_sums(std::move(order), f, p);
}

std::vector<int> Lowering::with_sums(std::vector<int> order, const Factors& f, const Product& p) {
  const int sums = static_cast<int>(p.sum[0].size());
  for (int k = 0; k < sums; ++k)
    order.insert(k + 1 < sums ? order.begin() + k : order.end() - (order.empty() ? 0 : 1),
                 f.rank + k);
  return order;
}

// Where there are batches, the rows or columns of a matmul are the longest axis that an operand has
// for itself, so that others go first.
int Lowering::row(const Instruction& in, const Product& p, int side) const {
  const std::vector<int>& free = p.free[side];
  const std::vector<i64>& shape = operand(in, side).shape;
  int longest = free.back();
  for (size_t i = free.size(); i-- > 0 && !p.batch[side].empty();)
    if (shape[free[i]] > shape[longest]) longest = free[i];
  return longest;
}

// The order in which a matmul reads an operand: leading axes first, then rows and columns as they
// are.
std::vector<int> Lowering::matmul_order(const Instruction& in, const Product& p, int side) const {
  std::vector<int> order = p.free[side];
  const int row_or_column = row(in, p, side);
  std::erase(order, row_or_column);
  order.insert(order.end(), p.batch[side].begin(), p.batch[side].end());
  std::erase_if(order, [&](int axis) { return operand(in, side).shape[axis] == 1; });
  const auto [first, last] = std::minmax(p.sum[side][0], row_or_column);
  order.insert(order.end(), {first, last});
  return order;
}

bool Lowering::is_matmul(const Instruction& in, const Product& p) const {
  if (p.sum[0].size() != 1 || p.free[0].empty() || p.free[1].empty()) return false;
  const auto leads = [&](int side) {
    return matmul_order(in, p, side).size() > 2 + p.batch[side].size();
  };
  return !leads(0) || !leads(1);
}

// The order of an operand within that of a sum of products; what is summed over and the axis beside
// it as they are.
static std::vector<int> part_of(const std::vector<int>& joint, const std::vector<int>& ids,
                                int rank) {
  std::vector<int> order;
  for (const int id : joint)
    if (const auto at = std::find(ids.begin(), ids.end(), id); at != ids.end())
      order.push_back(static_cast<int>(at - ids.begin()));
  if (const size_t n = order.size();
      n > 1 && (ids[order[n - 2]] >= rank) != (ids[order[n - 1]] >= rank))
    std::sort(order.end() - 2, order.end());
  return order;
}

bool Lowering::is_computed(int instruction) const {
  const Instruction& in = in_[instruction];
  const bool reads = in.op->kind == Kind::kReshape || in.op->kind == Kind::kTranspose ||
                     in.op->kind == Kind::kSame || in.op->kind == Kind::kConvert;
  return reads ? is_computed(in.args[0]) : in.op->kind != Kind::kParameter;
}

// In which orders a product would have its operands.
void Lowering::product_orders(int instruction) {
  const Instruction& in = in_[instruction];
  const Product p = product_of(in, in_);
  const Factors f(p, in, in_);
  const bool matmul = is_matmul(in, p);
  std::vector<int> joint = joint_order(instruction, f, p);
  const auto one = [&](int side) { return operand(in, side).shape[row(in, p, side)] == 1; };
  if (matmul && (joint.empty() || one(0) || one(1))) {
    for (int side = 0; side < 2; ++side) want(in.args[side], matmul_order(in, p, side), true);
    return;
  }
  const bool natural = joint.empty();
  if (natural && p.sum[0].size() < 2) return;
  if (natural) {
    joint.resize(static_cast<size_t>(f.rank));
    std::iota(joint.begin(), joint.end(), 0);
    joint = with_sums(std::move(joint), f, p);
  }
  for (int side = 0; side < 2; ++side)
    if (!natural || is_computed(in.args[side]))
      want(in.args[side], part_of(joint, f.ids[side], f.rank), true);
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
  if (!dot_types(in)) return false;
  const Product p = product_of(in, in_);
  const Factors f(p, in, in_);
  Placed placed[2];
  double same = 1;  // elements of sums along which neither operand changes
  for (int side = 0; side < 2; ++side) {
    nodes_.decide(value(in, side).node);
    placed[side] = nodes_.place(value(in, side), f.ids[side]);
    store_operand(in.args[side], placed[side].node);
  }
  for (const int axis : p.sum[0])
    if (!placed[0].has(f.ids[0][axis]) && !placed[1].has(f.ids[0][axis]))
      same *= static_cast<double>(operand(in, 0).shape[axis]);
  std::vector<int> order = joint_order(static_cast<int>(values_.size()), f, p);
  if (!nodes_.can_join(placed, order)) order.clear();
  Joint joint{.ids = order, .extents = {}};
  int node = -1;
  if (!matmul(in, placed[0], placed[1], f, joint, node) &&
      !sum_of_products(in, placed[0], placed[1], f, joint, node))
    return false;
  if (same != 1)
    node = nodes_.call(in.at, "mul", {node, nodes_.number(in.at, same)}, joint.extents);
  out = Nodes::value_of(node, joint, in.type.shape.size());
  return true;
}

// Whether `order` is that of these axes, but for the last two.
static bool nearly(const std::vector<int>& axes, std::vector<int> order, int rank) {
  std::erase_if(order, [&](int id) { return id >= rank; });
  return axes.size() != order.size() || axes == order ||
         (axes.size() > 1 && (std::swap(order[order.size() - 2], order.back()), axes == order));
}

// Whether it is one, in the order that `joint` asks for; of operands [batch.., m, k] and [batch..,
// k, n], each in this order or with the last two exchanged.
bool Lowering::matmul(const Instruction& in, const Placed& a, const Placed& b, const Factors& f,
                      Joint& joint, int& node) {
  const auto multiplied = [](Dtype t) { return is_float(t) || bytes(t) == 1; };
  if (!multiplied(operand(in, 0).dtype) || !multiplied(operand(in, 1).dtype)) return false;
  const size_t m_rank = a.ids.size(), n_rank = b.ids.size();
  if (m_rank < 2 || n_rank < 2) return false;
  const auto is_sum = [&](int id) { return id >= f.rank; };
  if (std::count_if(a.ids.begin(), a.ids.end(), is_sum) != 1 ||
      std::count_if(b.ids.begin(), b.ids.end(), is_sum) != 1)
    return false;
  const bool a_exchanged = is_sum(a.ids[m_rank - 2]), b_exchanged = is_sum(b.ids[n_rank - 1]);
  // What is computed would be stored transposed.
  const auto is_call = [&](const Placed& p) { return nodes_[p.node].kind == Expr::Kind::kCall; };
  if (a_exchanged && b_exchanged && (is_call(a) || is_call(b)))
    return matmul(in, b, a, f, joint, node);
  const int k = a.ids[m_rank - (a_exchanged ? 2 : 1)], m = a.ids[m_rank - (a_exchanged ? 1 : 2)];
  const int n = b.ids[n_rank - (b_exchanged ? 2 : 1)];
  if (!is_sum(k) || b.ids[n_rank - (b_exchanged ? 1 : 2)] != k || a.has(n) || b.has(m))
    return false;
  const std::vector<int> leading_a(a.ids.begin(), a.ids.end() - 2),
      leading_b(b.ids.begin(), b.ids.end() - 2);
  const auto& longer = m_rank >= n_rank ? leading_a : leading_b;
  const auto& shorter = m_rank >= n_rank ? leading_b : leading_a;
  if (!std::equal(shorter.rbegin(), shorter.rend(), longer.rbegin())) return false;
  std::vector<int> made = longer;
  made.insert(made.end(), {m, n});
  if (!joint.ids.empty() && !nearly(made, joint.ids, f.rank)) return false;
  std::vector<i64> left = nodes_.shape_of(a.node), right = nodes_.shape_of(b.node);
  joint.extents = m_rank >= n_rank ? left : right;
  joint.extents.resize(longer.size());
  joint.extents.push_back(left[m_rank - (a_exchanged ? 1 : 2)]);
  joint.extents.push_back(right[n_rank - (b_exchanged ? 2 : 1)]);
  joint.ids = std::move(made);
  node = nodes_.call(in.at, "matmul",
                     {a_exchanged ? nodes_.transposed(a.node) : a.node,
                      b_exchanged ? nodes_.transposed(b.node) : b.node},
                     joint.extents);
  return true;
}

// reduce_sum(a * b): what is computed is stored first, unless each element is used once.
bool Lowering::sum_of_products(const Instruction& in, Placed a, Placed b, const Factors& f,
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
    if (joint.ids[i] < f.rank) continue;
    joint.ids.erase(joint.ids.begin() + static_cast<std::ptrdiff_t>(i));
    joint.extents.erase(joint.extents.begin() + static_cast<std::ptrdiff_t>(i));
    node = nodes_.along(in.at, "reduce_sum", node, static_cast<i64>(i), joint.extents);
  }
  return true;
}

}  // namespace morello::hlo
