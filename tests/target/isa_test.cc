// Laws of the rows that need no compiler: what they say about themselves is consistent.
#include "target/isa.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

namespace morello {
namespace {

// The placeholders in a template: "{c} = {a};" gives {"c", "a"}.
std::set<std::string> placeholders(std::string_view code) {
  std::set<std::string> found;
  for (size_t at = code.find('{'); at != code.npos; at = code.find('{', at + 1))
    found.emplace(code.substr(at + 1, code.find('}', at) - at - 1));
  return found;
}
using Names = std::set<std::string>;

TEST_CASE("the tables") {
  REQUIRE(isa_table().size() == 6);
  CHECK(find_isa("avx512_bf16") == isa_table()[0]);
  CHECK(find_isa("avx512_vnni") == isa_table()[1]);
  CHECK(find_isa("avx512") == isa_table()[2]);
  CHECK(find_isa("avx2_vnni") == isa_table()[3]);
  CHECK(find_isa("avx2") == isa_table()[4]);
  CHECK(find_isa("scalar") == isa_table()[5]);
  CHECK(find_isa("avx") == nullptr);
  CHECK(find_isa("scalar")->runs_here());
  CHECK(find_isa("avx2")->register_type(Dtype::f32, 8) == "__m256");
  CHECK(&meaning("(a: f32[8], b: f32[8]): f32[8] = add(a, b)") ==
        &meaning("(a: f32[8], b: f32[8]): f32[8] = add(a, b)"));
}

// What extends another instruction set has all its rows, and runs on no CPU that lacks it.
TEST_CASE("extensions") {
  const auto has = [](const auto& all, const auto& rows) {
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& r) { return r.data() == rows.data(); });
  };
  for (const Isa* isa : isa_table()) {
    if (isa->base == nullptr) continue;
    CAPTURE(isa->name);
    for (const auto& rows : isa->base->kernels) CHECK(has(isa->kernels, rows));
    for (const auto& rows : isa->base->accesses) CHECK(has(isa->accesses, rows));
    for (const auto& rows : isa->base->transposes) CHECK(has(isa->transposes, rows));
    for (const auto& rows : isa->base->functions) CHECK(has(isa->functions, rows));
    for (const auto& rows : isa->base->folds) CHECK(has(isa->folds, rows));
    for (const std::string_view f : isa->base->cpu_features)
      CHECK(std::count(isa->cpu_features.begin(), isa->cpu_features.end(), f) == 1);
    CHECK((!isa->runs_here() || isa->base->runs_here()));
  }
}

TEST_CASE("names are unique within an instruction set") {
  for (const Isa* isa : isa_table()) {
    std::set<std::string_view> names;
    for (const auto& rows : isa->kernels)
      for (const Kernel& k : rows) CHECK_MESSAGE(names.insert(k.name).second, k.name);
    for (const auto& rows : isa->accesses)
      for (const Access& a : rows) CHECK_MESSAGE(names.insert(a.name).second, a.name);
    for (const auto& rows : isa->transposes)
      for (const Transpose& t : rows) CHECK_MESSAGE(names.insert(t.name).second, t.name);
    for (const auto& rows : isa->folds)
      for (const Fold& f : rows) CHECK_MESSAGE(names.insert(f.name).second, f.name);
    names.clear();
    for (const auto& rows : isa->functions)
      for (const Function& f : rows) CHECK_MESSAGE(names.insert(f.name).second, f.name);
  }
}

