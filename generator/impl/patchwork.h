// Patchwork: a kernel with sizes that are known at run time only, made of programs for fixed ones.
//
// Every dim of such a size is cut into pieces, and a program is there for every combination of
// pieces. The kernel is a nest of loops around them, one per dim, the reductions innermost:
//
//   parallel dim   pieces as large as fit. What is left after the last whole one is done by the
//   least
//                  piece that covers it and ends where the dim ends: it computes a part of the one
//                  before once more, and the same. So no size needs more than one piece besides.
//   reduction      the largest piece that fits what is left, again and again: the first writes, all
//                  others add.
//
// The outermost loop may be divided among threads, each of which gets neighbouring whole pieces;
// the last one, who has what is left too, has the piece that this overlaps. How a size is cut does
// not depend on how many threads there are, so neither does the result.
//
// A search sees the programs only. Operands lie in them at the strides they have in the whole
// (Operand::strides), which are symbols where they are known at run time only (impl/address.h).
#pragma once

#include "impl/impl.h"

namespace morello {

struct PiecedDim {
  int dim = 0;
  std::vector<i64> sizes;  // of its pieces, descending; the last one is the granule

  // Every multiple of the granule up to the largest piece is a piece.
  bool has_every_size() const { return sizes.front() == std::ssize(sizes) * sizes.back(); }
};

struct Piece {
  std::shared_ptr<const Computation> computation;  // with this piece's extents
  Problem problem;                                 // of this computation
  ImplPtr impl;
  i64 cost_cycles = 0;
};

struct Patchwork {
  std::vector<PiecedDim> dims;  // outermost first, reductions last
  bool sums = false;            // some dim is a reduction: programs come in pairs, one that adds
  int threads = 1;              // that the outermost loop is divided among
  i64 threads_from = 0;         // from that size on
  std::vector<Piece> programs;  // by number()

  // Of the program for piece which[i] of dims[i].
  size_t number(const std::vector<int>& which, bool adds) const;
};

// The pieces of one loop: where each begins, and which of the sizes it has. For an extent of one
// granule at least.
struct Cut {
  i64 at = 0;
  int which = 0;
};
std::vector<Cut> cuts(const PiecedDim& dim, i64 extent, bool reduction);

// How sizes are cut, and all programs.
std::string print(const Patchwork& work, const Computation& c);

// Runs the kernel for the sizes that c has, as interpret() runs a program: on dense row-major
// values. c's strides are those that are assumed.
std::vector<double> interpret(const Patchwork& work, const Computation& c,
                              const std::vector<std::vector<double>>& inputs);

// Why these are no pieces of c, or some program is none of its piece; empty when all is well.
std::string verify(const Patchwork& work, const Computation& c);

}  // namespace morello
