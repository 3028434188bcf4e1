// Instructions -> KernelSyntax: the operators of the language, with names for what is used more
// than once. What it means, and whether it can be, is left to spec/.
#pragma once

#include <deque>

#include "import/nodes.h"
#include "import/shapes.h"

namespace morello::hlo {

// A result: which HLO axis each axis of the node is; negative: it has one element, and HLO lacks
// it.
struct Root {
  int node = -1;
  std::vector<int> order = {};
  const Instruction* made = nullptr;
};

class Lowering {
 public:
  Lowering(const Function& f, const Source& source)
      : in_(f.instructions), results_(f.results), source_(source), nodes_(source) {}
  // `name` of the kernel stands where the function's name does.
  Result<KernelSpec> run(const Token& name);

 private:
  bool instruction(const Instruction& in, Value& out);
  bool root(int instruction, Root& out);
  // elements.cc
  bool elements(const Instruction& in, std::string_view definition, Value& out);
  bool comparison(const Instruction& in, Value& out);
  bool conversion(const Instruction& in, Value& out);
  bool rounding(const Instruction& in, Value& out);
  bool defined_for(const Instruction& in);
  int instance(const Token& at, const ExprSyntax& e, const std::vector<int>& args,
               const std::vector<i64>& shape);
  void round_integers(int node);
  // views.cc
  bool parameter(const Instruction& in, Value& out);
  void broadcast(const Instruction& in, Value& out) const;
  void transpose(const Instruction& in, Value& out) const;
  void reshape(const Instruction& in, Value& out) const;
  void choose_orders();
  void pass_on(const Instruction& in, const std::vector<int>& order);
  void want(int instruction, std::vector<int> order, bool by_sum);
  // products.cc
  struct Factors;
  void product_orders(int instruction);
  std::vector<int> joint_order(int instruction, const Factors& f, const Product& p) const;
  static std::vector<int> with_sums(std::vector<int> order, const Factors& f, const Product& p);
  int row(const Instruction& in, const Product& p, int side) const;
  std::vector<int> matmul_order(const Instruction& in, const Product& p, int side) const;
  bool is_matmul(const Instruction& in, const Product& p) const;
  bool is_computed(int instruction) const;
  bool dot(const Instruction& in, Value& out);
  bool dot_types(const Instruction& in);
  bool matmul(const Instruction& in, const Placed& a, const Placed& b, const Factors& f,
              Joint& joint, int& node);
  bool sum_of_products(const Instruction& in, Placed a, Placed b, const Factors& f, Joint& joint,
                       int& node);
  void store_operand(int instruction, int node);
  // windows.cc
  void window_orders(const Instruction& in);
  bool convolution(const Instruction& in, Value& out);
  bool pad(const Instruction& in, Value& out);
  int padded(const Token& at, int node, i64 axis, i64 low, i64 high);
  // reduce.cc
  bool reduce(const Instruction& in, Value& out);
  bool reduced(const Instruction& in, Value& out);

  const TensorType& type(int instruction) const { return in_[instruction].type; }
  const TensorType& operand(const Instruction& in, size_t i) const { return type(in.args[i]); }
  const Value& value(const Instruction& in, size_t i) const { return values_[in.args[i]]; }
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }
  bool fail_in_nodes() { return error_ = nodes_.take_error(), false; }

  const std::vector<Instruction>& in_;
  const std::vector<int>& results_;
  const Source& source_;
  Nodes nodes_;
  std::vector<Value> values_;             // by instruction
  std::vector<std::vector<int>> wanted_;  // by instruction: an order of its axes; empty: any
  Diagnostic error_;
};

// The graph as syntax, and that checked (write.cc).
Result<KernelSpec> write(const Nodes& nodes, const std::vector<Instruction>& in,
                         const std::vector<Root>& roots, const Token& name, const Source& source);

}  // namespace morello::hlo
