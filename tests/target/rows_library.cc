#include "rows_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace morello {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

std::string expand(std::string_view code, const Names& names) {
  std::string out(code);
  for (const auto& [from, to] : names)
    for (size_t at = out.find(from); at != out.npos; at = out.find(from, at + to.size()))
      out.replace(at, from.size(), to);
  return out;
}

std::string type_of(const Isa& isa, int lanes, Dtype t) {
  return std::string(lanes > 1 ? isa.register_type(t, lanes) : c_type(t));
}

std::string load(const std::string& type, const std::string& name, const std::string& from) {
  return fmt::format("  {} {};\n  __builtin_memcpy(&{}, {}, sizeof {});\n", type, name, name, from,
                     name);
}
std::string save(const std::string& name, const std::string& to) {
  return fmt::format("  __builtin_memcpy({}, &{}, sizeof {});\n", to, name, name);
}

std::string function(std::string_view row, std::string_view part, const std::string& body) {
  return fmt::format(
      "extern \"C\" MORELLO_TARGET void {}_{}(const void* a, const void* b, void* c);\n"
      "extern \"C\" MORELLO_TARGET void {}_{}(const void* a, const void* b, void* c) {{\n"
      "  (void)a; (void)b; (void)c;\n{}}}\n",
      row, part, row, part, body);
}

// Four registers r0 to r3 from a on.
std::string load_four(const std::string& type) {
  std::string text;
  for (int i = 0; i < 4; ++i)
    text += load(type, fmt::format("r{}", i),
                 fmt::format("static_cast<const char*>(a) + {} * sizeof({})", i, type));
  return text;
}

// code, once: c = code(a, b, c); pair: c = pair(a, b, c), both registers of the one input; finish:
// scalar c = sum of the lanes of a; join: c = join(a, b); ordered: int c, whether four registers
// from a on may be joined so.
std::string kernel(const Isa& isa, const Kernel& k) {
  const std::string out = type_of(isa, k.lanes, k.output);
  const Names names = {{"{a}", "ra"}, {"{b}", "rb"}, {"{c}", "rc"}, {"{s}", "rs"}, {"{t}", "rt"}};
  const auto code = [&](std::string_view t) { return "  " + expand(t, names) + "\n"; };
  std::string inputs = load(type_of(isa, k.lanes, k.input_of(0)), "ra", "a");
  if (meaning(k.implements).inputs() == 2)
    inputs += load(type_of(isa, k.lanes, k.input_of(1)), "rb", "b");
  std::string text =
      function(k.name, "code", inputs + load(out, "rc", "c") + code(k.code) + save("rc", "c"));
  if (!k.once.empty())
    text +=
        function(k.name, "once", inputs + load(out, "rc", "c") + code(k.once) + save("rc", "c"));
  if (!k.pair.empty())
    text += function(k.name, "pair",
                     inputs + load(type_of(isa, k.lanes, k.input), "rb", "b") +
                         load(out, "rc", "c") + code(k.pair) + save("rc", "c"));
  if (!k.finish.empty())
    text += function(k.name, "finish",
                     load(out, "rc", "a") + fmt::format("  {} rs;\n", c_type(k.output)) +
                         code(k.finish) + save("rs", "c"));
  if (k.join.empty()) return text;
  const std::string join = expand(k.join, {{"{a}", "ra"}, {"{b}", "rb"}, {"{c}", "rc"}});
  const std::string ordered =
      expand(k.ordered, {{"{a}", "r0"}, {"{b}", "r1"}, {"{c}", "r2"}, {"{d}", "r3"}});
  return text +
         function(k.name, "join",
                  load(out, "ra", "a") + load(out, "rb", "b") +
                      fmt::format("  {} rc;\n  {}\n", out, join) + save("rc", "c")) +
         function(k.name, "ordered",
                  load_four(out) + fmt::format("  const int is = {} ? 1 : 0;\n", ordered) +
                      save("is", "c"));
}

