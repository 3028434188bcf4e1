// Isa: an instruction set as data, and the rows of leaf code that need it.
//
// A leaf of a program computes a small register tile with one Kernel (arithmetic on vector
// registers) and one Access per operand (how its elements get between memory and registers).
// Each row says what it means (`implements`, ordinary spec text), what it prints and what it costs;
// tests/target/rows_test.cc compiles every row and compares it with its meaning.
//
// Templates. {c} {a} {b} are named register variables of a Kernel (one input: only {a}), {r0} {r1}
// those an Access fills or stores, {s} a scalar variable of the output type, {p} an expression of
// type pointer to the memory element type, {t} a fresh name. A template is one or more C++
// statements. The type of a register variable is Isa::register_type() when the row has lanes > 1;
// rows with lanes = 1 work on scalars of type c_type(). Helper functions that templates call are in
// Isa::prelude, marked MORELLO_UNUSED and MORELLO_TARGET: macros of the emitter, which puts the
// prelude into a namespace of its own and defines MORELLO_TARGET by Isa::attribute.
//
// Scalar rows. An ISA lists the rows of `scalar` after its own, for what its vectors cannot do (odd
// strides), and one with long vectors those of shorter ones, for dims that are no longer. An
// operand of a kernel with lanes = 1 is neither a vector nor spread over lanes, so a scalar load is
// one row, of kind kBroadcast: to the one lane there is.
//
// Lane order. An Access moves `lanes * regs` elements that are contiguous in memory. With regs = 1
// memory position i is lane i. With regs = 2 (the even/odd split of packed 16-bit floats) position
// i is lane i/2 of register i%2. A tensor whose register r, lane l shall hold index r*lanes+l of a
// parallel dimension therefore lies in memory in the order  position(r, l) = l*regs + r.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "spec/computation.h"
#include "spec/dtype.h"
#include "spec/expression.h"

namespace morello {

// Vector pipeline work of one use of a row; the cost model takes the busiest resource.
struct Uops {
  int fma = 0;      // multiply or multiply-add pipes (also integer multiplies)
  int bf16 = 0;     // products of pairs of bf16, which cores are good at to very different degrees
  int alu = 0;      // other vector work: shifts, shuffles, adds
  int shuffle = 0;  // of these, shuffles: what moves between lanes goes to fewer pipes
  int divide = 0;   // tenths of a division of 256 bits; where no more is known, multiply-adds
  int load = 0;
  int store = 0;
  Uops& operator+=(const Uops& u) {
    fma += u.fma;
    bf16 += u.bf16;
    alu += u.alu;
    shuffle += u.shuffle;
    divide += u.divide;
    load += u.load;
    store += u.store;
    return *this;
  }
};

struct Access {
  enum class Kind {
    kVector,     // memory -> lanes * regs consecutive elements
    kBroadcast,  // memory -> one element (or one group) in every lane
    kStore       // registers -> lanes consecutive elements
  };
  std::string_view name;
  std::string_view implements;  // "(x: bf16[8]): f32[8] = convert(x)"
  Kind kind = Kind::kVector;
  Dtype memory = Dtype::f32;  // element type in memory
  Dtype reg = Dtype::f32;     // element type in the register
  int lanes = 1;
  int regs = 1;   // registers filled or stored: {r0}, {r1} in the template
  int group = 1;  // consecutive memory elements per lane (2: pairs along the reduction)
  std::string_view code;
  Uops uops;
  int temps = 0;  // further vector registers the row keeps busy: temporaries
  // ... and its constants. Leaves that have no registers for these take the row named `crowded`,
  // which loads them at every use and is only ever taken so.
  int constants = 0;
  std::string_view crowded = "";
  bool stands_in = false;
  // Like `code`, but touches only the first {n} elements in memory; the other lanes are loaded as
  // 0. {count} is {n} where that may be a variable at no cost: masks are made once. Empty: the
  // generated code goes through a local array.
  std::string_view partial = "";
  Uops partial_uops = {};  // what `partial` costs, all of it
  // Of a store: like `code`, but past the caches, where {p} is a multiple of so many bytes. Empty:
  // it cannot. What is stored so others see after Isa::fence.
  std::string_view streamed = "";
  int streamed_alignment = 0;
  // Of a store that rounds: subnormal numbers become 0 of their sign (docs/spec.md).
  bool flushes = false;
  // Of a broadcast: fills {r0} with what {p} and the next three elements are, over and over, ...
  std::string_view fours = "";
  // ... and makes a broadcast of number {n} of these, 0 to 3, from such a register {p}. Empty: one
  // load for each.
  std::string_view pick = "";

