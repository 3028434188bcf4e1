#include "bench/graphs/ours.h"

#include <cstring>
#include <iterator>
#include <map>
#include <string_view>

#include "bench/packed.h"
#include "bench_graphs.h"  // generated: includes every kernel

namespace morello::bench {
namespace {

using Data = std::shared_ptr<const void>;

// How a parameter lies: by columns where the spec has its last axis, the channels, first.
Order order_of(const std::string& spec, const std::string& name) {
  constexpr std::string_view kChannelsFirst = "] order(0, 3, 1, 2)";
  const std::size_t shape_end = spec.find(']', spec.find(name + ": "));
  return spec.compare(shape_end, kChannelsFirst.size(), kChannelsFirst) == 0 ? Order::columns
                                                                             : Order::rows;
}

// Operands by name, of a kernel and of those that do the same in steps.
class Tensors {
 public:
  explicit Tensors(std::string spec) : spec_(std::move(spec)) {}
  template <std::size_t Axes>
  Data given(const char* name, Operand::Kind kind, const std::int64_t (&shape)[Axes]) {
    if (const auto made = made_.find(name); made != made_.end())
      return Data(made->second, made->second->data());
    const auto operand = parameter(name, kind, shape);
    return Data(operand, operand->data());
  }
  // In the layout that the kernel wants.
  template <class T, std::size_t Axes>
  Data packed(const char* name, Operand::Kind kind, const std::int64_t (&shape)[Axes],
              std::size_t bytes, void (*pack)(const T*, void*) noexcept) {
    const auto operand = parameter(name, kind, shape);
    Bytes packed(bytes);
    pack(static_cast<const T*>(operand->data()), packed.data());
    const std::shared_ptr<Bytes> kept = packed_.keep(std::move(packed));
    return Data(kept, kept->data());
  }
  void make(const char* name, std::shared_ptr<Bytes> result) { made_[name] = std::move(result); }
  const std::vector<std::shared_ptr<Operand>>& parameters() const { return parameters_; }
  const std::vector<std::vector<i64>>& shapes() const { return shapes_; }

 private:
  template <std::size_t Axes>
  std::shared_ptr<Operand> parameter(const char* name, Operand::Kind kind,
                                     const std::int64_t (&shape)[Axes]) {
    std::shared_ptr<Operand>& operand = by_name_[name];
    if (operand) return operand;
    i64 rows = 1;
    for (std::size_t axis = 0; axis + 1 < Axes; ++axis) rows *= shape[axis];
    operand = std::make_shared<Operand>(kind, rows, shape[Axes - 1], order_of(spec_, name),
                                        static_cast<unsigned>(by_name_.size()), Operand::How{});
    shapes_.emplace_back(std::begin(shape), std::end(shape));
    return parameters_.emplace_back(operand);
  }

  std::string spec_;
  std::vector<std::shared_ptr<Operand>> parameters_;  // in the order of the spec
  std::vector<std::vector<i64>> shapes_;
  std::map<std::string, std::shared_ptr<Operand>> by_name_;
  std::map<std::string, std::shared_ptr<Bytes>> made_;
  PackedOperands packed_;
};

template <class Info>
std::shared_ptr<Bytes> result_of() {
  i64 elements = 1;
  for (const i64 extent : Info::out_shape) elements *= extent;
  return std::make_shared<Bytes>(sizeof(float) * static_cast<std::size_t>(elements));
}

template <class Info, class Kernel>
Step step_of(Kernel kernel, const std::vector<Data>& operands, std::shared_ptr<Bytes> out,
             ThreadPool& pool) {
  return {call_of<Info>(kernel, operands, std::move(out), {}, pool),
          static_cast<double>(Info::bytes), static_cast<double>(Info::model_cycles)};
}

// The result of a step has a name, which the next ones use; the last one's is that of the kernel.
template <class Info, class Kernel>
void add_step(Kernel kernel, const std::vector<Data>& operands, const char* result, OurGraph& g,
              Tensors& tensors, ThreadPool& pool) {
  const bool last = std::strcmp(result, "out") == 0;
  const std::shared_ptr<Bytes> to = last ? g.out : result_of<Info>();
  g.steps.push_back(step_of<Info>(kernel, operands, to, pool));
  tensors.make(result, to);
}

template <class Info>
OurGraph describe(const char* isa) {
  return {.name = Info::name,
          .spec = Info::spec,
          .isa = isa,
          .threads = static_cast<int>(Info::threads),
          .operations = static_cast<double>(Info::flops),
          .workspace = static_cast<double>(Info::workspace_bytes),
          .in = {},
          .shapes = {},
          .out = result_of<Info>(),
          .all = {},
          .steps = {}};
}

}  // namespace

double OurGraph::bytes() const {
  double total = static_cast<double>(out->size());
  for (const auto& operand : in)
    total += static_cast<double>(operand->rows() * operand->columns() *
                                 (operand->kind() == Operand::Kind::f32 ? 4 : 2));
  return total;
}

std::vector<OurKernel> ours() {
  std::vector<OurKernel> out;
#define MORELLO_GIVEN(kernel, operand, kind) \
  t.given(#operand, Operand::Kind::kind, kernels::kernel##_info::operand##_shape),
#define MORELLO_PACKED(kernel, operand, kind)                                      \
  t.packed(#operand, Operand::Kind::kind, kernels::kernel##_info::operand##_shape, \
           kernels::kernel##_info::packed_##operand##_bytes, &kernels::kernel##_pack_##operand),
#define MORELLO_STEP(kernel, result, operands) \
  add_step<kernels::kernel##_info>(&kernels::kernel, {operands}, #result, g, t, pool);
#define MORELLO_KERNEL(name, operands, steps)                                                      \
  out.push_back({#name, kernels::name##_info::threads, [](ThreadPool& pool) {                      \
                   OurGraph g = describe<kernels::name##_info>(kernels::name##_selected());        \
                   Tensors t(g.spec);                                                              \
                   g.all = step_of<kernels::name##_info>(&kernels::name, {operands}, g.out, pool); \
                   g.in = t.parameters();                                                          \
                   g.shapes = t.shapes();                                                          \
                   g.shapes.emplace_back(std::begin(kernels::name##_info::out_shape),              \
                                         std::end(kernels::name##_info::out_shape));               \
                   steps return g;                                                                 \
                 }});
  MORELLO_BENCH_GRAPHS(MORELLO_KERNEL, MORELLO_STEP, MORELLO_GIVEN, MORELLO_PACKED)
#undef MORELLO_GIVEN
#undef MORELLO_PACKED
#undef MORELLO_STEP
#undef MORELLO_KERNEL
  return out;
}

}  // namespace morello::bench
