#include "codegen/combine.h"

#include "codegen/operand.h"

namespace morello {

// Elements of the output that stay in L1 while the copies pass by, and those added at once: a
// constant number, so that GCC 12 makes vectors of them at -O2 too.
static constexpr i64 kBlock = 2048;
static constexpr i64 kAtOnce = 16;

static std::string parameters(Dtype type) {
  return fmt::format(
      "{0}* __restrict out, const {0}* __restrict copies, std::ptrdiff_t first, std::ptrdiff_t "
      "last",
      c_type(type));
}

// One run: out[i] is joined with every copy's i, in order, for all i from `first` on and below
// `last`.
static std::string run_function(Functions& functions, const Function& join, const Shares& shares) {
  const Dtype type = join.type;
  const auto joined = [&](std::string_view i) {
    const std::string to = fmt::format("to[{}]", i);
    return expand(join.code, {{"c", to}, {"a", to}, {"b", fmt::format("from[{}]", i)}});
  };
  for (std::string_view helper : join.helpers) functions.need(helper);
  Writer w(1);
  w.open("for (std::ptrdiff_t done = first; done < last; done += {})", kBlock);
  w.line("const std::ptrdiff_t n = last - done < {0} ? last - done : {0};", kBlock);
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
  return functions.add("combine", parameters(type), w.text());
}

// The runs of a box, one after the other, each as far as it is within first .. last.
static void runs(Writer& w, const Box& box, const std::string& combine) {
  std::span<const BoxDigit> digits = box.digits;
  const i64 run = run_of(box);
  if (run > 1) digits = digits.first(digits.size() - 1);
  std::string at = text(box.packed);
  for (size_t d = 0; d < digits.size(); ++d) {
    w.open("for (std::ptrdiff_t i{0} = 0; i{0} < {1}; ++i{0})", d, digits[d].count);
    at += fmt::format(" + i{} * {}", d, text(digits[d].packed));
  }
  w.line("const std::ptrdiff_t at = {};", at);
  w.line("{0}(out, copies, at > first ? at : first, at + {1} < last ? at + {1} : last);", combine,
         run);
  for (size_t d = 0; d < digits.size(); ++d) w.close();
}

std::string combine_function(Functions& functions, const Function& join, const Shares& shares,
                             std::span<const Box> elements) {
  const std::string combine = run_function(functions, join, shares);
  if (run_of(elements[0]) == shares.elements) return combine;
  Writer w(1);
  for (const Box& box : elements) {
    w.open("{}", "");
    runs(w, box, combine);
    w.close();
  }
  return functions.add("combine", parameters(join.type), w.text());
}

std::string combine_task(const std::string& task, const std::string& combine, Dtype type,
                         const Shares& shares) {
  Writer w(1);
  w.line("const {0}_data* data = static_cast<const {0}_data*>(argument);", task);
  w.line("const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(index) * {};",
         shares.task_elements);
  w.line("const std::ptrdiff_t last = first + {0} < {1} ? first + {0} : {1};", shares.task_elements,
         shares.elements);
  w.line("{}(data->out, data->copies, first, last);", combine);
  return fmt::format(
      "struct {0}_data {{\n  {1} out;\n  {2} copies;\n}};\nMORELLO_UNUSED MORELLO_TARGET static "
      "void {0}(void* argument, std::size_t index) noexcept {{\n{3}}}\n",
      task, mutable_pointer(type), const_pointer(type), w.text());
}

}  // namespace morello
