// The main program of a comparison: runs a program for each instruction set that this processor
// has, and prints a table of what they print.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/peers/report.h"

namespace CLI {
class App;
}

namespace morello::bench {

struct Program {
  const char* isa;
  const char* path;
  bool can_run;
};

// What the processor can run.
bool runs_avx2();
bool runs_avx2_vnni();
bool runs_avx512();

struct ComparisonKind {
  std::string (*markdown)(const std::vector<Column>&);
  // What this program adds to what was measured.
  std::function<void(Column&)> complete = [](Column&) {};
  // What else the programs are called with.
  std::function<std::string()> arguments = [] { return std::string(); };
};

// The program's exit code: 1 if a kernel of ours was wrong.
int compare(CLI::App& app, int argc, char** argv, const std::vector<Program>& programs,
            const ComparisonKind& kind);

}  // namespace morello::bench
