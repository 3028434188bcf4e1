// From memory to accumulators and back: where sums begin, what is made of them, where they go.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/access.h"
#include "codegen/expression.h"
#include "codegen/finish.h"
#include "codegen/leaf_writer.h"
#include "impl/finishing.h"

namespace morello {

void LeafWriter::accumulators() {
  std::vector<std::string> names;
  each(output_instances(), [&](const Extents& instance) {
    for (i64 s = 0; s < sets_; ++s) names.push_back(reg(out_, instance, s));
  });
  w_.line("{} {};", reg_type(k_.output), fmt::join(names, ", "));
  const std::string zero = splat(*f_.isa, k_.output, k_.lanes, neutral(c_.combine, k_.output));
  for (const std::string& name : names) w_.line("{} = {};", name, zero);
}

// Sums that go on are added to what is there when they are done: where they started from it, every
// chain of multiply-adds waited for loads that nobody had asked for. (store_scalar() does the
// same.)
void LeafWriter::add_old() {
  if (k_.lanes_reduce) return;
  const auto add = [&] {
    each(output_instances(), [&](const Extents& instance) {
      const std::string old = names_.fresh("old");
      w_.line("{} {};", reg_type(k_.output), old);
      read_vector(w_, names_, *f_.reload, job_.refs[out_].dtype, pointer(out_),
                  output_offsets(instance), old, lanes_there(instance));
      join(reg(out_, instance), old, k_.lanes);
    });
  };
  w_.either(
      "accumulate", job_.accumulate, [] {}, add);
}

// Of an elastic dim, how many lanes of this instance there are; of others nothing.
std::string LeafWriter::lanes_there(const Extents& instance) const {
  return masks_lanes() ? fmt::format("lanes{}", instance[f_.lane]) : "";
}

void LeafWriter::count_lanes() {
  if (!masks_lanes()) return;
  for (i64 i = 0; i < count_[f_.lane]; ++i) {
    const std::string name = fmt::format("lanes{}", i), all = length_name(f_.lane);
    if (count_[f_.lane] == 1) {
      w_.line("const std::ptrdiff_t {} = {};", name, all);
      continue;
    }
    const i64 from = i * k_.lanes;
    w_.line("const std::ptrdiff_t {0} = {1} < {2} ? 0 : {1} < {3} ? {1} - {2} : {4};", name, all,
            from, from + k_.lanes, k_.lanes);
  }
}

// Offsets of the output elements one accumulator holds.
std::vector<Offset> LeafWriter::output_offsets(const Extents& instance) const {
  Extents index;
  for (int d = 0; d < kMaxDims; ++d) index[d] = instance[d] * unit_[d];
  i64 n = 1;
  const bool vector = k_.lanes > 1 && !k_.lanes_reduce;
  if (vector) n = std::min<i64>(k_.lanes, job_.extent[f_.lane] - index[f_.lane]);
  return along_lanes(out_, index, n);
}

// No reduction: one load of every input at a time, straight through to the store.
void LeafWriter::elementwise() {
  Extents counts = count_;
  if (f_.lane >= 0) counts[f_.lane] = (counts[f_.lane] + regs_ - 1) / regs_;
  const Slot whole{0, k_.group, 0};
  load_shared_extras();
  const auto shared = extras_;
  prefetches_ = true;
  each(counts, [&](const Extents& at) {
    w_.open("{}", "");
    Extents first = at;
    if (f_.lane >= 0) first[f_.lane] *= regs_;
    auto covers = [&](int o, const Load& l) {
      for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
        const i64 width = d == f_.lane ? regs_ : 1;
        if (touches(o, d) && (l.instance[d] < first[d] || l.instance[d] >= first[d] + width))
          return false;
      }
      return true;
    };
    for (int o = 0; o < out_; ++o)
      for (const Load& l : loads(o, whole))
        if (covers(o, l)) load(o, l, whole);
    for (i64 r = 0; r < regs_; ++r) {
      Extents instance = first;
      if (f_.lane >= 0) instance[f_.lane] += r;
      if (f_.lane >= 0 && instance[f_.lane] >= count_[f_.lane]) continue;
      store_vector(instance, terms(c_.body, at_end(), instance, "").back());
    }
    extras_ = shared;
    w_.close();
  });
  extras_.clear();
}

