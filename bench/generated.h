// Generated kernels of matmul with operands a (by rows) and b, ready to run.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bench/operands.h"
#include "bench/packed.h"
#include "morello/thread_pool.h"

namespace morello::bench {

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

// What is const is an operand, in their order; what comes behind them is the result, and then sizes
// and strides that are known at run time only, workspace, a pool, or nothing.
template <class Info, class... Args>
std::function<void()> call_of(void (*kernel)(Args...) noexcept,
                              const std::vector<std::shared_ptr<const void>>& operands,
                              std::shared_ptr<Bytes> out,
                              const std::vector<std::ptrdiff_t>& numbers, ThreadPool& pool) {
  const auto work = std::make_shared<Bytes>(Info::workspace_bytes);
  std::size_t operand = 0, number = 0;
  bool has_out = false;
  const auto next = [&]<class T>() -> T {
    if constexpr (!std::is_pointer_v<T>) {
      if constexpr (std::is_integral_v<T>)
        return numbers.at(number++);
      else
        return pool;
    } else if constexpr (std::is_const_v<std::remove_pointer_t<T>>) {
      return static_cast<T>(operands.at(operand++).get());
    } else {
      void* const to = has_out ? work->data() : out->data();
      has_out = true;
      return static_cast<T>(to);
    }
  };
  // Braces: in this order.
  const std::tuple<Args...> arguments{next.template operator()<Args>()...};
  return [kernel, arguments, work, operands, out] { std::apply(kernel, arguments); };
}

// A kernel that takes b as it is. The pool must outlive what is returned.
template <class Info, class A, class B, class C, class... Rest>
Generated given(void (*kernel)(const A*, const B*, C*, Rest...) noexcept, const char* isa,
                ThreadPool& pool, const At& at = {}, int i8_bits = 8) {
  Generated g = describe<Info, A, B, C>(isa, at, i8_bits);
  g.run = call_of<Info>(kernel, {{g.a, g.a->data()}, {g.b, g.b->data()}}, g.out,
                        run_time_arguments<Info>(g), pool);
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
  g.run = call_of<Info>(kernel, {{g.a, g.a->data()}, {ready, ready->data()}}, g.out,
                        run_time_arguments<Info>(g), pool);
  return g;
}

}  // namespace morello::bench
