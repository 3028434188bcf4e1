// The oracle for rewrites: runs an Impl the way generated code does, with one buffer per tensor and
// per copy and with a base offset per operand that loops advance, and trusts nothing: padding
// counts as never written, since no element of the result may depend on it. Arithmetic is double,
// so it says whether the right elements meet, not how they are rounded.

#include <algorithm>
#include <span>

#include "impl/clip.h"
#include "impl/text.h"

namespace morello {
namespace {

struct Buffer {
  std::string name;
  std::vector<double> values;
  std::vector<char> written;

  Buffer(std::string label, i64 elements)
      : name(std::move(label)), values(elements, 0.0), written(elements, false) {}
  void check(i64 at) const {
    MORELLO_CHECK(at >= 0 && at < static_cast<i64>(values.size()), "{}[{}] of {} elements", name,
                  at, values.size());
  }
  double read(i64 at) const {
    check(at);
    MORELLO_CHECK(written[at], "{}[{}] is read and was never written", name, at);
    return values[at];
  }
  void write(i64 at, double value) {
    check(at);
    values[at] = value;
    written[at] = true;
  }
};

// The part of an operand that a Spec is about: index 0 of every dim lies at `base`.
struct View {
  Buffer* buffer = nullptr;
  AddressMap map;
  i64 base = 0;

  double read(const Extents& index) const { return buffer->read(base + map.offset(index)); }
  void write(const Extents& index, double value) const {
    buffer->write(base + map.offset(index), value);
  }
};
using Views = std::array<View, kMaxTensors>;  // operands, then extras

constexpr int kAllDims = (1 << kMaxDims) - 1;

// Calls f(index) for every index below `extent` in the dims of the set, starting from `index`.
template <class F>
void for_each(const Extents& extent, int dims, Extents index, const F& f) {
  auto nest = [&](auto& self, int d) -> void {
    if (d == kMaxDims) return f(index);
    const i64 end = dims >> d & 1 ? extent[d] : 1;
    const i64 start = index[d];
    for (i64 i = 0; i < end; ++i) {
      index[d] = start + i;
      self(self, d + 1);
    }
    index[d] = start;
  };
  nest(nest, 0);
}

class Interpreter {
 public:
  explicit Interpreter(const Problem& p) : p_(p), c_(*p.computation) {
    for (size_t d = 0; d < c_.dims.size(); ++d)
      if (c_.dims[d].reduction) reductions_ |= 1 << d;
  }

  std::vector<double> program(const Impl& impl, const std::vector<std::vector<double>>& inputs);

 private:
  void node(const Spec& spec, const Impl& impl, const Views& views) {
    std::visit([&](const auto& n) { run(spec, impl, n, views); }, impl.node);
  }
  void run(const Spec& spec, const Impl& impl, const Loop& n, const Views& views);
  void add_copies(const Spec& spec, const View& out, const std::vector<Buffer>& copies);
  void run(const Spec& spec, const Impl& impl, const Move& n, const Views& views);
  void run(const Spec& spec, const Impl& impl, const Clip& n, const Views& views);
  void run(const Spec& spec, const Impl& impl, const Block& n, const Views& views);
  void run(const Spec& spec, const Impl& impl, const Call& n, const Views& views);
  void run(const Spec&, const Impl& impl, const Hole&, const Views&) {
    MORELLO_CHECK(false, "undecided: {}", headline(p_, impl));
  }
  void leaf(const Spec& spec, const Views& views);
  double term(const Expression& e, const Extents& index, const Views& views, double value = 0);
  // Integers wrap when all are joined.
  double join(double a, double b) const { return fn_def(joined_by(c_.combine))->real(a, b, 0); }
  double finished(double sum, const Extents& index, const Views& views);

  int touched(int tensor) const {
    int dims = 0;
    for (size_t d = 0; d < c_.dims.size(); ++d)
      if (touches(c_.tensor(tensor), static_cast<int>(d))) dims |= 1 << d;
    return dims;
  }
  // Row-major position of an operand's element in the dense values the caller knows; -1: a zero
  // around it.
  i64 dense(int tensor, const Extents& index) const {
    const Operand& o = c_.tensor(tensor);
    i64 at = 0;
    for (size_t a = 0; a < o.shape.size(); ++a) {
      i64 i = o.zeros.empty() ? 0 : -o.zeros[a].low;
      for (const AxisTerm& t : o.axes[a]) i += t.coefficient * index[t.dim];
      if (i < 0 || i >= o.shape[a]) return -1;
      at = at * o.shape[a] + i;
    }
    return at;
  }

