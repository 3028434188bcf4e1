// One row of a table: several ways to compute the same, and the limits of the machine, to be
// measured in the same rounds (apart.h).
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/generated.h"
#include "bench/limits.h"
#include "bench/peers/contender.h"

namespace CLI {
class App;
}

namespace morello::bench {

// What everybody has to compute, and where it comes out.
struct Wanted {
  std::shared_ptr<Bytes> out;
  std::function<double()> error;  // a share of what is allowed
};

class Comparison {
 public:
  struct Row {
    std::string name, spec;
    double operations = 0, bytes = 0;  // of one call
    int threads = 1;
  };
  explicit Comparison(Row row) : row_(std::move(row)) {}

  // Runs it once, and looks at what came out: that must not be an earlier one's.
  void add(Contender c, const Wanted& wanted, int threads);
  // The arithmetic of these vectors; reading as many bytes.
  enum class Arithmetic { kFloats, kBytes, kSevenBits };
  void add_arithmetic(Arithmetic of, int threads);
  void add_read(double bytes);
  // A number to be printed with the row.
  void add_fact(const std::string& name, double value) { facts_[name] = value; }
  bool has(const std::string& name) const;

  // In the order in which they were added.
  std::vector<Turn> turns(Rounds how) const;
  // Lines for parse() (report.h): the row; what took how long, and the facts.
  void print_row() const;
  void print(const std::vector<Times>& times) const;

  // One pool per number of threads.
  static ThreadPool& pool_of(int threads);

 private:
  struct Entry {
    std::string name, runs;  // of a limit: fma or read
    int threads;
    double error;
    bool limit;
  };

  Row row_;
  Bytes data_;
  std::vector<Entry> entries_;
  std::vector<Task> tasks_;  // of entries_
  std::map<std::string, double> facts_;
};

// What a program for one instruction set is asked to measure.
struct Asked {
  Rounds how;
  std::string only;
};
// Ends the program where the arguments are wrong, or ask for help. `more` adds options.
Asked parse_worker(int argc, char** argv, const std::string& bench,
                   const std::function<void(CLI::App&)>& more = {});

// main() of such a program, which bench_<name> runs: measures those of `kernels` that are wanted.
// 1 where that throws.
template <class Kernel, class Measure>
int worker(int argc, char** argv, const std::string& bench, const std::vector<Kernel>& kernels,
           const Measure& measure) {
  const Asked asked = parse_worker(argc, argv, bench);
  try {
    for (const Kernel& kernel : kernels)
      if (kernel.name.find(asked.only) != std::string::npos) measure(kernel, asked.how);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}

}  // namespace morello::bench
