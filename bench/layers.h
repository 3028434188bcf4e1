// Weights of language models (k, n), and the numbers of rows they are multiplied with.
#pragma once

namespace morello::bench {

inline constexpr int kWeights[][2] = {{4096, 4096},  {4096, 11008}, {11008, 4096}, {4096, 14336},
                                      {14336, 4096}, {2048, 2048},  {2048, 8192},  {8192, 2048},
                                      {2048, 16384}, {16384, 2048}, {5120, 13824}, {13824, 5120},
                                      {4096, 1024},  {5120, 5120}};
inline constexpr int kRows[] = {1, 7, 100, 512};

}  // namespace morello::bench
