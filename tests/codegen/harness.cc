#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "morello/bf16.h"

namespace morello::test {

namespace fs = std::filesystem;
using Values = std::vector<double>;

Kernel::Kernel(std::string_view spec_text, const std::string& name, int threads)
    : spec(test::spec(spec_text)) {
  code.spec = spec.get();
  code.name = name;
  code.threads = threads;
}

void Kernel::add(std::string_view isa, std::string_view family, std::string_view program) {
  Variant v;
  v.problem.computation = &spec->computation();
  v.problem.threads = code.threads;
  for (const Family& f : families(spec->computation(), *find_isa(isa))) {
    if (!f.str(spec->computation()).starts_with(family)) continue;
    v.problem.family = f;
    v.impl = test::program(v.problem, program);
    const std::string why = verify(v.problem, v.problem.root(), *v.impl);
    if (!why.empty()) FAIL(why);
    code.variants.push_back(v);
    return;
  }
  FAIL("no family ", std::string(family), " for ", spec->str());
}

bool runs_here(std::string_view isa) { return find_isa(isa)->runs_here(); }

std::string work_directory(const std::string& name) {
  const fs::path path = fs::path(MORELLO_TEST_DIR) / name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path.string();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string compile(const Compiler& compiler, const std::string& source, const std::string& binary,
                    const std::string& more) {
  const std::string command = fmt::format(
      "{} {} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast "
      "-Werror -DMORELLO_TESTING -I{} {} {} -o {} -pthread > {}.log 2>&1",
      compiler.command, compiler.flags, MORELLO_TEST_SOURCE, more, source, binary, binary);
  if (std::system(command.c_str()) == 0) return "";
  return command + "\n" + read_file(binary + ".log").substr(0, 3000);
}

int count(std::string_view text, std::string_view part) {
  int out = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++out;
  return out;
}

std::string encode(Dtype t, const Values& values) {
  std::string out;
  auto put = [&](auto v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  for (double v : values) {
    switch (t) {
      case Dtype::f32:
        put(static_cast<float>(v));
        break;
      case Dtype::bf16:
        put(bf16_from_float(static_cast<float>(v)));
        break;
      case Dtype::f16:
        put(f16_from_float(static_cast<float>(v)));
        break;
      case Dtype::i32:
        put(static_cast<std::int32_t>(v));
        break;
      case Dtype::i16:
        put(static_cast<std::int16_t>(v));
        break;
      case Dtype::u8:
        put(static_cast<std::uint8_t>(v));
        break;
      case Dtype::i8:
      case Dtype::i7:
        put(static_cast<std::int8_t>(v));
        break;
    }
  }
  return out;
}

// Row-major values scattered to where the operand's layout puts them.
static std::string bytes_of(const Param& p, const Values& values) {
  const Layout layout = p.packed ? Layout::row(static_cast<int>(p.shape.size())) : p.layout;
  const std::vector<i64> shape = extents(p.shape);
  Values placed(static_cast<size_t>(layout.elements(shape)), 0.0);
  std::vector<i64> index(p.shape.size(), 0);
  for (double v : values) {
    placed[static_cast<size_t>(layout.offset(index, shape))] = v;
    for (size_t a = index.size(); a-- > 0;) {
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
  return encode(p.dtype, placed);
}

// A parameter's values come from the first operand it is; of several stages they are given as such.
static const Values& values_of(const KernelSpec& spec, int param,
                               const std::vector<Values>& inputs) {
  if (spec.stages.size() > 1) return inputs[static_cast<size_t>(param)];
  const auto& args = spec.arguments();
  return inputs[static_cast<size_t>(std::find(args.begin(), args.end(), param) - args.begin())];
}

// What `<name>_info` says of a number; the drivers' calls depend on it.
static i64 info_value(const std::string& header, const std::string& kernel,
                      const std::string& field) {
  const size_t info = header.find("struct " + kernel + "_info {");
  const std::string key = " " + field + " = ";
  return std::stoll(header.substr(header.find(key, info) + key.size()));
}

// Statements that load the inputs and pack those that are packed; the call's arguments but for the
// results.
struct Loaded {
  std::string load, pack, args;
};
static Loaded loaded(const Kernel& k, size_t number) {
  Loaded out;
  for (size_t i = 0; i < k.spec->params.size(); ++i) {
    const Param& p = k.spec->params[i];
    const i64 size = (p.packed ? Layout::row(static_cast<int>(p.shape.size())) : p.layout)
                         .elements(extents(p.shape)) *
                     bytes(p.dtype);
    out.load += fmt::format("Guarded x{0}({1}, at_end);\nx{0}.load(dir + \"/{2}_{0}.bin\");\n", i,
                            size, number);
    if (p.packed) {
      out.load += fmt::format("Guarded q{}(kernels::{}_info::packed_{}_bytes, at_end);\n", i,
                              k.code.name, p.name);
      out.pack += fmt::format("kernels::{}_pack_{}(x{}.as<const {}>(), q{}.as<void>());\n",
                              k.code.name, p.name, i, c_type(p.dtype), i);
      out.args += fmt::format("q{}.as<const void>(), ", i);
    } else {
      out.args += fmt::format("x{}.as<const {}>(), ", i, c_type(p.dtype));
    }
  }
  return out;
}

static i64 bytes_of_result(const Param& r) {
  return r.layout.elements(extents(r.shape)) * bytes(r.dtype);
}

// A statement for each result, of its number, its size and its type.
static std::string each_result(const KernelSpec& spec, auto text) {
  std::string out;
  for (size_t i = 0; i < spec.results.size(); ++i)
    out += text(i, bytes_of_result(spec.result(i)), c_type(spec.result(i).dtype));
  return out;
}
static std::string buffers(const KernelSpec& spec, char letter) {
  return each_result(spec, [&](size_t i, i64 size, auto) {
    return fmt::format("Guarded {}{}({}, at_end);\n", letter, i, size);
  });
}
static std::string results(const KernelSpec& spec, char letter) {
  return each_result(spec, [&](size_t i, i64, auto type) {
    return fmt::format("{}{}{}.as<{}>()", i == 0 ? "" : ", ", letter, i, type);
  });
}

static std::string driver_of(const Kernel& k, size_t number, const std::string& header) {
  const KernelSpec& spec = *k.spec;
  const std::string& name = k.code.name;
  const Loaded l = loaded(k, number);
  const std::string work =
      info_value(header, name, "workspace_bytes") > 0 ? ", work.as<void>()" : "";
  std::string out =
      fmt::format("{{\n{}Guarded work(kernels::{}_info::workspace_bytes, at_end);\n", l.load, name);
  for (const Variant& v : k.code.variants) {
    const std::string_view isa = v.problem.family.isa->name;
    if (!runs_here(isa)) continue;
    out += fmt::format(
        "{{\n"
        "kernels::{1}_select_for_test(\"{0}\");\n"
        "if (std::strcmp(kernels::{1}_selected(), \"{0}\") != 0) return 4;\n"
        "{2}{3}kernels::{1}({4}{5}{6});\nwork.check(\"{1}: workspace\");\n",
        isa, name, buffers(spec, 'y'), l.pack, l.args, results(spec, 'y'), work);
    out += each_result(spec, [&](size_t i, i64, auto) {
      return fmt::format(
          "y{0}.check(\"{1}\");\n"
          "y{0}.save(dir + \"/{2}_{0}_{3}\" + (at_end ? \"_end\" : \"_begin\"));\n",
          i, name, number, isa);
    });
    if (k.code.threads > 1) {
      out += fmt::format(
          "{}int context = 0;\nconst ::morello::Parallel pool = {{run_on_threads, &context}};\n"
          "kernels::{}({}{}{}, pool);\n",
          buffers(spec, 'z'), name, l.args, results(spec, 'z'), work);
      out += each_result(spec, [&](size_t i, i64 size, auto) {
        return fmt::format(
            "z{0}.check(\"{1}\");\n"
            "if (std::memcmp(y{0}.as<void>(), z{0}.as<void>(), {2}) != 0) return 5;\n",
            i, name, size);
      });
    }
    out += "}\n";
  }
  return out + "}\n";
}

static std::string driver(const std::vector<std::unique_ptr<Kernel>>& kernels,
                          const std::string& header) {
  std::string out =
      "#include \"kernels.h\"\n#include \"codegen/driver.h\"\n"
      "int main(int argc, char** argv) {\nif (argc != 2) return 2;\n"
      "const std::string dir = argv[1];\nfor (const bool at_end : {false, true}) {\n";
  for (size_t i = 0; i < kernels.size(); ++i) out += driver_of(*kernels[i], i, header);
  return out + "}\nreturn 0;\n}\n";
}

// The first element that differs from `expected`, both as values of the result's type.
static std::string difference(const Param& result, const std::string& raw, const Values& expected) {
  const std::string want = bytes_of(result, expected);
  if (raw.size() != want.size()) return "the output has another size";
  const int size = bytes(result.dtype);
  // Padding of a blocked layout may hold anything.
  const std::string real = bytes_of(result, Values(expected.size(), 1.0));
  const std::string zero(static_cast<size_t>(size), '\0');
  for (size_t at = 0; at < want.size(); at += static_cast<size_t>(size)) {
    const size_t n = static_cast<size_t>(size);
    if (real.compare(at, n, zero) == 0 || raw.compare(at, n, want, at, n) == 0) continue;
    return fmt::format("element {} of {} differs", at / n, want.size() / n);
  }
  return "";
}

static std::string compare(const Kernel& k, size_t number, size_t result, const std::string& dir,
                           const Values& expected) {
  for (const Variant& v : k.code.variants) {
    const std::string_view isa = v.problem.family.isa->name;
    if (!runs_here(isa)) continue;
    for (const char* place : {"begin", "end"}) {
      const std::string raw =
          read_file(fmt::format("{}/{}_{}_{}_{}", dir, number, result, isa, place));
      const std::string why = difference(k.spec->result(result), raw, expected);
      if (!why.empty())
        return fmt::format("{}\n{}: {} of {} ({})\n{}", k.spec->str(), isa, why,
                           k.spec->result(result).name, place,
                           v.fusion ? print(*v.fusion)
                                    : v.problem.family.str(k.spec->computation()) + "\n" +
                                          print(v.problem, *v.impl));
    }
  }
  return "";
}

std::string compile_and_run(const std::vector<std::unique_ptr<Kernel>>& kernels,
                            const Compiler& compiler, const std::string& name,
                            const std::vector<std::vector<Values>>* given) {
  const std::string dir = work_directory(name);
  std::vector<KernelCode> codes;
  for (const auto& k : kernels) codes.push_back(k->code);
  EmitOptions options;
  options.space = "kernels";
  options.machine = "test";
  options.header_name = "kernels.h";
  const Emitted emitted = emit_header(codes, options);
  write_file(dir + "/kernels.h", emitted.header);
  write_file(dir + "/driver.cc", driver(kernels, emitted.header));
  std::vector<std::vector<Values>> inputs;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Kernel& k = *kernels[i];
    Random random(i + 1);
    inputs.push_back(given ? (*given)[i] : random_inputs(k.spec->computation(), random));
    // A parameter that is used twice is one tensor.
    for (size_t o = 0; o < inputs[i].size() && k.spec->stages.size() == 1; ++o)
      inputs[i][o] = values_of(*k.spec, k.spec->arguments()[o], inputs[i]);
    for (size_t p = 0; p < k.spec->params.size(); ++p)
      write_file(fmt::format("{}/{}_{}.bin", dir, i, p),
                 bytes_of(k.spec->params[p], values_of(*k.spec, static_cast<int>(p), inputs[i])));
  }
  const std::string error = compile(compiler, dir + "/driver.cc", dir + "/driver");
  if (!error.empty()) return error;
  const int status = std::system(fmt::format("{0}/driver {0} > {0}/run.log 2>&1", dir).c_str());
  if (status != 0)
    return fmt::format("status {} in {}\n{}", status, dir, read_file(dir + "/run.log"));
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelSpec& spec = *kernels[i]->spec;
    const Values expected = spec.stages.size() == 1 ? evaluate(spec.computation(), inputs[i])
                                                    : evaluate(graph_of(spec), inputs[i]);
    auto next = expected.begin();
    for (size_t r = 0; r < spec.results.size(); ++r) {
      const auto begin = next;
      next += count_elements(extents(spec.result(r).shape));
      if (std::string why = compare(*kernels[i], i, r, dir, {begin, next}); !why.empty())
        return why;
    }
  }
  return "";
}

}  // namespace morello::test
