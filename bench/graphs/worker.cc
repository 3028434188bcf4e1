// Times the generated kernels of several stages, the same in several kernels, and every peer with
// one instruction set; bench_graphs runs this program and reads what it prints
// (bench/peers/report.h).
#include <CLI/CLI.hpp>

#include "bench/graphs/graph.h"
#include "bench/graphs/ours.h"
#include "bench/graphs/reference.h"
#include "bench/peers/comparison.h"
#include "bench/peers/report.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

Graph graph_of(const OurGraph& g, ThreadPool& pool) {
  Graph out{.kind = g.name.substr(0, g.name.find('_')),
            .in = {},
            .out = reinterpret_cast<float*>(g.out->data()),
            .pool = &pool};
  for (const auto& operand : g.in) out.in.push_back(operand.get());
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
  if (graph.in.size() > 1)
    all.add_arithmetic(true, g.threads);
  else
    all.add_read(g.bytes());
  all.measure(how);
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  Rounds how;
  std::string only;
  CLI::App app("What bench_graphs measures with one instruction set");
  app.add_option("--rounds", how.rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", only, "Kernels whose name contains this");
  CLI11_PARSE(app, argc, argv);
  for (const OurKernel& kernel : ours())
    if (kernel.name.find(only) != std::string::npos) measure(kernel, how);
  return 0;
}
