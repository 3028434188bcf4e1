#include "run/build.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "codegen/arguments.h"
#include "run/attributes.h"
#include "spec/op.h"
#include "spec/sizes.h"

namespace morello::run {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKernelsInHeader = 4;
// How often a header is compiled before it counts as slow.
constexpr int kCompileTimes = 3;
constexpr const char* kFlags = "-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror";
constexpr std::string_view kSpace = "drawn::kernels";

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A command of the shell: whether it worked, and the CPU seconds of all its processes.
struct Ran {
  bool well;
  double seconds;
};

Ran run_command(const std::string& command) {
  const pid_t child = fork();
  MORELLO_CHECK(child >= 0, "no process for: {}", command);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0)
    MORELLO_CHECK(errno == EINTR, "lost the process of: {}", command);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0,
          seconds(used.ru_utime) + seconds(used.ru_stime)};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// What a kernel is called with beside its tensors, by the names of its arguments.
using Arguments = std::map<std::string, i64>;

// An initializer of a run::Tensor; chooses the strides of one that is strided.
std::string tensor_text(const Param& p, Arguments& arguments, Random& random) {
  const int rank = static_cast<int>(p.shape.size());
  const Layout layout = p.packed ? Layout::row(rank) : p.layout;
  std::vector<i64> shape;
  for (const Size& s : p.shape) shape.push_back(s.name.empty() ? s.extent : arguments.at(s.name));
  std::vector<std::string> digits;
  std::vector<i64> strides(layout.digits.size(), 0);
  i64 stride = 1;
  for (size_t d = strides.size(); d-- > 0;) {
    if (p.strided) {
      if (d + 1 < strides.size()) stride += pick(random, 0, 2) * pick(random, 1, 20);
      strides[d] = stride;
      for (const StrideArgument& a : stride_arguments(p))
        if (a.axis == layout.digits[d].axis) arguments[a.name] = stride;
    }
    stride *= layout.extent(layout.digits[d], shape);
  }
  for (const Digit& d : layout.digits)
    digits.push_back(fmt::format("{{{}, {}, {}}}", d.axis, d.div, d.mod));
  return fmt::format("{{Type::{}, {}, {}, {{{}}}, {}, {{{}}}, {{{}}}}}", name(p.dtype), p.packed,
                     rank, fmt::join(shape, ", "), digits.size(), fmt::join(digits, ", "),
                     fmt::join(strides, ", "));
}

// Sizes to run a kernel with: one granule, an odd number of them, the bound or what is typical,
// more than the largest piece, anything; as large as the reference can do.
std::vector<Arguments> sizes_to_run(const KernelSpec& s, Random& random) {
  constexpr int kCases = 6;
  constexpr i64 kMostWork = 2'000'000;
  if (s.sizes().empty()) return {Arguments()};
  std::vector<Arguments> out(kCases);
  for (int i = 0; i < kCases; ++i) {
    for (const RunTimeSize& size : s.sizes()) {
      const i64 nominal = size.nominal() / size.granule, way = pick(random, i == 0 ? 0 : 1, i);
      i64 granules = way == 0   ? 1
                     : way == 1 ? 3
                     : way == 2 ? nominal
                     : way == 3 ? 2 * nominal + 1
                                : pick(random, 1, 3 * nominal);
      if (size.bound > 0) granules = std::min(granules, size.bound / size.granule);
      out[i][size.name] = granules * size.granule;
    }
    const auto work = [&] {
      double all = 0;
      for (const Stage& stage : s.stages) {
        double points = 1;
        for (const Dim& d : stage.computation.dims)
          points *= static_cast<double>(d.size.empty() ? d.extent : out[i].at(d.size));
        all += points;
      }
      return all;
    };
    for (bool smaller = true; smaller && work() > kMostWork;) {
      smaller = false;
      for (const RunTimeSize& size : s.sizes())
        if (i64& value = out[i][size.name]; value > size.granule) {
          value -= ceil_div(value / size.granule, 4) * size.granule;
          value = std::max(value, size.granule);
          smaller = true;
        }
    }
  }
  return out;
}

// An initializer of a run::Variant; `isa` empty: the function that chooses.
std::string variant_text(const KernelCode& k, std::string_view isa, bool workspace,
                         const Arguments& arguments) {
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
  for (size_t r = 0; r < k.spec->results.size(); ++r)
    args += fmt::format("{}static_cast<{}*>(c.outputs[{}])", r > 0 ? ", " : "",
                        c_type(k.spec->result(r).dtype), r);
  for (const std::string& name : run_time_arguments(*k.spec))
    args += fmt::format(", {}", arguments.at(name));
  if (workspace) args += ", c.workspace";
  if (k.threads > 1) args += ", c.pool";
  return fmt::format("{{{}, [](const Call& c) {{ {}::{}{}({}); }}, {{{}}}}}",
                     isa.empty() ? "nullptr" : fmt::format("\"{}\"", isa), kSpace, k.name, suffix,
                     args, packs);
}

