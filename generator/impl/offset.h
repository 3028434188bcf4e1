// Offset: a distance in elements. A number, and multiples of strides that are known at run time
// only; costs and the interpreter take those for what Stride::elements assumes.
#pragma once

#include <map>

#include "support/diag.h"

namespace morello {

class Offset {
 public:
  Offset(i64 elements = 0) : fixed_(elements), assumed_(elements) {}  // NOLINT: a number is one
  // `times` the stride number `symbol`, which is assumed to have so many elements.
  static Offset of(int symbol, i64 times, i64 elements) {
    Offset o;
    if (times != 0) o.strides_[symbol] = times;
    o.assumed_ = times * elements;
    return o;
  }

  i64 assumed() const { return assumed_; }
  i64 fixed() const { return fixed_; }
  const std::map<int, i64>& strides() const { return strides_; }  // symbol and how many times
  bool is_number() const { return strides_.empty(); }

  Offset& operator+=(const Offset& o) {
    fixed_ += o.fixed_;
    assumed_ += o.assumed_;
    for (const auto& [symbol, times] : o.strides_)
      if ((strides_[symbol] += times) == 0) strides_.erase(symbol);
    return *this;
  }
  Offset& operator*=(i64 times) {
    fixed_ *= times;
    assumed_ *= times;
    for (auto& stride : strides_) stride.second *= times;
    if (times == 0) strides_.clear();
    return *this;
  }
  friend Offset operator+(Offset a, const Offset& b) { return a += b; }
  friend Offset operator*(i64 times, Offset o) { return o *= times; }
  // Whether they are the same whatever the strides are.
  bool operator==(const Offset&) const = default;

 private:
  i64 fixed_ = 0, assumed_ = 0;
  std::map<int, i64> strides_;
};

}  // namespace morello
