// What a kernel of several stages should make, in double precision, for some of its rows.
#pragma once

#include <vector>

#include "bench/graphs/graph.h"

namespace morello::bench {

class Reference {
 public:
  explicit Reference(const Graph& g);
  // The largest error in these rows, as a share of what rounding can explain.
  double error(const float* out) const;

 private:
  struct Row {
    i64 at = 0;  // in elements of the result
    std::vector<double> value, allowed;
  };
  std::vector<Row> rows_;
  i64 step_ = 1;  // from element to element of a row
};

}  // namespace morello::bench
