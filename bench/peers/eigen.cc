// Eigen: templates, for the instruction set of the compiler's options.
#include <Eigen/Core>

#include "bench/peers/peer.h"
#include "bench_peers.h"

#ifndef EIGEN_VECTORIZE_FMA
#error "Eigen did not recognise the instruction set"
#endif

namespace morello::bench {
namespace {
#ifdef EIGEN_VECTORIZE_AVX512
constexpr const char* kIsa = "AVX-512";
#else
constexpr const char* kIsa = "AVX2, FMA";
#endif
}  // namespace

Contenders eigen(const Product& p) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (!p.is_plain_f32()) return {};
  return {{"Eigen", kIsa, [=] {
             const Eigen::Map<const Matrix> a(p.f32_a(), p.m(), p.k());
             const Eigen::Map<const Matrix> b(p.f32_b(), p.k(), p.n());
             Eigen::Map<Matrix> c(p.f32_out(), p.m(), p.n());
             c.noalias() = a * b;
           }}};
}

}  // namespace morello::bench
