// Random programs that verify() calls legal compute what their specs mean. This is the test of the
// legality rules from the other side: a rule that is missing lets a program through that reads
// memory it must not, or adds up the wrong elements.

#include <algorithm>
#include <map>
#include <optional>

#include "fixture.h"
#include "impl/clip.h"
#include "impl/shares.h"
#include "spec/algebra.h"

namespace morello {
namespace {

using test::Random;

ImplPtr make(Impl impl) { return std::make_shared<const Impl>(std::move(impl)); }

// Grows a program from the root: proposes nodes at random, keeps those that are legal with holes
// below them, and fills the holes.
class Grower {
 public:
  Grower(const Problem& p, Random& random, std::map<std::string, int>& kinds)
      : p_(p), c_(*p.computation), random_(random), kinds_(kinds) {}

  // Null where the choices made so far leave no way to a leaf.
  ImplPtr grow(const Spec& spec, int budget) {
    const Impl leaf{Call{}};
    const bool complete = verify(p_, spec, leaf).empty();
    if (complete && (budget <= 0 || random_.one_in(3))) return make(count("call", leaf));
    for (int attempt = 0; budget > 0 && attempt < 20; ++attempt)
      if (std::optional<Impl> node = legal(spec, proposal(spec)))
        return with_children(spec, *node, budget);
    if (complete) return make(count("call", leaf));
    if (std::optional<Impl> node = towards_leaf(spec)) return with_children(spec, *node, budget);
    return nullptr;
  }

 private:
  const Impl& count(const std::string& kind, const Impl& impl) {
    ++kinds_[kind];
    return impl;
  }

  // Calls f(child, slot) for the children of a node and where they are stored.
  template <class F>
  void each_child(const Spec& spec, Impl& impl, F f) {
    const std::vector<Child> parts = children(p_, spec, impl);
    if (Loop* n = std::get_if<Loop>(&impl.node)) {
      for (const Child& part : parts) {
        const bool peeled = c_.dims[n->dim].reduction && !n->parallel && !part.spec.accumulate;
        f(part, part.spec.extent[n->dim] < n->tile ? n->rest : peeled ? n->first : n->body);
      }
    } else if (Move* n = std::get_if<Move>(&impl.node)) {
      f(parts[0], n->body);
    } else if (Clip* n = std::get_if<Clip>(&impl.node)) {
      n->parts.resize(parts.size());
      for (size_t i = 0; i < parts.size(); ++i) f(parts[i], n->parts[i]);
    } else if (Block* n = std::get_if<Block>(&impl.node)) {
      f(parts[1], n->parts[1]);
    }
  }

  std::optional<Impl> legal(const Spec& spec, Impl impl) {
    each_child(spec, impl,
               [&](const Child& child, ImplPtr& slot) { slot = make({Hole{child.spec}}); });
    if (!verify(p_, spec, impl).empty()) return std::nullopt;
    return impl;
  }

  ImplPtr with_children(const Spec& spec, Impl impl, int budget) {
    bool complete = true;
    each_child(spec, impl, [&](const Child& child, ImplPtr& slot) {
      slot = complete ? grow(child.spec, budget - 1) : nullptr;
      complete = complete && slot;
    });
    if (!complete) return nullptr;
    if (const Loop* n = std::get_if<Loop>(&impl.node)) {
      const bool reduction = c_.dims[n->dim].reduction;
      if (n->parallel && n->threads > 1) ++kinds_["parallel twice"];
      ++kinds_[n->parallel ? reduction ? "parallel split" : "parallel"
               : reduction ? "split"
                           : "loop"];
      if (n->rest) ++kinds_["rest"];
    } else if (const Move* n = std::get_if<Move>(&impl.node)) {
      ++kinds_[n->copy ? n->operand == c_.inputs() ? "copy out" : "copy in" : "view"];
    } else {
      ++kinds_[std::holds_alternative<Clip>(impl.node) ? "clip" : "block"];
    }
    return make(std::move(impl));
  }

