// Packed operands. Kernels that want the same share it: how fast 42 MB are read differs by 3 to 7 %
// with the pages that they lie in.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "morello/aligned.h"

namespace morello::bench {

using Bytes = AlignedBuffer<unsigned char>;

class PackedOperands {
 public:
  std::shared_ptr<Bytes> keep(Bytes packed) {
    for (const std::shared_ptr<Bytes>& known : all_)
      if (known->size() == packed.size() &&
          std::memcmp(known->data(), packed.data(), packed.size()) == 0)
        return known;
    return all_.emplace_back(std::make_shared<Bytes>(std::move(packed)));
  }

 private:
  std::vector<std::shared_ptr<Bytes>> all_;
};

}  // namespace morello::bench
