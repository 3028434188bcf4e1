// Eigen, for the instruction set of the compiler's options.
#pragma once

#include <Eigen/Core>

#ifndef EIGEN_VECTORIZE_FMA
#error "Eigen did not recognise the instruction set"
#endif

namespace morello::bench {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

#ifdef EIGEN_VECTORIZE_AVX512
inline constexpr const char* kEigenIsa = "AVX-512";
#else
inline constexpr const char* kEigenIsa = "AVX2, FMA";
#endif

}  // namespace morello::bench
