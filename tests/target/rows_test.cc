// Every leaf row, compiled and run, computes what its `implements` says.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "rows_library.h"
#include "target/isa.h"

namespace morello {
namespace {

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity();

// ---- Elements as bits, by formulas that share nothing with the rows. ----

struct FloatFormat {
  int digits;    // of the significand, with the hidden one
  int exponent;  // of the smallest normal number
};
FloatFormat format(Dtype t) {
  if (t == Dtype::bf16) return {8, -126};
  if (t == Dtype::f16) return {11, -14};
  return {24, -126};
}

double decode16(Dtype t, unsigned bits) {
  const FloatFormat f = format(t);
  const unsigned mantissa = bits & ((1u << (f.digits - 1)) - 1);
  const unsigned top = (bits & 0x7fffu) >> (f.digits - 1);
  double value = std::ldexp(mantissa, f.exponent - f.digits + 1);
  if (top == (0x7fffu >> (f.digits - 1)))
    value = mantissa != 0 ? std::nan("") : kInf;
  else if (top != 0)
    value = std::ldexp(mantissa + (1u << (f.digits - 1)),
                       f.exponent - f.digits + static_cast<int>(top));
  return (bits & 0x8000u) != 0 ? -value : value;
}

template <class T>
double read(const unsigned char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<double>(value);
}
template <class T>
void write(unsigned char* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

double decode(Dtype t, const unsigned char* p) {
  switch (t) {
    case Dtype::f32:
      return read<float>(p);
    case Dtype::i32:
      return read<std::int32_t>(p);
    case Dtype::i16:
      return read<std::int16_t>(p);
    case Dtype::u8:
      return read<std::uint8_t>(p);
    case Dtype::i8:
    case Dtype::i7:
      return read<std::int8_t>(p);
    default:
      return decode16(t, static_cast<unsigned>(read<std::uint16_t>(p)));
  }
}

// Register elements only: all but f16.
void encode(Dtype t, double value, unsigned char* p) {
  if (t == Dtype::f32) write(p, static_cast<float>(value));
  if (t == Dtype::u8) write(p, static_cast<std::uint8_t>(value));
  if (stored(t) == Dtype::i8) write(p, static_cast<std::int8_t>(value));
  if (t == Dtype::bf16) {  // the upper half of an f32: exact
    const float wide = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &wide, sizeof bits);
    write(p, static_cast<std::uint16_t>(bits >> 16));
  }
  if (t == Dtype::i32) write(p, static_cast<std::int32_t>(value));
  if (t == Dtype::i16) write(p, static_cast<std::int16_t>(value));
}

// The nearest number of the type, ties to even; what is too large is infinite.
double round_to(Dtype t, double x) {
  if (!is_float(t) || !std::isfinite(x) || x == 0) return x;
  const FloatFormat f = format(t);
  int e = 0;
  std::frexp(x, &e);
  const int unit = std::max(e - 1, f.exponent) - (f.digits - 1);
  const double y = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  const int top = t == Dtype::f16 ? 16 : 128;
  return std::abs(y) >= std::ldexp(1.0, top) ? std::copysign(kInf, y) : y;
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// ---- Values. ----

class Source {
 public:
  explicit Source(unsigned seed) : random_(seed) {}
  // A register element: every third one from the list of hard ones.
  double element(Dtype t, bool hard) {
    // Of bf16 none is subnormal: what multiplies them may take those for 0 (docs/spec.md).
    if (t == Dtype::bf16) return round_to(t, element(Dtype::f32, hard));
    if (t == Dtype::f32) {
      static const double kHard[] = {0.0,  -0.0,  1.0,    -1.0,       kInf,     -kInf,
                                     NAN,  1e-45, -1e-45, 0x1p-126,   0x1p-140, 0x1.fffffep127,
                                     1e30, 1e-30, 0.1f,   -3.0000002f};
      if (hard && random_() % 3 == 0) return static_cast<float>(kHard[random_() % 16]);
      return static_cast<float>(std::uniform_real_distribution<double>(-4, 4)(random_));
    }
    const int bits = t == Dtype::i7 ? 7 : 8 * bytes(t);
    const double least = -std::ldexp(1.0, bits - 1);
    if (t == Dtype::u8) return hard && random_() % 3 == 0 ? 255 : random_() % 256;
    const double hard_values[] = {
        0, 1, -1, least, least + 1, -least - 1, bits > 8 ? 255.0 : 63, std::max(least, -128.0)};
    if (hard && random_() % 3 == 0) return hard_values[random_() % 8];
    return std::floor(std::uniform_real_distribution<double>(least, -least)(random_));
  }
  std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }

 private:
  std::mt19937 random_;
};

// ---- Kernels. ----

constexpr int kImageBytes = 128;  // of two registers
using Image = std::array<unsigned char, kImageBytes>;

// Element of operand o that register lane l, group member g holds, as a row-major index.
i64 index_of(const Computation& c, const Operand& o, const Kernel& k, int l, int g) {
  std::vector<i64> at(c.dims.size(), 0);
  for (size_t d = 0; d < at.size(); ++d) {
    if (c.dims[d].reduction && c.dims[d].extent > 1) at[d] = k.lanes_reduce ? l * k.group + g : g;
    if (!c.dims[d].reduction && c.dims[d].extent > 1) at[d] = l;
  }
  i64 index = 0;
  for (size_t axis = 0; axis < o.shape.size(); ++axis) {
    i64 x = 0;
    for (const AxisTerm& term : o.axes[axis])
      x += term.coefficient * at[static_cast<size_t>(term.dim)];
    index = index * o.shape[axis] + x;
  }
  return index;
}

Image input_image(const Computation& c, int operand, const Kernel& k, const Values& values) {
  Image image{};
  const Dtype t = k.input_of(operand);
  for (int l = 0; l < k.lanes; ++l)
    for (int g = 0; g < k.group; ++g) {
      const i64 i = index_of(c, c.operands[static_cast<size_t>(operand)], k, l, g);
      encode(t, values[static_cast<size_t>(i)],
             &image[static_cast<size_t>((l * k.group + g) * bytes(t))]);
    }
  return image;
}

Values lanes_of(const Kernel& k, const Image& image) {
  Values values;
  for (int l = 0; l < k.lanes; ++l)
    values.push_back(decode(k.output, &image[static_cast<size_t>(l * bytes(k.output))]));
  return values;
}

double wrap(double x) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(x)));
}

