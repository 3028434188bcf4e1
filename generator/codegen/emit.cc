// Assembles a header: banner, guard, macros, and per kernel its info, the code of every variant in
// namespace <name>_detail::<isa>, and the functions the user calls.
//
// Rules that were measured (GCC 12, Clang 14; 1200 compiles): every function carries its target
// attribute, helpers too; functions for any CPU carry target("no-avx"), or a consumer's own target
// pragma would compile the CPU check itself with AVX; no lambdas, no vector types in signatures of
// functions that a consumer sees.
#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/arguments.h"
#include "codegen/info.h"
#include "codegen/prelude.h"
#include "codegen/writer.h"

namespace morello {

extern const char kParallelText[];

namespace {

constexpr std::string_view kX86 = "#if defined(__x86_64__) && defined(__GNUC__)\n";

// Whether everything that `isa` can includes what `less` can.
bool extends(const Isa& isa, const Isa& less) {
  const Isa* base = isa.base;
  while (base != nullptr && base != &less) base = base->base;
  return base != nullptr;
}

// The functions of one kernel, as declarations or definitions.
class KernelWriter {
 public:
  KernelWriter(const Built& b, bool compiled) : b_(b), k_(b.kernel), compiled_(compiled) {}
  std::string declarations();
  std::string definitions();

 private:
  bool portable(const Variant& v) const { return v.problem.family.isa->include.empty(); }
  std::string_view isa(const Variant& v) const { return v.problem.family.isa->name; }
  std::string detail() const { return k_.name + "_detail"; }
  std::string api() const { return compiled_ ? "" : "MORELLO_UNUSED MORELLO_BASE static "; }
  std::string local(const std::string& wanted) const;
  std::string params(bool defaults) const;
  std::string args() const;
  std::string packer_head(const Param& p, std::string_view isa) const;

  void declare(Writer& w);
  size_t shared(size_t v) const;
  void variant_namespace(std::string& out, size_t v);
  std::vector<std::string> tensors() const;
  void forwarding_functions(Writer& w, const Variant& variant, const Variant& code);
  void variant_functions(Writer& w, size_t v);
  void align_workspace(Writer& w, const NestCode& nest);
  std::vector<std::string> run_values(const NestCode& nest) const;
  void choice(Writer& w);
  void dispatch(Writer& w);
  void each_choice(Writer& w, auto body);
  void testing(Writer& w);

