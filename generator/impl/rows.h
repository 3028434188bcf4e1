// AnyRows: a kernel of several stages for a number of rows or positions (spec/rows.h) that is known
// at run time only: a loop over pieces of a few sizes (impl/patchwork.h says how they are cut), and
// a Fusion for each. What a piece needs of one that is not its own, such as weights, is the same
// for all of them, in one order where it is packed ahead of time.
//
// Of a kernel with two such sizes pieces of one are made of pieces of the other (rows_size() says
// which is first).
//
// Where something is summed over the size (spec/positions.h), a piece makes sums, `join` makes
// those so far and those of a piece one, and `rest` makes the results of them: a Fusion, or, where
// that has positions, too, or sums over them, pieces again. Where there is a program for every
// number, a piece is all there is and makes the results.
//
// Text form; what it is a program of is in every Fusion (impl/fusion.h):
//
//   pieces of n: 64 16 1
//   n=64: 812004 cycles
//     with scores f32[8,64]
//       ...
//   n=16: 231870 cycles
//     pieces of m: 8 1                  (or of positions)
//     m=8: 1230 cycles
//       ...
//   join: 310 cycles
//     ...
//   rest: 85 cycles
//     ...
#pragma once

#include <optional>

#include "impl/fusion.h"
#include "impl/patchwork.h"
#include "spec/rows.h"

namespace morello {

struct AnyRows;

// One of the two.
struct RowsPiece {
  std::shared_ptr<const Fusion> fusion = nullptr;
  std::shared_ptr<const AnyRows> rows = nullptr;
  i64 cost_cycles = 0;
};

struct JoinedSums {
  RowsPiece join, rest;
};

struct AnyRows {
  RunTimeSize size;                 // what rows are numbered by
  PiecedDim pieces;                 // of rows, whatever dim they are in a stage; none is elastic
  std::vector<RowsPiece> programs;  // one for every size
  std::optional<JoinedSums> sums = std::nullopt;  // over positions, of which pieces are
  // Pieces may not overlap: they find what is kept where they write (spec/positions.h).
  bool apart = false;
};

// Whether these pieces are all numbers that there are: none is cut.
bool has_every_number(const PiecedDim& pieces, const RunTimeSize& size);

// By what programs cost (choose_rests).
void choose_rests(AnyRows& rows);

// The programs that have the parameters of the kernel as theirs, at the same numbers: all but join.
std::vector<const Fusion*> fusions(const AnyRows& rows);

// In which orders a program finds what is packed ahead of time, by parameters
// (packed_order_text()).
std::map<int, std::string> packed_orders(const Fusion& f);

// What prints parses; verify() says whether it is a program.
std::string print(const AnyRows& rows);
Result<AnyRows> parse_rows(std::string_view text, const KernelSpec& spec, const Machine& machine,
                           const Isa& isa);

// Runs it for so many rows and positions, as interpret() runs a Fusion.
std::vector<double> interpret(const AnyRows& rows, const KernelSpec& spec, const Counts& counts,
                              const std::vector<std::vector<double>>& params);

// Why this is no program for any number of rows; empty when it is.
std::string verify(const AnyRows& rows);

}  // namespace morello