// Sums of the absolute values of everything that was added, and of what is finite among it.
struct Magnitude {
  double all = 0;
  double finite = 0;
};

// A float result may be off by a rounding of each addition; other reductions do not round.
bool close(const Computation& c, double got, double want, Magnitude size, double underflow) {
  if (!is_float(c.compute)) return got == wrap(want);
  if (c.reduces() && c.combine != Combine::kSum)
    return std::isnan(want) ? std::isnan(got) : got == want;
  if (size.finite > std::ldexp(1.0, 127)) return true;  // may overflow on the way or may not
  if (!std::isfinite(size.all)) return std::isnan(want) ? std::isnan(got) : got == want;
  return std::abs(got - want) <= 0x1p-21 * size.all + underflow;
}

std::vector<Magnitude> magnitudes(const Computation& c, std::vector<Values> inputs) {
  for (Values& v : inputs)
    for (double& x : v) x = std::abs(x);
  const Values all = evaluate(c, inputs);
  for (Values& v : inputs)
    for (double& x : v) x = std::isfinite(x) ? x : 0;
  const Values finite = evaluate(c, inputs);
  std::vector<Magnitude> result;
  for (size_t i = 0; i < all.size(); ++i) result.push_back({all[i], finite[i]});
  return result;
}

void test_kernel(const RowsLibrary& library, const Isa& isa, const Kernel& k, Source& source,
                 bool hard) {
  const Computation& c = meaning(k.implements);
  std::vector<Values> inputs;
  std::vector<Image> images(2);
  for (int o = 0; o < c.inputs(); ++o) {
    i64 count = 1;
    for (const i64 n : c.operands[static_cast<size_t>(o)].shape) count *= n;
    Values v;
    for (i64 i = 0; i < count; ++i) v.push_back(source.element(k.input_of(o), hard));
    images[static_cast<size_t>(o)] = input_image(c, o, k, v);
    inputs.push_back(std::move(v));
  }
  Values want = evaluate(c, inputs);
  std::vector<Magnitude> magnitude = magnitudes(c, inputs);

  Image acc{}, other{};
  const auto lane = [&](Image& image, int l, double x) {
    encode(k.output, x, &image[static_cast<size_t>(l * 4)]);
  };
  for (int l = 0; l < k.lanes; ++l) {
    lane(other, l, source.element(k.output, hard));
    lane(acc, l, c.reduces() ? neutral(c.combine, k.output) : 0);
  }
  library.find(k.name, "code")(images[0].data(), images[1].data(), acc.data());
  if (c.reduces()) {  // ((nothing + x) + other) + x, lane by lane
    const FnDef& join = *fn_def(joined_by(c.combine));
    for (double& x : want) x = join.real(x, x, 0);
    for (Magnitude& m : magnitude) m = {2 * m.all, 2 * m.finite};
    const Values start = lanes_of(k, other);
    const Function& row = *isa.function(join.fn, k.output, k.lanes);
    library.find(row.name, "function")(acc.data(), other.data(), acc.data());
    library.find(k.name, k.once.empty() ? "code" : "once")(images[0].data(), images[1].data(),
                                                           acc.data());
    for (int l = 0; l < k.lanes; ++l) {
      const size_t i = k.lanes_reduce ? 0 : static_cast<size_t>(l);
      want[i] = join.real(want[i], start[static_cast<size_t>(l)], 0);
      const double size = std::abs(start[static_cast<size_t>(l)]);
      magnitude[i].all += size;
      magnitude[i].finite += std::isfinite(size) ? size : 0;
    }
  }
  Values got = lanes_of(k, acc);
  if (k.lanes_reduce) {
    Image scalar{};
    library.find(k.name, "finish")(acc.data(), nullptr, scalar.data());
    got = {decode(k.output, scalar.data())};
  }
  REQUIRE(got.size() == want.size());
  // Of a dozen additions, and of as many products where those of bf16 may be 0.
  const double underflow = k.input == Dtype::bf16 ? 0x1p-121 : 0x1p-147;
  for (size_t i = 0; i < got.size(); ++i) {
    if (close(c, got[i], want[i], magnitude[i], underflow)) continue;
    CAPTURE(k.name);
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(want[i]);
    FAIL_CHECK("wrong value");
    return;
  }
}

