// KernelSyntax -> KernelSpec: names, shapes, types, layouts and sizes, each error at its place.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "spec/build.h"
#include "spec/rows.h"
#include "spec/sizes.h"
#include "spec/stages.h"
#include "spec/syntax.h"

namespace morello {
namespace {

// Every one multiplies the programs of a kernel.
constexpr int kMaxRunTimeDims = 3;

class Checker {
 public:
  Checker(const KernelSyntax& kernel, const Source& source, SumsOfOne of_one)
      : k_(kernel), source_(source), of_one_(of_one) {}
  Result<KernelSpec> run();

 private:
  bool sizes();
  bool size(const DimSyntax& dim);
  bool names();
  bool params();
  bool all_used();
  bool build();
  bool results();
  bool result(size_t i);
  const TensorSyntax* given(int tensor) const;
  bool rows();
  bool sums(const TensorSyntax& given);
  bool packing();
  bool extras(const Stage& s);
  bool blocks(const Stage& s);
  bool finish(Stage& s);

  std::vector<Size> shape(const TensorSyntax& tensor) const;
  bool layout(const LayoutSyntax& syntax, const Token& type, Param& out);
  bool strides(const LayoutSyntax& syntax, Param& out);
  bool whole_blocks(const LayoutSyntax& syntax, const Param& p);
  bool fits(const Param& p, const Token& at);
  bool fail(const Token& at, std::string message) {
    error_ = source_.error(at, std::move(message));
    return false;
  }