  Impl proposal(const Spec& spec) {
    if (spec.uncut != 0 && random_.one_in(4))
      return {Clip{static_cast<int>(random_.below(static_cast<i64>(c_.dims.size()))), {}}};
    switch (random_.below(7)) {
      case 0:
        return {Block{{make({Call{Call::Kind::kFill, -1, 0}}), make({Hole{}})}}};
      case 1:
      case 2:
        return {Move{.operand = static_cast<int>(random_.below(c_.inputs() + 1)),
                     .level = static_cast<Level>(random_.between(kL1, kL3)),
                     .copy = !random_.one_in(3)}};
      default: {
        Loop n;
        n.dim = static_cast<int>(random_.below(static_cast<i64>(c_.dims.size())));
        n.tile = random_.between(1, std::max<i64>(1, spec.extent[n.dim] - 1));
        const i64 quantum = p_.family.quantum[n.dim];
        if (random_.one_in(2)) n.tile = std::max<i64>(1, n.tile / quantum) * quantum;
        n.parallel = spec.threads > 1 && (in_region(p_, spec) || !random_.one_in(3));
        if (n.parallel) n.threads = static_cast<int>(random_.between(1, spec.threads - 1));
        return {n};
      }
    }
  }

  std::optional<Impl> towards_leaf(const Spec& spec) {
    const int uncut = uncut_dims(clipped(c_), spec.uncut);
    for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
      if ((spec.threads == 1 || !in_region(p_, spec)) && (spec.uncut >> d & 1))
        return legal(spec, {Clip{d, {}}});
      if (c_.dims[d].reduction || spec.extent[d] <= p_.family.quantum[d] || (uncut >> d & 1))
        continue;
      Loop n;
      n.dim = d;
      n.tile = p_.family.quantum[d];
      n.parallel = spec.threads > 1;
      return legal(spec, {n});
    }
    for (int o = 0; o < c_.inputs(); ++o) {
      const Place& place = spec.place[o];
      if (place.packed || loads_given(p_.family, c_, o)) continue;
      const Level to = std::min(place.level, Level{kL3});
      return legal(spec, {Move{.operand = o, .level = to, .copy = true}});
    }
    return std::nullopt;
  }

