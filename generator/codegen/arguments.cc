#include "codegen/arguments.h"

#include "impl/address.h"

namespace morello {

std::vector<std::string> run_time_arguments(const KernelSpec& spec) {
  std::vector<std::string> out;
  for (const RunTimeSize& s : spec.sizes()) out.push_back(s.name);
  const auto add = [&](const Param& p) {
    for (const StrideArgument& stride : stride_arguments(p)) out.push_back(stride.name);
  };
  for (const Param& p : spec.params) add(p);
  for (size_t i = 0; i < spec.results.size(); ++i) add(spec.result(i));
  return out;
}

std::string size_condition(const RunTimeSize& size) {
  std::string out = fmt::format("{} >= {}", size.name, size.granule);
  if (size.granule > 1) out += fmt::format(" && {} % {} == 0", size.name, size.granule);
  if (size.bound > 0) out += fmt::format(" && {} <= {}", size.name, size.bound);
  return out;
}

// Digits inside this one lie as close as sizes allow; size_of() says which axis has one that is
// known at run time only.
static std::string product(const Layout& layout, const std::vector<i64>& shape, size_t digit,
                           const auto& size_of) {
  i64 number = 1;
  std::string names;
  for (size_t i = digit + 1; i < layout.digits.size(); ++i) {
    const Digit& d = layout.digits[i];
    const std::string size = d.mod == 0 ? size_of(static_cast<size_t>(d.axis)) : "";
    if (size.empty())
      number *= layout.extent(d, shape);
    else
      names += (names.empty() ? "" : " * ") +
               (d.div == 1 ? size : fmt::format("({} / {})", size, d.div));
  }
  return names.empty() ? fmt::format("{}", number)
         : number == 1 ? names
                       : fmt::format("{} * {}", number, names);
}

static std::string stride_argument(const Param& p, int digit) {
  for (const StrideArgument& stride : stride_arguments(p))
    if (stride.axis == p.layout.digits[static_cast<size_t>(digit)].axis) return stride.name;
  MORELLO_CHECK(false, "stride {} of {} has no argument", digit, p.name);
  return "";
}

std::string stride_value(const KernelSpec& spec, int symbol) {
  const int operand = symbol / kMostDigits, digit = symbol % kMostDigits;
  if (const auto params = static_cast<int>(spec.params.size()); spec.stages.size() > 1) {
    const Param& p = operand < params ? spec.params[operand]
                                      : spec.result(static_cast<size_t>(operand - params));
    if (p.strided) return stride_argument(p, digit);
    return product(p.layout, extents(p.shape), static_cast<size_t>(digit),
                   [&](size_t axis) { return p.shape[axis].name; });
  }
  const Computation& c = spec.computation();
  const Operand& o = c.tensor(operand);
  if (!o.strided)
    return product(o.layout, o.shape, static_cast<size_t>(digit), [&](size_t axis) {
      const RunTimeSize* size = run_time_size(c, o.axes[axis][0].dim);
      return size ? size->name : std::string();
    });
  const int out = c.inputs();
  const int argument = operand < out ? operand : operand - 1;
  return stride_argument(operand == out ? spec.result() : spec.params[spec.arguments()[argument]],
                         digit);
}

}  // namespace morello