  const Built& b_;
  const KernelCode& k_;
  const bool compiled_;
};

// A name of ours that no parameter of the user has; `pool` and `workspace` the language reserves.
std::string KernelWriter::local(const std::string& wanted) const {
  const std::vector<std::string> more = run_time_arguments(*k_.spec);
  const auto is_wanted = [&](const Param& p) { return p.name == wanted; };
  const bool taken = std::any_of(k_.spec->params.begin(), k_.spec->params.end(), is_wanted) ||
                     std::any_of(k_.spec->results.begin(), k_.spec->results.end(),
                                 [&](int stage) { return is_wanted(k_.spec->made[stage]); }) ||
                     std::find(more.begin(), more.end(), wanted) != more.end();
  return taken ? wanted + "_of_kernel" : wanted;
}

std::string KernelWriter::params(bool defaults) const {
  std::string out;
  for (const Param& p : k_.spec->params)
    out += p.packed ? fmt::format("const void* {}, ", p.name)
                    : fmt::format("const {}* {}, ", c_type(p.dtype), p.name);
  for (size_t i = 0; i < k_.spec->results.size(); ++i)
    out += fmt::format("{}{}* {}", i == 0 ? "" : ", ", c_type(k_.spec->result(i).dtype),
                       k_.spec->result(i).name);
  for (const std::string& name : run_time_arguments(*k_.spec)) out += ", std::ptrdiff_t " + name;
  if (b_.workspace_bytes() > 0) out += ", void* workspace";
  if (b_.threaded())
    out += defaults ? ", ::morello::Parallel pool = {}" : ", ::morello::Parallel pool";
  return out;
}

std::string KernelWriter::args() const {
  std::string out;
  for (const Param& p : k_.spec->params) out += p.name + ", ";
  for (size_t i = 0; i < k_.spec->results.size(); ++i)
    out += (i == 0 ? "" : ", ") + k_.spec->result(i).name;
  for (const std::string& name : run_time_arguments(*k_.spec)) out += ", " + name;
  if (b_.workspace_bytes() > 0) out += ", workspace";
  if (b_.threaded()) out += ", pool";
  return out;
}

std::string KernelWriter::packer_head(const Param& p, std::string_view isa) const {
  const std::string packed = local("packed");
  return fmt::format("void {}_pack_{}{}{}(const {}* {}, void* {}) noexcept", k_.name, p.name,
                     isa.empty() ? "" : "_", isa, c_type(p.dtype), p.name, packed);
}

void KernelWriter::declare(Writer& w) {
  w.line("{}void {}({}) noexcept;", api(), k_.name, params(true));
  w.line("{}const char* {}_selected() noexcept;", api(), k_.name);
  for (const Param& p : k_.spec->params)
    if (p.packed) w.line("{}{};", api(), packer_head(p, ""));
  for (const Variant& v : k_.variants) {
    if (!portable(v)) w.code(kX86);
    const std::string api =
        compiled_ ? "" : fmt::format("MORELLO_UNUSED MORELLO_{} static ", isa(v));
    w.line("{}void {}_{}({}) noexcept;", api, k_.name, isa(v), params(true));
    for (const Param& p : k_.spec->params)
      if (p.packed) w.line("{}{};", api, packer_head(p, isa(v)));
    if (!portable(v)) w.line("#endif");
  }
}

std::string KernelWriter::declarations() {
  Writer w;
  declare(w);
  w.line("#ifdef MORELLO_TESTING");
  w.line("{}bool {}_select_for_test(const char* isa) noexcept;", api(), k_.name);
  w.line("#endif");
  return w.text();
}

// The variant whose code v runs: itself, or a later one with a part of v's instructions for which
// the search found the same programs, with the same leaves and helpers. The command line leaves out
// instruction sets with no rows for a kernel (worth_a_variant); here rows are that no program took.
size_t KernelWriter::shared(size_t v) const {
  const Isa& isa = *k_.variants[v].problem.family.isa;
  const NestCode& nest = b_.nests[v];
  const auto helpers = [&](const Isa& of) { return needed_helpers(of.prelude, nest.functions); };
  for (size_t u = k_.variants.size() - 1; u > v; --u)
    if (const Isa& other = *k_.variants[u].problem.family.isa;
        extends(isa, other) && b_.nests[u] == nest && helpers(isa) == helpers(other))
      return u;
  return v;
}

void KernelWriter::variant_namespace(std::string& out, size_t v) {
  const Isa& isa = *k_.variants[v].problem.family.isa;
  out += fmt::format("namespace {} {{\n", isa.name);
  out += needed_helpers(isa.prelude, b_.nests[v].functions);
  out += b_.nests[v].functions;
  out += fmt::format("}}  // namespace {}\n", isa.name);
}

// The workspace's first 64-byte boundary.
void KernelWriter::align_workspace(Writer& w, const NestCode& nest) {
  if (nest.workspace_bytes == 0) {
    if (b_.workspace_bytes() > 0) w.line("static_cast<void>(workspace);");
    return;
  }
  const std::string base = local("base");
  w.line("unsigned char* {} = static_cast<unsigned char*>(workspace);", base);
  w.line("{0} += (64u - (reinterpret_cast<std::uintptr_t>({0}) & 63u)) & 63u;", base);
}

// What run() takes first (NestCode::functions).
std::vector<std::string> KernelWriter::tensors() const {
  const auto argument = [&](const Param& p) {
    return p.packed ? fmt::format("static_cast<const {}*>({})", c_type(p.dtype), p.name) : p.name;
  };
  std::vector<std::string> out;
  if (k_.spec->stages.size() > 1) {
    for (const Param& p : k_.spec->params) out.push_back(argument(p));
    for (size_t i = 0; i < k_.spec->results.size(); ++i) out.push_back(k_.spec->result(i).name);
    return out;
  }
  for (const int p : k_.spec->arguments()) out.push_back(argument(k_.spec->params[p]));
  out.insert(out.begin() + k_.spec->computation().inputs(), k_.spec->result().name);
  return out;
}

// What NestCode's run is called with.
std::vector<std::string> KernelWriter::run_values(const NestCode& nest) const {
  std::vector<std::string> values = tensors();
  for (const std::string& size : nest.sizes) values.push_back(size);
  for (const int symbol : nest.strides) values.push_back(stride_value(*k_.spec, symbol));
  if (nest.workspace_bytes > 0) values.push_back(local("base"));
  if (nest.parallel) values.emplace_back("pool");
  return values;
}

// What the user calls, of a variant with the code of another one.
void KernelWriter::forwarding_functions(Writer& w, const Variant& variant, const Variant& code) {
  const std::string linkage = compiled_ ? "" : "static ";
  const std::string_view own = isa(variant), other = isa(code);
  w.open("MORELLO_UNUSED MORELLO_{} {}void {}_{}({}) noexcept", own, linkage, k_.name, own,
         params(false));
  w.line("{}_{}({});", k_.name, other, args());
  w.close();
  for (const Param& p : k_.spec->params) {
    if (!p.packed) continue;
    w.open("MORELLO_UNUSED MORELLO_{} {}{}", own, linkage, packer_head(p, own));
    w.line("{}_pack_{}_{}({}, {});", k_.name, p.name, other, p.name, local("packed"));
    w.close();
  }
}

void KernelWriter::variant_functions(Writer& w, size_t v) {
  const Variant& variant = k_.variants[v];
  const NestCode& nest = b_.nests[v];
  const std::string space = fmt::format("{}::{}", detail(), isa(variant));
  const std::string linkage = compiled_ ? "" : "static ";
  w.open("MORELLO_UNUSED MORELLO_TARGET {}void {}_{}({}) noexcept", linkage, k_.name, isa(variant),
         params(false));
  for (const RunTimeSize& s : k_.spec->sizes()) w.line("assert({});", size_condition(s));
  align_workspace(w, nest);
  for (const std::string& name : run_time_arguments(*k_.spec))
    w.line("static_cast<void>({});", name);  // the variant may need not all
  if (b_.threaded() && !nest.parallel) w.line("static_cast<void>(pool);");
  w.line("{}::run({});", space, fmt::join(run_values(nest), ", "));
  w.close();
  for (size_t i = 0; i < k_.spec->params.size(); ++i) {
    const Param& p = k_.spec->params[i];
    if (!p.packed) continue;
    const std::string packed = local("packed");
    w.open("MORELLO_UNUSED MORELLO_TARGET {}{}", linkage, packer_head(p, isa(variant)));
    const int tensor = k_.spec->stages.size() > 1 ? static_cast<int>(i)
                                                  : operand_of(*k_.spec, static_cast<int>(i));
    w.line("{}::{}({}, static_cast<{}*>({}));", space, nest.packers.at(tensor), p.name,
           c_type(p.dtype), packed);
    w.close();
  }
}

// Index of the variant that runs on this CPU.
void KernelWriter::choice(Writer& w) {
  w.line("#ifdef MORELLO_TESTING");
  w.line("static int forced = -1;");
  w.line("#endif");
  w.open("MORELLO_UNUSED MORELLO_BASE static inline int choice() noexcept");
  w.line("#ifdef MORELLO_TESTING");
  w.line("if (forced >= 0) return forced;");
  w.line("#endif");
  const size_t last = k_.variants.size() - 1;
  for (size_t v = 0; v < last; ++v) {
    const Isa& isa = *k_.variants[v].problem.family.isa;
    std::vector<std::string> conditions;
    for (std::string_view feature : isa.cpu_features)
      conditions.push_back(fmt::format("__builtin_cpu_supports(\"{}\")", feature));
    if (!isa.cpu_condition.empty()) conditions.emplace_back(isa.cpu_condition);
    if (!portable(k_.variants[v])) w.code(kX86);
    w.line("if ({}) return {};",
           conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " && ")), v);
    if (!portable(k_.variants[v])) w.line("#endif");
  }
  w.line("return {};", last);
  w.close();
}

