// Times the generated kernels and every peer with one instruction set; bench_peers runs this
// program and reads what it prints (report.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/limits.h"
#include "bench/peers/ours.h"
#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

Contenders contenders(const Generated& g) {
  const Product product{*g.a, *g.b, g.packed, g.out->data()};
  Contenders out = {{"Morello", g.isa, g.run}};
#define MORELLO_PEER(peer) \
  for (Contender & c : peer(product)) out.push_back(std::move(c));
  MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
  return out;
}

// A share of what is allowed, of a result that is not an earlier one's.
double error_of(const Contender& c, const Generated& g) {
  std::fill(g.out->data(), g.out->data() + g.out->size(), 0xff);
  c.run();
  return g.error();
}

// The contenders and the limits of the machine in the same rounds.
void compare(const Ours& kernel, const Rounds& how) {
  ThreadPool pool(1);
  const Generated g = kernel.make(pool);
  const Contenders all = contenders(g);
  std::vector<double> errors;
  std::vector<Task> tasks;
  for (const Contender& c : all) {
    errors.push_back(error_of(c, g));
    tasks.push_back({c.name, g.operations, c.run});
  }
  if (std::optional<Task> limit = g.a->is_float() ? fma_task(MORELLO_PEERS_BITS, pool)
                                                  : dot_task(MORELLO_PEERS_BITS, kVnni, pool))
    tasks.push_back(*limit);
  const std::size_t reads_from = tasks.size();
  const Bytes data(g.reads_once() ? static_cast<std::size_t>(g.bytes) : 0);
  for (const int streams : {1, 2, 4})
    if (g.reads_once())
      if (std::optional<Task> read = read_task(data.data(), data.size(), streams, pool))
        tasks.push_back(*read);
  const std::vector<Times> times = times_of_rounds(tasks, how);
  fmt::print("work\t{}\t{}\t{}\t{}\n", g.name, g.spec, g.operations, g.bytes);
  for (std::size_t i = 0; i < all.size(); ++i)
    fmt::print("time\t{}\t{}\t{}\t{}\t{}\n", all[i].name, all[i].runs, times[i].median,
               times[i].spread, errors[i]);
  double read = 0;
  for (std::size_t i = all.size(); i < tasks.size(); ++i) {
    const double rate = tasks[i].amount / times[i].median;
    if (i < reads_from) fmt::print("limit\tfma\t{}\n", rate);
    if (i >= reads_from) read = std::max(read, rate);
  }
  if (read > 0) fmt::print("limit\tread\t{}\n", read);
  std::fflush(stdout);
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  // Other programs on the processor cost no time of one thread by its own clock.
  Rounds how{.cpu_time = true};
  std::string only;
  CLI::App app("What bench_peers measures with one instruction set");
  app.add_option("--rounds", how.rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", only, "Products whose name contains this");
  CLI11_PARSE(app, argc, argv);
  for (const Ours& kernel : ours())
    if (kernel.name.find(only) != std::string::npos) compare(kernel, how);
  return 0;
}