// code: four elements c, each of what a register of four from a on is together, joined by addition;
// load: four elements c as they come from a; set: the same, one by one.
std::string fold(const Isa& isa, const Fold& f) {
  const std::string type = type_of(isa, f.lanes, f.type), element(c_type(f.type));
  const std::string target = fmt::format("  auto* t = static_cast<{}*>(c);\n", element);
  const auto step = [&](std::string_view shuffle, const std::string& a, const std::string& b) {
    const std::string sum = expand(isa.function(Fn::kAdd, f.type, f.lanes)->code,
                                   {{"{a}", "x"}, {"{b}", "y"}, {"{c}", a}});
    return "  " + expand(shuffle, {{"{x}", "x"}, {"{y}", "y"}, {"{a}", a}, {"{b}", b}}) + "\n  " +
           sum + "\n";
  };
  std::string code = load_four(type) + target + fmt::format("  {} x, y;\n", type);
  code += step(f.singles, "r0", "r1") + step(f.singles, "r2", "r3") + step(f.pairs, "r0", "r2");
  for (const std::string_view half : f.halves) code += "  x = r0;\n" + step(half, "r0", "");
  const auto store = [&](const char* r) {
    return "  " + expand(f.store, {{"{p}", "t + 0"}, {"{r}", r}}) + "\n";
  };
  const std::string from = fmt::format("  const auto* s = static_cast<const {}*>(a);\n", element);
  const auto brought = [&](const char* how, const std::string& by) {
    return function(f.name, how,
                    from + target + fmt::format("  {} x;\n  {}\n", type, by) + store("x"));
  };
  return function(f.name, "code", code + store("r0")) +
         brought("load", expand(f.load, {{"{p}", "s + 0"}, {"{r}", "x"}})) +
         brought("set", expand(f.set, {{"{a}", "s[0]"},
                                       {"{b}", "s[1]"},
                                       {"{c}", "s[2]"},
                                       {"{d}", "s[3]"},
                                       {"{r}", "x"}}));
}

// A load reads memory a and writes its registers to c, r0 then r1; a store reads its register from
// a and writes memory c.
std::string access(const Isa& isa, const Access& a, const std::string& part,
                   std::string_view statements, int n) {
  const std::string type = type_of(isa, a.lanes, a.reg);
  const Names names = {{"{p}", "p + 0"},           {"{r0}", "x0"},   {"{r1}", "x1"}, {"{t}", "xt"},
                       {"{n}", std::to_string(n)}, {"{count}", "xn"}};
  std::string code = "  " + expand(statements, names) + "\n";
  if (statements.find("{count}") != std::string_view::npos)  // of no use to know it
    code = fmt::format("  volatile std::ptrdiff_t xn = {};\n", n) + code;
  if (a.kind == Access::Kind::kStore)
    return function(a.name, part,
                    load(type, "x0", "a") +
                        fmt::format("  {0}* p = static_cast<{0}*>(c);\n", c_type(a.memory)) + code);
  std::string body = fmt::format("  const {0}* p = static_cast<const {0}*>(a);\n  {1} x0;\n",
                                 c_type(a.memory), type);
  if (a.regs == 2) body += "  " + type + " x1;\n";
  body += code + save("x0", "c");
  if (a.regs == 2) body += save("x1", "static_cast<char*>(c) + sizeof x0");
  return function(a.name, part, body);
}

// code, and partialN for some N.
std::string access(const Isa& isa, const Access& a) {
  std::string text = access(isa, a, "code", a.code, 0);
  for (const int n : partial_sizes(a))
    text += access(isa, a, fmt::format("partial{}", n), a.partial, n);
  if (!a.streamed.empty())
    text += access(isa, a, "streamed", fmt::format("{}\n  {}", a.streamed, isa.fence), 0);
  return text;
}

// Rows lie kRowBytes apart in a, columns kRowBytes apart in c, or one after the other.
std::string transpose(const Transpose& t) {
  Names names;
  for (int i = 0; i < t.rows; ++i)
    names.emplace_back(fmt::format("{{s{}}}", i), fmt::format("s + {}", i * kRowBytes));
  for (int i = 0; i < t.columns; ++i)
    names.emplace_back(fmt::format("{{d{}}}", i), fmt::format("d + {}", i * kRowBytes));
  const std::string pointers =
      "  const auto* s = static_cast<const std::uint8_t*>(a);\n"
      "  auto* d = static_cast<std::uint8_t*>(c);\n  ";
  std::string text = function(t.name, "code", pointers + expand(t.code, names) + "\n");
  if (t.partial.empty()) return text;
  names.emplace_back("{n}", "");
  for (int n = 1; n < t.columns; ++n) {
    names.back().second = fmt::format("{}", n);
    text +=
        function(t.name, fmt::format("partial{}", n), pointers + expand(t.partial, names) + "\n");
  }
  return text;
}

// What rows call, each text once: behind those that it calls.
std::string helpers(const Isa& isa) {
  std::set<std::string_view> seen;
  std::string text;
  const auto add = [&](const auto& tables) {
    for (const auto& rows : tables)
      for (const auto& row : rows)
        for (const std::string_view helper : row.helpers)
          if (seen.insert(helper).second) text += helper;
  };
  add(isa.kernels);
  add(isa.functions);
  return text;
}