// `body(w, variant)` for every variant behind a test of choice(); the last one needs none.
void KernelWriter::each_choice(Writer& w, auto body) {
  const size_t last = k_.variants.size() - 1;
  for (size_t v = 0; v < last; ++v) {
    if (!portable(k_.variants[v])) w.code(kX86);
    w.open("if ({}::choice() == {})", detail(), v);
    body(w, k_.variants[v]);
    w.close();
    if (!portable(k_.variants[v])) w.line("#endif");
  }
  body(w, k_.variants[last]);
}

void KernelWriter::dispatch(Writer& w) {
  const std::string head = "MORELLO_UNUSED MORELLO_BASE " + std::string(compiled_ ? "" : "static ");
  const bool several = k_.variants.size() > 1;
  w.open("{}void {}({}) noexcept", head, k_.name, params(false));
  each_choice(w, [&](Writer& to, const Variant& v) {
    to.line("{}_{}({});", k_.name, isa(v), args());
    if (several && &v != &k_.variants.back()) to.line("return;");
  });
  w.close();
  w.open("{}const char* {}_selected() noexcept", head, k_.name);
  each_choice(w, [&](Writer& to, const Variant& v) { to.line("return \"{}\";", isa(v)); });
  w.close();
  for (const Param& p : k_.spec->params) {
    if (!p.packed) continue;
    const std::string packed = local("packed");
    w.open("{}{}", head, packer_head(p, ""));
    each_choice(w, [&](Writer& to, const Variant& v) {
      to.line("{}_pack_{}_{}({}, {});", k_.name, p.name, isa(v), p.name, packed);
      if (several && &v != &k_.variants.back()) to.line("return;");
    });
    w.close();
  }
}