  // Whether elements of `t` in memory are what the row takes: i7 is an i8 to most.
  constexpr bool takes(Dtype t) const { return memory == t || memory == stored(t); }
};

struct Kernel {
  std::string_view name;
  // With shapes that show the lanes and the group: "(a: f32[1,1], b: f32[1,8]): f32[1,8] =
  // matmul(a, b)" has 8 lanes along a parallel dimension, "(a: f32[1,8], b: f32[8,1]): f32[1,1] =
  // matmul(a, b)" 8 lanes along the reduction (`finish` sums them). Any Computation with the same
  // body and combine can use the row.
  std::string_view implements;
  int lanes = 1;
  int group = 1;              // reduction elements consumed per lane
  bool lanes_reduce = false;  // lanes run along a reduction dimension
  // Computes any body that has its own at the root, with what the ISA's functions make of operands
  // in the places of its inputs.
  bool maps = false;
  // Computes nothing: leaves are copies of a tile from where it lies to where it is to be, by the
  // ISA's rows for that.
  bool moves = false;
  Dtype input = Dtype::f32;    // register element type of the inputs,
  Dtype input_b = input;       // ... of the second one
  Dtype output = Dtype::f32;   // register element type of the accumulator or result
  std::string_view code = {};  // reductions: "{c} = fma({a}, {b}, {c});"
  // `code` where an input goes into one sum only, so that its load may be part of the instruction;
  // empty: as `code`.
  std::string_view once = {};
  // Reductions of one input: of two of its registers, {a} and {b}, where that takes less than twice
  // `code`; `uops` are half of what it takes then.
  std::string_view pair = {};
  std::string_view finish = {};  // lanes_reduce: "{s} = hsum({c});", the sum of the lanes
  // ... and where a Function joins registers with more instructions than most need: when four may
  // be folded by `join`, "{c} = max({a}, {b});", a condition on {a}, {b}, {c} and {d}.
  std::string_view ordered = {};
  std::string_view join = {};
  Uops ordered_uops = {}, join_uops = {};
  Uops uops = {};
  int latency = 0;  // cycles from accumulator to accumulator
  int temps = 0;    // further vector registers the row keeps busy: temporaries
  std::span<const std::string_view> helpers = {};  // what `finish` calls, as of a Function

