// Compiles the programs of a corpus, checks what they compute and times them against each other.
#pragma once

#include <string>
#include <vector>

#include "bench/model_corpus.h"
#include "bench/rounds.h"

namespace morello::bench {

struct BuildOptions {
  std::string directory;         // sources and libraries go there
  std::string compiler = "c++";  // may be several words: "ccache g++"
  int jobs = 1;
};

// One shared library per few programs; those that are up to date stay. Throws nothing: a compiler
// that fails ends the program.
void build_programs(const Corpus& corpus, const BuildOptions& options);

// Every program against a reference in double precision, on sampled outputs; then all of them in
// the same rounds. A wrong program ends everything.
void measure_programs(Corpus& corpus, const BuildOptions& options, const Rounds& how);

}  // namespace morello::bench
