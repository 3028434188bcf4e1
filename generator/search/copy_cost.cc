// What copies cost: packing an operand, adding up the shares of a parallel reduction, filling.

#include <algorithm>

#include "impl/shares.h"
#include "search/space.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Copying, in millicycles: a vector of a run; an element that is shuffled within a run, or
// transposed, by rows of the ISA; one that moves by itself. And a call. Measured on what GCC 12
// makes of the emitted copies with AVX2 (an Intel server of 2 MiB of L2; 96 x 32 elements, both
// sides in L1), cycles an element: runs of 16 and 24 f32 0.14, of 96 f32 0.06, bf16 to f32 0.15;
// even/odd split of bf16 0.09 to 0.12; transposing f32 to panels of 16 0.20, of 6 0.26, bf16 0.13
// and 0.22, 8-bit pairs 0.06 and 0.11; by itself 0.55 (8-bit, panels of 6) to 0.84 (8-bit to 16-bit
// pairs).
constexpr i64 kRunMilli = 1100;
constexpr i64 kShuffleMilli = 120;
constexpr i64 kTransposeMilli = 200;
constexpr i64 kElementMilli = 700;
constexpr i64 kCopyCallMilli = 4000;
// Adding an element of a copy, in millicycles: 0.14 to 0.18 cycles measured on what GCC 12 and
// Clang 14 make of the emitted loop with AVX2, copies in L1 and L2.
constexpr i64 kAddCopyMilli = 150;

}  // namespace

// What was packed ahead of time lies in the order of the copy already: only its type changes.
bool Space::copies_in_runs(int operand) const {
  const PackedOrder& order = family().packed[operand];
  if (order.digits.empty()) return false;
  if (computation().operands[operand].packed) return true;
  const Digit& inner = order.digits.back();
  const bool long_run = inner.mod == 0 || inner.mod >= 8;
  return long_run && inner.div == 1 && problem_.root_address(operand).unit_stride(inner.axis) == 1;
}

// Whether the last digits run along the dim that is adjacent in the source, in another order.
bool Space::copies_within_runs(int operand) const {
  const std::vector<Digit>& digits = family().packed[operand].digits;
  if (digits.size() < 2) return false;
  const int axis = digits.back().axis;
  return digits[digits.size() - 2].axis == axis &&
         problem_.root_address(operand).unit_stride(axis) == 1;
}

// Whether the ISA has rows for what is no run: elements that keep their type, so many adjacent in a
// panel as a row has. Those adjacent on both sides (pairs of the reduction) move as one.
bool Space::copies_in_registers(int operand) const {
  std::span<const Digit> digits = family().packed[operand].digits;
  const Dtype type = computation().operands[operand].dtype;
  if (digits.empty() || packed_dtype(family(), computation(), operand) != type) return false;
  i64 unit = bytes(type);
  const Digit& last = digits.back();
  const bool adjacent = last.div == 1 && problem_.root_address(operand).unit_stride(last.axis) == 1;
  if (adjacent && last.mod > 0 && unit * last.mod <= 4 && digits.size() > 1) {
    unit *= last.mod;
    digits = digits.first(digits.size() - 1);
  }
  const i64 panel = digits.back().mod;  // 0: as many as there are
  for (std::span<const Transpose> rows : family().isa->transposes)
    for (const Transpose& t : rows)
      if (t.bytes == unit && (panel == 0 || t.rows <= panel) && (!t.dense || t.rows == panel))
        return true;
  return false;
}

Cost Space::copy_work(int operand, const Region& packed) const {
  const i64 elements = packed.row_bytes / bytes(packed_dtype(family(), computation(), operand));
  const i64 lanes = family().kernel->lanes > 1 ? 8 : 1;
  return Cost::milli(elements * (copies_in_runs_[operand]         ? kRunMilli / lanes
                                 : !copies_in_registers_[operand] ? kElementMilli
                                 : copies_within_runs_[operand]   ? kShuffleMilli
                                                                  : kTransposeMilli));
}

Cost Space::copy(const Spec& s, int operand, Level to) const {
  const Level from = s.place[operand].level;
  const Region packed = packed_region(s.extent, operand);
  const int ways = operand == computation().inputs() && s.accumulate ? 2 : 1;
  // What is written comes in first and goes out again.
  return ways * (transfer(region(s, operand), from) + 2 * transfer(packed, to) +
                 copy_work(operand, packed)) +
         Cost::milli(kCopyCallMilli);
}

// Copies were written by other cores, so they come through a cache that all of them share: each
// task reads its part of every share and writes its part of the output.
Cost Space::add_shares(const Spec& s, const Loop& loop) const {
  const Shares shares = shares_of(problem_, s, loop);
  const i64 line = machine().levels[kL1].line;
  const int out = computation().inputs();
  const i64 size = bytes(problem_.place_dtype(out, s.place[out].packed));
  const Level from = std::max(s.place[out].level, shared_level(machine(), problem_.threads));
  Region part;
  part.line_bytes = static_cast<int>(line);
  part.row_bytes = shares.task_elements * size;
  part.lines = ceil_div(part.row_bytes, line);
  const Cost adding = Cost::milli((shares.count - 1) * shares.task_elements * kAddCopyMilli);
  const Cost start = shares.tasks > 1 ? region_start() : Cost();
  return start + (shares.count + 1) * transfer(part, from) + adding + Cost::milli(begin(from, 0)) +
         Cost::cycles(20);
}

Cost Space::fill(const Spec& s) const {
  const int out = computation().inputs();
  const Region r = region(s, out);
  return transfer(r, s.place[out].level) + Cost::milli(r.lines * 2000) + Cost::cycles(10);
}

}  // namespace morello
