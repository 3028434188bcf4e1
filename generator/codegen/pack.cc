// A copy is a loop nest over every box of its tile (copy_box.h), outermost the largest stride of
// the packed buffer, so that it is read or written as one sequential stream. Where the innermost
// digit is adjacent on both sides it is a run, moved by memcpy or, converting, by vector rows of
// the ISA; else elements move one by one. Padding is zeroed after that.
#include "codegen/pack.h"

#include <span>

#include "codegen/copy_box.h"

namespace morello {
namespace {

// Most elements, and most vectors, written without a loop.
constexpr i64 kUnrolledElements = 16;
constexpr i64 kUnrolledVectors = 4;

// Where a box, or what is left of it, begins: expressions.
struct Cursor {
  std::string packed, other;
};

const Access* find_access(const Isa& isa, auto matches) {
  for (std::span<const Access> rows : isa.accesses)
    for (const Access& a : rows)
      if (matches(a)) return &a;
  return nullptr;
}

// The load and the store that convert `from` to `to`; lanes * group elements at once.
struct Conversion {
  const Access* load = nullptr;
  const Access* store = nullptr;
};
Conversion find_conversion(const Isa& isa, Dtype from, Dtype to, bool vector) {
  const auto kind = vector ? Access::Kind::kVector : Access::Kind::kBroadcast;
  for (Dtype reg : {Dtype::f32, Dtype::i32, Dtype::i16}) {
    const Access* load = find_access(isa, [&](const Access& a) {
      return a.kind == kind && (a.lanes > 1) == vector && a.memory == from && a.reg == reg &&
             a.regs == 1;
    });
    const Access* store = find_access(isa, [&](const Access& a) {
      return a.kind == Access::Kind::kStore && (a.lanes > 1) == vector && a.memory == to &&
             a.reg == reg && a.regs == 1;
    });
    if (load && store && load->lanes * load->group == store->lanes * store->group)
      return {load, store};
  }
  return {};
}

class PackWriter {
 public:
  PackWriter(const Isa& isa, const PackJob& job) : isa_(isa), job_(job) {}
  std::string body();

 private:
  using Digits = std::span<const BoxDigit>;

  Dtype from() const { return job_.into_packed ? job_.other_type : job_.packed_type; }
  Dtype to() const { return job_.into_packed ? job_.packed_type : job_.other_type; }
  const std::string& source(const Cursor& c) const { return job_.into_packed ? c.other : c.packed; }
  const std::string& target(const Cursor& c) const { return job_.into_packed ? c.packed : c.other; }
  static Cursor moved(const Cursor& c, const BoxDigit& d, i64 by) {
    return {at(c.packed, by * d.packed), at(c.other, by * d.other)};
  }

  void loops(Digits digits, const Cursor& c, auto inner);
  void elements(Digits digits, const Cursor& c);
  void each(const BoxDigit& d, const Cursor& c);
  void run(i64 count, const Cursor& c);
  void convert(const Conversion& v, const Cursor& c);
  void move_one(const Cursor& c);