// c = fn(a[, b[, c]]), for one register.
std::string function(const Isa& isa, const Function& f) {
  const Names names = {{"{a}", "ra"}, {"{b}", "rb"}, {"{c}", "rc"}, {"{d}", "rd"}, {"{t}", "rt"}};
  const std::string out = type_of(isa, f.lanes, f.type);
  const std::string in = type_of(isa, f.lanes, f.fn == Fn::kToFloat ? Dtype::i32 : f.type);
  std::string body = load(in, "ra", "a");
  if (fn_def(f.fn)->arity > 1) body += load(in, "rb", "b");
  if (fn_def(f.fn)->arity > 2) body += load(in, "rd", "c");
  return function(
      f.name, "function",
      body + fmt::format("  {} rc;\n  {}\n", out, expand(f.code, names)) + save("rc", "c"));
}

std::string source(const Isa& isa) {
  std::string text = "#include <cstddef>\n#include <cstdint>\n";
  if (!isa.include.empty()) text += fmt::format("#include {}\n", isa.include);
  text += "#define MORELLO_UNUSED __attribute__((unused))\n#define MORELLO_TARGET";
  if (!isa.attribute.empty())
    text += fmt::format(" __attribute__((target(\"{}\")))", isa.attribute);
  text += fmt::format("\nnamespace rows {{\n{}", isa.prelude);
  if (!isa.prefetch.empty())
    text += function("isa", "prefetch",
                     "  const float* p = static_cast<const float*>(a);\n  " +
                         expand(isa.prefetch, {{"{p}", "p + 16"}}) + "\n");
  if (!isa.prefetch_to_l2.empty())
    text += function("isa", "prefetch_to_l2",
                     "  const float* p = static_cast<const float*>(a);\n  " +
                         expand(isa.prefetch_to_l2, {{"{p}", "p + 16"}}) + "\n");
  text += helpers(isa);
  for (const auto& rows : isa.kernels)
    for (const Kernel& k : rows)
      if (!k.code.empty()) text += kernel(isa, k);
  for (const auto& rows : isa.accesses)
    for (const Access& a : rows) text += access(isa, a);
  for (const auto& rows : isa.transposes)
    for (const Transpose& t : rows) text += transpose(t);
  for (const auto& rows : isa.folds)
    for (const Fold& f : rows) text += fold(isa, f);
  for (const auto& rows : isa.functions)
    for (const Function& f : rows) text += function(isa, f);
  return text + "}  // namespace rows\n";
}

}  // namespace

RowsLibrary::RowsLibrary(const Isa& isa, const std::string& compiler, const std::string& options) {
  static int count = 0;
  const std::string base = fmt::format("{}/rows_{}_{}", MORELLO_TEST_DIRECTORY, isa.name, count++);
  std::ofstream(base + ".cc") << source(isa);
  // Linked with the C library alone: rows call no mathematics.
  const std::string command = fmt::format(
      "'{}' -std=c++17 {} -shared -fPIC -fno-exceptions -nodefaultlibs -Wl,-z,defs -Wall -Wextra "
      "-Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Werror '{}.cc' -lc "
      "-o '{}.so' > '{}.log' 2>&1",
      compiler, options, base, base, base);
  if (std::system(command.c_str()) != 0) {
    std::ostringstream log;
    log << std::ifstream(base + ".log").rdbuf();
    error_ = command + "\n" + log.str();
    return;
  }
  handle_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) error_ = dlerror();
}

RowsLibrary::~RowsLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

RowFunction RowsLibrary::find(std::string_view row, std::string_view part) const {
  void* symbol = dlsym(handle_, fmt::format("{}_{}", row, part).c_str());
  MORELLO_CHECK(symbol != nullptr, "{}_{}", row, part);
  return reinterpret_cast<RowFunction>(symbol);
}

std::vector<int> partial_sizes(const Access& a) {
  if (a.partial.empty()) return {};
  const int all = a.lanes * a.regs * a.group;
  std::vector<int> out = {1, 3, all / 2, all / 2 + 1, all - 1};
  // A count that is a variable may be none or all.
  if (a.partial.find("{count}") != std::string_view::npos) out.insert(out.end(), {0, all});
  return out;
}

std::vector<std::string> test_compilers() {
  std::vector<std::string> list;
  std::istringstream in(MORELLO_TEST_COMPILERS);
  for (std::string one; std::getline(in, one, ':');) list.push_back(one);
  return list;
}

}  // namespace morello
