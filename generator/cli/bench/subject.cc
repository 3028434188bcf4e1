#include "cli/bench/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/algebra.h"

namespace morello {
namespace {

// Offset of an operand's element at the iteration point `i`: in memory, or in row order.
std::string offset_text(const Operand& o, bool in_rows) {
  const Layout layout = in_rows ? Layout::row(static_cast<int>(o.shape.size())) : o.layout;
  std::string out = "0";
  for (const Digit& digit : layout.digits) {
    std::string index;
    for (const AxisTerm& t : o.axes[static_cast<size_t>(digit.axis)])
      index += fmt::format("{}i[{}] * {}", index.empty() ? "" : " + ", t.dim, t.coefficient);
    if (index.empty()) index = "0";
    std::string value = fmt::format("({}) / {}", index, digit.div);
    if (digit.mod != 0) value += fmt::format(" % {}", digit.mod);
    out = fmt::format("({}) * {} + {}", out, layout.extent(digit, o.shape), value);
  }
  return out;
}

// An Expression as C++ over in[], extra[] and sum, with the functions of fn_text().
std::string term_text(const Expression& e, int at) {
  const Term& t = e[static_cast<size_t>(at)];
  if (t.fn == Fn::kInput) return fmt::format("in[{}]", t.a);
  if (t.fn == Fn::kExtra) return fmt::format("extra[{}]", t.a);
  if (t.fn == Fn::kValue) return "sum";
  if (t.fn == Fn::kConstant) return fmt::format("T({})", t.constant);
  const FnDef& f = *fn_def(t.fn);
  std::string operands;
  for (const int operand : {t.a, t.b, t.c})
    if (operand >= 0) operands += (operands.empty() ? "" : ", ") + term_text(e, operand);
  return fmt::format("fn::{}_of({})", f.name, operands);
}
std::string expression_text(const Expression& e) {
  return e.empty() ? "sum" : term_text(e, static_cast<int>(e.size()) - 1);
}

std::string buffer_text(const Param& p) {
  const std::vector<i64> shape = extents(p.shape);
  const Layout layout = p.packed ? Layout::row(static_cast<int>(shape.size())) : p.layout;
  const std::string packed =
      p.packed ? fmt::format("Info::packed_{}_bytes, pack_{}", p.name, p.name) : "0, nullptr";
  return fmt::format("      {{Type::{}, {}, {}}},\n", name(p.dtype), layout.elements(shape),
                     packed);
}

std::string packer_text(const Param& p, const std::string& kernel) {
  return fmt::format(
      "static void pack_{0}(const void* from, void* to) {{\n"
      "  {1}_pack_{0}(static_cast<const {2}*>(from), to);\n}}\n",
      p.name, kernel, c_type(p.dtype));
}

// Sizes that are known at run time only have their nominal values here, and rows lie close.
std::vector<i64> run_time_values(const KernelSpec& spec) {
  std::vector<i64> out;
  for (const RunTimeSize& s : spec.sizes()) out.push_back(s.nominal());
  const auto add = [&](const Param& p) {
    for (const StrideArgument& a : stride_arguments(p)) {
      i64 stride = 1;
      for (auto d = p.layout.digits.rbegin(); d->axis != a.axis; ++d)
        stride *= p.shape[static_cast<size_t>(d->axis)].extent;
      out.push_back(stride);
    }
  };
  for (const Param& p : spec.params) add(p);
  for (size_t i = 0; i < spec.results.size(); ++i) add(spec.result(i));
  return out;
}

std::string arguments(const KernelSpec& spec) {
  std::string out;
  for (size_t i = 0; i < spec.params.size(); ++i) {
    const Param& p = spec.params[i];
    out += p.packed ? fmt::format("argument[{}], ", i)
                    : fmt::format("static_cast<const {}*>(argument[{}]), ", c_type(p.dtype), i);
  }
  for (size_t i = 0; i < spec.results.size(); ++i)
    out += fmt::format("{}static_cast<{}*>(argument[{}])", i == 0 ? "" : ", ",
                       c_type(spec.result(i).dtype), spec.params.size() + i);
  for (const i64 value : run_time_values(spec)) out += fmt::format(", {}", value);
  return out;
}

// The dims that index an axis, from the one whose steps are shortest: filters of several groups are
// numbered by two.
std::string places_text(const Computation& c, int axis) {
  AxisMap terms = c.output().axes[static_cast<size_t>(axis)];
  const auto extent_of = [&](const AxisTerm& t) {
    return c.dims[static_cast<size_t>(t.dim)].extent;
  };
  std::sort(terms.begin(), terms.end(), [&](const AxisTerm& a, const AxisTerm& b) {
    return std::pair(a.coefficient, extent_of(a)) < std::pair(b.coefficient, extent_of(b));
  });
  std::string out;
  i64 next = 1;
  for (const AxisTerm& t : terms) {
    MORELLO_CHECK(t.coefficient == next, "elements of a result without a point of their own");
    const i64 extent = extent_of(t);
    const std::string index = terms.size() == 1
                                  ? fmt::format("index[{}]", axis)
                                  : fmt::format("index[{}] / {} % {}", axis, t.coefficient, extent);
    out += fmt::format("  point[{}] = {};\n", t.dim, index);
    next *= extent;
  }
  return out;
}

// The axes of what a stage makes: of the tensor with its border, inside of it, and the dims that
// index them.
std::string axes_text(const Stage& s, const Param& made) {
  const Operand& out = s.computation.output();
  std::vector<i64> shape = out.shape, low(out.shape.size(), 0);
  if (!s.border.empty()) shape = extents(made.shape);
  for (size_t a = 0; a < s.border.size(); ++a) low[a] = s.border[a].low;
  std::string places;
  for (size_t a = 0; a < out.axes.size(); ++a)
    places += places_text(s.computation, static_cast<int>(a));
  return fmt::format(
      "static constexpr int kRank = {};\nstatic constexpr std::int64_t kShape[] = {{{}}};\n"
      "static constexpr std::int64_t kInner[] = {{{}}};\nstatic constexpr std::int64_t kLow[] = "
      "{{{}}};\nstatic void place([[maybe_unused]] const std::int64_t* index,\n"
      "                  [[maybe_unused]] std::int64_t* point) {{\n{}}}\n",
      out.axes.size(), fmt::join(shape, ", "), fmt::join(out.shape, ", "), fmt::join(low, ", "),
      places);
}

// The input of a sum whose windows read zeros around a parameter; -1: none.
int padded_input(const KernelSpec& spec, const Stage& s) {
  const int params = static_cast<int>(spec.params.size());
  const Computation& c = s.computation;
  for (int i = 0; i < c.inputs(); ++i) {
    const int maker = s.arguments[static_cast<size_t>(i)] - params;
    if (maker < 0 || c.combine != Combine::kSum) continue;
    const Stage& pad = spec.stages[static_cast<size_t>(maker)];
    if (!pads_parameter(pad, params)) continue;
    for (size_t axis = 0; axis < pad.border.size(); ++axis)
      if (pad.border[axis] != Border{} && c.operands[static_cast<size_t>(i)].axes[axis].size() > 1)
        return i;
  }
  return -1;
}

std::string tables(const Stage& s, const Param& made, int padded) {
  const Computation& c = s.computation;
  std::vector<i64> extents;
  std::vector<bool> reduction;
  for (const Dim& d : c.dims) {
    extents.push_back(d.extent);
    reduction.push_back(d.reduction);
  }
  // An array needs an element even if there are no dims.
  extents.push_back(1);
  reduction.push_back(false);
  return fmt::format(
             "static constexpr bool kFloat = {};\nstatic constexpr int kDims = {};\n"
             "static constexpr std::int64_t kExtents[] = {{{}}};\nstatic constexpr bool "
             "kReduction[] = "
             "{{{}}};\n"
             "static constexpr int kInputs = {};\nstatic constexpr int kExtras = {};\n"
             "static constexpr bool kSums = {};\n"
             "static constexpr bool kFinishes = {};\nstatic constexpr bool kWhole = {};\n"
             "static constexpr int kPadded = {};\n"
             "static constexpr int kTensors[] = {{{}}};\nstatic constexpr Type kType = Type::{};\n",
             is_float(c.compute), c.dims.size(), fmt::join(extents, ", "),
             fmt::join(reduction, ", "), c.inputs(), c.extras.size(),
             c.combine == Combine::kSum || c.combine == Combine::kNone, !c.finish.empty(),
             !is_float(c.result()), padded, fmt::join(s.arguments, ", "), name(made.dtype)) +
         axes_text(s, made);
}

// What stages read of one another is found in row order, whatever its layout.
std::string functions(const Stage& s, int params) {
  const Computation& c = s.computation;
  // Inputs, the result, extras.
  std::string out = "static std::int64_t offset(int tensor, const std::int64_t* i) {\n";
  for (int t = 0, input = 0; t < c.tensors(); ++t) {
    const bool is_made = t != c.inputs() && s.arguments[input++] >= params;
    out += fmt::format("  if (tensor == {}) return {};\n", t,
                       offset_text(c.tensor(t), c.tensor(t).packed || is_made));
  }
  out += "  return (void)i, -1;\n}\n";
  out += fmt::format(
      "template <class T>\nstatic T body([[maybe_unused]] const T* in, [[maybe_unused]] const T* "
      "extra) "
      "{{\n"
      "  return {};\n}}\n",
      expression_text(c.body));
  const Fn joins = c.reduces() ? joined_by(c.combine) : Fn::kAdd;
  out += fmt::format(
      "template <class T>\nstatic T combine(const T& a, const T& b) {{\n  return fn::{}_of(a, "
      "b);\n}}\n",
      fn_def(joins)->name);
  // What is stored, before it is converted.
  return out + fmt::format(
                   "template <class T>\nstatic T finish(const T& sum, [[maybe_unused]] const T* "
                   "extra) {{\n"
                   "  return {};\n}}\n",
                   expression_text(c.finish));
}

std::string call_text(const KernelSpec& spec, const std::string& kernel) {
  const std::string passed = arguments(spec);
  return fmt::format(
             "template <class... Hook>\n"
             "static void call(void* const* argument, [[maybe_unused]] void* workspace, Hook... "
             "hook) {{\n"
             "  if constexpr (Info::workspace_bytes + 0 * sizeof...(Hook) > 0)\n"
             "    {1}({0}, workspace, hook...);\n"
             "  else\n"
             "    {1}({0}, hook...);\n}}\n",
             passed, kernel) +
         fmt::format("static const char* selected() {{ return {}_selected(); }}\n", kernel) +
         fmt::format(
             "static bool select([[maybe_unused]] const char* isa) {{\n"
             "#ifdef MORELLO_TESTING\n  return {}_select_for_test(isa);\n"
             "#else\n  return false;\n#endif\n}}\n",
             kernel);
}

// One kernel, as the type that driver.h wants: how it is called, and a type per stage.
std::string subject_text(const KernelSpec& spec, const std::string& space, int threads) {
  const std::string kernel = fmt::format("::{}::{}", space, spec.name);
  std::string out = fmt::format(
      "struct subject_{0} {{\nusing Info = {1}_info;\nstatic constexpr int kThreads = {2};\n"
      "static constexpr bool kFloat = {3};\nstatic constexpr int kParams = {4};\n"
      "static constexpr int kResults[] = {{{5}}};\n",
      spec.name, kernel, threads, is_float(spec.stages.back().computation.compute),
      spec.params.size(), fmt::join(spec.results, ", "));
  for (const Param& p : spec.params)
    if (p.packed) out += packer_text(p, kernel);
  out += "static const Buffer* buffers() {\n  static constexpr Buffer kTable[] = {\n";
  for (const Param& p : spec.params) out += buffer_text(p);
  for (size_t i = 0; i < spec.results.size(); ++i) out += buffer_text(spec.result(i));
  out += "  };\n  return kTable;\n}\n";
  out += call_text(spec, kernel);
  std::vector<std::string> stages;
  for (size_t s = 0; s < spec.stages.size(); ++s) {
    const Stage& stage = spec.stages[s];
    stages.push_back(fmt::format("stage_{}", s));
    out += fmt::format(
        "struct {} {{\n{}{}}};\n", stages.back(),
        tables(stage, spec.tensor(spec.made_by(static_cast<int>(s))), padded_input(spec, stage)),
        functions(stage, static_cast<int>(spec.params.size())));
  }
  return out + fmt::format("using Stages = std::tuple<{}>;\n}};\n\n", fmt::join(stages, ", "));
}

}  // namespace

std::string subjects_text(const std::vector<KernelSpec>& specs, const SubjectsOptions& options) {
  std::string out = fmt::format(
      "#include \"driver.h\"\n\n#include \"{}\"\n\n"
      "namespace morello::testbench::subjects {{\nnamespace {} {{\n\n",
      options.header_name, options.suite);
  std::string calls;
  for (const KernelSpec& spec : specs) {
    out += subject_text(spec, options.space, options.threads);
    calls += fmt::format("  f({}::subject_{}{{}});\n", options.suite, spec.name);
  }
  return out + fmt::format(
                   "}}  // namespace {0}\n\ntemplate <class F>\nvoid each_{0}(F&& f) {{\n{1}}}\n\n"
                   "}}  // namespace morello::testbench::subjects\n",
                   options.suite, calls);
}

}  // namespace morello
