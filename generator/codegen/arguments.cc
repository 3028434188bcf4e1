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

// Digits inside this one lie as close as sizes allow.
static std::string product(const Computation& c, const Operand& o, size_t digit) {
  i64 number = 1;
  std::string names;
  for (size_t i = digit + 1; i < o.layout.digits.size(); ++i) {
    const Digit& d = o.layout.digits[i];
    const RunTimeSize* size = nullptr;
    if (d.mod == 0) size = run_time_size(c, o.axes[d.axis][0].dim);
    if (!size)
      number *= o.layout.extent(d, o.shape);
    else
      names += (names.empty() ? "" : " * ") +
               (d.div == 1 ? size->name : fmt::format("({} / {})", size->name, d.div));
  }
  return number == 1 ? names : fmt::format("{} * {}", number, names);
}

std::string stride_value(const KernelSpec& spec, int symbol) {
  const int operand = symbol / kMostDigits, digit = symbol % kMostDigits;
  const auto argument_of = [&](const Param& p) {
    for (const StrideArgument& stride : stride_arguments(p))
      if (stride.axis == p.layout.digits[digit].axis) return stride.name;
    MORELLO_CHECK(false, "stride {} of {} has no argument", digit, p.name);
    return std::string();
  };
  if (const auto params = static_cast<int>(spec.params.size()); spec.stages.size() > 1)
    return argument_of(operand < params ? spec.params[operand]
                                        : spec.result(static_cast<size_t>(operand - params)));
  const Computation& c = spec.computation();
  const Operand& o = c.tensor(operand);
  if (!o.strided) return product(c, o, static_cast<size_t>(digit));
  const int out = c.inputs();
  const int argument = operand < out ? operand : operand - 1;
  return argument_of(operand == out ? spec.result() : spec.params[spec.arguments()[argument]]);
}

}  // namespace morello