// ---- Accesses. ----

// Memory that ends where a page without access begins: a row that touches one byte more crashes.
class Fence {
 public:
  Fence() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* both =
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MORELLO_CHECK(both != MAP_FAILED);
    base_ = static_cast<unsigned char*>(both);
    MORELLO_CHECK(mprotect(base_ + page_, page_, PROT_NONE) == 0);
  }
  ~Fence() { munmap(base_, 2 * page_); }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  unsigned char* last(size_t count) { return base_ + page_ - count; }

 private:
  size_t page_;
  unsigned char* base_ = nullptr;
};

// Patterns of one element: all of them up to 16 bits; for 32 bits those that round and random ones.
std::vector<std::uint32_t> patterns(const Access& a, Dtype t, Source& source, unsigned step) {
  std::vector<std::uint32_t> list;
  if (bytes(t) < 4) {
    for (std::uint32_t p = 0; p < (1u << (8 * bytes(t))); p += step) list.push_back(p);
    return list;
  }
  if (bytes(a.memory) == 1) {  // stored are bytes that were loaded
    const int least = a.memory == Dtype::u8 ? 0 : -128;
    for (int i = 0; i < 256; ++i) list.push_back(static_cast<std::uint32_t>(least + i));
    return list;
  }
  for (const std::uint32_t p : {0x00000000u, 0x80000000u, 0x7fffffffu, 0x7f800001u, 0xffffffffu,
                                0x00000001u, 0x7f7fffffu, 0x01000001u, 0x00ffffffu, 0x7fffffc1u})
    list.push_back(p);
  for (int i = 0; i < 4096; ++i) list.push_back(source.bits());
  if (a.kind != Access::Kind::kStore || a.memory == a.reg) return list;
  for (std::uint32_t high = 0; high < 0x10000u; high += step)
    for (const std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      list.push_back(high << 16 | low);
  for (std::uint32_t half = 0; half < 0x7c00u; half += step) {  // half-way between f16 neighbours
    const double middle = (decode16(Dtype::f16, half) + decode16(Dtype::f16, half + 1)) / 2;
    const float value = static_cast<float>(half == 0x7bffu ? 65520.0 : middle);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    for (const std::uint32_t b : {bits - 1, bits, bits + 1}) {
      list.push_back(b);
      list.push_back(b | 0x80000000u);
    }
  }
  return list;
}

// The first n of the elements that a row moves: what a partial form loads beyond them is 0.
bool test_access(RowFunction run, const Access& a, Fence& fence, const std::uint32_t* pattern,
                 size_t n) {
  const Computation& c = meaning(a.implements);
  const bool store = a.kind == Access::Kind::kStore;
  const bool broadcast = a.kind == Access::Kind::kBroadcast;
  const Dtype from = store ? a.reg : a.memory;
  const Dtype to = store ? a.memory : a.reg;
  const size_t moved = static_cast<size_t>(a.group * (broadcast ? 1 : a.lanes * a.regs));
  const size_t from_bytes = static_cast<size_t>(bytes(from));
  Image image{};
  unsigned char* memory = fence.last(n * static_cast<size_t>(bytes(a.memory)));
  unsigned char* in = store ? image.data() : memory;
  Values values;
  for (size_t i = 0; i < moved; ++i) {
    if (store || i < n) std::memcpy(in + i * from_bytes, pattern + i, from_bytes);
    values.push_back(store || i < n ? decode(from, in + i * from_bytes) : 0);
  }
  run(in, nullptr, store ? memory : image.data());
  const Values want = evaluate(c, {values});
  const size_t results = store ? n : static_cast<size_t>(a.lanes * a.regs * a.group);
  for (size_t i = 0; i < results; ++i) {
    // Memory position of register element i: see "Lane order" in isa.h.
    const size_t lanes = static_cast<size_t>(a.lanes * a.group);
    const size_t regs = static_cast<size_t>(a.regs);
    const size_t position = broadcast ? i % moved : (i % lanes) * regs + i / lanes;
    const unsigned char* p = (store ? memory : image.data()) + i * static_cast<size_t>(bytes(to));
    const double got = decode(to, p);
    const double whole = want[store ? i : position];
    const bool flushed = a.flushes && std::fabs(whole) < std::numeric_limits<float>::min();
    const double expected = flushed ? std::copysign(0.0, whole) : round_to(to, whole);
    if (same(got, expected)) continue;
    CAPTURE(a.name);
    CAPTURE(n);
    CAPTURE(i);
    CAPTURE(values[store ? i : position]);
    CAPTURE(got);
    CAPTURE(expected);
    FAIL_CHECK("wrong value");
    return false;
  }
  return true;
}

void test_access(const RowsLibrary& library, const Access& a, Source& source, unsigned step) {
  Fence fence;
  const RowFunction run = library.find(a.name, "code");
  std::vector<std::uint32_t> list =
      patterns(a, a.kind == Access::Kind::kStore ? a.reg : a.memory, source, step);
  const size_t moved =
      static_cast<size_t>(a.group * (a.kind == Access::Kind::kBroadcast ? 1 : a.lanes * a.regs));
  list.resize((list.size() + moved - 1) / moved * moved);
  for (size_t i = 0; i < list.size(); i += moved)
    if (!test_access(run, a, fence, &list[i], moved)) return;
  for (const int n : partial_sizes(a)) {
    const RowFunction partial = library.find(a.name, fmt::format("partial{}", n));
    for (size_t i = 0; i < std::min(list.size(), 64 * moved); i += moved)
      if (!test_access(partial, a, fence, &list[i], static_cast<size_t>(n))) return;
  }
  if (a.streamed.empty()) return;
  const RowFunction streamed = library.find(a.name, "streamed");
  for (size_t i = 0; i < std::min(list.size(), 64 * moved); i += moved)
    if (!test_access(streamed, a, fence, &list[i], moved)) return;
}

// ---- Transpositions. ----

// Reads no byte past the last row, writes none past the last column nor between two.
// `columns` of them: all, or the first few by what a row has for that.
void test_transpose(const RowsLibrary& library, const Transpose& t, int columns, Source& source) {
  CAPTURE(t.name);
  CAPTURE(columns);
  const auto size = [](int count) { return static_cast<size_t>(count); };
  const size_t apart = size(t.dense_columns ? t.rows * t.bytes : kRowBytes);
  const size_t row = size(t.dense_rows ? columns * t.bytes : kRowBytes);
  const size_t in = size(t.rows - 1) * row + size(columns * t.bytes);
  std::vector<unsigned char> want(size(columns - 1) * apart + size(t.rows * t.bytes), 0xee);
  Fence from, to;
  unsigned char *src = from.last(in), *dst = to.last(want.size());
  for (size_t i = 0; i < in; ++i) src[i] = static_cast<unsigned char>(source.bits());
  for (int r = 0; r < t.rows; ++r)
    for (int c = 0; c < columns; ++c)
      std::memcpy(&want[size(c) * apart + size(r * t.bytes)],
                  src + size(r) * row + size(c * t.bytes), size(t.bytes));
  std::memset(dst - 1, 0xee, want.size() + 1);
  const std::string how = columns < t.columns ? fmt::format("partial{}", columns) : "code";
  library.find(t.name, how)(src, nullptr, dst);
  CHECK(std::memcmp(dst, want.data(), want.size()) == 0);
  CHECK(dst[-1] == 0xee);
}

// ---- Folds. ----

void test_fold(const RowsLibrary& library, const Fold& f, Source& source) {
  CAPTURE(f.name);
  constexpr size_t kRegisters = 4;
  const size_t size = static_cast<size_t>(bytes(f.type));
  std::vector<unsigned char> registers(kRegisters * static_cast<size_t>(f.lanes) * size);
  double want[kRegisters] = {};
  for (size_t i = 0; i < registers.size() / size; ++i) {
    const double value = static_cast<int>(source.bits() % 2001) - 1000;  // sums are exact
    encode(f.type, value, &registers[i * size]);
    want[i / static_cast<size_t>(f.lanes)] += value;
  }
  Fence from, to;
  unsigned char* got = to.last(kRegisters * size);
  library.find(f.name, "code")(registers.data(), nullptr, got);
  for (size_t i = 0; i < kRegisters; ++i) CHECK(decode(f.type, got + i * size) == want[i]);
  unsigned char* given = from.last(kRegisters * size);
  std::memcpy(given, got, kRegisters * size);
  for (const char* how : {"load", "set"}) {
    std::memset(got, 0xee, kRegisters * size);
    library.find(f.name, how)(given, nullptr, got);
    CHECK(std::memcmp(got, given, kRegisters * size) == 0);
  }
}

// One NaN in any place, or none; and what is joined without any is the combination.
void test_join(const RowsLibrary& library, const Kernel& k, Source& source) {
  CAPTURE(k.name);
  const Computation& c = meaning(k.implements);
  const FnDef& join = *fn_def(joined_by(c.combine));
  const int lanes = k.lanes, all = 4 * lanes, size = static_cast<int>(bytes(k.output));
  std::vector<unsigned char> x(static_cast<size_t>(all * size));
  const auto at = [&](int i) { return &x[static_cast<size_t>(i * size)]; };
  std::vector<double> values;
  for (int i = 0; i < all; ++i) {
    values.push_back(source.element(k.output, false));
    encode(k.output, values.back(), at(i));
  }
  int ordered = -1;
  library.find(k.name, "ordered")(x.data(), nullptr, &ordered);
  CHECK(ordered == 1);
  Image got{};
  library.find(k.name, "join")(at(0), at(lanes), got.data());
  for (int l = 0; l < lanes; ++l)
    CHECK(decode(k.output, &got[static_cast<size_t>(l * size)]) ==
          join.real(values[static_cast<size_t>(l)], values[static_cast<size_t>(lanes + l)], 0));
  for (int i = 0; i < all; ++i) {
    encode(k.output, std::nan(""), at(i));
    library.find(k.name, "ordered")(x.data(), nullptr, &ordered);
    CHECK(ordered == 0);
    encode(k.output, values[static_cast<size_t>(i)], at(i));
  }
}

// join(join(start, a), b) of reductions that take two registers at once: every lane of either may
// be NaN, and so may what there was.
void test_pair(const RowsLibrary& library, const Kernel& k, Source& source, bool hard) {
  const Computation& c = meaning(k.implements);
  const FnDef& join = *fn_def(joined_by(c.combine));
  Image images[2] = {}, acc{};
  Values want;
  for (int l = 0; l < k.lanes; ++l) {
    double x[3];
    for (double& value : x) value = source.element(k.output, hard);
    encode(k.input, x[0], &images[0][static_cast<size_t>(l) * bytes(k.input)]);
    encode(k.input, x[1], &images[1][static_cast<size_t>(l) * bytes(k.input)]);
    encode(k.output, x[2], &acc[static_cast<size_t>(l) * bytes(k.output)]);
    want.push_back(join.real(join.real(x[2], x[0], 0), x[1], 0));
  }
  library.find(k.name, "pair")(images[0].data(), images[1].data(), acc.data());
  for (int l = 0; l < k.lanes; ++l) {
    const double got = decode(k.output, &acc[static_cast<size_t>(l) * bytes(k.output)]);
    const double expected = want[static_cast<size_t>(l)];
    CHECK_MESSAGE((got == expected || (std::isnan(got) && std::isnan(expected))), k.name, ": ", got,
                  " for ", expected);
  }
}

void test_rows(const Isa& isa, const std::string& compiler, const std::string& options,
               unsigned step) {
  CAPTURE(compiler);
  CAPTURE(options);
  const RowsLibrary library(isa, compiler, options);
  REQUIRE_MESSAGE(library.error() == "", library.error());
  Source source(20240607);
  for (const auto& rows : isa.kernels)
    for (const Kernel& k : rows)  // those that only map have no code: functions_test.cc
      for (int round = 0; round < 400 && !k.code.empty(); ++round)
        test_kernel(library, isa, k, source, round % 2 == 1);
  for (const auto& rows : isa.kernels)
    for (const Kernel& k : rows)
      for (int round = 0; round < 400 && !k.pair.empty(); ++round)
        test_pair(library, k, source, round % 2 == 1);
  for (const auto& rows : isa.kernels)
    for (const Kernel& k : rows)
      if (!k.join.empty()) test_join(library, k, source);
  for (const auto& rows : isa.folds)
    for (const Fold& f : rows) test_fold(library, f, source);
  for (const auto& rows : isa.accesses)
    for (const Access& a : rows) test_access(library, a, source, step);
  for (const auto& rows : isa.transposes)
    for (const Transpose& t : rows)
      for (int n = t.partial.empty() ? t.columns : 1; n <= t.columns; ++n)
        test_transpose(library, t, n, source);
}

TEST_CASE("every row computes what it implements") {
  for (const Isa* isa : isa_table()) {
    if (!isa->runs_here()) {
      MESSAGE("skipped: this CPU lacks " << std::string(isa->name));
      continue;
    }
    CAPTURE(isa->name);
    const std::vector<std::string> compilers = test_compilers();
    for (const std::string& compiler : compilers)
      for (const char* options : {"-O1", "-O0", "-O3"}) {
        const bool all = compiler == compilers[0] && std::string(options) == "-O1";
        test_rows(*isa, compiler, options, all ? 1 : 41);  // 41: prime to every lane count
      }
  }
}

}  // namespace
}  // namespace morello
