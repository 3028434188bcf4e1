// A generated kernel as data, for the programs that tests/run writes: what it should compute (the
// words of its spec, so that the reference shares no code with the generator) and how to call it.
//
// These programs are C++17, as consumers of the headers are; everything that needs no kernel is
// compiled once, into the library this header belongs to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "morello/parallel.h"

namespace morello::run {

using i64 = std::int64_t;

inline constexpr int kMaxRank = 6;
inline constexpr int kMaxDigits = 3 * kMaxRank;
inline constexpr int kMaxVariants = 8;
inline constexpr int kMaxParams = 8;
inline constexpr int kMaxNodes = 96;
inline constexpr int kMaxNames = 8;
inline constexpr int kMaxResults = 4;

enum class Type { f32, bf16, f16, i32, i16, u8, i8, i7 };

// What results are made of: an operator and its operands behind it, each in the same way.
enum class Word {
  param,   // number `value`
  number,  // `value`
  name,    // number `value`
  broadcast,
  spread,
  add,
  sub,
  mul,
  div,
  max,
  min,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  select,
  neg,
  exp,
  tanh,
  erf,
  log,
  sqrt,
  rsqrt,
  sigmoid,
  relu,
  silu,
  gelu,
  gelu_tanh,
  convert,
  transpose,
  pad,
  matmul,
  conv2d,
  reduce_sum,
  reduce_max,
  reduce_min,
  reduce_mean,
  softmax,
  rms_norm,
  layer_norm
};
struct Node {
  Word word;
  double value;  // of what has an axis: that; of pad and conv2d see attributes.h
};

// What stands behind `where`.
struct Name {
  int node;    // where its expression begins
  bool typed;  // it is rounded to `type` and stored, as a result is
  Type type;
};

// One digit of an element's offset, outermost first: (index[axis] / div) % mod; mod 0: no modulus.
struct Digit {
  int axis;
  i64 div, mod;
};

struct Tensor {
  Type type;
  bool packed;  // its digits are those of row order, in which the packer takes it
  int rank;
  i64 shape[kMaxRank];
  int digits;
  Digit order[kMaxDigits];
  // Of every digit, in elements; all 0: digits lie as close as the shape allows.
  i64 stride[kMaxDigits];
};

struct Call {
  const void* inputs[kMaxParams];
  void* outputs[kMaxResults];
  void* workspace;
  Parallel pool;
};

using Run = void (*)(const Call&);
using Pack = void (*)(const void* from, void* to);

// The function of one instruction set, or the one that chooses (isa null).
struct Variant {
  const char* isa;
  Run run;
  Pack pack[kMaxParams];  // per parameter; null where it is not packed
};

struct Made {
  Tensor tensor;
  int node;  // where its expression begins
};

struct Subject {
  const char* name;
  int nodes;  // the expression of a result without a name, then those of names
  Node node[kMaxNodes];
  int names;
  Name named[kMaxNames];
  int params;
  int in_place;  // the parameter whose memory may be the only result's; -1: none
  Tensor param[kMaxParams];
  int results;
  Made result[kMaxResults];
  std::size_t packed_bytes[kMaxParams];
  std::size_t workspace_bytes;
  bool threaded;
  const char* (*selected)();
  int variants;
  Variant variant[kMaxVariants];  // the one that chooses first
};

// How much to run.
struct Options {
  bool hard_values = true;      // a second run on infinities, NaN, denormals and extremes
  bool one_place = false;       // only against the page behind, not also against the page before
  bool may_be_unknown = false;  // most of the plain outputs, to the reference
};

// Runs every subject in a process of its own, on buffers between inaccessible pages. Prints
// "<name>: " and "ok" with how many outputs the reference could not check and how wide its
// intervals are, or what it does wrong, a kernel of whose plain outputs most cannot be checked,
// too; then a line "FAIL <name>" where it is not ok; returns the exit code. argv: [seed ["soft": no
// hard values] ["once": one place] ["unknown": such a kernel is ok]].
int run_subjects(const Subject* subjects, std::size_t count, int argc, char** argv);

// The same for one subject, in this process: what went wrong, or null. Faults end the process.
const char* check_subject(const Subject& subject, std::uint64_t seed, const Options& options);

}  // namespace morello::run
