#include "bench/peers/comparison.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace morello::bench {

ThreadPool& Comparison::pool_of(int threads) {
  static std::map<int, ThreadPool> pools;
  return pools.try_emplace(threads, threads).first->second;
}

void Comparison::add(Contender c, const Wanted& wanted, int threads) {
  std::fill(wanted.out->data(), wanted.out->data() + wanted.out->size(), 0xff);
  c.run();
  entries_.push_back({c.name, c.runs, threads, wanted.error(), false});
  tasks_.push_back({c.name, row_.operations, std::move(c.run)});
}

void Comparison::add_arithmetic(Arithmetic of, int threads) {
  const Products products = kVnni                      ? Products::kVnni
                            : of == Arithmetic::kBytes ? Products::kBytes
                                                       : Products::kSevenBits;
  std::optional<Task> limit = of == Arithmetic::kFloats
                                  ? fma_task(MORELLO_PEERS_BITS, pool_of(threads))
                                  : dot_task(MORELLO_PEERS_BITS, products, pool_of(threads));
  if (!limit) return;
  entries_.push_back({"fma", "", threads, 0, true});
  tasks_.push_back(std::move(*limit));
}

void Comparison::add_read(double bytes) {
  data_ = Bytes(static_cast<std::size_t>(bytes));
  for (const int streams : {1, 2, 4})
    if (std::optional<Task> read =
            read_task(data_.data(), data_.size(), streams, pool_of(row_.threads))) {
      entries_.push_back({"read", "", row_.threads, 0, true});
      tasks_.push_back(std::move(*read));
    }
}

bool Comparison::has(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return !e.limit && e.name == name; });
}

std::vector<Turn> Comparison::turns(Rounds how) const {
  // Other programs on the processor cost no time of one thread by its own clock.
  how.cpu_time = row_.threads == 1;
  std::vector<Turn> out;
  for (const Task& task : tasks_) out.push_back(turn_of(task, how));
  return out;
}

void Comparison::print_row() const {
  fmt::print("work\t{}\t{}\t{}\t{}\t{}\n", row_.name, row_.spec, row_.operations, row_.bytes,
             row_.threads);
}

void Comparison::print(const std::vector<Times>& times) const {
  double read = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& e = entries_[i];
    const double rate = tasks_[i].amount / times[i].median;
    if (!e.limit)
      fmt::print("time\t{}\t{}\t{}\t{}\t{}\t{}\n", e.name, e.runs, times[i].median, times[i].spread,
                 e.error, e.threads);
    else if (e.name == "read")
      read = std::max(read, rate);
    else
      fmt::print("limit\t{}\t{}\t{}\n", e.name, rate, e.threads);
  }
  if (read > 0) fmt::print("limit\tread\t{}\t{}\n", read, row_.threads);
  for (const auto& [name, value] : facts_) fmt::print("fact\t{}\t{}\n", name, value);
  std::fflush(stdout);
}

Asked parse_worker(int argc, char** argv, const std::string& bench,
                   const std::function<void(CLI::App&)>& more) {
  Asked asked;
  CLI::App app(fmt::format("What {} measures with one instruction set", bench));
  app.add_option("--rounds", asked.how.rounds, "The median counts")->check(CLI::Range(1, 100000));
  app.add_option("--only", asked.only, "Rows whose name contains this");
  if (more) more(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  return asked;
}

}  // namespace morello::bench
