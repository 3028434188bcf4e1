// Times the generated kernels and every peer with one instruction set; bench_peers runs this
// program and reads what it prints (report.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/limits.h"
#include "bench/peers/ours.h"
#include "bench/peers/peer.h"
#include "bench/peers/report.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

constexpr const char* kOurs = "Morello";

// One kernel beside others: who computes it how, and the limits of the machine, all as tasks.
class Comparison {
 public:
  explicit Comparison(const Ours& kernel) : g_(kernel.make(pool_of(kernel.threads))) {
    add({kOurs, g_.isa, g_.run}, g_, g_.threads);
    if (!kernel.beside.empty()) add_known_sizes(kernel.beside);
    for (Contender& c : peers(g_.threads)) add(std::move(c), g_, g_.threads);
    if (g_.threads > 1) add_one_thread(kernel);
    add_limits();
  }

  void measure(Rounds how) {
    // Other programs on the processor cost no time of one thread by its own clock.
    how.cpu_time = g_.threads == 1;
    const std::vector<Times> times = times_of_rounds(tasks_, how);
    fmt::print("work\t{}\t{}\t{}\t{}\t{}\n", g_.name, g_.spec, g_.operations, g_.bytes, g_.threads);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& e = entries_[i];
      fmt::print("time\t{}\t{}\t{}\t{}\t{}\t{}\n", e.name, e.runs, times[i].median, times[i].spread,
                 e.error, e.threads);
    }
    double read = 0;
    for (std::size_t i = entries_.size(); i < tasks_.size(); ++i) {
      const double rate = tasks_[i].amount / times[i].median;
      const std::size_t limit = i - entries_.size();
      if (limit < arithmetic_.size())
        fmt::print("limit\tfma\t{}\t{}\n", rate, arithmetic_[limit]);
      else
        read = std::max(read, rate);
    }
    if (read > 0) fmt::print("limit\tread\t{}\t{}\n", read, g_.threads);
    std::fflush(stdout);
  }

 private:
  struct Entry {
    std::string name, runs;
    int threads;
    double error;  // a share of what is allowed
  };

  static ThreadPool& pool_of(int threads) {
    static std::map<int, ThreadPool> pools;
    return pools.try_emplace(threads, threads).first->second;
  }

  // The limits come behind all of these. A result must not be an earlier one's.
  void add(Contender c, const Generated& g, int threads) {
    std::fill(g.out->data(), g.out->data() + g.out->size(), 0xff);
    c.run();
    entries_.push_back({c.name, c.runs, threads, g.error()});
    tasks_.push_back({c.name, g.operations, std::move(c.run)});
  }

  Contenders peers(int threads) const {
    const Product product{*g_.a, *g_.b, g_.packed, g_.out->data(), threads};
    Contenders out;
#define MORELLO_PEER(peer) \
  for (Contender & c : peer(product)) out.push_back(std::move(c));
    MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
    return out;
  }

  void add_known_sizes(const std::string& name) {
    for (const Ours& other : ours())
      if (other.name == name) {
        const Generated g = other.make(pool_of(1));
        add({kKnownSizes, g.isa, g.run}, g, 1);
      }
  }

  // Our kernel, and those peers that have used more.
  void add_one_thread(const Ours& kernel) {
    const std::size_t before = entries_.size();
    const Generated alone = kernel.make(pool_of(1));
    add({kOurs, alone.isa, alone.run}, alone, 1);
    for (Contender& c : peers(1))
      if (std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(before),
                      [&](const Entry& e) { return e.name == c.name; }))
        add(std::move(c), g_, 1);
  }

  void add_limits() {
    for (const int threads : g_.threads > 1 ? std::vector{g_.threads, 1} : std::vector{1})
      if (std::optional<Task> limit = g_.a->is_float()
                                          ? fma_task(MORELLO_PEERS_BITS, pool_of(threads))
                                          : dot_task(MORELLO_PEERS_BITS, kVnni, pool_of(threads))) {
        arithmetic_.push_back(threads);
        tasks_.push_back(*limit);
      }
    if (!g_.reads_once()) return;
    data_ = Bytes(static_cast<std::size_t>(g_.bytes));
    for (const int streams : {1, 2, 4})
      if (std::optional<Task> read =
              read_task(data_.data(), data_.size(), streams, pool_of(g_.threads)))
        tasks_.push_back(*read);
  }

  Generated g_;
  Bytes data_;
  std::vector<Entry> entries_;
  std::vector<int> arithmetic_;  // threads of these limits
  std::vector<Task> tasks_;      // of entries_, then of arithmetic_, then reads
};

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  Rounds how;
  std::string only;
  CLI::App app("What bench_peers measures with one instruction set");
  app.add_option("--rounds", how.rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", only, "Products whose name contains this");
  CLI11_PARSE(app, argc, argv);
  for (const Ours& kernel : ours())
    if (kernel.name.find(only) != std::string::npos) Comparison(kernel).measure(how);
  return 0;
}
