// Other Graphs with the same results, which can run in tiles that the one of the spec cannot. The
// search takes whichever is cheapest.
#pragma once

#include <optional>

#include "spec/draft.h"

namespace morello {

// Sums in the type in which they are added up, and what is made of each of them as a stage of its
// own, as late as possible: so that sums can be divided between steps of a tile that their stage
// shares with its neighbours. None: no stage is that way.
//
//   t = 1 / sum over k of e[m,k]      ->      s = sum over k of e[m,k];  t = 1 / s
std::optional<Graph> sums_apart(const Graph& g);
// Whether a stage is such a sum, with more to it than adding up; and this rewrite of the one that
// makes a tensor. Returns the number of its sum.
bool is_finished(const Stage& s);
int split_sum(Draft& draft, int tensor);

// Exponentials of what is less than a maximum, and sums over them, as steps that need only the
// maximum so far (Graph::online). Elements made of the exponentials compute them again; a product
// with a factor for each sum becomes a factor of the sum:
//
//   m = max over k of x[k]            carried: o = m
//   e = exp(x[k] - m)                 m = max over k of x[k]
//   s = sum over k of e               carried: f = exp(o - m), s *= f
//   out = e * (1 / s)         ->      e = exp(x[k] - m)
//                                     s = sum over k of e
//                                     r = 1 / s
//                                     out = exp(x[k] - m) * r
//
// Where m is infinitely low so far, e is 0 and not NaN. Sums are not divided before they are
// added up: one can be infinite where a product with 1 / s would not have been. None: there are no
// such stages.
std::optional<Graph> online(const Graph& g);
// What online() makes of them before anything is carried: exponentials, their maximum and sums by
// tensors of the draft, in which sums are in the type in which they are added up.
struct ShiftedSums {
  Draft draft;
  int max = -1, exp = -1;
  std::vector<int> sums;
};
std::optional<ShiftedSums> shifted_sums(const Graph& g);
// exp(x - max(m, lowest)) for exp(x - m): 0 where the maximum of some of the numbers is infinitely
// low.
Expression bounded_shift(const Expression& e);
// exp(in0 - in1), of a maximum and of one that is no less.
Expression growth_of_inputs();

// Whether a stage puts zeros around a parameter and does nothing else.
bool pads_parameter(const Stage& s, int params);

// Parameters that are padded for windows alone read where they lie: what is around them is zero and
// adds nothing to a sum of products (Operand::zeros), unless the other factor is infinite or NaN
// (docs/spec.md). None: no copy goes, because something else reads it as well, a window can lie
// outside altogether, or there are too many ways in which it can lie across the border.
//
//   t = pad(x)
//   out = conv2d(t, k)      ->      out[h] = sum over r of x[h + r - low] * k[r], of those r where
//                                            h + r - low lies within x
//
// Or of the first axis only that is padded, where another one is, too: along that the copy has
// zeros still, and windows near its edges do not become short.
std::optional<Graph> unpadded(const Graph& g, PadsOut which = PadsOut::kAll);

// Nothing between stages lies in the memory of the last one's result (Graph::in_result): another
// buffer, but the result is stored once, so that it can be stored past the caches. None: nothing
// does.
std::optional<Graph> result_apart(const Graph& g);

}  // namespace morello
