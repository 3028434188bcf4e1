// Spec: one sub-problem of a kernel: part of a Computation (an extent per dim) with required places
// for its operands. What the search solves and what a Hole of an Impl stands for.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "impl/family.h"
#include "target/machine.h"

namespace morello {

// Where an operand of a Spec lies: the nearest level that holds all of it, and its form.
struct Place {
  Level level = kMemory;
  bool packed = false;  // in the family's packed order (and packed_dtype)
  bool operator==(const Place&) const = default;
};

static_assert(kMaxDims <= 8);  // Spec::uncut

struct Spec {
  Extents extent{};
  std::array<Place, kMaxOperands> place{};
  bool accumulate = false;  // out += ... instead of out = ...; only of a reduction
  int threads = 1;          // > 1: may still be divided among this many threads
  std::uint8_t uncut = 0;   // set of dims that are still to be cut for their windows (impl/clip.h)
  bool operator==(const Spec&) const = default;
};

// What a Problem is a part of: a kernel whose sizes are known at run time only (impl/patchwork.h),
// or one of several stages (impl/fusion.h).
struct Part {
  // Where operands lie when it begins, and behind them extras; kRegisters: where all of them fit.
  std::array<Level, kMaxOperands + 1> home = {};
  bool adds = false;        // out += ... instead of out = ...
  bool staged = false;      // it is a stage of several
  bool whole = false;       // ... all of it at once
  bool beside = false;      // threads do others at the same time, each with one thread
  bool leaves = false;      // its output leaves the caches before the kernel is called again
  bool read_again = false;  // ... but is read by what comes behind it before that
  bool in_place = false;    // its output lies where it reads, and stays in the caches
  // Dims of which each call of the program says how much there is, at most the extent; a bit each.
  // Nothing divides them, and nothing but rows is copied along them (can_copy_elastic,
  // patchwork.h).
  std::uint8_t elastic = 0;
  // The input that every leaf asks for, so many bytes behind what it reads of it, for others to
  // find; nothing brings it nearer before that. -1: none.
  int asked = -1;
  i64 asked_bytes = 0;
  Level asked_to = kL1;
  bool is_elastic(int dim) const { return (elastic >> dim & 1) != 0; }
  bool is_tile() const { return staged && !whole; }
  static Part at(Level level) {
    Part p;
    p.home.fill(level);
    return p;
  }
  bool operator==(const Part&) const = default;
};

// Whether a result of so many bytes leaves the caches before others read it.
bool leaves_caches(const Machine& machine, i64 bytes);

// The nearest level in which operands lie when a kernel is called by so many threads.
Level home_level(const Computation& c, const Machine& machine, int threads);

// Everything that is fixed while one family of one kernel is searched or emitted.
struct Problem {
  const Computation* computation = nullptr;
  const Machine* machine = nullptr;
  Family family;
  int threads = 1;
  Part part = {};

  Spec root() const;
  // Where an operand lies when the program begins; extras where `operand` is kMaxOperands.
  Level home(int operand) const;
  // Whether each element of its output is written once and leaves the caches then.
  bool output_leaves() const;
  // Why no leaf can store its output past the caches; empty where leaves can.
  std::string streaming_problem() const;
  // Address map of an operand or extra where the user gave it (or where the ahead-of-time packer
  // put it).
  AddressMap given(int operand) const;
  // The same in the order in which the family's programs go through it (Family::apart).
  AddressMap root_address(int operand) const;
  Dtype place_dtype(int operand, bool packed) const;
  // Memory an operand of this Spec's extents takes when copied, in bytes.
  i64 packed_bytes(int operand, const Extents& extent) const;
};

// "matmul"-free text: "m=6 n=16 k=512 a@L2 packed b@L1 packed out@L2 acc threads=2"
std::string str(const Spec& s, const Computation& c);

}  // namespace morello
