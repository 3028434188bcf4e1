#include "codegen/expression.h"

#include <cmath>

namespace morello {

static std::string_view type_of(const Isa& isa, Dtype t, int lanes) {
  return lanes == 1 ? c_type(t) : isa.register_type(t, lanes);
}

std::string literal(Dtype type, double x) {
  if (!is_float(type)) {
    const auto i = static_cast<i64>(x);
    return i == INT32_MIN ? "(-2147483647 - 1)" : fmt::format("{}", i);
  }
  if (std::isinf(x)) return x < 0 ? "-__builtin_inff()" : "__builtin_inff()";
  std::string text = fmt::format("{}", static_cast<float>(x));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string splat(const Isa& isa, Dtype type, int lanes, double x) {
  const std::string number = literal(type, x);
  return lanes == 1 ? number : expand(isa.splat(type, lanes), {{"x", number}});
}

// Compilers warn of an integer beside itself.
static bool compares_with_itself(const Term& t, int lanes) {
  const bool compares = t.fn == Fn::kMax || t.fn == Fn::kMin || t.fn == Fn::kLess ||
                        t.fn == Fn::kLessEqual || t.fn == Fn::kEqual;
  return compares && t.a == t.b && lanes == 1 && !is_float(t.type);
}

std::vector<std::string> write_terms(Writer& w, Names& names, Functions& functions, const Isa& isa,
                                     int lanes, const Expression& e,
                                     const TermRegisters& registers) {
  std::vector<std::string> reg(e.size());
  for (size_t i = 0; i < e.size(); ++i) {
    const Term& t = e[i];
    if (t.fn == Fn::kInput) {
      reg[i] = registers.inputs[t.a];
    } else if (t.fn == Fn::kExtra) {
      reg[i] = registers.extras[t.a];
    } else if (t.fn == Fn::kValue) {
      reg[i] = registers.value;
    } else if (t.fn == Fn::kConstant) {
      reg[i] = names.fresh("k");
      w.line("const {} {} = {};", type_of(isa, t.type, lanes), reg[i],
             splat(isa, t.type, lanes, t.constant));
    } else {
      const Function* f = isa.function(t.fn, t.type, lanes);
      MORELLO_CHECK(f, "{} has no {} of {} lanes", isa.name, fn_def(t.fn)->name, lanes);
      for (std::string_view helper : f->helpers) functions.need(helper);
      reg[i] = names.fresh("v");
      std::string b = t.b < 0 ? "" : reg[t.b];
      if (compares_with_itself(t, lanes)) {
        b = names.fresh("s");
        w.line("const {} {} = {};", type_of(isa, t.type, lanes), b, reg[t.a]);
      }
      w.line("{} {};", type_of(isa, t.type, lanes), reg[i]);
      w.code(expand(f->code, {{"c", reg[i]},
                              {"a", reg[t.a]},
                              {"b", b},
                              {"d", t.c < 0 ? "" : reg[t.c]},
                              {"t", names.fresh("t")}}));
    }
  }
  return reg;
}

}  // namespace morello
