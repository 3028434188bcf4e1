// Which elements of which tensors a stage reads, in the dims of its Graph: whether two stages
// compute the same of the same. Internal to spec/.
#pragma once

#include "spec/graph.h"

namespace morello {

// Axes of an operand or extra by dims of the Graph; those of a single element have none.
std::vector<AxisMap> axes_in(const Graph& g, int stage, const Operand& o);
// The same without axes of a single element: those of [4,1] are those of [4].
std::vector<AxisMap> elements(const Graph& g, int stage, const Operand& o);

// A term of the body of a stage.
struct TermPlace {
  int stage = 0, term = 0;
};
// Whether both are the same expression of the same elements, rounded or not.
bool same_elements(const Graph& g, TermPlace a, TermPlace b);

// The stage that makes the maximum of an expression over some dims, as it is, where a term reads
// it element by element; -1: the term is something else.
int maximum_of(const Graph& g, TermPlace expression, TermPlace maximum);

// exp(x - m), where m is the maximum of x over some dims: as an exponential of what is not
// positive. A product that is x is rounded first, whatever is made of x - m. GCC joins product and
// difference if it may, and what is left of the rounding of m, 2^-24 of it, is no small error any
// more where m is large: exp of that is infinite or all are 0, and `softmax(0.3 * x, axis=1)` of
// numbers beyond 1e10 was NaN.
void bound_exponentials(Graph& g);

}  // namespace morello
