// oneDNN: the primitive that does what a kernel does.
#include "bench/peers/onednn.h"

#include <map>
#include <unordered_map>

#include "bench/sweep/case.h"

namespace morello::bench {
namespace {

using dnnl::algorithm;
using dnnl::memory;
constexpr auto kForward = dnnl::prop_kind::forward_inference;

memory::data_type type_of(Dtype t) {
  using Type = memory::data_type;
  static const std::map<Dtype, Type> types = {{Dtype::f32, Type::f32}, {Dtype::bf16, Type::bf16},
                                              {Dtype::f16, Type::f16}, {Dtype::i32, Type::s32},
                                              {Dtype::u8, Type::u8},   {Dtype::i8, Type::s8}};
  const auto at = types.find(t);
  return at == types.end() ? Type::undef : at->second;
}

algorithm algorithm_of(const std::string& name) {
  static const std::map<std::string, algorithm> all = {{"sum", algorithm::reduction_sum},
                                                       {"max of all", algorithm::reduction_max},
                                                       {"mean", algorithm::reduction_mean},
                                                       {"tanh", algorithm::eltwise_tanh},
                                                       {"gelu_erf", algorithm::eltwise_gelu_erf},
                                                       {"exp", algorithm::eltwise_exp},
                                                       {"relu", algorithm::eltwise_relu},
                                                       {"logistic", algorithm::eltwise_logistic},
                                                       {"gelu_tanh", algorithm::eltwise_gelu_tanh},
                                                       {"swish", algorithm::eltwise_swish},
                                                       {"add", algorithm::binary_add},
                                                       {"mul", algorithm::binary_mul},
                                                       {"max", algorithm::binary_max}};
  return all.at(name);
}

// Makes a primitive of the version of the library that there is.
template <class P, class... Args>
typename P::primitive_desc made(const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return typename P::primitive_desc(onednn_engine(), args...);
#else
  return typename P::primitive_desc(typename P::desc(args...), onednn_engine());
#endif
}

class Maker {
 public:
  explicit Maker(const Case& c) : c_(c), p_(c.primitive) {
    for (const View& v : p_.views) {
      const Dtype type = tensor(v).type;
      const memory::dims shape(v.shape.begin(), v.shape.end()),
          strides(v.strides.begin(), v.strides.end());
      given_.push_back(onednn_over(memory::desc(shape, type_of(type), strides),
                                   c.data[static_cast<size_t>(v.tensor)]->data()));
      wanted_.push_back(v.any ? memory::desc(shape, type_of(type), memory::format_tag::any)
                              : given_.back().get_desc());
    }
  }

  Contenders made_of() {
    using Kind = Primitive::Kind;
    switch (p_.kind) {
      case Kind::kNone:
        return {};
      case Kind::kMatmul: {
        const auto how = onednn_matmul(wanted_[0], wanted_[1], wanted_[2]);
        return two_sources(dnnl::matmul(how), how, how.weights_desc(), DNNL_ARG_WEIGHTS);
      }
      case Kind::kConvolution: {
        const auto how = convolution();
        return two_sources(dnnl::convolution_forward(how), how, how.weights_desc(),
                           DNNL_ARG_WEIGHTS);
      }
      case Kind::kBinary: {
        const auto how =
            made<dnnl::binary>(algorithm_of(p_.algorithm), wanted_[0], wanted_[1], wanted_[2]);
        return two_sources(dnnl::binary(how), how, wanted_[1], DNNL_ARG_SRC_1);
      }
      case Kind::kReorder: {
        const dnnl::reorder::primitive_desc how(onednn_engine(), wanted_[0], onednn_engine(),
                                                wanted_[1]);
        return one_source(dnnl::reorder(how), how);
      }
      default:
        return of_one_source();
    }
  }

 private:
  const Tensor& tensor(const View& v) const {
    const auto t = static_cast<size_t>(v.tensor);
    return t < c_.operands.size() ? c_.operands[t] : c_.result();
  }