  // From where index 0 of every dim would lie to where the first element does.
  i64 first_inside(int tensor) const {
    i64 at = 0;
    for (const Clipped& x : clipped(c_))
      if (tensor == x.operand) at += begin_of(x, {}, tensor, p_.root_address(tensor)).assumed();
    return at;
  }

  const Problem& p_;
  const Computation& c_;
  int reductions_ = 0;  // set of dims
};

// Steps of a parallel loop run backwards: a program whose steps need each other shows it. Those of
// a reduction have copies of the output, but for the first.
void Interpreter::run(const Spec& spec, const Impl& impl, const Loop& n, const Views& views) {
  struct Step {
    const Child* child;
    i64 at;
  };
  const std::vector<Child> parts = children(p_, spec, impl);
  std::vector<Step> steps;
  for (const Child& part : parts)
    for (i64 i = 0; i < part.times; ++i) steps.push_back({&part, static_cast<i64>(steps.size())});
  const View& out = views[c_.inputs()];
  std::vector<Buffer> copies;
  if (n.parallel && (reductions_ >> n.dim & 1))
    copies.assign(steps.size() - 1, Buffer("share of " + c_.output().name, out.map.elements));
  if (n.parallel) std::reverse(steps.begin(), steps.end());
  for (const Step& step : steps) {
    Views tile = views;
    for (View& v : tile)
      if (v.map.touches(n.dim)) v.base += step.at * v.map.advance(n.dim, n.tile).assumed();
    if (!copies.empty() && step.at > 0) tile[c_.inputs()] = {&copies[step.at - 1], out.map, 0};
    node(step.child->spec, *step.child->impl, tile);
  }
  add_copies(spec, out, copies);
}

void Interpreter::add_copies(const Spec& spec, const View& out, const std::vector<Buffer>& copies) {
  for (const Buffer& copy : copies)
    for_each(spec.extent, kAllDims & ~reductions_, {}, [&](const Extents& x) {
      out.write(x, join(out.read(x), copy.read(out.map.offset(x))));
    });
}

void Interpreter::run(const Spec& spec, const Impl& impl, const Move& n, const Views& views) {
  const Child child = children(p_, spec, impl)[0];
  if (!n.copy) return node(child.spec, *child.impl, views);

  const bool output = n.operand == c_.inputs();
  const bool filled = !output || spec.accumulate;
  const View& from = views[n.operand];
  const AddressMap map = p_.family.packed[n.operand].address(spec.extent);
  Buffer buffer("copy of " + c_.operands[n.operand].name, map.elements);
  const View copy{&buffer, map, 0};
  const int dims = touched(n.operand);
  if (filled)
    for_each(spec.extent, dims, {}, [&](const Extents& x) { copy.write(x, from.read(x)); });
  Views inside = views;
  inside[n.operand] = copy;
  node(child.spec, *child.impl, inside);
  if (output)
    for_each(spec.extent, dims, {},
             [&](const Extents& x) { from.write(x, finished(copy.read(x), x, views)); });
}

void Interpreter::run(const Spec& spec, const Impl& impl, const Clip& n, const Views& views) {
  const std::vector<Child> parts = children(p_, spec, impl);
  for (const Clipped& x : clipped(c_)) {
    if (x.dim != n.dim) continue;
    for (const Segment& segment : x.segments) {
      Views inside = views;
      for (int t = 0; t < c_.tensors(); ++t)
        inside[t].base += begin_of(x, segment, t, views[t].map).assumed();
      const Child& part = parts[static_cast<size_t>(segment.shape)];
      node(part.spec, *part.impl, inside);
    }
  }
}

void Interpreter::run(const Spec& spec, const Impl& impl, const Block&, const Views& views) {
  for (const Child& part : children(p_, spec, impl)) node(part.spec, *part.impl, views);
}

void Interpreter::run(const Spec& spec, const Impl&, const Call& n, const Views& views) {
  if (n.kind == Call::Kind::kLeaf) return leaf(spec, views);
  const View& out = views[c_.inputs()];
  const double nothing = neutral(c_.combine, c_.compute);
  for_each(spec.extent, kAllDims & ~reductions_, {},
           [&](const Extents& x) { out.write(x, nothing); });
}

void Interpreter::leaf(const Spec& spec, const Views& views) {
  const View& out = views[c_.inputs()];
  const bool sums = spec.place[c_.inputs()].packed;  // a copy holds sums
  for_each(spec.extent, kAllDims & ~reductions_, {}, [&](const Extents& x) {
    double sum = spec.accumulate ? out.read(x) : neutral(c_.combine, c_.compute);
    for_each(spec.extent, reductions_, x, [&](const Extents& point) {
      const double value = term(c_.body, point, views);
      sum = c_.reduces() ? join(sum, value) : value;
    });
    out.write(x, sums ? sum : finished(sum, x, views));
  });
}

double Interpreter::finished(double sum, const Extents& index, const Views& views) {
  if (c_.finish.empty()) return sum;
  return term(c_.finish, index, views, is_float(c_.compute) ? sum : wrap_i32(sum));
}

double Interpreter::term(const Expression& e, const Extents& index, const Views& views,
                         double value) {
  std::array<double, kMaxTensors> values{};
  const size_t first = c_.operands.size();
  const auto inputs = static_cast<size_t>(operands_of(e, Fn::kInput));
  const auto extras = static_cast<size_t>(operands_of(e, Fn::kExtra));
  for (size_t i = 0; i < inputs; ++i) values[i] = views[i].read(index);
  for (size_t i = 0; i < extras; ++i) values[first + i] = views[first + i].read(index);
  return evaluate(e, std::span(values).first(inputs), std::span(values).subspan(first, extras),
                  value);
}

// What is stored of a sum: of integers what 32 bits hold after wrapping, clamped where they are 16.
double stored(double value, Dtype t) {
  if (is_float(t)) return value;
  const double wrapped = wrap_i32(value);
  return t == Dtype::i16 ? clamp_i16(wrapped) : wrapped;
}

std::vector<double> Interpreter::program(const Impl& impl,
                                         const std::vector<std::vector<double>>& inputs) {
  const Spec root = p_.root();
  const int out = c_.inputs();
  std::vector<Buffer> buffers;
  Views views;
  const auto tensors = static_cast<size_t>(c_.tensors());
  for (size_t t = 0; t < tensors; ++t) {
    views[t].map = p_.root_address(static_cast<int>(t));
    buffers.emplace_back(c_.tensor(static_cast<int>(t)).name, views[t].map.elements);
  }
  for (int t = 0; t < c_.tensors(); ++t) {
    views[t].buffer = &buffers[t];
    if (t == out && root.accumulate)
      for_each(root.extent, touched(t), {},
               [&](const Extents& x) { views[t].write(x, neutral(c_.combine, c_.compute)); });
    if (t == out) continue;
    const std::vector<double>& given = inputs[t < out ? t : t - 1];
    const View inside{&buffers[t], p_.given(t), first_inside(t)};
    for_each(root.extent, touched(t), {}, [&](const Extents& x) {
      if (const i64 at = dense(t, x); at >= 0) inside.write(x, given.at(at));
    });
  }
  node(root, impl, views);

  std::vector<double> result(count_elements(c_.output().shape), 0.0);
  const View written{&buffers[out], p_.given(out)};
  for_each(root.extent, touched(out), {}, [&](const Extents& x) {
    result.at(dense(out, x)) = stored(written.read(x), c_.output().dtype);
  });
  return result;
}

}  // namespace

std::vector<double> interpret(const Problem& p, const Impl& impl,
                              const std::vector<std::vector<double>>& inputs) {
  const std::string why = verify(p, p.root(), impl);
  MORELLO_CHECK(why.empty(), "{}\n{}", why, print(p, impl));
  MORELLO_CHECK(inputs.size() + 1 == static_cast<size_t>(p.computation->tensors()));
  return Interpreter(p).program(impl, inputs);
}

}  // namespace morello