  const KernelSyntax& k_;
  const Source& source_;
  const SumsOfOne of_one_;
  std::vector<RunTimeSize> sizes_;
  KernelSpec spec_;
  Diagnostic error_;
};

Result<KernelSpec> Checker::run() {
  spec_.name = std::string(k_.name.text);
  if (sizes() && params() && build() && all_used() && results() && rows() && names() && packing() &&
      std::all_of(spec_.stages.begin(), spec_.stages.end(), [&](Stage& s) { return finish(s); }))
    return std::move(spec_);
  return error_;
}

// What is known of every size. The first mention says it; later ones say the same or only the name.
bool Checker::sizes() {
  const auto all = [&](const TensorSyntax& t) {
    return std::all_of(t.shape.begin(), t.shape.end(),
                       [&](const DimSyntax& d) { return d.number > 0 || size(d); });
  };
  return std::all_of(k_.params.begin(), k_.params.end(), all) &&
         std::all_of(k_.results.begin(), k_.results.end(), all);
}

bool Checker::size(const DimSyntax& dim) {
  const RunTimeSize& s = dim.size;
  for (const RunTimeSize& known : sizes_)
    if (known.name == s.name) {
      if (!dim.said || known == s) return true;
      return fail(dim.at,
                  fmt::format("something else is said of `{0}` above; write only `{0}`", s.name));
    }
  const auto whole = [&](std::string_view what, i64 value) {
    if (value % s.granule == 0) return true;
    const i64 less = value / s.granule * s.granule;
    return fail(dim.at, fmt::format("{} of `{}` is a multiple of its granule {}; got {}; write {}",
                                    what, s.name, s.granule, value, less > 0 ? less : s.granule));
  };
  if (!whole("the bound", s.bound) || !whole("the typical size", s.typical)) return false;
  if (s.bound > 0 && s.typical > s.bound)
    return fail(dim.at, fmt::format("the typical size of `{}` is at most its bound {}; got {}",
                                    s.name, s.bound, s.typical));
  sizes_.push_back(s);
  return true;
}

// Parameters, sizes and strides are arguments of one function.
bool Checker::names() {
  std::vector<std::string> taken;
  for (const Param& p : spec_.params) taken.push_back(p.name);
  const auto free = [&](const std::string& name) {
    return std::find(taken.begin(), taken.end(), name) == taken.end();
  };
  for (size_t i = 0; i < k_.results.size(); ++i) {
    const std::string& name = spec_.result(i).name;
    if (!free(name)) return fail(k_.results[i].name, fmt::format("`{}` exists already", name));
    taken.push_back(name);
  }
  for (const TensorSyntax& p : k_.params)
    for (const DimSyntax& d : p.shape)
      if (d.number == 0 && !free(d.size.name))
        return fail(d.at, fmt::format("`{}` is a parameter; write another name for the dimension",
                                      d.size.name));
  for (const RunTimeSize& s : sizes_) taken.push_back(s.name);
  const auto strides = [&](const Param& p, const Token& at) {
    for (const StrideArgument& stride : stride_arguments(p))
      if (!free(stride.name))
        return fail(at,
                    fmt::format("the kernel takes a stride `{}` of `{}`, and something else has "
                                "that name already; write another one there",
                                stride.name, p.name));
    return true;
  };
  for (size_t i = 0; i < spec_.params.size(); ++i)
    if (!strides(spec_.params[i], k_.params[i].name)) return false;
  for (size_t i = 0; i < k_.results.size(); ++i)
    if (!strides(spec_.result(i), k_.results[i].dtype_at)) return false;
  return true;
}

std::vector<Size> Checker::shape(const TensorSyntax& tensor) const {
  std::vector<Size> out;
  for (const DimSyntax& d : tensor.shape) {
    const auto known = std::find_if(sizes_.begin(), sizes_.end(),
                                    [&](const RunTimeSize& s) { return s.name == d.size.name; });
    if (d.number > 0)
      out.emplace_back(d.number);
    else
      out.emplace_back(known->nominal(), known->name);
  }
  return out;
}

bool Checker::params() {
  for (const TensorSyntax& p : k_.params) {
    for (const Param& other : spec_.params)
      if (other.name == p.name.text)
        return fail(p.name, fmt::format("parameter `{}` exists already", other.name));
    Param& param = spec_.params.emplace_back();
    param.name = std::string(p.name.text);
    param.dtype = p.dtype;
    param.shape = shape(p);
    if (!layout(p.layout, p.dtype_at, param)) return false;
  }
  return true;
}

bool Checker::layout(const LayoutSyntax& syntax, const Token& type, Param& out) {
  using Kind = LayoutSyntax::Kind;
  const int rank = static_cast<int>(out.shape.size());
  out.layout = syntax.kind == Kind::kCol     ? Layout::col(rank)
               : syntax.kind == Kind::kOrder ? Layout{syntax.digits}
                                             : Layout::row(rank);
  out.packed = syntax.kind == Kind::kPacked;
  if (syntax.kind == Kind::kCol && rank < 2)
    return fail(syntax.at, "`col` needs 2 dimensions or more");
  const std::string problem = layout_problem(out.layout, rank);
  if (!problem.empty())
    return fail(syntax.at, fmt::format("no order of {}: {}", shape_text(out.shape), problem));
  return strides(syntax, out) && whole_blocks(syntax, out) && fits(out, type);
}

bool Checker::strides(const LayoutSyntax& syntax, Param& out) {
  if (syntax.strided.text.empty()) return true;
  if (out.packed)
    return fail(syntax.strided, "`packed` takes its data in row order; leave out `strided`");
  if (out.shape.size() < 2)
    return fail(syntax.strided, "`strided` needs 2 dimensions or more: a vector has no rows");
  for (const Digit& d : out.layout.digits)
    if (d.div != 1 || d.mod != 0)
      return fail(syntax.strided,
                  "`strided` needs a layout of whole axes; allowed: row, col, "
                  "order(...) without / and %");
  out.strided = true;
  return true;
}

// What is known at run time only does not cut blocks, and is in no layout that the search chooses.
bool Checker::whole_blocks(const LayoutSyntax& syntax, const Param& p) {
  for (size_t axis = 0; axis < p.shape.size(); ++axis) {
    const Size& s = p.shape[axis];
    if (s.name.empty()) continue;
    if (p.packed)
      return fail(syntax.at, fmt::format("`packed` needs numbers for all dimensions; got `{}`; "
                                         "write a number for it, or row or col",
                                         s.name));
    i64 block = 1;
    for (const Digit& d : p.layout.digits)
      if (d.axis == static_cast<int>(axis) && d.mod == 0) block = d.div;
    for (const RunTimeSize& known : sizes_)
      if (known.name == s.name && known.granule % block != 0)
        return fail(syntax.at, fmt::format("{} has blocks of {} along `{}`, which then is a "
                                           "multiple of that; write `{}%{}`",
                                           p.layout.str(static_cast<int>(p.shape.size())), block,
                                           s.name, s.name, std::lcm(known.granule, block)));
  }
  return true;
}

bool Checker::fits(const Param& p, const Token& at) {
  if (saturating_product(p.layout.elements(extents(p.shape)), bytes(p.dtype)) < kMaxTensorBytes)
    return true;
  const int rank = static_cast<int>(p.shape.size());
  const std::string order = p.layout.is_row(rank) ? "" : " " + p.layout.str(rank);
  return fail(at, fmt::format("{}{}{} is too large; a tensor has less than 2^46 bytes",
                              name(p.dtype), shape_text(p.shape), order));
}

bool Checker::all_used() {
  const auto used = [&](size_t i) {
    return std::any_of(spec_.stages.begin(), spec_.stages.end(), [&](const Stage& s) {
      return std::count(s.arguments.begin(), s.arguments.end(), static_cast<int>(i)) > 0;
    });
  };
  for (size_t i = 0; i < spec_.params.size(); ++i)
    if (!used(i))
      return fail(k_.params[i].name,
                  fmt::format("parameter `{}` is not used", spec_.params[i].name));
  return true;
}

bool Checker::build() {
  for (const TensorSyntax& r : k_.results)
    if (is_float(r.dtype) != is_float(k_.results[0].dtype))
      return fail(r.dtype_at,
                  "results are all floats or all integers, because they decide in what "
                  "is computed: write a kernel for each kind");
  std::vector<std::vector<Size>> shapes;
  for (const TensorSyntax& r : k_.results) shapes.push_back(shape(r));
  Result<Staged> built = divide_into_stages(k_, spec_.params, shapes, source_);
  if (!built) {
    error_ = built.error();
    return false;
  }
  spec_.expr = std::move(built->expr);
  spec_.where = std::move(built->where);
  spec_.stages = std::move(built->stages);
  spec_.made = std::move(built->made);
  spec_.results = std::move(built->results);
  for (Stage& s : spec_.stages) s.computation.sizes = sizes_;
  for (int s = 0; s < static_cast<int>(spec_.stages.size()); ++s)
    if (const int t = spec_.made_by(s); !given(t) && !fits(spec_.tensor(t), k_.at())) return false;
  return true;
}

bool Checker::results() {
  for (size_t i = 0; i < k_.results.size(); ++i)
    if (!result(i)) return false;
  return true;
}

// Stages write and read it in the order that was given.
bool Checker::result(size_t i) {
  const TensorSyntax& given = k_.results[i];
  if (given.layout.kind == LayoutSyntax::Kind::kPacked)
    return fail(given.layout.at, "the result cannot be packed; allowed: row, col, order(...)");
  Param& made = spec_.made[spec_.results[i]];
  if (!layout(given.layout, given.dtype_at, made)) return false;
  const int tensor = spec_.made_by(spec_.results[i]);
  for (size_t s = 0; s < spec_.stages.size(); ++s) {
    Computation& c = spec_.stages[s].computation;
    for (int t = 0, input = 0; t < c.tensors(); ++t) {
      const int is =
          t == c.inputs() ? spec_.made_by(static_cast<int>(s)) : spec_.stages[s].arguments[input++];
      if (is != tensor) continue;
      Operand& o = c.tensor(t);
      if (o.shape.empty()) continue;  // read as one number
      o.layout = made.layout;
      o.strided = made.strided;
    }
  }
  return sums(given);
}

// What the user said of a parameter or a result; null: of what lies between stages, nothing.
const TensorSyntax* Checker::given(int tensor) const {
  const int params = static_cast<int>(k_.params.size());
  if (tensor < params) return &k_.params[tensor];
  for (size_t i = 0; i < k_.results.size(); ++i)
    if (spec_.results[i] == tensor - params) return &k_.results[i];
  return nullptr;
}

// A size of several stages that is known at run time only is cut into pieces.
bool Checker::rows() {
  if (spec_.stages.size() == 1 || sizes_.empty()) return true;
  const std::optional<RowsProblem> problem = rows_problem(spec_);
  if (!problem) return true;
  return fail(k_.at(), fmt::format("this takes {} steps, one after the other; `{}`, known at run "
                                   "time only, cannot be cut into pieces for them: {}; write "
                                   "numbers, or a kernel for each step",
                                   spec_.stages.size(), problem->size, problem->why));
}

// Sums over a size that is known at run time only are gathered in the result, part by part.
bool Checker::sums(const TensorSyntax& given) {
  if (spec_.stages.size() > 1) return true;
  const Computation& c = spec_.computation();
  int run_time = 0;
  for (size_t d = 0; d < c.dims.size(); ++d) {
    const RunTimeSize* s = run_time_size(c, static_cast<int>(d));
    run_time += s != nullptr;
    if (s && c.dims[d].reduction && given.dtype != c.compute)
      return fail(given.dtype_at,
                  fmt::format("a sum over `{}`, known at run time only, is gathered in the result: "
                              "write {}, not {}",
                              s->name, name(c.compute), name(given.dtype)));
    if (s && c.dims[d].reduction && !c.finish.empty())
      return fail(k_.at(),
                  fmt::format("a sum over `{}`, known at run time only, is gathered in the result, "
                              "part by part: write a kernel for the sum and another one for what "
                              "comes after it",
                              s->name));
  }
  if (run_time <= kMaxRunTimeDims) return true;
  return fail(k_.at(), fmt::format("there are {} dimensions here that are known at run time "
                                   "only; at most {} are supported: write numbers for the others",
                                   run_time, kMaxRunTimeDims));
}

// Packing ahead of time pays where elements are used more than once, next to another operand. One
// buffer cannot be in the form of two operands.
bool Checker::packing() {
  for (size_t i = 0; i < spec_.params.size(); ++i) {
    if (!spec_.params[i].packed) continue;
    std::ptrdiff_t uses = 0, products = 0;
    for (const Stage& s : spec_.stages) {
      const Computation& c = s.computation;
      const auto inputs = s.arguments.begin() + c.inputs();
      const bool pays = c.reduces() && c.inputs() >= 2;
      uses += std::count(s.arguments.begin(), s.arguments.end(), static_cast<int>(i));
      if (pays) products += std::count(s.arguments.begin(), inputs, static_cast<int>(i));
    }
    if (products == 0)
      return fail(k_.params[i].layout.at,
                  fmt::format("only operands of a sum of products, such as matmul, can be packed; "
                              "every element of `{}` is read once",
                              spec_.params[i].name));
    if (uses > 1)
      return fail(k_.params[i].layout.at,
                  fmt::format("`{}` is packed and so can be used only once", spec_.params[i].name));
  }
  return std::all_of(spec_.stages.begin(), spec_.stages.end(),
                     [&](const Stage& s) { return extras(s) && blocks(s); });
}

// Blocks are found by one dim, which steps through their axis and does nothing else.
bool Checker::blocks(const Stage& s) {
  const Computation& c = s.computation;
  for (int t = 0; t < c.tensors(); ++t) {
    const Operand& o = c.tensor(t);
    for (const Digit& d : o.layout.digits) {
      if (o.packed || o.shape.empty() || (d.div == 1 && d.mod == 0)) continue;
      const AxisMap& axis = o.axes[d.axis];
      if (axis.empty() || (axis.size() == 1 && axis[0].coefficient == 1)) continue;
      const size_t argument = static_cast<size_t>(t < c.inputs() ? t : t - 1);
      const int stage = static_cast<int>(&s - spec_.stages.data());
      const int tensor = t == c.inputs() ? spec_.made_by(stage) : s.arguments[argument];
      return fail(given(tensor)->layout.at,
                  fmt::format("axis {} is not walked through element by element here, so that "
                              "it cannot be in blocks; allowed: row, col, order(...) without / "
                              "and % for that axis",
                              d.axis));
    }
  }
  return true;
}

// What is read beside a sum is read where it lies, a vector at a time.
bool Checker::extras(const Stage& s) {
  for (size_t i = static_cast<size_t>(s.computation.inputs()); i < s.arguments.size(); ++i) {
    const Param& p = spec_.tensor(s.arguments[i]);
    for (const Digit& d : p.layout.digits)
      if (d.div != 1 || d.mod != 0)
        return fail(
            given(s.arguments[i])->layout.at,
            fmt::format("`{}` is read beside a sum or two other operands, and needs a layout "
                        "of whole axes; allowed: row, col, order(...) without / and %",
                        p.name));
  }
  return true;
}

// Parts of several stages are joined later, dim by dim: those dims stay (search/fusion.h).
bool Checker::finish(Stage& s) {
  Computation& c = s.computation;
  if (spec_.stages.size() == 1 && of_one_ == SumsOfOne::kTaken) take_sums_of_one(c);
  Computation least = collapse(c);
  if (least.dims.size() > kMaxDims)
    return fail(k_.at(), fmt::format("this needs {} loops; at most {} are supported",
                                     least.dims.size(), kMaxDims));
  if (spec_.stages.size() == 1) c = std::move(least);
  set_strides(c);
  std::vector<i64> extents;
  for (const Dim& d : c.dims) extents.push_back(d.extent);
  if (saturating_product(extents) < kHuge) return true;
  return fail(k_.at(), fmt::format("this needs {} steps, which is too many; less than 2^62 are "
                                   "supported",
                                   fmt::join(extents, " x ")));
}

}  // namespace

Result<KernelSpec> check(const KernelSyntax& kernel, const Source& source, SumsOfOne of_one) {
  return Checker(kernel, source, of_one).run();
}

}  // namespace morello
