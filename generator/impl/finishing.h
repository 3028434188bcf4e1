// Finishing: how what was combined becomes what is stored. The rows that evaluate an Expression on
// vectors of the output: in a leaf, on its accumulators or on what it has loaded; or where a copy
// with sums is written back.
#pragma once

#include "impl/family.h"

namespace morello {

struct Finishing {
  int lanes = 1;
  int lane = -1;                      // dim that they run along; -1 where there is one
  const Access* load = nullptr;       // of a sum, from a copy
  std::vector<const Access*> extras;  // into registers of the type of the result
  const Access* store = nullptr;      // what is stored, in the output's own type
};

// The rows that bring memory of one type into registers of another, or back; vectors where `lanes`
// is more than 1. Null: the ISA has none.
const Access* load_row(const Isa& isa, int lanes, Dtype memory, Dtype reg);
const Access* splat_row(const Isa& isa, int lanes, Dtype memory, Dtype reg);  // one for all lanes
const Access* store_row(const Isa& isa, int lanes, Dtype memory, Dtype reg);

// The row that brings an operand beside a sum into a register of `lanes` along `lane`, or the same
// number into all; of vectors that load copies of one where none spreads it.
const Access* extra_row(const Isa& isa, const Operand& o, int lanes, int lane, Dtype reg);

// Whether the ISA computes every term with so many lanes.
bool computes(const Isa& isa, const Expression& e, int lanes);

// With vectors of `lanes` along `lane`; no store: the ISA lacks a row.
Finishing finishing(const Isa& isa, const Computation& c, int lanes, int lane);
// Of a leaf's accumulators.
Finishing finishing(const Family& f, const Computation& c);
// Of sums in a copy, as they are written back: vectors along the output's adjacent elements where
// the ISA can, whatever the leaf's lanes run along.
Finishing write_back(const Family& f, const Computation& c);

// Whether what is made of sums, in vectors, calls functions of the ISA's.
bool finishes_by_helpers(const Family& f, const Computation& c);

// Vector work of an Expression, and of the operands beside it that it names, for one vector.
Uops work_of(const Isa& isa, const Expression& e, int lanes);
Uops work_of(const Isa& isa, const Expression& e, const Finishing& f);

}  // namespace morello
