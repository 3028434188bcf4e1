// Impl: a program for a Spec, as a tree of six kinds of node. Each node turns the Spec it stands
// for into the Specs of its children; nothing else is stored, so an Impl is small, comparable and
// replayable, and its meaning is a function of (Problem, Impl).
//
//   Loop   one dim in steps of `tile`; `first` is the peeled first step of a reduction that does
//          not accumulate yet, `rest` the remainder when tile does not divide the extent. Steps of
//          a parallel loop are tasks; a parallel loop directly inside one makes tasks of its steps,
//          in the same region of the pool. A reduction in parallel: every step sums into a copy of
//          the output of its own and the copies are added in the order of the steps (impl/shares.h)
//   Move   bring an operand to a nearer level: as a view (no code, the cache does it) or as a copy
//          into a buffer in packed order and type, there or at the same level (out: computed in the
//          buffer, then written back)
//   Clip   one dim, along which windows reach beyond what they read, in segments that sum over
//          shorter windows (impl/clip.h); segments of one shape have one child
//   Block  children one after the other: here "out = 0" and then the accumulating rest
//   Call   the family's leaf, for all that is left of the Spec; or `fill`, out = 0
//   Hole   a Spec nobody has decided yet
//
// Text form (print.cc, parse.cc), two spaces per level; what prints parses:
//
//   parallel split k by 4196 leaving 2
//     parallel n by 8192
//       copy a to L1
//         loop n by 64
//           view b to L2
//             split k by 512
//               first
//                 call
//               body
//                 call ahead b 16384
//               rest 100
//                 call
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "impl/spec.h"

namespace morello {

struct Impl;
using ImplPtr = std::shared_ptr<const Impl>;

struct Loop {
  int dim = 0;
  i64 tile = 1;
  bool parallel = false;
  int threads = 1;          // of a parallel loop: what each step may still be divided among
  ImplPtr first = nullptr;  // only for a serial reduction of a Spec that does not accumulate
  ImplPtr body = nullptr;   // null when `first` is the only full step
  ImplPtr rest = nullptr;   // null when tile divides the extent
};
struct Move {
  int operand = 0;
  Level level = kL1;
  bool copy = false;  // false: a view
  // A copy asks, to L2, for what it would copy one step further along this dim, as a loop around it
  // does next; behind the end of the operand nobody reads it. -1: it asks for nothing.
  int ahead_dim = -1;
  // The leaves between the two copies ask in its place, where there are two or more of them; those
  // below a view always do, to its level.
  bool ahead_in_leaves = false;
  ImplPtr body = nullptr;
};
struct Clip {
  int dim = 0;
  std::vector<ImplPtr> parts;  // by Segment::shape
};
struct Block {
  std::vector<ImplPtr> parts;
};
struct Call {
  enum class Kind { kLeaf, kFill } kind = Kind::kLeaf;
  // Operand whose stream is prefetched, so many bytes ahead; or the output, 0 bytes: its lines are
  // asked for before the leaf computes. -1: none.
  int ahead_operand = -1;
  i64 ahead_bytes = 0;
  Level ahead_to = kL1;  // the cache that what is prefetched comes to: L1 or L2
  // Whole vectors of the output are stored past the caches, those that begin where the CPU wants
  // it; where they begin is known at run time only.
  bool streaming = false;
};
struct Hole {
  Spec spec;
};

struct Impl {
  std::variant<Loop, Move, Clip, Block, Call, Hole> node;
};

// Specs of the children, in the order first, body, rest / body / parts. Where a child runs that is
// no step of a loop, clip.h says.
struct Child {
  Spec spec;
  ImplPtr impl;
  i64 times = 1;  // how often it runs
};
std::vector<Child> children(const Problem& p, const Spec& spec, const Impl& impl);

std::string print(const Problem& p, const Impl& impl);
Result<ImplPtr> parse_impl(std::string_view text, const Problem& p);
bool equal(const Impl& a, const Impl& b);

// Why this Impl is not a legal program for the Spec; empty when it is one (holes are legal).
std::string verify(const Problem& p, const Spec& spec, const Impl& impl);

// Runs the program on dense row-major inputs (doubles that hold values of the operands' dtypes;
// integers exact) and returns the dense row-major output: buffers, packing and addresses are real,
// arithmetic is double. A program that adds to its output finds zeros there. Aborts on an access
// outside a buffer or a read of an element never written.
std::vector<double> interpret(const Problem& p, const Impl& impl,
                              const std::vector<std::vector<double>>& inputs);

}  // namespace morello