  Dtype input_of(int operand) const { return operand == 0 ? input : input_b; }
};

// A copy between memories that are adjacent in different directions: `rows` rows of the source with
// `columns` adjacent elements each become `columns` columns of `rows` adjacent elements. An element
// is `bytes` bytes moved as they are: an f32, but also a pair of 16-bit ones or a quad of bytes
// that stay together. Packing takes the first row of an ISA that fits, and scalar code where none
// does.
//
// {s0} {s1} ..: pointers to const, where the rows begin; {d0} {d1} ..: where the columns do. Where
// they are dense, they follow each other without a gap, and there is only {s0}, or {d0}. Rows that
// are have no other columns.
struct Transpose {
  std::string_view name;
  int bytes = 4;
  int rows = 1;
  int columns = 1;
  bool dense_rows = false;
  bool dense_columns = false;
  std::string_view code;
  // Of dense columns: like `code`, but reads and writes only the first {n} of them, a literal that
  // is less than `columns`. Empty: what is left of a tile moves by smaller rows, or by elements.
  std::string_view partial = "";
};

// Four registers made into one whose first four lanes, and every four that follow, are what the
// lanes of each are together; between the steps two registers are joined by a Function.
struct Fold {
  std::string_view name;
  Dtype type = Dtype::f32;  // of the lanes
  int lanes = 8;
  // Of two registers {a} and {b}: {x} and {y}, which joined have half of the lanes of either.
  std::string_view singles;  // first and second, then third and fourth
  std::string_view pairs;    // then what these have made
  // Then {y} of {a}, to be joined with {a}: {a} with its parts of four lanes in another order.
  std::span<const std::string_view> halves;
  std::string_view load;   // {r} of four elements at {p}; the other lanes are any numbers
  std::string_view set;    // {r} of the elements {a}, {b}, {c} and {d}, by three shuffles
  std::string_view store;  // the first four lanes of {r} to {p}
  int shuffles = 0;        // uops of all that
};

// A function of an Expression (spec/expression.h) on registers: {c} = fn({a}[, {b}[, {d}]]).
// Elementwise kernels are made of these, and what is done before and after a sum.
struct Function {
  std::string_view name;
  Fn fn = Fn::kAdd;
  Dtype type = Dtype::f32;  // of {c}, and of {a} and {b} but where fn converts
  int lanes = 1;
  std::string_view code;  // "{c} = _mm256_add_ps({a}, {b});"
  Uops uops;              // a division counts as the multiplications that could run meanwhile
  int temps = 0;          // further vector registers it keeps busy in a loop: constants among them
  int ulps = 0;           // error beyond half a unit in the last place, which rounding has
  // What the code calls: functions as in Isa::prelude, each in a text of its own behind those that
  // it calls. A header has those that its kernels need, once.
  std::span<const std::string_view> helpers = {};
};

constexpr int kLaneBits = 32;  // what is computed with: f32 and i32

// C++ type of one vector register holding elements of the dtype, e.g. "__m256".
struct RegisterType {
  Dtype dtype;
  int lanes;  // of rows that use it: 16 for what fills __m512i, however many bytes that are
  std::string_view type;
  // Of types that are computed with. "_mm256_set1_ps({x})"; and the lanes of {a} for which {m}, a
  // number, has a bit, beside those of {b} for which it has none.
  std::string_view splat = "";
  std::string_view blend = "";
  // The lanes of {a} that {i}, as many numbers, say; "" where it has none.
  std::string_view spread = "";
};

struct Isa {
  std::string_view name;                       // "avx2"
  std::string_view attribute;                  // target attribute text: "avx2,fma,f16c"; "" none
  std::vector<std::string_view> cpu_features;  // names for __builtin_cpu_supports
  // What else must hold of the CPU, where __builtin_cpu_supports of some compiler does not know the
  // feature: a condition, and a header of the runtime that it calls, to be copied. "" for none.
  std::string_view cpu_condition = "";
  std::string_view cpu_text = "";
  const Isa* base = nullptr;  // what this one adds rows to: everything that one can, this one can
  std::string_view include;   // "<immintrin.h>" or ""
  int vector_registers = 16;
  std::vector<RegisterType> register_types;
  bool (*runs_here)() = nullptr;         // whether the CPU of this process runs it
  std::string_view prelude;              // helper functions the templates call, or ""
  std::string_view prefetch;             // template over {p}, or "": brings a line to L1
  std::string_view prefetch_to_l2 = "";  // the same to L2 only; or ""
  std::string_view fence = "";  // between stores past the caches and what others do next; or ""
  std::string_view keep;        // template over {r}: the compiler must have it in a register; or ""
  // Template over {p}: the compiler no longer knows where the pointer points; or "".
  std::string_view forget;
  std::vector<std::span<const Kernel>> kernels;
  std::vector<std::span<const Access>> accesses;
  std::vector<std::span<const Transpose>> transposes = {};
  std::vector<std::span<const Function>> functions = {};
  std::vector<std::span<const Fold>> folds = {};

  std::string_view register_type(Dtype t, int lanes) const;
  // The number in every lane of a register.
  std::string_view splat(Dtype t, int lanes) const;
  std::string_view blend(Dtype t, int lanes) const;
  std::string_view spread(Dtype t, int lanes) const;
  // Lanes of the widest vectors that it computes with; 1: there are none.
  int widest() const;
  // Null: it has none.
  const Function* function(Fn fn, Dtype type, int lanes) const;
  const Fold* fold(Dtype type, int lanes) const;
};

std::span<const Isa* const> isa_table();
const Isa* find_isa(std::string_view name);

// The Computation that `implements` of a row spells (parsed once, cached).
const Computation& meaning(std::string_view implements);

}  // namespace morello