  const Problem& p_;
  const Computation& c_;
  Random& random_;
  std::map<std::string, int>& kinds_;
};

constexpr std::string_view kSpecs[] = {
    "(a: f32[7,19], b: f32[19,37]): f32 = matmul(a, b)",
    "(a: f32[7,19] col, b: f32[19,37] col): f32 col = matmul(a, b)",
    "(a: f32[13,12], b: f32[12,50] packed): f32 = matmul(a, b)",
    "(a: f32[13,12] packed, b: f32[12,50] packed): f32 = matmul(a, b)",
    "(a: bf16[5,24], b: bf16[24,40] packed): f32 = matmul(a, b)",
    "(a: bf16[1,33], b: bf16[33,70]): bf16 = matmul(a, b)",
    "(a: f32[9,17], b: bf16[17,18] col): bf16 col = matmul(a, b)",
    "(a: bf16[2,33], b: bf16[33,36] col, c: f32[36]): bf16 = matmul(a, b) + c",
    "(a: f32[34,19], b: f32[19,3] col): f32 = matmul(a, b)",
    "(a: u8[6,21], b: i8[21,19]): i32 = matmul(a, b)",
    "(a: u8[6,21], b: i8[21,19] packed): i32 = matmul(a, b)",
    "(a: f32[2,5,7] col, b: f32[2,7,9]): f32 = matmul(a, b)",
    "(a: f32[6,12], b: f32[12,40] order(1/16, 0, 1%16)): f32 = matmul(a, b)",
    "(a: f32[6,12], b: f32[12,37] order(1/4, 0/6, 1%4, 0%6)): f32 = matmul(a, b)",
    "(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)",
    "(x: f32[5,7], y: f32[5,7] col): f32 = add(x, y)",
    "(x: i32[67]): i32 = mul(x, x)",
    "(x: bf16[9,5] col): f32 = convert(x)",
    "(x: f32[67]): bf16 = convert(x)",
    "(x: f32[5,7,11]): f32 = reduce_sum(x, axis=1)",
    "(x: f32[5,37]): f32 = reduce_sum(x, axis=1)",
    "(x: bf16[5,37]): bf16 = reduce_sum(x, axis=0)",
    "(a: f32[7,19], b: f32[19,37], c: f32[37]): f32 = max(matmul(a, b) + c, 0) * 0.5",
    "(a: bf16[5,19], b: f32[19,18] packed, c: bf16[5,18] col, d: f32[5]): bf16 = "
    "matmul(a, b) * broadcast(d, axis=1) - c",
    "(a: u8[6,21], b: i8[21,19], s: f32[1]): f32 = matmul(a, b) * s",
    "(x: f32[5,7], y: f32[5,7] col, z: bf16[7]): f32 = x * y + z",
    "(x: f32[5,37], y: f32[5]): bf16 = reduce_sum(x, axis=1) / 4 - y",
    "(x: f32[2,7,6,3], k: f32[3,3,3,9], b: f32[9]): f32 = "
    "relu(conv2d(pad(pad(x, axis=1, low=1, high=1), axis=2, low=2), k) - b)",
    "(x: bf16[1,9,8,8] order(0, 3, 1, 2), k: bf16[5,2,1,8] packed): bf16 order(0, 3, 1, 2) = "
    "conv2d(pad(x, axis=1, low=2, high=2), k, groups=8)",
    "(x: f32[1,11,4,2], k: f32[3,1,2,19]): f32 order(1/3, 0, 2, 1%3, 3) = "
    "conv2d(pad(x, axis=1, low=3, high=1), k, stride_h=2, dilation_h=2)",
};

// What a program is grown for: the only stage; of a padded one without its pads.
Computation computation_of(const KernelSpec& k) {
  const std::optional<Graph> g = unpadded(graph_of(k));
  return g ? g->stages[0].computation : k.computation();
}

TEST_CASE("random legal programs") {
  std::map<std::string, int> kinds;
  int programs = 0;
  for (std::string_view text : kSpecs) {
    const auto spec = test::spec(text);
    const Computation c = computation_of(*spec);
    std::vector<Family> all;
    for (const Isa* isa : isa_table())
      for (Family& f : families(c, *isa)) all.push_back(std::move(f));
    REQUIRE(!all.empty());
    for (int seed = 0; seed < 80; ++seed) {
      CAPTURE(text);
      CAPTURE(seed);
      Random random(seed);
      Problem p{&c, nullptr, all[random.below(static_cast<i64>(all.size()))],
                static_cast<int>(random.between(1, 5))};
      CAPTURE(p.family.str(c));
      ImplPtr impl;
      for (int attempt = 0; attempt < 10 && !impl; ++attempt)
        impl = Grower(p, random, kinds).grow(p.root(), static_cast<int>(random.between(0, 7)));
      if (!impl) continue;
      ++programs;
      if (p.family.apart >= 0) ++kinds["apart"];
      CAPTURE(print(p, *impl));
      CHECK(verify(p, p.root(), *impl) == "");
      CHECK(equal(*impl, *test::program(p, print(p, *impl))));
      const auto inputs = test::random_inputs(c, random);
      CHECK(interpret(p, *impl, inputs) == evaluate(c, inputs));
    }
  }
  MESSAGE(programs, " programs, ", kinds["apart"], " with rows apart");
  CHECK(programs > 1000);
  CHECK(kinds["apart"] > 20);
  for (const std::string kind :
       {"call", "loop", "split", "parallel", "parallel twice", "parallel split", "rest", "view",
        "copy in", "copy out", "clip", "block"}) {
    CAPTURE(kind);
    CHECK(kinds[kind] > 100);
  }
}

}  // namespace
}  // namespace morello
