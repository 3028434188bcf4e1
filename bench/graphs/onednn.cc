// oneDNN: a primitive where it has one, else several in sequence.
#include "bench/peers/onednn.h"

#include <set>
#include <unordered_map>

#include "bench/graphs/graph.h"
#include "bench_peers.h"

namespace morello::bench {
namespace {

using dnnl::memory;
constexpr auto kF32 = memory::data_type::f32;

memory::desc rows_of(i64 rows, i64 columns) {
  return memory::desc({rows, columns}, kF32, memory::format_tag::ab);
}
memory over(const Operand& o) { return onednn_over(rows_of(o.rows(), o.columns()), o.data()); }

memory::desc picture(const std::array<i64, 4>& nhwc, const Graph::Convolution& c) {
  using Tag = memory::format_tag;
  return memory::desc({nhwc[0], nhwc[3], nhwc[1], nhwc[2]}, kF32,
                      c.channels_first ? Tag::nchw : Tag::nhwc);
}

dnnl::convolution_forward::primitive_desc convolution_of(const Graph::Convolution& c,
                                                         const memory::desc& x,
                                                         const memory::desc& filters,
                                                         const memory::desc& out) {
  const memory::dims strides(2, c.stride), zeros(2, c.pad);
  constexpr auto kForward = dnnl::prop_kind::forward_inference;
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {onednn_engine(), kForward, kDirect, x, filters, out, strides, zeros, zeros};
#else
  return {{kForward, kDirect, x, filters, out, strides, zeros, zeros}, onednn_engine()};
#endif
}

// Primitives, one after the other.
class Sequence {
 public:
  explicit Sequence(const Graph& g) : threads_(g.threads()) {}

  // out = a * b
  void matmul(memory a, memory b, memory out, const dnnl::primitive_attr& attributes = {}) {
    const auto how = onednn_matmul(a.get_desc(), b.get_desc(), out.get_desc(), attributes);
    add(dnnl::matmul(how), how.impl_info_str(),
        {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, out}});
  }

  void softmax(memory from, memory to) {
    const memory::desc d = from.get_desc();
    using Softmax = dnnl::softmax_forward;
#if DNNL_VERSION_MAJOR >= 3
    const Softmax::primitive_desc how(onednn_engine(), dnnl::prop_kind::forward_inference,
                                      dnnl::algorithm::softmax_accurate, d, d, 1);
#else
    const Softmax::primitive_desc how({dnnl::prop_kind::forward_inference, d, 1}, onednn_engine());
#endif
    add(Softmax(how), how.impl_info_str(), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  }

  void layer_norm(memory from, memory to) {
    const memory::desc d = from.get_desc();
    using Norm = dnnl::layer_normalization_forward;
    const auto epsilon = static_cast<float>(kEpsilon);
#if DNNL_VERSION_MAJOR >= 3
    const Norm::primitive_desc how(onednn_engine(), dnnl::prop_kind::forward_inference, d, d,
                                   epsilon, dnnl::normalization_flags::none);
#else
    const Norm::primitive_desc how(
        {dnnl::prop_kind::forward_inference, d, epsilon, dnnl::normalization_flags::none},
        onednn_engine());
#endif
    add(Norm(how), how.impl_info_str(), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  }

  void gelu_layer(memory a, memory b, memory bias, memory out) {
    dnnl::primitive_attr attributes;
    dnnl::post_ops after;
    after.append_binary(dnnl::algorithm::binary_add, bias.get_desc());
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(dnnl::algorithm::eltwise_gelu_erf, 0, 0);
#else
    after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
#endif
    attributes.set_post_ops(after);
    const auto how = onednn_matmul(a.get_desc(), b.get_desc(), out.get_desc(), attributes);
    add(dnnl::matmul(how), how.impl_info_str(),
        {{DNNL_ARG_SRC, a},
         {DNNL_ARG_WEIGHTS, b},
         {DNNL_ARG_DST, out},
         {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, bias}});
  }

  // The filters in whatever order it likes, brought into it now.
  void convolution(const Graph& g) {
    const Graph::Convolution& c = g.conv;
    const i64 groups = c.groups();
    const memory::dims whole = {c.k[3], c.k[2], c.k[0], c.k[1]},
                       grouped = {groups, c.k[3] / groups, c.k[2], c.k[0], c.k[1]};
    const memory::dims& filters = groups > 1 ? grouped : whole;
    using Tag = memory::format_tag;
    const memory x = onednn_over(picture(c.x, c), g.in[0]->data()),
                 out = onednn_over(picture(c.out, c), g.out);
    const auto how =
        convolution_of(c, x.get_desc(), memory::desc(filters, kF32, Tag::any), out.get_desc());
    memory given = onednn_over(memory::desc(filters, kF32, groups > 1 ? Tag::hwigo : Tag::hwio),
                               g.in[1]->data());
    memory packed(how.weights_desc(), onednn_engine());
    dnnl::reorder(given, packed).execute(stream_, given, packed);
    stream_.wait();
    add(dnnl::convolution_forward(how), how.impl_info_str(),
        {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, out}});
  }

  Contender contender() const {
    std::string runs;
    for (const std::string& name : names_) runs += (runs.empty() ? "" : ", ") + name;
    return {"oneDNN", runs, [steps = steps_, stream = stream_, threads = threads_]() mutable {
              set_onednn_threads(threads);
              for (Step& s : steps) s.primitive.execute(stream, s.arguments);
              stream.wait();
            }};
  }

 private:
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;
  };
  void add(dnnl::primitive primitive, const char* name, std::unordered_map<int, memory> arguments) {
    steps_.push_back({std::move(primitive), std::move(arguments)});
    names_.insert(name);
  }

