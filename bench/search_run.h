// One search in a process of its own, and what it cost there.
#pragma once

#include <string>
#include <vector>

#include "bench/rounds.h"
#include "search/solver.h"
#include "spec/kernel_spec.h"

namespace morello::bench {

struct SearchRun {
  const KernelSpec* spec = nullptr;
  const Machine* machine = nullptr;
  const Isa* isa = nullptr;
  int threads = 1;     // of the kernel
  int jobs = 1;        // of the search
  bool count = false;  // programs, after the clocks have stopped
  std::string tables = {};
};

struct Measured {
  double cpu = 0, wall = 0;  // seconds, of the search alone
  double rss = 0;            // greatest, bytes, of the whole process
  double cycles = 0;
  double log10_programs = 0;
  SearchStats stats;
  std::string nest;  // family and program
};

// Exits with a message if there is no answer.
Measured measure(const SearchRun& run);

inline double median(const std::vector<Measured>& runs, double Measured::*field) {
  std::vector<double> values;
  for (const Measured& m : runs) values.push_back(m.*field);
  return median(std::move(values));
}

}  // namespace morello::bench