void check_kernel(const Isa& isa, const Kernel& k) {
  CAPTURE(k.name);
  const Computation& c = meaning(k.implements);
  Names inputs = {"a", "c"};
  if (c.inputs() == 2) inputs.insert("b");
  // What maps without a sum has no code of its own.
  CHECK((k.maps || c.reduces()));
  CHECK(placeholders(k.code) == (c.reduces() ? inputs : Names{}));
  if (k.maps) CHECK((k.group == 1 && k.input == k.output && k.input_b == k.output));
  CHECK((k.pair.empty() || (c.inputs() == 1 && c.reduces())));
  if (!k.once.empty()) CHECK(placeholders(k.once) == placeholders(k.code));
  if (!k.pair.empty()) CHECK(placeholders(k.pair) == Names{"a", "b", "c"});
  CHECK(placeholders(k.finish) == (k.lanes_reduce ? Names{"c", "s"} : Names{}));
  if (c.reduces()) {
    CHECK(isa.function(joined_by(c.combine), k.output, k.lanes) != nullptr);
    CHECK(isa.function(joined_by(c.combine), k.output, 1) != nullptr);
    if (k.lanes > 1) CHECK(placeholders(isa.splat(k.output, k.lanes)) == Names{"x"});
    if (k.lanes_reduce) CHECK(placeholders(isa.blend(k.output, k.lanes)) == Names{"a", "b", "m"});
    if (k.lanes > 1) CHECK(placeholders(isa.spread(k.output, k.lanes)) == Names{"a", "i"});
  } else {
    CHECK(!k.lanes_reduce);
  }
  i64 parallel = 1;
  i64 reduced = 1;
  for (const Dim& d : c.dims) (d.reduction ? reduced : parallel) *= d.extent;
  CHECK(parallel == (k.lanes_reduce ? 1 : k.lanes));
  CHECK(reduced == (k.lanes_reduce ? k.lanes * k.group : k.group));
  CHECK(c.compute == k.output);
  if (k.lanes > 1) {
    CHECK(isa.register_type(k.input, k.lanes) != "");
    CHECK(isa.register_type(k.input_b, k.lanes) != "");
    CHECK(isa.register_type(k.output, k.lanes) != "");
  }
}

void check_access(const Access& a) {
  CAPTURE(a.name);
  const Computation& c = meaning(a.implements);
  const bool store = a.kind == Access::Kind::kStore;
  Names names = {"p", "r0"};
  if (a.regs == 2) names.insert("r1");
  Names given = placeholders(a.code);
  given.erase("t");
  CHECK(given == names);
  if (!a.partial.empty()) {
    given = placeholders(a.partial);
    given.erase("t");
    names.insert(given.contains("count") ? "count" : "n");
    CHECK(given == names);
    // The bound of a family counts whole vectors only (search/leaf_cost.cc).
    CHECK(a.partial_uops.fma >= a.uops.fma);
    CHECK(a.partial_uops.bf16 >= a.uops.bf16);
    CHECK(a.partial_uops.alu >= a.uops.alu);
    CHECK(a.partial_uops.load >= a.uops.load);
    CHECK(a.partial_uops.store >= a.uops.store);
  }
  if (!a.streamed.empty()) {
    CHECK(store);
    given = placeholders(a.streamed);
    given.erase("t");
    CHECK(given == Names{"p", "r0"});
    // Whole vectors in a run stay aligned if the first is.
    CHECK(a.streamed_alignment > 0);
    CHECK(a.lanes * a.group * bytes(a.memory) % a.streamed_alignment == 0);
  }
  const i64 moved = a.group * (a.kind == Access::Kind::kBroadcast ? 1 : a.lanes * a.regs);
  CHECK(c.dims.size() == 1);
  CHECK(c.dims[0].extent == moved);
  // Registers of i16 hold what is computed in i32: their stores name that. Bytes are no result, and
  // stored as they were loaded.
  if (store && bytes(a.memory) == 1)
    CHECK((c.operands[0].dtype == a.memory && c.output().dtype == a.reg));
  else if (!(store && a.reg == Dtype::i16))
    CHECK((store ? c.output().dtype : c.operands[0].dtype) == a.memory);
}

void check_transpose(const Transpose& t) {
  CAPTURE(t.name);
  Names names;
  for (int i = 0; i < (t.dense_rows ? 1 : t.rows); ++i) names.insert(fmt::format("s{}", i));
  for (int i = 0; i < (t.dense_columns ? 1 : t.columns); ++i) names.insert(fmt::format("d{}", i));
  CHECK(placeholders(t.code) == names);
  if (!t.partial.empty()) {
    names.insert("n");
    CHECK(placeholders(t.partial) == names);
    CHECK(t.dense_columns);
  }
  CHECK((t.dense_rows || t.rows <= 8));
  CHECK((t.dense_columns || t.columns <= 8));
}

void check_function(const Isa& isa, const Function& f) {
  CAPTURE(f.name);
  const FnDef* def = fn_def(f.fn);
  REQUIRE(def != nullptr);
  Names operands = {"a", "c"};
  if (def->arity > 1) operands.insert("b");
  if (def->arity > 2) operands.insert("d");
  CHECK(placeholders(f.code) == operands);
  CHECK((f.type == Dtype::f32 || (f.type == Dtype::i32 && def->integer != nullptr)));
  if (f.lanes > 1) CHECK(isa.register_type(f.type, f.lanes) != "");
  // The first row that fits is the one in use.
  CHECK(isa.function(f.fn, f.type, f.lanes)->uops.fma <= f.uops.fma);
}