// The result that is called like this.
const Param* result_named(const KernelSpec& s, const std::string& name) {
  for (size_t r = 0; r < s.results.size() && !s.expr; ++r)
    if (s.result(r).name == name) return &s.result(r);
  return nullptr;
}

// Of an operator, as a word's number.
double attributes(const Expr& e) {
  const auto given = [&](std::string_view name, i64 otherwise) {
    for (const Attribute& a : e.attributes)
      if (a.name == name) return a.value;
    return otherwise;
  };
  const auto digits = [](std::initializer_list<i64> all) {
    double value = 0, unit = 1;
    for (const i64 digit : all) {
      value += static_cast<double>(digit) * unit;
      unit *= kAttributeBase;
    }
    return value;
  };
  if (e.op == "pad") return digits({given("axis", 0), given("low", 0), given("high", 0)});
  if (e.op == "conv2d") {
    const i64 stride = given("stride", 1), dilation = given("dilation", 1);
    return digits({given("stride_h", stride), given("stride_w", stride),
                   given("dilation_h", dilation), given("dilation_w", dilation),
                   given("groups", 1)});
  }
  return e.attributes.empty() ? 0 : static_cast<double>(e.attributes[0].value);
}

// The words of a spec's expressions for a run::Subject.
struct Words {
  explicit Words(const KernelSpec& spec) : s(spec) {
    if (s.expr) add(*s.expr);
    for (const Binding& b : s.where) {
      const Param* result = result_named(s, b.name);
      const std::optional<Dtype> stored = result ? result->dtype : b.dtype;
      names += fmt::format("{{{}, {}, Type::{}}}, ", count, stored.has_value(),
                           name(stored.value_or(Dtype::f32)));
      begin[b.name] = count;
      add(b.expr);
    }
  }

  // Where the expression of a result begins.
  int node(const Param& result) const { return s.expr ? 0 : begin.at(result.name); }

  void add(const Expr& e) {
    const int params = static_cast<int>(s.params.size());
    const auto node = [&](std::string_view word, double value) {
      const std::string number = std::isinf(value)
                                     ? value < 0 ? "-__builtin_inf()" : "__builtin_inf()"
                                     : fmt::format("{}", value);
      nodes += fmt::format("{}{{Word::{}, {}}}", count++ == 0 ? "" : ", ", word, number);
    };
    if (e.kind == Expr::Kind::kNumber) return node("number", e.number);
    if (e.kind == Expr::Kind::kParam)
      return e.param < params ? node("param", e.param) : node("name", e.param - params);
    node(e.op, attributes(e));
    for (const Expr& arg : e.args) add(arg);
  }

  const KernelSpec& s;
  int count = 0;
  std::string nodes, names;
  std::map<std::string, int> begin;
};

// How often a parameter is read element by element as the result is written, and how often in
// another way.
struct Uses {
  int beside = 0, other = 0;
};

void count_uses(const KernelSpec& s, const Expr& e, int param, bool beside, Uses& uses) {
  const int params = static_cast<int>(s.params.size());
  if (e.kind == Expr::Kind::kParam && e.param == param) ++(beside ? uses.beside : uses.other);
  if (e.kind == Expr::Kind::kParam && e.param >= params) {
    const Binding& b = s.where[static_cast<size_t>(e.param - params)];
    count_uses(s, b.expr, param, beside && !b.dtype, uses);
  }
  const bool elementwise = e.kind == Expr::Kind::kCall && find_op(e.op)->term;
  for (const Expr& arg : e.args) count_uses(s, arg, param, beside && elementwise, uses);
}

// What the only result is.
const Expr& result_expr(const KernelSpec& s) {
  if (s.expr) return *s.expr;
  return std::find_if(s.where.begin(), s.where.end(),
                      [&](const Binding& b) { return b.name == s.result().name; })
      ->expr;
}

// The parameter whose memory may be that of the only result.
int in_place(const KernelSpec& s) {
  if (!s.sizes().empty() || s.results.size() > 1) return -1;
  for (size_t i = 0; i < s.params.size(); ++i) {
    const Param& p = s.params[i];
    if (p.layout.digits.size() != p.shape.size()) continue;  // blocks have padding
    if (p.packed || p.strided || s.result().strided || p.dtype != s.result().dtype) continue;
    if (p.shape != s.result().shape || p.layout != s.result().layout) continue;
    Uses uses;
    count_uses(s, result_expr(s), static_cast<int>(i), true, uses);
    if (uses.beside > 0 && uses.other == 0) return static_cast<int>(i);
  }
  return -1;
}

