#include "run/build.h"

#include <sys/resource.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace morello::run {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKernelsInHeader = 4;
constexpr std::string_view kSpace = "drawn::kernels";

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// An initializer of a run::Tensor.
std::string tensor_text(const Param& p) {
  const int rank = static_cast<int>(p.shape.size());
  const Layout layout = p.packed ? Layout::row(rank) : p.layout;
  std::vector<std::string> digits;
  for (const Digit& d : layout.digits)
    digits.push_back(fmt::format("{{{}, {}, {}}}", d.axis, d.div, d.mod));
  return fmt::format("{{Type::{}, {}, {}, {{{}}}, {}, {{{}}}}}", name(p.dtype), p.packed, rank,
                     fmt::join(p.shape, ", "), digits.size(), fmt::join(digits, ", "));
}

// An initializer of a run::Variant; `isa` empty: the function that chooses.
std::string variant_text(const KernelCode& k, std::string_view isa, bool workspace) {
  const std::string suffix = isa.empty() ? "" : fmt::format("_{}", isa);
  std::string args, packs;
  for (size_t i = 0; i < k.spec->params.size(); ++i) {
    const Param& p = k.spec->params[i];
    const std::string type = p.packed ? "void" : std::string(c_type(p.dtype));
    args += fmt::format("static_cast<const {}*>(c.inputs[{}]), ", type, i);
    packs += p.packed ? fmt::format(
                            "[](const void* from, void* to) {{ {}::{}_pack_{}{}("
                            "static_cast<const {}*>(from), to); }}, ",
                            kSpace, k.name, p.name, suffix, c_type(p.dtype))
                      : "nullptr, ";
  }
  if (k.spec->params.size() == 1) packs += "nullptr";
  args += fmt::format("static_cast<{}*>(c.output)", c_type(k.spec->result.dtype));
  if (workspace) args += ", c.workspace";
  if (k.threads > 1) args += ", c.pool";
  return fmt::format("{{{}, [](const Call& c) {{ {}::{}{}({}); }}, {{{}}}}}",
                     isa.empty() ? "nullptr" : fmt::format("\"{}\"", isa), kSpace, k.name, suffix,
                     args, packs);
}

// An initializer of a run::Subject.
std::string subject_text(const KernelCode& k, bool workspace) {
  const KernelSpec& s = *k.spec;
  const std::string info = fmt::format("{}::{}_info", kSpace, k.name);
  const i64 axis = s.expr.attributes.empty() ? 0 : s.expr.attributes[0].value;
  std::string params, packed, variants = "\n   " + variant_text(k, "", workspace);
  for (const Param& p : s.params) {
    params += tensor_text(p) + ", ";
    packed += p.packed ? fmt::format("{}::packed_{}_bytes, ", info, p.name) : "0, ";
  }
  if (s.params.size() == 1) {
    params += "{}";
    packed += "0";
  }
  for (const morello::Variant& v : k.variants)
    variants += ",\n   " + variant_text(k, v.problem.family.isa->name, workspace);
  return fmt::format(
      "  {{\"{}\", Op::{}, {}, {}, {{{}, {}}}, {},\n   {{{}}}, {},\n   {{{}}}, "
      "{}::workspace_bytes, {}, {}::{}_selected, {}, {{{}}}}},\n",
      k.name, s.expr.op, axis, s.expr.args.size(), s.expr.args[0], s.expr.args.back(),
      s.params.size(), params, tensor_text(s.result), packed, info, k.threads > 1, kSpace, k.name,
      k.variants.size() + 1, variants);
}

bool takes_workspace(const std::string& header, const std::string& kernel) {
  const size_t info = header.find("struct " + kernel + "_info {");
  const size_t line = header.find("workspace_bytes = ", info);
  MORELLO_CHECK(info != std::string::npos && line != std::string::npos, "{} has no info", kernel);
  return header.compare(line, 20, "workspace_bytes = 0;") != 0;
}

}  // namespace

