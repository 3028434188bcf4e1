// Times the generated kernels of several stages, the same in several kernels, and every peer with
// one instruction set; bench_graphs runs this program and reads what it prints
// (bench/peers/report.h).
#include <algorithm>
#include <functional>
#include <numeric>

#include "bench/graphs/graph.h"
#include "bench/graphs/ours.h"
#include "bench/graphs/reference.h"
#include "bench/peers/comparison.h"
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

Contenders peers(const Graph& graph) {
  Contenders out;
#define MORELLO_PEER(peer) \
  for (Contender & c : peer(graph)) out.push_back(std::move(c));
  MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
  return out;
}

// The kernels that do the same one after the other; of an epilogue, what it is added to as well.
void add_steps(const OurGraph& g, const Graph& graph, const Wanted& wanted, Comparison& all) {
  if (g.steps.empty()) return;
  double bytes = 0, cycles = 0;
  for (const Step& s : g.steps) {
    bytes += s.bytes;
    cycles += s.cycles;
  }
  all.add_fact("unfused_bytes", bytes);
  all.add_fact("unfused_cycles", cycles);
  const auto run = [steps = g.steps] {
    for (const Step& s : steps) s.run();
  };
  all.add({kUnfused, g.isa, run}, wanted, g.threads);
  // What it makes is not the result, which stays what it was: the steps have been run.
  if (graph.is("gelu"))
    all.add({kFirstStep, g.isa, g.steps[0].run}, {std::make_shared<Bytes>(0), [] { return 0.0; }},
            g.threads);
}

void measure(const OurKernel& kernel, const Rounds& how) {
  ThreadPool& pool = Comparison::pool_of(kernel.threads);
  const OurGraph g = kernel.make(pool);
  const Graph graph = graph_of(g, pool);
  const Reference reference(graph);
  const Wanted wanted{g.out, [&] { return reference.error(graph.out); }};
  Comparison all({g.name, g.spec, g.operations, g.bytes(), g.threads});
  all.add({kOurs, g.isa, g.all.run}, wanted, g.threads);
  for (Contender& c : peers(graph)) all.add(std::move(c), wanted, g.threads);
  add_steps(g, graph, wanted, all);
  all.add_fact("workspace", g.workspace);
  all.add_fact("bytes", g.all.bytes);
  all.add_fact("cycles", g.all.cycles);
  if (g.operations > kComputes * g.bytes())
    all.add_arithmetic(Comparison::Arithmetic::kFloats, g.threads);
  else
    all.add_read(g.bytes());
  all.measure(how);
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  return worker(argc, argv, "bench_graphs", ours(), measure);
}
