// Generated kernels of matmul with operands a (by rows) and b, ready to run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

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

// What a kernel is called with where its sizes are known at run time only; where they are not, 0.
struct At {
  i64 m = 0, k = 0, n = 0;
};

// Without what runs. `B` is the type of b's elements, which a packed operand does not tell.
template <class Info, class A, class B, class C>
Generated describe(const char* isa, const At& at, int i8_bits) {
  Generated g;
  g.name = Info::name;
  g.spec = Info::spec;
  g.isa = isa;
  g.threads = static_cast<int>(Info::threads);
  const auto either = [](i64 known, i64 given) { return known > 0 ? known : given; };
  const i64 m = either(Info::a_shape[0], at.m), k = either(Info::a_shape[1], at.k),
            n = either(Info::b_shape[1], at.n);
  g.operations = 2.0 * static_cast<double>(m * n * k);
  g.bytes = static_cast<double>(static_cast<i64>(sizeof(A)) * m * k +
                                static_cast<i64>(sizeof(B)) * k * n +
                                static_cast<i64>(sizeof(C)) * m * n);
  const auto has = [&](const char* text) { return g.spec.find(text) != std::string::npos; };
  const Order order = has("] col") ? Order::columns : Order::rows;
  const Operand::How how = {.i8_bits = i8_bits, .padded = has(" strided")};
  g.a = std::make_shared<Operand>(kind_of<A>(), m, k, Order::rows, 1,
                                  Operand::How{.i8_bits = i8_bits});
  g.b = std::make_shared<Operand>(kind_of<B>(), k, n, order, 2, how);
  g.out = std::make_shared<Bytes>(sizeof(C) * static_cast<std::size_t>(m * n));
  return g;
}

// Sizes that are known at run time only, in the order in which the spec mentions them, and the
// stride of b: in this order they are arguments of the kernel.
template <class Info>
std::vector<std::ptrdiff_t> run_time_arguments(const Generated& g) {
  std::vector<std::ptrdiff_t> out;
  if (Info::a_shape[0] == 0) out.push_back(g.a->rows());
  if (Info::a_shape[1] == 0) out.push_back(g.a->columns());
  if (Info::b_shape[1] == 0) out.push_back(g.b->columns());
  out.push_back(g.b->stride());
  return out;
}

// `second` is b or what it was packed to. What comes after the operands: sizes and strides that are
// known at run time only, workspace, a pool, or nothing.
template <class Info, class A, class B, class C, class... Rest>
std::function<void()> call_of(void (*kernel)(const A*, const B*, C*, Rest...) noexcept,
                              const Generated& g, std::shared_ptr<const void> second,
                              ThreadPool& pool) {
  const auto work = std::make_shared<Bytes>(Info::workspace_bytes);
  const std::vector<std::ptrdiff_t> numbers = run_time_arguments<Info>(g);
  [[maybe_unused]] std::size_t used = 0;
  [[maybe_unused]] const auto next = [&]<class T>() -> T {
    if constexpr (std::is_pointer_v<T>)
      return work->data();
    else if constexpr (std::is_integral_v<T>)
      return numbers.at(used++);
    else
      return pool;
  };
  // Braces: in this order.
  const std::tuple<const A*, const B*, C*, Rest...> arguments{
      static_cast<const A*>(g.a->data()), static_cast<const B*>(second.get()),
      reinterpret_cast<C*>(g.out->data()), next.template operator()<Rest>()...};
  return [kernel, arguments, work, second, a = g.a, out = g.out] { std::apply(kernel, arguments); };
}

// A kernel that takes b as it is. The pool must outlive what is returned.
template <class Info, class A, class B, class C, class... Rest>
Generated given(void (*kernel)(const A*, const B*, C*, Rest...) noexcept, const char* isa,
                ThreadPool& pool, const At& at = {}, int i8_bits = 8) {
  Generated g = describe<Info, A, B, C>(isa, at, i8_bits);
  g.run = call_of<Info>(kernel, g, std::shared_ptr<const void>(g.b, g.b->data()), pool);
  return g;
}

// A kernel of packed b; its packer has the type of the elements.
template <class Info, auto Pack, class A, class C, class... Rest>
Generated packed(void (*kernel)(const A*, const void*, C*, Rest...) noexcept, const char* isa,
                 ThreadPool& pool, const At& at = {}, int i8_bits = 8) {
  const auto type = []<class B>(void (*)(const B*, void*) noexcept) { return B(); };
  using B = decltype(type(Pack));
  Generated g = describe<Info, A, B, C>(isa, at, i8_bits);
  g.packed = true;
  const auto ready = std::make_shared<Bytes>(Info::packed_b_bytes);
  Pack(static_cast<const B*>(g.b->data()), ready->data());
  g.run = call_of<Info>(kernel, g, std::shared_ptr<const void>(ready, ready->data()), pool);
  return g;
}

}  // namespace morello::bench