std::vector<std::string> known_compilers() {
  std::vector<std::string> out;
  for (const char* compiler : {MORELLO_RUN_GCC, MORELLO_RUN_CLANG})
    if (*compiler != '\0') out.emplace_back(compiler);
  return out;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Batch::Batch(std::string directory) : directory_(std::move(directory)) {
  fs::remove_all(directory_);
  fs::create_directories(directory_);
}

std::string Batch::add(const Drawn& drawn, const Machine& machine) {
  Result<KernelSpec> spec = parse_spec(drawn.spec);
  if (!spec) return spec.error().str();
  Kernel& k = kernels_.emplace_back(Kernel{drawn, std::move(*spec), {}, &machine});
  k.code.spec = &k.spec;
  k.code.name = k.spec.name;
  k.code.threads = drawn.threads;
  const double start = thread_seconds();
  std::string problem = search(k);
  k.seconds = thread_seconds() - start;
  if (problem == kTooLong)
    kernels_.pop_back();
  else if (!problem.empty())
    problem += "\n" + describe(k);
  return problem;
}

std::string Batch::search(Kernel& k) {
  std::istringstream names(k.drawn.isas);
  for (std::string isa; std::getline(names, isa, ',');) {
    SearchOptions options;
    options.threads = k.drawn.threads;
    options.max_specs = max_specs_;
    const auto found = optimize(k.spec.computation, *k.machine, *find_isa(isa), options);
    if (const StopReason* why = std::get_if<StopReason>(&found))
      return *why == StopReason::kBudget ? std::string(kTooLong) : "no implementation for " + isa;
    const Optimum& best = std::get<Optimum>(found);
    k.code.variants.push_back({best.problem, best.impl, std::llround(best.cost.as_cycles())});
    const std::string why = verify(best.problem, best.problem.root(), *best.impl);
    if (!why.empty()) return why;
  }
  return "";
}

std::string Batch::describe(const Kernel& k) const {
  std::string out = fmt::format("  {} threads={} isa={} machine={}\n", k.drawn.spec,
                                k.drawn.threads, k.drawn.isas, k.machine->name);
  for (const morello::Variant& v : k.code.variants)
    out += fmt::format("  {}\n{}", v.problem.family.str(k.spec.computation),
                       print(v.problem, *v.impl));
  return out;
}

// Several headers in one namespace, so that names which clash show; the second of them declares
// only, its code is a source of its own.
Batch::Sources Batch::emit() const {
  Sources out;
  for (size_t first = 0; first < kernels_.size(); first += kKernelsInHeader) {
    std::vector<KernelCode> codes;
    for (size_t i = first; i < std::min(first + kKernelsInHeader, kernels_.size()); ++i)
      codes.push_back(kernels_[i].code);
    EmitOptions options;
    options.space = kSpace;
    options.machine = kernels_[first].machine->name;
    options.header_name = fmt::format("part_{}.h", out.headers.size());
    const bool compiled = out.headers.size() == 1;
    if (compiled) options.compiled_macro = "PART_COMPILED";
    const Emitted emitted = emit_header(codes, options);
    write_text(fmt::format("{}/{}", directory_, options.header_name), emitted.header);
    out.headers.push_back(options.header_name);
    if (!compiled) continue;
    out.compiled.push_back(fmt::format("{}/part_{}.cc", directory_, first));
    write_text(out.compiled.back(), emitted.source);
  }
  return out;
}

std::string Batch::check(const Toolchain& toolchain, const std::string& arguments) {
  const Sources sources = emit();
  std::string includes, subjects;
  for (const std::string& h : sources.headers) includes += fmt::format("#include \"{}\"\n", h);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const std::string header =
        read_text(fmt::format("{}/{}", directory_, sources.headers[i / kKernelsInHeader]));
    subjects += subject_text(kernels_[i].code, takes_workspace(header, kernels_[i].code.name));
  }
  const std::string program = fmt::format("{}/program_{}", directory_, programs_++);
  // Each header twice: guards.
  write_text(program + ".cc",
             fmt::format("{0}{0}#include \"run/subject.h\"\n"
                         "using namespace morello::run;\n"
                         "static const Subject kSubjects[] = {{\n{1}}};\n"
                         "int main(int argc, char** argv) {{\n"
                         "  return run_subjects(kSubjects, {2}, argc, argv);\n}}\n",
                         includes, subjects, kernels_.size()));
  const std::string compile = fmt::format(
      "{} -std=c++17 {} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I{} {} {}.cc {} {} "
      "-o {} -pthread > {}.log 2>&1",
      toolchain.compiler, toolchain.flags, directory_, MORELLO_RUN_INCLUDES, program,
      fmt::join(sources.compiled, " "), MORELLO_RUN_LIBRARY, program, program);
  if (std::system(compile.c_str()) != 0) {
    std::string out = compile + "\n" + read_text(program + ".log").substr(0, 4000) + "\n";
    for (const Kernel& k : kernels_) out += describe(k);
    return out;
  }
  const std::string run = fmt::format("{0} {1} > {0}.out 2>&1", program, arguments);
  if (std::system(run.c_str()) == 0) return "";
  const std::string printed = read_text(program + ".out");
  std::string out = fmt::format("{} {}: {}\n{}", toolchain.compiler, toolchain.flags, run, printed);
  for (const Kernel& k : kernels_)
    if (printed.find("FAIL " + k.code.name + "\n") != std::string::npos) out += describe(k);
  return out;
}

}  // namespace morello::run
