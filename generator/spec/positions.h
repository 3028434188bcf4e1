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
// in the same way. What has positions and the rest needs is computed again from parameters; or
// *kept*, where a result is made of it element by element: parts store it in the memory of that
// result. So softmax as a whole is cut in two steps, and takes its exponentials once:
//
//   softmax(x, axis=1)      part  m = max over n of x[n]
//                           rest  part  e[n] = exp(x[n] - m)       s = sum over n of e[n]
//                                 join  s = s0 + s1
//                                 rest  out[n] = e[n] * (1 / s)
#pragma once

#include "spec/kernel_spec.h"

namespace morello {

struct Positions {
  KernelSpec part;        // the kernel's parameters -> sums over positions, then what is kept
  KernelSpec join;        // sums over a run, then those over another one -> those over both
  KernelSpec rest;        // the kernel's parameters, then results of a part -> the kernel's results
  std::vector<int> kept;  // in the memory of which of the kernel's results, in this order

  int sums() const { return static_cast<int>(part.results.size() - kept.size()); }
};

// Whether something is summed, or compared, over the size that is cut first (rows_size()), as then
// over the only one that is known at run time only.
bool sums_positions(const KernelSpec& spec);

// Of such a kernel with one such size, without a rows_problem(). Parameters and results are those
// of among_rows().
Positions positions(const KernelSpec& spec);

}  // namespace morello
