// oneDNN: matmul, with weights as they are or in the layout that it chooses.
#include <dlfcn.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

using dnnl::memory;

// For primitives that are made and executed from now on; false without the OpenMP runtime that the
// library brings along.
bool set_threads(int threads) {
  using SetThreads = void (*)(int);
  static const auto set = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(threads);
  return set != nullptr;
}

// Before the first primitive: the instructions.
dnnl::engine& engine() {
  static dnnl::engine one = [] {
    dnnl::set_max_cpu_isa(kAvx512 ? dnnl::cpu_isa::avx512_core_bf16
                          : kVnni ? dnnl::cpu_isa::avx2_vnni
                                  : dnnl::cpu_isa::avx2);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return one;
}

memory::data_type type_of(Operand::Kind kind) {
  switch (kind) {
    case Operand::Kind::f32:
      return memory::data_type::f32;
    case Operand::Kind::bf16:
      return memory::data_type::bf16;
    case Operand::Kind::u8:
      return memory::data_type::u8;
    case Operand::Kind::i8:
      return memory::data_type::s8;
  }
  return memory::data_type::undef;
}

memory over(const memory::desc& desc, const void* data) {
  return memory(desc, engine(), const_cast<void*>(data));
}

dnnl::matmul::primitive_desc matmul_of(const memory::desc& a, const memory::desc& b,
                                       const memory::desc& out) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), a, b, out};
#else
  return {dnnl::matmul::desc(a, b, out), engine()};
#endif
}

Contender contender(const Product& p) {
  using Tag = memory::format_tag;
  const memory::dims strides =
      p.b.order() == Order::rows ? memory::dims{p.b.stride(), 1} : memory::dims{1, p.b.stride()};
  const memory::desc a({p.m(), p.k()}, type_of(p.a.kind()), Tag::ab);
  const memory::desc b({p.k(), p.n()}, type_of(p.b.kind()), strides);
  const memory::desc wanted =
      p.packed ? memory::desc({p.k(), p.n()}, type_of(p.b.kind()), Tag::any) : b;
  const memory::desc out({p.m(), p.n()},
                         p.a.is_float() ? memory::data_type::f32 : memory::data_type::s32, Tag::ab);
  const dnnl::matmul::primitive_desc chosen = matmul_of(a, wanted, out);
  dnnl::stream stream(engine());
  memory weights = over(b, p.b.data());
  if (chosen.weights_desc() != b) {
    memory packed(chosen.weights_desc(), engine());
    dnnl::reorder(weights, packed).execute(stream, weights, packed);
    stream.wait();
    weights = packed;
  }
  const std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, over(a, p.a.data())},
                                                     {DNNL_ARG_WEIGHTS, weights},
                                                     {DNNL_ARG_DST, over(out, p.out)}};
  return {"oneDNN", chosen.impl_info_str(),
          [primitive = dnnl::matmul(chosen), stream, arguments, threads = p.threads]() mutable {
            set_threads(threads);
            primitive.execute(stream, arguments);
            stream.wait();
          }};
}

}  // namespace

Contenders onednn(const Product& p) {
  if (!set_threads(p.threads) && p.threads > 1) return {};
  try {
    return {contender(p)};
  } catch (const dnnl::error&) {  // no bf16 with AVX2, for one
    return {};
  }
}

}  // namespace morello::bench
