#include "import/import.h"

#include "import/lower.h"
#include "import/reshapes.h"

namespace morello::hlo {

bool is_file_name(std::string_view file) {
  return file.ends_with(".hlo") || file.ends_with(".mlir") || file.ends_with(".stablehlo");
}

// "a/b/mlp.train.hlo": mlp
static std::string_view stem(std::string_view file) {
  if (const size_t slash = file.find_last_of("/\\"); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  return file.starts_with("<") ? "kernel" : file.substr(0, file.find('.'));
}

static Token name_of(const Module& m, const Function& f, bool is_hlo, std::string_view file) {
  if (!is_hlo && f.name.text != "main") return f.name;
  Token name = m.name;
  if (name.text.starts_with("jit_")) {
    name.text.remove_prefix(4);
    name.offset += 4;
  }
  if (!name.text.empty()) return name;
  return {f.name.kind, stem(file), f.name.offset};
}

Result<std::vector<KernelSpec>> import_kernels(std::string_view text, const std::string& file) {
  const Source source{text, file};
  const bool is_hlo = Scanner(source).is_word("HloModule");
  const Result<std::vector<Module>> modules = is_hlo ? parse_hlo(source) : parse_stablehlo(source);
  if (!modules) return modules.error();
  std::vector<KernelSpec> kernels;
  for (const Module& m : *modules)
    for (const Function& f : m.functions) {
      if (!f.is_public) continue;
      const Result<Function> whole = inlined(m, f, source);
      if (!whole) return whole.error();
      if (Diagnostic error; !check_shapes(*whole, source, error)) return error;
      const Result<Function> plain = without_reshapes(*whole, source);
      if (!plain) return plain.error();
      const Token name = name_of(m, f, is_hlo, file);
      Result<KernelSpec> kernel = Lowering(*plain, source).run(name);
      if (!kernel) return kernel.error();
      for (const KernelSpec& other : kernels)
        if (other.name == kernel->name)
          return source.error(name, fmt::format("kernel `{}` exists already", other.name));
      kernels.push_back(std::move(*kernel));
    }
  return kernels;
}

}  // namespace morello::hlo
