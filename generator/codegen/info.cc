#include "codegen/info.h"

#include <algorithm>

#include "codegen/workspace.h"
#include "codegen/writer.h"

namespace morello {

i64 Built::workspace_bytes() const {
  i64 most = 0;
  for (const NestCode& nest : nests) most = std::max(most, nest.workspace_bytes);
  return most == 0 ? 0 : round_up_to_line(most) + 64;
}

std::string isa_list(const KernelCode& k) {
  std::string out;
  for (const Variant& v : k.variants)
    out += fmt::format("{}{}", out.empty() ? "" : ",", v.problem.family.isa->name);
  return out;
}

int operand_of(const KernelSpec& spec, int param) {
  const int inputs = spec.computation().inputs();
  for (int i = 0; i < inputs; ++i)
    if (spec.arguments()[i] == param) return i;
  return -1;
}

std::string commented(const std::string& text, const std::string& indent) {
  Writer w;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    w.line("//{}{}", indent, text.substr(at, end - at));
    at = end + 1;
  }
  return w.text();
}

std::string banner(const KernelCode& k) {
  std::string out = fmt::format("// {}\n//   spec: {}\n", k.name, k.spec->str());
  for (const Variant& v : k.variants) {
    const Computation& c = *v.problem.computation;
    const size_t stages = k.spec->stages.size();
    const std::string family =
        stages > 1 ? fmt::format("{} stages", stages) : v.problem.family.str(c);
    out += fmt::format("//   {}: {}, {} cycles by the model\n", v.problem.family.isa->name, family,
                       v.cost_cycles);
    out += commented(v.rows        ? print(*v.rows)
                     : v.fusion    ? print(*v.fusion)
                     : v.patchwork ? print(*v.patchwork, c)
                                   : print(v.problem, *v.impl),
                     "     ");
  }
  return out;
}

// 0: known at run time only.
static std::string shape_of(const std::vector<Size>& shape) {
  std::string out;
  for (const Size& s : shape)
    out += fmt::format("{}{}", out.empty() ? "" : ", ", s.name.empty() ? s.extent : 0);
  return out;
}

static void shape_line(Writer& w, const Param& p) {
  if (p.shape.empty()) return;  // a scalar
  w.line("static constexpr std::int64_t {}_shape[] = {{{}}};", p.name, shape_of(p.shape));
}

static std::uint64_t elements(const std::vector<i64>& shape) {
  std::uint64_t n = 1;
  for (const i64 extent : shape) n *= static_cast<std::uint64_t>(extent);
  return n;
}

static std::uint64_t operations(const Computation& c) {
  std::uint64_t points = 1;
  for (const Dim& d : c.dims) points *= static_cast<std::uint64_t>(d.extent);
  const int each = count_functions(c.body) + (c.reduces() ? 1 : 0);
  return points * static_cast<std::uint64_t>(each) +
         elements(c.output().shape) * static_cast<std::uint64_t>(count_functions(c.finish));
}

// Arithmetic operations, and the bytes that have to move at least.
static void work_lines(Writer& w, const KernelSpec& spec) {
  std::uint64_t flops = 0, moved = 0;
  for (const Stage& s : spec.stages) {
    const Computation& c = s.computation;
    flops += operations(c);
    for (int t = 0, input = 0; t < c.tensors(); ++t) {
      const int tensor = t == c.inputs() ? -1 : s.arguments[input++];
      const auto stage = static_cast<int>(&s - spec.stages.data());
      const bool result = tensor < 0 && std::find(spec.results.begin(), spec.results.end(),
                                                  stage) != spec.results.end();
      if (result || (tensor >= 0 && tensor < static_cast<int>(spec.params.size())))
        moved += elements(c.tensor(t).shape) * static_cast<std::uint64_t>(bytes(c.tensor(t).dtype));
    }
  }
  std::string sizes;
  for (const RunTimeSize& s : spec.sizes())
    sizes += fmt::format("{} {} = {}", sizes.empty() ? "  // for" : ",", s.name, s.nominal());
  w.line("static constexpr std::uint64_t flops = {}u;{}", flops, sizes);
  w.line("static constexpr std::uint64_t bytes = {}u;{}", moved, sizes);
}

static i64 packed_bytes(const Problem& whole, int operand) {
  return whole.root_address(operand).elements * bytes(whole.computation->operands[operand].dtype);
}

// Of a packed parameter in the variant that needs most.
static i64 packed_parameter_bytes(const KernelCode& k, int param) {
  i64 most = 0;
  for (const Variant& v : k.variants) {
    std::vector<const Fusion*> of_stages;
    if (v.rows) of_stages = fusions(*v.rows);
    if (v.fusion) of_stages = {v.fusion.get()};
    if (of_stages.empty())
      most = std::max(most, packed_bytes(v.problem, operand_of(*k.spec, param)));
    for (const Fusion* fusion : of_stages)
      for (const StageProgram& p : fusion->programs) {
        const int operand = fusion->graph->operand_of(p.stage, param);
        if (operand < 0) continue;
        const Computation all = stage_part(*fusion->graph, p.stage, whole(*fusion->graph), {});
        Problem problem = p.problem;
        problem.computation = &all;
        most = std::max(most, packed_bytes(problem, operand));
      }
  }
  return most;
}

static std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string info_struct(const Built& b, const std::string& machine) {
  const KernelCode& k = b.kernel;
  Writer w;
  w.open("struct {}_info", k.name);
  w.line("static constexpr const char* name = \"{}\";", k.name);
  w.line("static constexpr const char* spec = \"{}\";", k.spec->str());
  w.line("static constexpr const char* machine = {};", quoted(machine));
  w.line("static constexpr const char* isas = \"{}\";", isa_list(k));
  w.line("static constexpr std::size_t threads = {};", k.threads);
  w.line("static constexpr std::size_t alignment = 1;  // beyond the elements' own");
  w.line("static constexpr std::size_t workspace_bytes = {};", b.workspace_bytes());
  for (size_t i = 0; i < k.spec->params.size(); ++i) {
    const Param& p = k.spec->params[i];
    shape_line(w, p);
    if (p.packed)
      w.line("static constexpr std::size_t packed_{}_bytes = {};", p.name,
             packed_parameter_bytes(k, static_cast<int>(i)));
  }
  for (size_t i = 0; i < k.spec->results.size(); ++i) shape_line(w, k.spec->result(i));
  for (const RunTimeSize& s : k.spec->sizes()) {
    w.line("static constexpr std::int64_t {}_granule = {};", s.name, s.granule);
    if (s.bound > 0) w.line("static constexpr std::int64_t {}_bound = {};", s.name, s.bound);
  }
  work_lines(w, *k.spec);
  w.line("static constexpr std::uint64_t model_cycles = {}u;", k.variants.front().cost_cycles);
  w.close("};");
  return w.text();
}

}  // namespace morello
