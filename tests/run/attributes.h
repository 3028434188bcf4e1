// How Node::value holds several attributes of an operator: as the digits of a number, the first one
// last. Those of pad: axis, low, high; of conv2d: stride_h, stride_w, dilation_h, dilation_w,
// groups, which may be larger than the base.
#pragma once

namespace morello::run {

inline constexpr int kAttributeBase = 256;

}  // namespace morello::run
