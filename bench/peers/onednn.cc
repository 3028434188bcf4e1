// oneDNN: matmul, with weights as they are or in the layout that it chooses.
#include "bench/peers/onednn.h"

#include <unordered_map>

#include "bench/peers/peer.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

using dnnl::memory;

Contender contender(const Product& p) {
  using Tag = memory::format_tag;
  const memory::dims strides =
      p.b.order() == Order::rows ? memory::dims{p.b.stride(), 1} : memory::dims{1, p.b.stride()};
  const memory::desc a({p.m(), p.k()}, onednn_type(p.a.kind()), Tag::ab);
  const memory::desc b({p.k(), p.n()}, onednn_type(p.b.kind()), strides);
  const memory::desc wanted =
      p.packed ? memory::desc({p.k(), p.n()}, onednn_type(p.b.kind()), Tag::any) : b;
  const memory::desc out({p.m(), p.n()},
                         p.a.is_float() ? memory::data_type::f32 : memory::data_type::s32, Tag::ab);
  const dnnl::matmul::primitive_desc chosen = onednn_matmul(a, wanted, out);
  dnnl::stream stream(onednn_engine());
  memory weights = onednn_over(b, p.b.data());
  if (chosen.weights_desc() != b) {
    memory packed(chosen.weights_desc(), onednn_engine());
    dnnl::reorder(weights, packed).execute(stream, weights, packed);
    stream.wait();
    weights = packed;
  }
  const std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, onednn_over(a, p.a.data())},
                                                     {DNNL_ARG_WEIGHTS, weights},
                                                     {DNNL_ARG_DST, onednn_over(out, p.out)}};
  return {"oneDNN", chosen.impl_info_str(),
          [primitive = dnnl::matmul(chosen), stream, arguments, threads = p.threads]() mutable {
            set_onednn_threads(threads);
            primitive.execute(stream, arguments);
            stream.wait();
          }};
}

}  // namespace

Contenders onednn(const Product& p) {
  if (!set_onednn_threads(p.threads) && p.threads > 1) return {};
  try {
    return {contender(p)};
  } catch (const dnnl::error&) {  // no bf16 with AVX2, for one
    return {};
  }
}

}  // namespace morello::bench
