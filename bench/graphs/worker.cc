// Times the generated kernels of several stages, the same in several kernels, and every peer with
// one instruction set; bench_graphs runs this program and reads what it prints
// (bench/peers/report.h).
#include <algorithm>
#include <functional>
#include <numeric>

#include "bench/graphs/graph.h"
#include "bench/graphs/ours.h"
#include "bench/graphs/reference.h"
#include "bench/peers/apart.h"
#include "bench/peers/report.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

// Operations for each byte of operands and result from which on arithmetic is the limit, else
// reading. Between elementwise kernels, depthwise convolutions and one row times a matrix on one
// side, up to 3, and small products on the other, from 10.
constexpr double kComputes = 5;

// The number behind these words in a spec.
i64 number_in(const std::string& spec, const std::string& words, i64 otherwise) {
  const std::size_t at = spec.find(words);
  return at == std::string::npos ? otherwise : std::stoll(spec.substr(at + words.size()));
}

Graph::Convolution convolution_of(const OurGraph& g) {
  Graph::Convolution c;
  std::copy_n(g.shapes.at(0).begin(), 4, c.x.begin());
  std::copy_n(g.shapes.at(1).begin(), 4, c.k.begin());
  std::copy_n(g.shapes.at(2).begin(), 4, c.out.begin());
  c.stride = number_in(g.spec, "stride=", 1);
  c.pad = number_in(g.spec, "low=", 0);
  c.channels_first = g.in[0]->order() == Order::columns;
  return c;
}

Graph graph_of(const OurGraph& g, ThreadPool& pool) {
  const std::vector<i64>& shape = g.shapes.back();
  Graph out{.kind = g.name.substr(0, g.name.find('_')),
            .in = {},
            .out = reinterpret_cast<float*>(g.out->data()),
            .out_rows = std::accumulate(shape.begin(), shape.end() - 1, i64{1}, std::multiplies()),
            .out_columns = shape.back(),
            .conv = {},
            .pool = &pool};
  for (const auto& operand : g.in) out.in.push_back(operand.get());
  if (out.is("conv")) out.conv = convolution_of(g);
  return out;
}

// One kernel, and what everybody begins with who computes the same.
struct Setting {
  explicit Setting(const OurKernel& kernel)
      : g(kernel.make(Comparison::pool_of(kernel.threads))),
        graph(graph_of(g, Comparison::pool_of(kernel.threads))),
        reference(graph) {}
  Comparison::Row row() const { return {g.name, g.spec, g.operations, g.bytes(), g.threads}; }
  Wanted wanted() const {
    return {g.out, [this] { return reference.error(graph.out); }};
  }

  OurGraph g;
  Graph graph;
  Reference reference;
};

void add_ours(const Setting& s, Comparison& all) {
  all.add({kOurs, s.g.isa, s.g.all.run}, s.wanted(), s.g.threads);
  all.add_fact("workspace", s.g.workspace);
  all.add_fact("bytes", s.g.all.bytes);
  all.add_fact("cycles", s.g.all.cycles);
}

// The kernels that do the same one after the other; of an epilogue, what it is added to as well.
void add_steps(const Setting& s, Comparison& all) {
  const OurGraph& g = s.g;
  if (g.steps.empty()) return;
  double bytes = 0, cycles = 0;
  for (const Step& step : g.steps) {
    bytes += step.bytes;
    cycles += step.cycles;
  }
  all.add_fact("unfused_bytes", bytes);
  all.add_fact("unfused_cycles", cycles);
  const auto run = [steps = g.steps] {
    for (const Step& step : steps) step.run();
  };
  all.add({kUnfused, g.isa, run}, s.wanted(), g.threads);
  // What it makes is not the result, which stays what it was: the steps have been run.
  if (s.graph.is("gelu"))
    all.add({kFirstStep, g.isa, g.steps[0].run}, {std::make_shared<Bytes>(0), [] { return 0.0; }},
            g.threads);
}

void add_limits(const Setting& s, Comparison& all) {
  if (s.g.operations > kComputes * s.g.bytes())
    all.add_arithmetic(Comparison::Arithmetic::kFloats, s.g.threads);
  else
    all.add_read(s.g.bytes());
}

void measure(const OurKernel& kernel, const Rounds& how) {
  std::vector<Party<Setting>> parties = {add_ours};
#define MORELLO_PEER(peer)                                                              \
  parties.push_back([](const Setting& s, Comparison& all) {                             \
    for (Contender & c : peer(s.graph)) all.add(std::move(c), s.wanted(), s.g.threads); \
  });
  MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
  parties.emplace_back(add_steps);
  parties.emplace_back(add_limits);
  measure_parties(
      kernel.threads, [&] { return Setting(kernel); }, parties, how);
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  return worker(argc, argv, "bench_graphs", ours(), measure);
}
