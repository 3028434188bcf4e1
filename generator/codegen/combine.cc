#include "codegen/combine.h"

#include "codegen/operand.h"

namespace morello {

// Elements of the output that stay in L1 while the copies pass by, and those added at once: a
// constant number, so that GCC 12 makes vectors of them at -O2 too.
static constexpr i64 kBlock = 2048;
static constexpr i64 kAtOnce = 16;

std::string combine_function(Functions& functions, const Function& join, const Shares& shares) {
  const Dtype type = join.type;
  const auto joined = [&](std::string_view i) {
    const std::string to = fmt::format("to[{}]", i);
    return expand(join.code, {{"c", to}, {"a", to}, {"b", fmt::format("from[{}]", i)}});
  };
  for (std::string_view helper : join.helpers) functions.need(helper);
  Writer w(1);
  w.open("for (std::ptrdiff_t done = 0; done < count; done += {})", kBlock);
  w.line("const std::ptrdiff_t n = count - done < {0} ? count - done : {0};", kBlock);
  w.line("const std::ptrdiff_t whole = n / {0} * {0};", kAtOnce);
  w.line("{}* to = out + done;", c_type(type));
  w.open("for (std::ptrdiff_t copy = 0; copy < {}; ++copy)", shares.count - 1);
  w.line("const {}* from = copies + copy * {} + done;", c_type(type),
         shares.copy_bytes / bytes(type));
  w.open("for (std::ptrdiff_t i = 0; i < whole; i += {})", kAtOnce);
  w.line("for (std::ptrdiff_t j = i; j < i + {}; ++j) {}", kAtOnce, joined("j"));
  w.close();
  w.line("for (std::ptrdiff_t i = whole; i < n; ++i) {}", joined("i"));
  w.close();
  w.close();
  const std::string params = fmt::format(
      "{0}* __restrict out, const {0}* __restrict copies, std::ptrdiff_t count", c_type(type));
  return functions.add("combine", params, w.text());
}

std::string combine_task(const std::string& task, const std::string& combine, Dtype type,
                         const Shares& shares) {
  Writer w(1);
  w.line("const {0}_data* data = static_cast<const {0}_data*>(argument);", task);
  w.line("const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(index) * {};",
         shares.task_elements);
  w.line("const std::ptrdiff_t left = {} - first;", shares.elements);
  w.line("{0}(data->out + first, data->copies + first, left < {1} ? left : {1});", combine,
         shares.task_elements);
  return fmt::format(
      "struct {0}_data {{\n  {1} out;\n  {2} copies;\n}};\nMORELLO_UNUSED MORELLO_TARGET static "
      "void {0}(void* argument, std::size_t index) noexcept {{\n{3}}}\n",
      task, mutable_pointer(type), const_pointer(type), w.text());
}

}  // namespace morello
