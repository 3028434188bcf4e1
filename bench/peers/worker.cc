// Times the generated kernels and every peer with one instruction set; bench_peers runs this
// program and reads what it prints (report.h).
#include "bench/peers/comparison.h"
#include "bench/peers/ours.h"
#include "bench/peers/peer.h"
#include "bench/peers/report.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

Contenders peers(const Generated& g, int threads) {
  const Product product{*g.a, *g.b, g.packed, g.out->data(), threads};
  Contenders out;
#define MORELLO_PEER(peer) \
  for (Contender & c : peer(product)) out.push_back(std::move(c));
  MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
  return out;
}

// One kernel beside others: who computes it how, and the limits of the machine.
class Beside {
 public:
  explicit Beside(const Ours& kernel)
      : g_(kernel.make(Comparison::pool_of(kernel.threads))),
        all_({g_.name, g_.spec, g_.operations, g_.bytes, g_.threads}) {
    add(kOurs, g_, g_.threads);
    if (!kernel.beside.empty()) add_known_sizes(kernel.beside);
    for (Contender& c : peers(g_, g_.threads)) all_.add(std::move(c), wanted(g_), g_.threads);
    if (g_.threads > 1) add_one_thread(kernel);
    all_.add_arithmetic(arithmetic(), g_.threads);
    if (g_.threads > 1) all_.add_arithmetic(arithmetic(), 1);
    if (g_.reads_once()) all_.add_read(g_.bytes);
  }
  void measure(const Rounds& how) const { all_.measure(how); }

 private:
  static Wanted wanted(const Generated& g) {
    return {g.out, [g] { return g.error(); }};
  }
  Comparison::Arithmetic arithmetic() const {
    using enum Comparison::Arithmetic;
    if (g_.a->is_float()) return kFloats;
    return g_.spec.find("i7[") != std::string::npos ? kSevenBits : kBytes;
  }
  void add(const char* name, const Generated& g, int threads) {
    all_.add({name, g.isa, g.run}, wanted(g), threads);
  }

  void add_known_sizes(const std::string& name) {
    for (const Ours& other : ours())
      if (other.name == name) add(kKnownSizes, other.make(Comparison::pool_of(1)), 1);
  }

  // Our kernel, and those peers that have used more.
  void add_one_thread(const Ours& kernel) {
    add(kOurs, kernel.make(Comparison::pool_of(1)), 1);
    for (Contender& c : peers(g_, 1))
      if (all_.has(c.name)) all_.add(std::move(c), wanted(g_), 1);
  }

  Generated g_;
  Comparison all_;
};

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  return worker(argc, argv, "bench_peers", ours(),
                [](const Ours& kernel, const Rounds& how) { Beside(kernel).measure(how); });
}
