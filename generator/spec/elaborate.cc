// ExprSyntax -> Computation of one stage. First shapes from the leaves up, then terms from the root
// down, when every axis of every operand knows its dim.
//
// Shapes. Operands of an elementwise operator are aligned at their last axes: one with fewer axes
// is the same along the leading ones, and one of shape [1] is one number. A dimension of 1 is not
// stretched otherwise: it would hide mistakes. broadcast(x, axis=n) inserts an axis of any size.

#include "spec/elaborate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "spec/build.h"
#include "spec/resolve.h"
#include "spec/sizes.h"

namespace morello {
namespace {

using Shape = std::vector<Size>;
const Size kAnySize{0};

class Elaborator {
 public:
  Elaborator(const StageSyntax& stage, const std::vector<Param>& params, const Source& source)
      : k_(stage), params_(params), source_(source) {}
  Result<Elaborated> run(std::span<const Size> given);
  Result<Shape> shape();

 private:
  bool shape_of(const ExprSyntax& s, const Expr& e, Shape& out);
  bool align(const ExprSyntax& s, const std::vector<Shape>& args, Shape& out);
  bool insert_axis(const ExprSyntax& s, const Expr& e, Shape& inner);
  bool swap_axes(const ExprSyntax& s, Shape& shape);
  bool sum_operand(const ExprSyntax& s, const Expr& e, Param& out);
  bool build_sum(const ExprSyntax& s, const Expr& e, const OpDef& op);
  bool build_product(const ExprSyntax& s, const Expr& e, const OpDef& op);
  bool build_reduction(const ExprSyntax& s, const Expr& e, const OpDef& op);
  bool reduced_axis(const ExprSyntax& s, const Expr& e, const Shape& shape, size_t& axis);
  bool reduced_body(const ExprSyntax& s, const Expr& e, const Axes& axes);
  bool integers_only(const Expr& e) const;
  bool result_shape(std::span<const Size> given);
  bool begin();
  bool term(const ExprSyntax& s, const Expr& e, const Axes& axes, int& out);
  bool number(const ExprSyntax& s, const Expr& e, int& out);
  bool operand(const ExprSyntax& s, const Expr& e, const Axes& axes, int& out);
  bool sum_term(const ExprSyntax& s, const Axes& axes, int& out);
  bool call(const ExprSyntax& s, const Expr& e, const Axes& axes, int& out);
  bool defined(const ExprSyntax& s, size_t from);
  std::vector<int> full_operands();
  bool finish();
  void choose_inputs(std::span<const int> inputs);
  void name_operands();
  bool resolved();
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }
  Computation& c() { return out_.computation; }
  bool sums() const { return sum_ != nullptr; }
  Axes every_dim() {
    std::vector<int> dims(c().dims.size());
    std::iota(dims.begin(), dims.end(), 0);
    return axes_of(dims);
  }
  // It may be written several times.
  bool is_sum(const Expr& e) const { return sums() && e == *sum_; }

