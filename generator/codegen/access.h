// Vectors between memory and registers, whole or in part, adjacent or not, by one row of the ISA.
#pragma once

#include "codegen/operand.h"
#include "codegen/writer.h"

namespace morello {

inline constexpr i64 kLine = 64;          // bytes of a cache line everywhere we run
inline constexpr i64 kUnrolledLines = 4;  // most that are asked for without a loop

// What a row has in place of its {count}, if it has one.
std::string count(Writer& w, std::string_view code, i64 n);

// Whether each lies one behind the other.
bool adjacent(const std::vector<Offset>& offsets);

// Collects elements in a local array of `size`, zeros behind them; the array's name.
std::string stage(Writer& w, Names& names, Dtype type, const std::string& pointer,
                  const std::vector<Offset>& offsets, i64 size);

// The same of a few elements of one or two bytes, all `size` of them eight at most: in an integer,
// whose lowest byte is the first in memory of what we run on; its address. An array is stored to
// piece by piece, and a load of all of it waits until those are there. (Zen 4, u8 x i8 25x3 by
// 3x174, AVX-512 VNNI: 1.3 us, and 0.3 so.)
std::string stage_group(Writer& w, Names& names, Dtype type, const std::string& pointer,
                        const std::vector<Offset>& offsets, i64 size);

// Fills `reg`, which is declared, with the elements at these offsets from `pointer`, of which there
// are as many as the row has lanes or fewer; the lanes behind them are 0. `counted`: the variable
// that says how many, or nothing.
void read_vector(Writer& w, Names& names, const Access& a, Dtype type, const std::string& pointer,
                 const std::vector<Offset>& offsets, const std::string& reg,
                 const std::string& counted = "");

// Code of an ISA that brings the line so many bytes behind `pointer` nearer, wherever that is.
std::string ask(std::string_view prefetch, Dtype type, const std::string& pointer, i64 bytes);

// Stores the first lanes of `value` at these offsets.
void write_vector(Writer& w, Names& names, const Access& a, Dtype type, const std::string& pointer,
                  const std::vector<Offset>& offsets, const std::string& value,
                  const std::string& counted = "");

}  // namespace morello
