// Products of matrices, of batches of them, of bytes and of bf16.
#include "bench/sweep/draw.h"

namespace morello::bench {
namespace {

double multiplications(std::initializer_list<i64> sizes) {
  double out = 2;
  for (const i64 n : sizes) out *= static_cast<double>(n);
  return out;
}

Case product(Tensor a, Tensor b, Dtype out) {
  const i64 m = a.shape[0], k = a.shape[1], n = b.shape[1];
  Case c{.operands = {a, b},
         .steps = {{{.name = "out", .type = out, .shape = {m, n}}, "matmul(a, b)"}},
         .operations = multiplications({m, n, k})};
  c.primitive = {.kind = Primitive::Kind::kMatmul,
                 .views = {view(a, 0), view(b, 1), view(c.result(), 2)}};
  return c;
}

std::vector<int> columns_or_rows(Random& random) {
  return random.one_in(2) ? std::vector<int>{1, 0} : std::vector<int>();
}

// One in so many is packed.
Tensor weights(Random& random, Dtype type, std::vector<i64> shape, i64 packed) {
  Tensor b{.name = "b", .type = type, .shape = std::move(shape)};
  b.order = columns_or_rows(random);
  b.packed = random.one_in(packed);
  return b;
}

// Anything up to 2000, and one in five only a few.
i64 dim(Random& random) { return random.one_in(5) ? random.pick(1, 16) : random.size(1, 2000); }

}  // namespace

std::optional<Case> draw_product(Random& random) {
  const i64 m = dim(random), n = dim(random), k = dim(random);
  if (random.one_in(3)) {
    const i64 batch = random.size(2, 32);
    Tensor a{.name = "a", .shape = {batch, m, k}}, b{.name = "b", .shape = {batch, k, n}};
    if (random.one_in(3)) a.order = {0, 2, 1};
    if (random.one_in(2)) b.order = {0, 2, 1};
    Case c{.operands = {a, b},
           .steps = {{{.name = "out", .shape = {batch, m, n}}, "matmul(a, b)"}},
           .operations = multiplications({batch, m, n, k})};
    c.primitive = {.kind = Primitive::Kind::kMatmul,
                   .views = {view(a, 0), view(b, 1), view(c.result(), 2)}};
    return c;
  }
  const Tensor b = weights(random, Dtype::f32, {k, n}, 4);
  return product({.name = "a", .shape = {m, k}, .order = columns_or_rows(random)}, b, Dtype::f32);
}

std::optional<Case> draw_bytes(Random& random) {
  const i64 m = dim(random), n = dim(random), k = dim(random);
  return product({.name = "a", .type = Dtype::u8, .shape = {m, k}},
                 weights(random, Dtype::i8, {k, n}, 3), Dtype::i32);
}

std::optional<Case> draw_bf16(Random& random) {
  const i64 m = dim(random), n = dim(random), k = dim(random);
  const Dtype out = random.any({Dtype::f32, Dtype::bf16});
  return product({.name = "a", .type = Dtype::bf16, .shape = {m, k}},
                 weights(random, Dtype::bf16, {k, n}, 3), out);
}

}  // namespace morello::bench