void KernelWriter::testing(Writer& w) {
  w.line("#ifdef MORELLO_TESTING");
  w.line("// Forces a variant; null or an unknown name: back to what the CPU can do.");
  w.open("MORELLO_UNUSED MORELLO_BASE {}bool {}_select_for_test(const char* isa) noexcept",
         compiled_ ? "" : "static ", k_.name);
  w.line("{}::forced = -1;", detail());
  w.line("if (isa == nullptr) return false;");
  for (size_t v = 0; v < k_.variants.size(); ++v)
    w.line("if (__builtin_strcmp(isa, \"{}\") == 0) {}::forced = {};", isa(k_.variants[v]),
           detail(), v);
  w.line("return {}::forced >= 0;", detail());
  w.close();
  w.line("#endif");
}

std::string KernelWriter::definitions() {
  std::string out;
  Writer space;
  choice(space);
  out +=
      fmt::format("namespace {} {{\n{}}}  // namespace {}\n\n", detail(), space.text(), detail());
  for (size_t v = 0; v < k_.variants.size(); ++v) {
    const bool x86 = !portable(k_.variants[v]);
    if (x86) out += kX86;
    Writer w;
    if (const size_t code = shared(v); code == v) {
      out += fmt::format("#define MORELLO_TARGET MORELLO_{}{}\n", isa(k_.variants[v]),
                         b_.nests[v].strides.empty() ? "" : " MORELLO_STRIDED");
      out += fmt::format("namespace {} {{\n", detail());
      variant_namespace(out, v);
      out += fmt::format("}}  // namespace {}\n\n", detail());
      variant_functions(w, v);
      w.line("#undef MORELLO_TARGET");
    } else {
      forwarding_functions(w, k_.variants[v], k_.variants[code]);
    }
    if (x86) w.line("#endif");
    out += w.text() + "\n";
  }
  Writer w;
  dispatch(w);
  testing(w);
  return out + w.text();
}

class HeaderWriter {
 public:
  HeaderWriter(const std::vector<KernelCode>& kernels, const EmitOptions& options);
  Emitted emit();

 private:
  std::string guard() const;
  std::vector<const Isa*> isas() const;
  std::string macros() const;
  std::string undefine() const;
  bool strided() const;  // some kernel has strides that are known at run time only
  std::string includes() const;
  std::string cpu_texts() const;
  std::string in_space(const std::string& text) const;
  bool needs_x86() const;
  std::string banners() const;

  const EmitOptions& options_;
  std::vector<Built> built_;
};

