// Times the generated kernels and every peer with one instruction set; bench_peers runs this
// program and reads what it prints (report.h).
#include "bench/peers/apart.h"
#include "bench/peers/ours.h"
#include "bench/peers/peer.h"
#include "bench/peers/report.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

// What everybody computes. With more threads, everybody who can does it by one, too.
struct Setting {
  explicit Setting(const Ours& kernel)
      : kernel(kernel), g(kernel.make(Comparison::pool_of(kernel.threads))) {}
  Comparison::Row row() const { return {g.name, g.spec, g.operations, g.bytes, g.threads}; }
  Product product(int threads) const { return {*g.a, *g.b, g.packed, g.out->data(), threads}; }

  const Ours& kernel;
  Generated g;
};

void add(const char* name, const Generated& g, int threads, Comparison& all) {
  all.add({name, g.isa, g.run}, {g.out, [g] { return g.error(); }}, threads);
}

void add_ours(const Setting& s, Comparison& all) {
  add(kOurs, s.g, s.g.threads, all);
  if (!s.kernel.beside.empty())
    for (const Ours& other : ours())
      if (other.name == s.kernel.beside)
        add(kKnownSizes, other.make(Comparison::pool_of(1)), 1, all);
  if (s.g.threads > 1) add(kOurs, s.kernel.make(Comparison::pool_of(1)), 1, all);
}

using Peer = Contenders (*)(const Product&);

void add_peer(Peer peer, const Setting& s, Comparison& all) {
  const Wanted wanted{s.g.out, [&g = s.g] { return g.error(); }};
  for (Contender& c : peer(s.product(s.g.threads))) all.add(std::move(c), wanted, s.g.threads);
  if (s.g.threads == 1) return;
  for (Contender& c : peer(s.product(1)))
    if (all.has(c.name)) all.add(std::move(c), wanted, 1);
}

void add_limits(const Setting& s, Comparison& all) {
  using enum Comparison::Arithmetic;
  const auto arithmetic = s.g.a->is_float()                           ? kFloats
                          : s.g.spec.find("i7[") != std::string::npos ? kSevenBits
                                                                      : kBytes;
  all.add_arithmetic(arithmetic, s.g.threads);
  if (s.g.threads > 1) all.add_arithmetic(arithmetic, 1);
  if (s.g.reads_once()) all.add_read(s.g.bytes);
}

// One kernel beside others: who computes it how, and the limits of the machine.
void measure(const Ours& kernel, const Rounds& how) {
  std::vector<Party<Setting>> parties = {add_ours};
#define MORELLO_PEER(peer) \
  parties.push_back([](const Setting& s, Comparison& all) { add_peer(peer, s, all); });
  MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
  parties.emplace_back(add_limits);
  measure_parties(
      kernel.threads, [&] { return Setting(kernel); }, parties, how);
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  return worker(argc, argv, "bench_peers", ours(), measure);
}
