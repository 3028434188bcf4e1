// What a peer offers for something to compute: the same for products (peer.h) and for kernels of
// several stages (graphs/graph.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace morello::bench {

// A way of computing it. No instructions beyond MORELLO_PEERS_BITS = 256 (AVX2, with
// MORELLO_PEERS_VNNI = 1 and AVX-VNNI) or 512 (AVX-512 with VNNI and BF16, but not AMX).
struct Contender {
  std::string name;
  std::string runs;  // as it says itself: an architecture, an implementation
  std::function<void()> run;
};

// Empty when the peer does not do this. The operands outlive the contenders.
using Contenders = std::vector<Contender>;

constexpr bool kAvx512 = MORELLO_PEERS_BITS == 512;
constexpr bool kVnni = MORELLO_PEERS_VNNI != 0;

}  // namespace morello::bench
