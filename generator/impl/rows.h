// AnyRows: a kernel of several stages for a number of rows that is known at run time only: a loop
// over pieces of a few sizes (impl/patchwork.h says how rows are cut), and a Fusion for each. What
// a piece needs of one that is not its own, such as weights, is the same for all of them, in one
// order where it is packed ahead of time.
//
// Text form; what it is a program of is in every Fusion (impl/fusion.h):
//
//   pieces of m: 64 16 1
//   m=64: 812004 cycles
//     with gate f32[64,2304]
//       ...
//   m=16: 231870 cycles
//     ...
#pragma once

#include "impl/fusion.h"
#include "impl/patchwork.h"

namespace morello {

struct RowsPiece {
  std::shared_ptr<const Fusion> fusion;
  i64 cost_cycles = 0;
};

struct AnyRows {
  RunTimeSize size;                 // what rows are numbered by
  PiecedDim pieces;                 // of rows, whatever dim they are in a stage; none is elastic
  std::vector<RowsPiece> programs;  // one for every size
};

// By what programs cost (choose_rests).
void choose_rests(AnyRows& rows);

// In which orders a program finds what is packed ahead of time, by parameters
// (packed_order_text()).
std::map<int, std::string> packed_orders(const Fusion& f);

// What prints parses; verify() says whether it is a program.
std::string print(const AnyRows& rows);
Result<AnyRows> parse_rows(std::string_view text, const KernelSpec& spec, const Machine& machine,
                           const Isa& isa);

// Runs it for so many rows, as interpret() runs a Fusion.
std::vector<double> interpret(const AnyRows& rows, const KernelSpec& spec, i64 count,
                              const std::vector<std::vector<double>>& params);

// Why this is no program for any number of rows; empty when it is.
std::string verify(const AnyRows& rows);

}  // namespace morello