  Contenders of_one_source() {
    const memory::desc &x = wanted_[0], &out = wanted_[1];
    if (p_.kind == Primitive::Kind::kReduction) {
      const auto how = made<dnnl::reduction>(
          algorithm_of(p_.algorithm == "max" ? "max of all" : p_.algorithm), x, out, 0.F, 0.F);
      return one_source(dnnl::reduction(how), how);
    }
#if DNNL_VERSION_MAJOR >= 3
    if (p_.kind == Primitive::Kind::kSoftmax) {
      const auto how =
          made<dnnl::softmax_forward>(kForward, algorithm::softmax_accurate, x, out, p_.axis);
      return one_source(dnnl::softmax_forward(how), how);
    }
    if (p_.kind == Primitive::Kind::kLayerNorm) {
      const auto how = made<dnnl::layer_normalization_forward>(kForward, x, out, 0.00001F,
                                                               dnnl::normalization_flags::none);
      return one_source(dnnl::layer_normalization_forward(how), how);
    }
    const auto how =
        made<dnnl::eltwise_forward>(kForward, algorithm_of(p_.algorithm), x, out, alpha(), 0.F);
#else
    if (p_.kind == Primitive::Kind::kSoftmax) {
      const auto how = made<dnnl::softmax_forward>(kForward, x, p_.axis);
      return one_source(dnnl::softmax_forward(how), how);
    }
    if (p_.kind == Primitive::Kind::kLayerNorm) {
      const auto how = made<dnnl::layer_normalization_forward>(kForward, x, 0.00001F,
                                                               dnnl::normalization_flags::none);
      return one_source(dnnl::layer_normalization_forward(how), how);
    }
    const auto how =
        made<dnnl::eltwise_forward>(kForward, algorithm_of(p_.algorithm), x, alpha(), 0.F);
#endif
    return one_source(dnnl::eltwise_forward(how), how);
  }

  float alpha() const { return p_.algorithm == "swish" ? 1.F : 0.F; }

  dnnl::convolution_forward::primitive_desc convolution() const {
    const memory::dims strides(2, p_.stride), dilations(2, p_.dilation - 1),
        zeros(p_.zeros.begin(), p_.zeros.end());
    return made<dnnl::convolution_forward>(kForward, algorithm::convolution_direct, wanted_[0],
                                           wanted_[1], wanted_[2], strides, dilations, zeros,
                                           zeros);
  }

  template <class P, class How>
  Contenders one_source(P primitive, const How& how) {
    return contender(primitive, how, {{DNNL_ARG_SRC, given_[0]}, {DNNL_ARG_DST, given_[1]}});
  }
  // The second one, where it is packed, in the layout that was chosen.
  template <class P, class How>
  Contenders two_sources(P primitive, const How& how, const memory::desc& second, int argument) {
    memory from = given_[1];
    if (second != from.get_desc()) {
      memory packed(second, onednn_engine());
      dnnl::reorder(from, packed).execute(stream_, from, packed);
      stream_.wait();
      from = packed;
    }
    return contender(primitive, how,
                     {{DNNL_ARG_SRC, given_[0]}, {argument, from}, {DNNL_ARG_DST, given_[2]}});
  }
  template <class P, class How>
  Contenders contender(P primitive, const How& how, std::unordered_map<int, memory> arguments) {
    return {{"oneDNN", how.impl_info_str(), [primitive, arguments, stream = stream_]() mutable {
               primitive.execute(stream, arguments);
               stream.wait();
             }}};
  }

  const Case& c_;
  const Primitive& p_;
  std::vector<memory> given_;
  std::vector<memory::desc> wanted_;
  dnnl::stream stream_{onednn_engine()};
};

}  // namespace

Contenders onednn(const Case& c) {
  if (c.primitive.kind == Primitive::Kind::kNone) return {};
  set_onednn_threads(1);
  try {
    return Maker(c).made_of();
  } catch (const dnnl::error&) {  // no bf16 with AVX2, for one
    return {};
  }
}

}  // namespace morello::bench