// `brief`: with short leaves.
std::vector<NestCode> nests(const KernelCode& k, bool brief) {
  std::vector<NestCode> out;
  for (const Variant& v : k.variants)
    out.push_back(v.rows        ? emit_nest(*v.rows, *k.spec, brief)
                  : v.fusion    ? emit_nest(*v.fusion, brief)
                  : v.patchwork ? emit_nest(*v.patchwork, brief)
                                : emit_nest(v.problem, *v.impl, brief));
  return out;
}

// Of equal ones the header has one (KernelWriter::shared).
std::ptrdiff_t lines(const std::vector<NestCode>& nests) {
  std::ptrdiff_t sum = 0;
  for (auto n = nests.begin(); n != nests.end(); ++n)
    if (std::find(n + 1, nests.end(), *n) == nests.end())
      sum += std::count(n->functions.begin(), n->functions.end(), '\n');
  return sum;
}

HeaderWriter::HeaderWriter(const std::vector<KernelCode>& kernels, const EmitOptions& options)
    : options_(options) {
  for (const KernelCode& k : kernels) {
    MORELLO_CHECK(!k.variants.empty(), "kernel {} has no variant", k.name);
    Built b{k, nests(k, false)};
    if (lines(b.nests) > options.most_lines) {
      std::vector<NestCode> brief = nests(k, true);
      if (5 * lines(brief) < 4 * lines(b.nests)) b.nests = std::move(brief);
    }
    built_.push_back(std::move(b));
  }
}

std::string HeaderWriter::guard() const {
  std::string out = "MORELLO_GENERATED_";
  for (char c : options_.space + "_" + options_.header_name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (letter || out.back() != '_') out += letter ? upper : '_';
  }
  return out + "_";
}

std::vector<const Isa*> HeaderWriter::isas() const {
  std::vector<const Isa*> out;
  for (const Built& b : built_)
    for (const Variant& v : b.kernel.variants)
      if (std::find(out.begin(), out.end(), v.problem.family.isa) == out.end())
        out.push_back(v.problem.family.isa);
  return out;
}

bool HeaderWriter::needs_x86() const {
  return std::any_of(built_.begin(), built_.end(), [](const Built& b) {
    return !b.kernel.variants.back().problem.family.isa->include.empty();
  });
}

// A header may be included where  #pragma GCC target  is in force, as between Highway's
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE. There GCC 12 takes a declaration and a definition
// with the same attribute for two versions of a function.
constexpr std::string_view kOwnOptions =
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC push_options\n"
    "#pragma GCC reset_options\n"
    "#endif\n";
constexpr std::string_view kOptionsBack =
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC pop_options\n"
    "#endif\n";

std::string HeaderWriter::macros() const {
  std::string out =
      "#if defined(__GNUC__)\n"
      "#define MORELLO_UNUSED __attribute__((unused))\n"
      "// Others may read and write what p points to. GCC 12 forgets what a function reads by way "
      "of\n"
      "// an index that it has made of a pointer: it then ends the life of a caller's array too "
      "soon.\n"
      "#define MORELLO_SHARED(p) __asm__ volatile(\"\" : : \"r\"(p) : \"memory\")\n"
      "#else\n"
      "#define MORELLO_UNUSED\n"
      "#define MORELLO_SHARED(p) static_cast<void>(p)\n"
      "#endif\n";
  out += kX86;
  out += "#define MORELLO_BASE __attribute__((target(\"no-avx\")))\n";
  out += "#else\n#define MORELLO_BASE\n#endif\n";
  for (const Isa* isa : isas())
    out += isa->attribute.empty()
               ? fmt::format("#define MORELLO_{} MORELLO_BASE\n", isa->name)
               : fmt::format("#define MORELLO_{} __attribute__((target(\"{}\")))\n", isa->name,
                             isa->attribute);
  if (strided())
    out +=
        "// GCC 12 makes vectors of rows of three that lie at a distance it does not know, and "
        "then\n"
        "// reads past the last one.\n"
        "#if defined(__GNUC__) && !defined(__clang__)\n"
        "#define MORELLO_STRIDED __attribute__((optimize(\"no-tree-loop-vectorize\")))\n"
        "#else\n#define MORELLO_STRIDED\n#endif\n";
  return out + "\n";
}

bool HeaderWriter::strided() const {
  return std::any_of(built_.begin(), built_.end(), [](const Built& b) {
    return std::any_of(b.nests.begin(), b.nests.end(),
                       [](const NestCode& n) { return !n.strides.empty(); });
  });
}