  int threads_;
  dnnl::stream stream_{onednn_engine()};
  std::vector<Step> steps_;
  std::set<std::string> names_;
};

void attention(const Graph& g, const memory& out, Sequence& s) {
  const Operand &k = *g.in[1], &v = *g.in[2];
  const memory transposed =
      onednn_over(memory::desc({k.columns(), k.rows()}, kF32, memory::format_tag::ba), k.data());
  const memory scores(rows_of(g.rows(), k.rows()), onednn_engine());
  dnnl::primitive_attr scaled;
#if DNNL_VERSION_MAJOR >= 3
  dnnl::post_ops after;
  after.append_eltwise(dnnl::algorithm::eltwise_linear, static_cast<float>(kScale), 0);
  scaled.set_post_ops(after);
#else
  scaled.set_output_scales(0, {static_cast<float>(kScale)});
#endif
  s.matmul(over(*g.in[0]), transposed, scores, scaled);
  s.softmax(scores, scores);
  s.matmul(scores, over(v), out);
}

void chain(const Graph& g, const memory& out, Sequence& s) {
  const memory between(rows_of(g.rows(), g.in[1]->columns()), onednn_engine());
  s.matmul(over(*g.in[0]), over(*g.in[1]), between);
  s.matmul(between, over(*g.in[2]), out);
}

}  // namespace

Contenders onednn(const Graph& g) {
  if (!set_onednn_threads(g.threads()) && g.threads() > 1) return {};
  const memory out = onednn_over(rows_of(g.out_rows, g.out_columns), g.out);
  Sequence s(g);
  if (g.is("softmax"))
    s.softmax(over(*g.in[0]), out);
  else if (g.is("layer"))
    s.layer_norm(over(*g.in[0]), out);
  else if (g.is("gelu"))
    s.gelu_layer(over(*g.in[0]), over(*g.in[1]), over(*g.in[2]), out);
  else if (g.is("attention"))
    attention(g, out, s);
  else if (g.is("chain"))
    chain(g, out, s);
  else if (g.is("conv"))
    s.convolution(g);
  else
    return {};
  return {s.contender()};
}

}  // namespace morello::bench
