// Positions: what a size numbers that only run time knows and that a kernel of several stages sums
// over, as attention does over those of keys and values. Any number of them is some at a time: sums
// over one run of positions and over the next become those over both, and what is made of sums is
// made at the end.
//
//   softmax(x, axis=1)      part  m = max over n of x[n]           s = sum over n of exp(x[n] - m)
//                           join  m = max(m0, m1)                  s = s0 * exp(m0 - m) + s1 * ...
//                           rest  out[n] = exp(x[n] - m) * (1 / s)
//
// Sums of exponentials of what is less than a maximum over the same positions need that of their
// own run only (algebra.h, online()); other sums that need a sum are part of the rest, which is cut
// in the same way. What has positions and the rest needs is computed again from parameters.
#pragma once

#include "spec/kernel_spec.h"

namespace morello {

struct Positions {
  KernelSpec part;  // the kernel's parameters -> sums over positions: its results
  KernelSpec join;  // sums over a run, then those over another one -> those over both
  KernelSpec rest;  // the kernel's parameters, then sums -> the kernel's results
};

// Whether something is summed, or compared, over the size that is cut first (rows_size()), as then
// over the only one that is known at run time only.
bool sums_positions(const KernelSpec& spec);

// Of such a kernel with one such size, without a rows_problem(). Parameters and results are those
// of among_rows().
Positions positions(const KernelSpec& spec);

}  // namespace morello
