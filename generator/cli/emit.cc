#include "cli/emit.h"

#include <cmath>

#include "cli/exit.h"
#include "spec/names.h"

namespace morello {

void check_namespace(const std::string& space) {
  for (size_t begin = 0; begin <= space.size();) {
    const size_t end = std::min(space.find("::", begin), space.size());
    const std::string part = space.substr(begin, end - begin);
    const std::string problem = part == "morello" ? "" : name_problem(part);
    if (!problem.empty())
      usage_error(fmt::format("--namespace `{}`: `{}`: {}", space, part, problem));
    begin = end + 2;
  }
}

std::string compiled_macro(const std::string& header_name) {
  std::string macro;
  for (const char c : header_name.substr(0, header_name.find_last_of('.'))) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool plain = lower || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    macro += lower ? static_cast<char>(c - 'a' + 'A') : plain ? c : '_';
  }
  // A macro must not begin with a digit, nor with what C++ reserves.
  if (macro.empty() || macro[0] == '_' || (macro[0] >= '0' && macro[0] <= '9')) macro = "H" + macro;
  return macro + "_COMPILED";
}

Emitted emit(const std::vector<KernelFound>& kernels, const Machine& machine, int threads,
             EmitOptions options) {
  std::vector<KernelCode> codes;
  for (const KernelFound& k : kernels) {
    KernelCode& code = codes.emplace_back();
    code.spec = k.spec;
    code.name = k.spec->name;
    code.threads = threads;
    for (const Found& f : k.variants)
      code.variants.push_back({f.best.problem, f.best.impl, std::llround(f.best.cost.as_cycles()),
                               f.best.patchwork, f.best.fusion, f.best.rows});
  }
  options.machine = fmt::format("{} (fnv1a {})", machine.name, digest(machine.toml()));
  return emit_header(codes, options);
}

}  // namespace morello
