// Eigen: expressions, as one would write them.
#include "bench/peers/eigen.h"

#include "bench/graphs/graph.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

Contender softmax(const Graph& g) {
  return {"Eigen", kEigenIsa, [=] {
            over_rows(g, [&](i64 r) {
              const Eigen::Map<const Eigen::ArrayXf> x(g.f32(0) + r * g.columns(), g.columns());
              Eigen::Map<Eigen::ArrayXf> y(g.out + r * g.columns(), g.columns());
              y = (x - x.maxCoeff()).exp();
              y *= 1 / y.sum();
            });
          }};
}

Contender chain(const Graph& g) {
  RowMajor between(g.rows(), g.in[1]->columns());
  return {"Eigen", kEigenIsa, [=]() mutable {
            const auto matrix = [&](std::size_t operand) {
              const Operand& o = *g.in[operand];
              return Eigen::Map<const RowMajor>(g.f32(operand), o.rows(), o.columns());
            };
            between.noalias() = matrix(0) * matrix(1);
            Eigen::Map<RowMajor> out(g.out, g.rows(), g.in[2]->columns());
            out.noalias() = between * matrix(2);
          }};
}

}  // namespace

Contenders eigen(const Graph& g) {
  if (g.is("softmax")) return {softmax(g)};
  if (g.is("chain") && g.threads() == 1) return {chain(g)};
  return {};
}

}  // namespace morello::bench
