// Which sizes the pieces of a dim have whose size is known at run time only (impl/patchwork.h).
//
// Programs multiply, so that every size has to earn its place. That is judged by the mean over all
// extents up to twice the largest piece of how much longer one takes than another, where 10 and 20
// count as much as 100 and 200. (f32 matmul with m, k and n at run time: rows in pieces of 256, 64,
// 16, 4 and 1, columns of 256, 16 and any up to 16 by AVX2. With four sizes of rows, of which 16
// follows 256, 128^3 took 1.2 times as long, as rows of the other operand are copied for each
// piece.)
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "impl/patchwork.h"
#include "search/cost.h"

namespace morello {

// What a program costs for so much of a dim, elastic or not; infinite where there is none.
using PieceCost = std::function<Cost(i64 size, bool elastic)>;

// A mean of logarithms, in 1/1024 of that of 2, times the number of extents: what kernels are
// compared by. kNone: there is no kernel.
using Proportion = i64;
inline constexpr Proportion kNone = std::numeric_limits<Proportion>::max();

// What so much of a dim costs in pieces of `largest`, each of which costs that, which is finite.
// What is left behind the last whole one is done by smaller ones, at a little more than its share.
Cost cost_in_pieces(Cost each, i64 extent, i64 largest);
// How large the largest piece is, and what all costs then: of these sizes, ascending, of which
// smaller ones are tried until they cost more, the smallest that costs about the least; none where
// nothing has a program.
std::optional<std::pair<i64, Cost>> largest_size(std::span<const i64> menu,
                                                 const std::function<Cost(i64 size)>& cost);

// Of a parallel dim: at most `most` sizes, from the largest down to the granule, which is elastic
// where that costs less; each saves one part in `earned` of what there was without it.
PiecedDim parallel_pieces(int dim, i64 granule, i64 largest, int most, i64 earned,
                          const PieceCost& cost);

// The same of pieces of a whole kernel, none of which is elastic. What the largest ones leave
// behind is done by one that overlaps them; or, where pieces are summed, by smaller ones alone.
enum class WholePieces { kParallel, kSummed };
PiecedDim fixed_pieces(WholePieces kind, i64 granule, i64 largest, int most, i64 earned,
                       const PieceCost& cost);

// What an elastic program costs for any multiple of a number up to some size.
using MultiplesCost = std::function<Cost(i64 multiple, i64 size)>;

// Of a reduction: the largest piece and the granule, which is elastic; between them a size that
// leaves can sum with lanes along the reduction, where that is much cheaper. No sizes where there
// is no elastic program: of operands in blocks, which are copied.
PiecedDim elastic_pieces(int dim, i64 granule, i64 largest, const MultiplesCost& cost);

// The mean for pieces of a reduction; where `multiple` is 0, cost() is asked for a program for just
// that size. Elastic pieces take as long as there is of them.
Proportion mean_of_sum(const PiecedDim& d, const MultiplesCost& cost);

}  // namespace morello