  const Isa& isa_;
  const PackJob& job_;
  Writer w_{1};
  Names names_;
};

// What a loop does to a pointer; `type` spells it.
std::string stepped(Writer& w, Names& names, const std::string& type, std::string_view stem,
                    const std::string& pointer, const std::string& i, i64 stride) {
  const std::string next = names.fresh(stem);
  w.line("{} {} = {} + {} * {};", type, next, pointer, i, stride);
  return next;
}

std::string open_loop(Writer& w, Names& names, i64 count) {
  const std::string i = names.fresh("i");
  w.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", i, count);
  return i;
}

void zero(Writer& w, const Box& box, Dtype t) {
  Names names;
  std::span<const BoxDigit> digits = box.digits;
  const bool dense = !digits.empty() && digits.back().packed == 1;
  const i64 run = dense ? digits.back().count : 1;
  if (dense) digits = digits.first(digits.size() - 1);
  std::string pointer = at("dst", box.packed);
  for (const BoxDigit& d : digits) {
    const std::string i = open_loop(w, names, d.count);
    pointer = stepped(w, names, mutable_pointer(t), "zero", pointer, i, d.packed);
  }
  w.line("__builtin_memset({}, 0, {});", pointer, run * bytes(t));
  for (size_t i = 0; i < digits.size(); ++i) w.close();
}

std::string PackWriter::body() {
  const bool in = job_.into_packed;
  for (const Box& box : element_boxes(job_.packed, job_.other, job_.extent))
    elements(box.digits, {at(in ? "dst" : "src", box.packed), at(in ? "src" : "dst", box.other)});
  if (in)
    for (const Box& box : padding_boxes(job_.packed, job_.extent)) zero(w_, box, to());
  return w_.text();
}

void PackWriter::loops(Digits digits, const Cursor& c, auto inner) {
  if (digits.empty()) return inner(c);
  const BoxDigit& d = digits.front();
  if (d.count == 1) return loops(digits.subspan(1), c, inner);
  const std::string i = open_loop(w_, names_, d.count);
  auto step = [&](bool is_target, const std::string& pointer, i64 stride) {
    return stepped(w_, names_, is_target ? mutable_pointer(to()) : const_pointer(from()),
                   is_target ? "dst" : "src", pointer, i, stride);
  };
  const Cursor next = {step(job_.into_packed, c.packed, d.packed),
                       step(!job_.into_packed, c.other, d.other)};
  loops(digits.subspan(1), next, inner);
  w_.close();
}

void PackWriter::elements(Digits digits, const Cursor& c) {
  if (digits.empty()) return move_one(c);
  const BoxDigit& last = digits.back();
  loops(digits.first(digits.size() - 1), c, [&](const Cursor& inside) {
    if (last.packed == 1 && last.other == 1)
      run(last.count, inside);
    else
      each(last, inside);
  });
}

void PackWriter::each(const BoxDigit& d, const Cursor& c) {
  if (d.count > kUnrolledElements) {
    const auto one = [&](const Cursor& inside) { move_one(inside); };
    return loops({&d, 1}, c, one);
  }
  for (i64 i = 0; i < d.count; ++i) move_one(moved(c, d, i));
}

void PackWriter::run(i64 count, const Cursor& c) {
  constexpr BoxDigit kUnit = {1, 1, 1};
  if (from() == to())
    return w_.line("__builtin_memcpy({}, {}, {});", target(c), source(c), count * bytes(to()));
  i64 done = 0;
  if (const Conversion v = find_conversion(isa_, from(), to(), true); v.load) {
    const i64 width = v.load->lanes * v.load->group;
    const BoxDigit vectors = {count / width, width, width};
    done = vectors.count * width;
    if (vectors.count > kUnrolledVectors)
      loops({&vectors, 1}, c, [&](const Cursor& inside) { convert(v, inside); });
    else
      for (i64 i = 0; i < vectors.count; ++i) convert(v, moved(c, vectors, i));
  }
  each({count - done, 1, 1}, moved(c, kUnit, done));
}

void PackWriter::convert(const Conversion& v, const Cursor& c) {
  const std::string value = names_.fresh("v");
  w_.line("{} {};", isa_.register_type(v.load->reg), value);
  for (const Access* a : {v.load, v.store})
    w_.code(expand(
        a->code,
        {{"p", a == v.load ? source(c) : target(c)}, {"r0", value}, {"t", names_.fresh("t")}}));
}

void PackWriter::move_one(const Cursor& c) {
  if (from() == to()) return w_.line("*({}) = *({});", target(c), source(c));
  const Conversion v = find_conversion(isa_, from(), to(), false);
  MORELLO_CHECK(v.load, "{} cannot convert {} to {}", isa_.name, name(from()), name(to()));
  const std::string value = names_.fresh("v");
  const std::string load = expand(v.load->code, {{"p", source(c)}, {"r0", value}});
  w_.line("const {} {}", c_type(v.load->reg), load);
  w_.code(expand(v.store->code, {{"p", target(c)}, {"r0", value}}));
}

}  // namespace

std::string pack_function(Functions& functions, const Isa& isa, const PackJob& job) {
  const Dtype from = job.into_packed ? job.other_type : job.packed_type;
  const Dtype to = job.into_packed ? job.packed_type : job.other_type;
  const std::string params =
      fmt::format("const {}* __restrict src, {}* __restrict dst", c_type(from), c_type(to));
  return functions.add(job.into_packed ? "pack" : "unpack", params, PackWriter(isa, job).body());
}

std::string fill_function(Functions& functions, const Ref& out, const Extents& extent) {
  Writer w(1);
  zero(w, whole_box(out.map, extent), out.dtype);
  return functions.add("fill", mutable_pointer(out.dtype) + " dst", w.text());
}

}  // namespace morello
