// Loops follow the digits of the packed buffer, outermost first, so that it is read or written as
// one sequential stream. Where the last digit is adjacent on the other side too, the run is copied
// by memcpy or by vector rows of the ISA; a transposing run is written out element by element.
// A dim whose extent is no multiple of its block gets its last block peeled: there the inner digit
// stops early and the rest of the block is zeros.
#include "codegen/pack.h"

#include <algorithm>

namespace morello {
namespace {

// Longest transposing run written without a loop.
constexpr i64 kUnrolledRun = 16;

struct PackDigit {
  AddressTerm term;  // of the packed buffer
  i64 count = 1;
  i64 other = 0;  // stride on the other side
  bool leading() const { return term.mod == 0; }
};

// Where one element is moved from and to in the text, and what is known about the index there.
struct Cursor {
  std::string packed, other;
  std::array<i64, kMaxDims> valid{};          // > 0: in the ragged last block, which has this many
  std::array<std::string, kMaxDims> index{};  // of dims that are checked at run time
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
  PackWriter(const Isa& isa, const PackJob& job);
  std::string body();

 private:
  void classify(int dim);
  i64 other_stride(const AddressTerm& t) const;
  std::string other_offset(int dim, const std::string& index) const;
  Dtype from() const { return job_.into_packed ? job_.other_type : job_.packed_type; }
  Dtype to() const { return job_.into_packed ? job_.packed_type : job_.other_type; }

  void level(size_t i, const Cursor& at);
  void peeled(size_t i, const Cursor& at);
  void ragged(size_t i, const Cursor& at);
  void loop(size_t i, i64 count, const Cursor& at);
  Cursor step(size_t i, const std::string& value, const Cursor& at);
  void run(const PackDigit& d, i64 count, const Cursor& at);
  void vectors(i64 count, const Cursor& at, i64& done);
  void zero(const std::string& pointer, i64 offset, i64 count);
  void element(const Cursor& at);
  void move_one(const std::string& packed, const std::string& other);