std::string HeaderWriter::undefine() const {
  std::string out = "#undef MORELLO_UNUSED\n#undef MORELLO_SHARED\n#undef MORELLO_BASE\n";
  if (strided()) out += "#undef MORELLO_STRIDED\n";
  for (const Isa* isa : isas()) out += fmt::format("#undef MORELLO_{}\n", isa->name);
  return out;
}

std::string HeaderWriter::includes() const {
  std::vector<std::string_view> names;
  for (const Isa* isa : isas())
    if (!isa->include.empty() && std::find(names.begin(), names.end(), isa->include) == names.end())
      names.push_back(isa->include);
  const bool asserts = std::any_of(built_.begin(), built_.end(),
                                   [](const Built& b) { return !b.kernel.spec->sizes().empty(); });
  std::string out(asserts ? "#include <cassert>\n" : "");
  if (names.empty()) return out;
  out += kX86;
  for (std::string_view name : names) out += fmt::format("#include {}\n", name);
  if (needs_x86())
    out += fmt::format("#else\n#error \"{} needs an x86-64 CPU, and GCC or Clang\"\n",
                       options_.header_name);
  return out + "#endif\n";
}

// What the choice among several variants calls.
std::string HeaderWriter::cpu_texts() const {
  std::vector<std::string_view> texts;
  for (const Built& b : built_)
    for (const Variant& v : b.kernel.variants)
      if (const std::string_view text = v.problem.family.isa->cpu_text;
          &v != &b.kernel.variants.back() && !text.empty() &&
          std::find(texts.begin(), texts.end(), text) == texts.end())
        texts.push_back(text);
  std::string out;
  for (std::string_view text : texts) out += fmt::format("{}\n", text);
  return out;
}

std::string HeaderWriter::in_space(const std::string& text) const {
  return fmt::format("namespace {0} {{\n\n{1}\n}}  // namespace {0}\n", options_.space, text);
}

// Formatters honour `clang-format off` only where nothing else is in its line; what CMake reads
// (MorelloVendor.cmake) comes third.
constexpr std::string_view kLeftAlone =
    "// clang-format off\n// Generated by Morello. Do not edit.\n";

std::string HeaderWriter::banners() const {
  std::string out(kLeftAlone);
  if (!options_.machine.empty()) out += commented("machine: " + options_.machine, " ");
  for (const Built& b : built_) out += "//\n" + banner(b.kernel);
  return out;
}

Emitted HeaderWriter::emit() {
  const bool compiled = !options_.compiled_macro.empty();
  const bool threaded =
      std::any_of(built_.begin(), built_.end(), [](const Built& b) { return b.threaded(); });
  std::string declared, defined;
  for (const Built& b : built_) {
    KernelWriter kernel(b, compiled);
    declared += info_struct(b, options_.machine) + "\n" + kernel.declarations() + "\n";
    defined += kernel.definitions() + "\n";
  }
  Emitted out;
  out.header = banners() + "// NOLINTBEGIN\n";
  out.header +=
      fmt::format("#ifndef {0}\n#define {0}\n\n#include <cstddef>\n#include <cstdint>\n", guard());
  if (!compiled) out.header += includes();
  out.header += "\n";
  if (threaded) out.header += std::string(kParallelText) + "\n";
  if (compiled) {
    out.header += in_space(declared);
    out.source = std::string(kLeftAlone) + "// NOLINTBEGIN\n";
    out.source += fmt::format("#include \"{}\"\n\n{}\n{}{}{}{}// NOLINTEND\n", options_.header_name,
                              includes(), cpu_texts(), macros(), in_space(defined), undefine());
  } else {
    out.header += kOwnOptions;
    out.header += cpu_texts() + macros() + in_space(declared + defined) + undefine();
    out.header += kOptionsBack;
  }
  out.header += fmt::format("\n#endif  // {}\n// NOLINTEND\n", guard());
  return out;
}

}  // namespace

Emitted emit_header(const std::vector<KernelCode>& kernels, const EmitOptions& options) {
  return HeaderWriter(kernels, options).emit();
}

}  // namespace morello