  const StageSyntax& k_;
  const std::vector<Param>& params_;
  const Source& source_;
  Elaborated out_;
  Expr expr_;
  const Expr* sum_ = nullptr;  // the call that reduces
  Dtype type_ = Dtype::f32;    // of terms
  Expression terms_;
  std::vector<int> tensors_;  // the parameter of each operand that terms read
  std::vector<Operand> operands_;
  Diagnostic error_;
};

bool Elaborator::shape_of(const ExprSyntax& s, const Expr& e, Shape& out) {
  if (e.kind == Expr::Kind::kNumber) return true;
  if (e.kind == Expr::Kind::kParam) return out = params_[e.param].shape, true;
  const OpDef& op = *find_op(e.op);
  if (op.sums()) {
    if (!is_sum(e) && !build_sum(s, e, op)) return false;
    return out = sizes_of(c(), c().output()), true;
  }
  std::vector<Shape> args(e.args.size());
  for (size_t i = 0; i < e.args.size(); ++i)
    if (!shape_of(s.args[i], e.args[i], args[i])) return false;
  if (op.inserts_axis) return out = args[0], insert_axis(s, e, out);
  if (op.swaps_axes) return out = args[0], swap_axes(s, out);
  return align(s, args, out);
}

bool is_one_number(const Shape& s) { return s.empty() || (s.size() == 1 && s[0] == Size(1)); }

bool stays_number(const Expr& e, const Shape& operand) {
  return find_op(e.op)->keeps_number && is_one_number(operand);
}

bool Elaborator::align(const ExprSyntax& s, const std::vector<Shape>& args, Shape& out) {
  // The longest one, and the first of these that has an axis of more than one number.
  for (const Shape& arg : args)
    if (arg.size() > out.size() || (is_one_number(out) && arg.size() == out.size())) out = arg;
  for (const Shape& arg : args) {
    if (is_one_number(arg)) continue;
    for (size_t i = 1; i <= arg.size(); ++i) {
      Size& to = out[out.size() - i];
      const Size& from = arg[arg.size() - i];
      if (to == kAnySize) to = from;
      if (from == kAnySize || to == from) continue;
      std::string got;
      for (const Shape& a : args)
        if (!a.empty()) got += (got.empty() ? "" : " and ") + shape_text(a);
      return fail(s.at,
                  fmt::format("{} needs operands of one shape, or some that lack leading axes or "
                              "are [1]; got {}; broadcast(x, axis=n) inserts an axis",
                              s.op, got));
    }
  }
  return true;
}

bool Elaborator::insert_axis(const ExprSyntax& s, const Expr& e, Shape& inner) {
  if (e.attributes.empty())
    return fail(s.at, fmt::format("{} needs the axis to insert, such as axis=0", e.op));
  const i64 axis = e.attributes[0].value, rank = static_cast<i64>(inner.size());
  if (axis > rank)
    return fail(s.at, fmt::format("there is no axis {} to insert in {}; the last one is {}", axis,
                                  shape_text(inner), rank));
  if (!stays_number(e, inner)) inner.insert(inner.begin() + axis, kAnySize);
  return true;
}

bool Elaborator::swap_axes(const ExprSyntax& s, Shape& shape) {
  if (shape.size() < 2)
    return fail(s.at, fmt::format("{} needs an operand of rank 2 or more; got {}", s.op,
                                  shape_text(shape)));
  std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
  return true;
}

// A parameter, or one with its last two axes swapped; what the operator sees of it.
bool Elaborator::sum_operand(const ExprSyntax& s, const Expr& e, Param& out) {
  const bool swaps = e.kind == Expr::Kind::kCall && find_op(e.op)->swaps_axes &&
                     e.args[0].kind == Expr::Kind::kParam;
  MORELLO_CHECK(e.kind == Expr::Kind::kParam || swaps, "stages.cc stores operands of sums");
  const int param = swaps ? e.args[0].param : e.param;
  out = params_[param];
  out_.arguments.push_back(param);
  return !swaps || swap_axes(s, out.shape);
}

// Operands are as the user has them, whatever the operator has seen.
static void swap_back(Operand& o, const Param& p) {
  const size_t rank = o.shape.size();
  std::swap(o.shape[rank - 2], o.shape[rank - 1]);
  std::swap(o.axes[rank - 2], o.axes[rank - 1]);
  o.layout = p.layout;
}

bool Elaborator::build_sum(const ExprSyntax& s, const Expr& e, const OpDef& op) {
  MORELLO_CHECK(!sum_, "{} and {} in one stage", sum_->op, e.op);
  sum_ = &e;
  return op.build ? build_product(s, e, op) : build_reduction(s, e, op);
}

bool Elaborator::build_product(const ExprSyntax& s, const Expr& e, const OpDef& op) {
  std::vector<Param> args;
  for (size_t i = 0; i < e.args.size(); ++i) {
    if (!sum_operand(s.args[i], e.args[i], args.emplace_back())) return false;
  }
  Result<Computation> built = op.build({.args = args, .attributes = e.attributes});
  if (!built) return fail(s.at, built.error().text);
  c() = std::move(*built);
  for (size_t i = 0; i < e.args.size(); ++i)
    if (e.args[i].kind == Expr::Kind::kCall) swap_back(c().operands[i], args[i]);
  return true;
}

bool Elaborator::reduced_axis(const ExprSyntax& s, const Expr& e, const Shape& shape,
                              size_t& axis) {
  if (e.attributes.empty())
    return fail(s.at, fmt::format("{} needs an axis, such as axis=0", e.op));
  if (shape.empty()) return fail(s.at, fmt::format("{} needs a tensor", e.op));
  axis = static_cast<size_t>(e.attributes[0].value);
  if (axis >= shape.size())
    return fail(s.at, fmt::format("there is no axis {} in {}; the last one is {}", axis,
                                  shape_text(shape), shape.size() - 1));
  if (std::find(shape.begin(), shape.end(), kAnySize) == shape.end()) return true;
  return fail(s.at, fmt::format("no operand of {} says how long the axis is that is inserted; add "
                                "one that has it",
                                e.op));
}

// Of a vector there remains a tensor of shape [1]: its one element keeps a dim, so that every axis
// of every operand has one.
bool Elaborator::build_reduction(const ExprSyntax& s, const Expr& e, const OpDef& op) {
  Shape shape;
  size_t axis = 0;
  if (!shape_of(s.args[0], e.args[0], shape) || !reduced_axis(s, e, shape, axis)) return false;
  c().combine = op.combine;
  std::vector<int> in, out;
  for (size_t i = 0; i < shape.size(); ++i) {
    in.push_back(static_cast<int>(c().dims.size()));
    if (i == axis) continue;
    out.push_back(in.back());
    c().dims.push_back(make_dim(numbered("i", in.back()), shape[i]));
  }
  if (out.empty()) {
    out.push_back(0);
    c().dims.push_back(make_dim(numbered("i", 0), 1));
  }
  in[axis] = static_cast<int>(c().dims.size());
  c().dims.push_back(make_dim("k", shape[axis], true));
  if (!reduced_body(s, e, axes_of(in))) return false;
  c().operands.push_back(make_output(c(), c().compute, axes_of(out)));
  return true;
}

// Its terms, of at most two inputs, which touch the reduction; the others are extras.
bool Elaborator::reduced_body(const ExprSyntax& s, const Expr& e, const Axes& axes) {
  c().compute = type_ = integers_only(e.args[0]) ? Dtype::i32 : Dtype::f32;
  int root = -1;
  if (!term(s.args[0], e.args[0], axes, root)) return false;
  terms_.resize(static_cast<size_t>(root) + 1);
  const int k = static_cast<int>(c().dims.size()) - 1;
  std::vector<int> inputs;
  for (int t = 0; t < static_cast<int>(operands_.size()); ++t)
    if (touches(operands_[t], k)) inputs.push_back(t);
  if (inputs.empty()) {  // all are one number, and the axis has one element
    operands_[0] = make_operand(params_[tensors_[0]], axes);
    inputs.push_back(0);
  }
  if (inputs.size() + 1 > kMaxOperands)
    return fail(s.at, fmt::format("{} reads {} operands along its axis; at most {} are supported: "
                                  "write a kernel for a part of them",
                                  e.op, inputs.size(), kMaxOperands - 1));
  choose_inputs(inputs);
  c().body = pruned(terms_);
  terms_.clear();
  return true;
}

bool Elaborator::integers_only(const Expr& e) const {
  if (e.kind == Expr::Kind::kParam) return !is_float(params_[e.param].dtype);
  return std::all_of(e.args.begin(), e.args.end(),
                     [&](const Expr& arg) { return integers_only(arg); });
}

bool Elaborator::result_shape(std::span<const Size> given) {
  Shape& shape = out_.shape;
  const Token& at = k_.expr.at;
  if (!shape_of(k_.expr, expr_, shape)) return false;
  if (k_.expr.kind != Expr::Kind::kCall)
    return fail(at, fmt::format("a kernel applies an operator to its parameters; got only `{}`; "
                                "convert(a) copies",
                                at.text));
  if (shape.empty()) return fail(at, "a kernel has a tensor among its operands");
  bool matches = given.empty() || given.size() == shape.size();
  for (size_t i = 0; i < shape.size() && matches; ++i) {
    if (!given.empty() && shape[i] == kAnySize) shape[i] = given[i];
    matches = given.empty() || shape[i] == given[i];
  }
  const std::string& of = expr_.op;
  if (!matches)
    return fail(k_.result.dtype_at, fmt::format("the result of {} has the shape {}, not {}", of,
                                                shape_text(shape), shape_text(given)));
  if (std::find(shape.begin(), shape.end(), kAnySize) != shape.end())
    return fail(at, fmt::format("no operand says how long the axis is that {} inserts; write the "
                                "shape of the result",
                                of));
  return true;
}

// What terms are made of, and the dims of the result.
bool Elaborator::begin() {
  if (bytes(k_.result.dtype) == 1 && !k_.copies)
    return fail(k_.result.dtype_at,
                fmt::format("the result of {} cannot be {}; allowed: f32, bf16, "
                            "f16, i32, i16",
                            k_.expr.op, name(k_.result.dtype)));
  type_ = accumulator(k_.result.dtype);
  if (!sums()) {
    c().compute = type_;
    for (size_t i = 0; i < out_.shape.size(); ++i)
      c().dims.push_back(make_dim(numbered("i", static_cast<int>(i)), out_.shape[i]));
    return true;
  }
  const Shape sum = sizes_of(c(), c().output());
  MORELLO_CHECK(sum == out_.shape, "{} of shape {} in a stage of {}", sum_->op, shape_text(sum),
                shape_text(out_.shape));
  return true;
}

bool Elaborator::term(const ExprSyntax& s, const Expr& e, const Axes& axes, int& out) {
  if (e.kind == Expr::Kind::kNumber) return number(s, e, out);
  if (e.kind == Expr::Kind::kParam) return operand(s, e, axes, out);
  return is_sum(e) ? sum_term(s, axes, out) : call(s, e, axes, out);
}

bool Elaborator::number(const ExprSyntax& s, const Expr& e, int& out) {
  if (!is_float(type_) && (e.number != std::floor(e.number) || wrap_i32(e.number) != e.number))
    return fail(s.at,
                fmt::format("{} is no 32-bit integer, and {} is {}", e.number,
                            is_float(k_.result.dtype) ? "a sum of integers" : "the result",
                            is_float(k_.result.dtype) ? "one of i32" : name(k_.result.dtype)));
  const double value = is_float(type_) ? static_cast<float>(e.number) : e.number;
  out = add_term(terms_, {.fn = Fn::kConstant, .type = type_, .constant = value});
  return true;
}

bool Elaborator::operand(const ExprSyntax& s, const Expr& e, const Axes& axes, int& out) {
  const Param& p = params_[e.param];
  if (is_float(p.dtype) && !is_float(type_))
    return fail(s.at, fmt::format("`{}` is {} and the result {}: floats do not become integers; "
                                  "write a float result, such as f32",
                                  p.name, name(p.dtype), name(k_.result.dtype)));
  Operand o;
  if (is_one_number(p.shape)) {
    o = make_operand(p, {});
    o.shape.clear();
    o.layout = {};
  } else {
    o = make_operand(p, std::span(axes).last(p.shape.size()));
  }
  size_t at = 0;
  while (at < operands_.size() && !(tensors_[at] == e.param && operands_[at] == o)) ++at;
  if (at == operands_.size()) {
    operands_.push_back(o);
    tensors_.push_back(e.param);
  }
  out = add_term(terms_, {.fn = Fn::kExtra, .type = type_, .a = static_cast<int>(at)});
  return true;
}

bool Elaborator::sum_term(const ExprSyntax& s, const Axes& axes, int& out) {
  MORELLO_CHECK(axes == c().output().axes, "another order of axes than {} has", s.op);
  const size_t from = terms_.size();
  out = add_term(terms_, {.fn = Fn::kValue, .type = c().compute});
  if (type_ != c().compute) {
    if (!is_float(type_))
      return fail(s.at, fmt::format("{} of floats is f32 and the result {}: floats do not become "
                                    "integers; write a float result",
                                    s.op, name(k_.result.dtype)));
    out = add_term(terms_, {.fn = Fn::kToFloat, .type = type_, .a = out});
  }
  const OpDef& op = *find_op(sum_->op);
  if (!op.after) return true;
  double count = 1;
  for (const Dim& d : c().dims) {
    if (!d.reduction) continue;
    if (!d.size.empty())
      return fail(s.at, fmt::format("a mean over `{0}`, which is known at run time only: write "
                                    "reduce_sum and multiply by a parameter f32[1] that is 1 / {0}",
                                    d.size));
    count *= static_cast<double>(d.extent);
  }
  Terms terms(terms_, type_);
  out = op.after(terms, out, count);
  return defined(s, from);
}

bool Elaborator::call(const ExprSyntax& s, const Expr& e, const Axes& axes, int& out) {
  const OpDef& op = *find_op(e.op);
  Axes inner = axes;
  if (op.swaps_axes) {
    Shape shape;
    if (!shape_of(s.args[0], e.args[0], shape)) return false;
    inner.assign(axes.end() - static_cast<std::ptrdiff_t>(shape.size()), axes.end());
    std::swap(inner[inner.size() - 2], inner[inner.size() - 1]);
    return term(s.args[0], e.args[0], inner, out);
  }
  if (op.inserts_axis) {
    Shape shape;
    if (!shape_of(s.args[0], e.args[0], shape)) return false;
    if (stays_number(e, shape)) return term(s.args[0], e.args[0], axes, out);
    inner.assign(axes.end() - static_cast<std::ptrdiff_t>(shape.size()) - 1, axes.end());
    inner.erase(inner.begin() + e.attributes[0].value);
    return term(s.args[0], e.args[0], inner, out);
  }
  std::vector<int> args(e.args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (!term(s.args[i], e.args[i], inner, args[i])) return false;
  const size_t from = terms_.size();
  Terms terms(terms_, type_);
  out = op.term(terms, args);
  return defined(s, from);
}

bool Elaborator::defined(const ExprSyntax& s, size_t from) {
  if (terms_.size() > kMaxTerms)
    return fail(s.at, fmt::format("this takes {} terms; at most {} are supported", terms_.size(),
                                  kMaxTerms));
  for (size_t i = from; i < terms_.size(); ++i) {
    const FnDef* f = fn_def(terms_[i].fn);
    if (f && !is_float(terms_[i].type) && !f->integer)
      return fail(s.at,
                  fmt::format("{} of integers is not supported; write a float result, such as "
                              "f32, and it is computed in f32",
                              s.op));
  }
  return true;
}

// Of the operands so far those that are inputs: the search may copy them into another order.
// Everything else is read where it lies.
void Elaborator::choose_inputs(std::span<const int> inputs) {
  std::vector<int> extras;
  for (int t = 0; t < static_cast<int>(operands_.size()); ++t)
    if (std::find(inputs.begin(), inputs.end(), t) == inputs.end()) extras.push_back(t);
  for (const int t : inputs) {
    c().operands.push_back(operands_[t]);
    out_.arguments.push_back(tensors_[t]);
  }
  std::vector<Operand> beside;
  std::vector<int> tensors;
  for (const int t : extras) {
    beside.push_back(operands_[t]);
    tensors.push_back(tensors_[t]);
  }
  operands_ = std::move(beside);
  tensors_ = std::move(tensors);
  for (Term& t : terms_) {
    if (t.fn != Fn::kExtra) continue;
    const auto input = std::find(inputs.begin(), inputs.end(), t.a);
    if (input != inputs.end())
      t = {.fn = Fn::kInput, .type = t.type, .a = static_cast<int>(input - inputs.begin())};
    else
      t.a = static_cast<int>(std::find(extras.begin(), extras.end(), t.a) - extras.begin());
  }
}

// Without a sum, two operands that have an element for every point are inputs.
std::vector<int> Elaborator::full_operands() {
  std::vector<int> inputs;
  for (int t = 0; t < static_cast<int>(operands_.size()); ++t)
    if (has_every_point(c(), operands_[t]) && inputs.size() < 2) inputs.push_back(t);
  if (inputs.empty()) inputs.push_back(0);
  return inputs;
}

// One parameter may be several operands; an operand's name stands for one.
void Elaborator::name_operands() {
  std::vector<std::string> taken;
  for (const Param& p : params_) taken.push_back(p.name);
  std::vector<std::string> used;
  for (int t = 0; t < c().tensors(); ++t) {
    if (t == c().inputs()) continue;
    Operand& o =
        t < c().inputs() ? c().operands[t] : c().extras[t - static_cast<int>(c().operands.size())];
    const std::string first = o.name;
    for (int i = 2; std::find(used.begin(), used.end(), o.name) != used.end() ||
                    (i > 2 && std::find(taken.begin(), taken.end(), o.name) != taken.end());
         ++i)
      o.name = fmt::format("{}{}", first, i);
    used.push_back(o.name);
  }
}

bool Elaborator::finish() {
  Computation& c = this->c();
  if (!sums()) {
    choose_inputs(full_operands());
    c.body = pruned(terms_);
    c.operands.push_back(make_output(c, k_.result.dtype, every_dim()));
  } else {
    c.finish = pruned(terms_);
    if (c.finish.size() == 1 && c.finish[0].fn == Fn::kValue) c.finish.clear();
    c.operands.back().dtype = k_.result.dtype;
  }
  c.extras = operands_;
  out_.arguments.insert(out_.arguments.end(), tensors_.begin(), tensors_.end());
  if (c.extras.size() <= kMaxExtras) return name_operands(), true;
  return fail(k_.expr.at,
              fmt::format("{} operands are read here beside those of a sum or the first two; at "
                          "most {} are supported: write two kernels",
                          c.extras.size(), kMaxExtras));
}

bool Elaborator::resolved() {
  std::vector<std::string> names;
  for (const Param& p : params_) names.push_back(p.name);
  Result<Expr> e = resolve(k_.expr, names, source_);
  if (e) return expr_ = std::move(*e), true;
  error_ = e.error();
  return false;
}

Result<Shape> Elaborator::shape() {
  Shape out;
  if (!resolved() || !shape_of(k_.expr, expr_, out)) return error_;
  return out;
}

Result<Elaborated> Elaborator::run(std::span<const Size> given) {
  if (!resolved() || !result_shape(given) || !begin()) return error_;
  int root = -1;
  if (!term(k_.expr, expr_, sums() ? c().output().axes : every_dim(), root)) return error_;
  terms_.resize(static_cast<size_t>(root) + 1);  // the last term is the value
  if (!finish()) return error_;
  return std::move(out_);
}

}  // namespace

Result<Elaborated> elaborate(const StageSyntax& stage, const std::vector<Param>& params,
                             std::span<const Size> shape, const Source& source) {
  return Elaborator(stage, params, source).run(shape);
}

bool one_computation(const ExprSyntax& s, Dtype type, const std::vector<Param>& params,
                     const Source& source) {
  StageSyntax stage;
  stage.result.dtype = type;
  stage.expr = s;
  return elaborate(stage, params, {}, source).ok();
}

Result<std::vector<Size>> shape_of(const ExprSyntax& s, const std::vector<Param>& params,
                                   const Source& source) {
  StageSyntax stage;
  stage.expr = s;
  return Elaborator(stage, params, source).shape();
}

}  // namespace morello