  const Isa& isa_;
  const PackJob& job_;
  std::vector<PackDigit> digits_;
  // Dims whose index is computed and compared at run time: their digits do not fall into place one
  // by one (several inner digits in a ragged block, or other blocks on the other side).
  std::array<bool, kMaxDims> checked_{};
  std::array<bool, kMaxDims> irregular_{};  // blocks on the other side that are not ours
  Writer w_{1};
  Names names_;
};

PackWriter::PackWriter(const Isa& isa, const PackJob& job) : isa_(isa), job_(job) {
  for (const AddressTerm& t : job.packed.terms) {
    if (t.mod == 1) continue;
    const i64 count = t.mod != 0 ? t.mod : (job.extent[t.dim] + t.div - 1) / t.div;
    digits_.push_back({t, count});
  }
  std::stable_sort(digits_.begin(), digits_.end(), [](const PackDigit& a, const PackDigit& b) {
    return a.term.stride > b.term.stride;
  });
  for (int d = 0; d < kMaxDims; ++d) classify(d);
  for (PackDigit& d : digits_) d.other = other_stride(d.term);
}

void PackWriter::classify(int dim) {
  std::vector<AddressTerm> ours, theirs;
  for (const PackDigit& d : digits_)
    if (d.term.dim == dim) ours.push_back(d.term);
  for (const AddressTerm& t : job_.other.terms)
    if (t.dim == dim && t.mod != 1) theirs.push_back(t);
  const bool plain =
      std::all_of(theirs.begin(), theirs.end(), [](const AddressTerm& t) { return t.is_plain(); });
  const bool alike = ours.size() == theirs.size() &&
                     std::all_of(ours.begin(), ours.end(), [&](const AddressTerm& a) {
                       return std::any_of(theirs.begin(), theirs.end(), [&](const AddressTerm& b) {
                         return a.div == b.div && a.mod == b.mod;
                       });
                     });
  irregular_[dim] = !plain && !alike;
  const i64 block = block_of(job_.packed, dim);
  const bool is_ragged = block > 1 && job_.extent[dim] % block != 0;
  const bool simple = ours.size() == 2 && ours[0].mod == 0 && ours[1].div == 1;
  checked_[dim] = irregular_[dim] || (is_ragged && !simple);
}

i64 PackWriter::other_stride(const AddressTerm& t) const {
  i64 stride = 0;
  for (const AddressTerm& o : job_.other.terms) {
    if (o.dim != t.dim || o.mod == 1) continue;
    if (o.div == t.div && o.mod == t.mod)
      stride += o.stride;
    else if (o.is_plain())
      stride += o.stride * t.div;
  }
  return stride;
}

std::string PackWriter::other_offset(int dim, const std::string& index) const {
  std::string sum;
  for (const AddressTerm& t : job_.other.terms) {
    if (t.dim != dim || t.mod == 1) continue;
    std::string digit = fmt::format("{} / {}", index, t.div);
    if (t.mod != 0) digit = fmt::format("{} % {}", digit, t.mod);
    sum += fmt::format("{}({}) * {}", sum.empty() ? "" : " + ", digit, t.stride);
  }
  return sum;
}

std::string PackWriter::body() {
  const std::string packed = job_.into_packed ? "dst" : "src";
  const std::string other = job_.into_packed ? "src" : "dst";
  if (job_.packed == job_.other && job_.packed_type == job_.other_type)
    w_.line("__builtin_memcpy(dst, src, {});", job_.packed.elements * bytes(to()));
  else
    level(0, {packed, other, {}, {}});
  return w_.text();
}

void PackWriter::level(size_t i, const Cursor& at) {
  if (i == digits_.size()) return element(at);
  const PackDigit& d = digits_[i];
  const int dim = d.term.dim;
  if (!checked_[dim]) {
    if (d.leading() && job_.extent[dim] % d.term.div != 0) return peeled(i, at);
    if (!d.leading() && at.valid[dim] > 0) return ragged(i, at);
  }
  loop(i, d.count, at);
}

// Full blocks, then the ragged one.
void PackWriter::peeled(size_t i, const Cursor& at) {
  const PackDigit& d = digits_[i];
  const i64 extent = job_.extent[d.term.dim];
  if (d.count > 1) loop(i, d.count - 1, at);
  Cursor last = d.count > 1 ? step(i, std::to_string(d.count - 1), at) : at;
  last.valid[d.term.dim] = extent % d.term.div;
  level(i + 1, last);
}

// The inner digit of a ragged block; below it the packed buffer is dense.
void PackWriter::ragged(size_t i, const Cursor& at) {
  const PackDigit& d = digits_[i];
  const i64 valid = at.valid[d.term.dim];
  loop(i, valid, at);
  if (job_.into_packed) zero(at.packed, valid * d.term.stride, (d.count - valid) * d.term.stride);
}

void PackWriter::loop(size_t i, i64 count, const Cursor& at) {
  const PackDigit& d = digits_[i];
  const bool any_checked = std::any_of(checked_.begin(), checked_.end(), [](bool b) { return b; });
  if (i + 1 == digits_.size() && !any_checked) return run(d, count, at);
  if (count == 1 && !checked_[d.term.dim]) return level(i + 1, at);
  const std::string value = names_.fresh("i");
  w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", value, count);
  level(i + 1, step(i, value, at));
  w_.close();
}

Cursor PackWriter::step(size_t i, const std::string& value, const Cursor& at) {
  const PackDigit& d = digits_[i];
  const int dim = d.term.dim;
  const bool in = job_.into_packed;
  Cursor next = at;
  auto pointer = [&](bool packed, const std::string& base, i64 stride) {
    const Dtype type = packed ? job_.packed_type : job_.other_type;
    const std::string name = names_.fresh(packed == in ? "dst" : "src");
    w_.line("{} {} = {} + {} * {};", packed == in ? mutable_pointer(type) : const_pointer(type),
            name, base, value, stride);
    return name;
  };
  next.packed = pointer(true, at.packed, d.term.stride);
  if (!irregular_[dim] && d.other != 0) next.other = pointer(false, at.other, d.other);
  if (checked_[dim])
    next.index[dim] +=
        fmt::format("{}{} * {}", at.index[dim].empty() ? "" : " + ", value, d.term.div);
  return next;
}

// `count` adjacent elements of the packed buffer.
void PackWriter::run(const PackDigit& d, i64 count, const Cursor& at) {
  i64 done = 0;
  if (d.other == 1 && from() == to()) {
    const auto& [dst, src] =
        job_.into_packed ? std::pair(at.packed, at.other) : std::pair(at.other, at.packed);
    w_.line("__builtin_memcpy({}, {}, {});", dst, src, count * bytes(to()));
    return;
  }
  if (d.other == 1) vectors(count, at, done);
  if (count - done > kUnrolledRun) {
    const std::string i = names_.fresh("i");
    w_.open("for (std::ptrdiff_t {0} = {1}; {0} < {2}; ++{0})", i, done, count);
    move_one(fmt::format("{} + {}", at.packed, i),
             fmt::format("{} + {} * {}", at.other, i, d.other));
    w_.close();
    return;
  }
  for (; done < count; ++done)
    move_one(morello::at(at.packed, done), morello::at(at.other, done * d.other));
}

void PackWriter::vectors(i64 count, const Cursor& at, i64& done) {
  const Conversion c = find_conversion(isa_, from(), to(), true);
  if (!c.load) return;
  const i64 width = c.load->lanes * c.load->group;
  for (; done + width <= count; done += width) {
    const std::string packed = morello::at(at.packed, done), other = morello::at(at.other, done);
    const std::string value = names_.fresh("v");
    w_.line("{} {};", isa_.register_type(c.load->reg), value);
    w_.code(expand(
        c.load->code,
        {{"p", job_.into_packed ? other : packed}, {"r0", value}, {"t", names_.fresh("t")}}));
    w_.code(expand(
        c.store->code,
        {{"p", job_.into_packed ? packed : other}, {"r0", value}, {"t", names_.fresh("t")}}));
  }
}

void PackWriter::zero(const std::string& pointer, i64 offset, i64 count) {
  w_.line("__builtin_memset({}, 0, {});", at(pointer, offset), count * bytes(job_.packed_type));
}

void PackWriter::element(const Cursor& at) {
  std::string condition, other = at.other;
  for (int d = 0; d < kMaxDims; ++d) {
    if (!checked_[d] || at.index[d].empty()) continue;
    const std::string x = names_.fresh("x");
    w_.line("const std::ptrdiff_t {} = {};", x, at.index[d]);
    if (job_.extent[d] % block_of(job_.packed, d) != 0)
      condition += fmt::format("{}{} < {}", condition.empty() ? "" : " && ", x, job_.extent[d]);
    if (irregular_[d]) other += " + " + other_offset(d, x);
  }
  if (condition.empty()) return move_one(at.packed, other);
  w_.open("if ({})", condition);
  move_one(at.packed, other);
  if (job_.into_packed) {
    w_.otherwise();
    w_.line("*({}) = 0;", at.packed);
  }
  w_.close();
}

void PackWriter::move_one(const std::string& packed, const std::string& other) {
  const std::string& src = job_.into_packed ? other : packed;
  const std::string& dst = job_.into_packed ? packed : other;
  if (from() == to()) return w_.line("*({}) = *({});", dst, src);
  const Conversion c = find_conversion(isa_, from(), to(), false);
  MORELLO_CHECK(c.load, "{} cannot convert {} to {}", isa_.name, name(from()), name(to()));
  const std::string value = names_.fresh("v");
  const std::string load = expand(c.load->code, {{"p", src}, {"r0", value}});
  w_.line("const {} {}", c_type(c.load->reg), load);
  w_.code(expand(c.store->code, {{"p", dst}, {"r0", value}}));
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
  std::vector<PackDigit> digits;
  for (const AddressTerm& t : out.map.terms) {
    const i64 count = t.mod != 0 ? t.mod : (extent[t.dim] + t.div - 1) / t.div;
    if (count > 1) digits.push_back({t, count});
  }
  std::stable_sort(digits.begin(), digits.end(), [](const PackDigit& a, const PackDigit& b) {
    return a.term.stride > b.term.stride;
  });
  i64 run = 1;
  for (; !digits.empty() && digits.back().term.stride == run; digits.pop_back())
    run *= digits.back().count;
  Writer w(1);
  Names names;
  std::string pointer = "dst";
  for (const PackDigit& d : digits) {
    const std::string i = names.fresh("i"), next = names.fresh("dst");
    w.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", i, d.count);
    w.line("{} {} = {} + {} * {};", mutable_pointer(out.dtype), next, pointer, i, d.term.stride);
    pointer = next;
  }
  w.line("__builtin_memset({}, 0, {});", pointer, run * bytes(out.dtype));
  for (size_t i = 0; i < digits.size(); ++i) w.close();
  return functions.add("fill", mutable_pointer(out.dtype) + " dst", w.text());
}

}  // namespace morello
