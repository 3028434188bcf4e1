#include <algorithm>

#include "spec/kernel_spec.h"

namespace morello {

std::string str(const Size& s) { return s.name.empty() ? std::to_string(s.extent) : s.name; }

std::vector<i64> extents(std::span<const Size> shape) {
  std::vector<i64> out;
  for (const Size& s : shape) out.push_back(s.extent);
  return out;
}

std::vector<StrideArgument> stride_arguments(const Param& p) {
  std::vector<StrideArgument> out;
  if (!p.strided) return out;
  const int rank = static_cast<int>(p.shape.size()), inner = p.layout.digits.back().axis;
  for (int axis = 0; axis < rank; ++axis)
    if (axis != inner)
      out.push_back(
          {rank == 2 ? p.name + "_stride" : fmt::format("{}_stride{}", p.name, axis), axis});
  return out;
}

namespace {

// Sizes are written out where they are mentioned first.
class Printer {
 public:
  explicit Printer(std::vector<RunTimeSize> sizes) : sizes_(std::move(sizes)) {}

  // "f32[2,3] col"; row is the default and is not written.
  std::string type(const Param& p) {
    std::string out;
    for (const Size& s : p.shape) out += (out.empty() ? "" : ",") + size(s);
    out = fmt::format("{}[{}]", name(p.dtype), out);
    const int rank = static_cast<int>(p.shape.size());
    if (p.packed) return out + " packed";
    if (!p.layout.is_row(rank)) out += " " + p.layout.str(rank);
    return p.strided ? out + " strided" : out;
  }

 private:
  std::string size(const Size& s) {
    std::string out = str(s);
    const auto known = std::find_if(sizes_.begin(), sizes_.end(),
                                    [&](const RunTimeSize& r) { return r.name == s.name; });
    if (known == sizes_.end()) return out;
    if (known->granule > 1) out += fmt::format("%{}", known->granule);
    if (known->bound > 0) out += fmt::format(" to {}", known->bound);
    if (known->typical > 0) out += fmt::format(" near {}", known->typical);
    sizes_.erase(known);
    return out;
  }

  std::vector<RunTimeSize> sizes_;  // not mentioned yet
};

std::string text_of(const Expr& e, const std::vector<std::string>& names) {
  if (e.kind == Expr::Kind::kParam) return names[e.param];
  if (e.kind == Expr::Kind::kNumber) return fmt::format("{}", e.number);
  std::string out;
  for (const Expr& arg : e.args) out += (out.empty() ? "" : ", ") + text_of(arg, names);
  for (const Attribute& a : e.attributes) out += fmt::format(", {}={}", a.name, a.value);
  return e.op + "(" + out + ")";
}

}  // namespace

const Computation& KernelSpec::computation() const {
  MORELLO_CHECK(stages.size() == 1, "{} has {} stages", name, stages.size());
  return stages[0].computation;
}

const std::vector<int>& KernelSpec::arguments() const {
  MORELLO_CHECK(stages.size() == 1, "{} has {} stages", name, stages.size());
  return stages[0].arguments;
}

const Param& KernelSpec::tensor(int t) const {
  const auto i = static_cast<size_t>(t);
  return i < params.size() ? params[i] : made[i - params.size()];
}

std::string KernelSpec::str() const {
  Printer printer(sizes());
  std::string out = name + "(";
  std::vector<std::string> names;
  for (const Param& p : params) {
    out += (&p == &params.front() ? "" : ", ") + p.name + ": " + printer.type(p);
    names.push_back(p.name);
  }
  for (const Binding& b : where) names.push_back(b.name);
  out += "): ";
  for (size_t i = 0; i < results.size() && !expr; ++i)
    out += fmt::format("{}{}: {}", i == 0 ? "(" : ", ", result(i).name, printer.type(result(i)));
  out += expr ? printer.type(result()) + " = " + text_of(*expr, names) : ")";
  for (const Binding& b : where)
    out += fmt::format("{}{}{} = {}", &b == &where.front() ? " where " : ", ", b.name,
                       b.dtype ? fmt::format(": {}", morello::name(*b.dtype)) : "",
                       text_of(b.expr, names));
  return out;
}

}  // namespace morello