void LeafWriter::join(const std::string& to, const std::string& from, int lanes) {
  const Function& f = *f_.isa->function(joined_by(c_.combine), k_.output, lanes);
  for (std::string_view helper : f.helpers) functions_.need(helper);
  w_.code(expand(f.code, {{"c", to}, {"a", to}, {"b", from}}));
}

void LeafWriter::join_sets() {
  each(output_instances(), [&](const Extents& instance) {
    for (i64 step = 1; step < sets_; step *= 2)
      for (i64 s = 0; s + step < sets_; s += 2 * step)
        join(reg(out_, instance, s), reg(out_, instance, s + step), k_.lanes);
  });
}

// Whether what finishes a tile calls helpers. Put into the leaf, for every accumulator, GCC 12
// keeps their constants in registers while the sums are computed and spills sums (gelu_tanh of
// 512^3: 3414 us for 2479 without it by AVX2, 4217 for 1582 by AVX-512).
bool LeafWriter::finishes_apart() const { return finishes_ && finishes_by_helpers(f_, c_); }

// The sums go to a local array, lanes innermost, and another function finishes that.
void LeafWriter::finish_apart() {
  AddressMap map;
  i64 stride = count_[f_.lane] * k_.lanes;
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
    if (c_.dims[d].reduction) continue;
    map.terms.push_back({.dim = d, .stride = d == f_.lane ? 1 : stride});
    if (d != f_.lane) stride *= job_.extent[d];
  }
  map.elements = stride;
  const std::string sums = names_.fresh("sums");
  w_.line("alignas(64) {} {}[{}];", c_type(k_.output), sums, stride);
  each(output_instances(), [&](const Extents& instance) {
    Extents index;
    for (int d = 0; d < kMaxDims; ++d) index[d] = instance[d] * unit_[d];
    w_.code(expand(store_access(f_, true)->code,
                   {{"p", at(sums, map.place(index))}, {"r0", reg(out_, instance)}}));
  });
  FinishJob job{.sums = map, .refs = job_.refs, .extent = job_.extent};
  for (int t = 0; t < c_.tensors(); ++t) job.refs[t].pointer = stem(t);
  w_.line("{}({});", finish_function(functions_, p_, job), finish_arguments(p_, job, sums));
}

void LeafWriter::store_all() {
  if (finishes_apart()) return finish_apart();
  const Folding how = folding(f_, c_, job_.refs[out_].map);
  if (how.row != nullptr) return fold_all(how);
  each(output_instances(), [&](const Extents& instance) { store(instance); });
}

void LeafWriter::store(const Extents& instance) {
  if (k_.lanes_reduce) return store_scalar(instance);
  const std::string sum = reg(out_, instance);
  store_vector(instance, finishes_ ? terms(c_.finish, at_end(), instance, sum).back() : sum);
}

void LeafWriter::store_vector(const Extents& instance, const std::string& value) {
  const Access& a = *store_access(f_, job_.refs[out_].packed);
  const std::vector<Offset> offsets = output_offsets(instance);
  const auto plain = [&] {
    write_vector(w_, names_, a, job_.refs[out_].dtype, pointer(out_), offsets, value,
                 lanes_there(instance));
  };
  const bool whole =
      adjacent(offsets) && !masks_lanes() && offsets.size() == static_cast<size_t>(a.lanes);
  if (!job_.call.streaming || !whole) return plain();
  // Where offsets are multiples of the alignment compilers test the pointer once.
  const std::string p = at(pointer(out_), offsets[0]);
  w_.open("if ((reinterpret_cast<std::uintptr_t>({}) & {}u) == 0)", p, a.streamed_alignment - 1);
  w_.code(expand(a.streamed, {{"p", p}, {"r0", value}, {"t", names_.fresh("t")}}));
  w_.otherwise();
  plain();
  w_.close();
}

