#include "import/interpret.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace morello::test {
namespace {

using Index = std::vector<i64>;
using hlo::Instruction;
using hlo::Numbers;

i64 offset(const Index& at, const Index& shape) {
  i64 out = 0;
  for (size_t i = 0; i < shape.size(); ++i) out = out * shape[i] + at[i];
  return out;
}

void each(const Index& shape, const std::function<void(const Index&)>& visit) {
  Index at(shape.size(), 0);
  for (;;) {
    visit(at);
    size_t axis = shape.size();
    while (axis-- > 0) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

double get(const Tensor& t, const Index& at) {
  return t.values[static_cast<size_t>(t.values.size() == 1 ? 0 : offset(at, t.shape))];
}

Tensor filled(const Index& shape, const std::function<double(const Index&)>& value) {
  Tensor out{shape, {}};
  each(shape, [&](const Index& at) { out.values.push_back(value(at)); });
  return out;
}

Numbers list(const Instruction& in, std::string_view name, size_t count, i64 otherwise) {
  const auto given = in.numbers.find(name);
  if (given == in.numbers.end() || given->second.empty()) return Numbers(count, otherwise);
  return given->second.size() == 1 && count > 1 ? Numbers(count, given->second[0]) : given->second;
}

bool contains(const Numbers& list, i64 x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

double element(const Instruction& in, const std::vector<double>& x) {
  const std::string_view name = in.op->name;
  if (name == "compare") {
    const std::string_view written = in.words.at("direction").text;
    const auto is = [&](std::string_view d) { return written.find(d) != std::string_view::npos; };
    return is("EQ")   ? x[0] == x[1]
           : is("NE") ? x[0] != x[1]
           : is("LT") ? x[0] < x[1]
           : is("LE") ? x[0] <= x[1]
           : is("GT") ? x[0] > x[1]
                      : x[0] >= x[1];
  }
  if (name == "add") return x[0] + x[1];
  if (name == "subtract") return x[0] - x[1];
  if (name == "multiply") return x[0] * x[1];
  if (name == "divide") return x[0] / x[1];
  if (name == "maximum" || name == "or") return std::max(x[0], x[1]);
  if (name == "minimum" || name == "and") return std::min(x[0], x[1]);
  if (name == "xor") return x[0] != x[1];
  if (name == "not") return x[0] == 0;
  if (name == "negate") return -x[0];
  if (name == "abs") return std::abs(x[0]);
  if (name == "square") return x[0] * x[0];
  if (name == "exponential") return std::exp(x[0]);
  if (name == "log") return std::log(x[0]);
  if (name == "tanh") return std::tanh(x[0]);
  if (name == "logistic") return 1 / (1 + std::exp(-x[0]));
  if (name == "sqrt") return std::sqrt(x[0]);
  if (name == "rsqrt") return 1 / std::sqrt(x[0]);
  if (name == "erf") return std::erf(x[0]);
  if (name == "erfc") return std::erfc(x[0]);
  if (name == "select") return x[0] != 0 ? x[1] : x[2];
  if (name == "clamp") return std::min(std::max(x[1], x[0]), x[2]);
  if (name == "convert") return in.type.pred ? x[0] != 0 : x[0];
  return x[0];
}

Tensor elements(const Instruction& in, const std::vector<const Tensor*>& args) {
  return filled(in.type.shape, [&](const Index& at) {
    std::vector<double> x;
    for (const Tensor* t : args) x.push_back(get(*t, t->shape.empty() ? Index{} : at));
    return element(in, x);
  });
}

Tensor broadcast(const Instruction& in, const Tensor& a) {
  const Numbers dims = list(in, "dimensions", 0, 0);
  return filled(in.type.shape, [&](const Index& at) {
    Index from;
    for (size_t i = 0; i < a.shape.size(); ++i)
      from.push_back(a.shape[i] == 1 ? 0 : at[static_cast<size_t>(dims[i])]);
    return get(a, from);
  });
}

Tensor transpose(const Instruction& in, const Tensor& a) {
  const Numbers dims = list(in, "dimensions", 0, 0);
  return filled(in.type.shape, [&](const Index& at) {
    Index from(at.size());
    for (size_t i = 0; i < at.size(); ++i) from[static_cast<size_t>(dims[i])] = at[i];
    return get(a, from);
  });
}

Tensor reduce(const Instruction& in, const Tensor& a, double start) {
  const Numbers dims = list(in, "dimensions", 0, 0);
  const std::string_view joins = in.words.at("reducer").text;
  Tensor out = filled(in.type.shape, [&](const Index&) { return start; });
  each(a.shape, [&](const Index& at) {
    Index to;
    for (size_t i = 0; i < at.size(); ++i)
      if (!contains(dims, static_cast<i64>(i))) to.push_back(at[i]);
    double& sum = out.values[static_cast<size_t>(offset(to, out.shape))];
    const double x = get(a, at);
    sum = joins == "add" ? sum + x : joins == "maximum" ? std::max(sum, x) : std::min(sum, x);
  });
  return out;
}

Tensor dot(const Instruction& in, const Tensor& a, const Tensor& b) {
  const bool plain = in.op->name == "dot" && !in.numbers.contains("lhs_contracting");
  const Numbers batch[] = {list(in, "lhs_batch", 0, 0), list(in, "rhs_batch", 0, 0)};
  const Numbers sum[] = {
      plain ? Numbers{static_cast<i64>(a.shape.size()) - 1} : list(in, "lhs_contracting", 0, 0),
      plain ? Numbers{0} : list(in, "rhs_contracting", 0, 0)};
  Index along;
  for (const i64 axis : sum[0]) along.push_back(a.shape[static_cast<size_t>(axis)]);
  return filled(in.type.shape, [&](const Index& at) {
    Index from[] = {Index(a.shape.size()), Index(b.shape.size())};
    size_t next = 0;
    for (; next < batch[0].size(); ++next)
      for (int side = 0; side < 2; ++side)
        from[side][static_cast<size_t>(batch[side][next])] = at[next];
    for (int side = 0; side < 2; ++side)
      for (size_t i = 0; i < from[side].size(); ++i)
        if (!contains(batch[side], static_cast<i64>(i)) &&
            !contains(sum[side], static_cast<i64>(i)))
          from[side][i] = at[next++];
    double total = 0;
    each(along, [&](const Index& k) {
      for (size_t i = 0; i < k.size(); ++i)
        for (int side = 0; side < 2; ++side) from[side][static_cast<size_t>(sum[side][i])] = k[i];
      total += get(a, from[0]) * get(b, from[1]);
    });
    return total;
  });
}

// Letters of the three labels: "b01f" and so on.
std::vector<std::string> labels(const Instruction& in) {
  std::string_view text = in.words.at("labels").text;
  if (text.starts_with("#")) text.remove_prefix(text.find('<'));
  std::string all;
  for (const char c : text)
    if (std::string_view("b01fio").find(c) != std::string_view::npos) all += c;
  return {all.substr(0, 4), all.substr(4, 4), all.substr(8, 4)};
}

Tensor convolution(const Instruction& in, const Tensor& x, const Tensor& k) {
  const std::vector<std::string> names = labels(in);
  const Numbers stride = list(in, "stride", 2, 1), pad = list(in, "pad", 4, 0),
                dilation = list(in, "rhs_dilation", 2, 1);
  const i64 groups = list(in, "groups", 1, 1)[0];
  const auto axis = [&](int part, char c) { return names[static_cast<size_t>(part)].find(c); };
  const i64 filters = k.shape[axis(1, 'o')], channels = k.shape[axis(1, 'i')];
  const Index window{k.shape[axis(1, '0')], k.shape[axis(1, '1')], channels};
  return filled(in.type.shape, [&](const Index& at) {
    const i64 f = at[axis(2, 'f')];
    double total = 0;
    each(window, [&](const Index& w) {
      Index from(4), tap(4);
      from[axis(0, 'b')] = at[axis(2, 'b')];
      from[axis(0, 'f')] = f / (filters / groups) * channels + w[2];
      tap[axis(1, 'i')] = w[2];
      tap[axis(1, 'o')] = f;
      for (size_t s = 0; s < 2; ++s) {
        const char c = s == 0 ? '0' : '1';
        const i64 place = at[axis(2, c)] * stride[s] + w[s] * dilation[s] - pad[2 * s];
        if (place < 0 || place >= x.shape[axis(0, c)]) return;
        from[axis(0, c)] = place;
        tap[axis(1, c)] = w[s];
      }
      total += get(x, from) * get(k, tap);
    });
    return total;
  });
}

Tensor pad(const Instruction& in, const Tensor& a, double value) {
  const Numbers low = list(in, "low", a.shape.size(), 0);
  return filled(in.type.shape, [&](const Index& at) {
    Index from = at;
    for (size_t i = 0; i < from.size(); ++i) {
      from[i] -= low[i];
      if (from[i] < 0 || from[i] >= a.shape[i]) return value;
    }
    return get(a, from);
  });
}

Tensor value(const Instruction& in, const std::vector<const Tensor*>& args,
             const std::vector<Tensor>& parameters) {
  using hlo::Kind;
  switch (in.op->kind) {
    case Kind::kParameter:
      return parameters[static_cast<size_t>(in.parameter)];
    case Kind::kConstant:
      return filled(in.type.shape, [&](const Index&) {
        return is_float(in.type.dtype) ? static_cast<float>(in.constant) : in.constant;
      });
    case Kind::kBroadcast:
      return broadcast(in, *args[0]);
    case Kind::kReshape:
      return {in.type.shape, args[0]->values};
    case Kind::kTranspose:
      return transpose(in, *args[0]);
    case Kind::kReduce:
      return reduce(in, *args[0], args[1]->values[0]);
    case Kind::kDot:
      return dot(in, *args[0], *args[1]);
    case Kind::kConvolution:
      return convolution(in, *args[0], *args[1]);
    case Kind::kPad:
      return pad(in, *args[0], args[1]->values[0]);
    default:
      return elements(in, args);
  }
}

}  // namespace

std::vector<Tensor> interpret(const hlo::Function& f, const std::vector<Tensor>& parameters) {
  std::vector<Tensor> values;
  values.reserve(f.instructions.size());
  for (const Instruction& in : f.instructions) {
    std::vector<const Tensor*> args;
    for (const int a : in.args) args.push_back(&values[static_cast<size_t>(a)]);
    values.push_back(value(in, args, parameters));
  }
  std::vector<Tensor> out;
  for (const int r : f.results) out.push_back(values[static_cast<size_t>(r)]);
  return out;
}

}  // namespace morello::test
