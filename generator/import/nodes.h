// Expressions of the language, as a graph, and how tensors of HLO are read from them.
//
// HLO says every shape in full, with broadcasts and dimensions of 1; the language aligns operands
// at their last axes and inserts what is missing. So an HLO tensor is a Value here: a node and, for
// every axis, which axis of the node it walks along, or none where the tensor is the same all
// along. broadcast, transpose and reshapes that only move dimensions of 1 make no node.
//
// In which order a parameter has its axes is free: the kernel's parameter has them as they are
// needed, and its layout says that they lie as HLO has them. The same goes for the result. What is
// computed in between keeps its order, but for the last two axes, which the language can exchange.
#pragma once

#include <optional>

#include "import/module.h"
#include "spec/syntax.h"

namespace morello::hlo {

struct Node {
  Expr::Kind kind = Expr::Kind::kCall;
  Token at;
  Token name = {};           // what the text calls it
  std::string_view op = {};  // of a call, as the language has it
  double number = 0;
  std::vector<int> args = {};
  std::vector<AttributeSyntax> attributes = {};
  std::vector<i64> shape = {};  // of a parameter: as the text has it
  // Of a parameter: its axes, in the order of the kernel's; those that it lacks have one element.
  // Nothing: no one has asked yet.
  std::optional<std::vector<int>> order = {};
  std::optional<Dtype> stored = {};  // rounded to this type and stored
  bool wide = false;                 // integer arithmetic that f32 cannot do exactly
};

struct Value {
  int node = -1;
  std::vector<int> axes;  // by HLO axis: the node's, or -1
};

// A node whose axes have numbers that are common to several of them.
struct Placed {
  int node = -1;
  std::vector<int> axes;  // of the node, in its order
  std::vector<int> ids;   // of each
  bool has(int id) const;
};

// What operands that are read together walk along.
struct Joint {
  std::vector<int> ids;
  std::vector<i64> extents;
  int at(int id) const;  // -1: not there
};

class Nodes {
 public:
  explicit Nodes(const Source& source) : source_(source) {}

  int add(Node n) { return nodes_.push_back(std::move(n)), static_cast<int>(nodes_.size()) - 1; }
  int call(const Token& at, std::string_view op, std::vector<int> args, std::vector<i64> shape);
  int number(const Token& at, double value);
  // Along one axis: broadcast, reductions, pad with its low and high.
  int along(const Token& at, std::string_view op, int operand, i64 axis, std::vector<i64> shape);
  Node& operator[](int n) { return nodes_[n]; }
  const Node& operator[](int n) const { return nodes_[n]; }
  int size() const { return static_cast<int>(nodes_.size()); }

  // A parameter nobody has asked for an order: the one of the text, without dimensions of 1.
  bool undecided(int n) const { return nodes_[n].kind == Expr::Kind::kParam && !nodes_[n].order; }
  void decide(int n);
  std::vector<int> axes_of(int n) const;
  // The shape that the language sees.
  std::vector<i64> shape_of(int n) const;
  // Where an axis of a node is in that; -1: it has one element, and is not there.
  int position(int n, int axis) const;

  // `ids` by HLO axis. Axes that the value does not mention have one element, and ids of their own.
  Placed place(const Value& v, std::span<const int> ids);
  // Whether operands can be read side by side in an order of their axes.
  bool can_join(std::span<const Placed> operands, const std::vector<int>& order) const;
  // Operands as the language reads them side by side: arguments of an elementwise operator. In the
  // order of `out.ids`, if there is one.
  bool join(const Token& at, std::vector<Placed> operands, std::vector<int>& args, Joint& out);
  // One of them, for axes `to`; `whole`: also where leading axes are missing.
  bool fit(const Token& at, Placed operand, const std::vector<int>& to, bool whole, int& out);
  int transposed(int n);
  static Value value_of(int node, const Joint& joint, size_t rank);

  Diagnostic take_error() { return std::move(error_); }

 private:
  bool exchanged(Placed& p, const std::vector<int>& to) const;

  const Source& source_;
  std::vector<Node> nodes_;
  int fresh_ = 0;  // the last id of an axis that has no other
  Diagnostic error_;
};

}  // namespace morello::hlo
