#include "spec/dtype.h"

namespace morello {

std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const Dtype t : kDtypes)
    if (name(t) == text) return t;
  return std::nullopt;
}

}  // namespace morello