// An initializer of a run::Subject.
std::string subject_text(const KernelCode& k, bool workspace, Arguments arguments, Random& random) {
  const KernelSpec& s = *k.spec;
  const std::string info = fmt::format("{}::{}_info", kSpace, k.name);
  const Words words(s);
  std::string params, packed, label = k.name;
  for (const Param& p : s.params) {
    params += tensor_text(p, arguments, random) + ", ";
    packed += p.packed ? fmt::format("{}::packed_{}_bytes, ", info, p.name) : "0, ";
  }
  std::string results;
  for (size_t r = 0; r < s.results.size(); ++r)
    results += fmt::format("{{{}, {}}}, ", tensor_text(s.result(r), arguments, random),
                           words.node(s.result(r)));
  for (const auto& [name, value] : arguments) label += fmt::format(" {}={}", name, value);
  std::string variants = "\n   " + variant_text(k, "", workspace, arguments);
  for (const morello::Variant& v : k.variants)
    variants += ",\n   " + variant_text(k, v.problem.family.isa->name, workspace, arguments);
  return fmt::format(
      "  {{\"{}\", {}, {{{}}}, {}, {{{}}}, {}, {},\n   {{{}}}, {}, {{{}}},\n   {{{}}}, "
      "{}::workspace_bytes, "
      "{}, {}::{}_selected, {}, {{{}}}}},\n",
      label, words.count, words.nodes, s.where.size(), words.names, s.params.size(), in_place(s),
      params, s.results.size(), results, packed, info, k.threads > 1, kSpace, k.name,
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
  std::vector<const Isa*> isas;
  for (std::string name; std::getline(names, name, ',');) isas.push_back(find_isa(name));
  const std::vector<const Isa*> variants = worth_a_variant(isas, k.spec);
  for (const Isa* isa : variants) {
    SearchOptions options;
    options.threads = k.drawn.threads;
    options.programs = programs_of(*isa, variants);
    options.max_specs = max_specs_;
    const auto found = optimize(k.spec, *k.machine, *isa, options);
    if (const StopReason* why = std::get_if<StopReason>(&found))
      return *why == StopReason::kBudget ? std::string(kTooLong)
                                         : fmt::format("no implementation for {}", isa->name);
    const Optimum& best = std::get<Optimum>(found);
    k.code.variants.push_back({best.problem, best.impl, std::llround(best.cost.as_cycles()),
                               best.patchwork, best.fusion, best.rows});
    const std::string why = best.rows     ? verify(*best.rows)
                            : best.fusion ? verify(*best.fusion)
                            : best.patchwork
                                ? verify(*best.patchwork, k.spec.computation())
                                : verify(best.problem, best.problem.root(), *best.impl);
    if (!why.empty()) return why;
  }
  return "";
}

static std::string program(const morello::Variant& v, const KernelSpec& spec) {
  if (v.rows) return print(*v.rows);
  if (v.fusion) return print(*v.fusion);
  if (v.patchwork) return print(*v.patchwork, spec.computation());
  return v.problem.family.str(spec.computation()) + "\n" + print(v.problem, *v.impl);
}

std::string Batch::describe(const Kernel& k) const {
  std::string out = fmt::format("  {} threads={} isa={} machine={}\n", k.drawn.spec,
                                k.drawn.threads, k.drawn.isas, k.machine->name);
  for (const morello::Variant& v : k.code.variants)
    out += fmt::format("  {}:\n{}", v.problem.family.isa->name, program(v, k.spec));
  return out;
}

std::vector<std::string> Batch::programs() const {
  std::vector<std::string> out;
  for (const morello::Variant& v : kernels_.back().code.variants)
    out.push_back(program(v, kernels_.back().spec));
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

std::string Batch::header_alone(const Kernel& k) const {
  EmitOptions options;
  options.space = kSpace;
  options.machine = k.machine->name;
  options.header_name = "alone.h";
  const std::vector<KernelCode> codes = {k.code};
  return emit_header(codes, options).header;
}

// A translation unit of nothing but this header. Its kernel is taken by variables that others might
// see, so that nothing is left out.
std::string Batch::write_alone(const Toolchain& toolchain, const Kernel& k,
                               const std::string& header, const std::string& directory) {
  fs::create_directories(directory);
  const std::string file = directory + "/alone";
  write_text(file + ".h", header);
  std::string source =
      fmt::format("#include \"alone.h\"\nauto run = &{}::{};\n", kSpace, k.code.name);
  for (const Param& p : k.spec.params)
    if (p.packed)
      source += fmt::format("auto pack_{0} = &{1}::{2}_pack_{0};\n", p.name, kSpace, k.code.name);
  write_text(file + ".cc", source);
  return fmt::format("{} {} {} {} -c {}.cc -o {}.o > {}.log 2>&1", toolchain.compiler,
                     toolchain.flags, kFlags, MORELLO_RUN_INCLUDES, file, file, file);
}

Batch::Longest Batch::compile_alone(const Toolchain& toolchain, bool all, double most) const {
  std::vector<std::pair<std::string, const Kernel*>> headers;
  for (const Kernel& k : kernels_) headers.emplace_back(header_alone(k), &k);
  if (!all)
    headers = {*std::max_element(headers.begin(), headers.end(), [](const auto& a, const auto& b) {
      return a.first.size() < b.first.size();
    })};
  Longest longest;
  for (const auto& [header, k] : headers) {
    const Ran ran = run_command(write_alone(toolchain, *k, header, directory_));
    if (!ran.well) {
      longest.problem = read_text(directory_ + "/alone.log").substr(0, 4000) + "\n" + describe(*k);
      return longest;
    }
    if (ran.seconds > most)
      longest.slow.push_back(
          {write_alone(toolchain, *k, header,
                       fmt::format("{}/slow_{}_{}", directory_,
                                   fs::path(toolchain.compiler).filename().string(), k->code.name)),
           k->drawn.spec});
    else if (ran.seconds > longest.seconds)
      std::tie(longest.seconds, longest.spec) = std::tie(ran.seconds, k->drawn.spec);
  }
  return longest;
}

double compile_seconds(const std::string& command) {
  std::vector<double> seconds;
  for (int i = 0; i < kCompileTimes; ++i) {
    const Ran ran = run_command(command);
    MORELLO_CHECK(ran.well, "compiled once, and not again: {}", command);
    seconds.push_back(ran.seconds);
  }
  return *std::min_element(seconds.begin(), seconds.end());
}

// What run_subjects() says of every kernel.
void Batch::count_outputs(const std::string& printed) {
  for (size_t at = 0; (at = printed.find(": ok, ", at)) != std::string::npos; ++at) {
    long long unchecked = 0, all = 0, hard_unchecked = 0, hard = 0;
    double width = 0;
    const int read = std::sscanf(
        printed.c_str() + at,
        ": ok, %lld of %lld outputs unchecked, of hard values %lld of %lld outputs unchecked, "
        "width %lf",
        &unchecked, &all, &hard_unchecked, &hard, &width);
    MORELLO_CHECK(read == 5, "cannot read: {}", printed.substr(at, 80));
    outputs_.all += all;
    outputs_.unchecked += unchecked;
    ++outputs_.kernels;
    outputs_.unknown += 2 * unchecked > all;
    outputs_.hard += hard;
    outputs_.hard_unchecked += hard_unchecked;
    outputs_.widths.push_back(width);
  }
}

std::string Batch::check(const Toolchain& toolchain, const std::string& arguments) {
  const Sources sources = emit();
  std::string includes, subjects;
  int count = 0;
  for (const std::string& h : sources.headers) includes += fmt::format("#include \"{}\"\n", h);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const std::string header =
        read_text(fmt::format("{}/{}", directory_, sources.headers[i / kKernelsInHeader]));
    const KernelCode& code = kernels_[i].code;
    Random random(i + 1);
    for (const Arguments& sizes : sizes_to_run(*code.spec, random)) {
      subjects += subject_text(code, takes_workspace(header, code.name), sizes, random);
      ++count;
    }
  }
  const std::string program = fmt::format("{}/program_{}", directory_, programs_++);
  // Each header twice: guards.
  write_text(program + ".cc",
             fmt::format("{0}{0}#include \"run/subject.h\"\n"
                         "using namespace morello::run;\n"
                         "static const Subject kSubjects[] = {{\n{1}}};\n"
                         "int main(int argc, char** argv) {{\n"
                         "  return run_subjects(kSubjects, {2}, argc, argv);\n}}\n",
                         includes, subjects, count));
  const std::string compile =
      fmt::format("{} {} {} -I{} {} {}.cc {} {} -o {} -pthread > {}.log 2>&1", toolchain.compiler,
                  toolchain.flags, kFlags, directory_, MORELLO_RUN_INCLUDES, program,
                  fmt::join(sources.compiled, " "), MORELLO_RUN_LIBRARY, program, program);
  if (!run_command(compile).well) {
    std::string out = compile + "\n" + read_text(program + ".log").substr(0, 4000) + "\n";
    for (const Kernel& k : kernels_) out += describe(k);
    return out;
  }
  const std::string run = fmt::format("{0} {1} > {0}.out 2>&1", program, arguments);
  const bool well = run_command(run).well;
  const std::string printed = read_text(program + ".out");
  if (well) {
    count_outputs(printed);
    return "";
  }
  std::string out = fmt::format("{} {}: {}\n{}", toolchain.compiler, toolchain.flags, run, printed);
  for (const Kernel& k : kernels_)
    for (const char end : {'\n', ' '})
      if (printed.find("FAIL " + k.code.name + end) != std::string::npos) out += describe(k);
  return out;
}

}  // namespace morello::run
