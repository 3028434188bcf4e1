// One list of instructions of what functions call one another with. jax calls a function for every
// jitted part: @relu, @silu, @_where.

#include <algorithm>

#include "import/module.h"

namespace morello::hlo {
namespace {

constexpr size_t kMaxInstructions = 4096;
constexpr int kMaxCalls = 32;  // within one another

class Inliner {
 public:
  Inliner(const Module& m, const Source& source) : m_(m), source_(source) {}
  bool run(const Function& f);
  Function take() { return std::move(out_); }
  const Diagnostic& error() const { return error_; }

 private:
  bool parameters(const Function& f);
  bool expand(const Function& f, const std::vector<int>& args, std::vector<int>& results);
  bool one(const Instruction& in, const std::vector<int>& args, int& made);
  bool call(const Instruction& in, const std::vector<int>& args, int& made);
  bool results_of(const Function& f, const std::vector<int>& made, std::vector<int>& out);
  bool reducer(Instruction& in);
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const Module& m_;
  const Source& source_;
  Function out_;
  int depth_ = 0;
  size_t calls_ = 0;
  Diagnostic error_;
};

// Those of the kernel come first, in their order.
bool Inliner::parameters(const Function& f) {
  for (const Instruction& in : f.instructions)
    if (in.op->kind == Kind::kParameter) out_.instructions.push_back(in);
  std::stable_sort(
      out_.instructions.begin(), out_.instructions.end(),
      [](const Instruction& a, const Instruction& b) { return a.parameter < b.parameter; });
  for (size_t i = 0; i < out_.instructions.size(); ++i)
    if (out_.instructions[i].parameter != static_cast<i64>(i))
      return fail(out_.instructions[i].at,
                  fmt::format("parameters are numbered from 0 on, each once; expected {}, got {}",
                              i, out_.instructions[i].parameter));
  if (!out_.instructions.empty()) return true;
  return fail(f.name,
              fmt::format("`{}` has no parameters: there is nothing to compute", f.name.text));
}

bool Inliner::run(const Function& f) {
  out_.name = f.name;
  std::vector<int> args;
  if (!parameters(f)) return false;
  for (size_t i = 0; i < out_.instructions.size(); ++i) args.push_back(static_cast<int>(i));
  return expand(f, args, out_.results);
}

bool Inliner::expand(const Function& f, const std::vector<int>& args, std::vector<int>& results) {
  std::vector<int> made;  // by instruction of f; -1: a tuple
  for (const Instruction& in : f.instructions) {
    std::vector<int> operands;
    for (const int a : in.args) operands.push_back(made[a]);
    if (in.op->kind == Kind::kParameter) {
      if (in.parameter < 0 || in.parameter >= static_cast<i64>(args.size()))
        return fail(in.at, fmt::format("there is no operand {} in a call of `{}`", in.parameter,
                                       f.name.text));
      made.push_back(args[in.parameter]);
    } else if (in.op->kind == Kind::kTuple) {
      made.push_back(-1);
    } else {
      if (std::find(operands.begin(), operands.end(), -1) != operands.end())
        return fail(in.at, "tuples are supported as results only");
      if (!one(in, operands, made.emplace_back())) return false;
    }
  }
  return results_of(f, made, results);
}

bool Inliner::results_of(const Function& f, const std::vector<int>& made, std::vector<int>& out) {
  const Instruction& last = f.instructions[f.results[0]];
  const bool tuple = last.op->kind == Kind::kTuple;
  for (const int r : tuple ? last.args : f.results) {
    if (made[r] < 0) return fail(last.at, "tuples of tuples are not supported");
    out.push_back(made[r]);
  }
  return true;
}

bool Inliner::one(const Instruction& in, const std::vector<int>& args, int& made) {
  if (in.op->kind == Kind::kCall) return call(in, args, made);
  if (in.op->arity >= 0 && in.op->arity != static_cast<int>(args.size()))
    return fail(in.at, fmt::format("{} takes {} operand{} here, got {}", in.op->name, in.op->arity,
                                   in.op->arity == 1 ? "" : "s", args.size()));
  if (out_.instructions.size() >= kMaxInstructions)
    return fail(in.at, fmt::format("this is too long; at most {} instructions", kMaxInstructions));
  Instruction copy = in;
  copy.args = args;
  if (copy.op->kind == Kind::kReduce && !reducer(copy)) return false;
  made = static_cast<int>(out_.instructions.size());
  out_.instructions.push_back(std::move(copy));
  return true;
}

bool Inliner::call(const Instruction& in, const std::vector<int>& args, int& made) {
  const auto callee = in.words.find("callee");
  if (callee == in.words.end()) return fail(in.at, "this call names no function");
  std::string_view name = callee->second.text;
  if (name.starts_with("@") || name.starts_with("%")) name.remove_prefix(1);
  const auto f = std::find_if(m_.functions.begin(), m_.functions.end(),
                              [&](const Function& known) { return known.name.text == name; });
  if (f == m_.functions.end())
    return fail(callee->second, fmt::format("there is no function `{}`", name));
  if (++calls_ > kMaxInstructions)
    return fail(in.at, fmt::format("this is too long; at most {} calls", kMaxInstructions));
  if (++depth_ > kMaxCalls)
    return fail(in.at, fmt::format("calls are nested too deeply; at most {} levels", kMaxCalls));
  std::vector<int> results;
  if (!expand(*f, args, results)) return false;
  --depth_;
  if (results.size() != 1) return fail(in.at, "a call with several results is not supported");
  return made = results[0], true;
}

// The operator that joins two elements, and the place where it is written.
bool Inliner::reducer(Instruction& in) {
  Token& name = in.words["reducer"];
  if (name.text.starts_with("stablehlo.")) name.text.remove_prefix(10);
  if (in.region >= 0) {
    const Function& f = m_.functions[in.region];
    const Instruction& last = f.instructions[f.results[0]];
    const auto parameter = [&](size_t i) {
      const Instruction& operand = f.instructions[last.args[i]];
      return operand.op->kind == Kind::kParameter ? operand.parameter : -1;
    };
    name = last.at;
    name.text = last.op->name;
    if (last.args.size() != 2 || parameter(0) < 0 || parameter(0) + parameter(1) != 1)
      name.text = "";
  }
  if (name.text == "add" || name.text == "maximum" || name.text == "minimum") return true;
  return fail(in.region >= 0 ? name : in.at,
              "a reduction of another kind; allowed: those that join two elements with add, "
              "maximum or minimum");
}

}  // namespace

Result<Function> inlined(const Module& m, const Function& f, const Source& source) {
  Inliner inliner(m, source);
  if (!inliner.run(f)) return inliner.error();
  return inliner.take();
}

}  // namespace morello::hlo
