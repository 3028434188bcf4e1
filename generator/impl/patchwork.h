// Patchwork: a kernel with sizes that are known at run time only, made of programs for fixed ones.
//
// Every dim of such a size is cut into pieces, and a program is there for every combination of
// pieces. The kernel is a nest of loops around them, one per dim, the reductions innermost:
//
//   parallel dim   pieces as large as fit. What is left behind the last whole one is done by one
//                  that ends where the dim ends, which computes a part of the one before once more,
//                  and the same; or by smaller ones, the last of which does, where these cost less
//                  (choose_rests).
//   reduction      the largest piece that fits what is left, again and again: the first writes, all
//                  others add.
//
// The smallest sizes of a dim may be **elastic**: one program is then for every multiple of such a
// size up to the next larger one, and is told how much there is. It does not divide the dim, and
// copies along it nothing but rows, as many as there are (can_copy_elastic).
//
//   reduction      leaves loop as often as they are told. So 300 are not 4 * 64 + 5 * 8 + 4 * 1,
//                  each of which goes over the whole output, but 256 + 44.
//   lanes          of a parallel dim: leaves load and store under masks. So 1 to 15 columns are one
//                  piece.
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
  int elastic = 0;         // from which on they are elastic; 0: none is
  // Of a parallel dim, how much a piece of each size has to be left for; empty: more than the next
  // smaller size.
  std::vector<i64> rests = {};

  bool is_elastic(int which) const { return elastic > 0 && which >= elastic; }
  // What a program for pieces of this size is searched for: as much of the dim as they may have.
  i64 extent(int which) const {
    return sizes[static_cast<size_t>(which) - (is_elastic(which) ? 1 : 0)];
  }
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
  // By number(). One for a piece that is not elastic may be the one for the elastic ones below.
  std::vector<Piece> programs;

  // Of the program for piece which[i] of dims[i], and back.
  size_t number(const std::vector<int>& which, bool adds) const;
  std::vector<int> pieces(size_t number) const;
  bool adds(size_t number) const { return sums && number % 2 == 1; }
  // Of these pieces, the most that they have of every dim of c, and the dims that are elastic in
  // their programs; without pieces, all that are in some.
  std::vector<i64> extents(const Computation& c, const std::vector<int>& which) const;
  std::uint8_t elastic(const std::vector<int>& which) const;
  std::uint8_t elastic() const;
};

// The largest piece has so many granules, or fewer.
inline constexpr i64 kMostGranules = 4096;

// A turn of the loop around programs: choosing one, and the call.
inline constexpr i64 kTurnCycles = 20;

// Sets PiecedDim::rests by what programs cost. (f32, 77 columns in pieces of 64, 8 and 1: 64 + 8 +
// 8 costs less than 64 + 64.)
void choose_rests(Patchwork& work, const Computation& c);
// The same of one dim, a piece of each size taking so long.
void choose_rests(PiecedDim& d, const std::vector<i64>& cycles);

// Why these are no pieces of such a size, or of a dim of c; empty when they are.
std::string sizes_problem(const PiecedDim& d, const RunTimeSize& size);
std::string sizes_problem(const PiecedDim& d, const Computation& c);

// Whether a dim may be elastic in programs of this family, with pieces of any multiple of `size`.
bool can_be_elastic(const Family& f, const Computation& c, int dim, i64 size);

// Whether programs that are elastic along a dim may copy this operand along it: rows of an input,
// which calls say the number of. Neither the order of the copy nor that of the operand divides the
// dim, and it is adjacent in neither.
bool can_copy_elastic(const Problem& p, int operand, int dim);
// The elastic dims of a Part that an operand is indexed by, one bit each.
std::uint8_t elastic_dims(const Problem& p, int operand);

// The pieces of one loop: where each begins, which of the sizes it has, and how much of the dim.
// For an extent of one granule at least.
struct Cut {
  i64 at = 0;
  int which = 0;
  i64 length = 0;
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