// Leaves with no register for the constants of a row take another one, and nobody else does.
void check_stand_in(const Isa& isa, const Access& a) {
  CHECK((a.constants > 0) == !a.crowded.empty());
  const auto pairs = [&](const Access& b) {
    return a.crowded == b.name && b.stands_in && b.implements == a.implements &&
           b.uops.load > a.uops.load;
  };
  const auto named = [&](const Access& b) { return b.crowded == a.name; };
  i64 stands_in = 0, stood_for = 0;
  for (const auto& rows : isa.accesses) {
    stands_in += std::count_if(rows.begin(), rows.end(), pairs);
    stood_for += std::count_if(rows.begin(), rows.end(), named);
  }
  CHECK(stands_in == (a.crowded.empty() ? 0 : 1));
  CHECK(stood_for == (a.stands_in ? 1 : 0));
}

TEST_CASE("every row agrees with what it implements") {
  for (const Isa* isa : isa_table()) {
    CAPTURE(isa->name);
    for (const auto& rows : isa->kernels)
      for (const Kernel& k : rows) check_kernel(*isa, k);
    for (const auto& rows : isa->accesses)
      for (const Access& a : rows) {
        check_access(a);
        check_stand_in(*isa, a);
        CHECK((a.streamed.empty() || !isa->fence.empty()));
      }
    for (const auto& rows : isa->transposes)
      for (const Transpose& t : rows) check_transpose(t);
    for (const auto& rows : isa->functions)
      for (const Function& f : rows) check_function(*isa, f);
  }
}

// Lanes that run along a reduction are folded four registers at a time, by a Function or by what a
// row has for registers that it says something of.
TEST_CASE("every row whose lanes are summed has a fold") {
  for (const Isa* isa : isa_table()) {
    CAPTURE(isa->name);
    for (const auto& rows : isa->kernels)
      for (const Kernel& k : rows) {
        CAPTURE(k.name);
        CHECK(k.join.empty() == k.ordered.empty());
        if (!k.lanes_reduce) continue;
        CHECK(isa->fold(k.output, k.lanes) != nullptr);
        CHECK(isa->function(joined_by(meaning(k.implements).combine), k.output, k.lanes) !=
              nullptr);
      }
    for (const auto& rows : isa->folds)
      for (const Fold& f : rows)
        CHECK((1 << (f.halves.size() + 2)) == f.lanes);  // four, and a half for every doubling
  }
}

// Of every function, on one element and on the widest registers.
TEST_CASE("every instruction set has every function") {
  for (const Isa* isa : isa_table()) {
    CAPTURE(isa->name);
    for (const FnDef& def : fn_table())
      for (const int lanes : {1, isa->widest()}) {
        CAPTURE(def.name);
        CAPTURE(lanes);
        CHECK(isa->function(def.fn, Dtype::f32, lanes) != nullptr);
        if (def.integer != nullptr) CHECK(isa->function(def.fn, Dtype::i32, lanes) != nullptr);
      }
  }
}

// What a leaf needs for an operand of each type it may meet.
TEST_CASE("every instruction set reaches every type") {
  for (const Isa* isa : isa_table()) {
    CAPTURE(isa->name);
    const auto has = [&](Access::Kind kind, Dtype memory, Dtype reg) {
      for (const auto& rows : isa->accesses)
        for (const Access& a : rows)
          if (a.kind == kind && a.takes(memory) && a.reg == reg) return true;
      return false;
    };
    for (const Dtype t : kDtypes) {
      CAPTURE(name(t));
      CHECK(has(Access::Kind::kBroadcast, t, accumulator(t)));
      CHECK(has(Access::Kind::kBroadcast, t, Dtype::f32));
    }
    for (const Dtype t : {Dtype::f32, Dtype::bf16, Dtype::f16})
      CHECK(has(Access::Kind::kStore, t, Dtype::f32));
    CHECK(has(Access::Kind::kStore, Dtype::i32, Dtype::i32));
  }
}

}  // namespace
}  // namespace morello
