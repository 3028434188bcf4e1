// Generated kernels of matmul with operands a (by rows) and b, ready to run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bench/operands.h"
#include "morello/thread_pool.h"

namespace morello::bench {

using Bytes = AlignedBuffer<unsigned char>;

struct Generated {
  std::string name, spec, isa;
  int threads = 1;
  double operations = 0, bytes = 0;
  bool packed = false;  // b is packed ahead
  std::shared_ptr<Operand> a, b;
  std::shared_ptr<Bytes> out;
  std::function<void()> run;  // no calls but this one: small kernels take 10 ns

  // A vector and a matrix: the memory is the limit.
  bool reads_once() const { return a->rows() == 1; }
  // Of sampled outputs, as a share of what is allowed.
  double error() const { return worst_error(*a, *b, out->data()); }
};

// Without what runs. `B` is the type of b's elements, which a packed operand does not tell.
template <class Info, class A, class B, class C>
Generated describe(const char* isa, int i8_bits) {
  Generated g;
  g.name = Info::name;
  g.spec = Info::spec;
  g.isa = isa;
  g.threads = static_cast<int>(Info::threads);
  g.operations = static_cast<double>(Info::flops);
  g.bytes = static_cast<double>(Info::bytes);
  const i64 m = Info::out_shape[0], n = Info::out_shape[1], k = Info::b_shape[0];
  const Order order =
      g.spec.find("] col,") != std::string::npos || g.spec.find("] col)") != std::string::npos
          ? Order::columns
          : Order::rows;
  g.a = std::make_shared<Operand>(kind_of<A>(), m, k, Order::rows, 1, i8_bits);
  g.b = std::make_shared<Operand>(kind_of<B>(), k, n, order, 2, i8_bits);
  g.out = std::make_shared<Bytes>(sizeof(C) * static_cast<std::size_t>(m * n));
  return g;
}

// `second` is b or what it was packed to. What comes after the operands: workspace, a pool, both or
// nothing.
template <class Info, class A, class B, class C, class... Rest>
std::function<void()> call_of(void (*kernel)(const A*, const B*, C*, Rest...) noexcept,
                              const Generated& g, std::shared_ptr<const void> second,
                              ThreadPool& pool) {
  const auto work = std::make_shared<Bytes>(Info::workspace_bytes);
  return [=, &pool, a = g.a, out = g.out] {
    [[maybe_unused]] const auto rest = [&]<class T>() -> T {
      if constexpr (std::is_pointer_v<T>)
        return work->data();
      else
        return pool;
    };
    kernel(static_cast<const A*>(a->data()), static_cast<const B*>(second.get()),
           reinterpret_cast<C*>(out->data()), rest.template operator()<Rest>()...);
  };
}

// A kernel that takes b as it is. The pool must outlive what is returned.
template <class Info, class A, class B, class C, class... Rest>
Generated given(void (*kernel)(const A*, const B*, C*, Rest...) noexcept, const char* isa,
                ThreadPool& pool, int i8_bits = 8) {
  Generated g = describe<Info, A, B, C>(isa, i8_bits);
  g.run = call_of<Info>(kernel, g, std::shared_ptr<const void>(g.b, g.b->data()), pool);
  return g;
}

// A kernel of packed b; its packer has the type of the elements.
template <class Info, auto Pack, class A, class C, class... Rest>
Generated packed(void (*kernel)(const A*, const void*, C*, Rest...) noexcept, const char* isa,
                 ThreadPool& pool, int i8_bits = 8) {
  const auto type = []<class B>(void (*)(const B*, void*) noexcept) { return B(); };
  using B = decltype(type(Pack));
  Generated g = describe<Info, A, B, C>(isa, i8_bits);
  g.packed = true;
  const auto ready = std::make_shared<Bytes>(Info::packed_b_bytes);
  Pack(static_cast<const B*>(g.b->data()), ready->data());
  g.run = call_of<Info>(kernel, g, std::shared_ptr<const void>(ready, ready->data()), pool);
  return g;
}

}  // namespace morello::bench
