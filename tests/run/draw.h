// Random kernels for whole runs: every operator, type and layout of the language, sizes at which
// loops, tiles and vectors do not divide.
#pragma once

#include "run/compose.h"
#include "target/machine.h"

namespace morello::run {

struct Drawn {
  std::string spec;  // with its name
  int threads = 1;
  std::string isas;  // "avx2,scalar"; any of the table, mostly with the fallback
};

// A kernel named `name` with dimensions from 1 to 130 and at most about a million multiplications.
Drawn draw(Random& random, const std::string& name);

// The same of windows over pictures only, with zeros around most of them.
Drawn draw_convolution(Random& random, const std::string& name);

// The same of operators that are applied one after the other, of up to a few stages. What the
// language does not take is drawn again, and counted.
Drawn draw_composition(Random& random, const std::string& name, std::span<const Step> steps,
                       int& refused);

// Caches of a few hundred to a few thousand bytes and other prices, so that small kernels come out
// tiled, packed and parallel as large ones do on a real machine.
Machine odd_machine(Random& random);

}  // namespace morello::run
