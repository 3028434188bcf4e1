#include "bench/sweep/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "bench/peers/report.h"
#include "support/diag.h"

namespace morello::bench {
namespace {

constexpr const char *kSteps = "in steps", *kLoop = "loop";

// What is searched for: the whole, and its steps where they are several. With the operands.
struct Kernel {
  std::string spec;
  std::vector<std::string> uses;
  std::string makes;
};

std::vector<Kernel> kernels_of(const Case& c) {
  std::vector<Kernel> out(1);
  out[0] = {c.spec(), {}, c.result().name};
  for (const Tensor& t : c.operands) out[0].uses.push_back(t.name);
  for (size_t s = 0; s < c.steps.size() && c.steps.size() > 1; ++s) {
    Kernel& k = out.emplace_back();
    k.spec = c.spec(s, k.uses);
    k.makes = c.steps[s].result.name;
  }
  return out;
}

std::string loop_text(const Case& c) {
  std::string out = "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n";
  std::string params, args;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Tensor& t = c.operands[i];
    params += fmt::format("const {}* __restrict {}, ", c_type(t.type), t.name);
    args += fmt::format("static_cast<const {}*>(arg[{}]), ", c_type(t.type), i);
  }
  return out + fmt::format(
                   "static void run({0}{1}* __restrict out) {{\n{2}}}\n"
                   "extern \"C\" void loop(void* const* arg) {{\n  "
                   "run({3}static_cast<{1}*>(arg[{4}]));\n}}\n",
                   params, c_type(c.result().type), c.loop, args, c.operands.size());
}

bool runs(const std::string& command) {
  if (std::system(command.c_str()) == 0) return true;
  fmt::print(stderr, "failed: {}\n", command);
  return false;
}

// A kernel of ours with its operands as it wants them.
class Call {
 public:
  Call(const Kernel& k, const std::string& library, size_t i,
       const std::map<std::string, std::shared_ptr<Bytes>>& tensors, PackedOperands& kept)
      : program_(library, i), work_(program_.workspace_bytes()) {
    for (size_t p = 0; p < k.uses.size(); ++p) {
      const std::shared_ptr<Bytes>& plain = tensors.at(k.uses[p]);
      if (const size_t bytes = program_.packed_bytes(p); bytes > 0) {
        Bytes packed(bytes);
        program_.pack(p, plain->data(), packed.data());
        packed_.push_back(kept.keep(std::move(packed)));
        arguments_.push_back(packed_.back()->data());
      } else {
        arguments_.push_back(plain->data());
      }
    }
    arguments_.push_back(tensors.at(k.makes)->data());
  }
  void run() { program_.call(arguments_.data(), work_.data(), {}); }

 private:
  Program program_;
  Bytes work_;
  std::vector<std::shared_ptr<Bytes>> packed_;
  std::vector<void*> arguments_;
};

}  // namespace

std::string build(const Case& c, const std::string& name, const std::string& isa,
                  const Building& how) {
  const std::string stem = fmt::format("{}/{}_{}", how.directory, name, isa);
  std::string text = "#include \"morello/parallel.h\"\n";
  const std::vector<Kernel> kernels = kernels_of(c);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const std::string header = fmt::format("{}_{}.h", stem, i);
    if (!runs(fmt::format(
            "'{}' generate --quiet --no-memo -j 1 --machine '{}' --isa {} --name kernel "
            "--namespace p{} --header '{}' --spec 'kernel{}'",
            MORELLO_BENCH_GENERATOR, how.machine, isa, i, header, kernels[i].spec)))
      return "";
    const Result<KernelSpec> spec = parse_spec("kernel" + kernels[i].spec, "<drawn>");
    MORELLO_CHECK(spec.ok(), "{}", spec.error().str());
    text += fmt::format("#include \"{}\"\n{}", header, glue(*spec, i, 1));
  }
  std::ofstream(stem + ".cc") << text;
  std::string compile = fmt::format("{} -std=c++17 -O2 -fPIC -I{} -c {}.cc -o {}.o",
                                    MORELLO_BENCH_COMPILER, MORELLO_BENCH_RUNTIME, stem, stem),
              objects = stem + ".o";
  if (!c.loop.empty()) {
    std::ofstream(stem + "_loop.cc") << loop_text(c);
    compile += fmt::format(" && {} -std=c++17 {} -fPIC -c {}_loop.cc -o {}_loop.o",
                           MORELLO_BENCH_COMPILER, MORELLO_BENCH_LOOP_OPTIONS, stem, stem);
    objects += fmt::format(" {}_loop.o", stem);
  }
  if (!runs(fmt::format("{} && {} -shared {} -o {}.so", compile, MORELLO_BENCH_COMPILER, objects,
                        stem)))
    return "";
  return stem + ".so";
}

Contenders loaded(const Case& c, const std::string& library, const std::string& isa) {
  std::map<std::string, std::shared_ptr<Bytes>> tensors;
  for (size_t i = 0; i < c.operands.size(); ++i) tensors[c.operands[i].name] = c.data[i];
  for (const Step& s : c.steps)
    tensors[s.result.name] =
        std::make_shared<Bytes>(static_cast<size_t>(s.result.elements() * bytes(s.result.type)));
  tensors[c.result().name] = c.data.back();
  std::vector<std::shared_ptr<Call>> calls;
  PackedOperands kept;
  const std::vector<Kernel> kernels = kernels_of(c);
  for (size_t i = 0; i < kernels.size(); ++i)
    calls.push_back(std::make_shared<Call>(kernels[i], library, i, tensors, kept));
  Contenders out = {{kOurs, isa, [whole = calls[0]] { whole->run(); }}};
  if (calls.size() > 1)
    out.push_back({kSteps, isa, [steps = std::vector(calls.begin() + 1, calls.end()), tensors] {
                     for (const auto& step : steps) step->run();
                   }});
  if (c.loop.empty()) return out;
  using Loop = void (*)(void* const*);
  void* const all = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto loop = reinterpret_cast<Loop>(dlsym(all, "loop"));
  MORELLO_CHECK(loop, "{}", dlerror());
  std::vector<void*> arguments;
  for (const auto& data : c.data) arguments.push_back(data->data());
  out.push_back({kLoop, "plain, -O3", [loop, arguments] { loop(arguments.data()); }});
  return out;
}

}  // namespace morello::bench
