// Coordinates: where a Spec lies in the memo. A table belongs to a *signature*, the text of all
// that is constant while one family is searched and that could change an answer: the computation
// without its extents, the family, the machine and the number of threads. Within a signature a Spec
// is a page (attributes that cannot be ordered) and a point in Z>=0^n.
//
//   point      of every dim a, where extent = odd * 2^a; of every operand the level
//   page       odd part of every extent; form of every operand; accumulate, threads;
//              a class for every stride of an operand that is not packed, and whether its rows are
//              whole; of the menu of tiles of every dim, what shows below the extent
//
// Nothing here depends on the shape of the kernel at the root, so a Spec that is met again under
// another kernel, in another build, is the same Spec. What costs observe of an operand's strides is
// only: do its rows touch (then the extents say how far apart they are), how far apart if less than
// a line (the signature has those strides exactly), else the next power of two below, up to a page,
// and in how many places of a page rows begin (`stride_class`).
//
// A Space has a second signature for Specs whose output is a copy of sums: what is made of those
// when the copy is written back, and where that is stored, is above them. So relu(matmul(a, b)) and
// gelu(matmul(a, b)) * c have most of their Specs in common.
//
// Attributes that no later decision can observe are dropped: the strides of an operand in L1, of
// which only a fill of the output still asks; how far apart the blocks of a given layout lie; and
// of a menu all that is not below the extent. Kernels whose menus differ (the greater an extent,
// the coarser is its menu) share what is smaller than the first tile that one of them has and the
// other has not.
//
// Promise: serial Specs (threads == 1) with equal keys, in Spaces with equal signatures, have the
// same candidates: equal decisions, own costs, bytes and weights, and children with equal keys. How
// a Spec is divided among threads depends on the root, so for those it holds below one root only.
// tests/search/coordinates_test.cc follows every candidate of several roots to check it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "impl/spec.h"
#include "search/spatial_map.h"

namespace morello {

// Of a point: exponents of the dims, then levels of the operands.
inline constexpr int kCoordinates = kMaxDims + kMaxOperands;

// Words of a page: attributes, the classes of each operand, the odd parts of two dims each.
inline constexpr int kClassesPage = 1;
inline constexpr int kOddPartsPage = kClassesPage + kMaxOperands;
static_assert(kOddPartsPage + (kMaxDims + 1) / 2 == kPageWords);

struct Key {
  std::array<std::uint64_t, kPageWords> page{};
  std::array<std::uint16_t, kCoordinates> point{};
  bool operator==(const Key&) const = default;
  auto operator<=>(const Key&) const = default;
};

inline constexpr i64 kPage = 4096;
inline constexpr i64 kLeastLine = 16;
// What spread_of() can be: kPage / kLeastLine is 2^8.
inline constexpr int kSpreads = 9;
// How far apart neighbouring rows of an operand are, as far as costs can tell: they touch; less
// than a line (how much less, the signature says); less than a page, kSpreads * log2 of the lines
// more; or farther. To the last two a number of spread_of() is added.
enum StrideClass : int {
  kTouching,
  kBelowLine,
  kBelowPage,
  kPageOrMore = kBelowPage + kSpreads * kSpreads
};
// Rows so far apart begin in kPage / line_bytes / 2^n lines of a page, n from 0 (in any) to
// kSpreads - 1 (all in the same).
int spread_of(i64 bytes, i64 line_bytes);
int stride_class(i64 bytes, i64 line_bytes);

// As many rows, which follow one another in address `row`, as leaves have at most if they ask for
// the pieces of the next ones (Space::to_next_rows()). No more than the quantum: costs ask no more.
i64 rows_in_reach(const Problem& p, int operand, const AddressTerm& row);

// Rows of an operand begin at multiples of so many bytes, a part of a line or all of it.
i64 rows_begin(const std::vector<AddressTerm>& terms, const Computation& c, i64 element_bytes,
               i64 line_bytes);

// The same of vectors along the lane, and of rows joined to it: taps of windows count as rows do.
// The signature has steps below a line and rows_begin(), so that it has this.
i64 vectors_begin(const std::vector<AddressTerm>& terms, const Computation& c, const Family& f,
                  i64 element_bytes, i64 line_bytes);

// Whether leaves read no element of an operand more than once, as far as the root's dims say.
bool read_once(const Problem& p, int operand);

// The input that leaves broadcast in fours where they find it as the user put it (impl/fours.h);
// -1: none.
int fours_of(const Problem& p);

// The rows of an operand, as far as it matters whether who reads one reads on where the row before
// ended. It depends on extents at the root, but not what becomes of it: parts of a row are never
// whole, and parts of whole rows along other dims are.
class WholeRows {
 public:
  WholeRows() = default;
  WholeRows(const std::vector<AddressTerm>& terms, const Computation& c);
  // Whether so much of the operand is whole rows, each of which begins where the last one ends or a
  // little behind.
  bool operator()(const Extents& e) const { return dim_ >= 0 && e[dim_] == extent_; }

 private:
  int dim_ = -1;  // along which elements are neighbours; -1: rows lie apart
  i64 extent_ = 0;
};

// The tiles of a dim: powers of `ratio` from `first` on (0: fixed sizes instead) and, where a
// layout has blocks, from other sizes on. What begins them, of which `least` is the least (0:
// none), the signature says, and so it does of a single one below.
struct Menu {
  i64 first = 0;
  i64 least = 0;
  i64 ratio = 2;
  i64 also = 0;  // one below the least; 0: none
  // What shows of it where only tiles below `extent` count: nothing up to twice the least. 0 is
  // what powers of 2 have, so that where a Spec of such a kernel lies does not depend on it: small
  // kernels would have more pages, with fewer points each.
  std::uint64_t seen(i64 extent) const;
};
using Menus = std::array<Menu, kMaxDims>;

class Coordinates {
 public:
  Coordinates() = default;
  // Not `shorter`: nothing is dropped, for comparison.
  Coordinates(const Problem& problem, const Menus& menus, bool shorter = true);

  // Made anew every time: most Spaces are asked for a bound only. Of the same problem.
  std::string signature(const Problem& problem) const;
  // The same of Specs whose output is a copy that sums are kept in, whatever is made of them when
  // it is written back; empty: there are none, or they belong to the others.
  std::string signature_of_sums(const Problem& problem) const;
  Key key(const Spec& s) const;

 private:
  void add_classes(const Spec& s, int operand, Key& k) const;

  int dims_ = 0, operands_ = 0;
  int line_bytes_ = 64;
  bool shorter_ = true;
  Menus menus_;
  bool blocked_[kMaxOperands] = {};
  int size_[kMaxOperands] = {};
  std::vector<AddressTerm> strides_[kMaxOperands];  // AddressMap::plain_terms()
  WholeRows whole_rows_[kMaxOperands];
};

// The level of the operand that lies farthest away: no move goes beyond it.
Level farthest_of(const Key& key);
// What a key says, for people, extents first and then places: "96 48 512 L2 L1 packed L2 acc".
std::string describe(const Key& key, int dims, int operands);

}  // namespace morello