// What the body reads beside its inputs stays in registers while the reduction runs.
void LeafWriter::load_body_extras() {
  each(output_instances(), [&](const Extents& instance) {
    for (int e = 0; e < operands_of(c_.body, Fn::kExtra); ++e)
      if (f_.body_extras[e]) extra(e, in_body(), instance);
  });
}

// These stay in registers while vectors are stored: compilers cannot know that they are not stored
// to.
void LeafWriter::load_shared_extras() {
  for (int e = 0; e < operands_of(c_.body, Fn::kExtra); ++e)
    if (names(c_.body, Fn::kExtra, e) && shared_by_vectors(f_, c_, c_.tensor(out_ + 1 + e)))
      extra(e, at_end(), {});
}

Extents LeafWriter::index_of_extra(int e, const Extents& instance) const {
  Extents index{};
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d)
    if (morello::touches(c_.extras[e], d)) index[d] = instance[d] * unit_[d];
  return index;
}

// An operand beside the accumulator of an instance; it is loaded once for all that share it.
std::string LeafWriter::extra(int e, const Beside& b, const Extents& instance) {
  if (b.fold) return extra_of_four(e, b);
  const Extents index = index_of_extra(e, instance);
  const auto [found, added] = extras_.try_emplace({e, {index}});
  std::string& name = found->second;
  if (!added) return name;
  const int tensor = static_cast<int>(c_.operands.size()) + e;
  name = names_.fresh("e");
  w_.line("{} {};", b.lanes == 1 ? c_type(b.type) : reg_type(b.type), name);
  const Access& a = *b.loads[e];
  const auto n = static_cast<i64>(output_offsets(instance).size());
  read_vector(w_, names_, a, job_.refs[tensor].dtype, stem(tensor),
              along_lanes(tensor, index, a.kind == Access::Kind::kVector ? n : 1), name,
              morello::touches(c_.tensor(tensor), f_.lane) ? lanes_there(instance) : "");
  return name;
}

// Registers with the terms for one vector: of the sum `value`, or of the inputs.
std::vector<std::string> LeafWriter::terms(const Expression& e, const Beside& b,
                                           const Extents& instance, const std::string& value) {
  std::vector<std::string> inputs, extras;
  for (int o = 0; o < operands_of(e, Fn::kInput); ++o) inputs.push_back(reg(o, instance));
  for (int o = 0; o < operands_of(e, Fn::kExtra); ++o)
    extras.push_back(names(e, Fn::kExtra, o) ? extra(o, b, instance) : "");
  return write_terms(w_, names_, functions_, *f_.isa, b.lanes, e,
                     {.inputs = inputs, .extras = extras, .value = value});
}

// The lanes of one accumulator summed.
void LeafWriter::store_scalar(const Extents& instance) {
  for (std::string_view helper : k_.helpers) functions_.need(helper);
  const std::string sum = names_.fresh("s");
  w_.line("{} {};", c_type(k_.output), sum);
  w_.code(expand(k_.finish, {{"c", reg(out_, instance, 0)}, {"s", sum}}));
  store_sum(instance, sum);
}

// A sum, a variable, added to the old value if there is one.
void LeafWriter::store_sum(const Extents& instance, const std::string& sum) {
  w_.either(
      "accumulate", job_.accumulate, [] {}, [&] { join(sum, old_element(instance), 1); });
  store_element(instance, finishes_ ? terms(c_.finish, at_end(), instance, sum).back() : sum);
}

std::string LeafWriter::old_element(const Extents& instance) {
  const std::string old = names_.fresh("s");
  w_.line("{} {};", c_type(k_.output), old);
  w_.code(expand(f_.reload->code,
                 {{"p", at(pointer(out_), output_offsets(instance)[0])}, {"r0", old}}));
  return old;
}

void LeafWriter::store_element(const Extents& instance, const std::string& value) {
  w_.code(expand(store_access(f_, job_.refs[out_].packed)->code,
                 {{"p", at(pointer(out_), output_offsets(instance)[0])}, {"r0", value}}));
}

}  // namespace morello
