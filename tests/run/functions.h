// The operators of elements, and those of the elements along an axis that are defined by others:
// what they may make of intervals. Composite ones by their definitions in docs/spec.md.
#pragma once

#include "run/interval.h"

namespace morello::run {

// In f32, or exactly in i32.
Interval unary(Word w, const Interval& x, bool real);
Interval binary(Word w, const Interval& a, const Interval& b, bool real);

void softmax(std::vector<Interval>& line);
void rms_norm(std::vector<Interval>& line, const Interval& epsilon);
void layer_norm(std::vector<Interval>& line, const Interval& epsilon);

}  // namespace morello::run
