// A copy is a loop nest over every box of its tile (copy_box.h), outermost the largest stride of
// the packed buffer. Of rows that go on in the next panel a few are taken at a time, of all panels.
// Where the innermost digit is adjacent on both sides it is a run, moved and converted by vector
// rows of the ISA, or by memcpy if it is shorter than one or very long. Where the source is
// adjacent along another digit, rows of the ISA transpose what they can. What is left moves element
// by element. Padding is zeroed after that.
//
// Where digits of both sides divide a dim and not each other, boxes may be hundreds: then every
// index is a loop, and places are divisions and remainders of it.
#include "codegen/pack.h"

#include <algorithm>
#include <span>

#include "codegen/access.h"
#include "codegen/expression.h"
#include "impl/transpose_fit.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// Most elements, elements that are converted, and vectors written without a loop. GCC 12 makes
// vectors of sixteen 8-bit elements (0.13 cycles an element, against 1.2 for eight), but of sixteen
// converted bf16 ones something slower than of eight (1.15 against 0.78).
constexpr i64 kUnrolledElements = 16;
constexpr i64 kUnrolledConversions = 8;
constexpr i64 kUnrolledVectors = 4;
// Rows that are taken of each of all panels before the next rows. Alone among the lines of its page
// a line is not prefetched, so rows of the source are read whole; and panels often lie in the same
// sets of L1, which has eight ways or more, so that lines of them should be written at once. Cycles
// a line, 2048 columns of f32 in rows of 8 KiB, panel after panel / 32 rows of 8 panels / 1, 4 and
// 8 rows of all (Zen 3): to panels of 16 from L3 13 / 9.0 / 13, 7.5, 7.2; from memory 64 / 28 / 23,
// 17, 17; of 48 from L3 6.1 / 6.1 / 7.4, 5.9, 5.8; from memory 37 / 26 / 20, 17, 16. The same of 16
// MiB in L3 (Granite Rapids), 8-bit, 1024 columns to panels of 16, 49 / 17 / 44 of one row.
constexpr i64 kRows = 8;
// Boxes that are spelt out. GCC 12 takes 16 s for a copy of 65x79 in order(0/3%3, 0%3, 1/12, 0/9,
// 1/3%4, 1%3) to panels of 5 x 32, 7300 lines; copies between usual orders have up to 27.
constexpr size_t kMostBoxes = 64;

// So many boxes of one shape are a loop over a table of their places: bf16 in
// order(0/20, 1, 0%4, 0/4%5) to panels of 16 then takes 49 lines instead of 196.
constexpr size_t kTabled = 2;

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
  for (Dtype reg : {Dtype::f32, Dtype::i16, Dtype::i32}) {
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

int count(const Uops& u) { return u.fma + u.bf16 + u.alu + u.load + u.store; }

class PackWriter {
 public:
  PackWriter(const Isa& isa, const PackJob& job) : isa_(isa), job_(job) {}
  Body body();

 private:
  using Digits = std::span<const BoxDigit>;

  Dtype from() const { return stored(job_.into_packed ? job_.other_type : job_.packed_type); }
  Dtype to() const { return stored(job_.into_packed ? job_.packed_type : job_.other_type); }
  const std::string& source(const Cursor& c) const { return job_.into_packed ? c.other : c.packed; }
  const std::string& target(const Cursor& c) const { return job_.into_packed ? c.packed : c.other; }
  const Offset& from_stride(const BoxDigit& d) const {
    return job_.into_packed ? d.other : d.packed;
  }
  const Offset& to_stride(const BoxDigit& d) const { return job_.into_packed ? d.packed : d.other; }
  static Cursor moved(const Cursor& c, const BoxDigit& d, i64 by) {
    return {at(c.packed, by * d.packed), at(c.other, by * d.other)};
  }

  void box(const Box& b);
  void tabled(std::span<const Box* const> alike);
  void one_by_one();
  void loops(Digits digits, const Cursor& c, auto inner);
  void loops_by_rows(Digits digits, std::vector<BoxDigit> inside, const Cursor& c, auto inner);
  void blocks(const BoxDigit& rows, const BoxDigit& panels, const Cursor& c, auto inner);
  Cursor step_along(const BoxDigit& d, const Cursor& c, const std::string& i);
  void elements(std::vector<BoxDigit> digits, const Cursor& c);
  i64 rows_at_once(const Offset& stride) const;
  void tiles(const TransposeFit& f, const Cursor& c);
  void last_columns(const TransposeFit& f, const Cursor& c);
  void apply(const TransposeFit& f, const Cursor& c);
  void each(const BoxDigit& d, const Cursor& c);
  void run(i64 n, const Cursor& c);
  bool copy_vectors(i64 n, const Cursor& c);
  bool fewer_as_vector(const Conversion& v, i64 n) const;
  void convert(const Conversion& v, const Cursor& c, i64 n);
  void move_one(const Cursor& c);
  void ask_ahead(const std::string& source, i64 elements);
  void ask_ahead(const TransposeFit& f, i64 columns, const Cursor& c);

  const Isa& isa_;
  const PackJob& job_;
  Writer w_{1};
  Names names_;
};

// `count` steps of `size` along d.
BoxDigit steps(const BoxDigit& d, i64 count, i64 size) {
  MORELLO_CHECK(d.elastic < 0, "how much there is of dim {} is not known", d.elastic);
  return {count, size * d.packed, size * d.other};
}

// What a loop does to a pointer; `type` spells it.
std::string stepped(Writer& w, Names& names, const std::string& type, std::string_view stem,
                    const std::string& pointer, const std::string& i, const Offset& stride) {
  const std::string next = names.fresh(stem);
  w.line("{} {} = {} + {} * {};", type, next, pointer, i, text(stride));
  return next;
}

std::string open_loop(Writer& w, Names& names, i64 count) {
  const std::string i = names.fresh("i");
  w.open_loop(i, count);
  return i;
}

// How many of a digit there are.
std::string number_of(const BoxDigit& d) {
  return d.elastic < 0 ? fmt::format("{}", d.count) : length_name(d.elastic);
}

std::string open_loop(Writer& w, Names& names, const BoxDigit& d) {
  if (d.elastic < 0) return open_loop(w, names, d.count);
  const std::string i = names.fresh("i");
  w.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; ++{0})", i, number_of(d));
  return i;
}

// GCC writes zeros of more than 64 bytes, of which it knows how many, by `rep stos`, which takes
// long to begin. (Zen 3: 96 bytes 40 cycles, 224 bytes 64, in pieces 7 and 18.)
void zeros(Writer& w, const std::string& pointer, i64 elements, i64 element_bytes) {
  constexpr i64 kPiece = 32, kLeast = 64, kMost = 1024;
  const i64 bytes = elements * element_bytes, piece = kPiece / element_bytes;
  if (bytes <= kLeast || bytes > kMost)
    return w.line("__builtin_memset({}, 0, {});", pointer, bytes);
  w.line("for (std::ptrdiff_t j = 0; j < {}; j += {}) __builtin_memset({} + j, 0, {});",
         elements / piece * piece, piece, pointer, kPiece);
  if (elements % piece > 0)
    w.line("__builtin_memset({} + {}, 0, {});", pointer, elements - piece, kPiece);
}

void fill(Writer& w, Names& names, const Box& box, Dtype t, double value) {
  std::span<const BoxDigit> digits = box.digits;
  const i64 run = run_of(box);
  if (run > 1) digits = digits.first(digits.size() - 1);
  std::string pointer = at("dst", box.packed);
  for (const BoxDigit& d : digits) {
    const std::string i = open_loop(w, names, d);
    pointer = stepped(w, names, mutable_pointer(t), "to", pointer, i, d.packed);
  }
  if (value == 0)
    zeros(w, pointer, run, bytes(t));
  else
    w.line("for (std::ptrdiff_t j = 0; j < {}; ++j) *({} + j) = {};", run, pointer,
           literal(t, value));
  for (size_t i = 0; i < digits.size(); ++i) w.close();
}

Body PackWriter::body() {
  const bool in = job_.into_packed;
  const std::vector<Box> boxes = element_boxes(job_.packed, job_.other, job_.extent, job_.elastic);
  if (boxes.size() > kMostBoxes) {
    one_by_one();
    return w_.body();
  }
  std::vector<std::vector<const Box*>> shapes;
  for (const Box& b : boxes) {
    const auto alike = std::find_if(shapes.begin(), shapes.end(), [&](const auto& others) {
      return others.front()->digits == b.digits;
    });
    if (alike != shapes.end())
      alike->push_back(&b);
    else
      shapes.push_back({&b});
  }
  for (const auto& alike : shapes)
    if (alike.size() >= kTabled)
      tabled(alike);
    else
      for (const Box* b : alike) box(*b);
  if (in)
    for (const Box& box : padding_boxes(job_.packed, job_.extent, job_.elastic))
      fill(w_, names_, box, to(), 0);
  return w_.body();
}

// The element at these indices, one variable per dim of more than one.
std::string element(const AddressMap& map, const std::array<std::string, kMaxDims>& index,
                    std::string pointer) {
  for (const AddressTerm& t : map.terms) {
    if (index[t.dim].empty()) continue;
    std::string digit = index[t.dim];
    if (t.div != 1) digit += fmt::format(" / {}", t.div);
    if (t.mod != 0) digit += fmt::format(" % {}", t.mod);
    pointer += fmt::format(" + {} * {}", digit, text(t.steps(1)));
  }
  return pointer;
}

void PackWriter::box(const Box& b) {
  const bool in = job_.into_packed;
  elements(b.digits, {at(in ? "dst" : "src", b.packed), at(in ? "src" : "dst", b.other)});
}

void PackWriter::tabled(std::span<const Box* const> alike) {
  const bool in = job_.into_packed;
  const std::string table = names_.fresh("places");
  w_.open("const std::ptrdiff_t {}[][2] =", table);
  for (const Box* b : alike) w_.line("{{{}, {}}},", text(b->packed), text(b->other));
  w_.close("};");
  const std::string i = open_loop(w_, names_, static_cast<i64>(alike.size()));
  const auto place = [&](bool is_target, int column) {
    const std::string name = names_.fresh(is_target ? "dst" : "src");
    w_.line("{} {} = {} + {}[{}][{}];", is_target ? mutable_pointer(to()) : const_pointer(from()),
            name, is_target ? "dst" : "src", table, i, column);
    return name;
  };
  const std::string packed = place(in, 0), other = place(!in, 1);
  elements(alike.front()->digits, {packed, other});
  w_.close();
}

void PackWriter::one_by_one() {
  const bool in = job_.into_packed;
  if (in) fill(w_, names_, whole_box(job_.packed, job_.extent, job_.elastic), to(), 0);
  std::array<std::string, kMaxDims> index;
  for (size_t d = 0; d < index.size(); ++d)
    if (const int dim = static_cast<int>(d); job_.extent[d] > 1)
      index[d] = open_loop(
          w_, names_,
          BoxDigit{.count = job_.extent[d], .elastic = job_.elastic >> dim & 1 ? dim : -1});
  move_one({element(job_.packed, index, in ? "dst" : "src"),
            element(job_.other, index, in ? "src" : "dst")});
  for (const std::string& i : index)
    if (!i.empty()) w_.close();
}

Cursor PackWriter::step_along(const BoxDigit& d, const Cursor& c, const std::string& i) {
  auto step = [&](bool is_target, const std::string& pointer, const Offset& stride) {
    return stepped(w_, names_, is_target ? mutable_pointer(to()) : const_pointer(from()),
                   is_target ? "dst" : "src", pointer, i, stride);
  };
  return {step(job_.into_packed, c.packed, d.packed), step(!job_.into_packed, c.other, d.other)};
}

void PackWriter::loops(Digits digits, const Cursor& c, auto inner) {
  if (digits.empty()) return inner(c);
  const BoxDigit& d = digits.front();
  if (d.count == 1 && d.elastic < 0) return loops(digits.subspan(1), c, inner);
  const std::string i = open_loop(w_, names_, d);
  const Cursor next = step_along(d, c, i);
  loops(digits.subspan(1), next, inner);
  w_.close();
}

// How many elements are adjacent on the other side.
i64 adjacent(std::vector<BoxDigit> digits) {
  std::sort(digits.begin(), digits.end(), [](const BoxDigit& a, const BoxDigit& b) {
    return a.other.assumed() < b.other.assumed();
  });
  i64 width = 1;
  for (const BoxDigit& d : digits)
    if (d.other == width) width *= d.count;
  return width;
}

// Loops over digits around those `inside`. Where rows of the other side go on in the next panel,
// and follow one another within a panel, they are taken in blocks of them.
void PackWriter::loops_by_rows(Digits digits, std::vector<BoxDigit> inside, const Cursor& c,
                               auto inner) {
  size_t panels = 0, rows = 0;
  for (size_t i = digits.size(); i-- > 0; inside.push_back(digits[i])) {
    if (digits[i].count == 1 || !(digits[i].other == adjacent(inside))) continue;
    const auto is_row = [&](const BoxDigit& d) {
      return d.count > 1 && d.other.assumed() > digits[i].other.assumed();
    };
    for (size_t j = i + 1; j < digits.size(); ++j)
      if (is_row(digits[j])) panels = i, rows = j;
  }
  if (rows == 0) return loops(digits, c, inner);
  std::vector<BoxDigit> around(digits.begin(), digits.begin() + static_cast<i64>(rows));
  around.erase(around.begin() + static_cast<i64>(panels));
  loops(around, c, [&](const Cursor& outer) {
    blocks(digits[rows], digits[panels], outer,
           [&](const Cursor& row) { loops(digits.subspan(rows + 1), row, inner); });
  });
}

void PackWriter::blocks(const BoxDigit& rows, const BoxDigit& panels, const Cursor& c, auto inner) {
  if (rows.count <= kRows) {
    const BoxDigit nest[] = {panels, rows};
    return loops(Digits(nest), c, inner);
  }
  const std::string first = names_.fresh("i"), end = fmt::format("{} + {}", first, kRows);
  const std::string all = number_of(rows);
  w_.open("for (std::ptrdiff_t {0} = 0; {0} < {1}; {0} += {2})", first, all, kRows);
  loops({&panels, 1}, c, [&](const Cursor& panel) {
    const bool whole = rows.elastic < 0 && rows.count % kRows == 0;
    const std::string i = names_.fresh("i");
    w_.open("for (std::ptrdiff_t {0} = {1}; {0} < {2}; ++{0})", i, first,
            whole ? end : fmt::format("({0} < {1} ? {0} : {1})", end, all));
    inner(step_along(rows, panel, i));
    w_.close();
  });
  w_.close();
}

void PackWriter::elements(std::vector<BoxDigit> digits, const Cursor& c) {
  std::erase_if(digits, [](const BoxDigit& d) { return d.count == 1 && d.elastic < 0; });
  if (digits.empty()) return move_one(c);
  if (from() == to())
    if (const TransposeFit f = fit_transpose(isa_, from(), digits, job_.into_packed); f.row)
      return loops_by_rows(f.around, f.inside, c, [&](const Cursor& inside) { tiles(f, inside); });
  const BoxDigit& last = digits.back();
  if (last.elastic >= 0)
    return loops_by_rows(digits, {}, c, [&](const Cursor& one) { move_one(one); });
  const Digits around = Digits(digits).first(digits.size() - 1);
  loops_by_rows(around, {last}, c, [&](const Cursor& inside) {
    if (last.packed == 1 && last.other == 1)
      run(last.count, inside);
    else
      each(last, inside);
  });
}

// How many rows so far apart can be taken at a time: those that lie in the same few sets of L1 push
// one another out, and come to a set one after the other. 0: as many as one likes.
i64 PackWriter::rows_at_once(const Offset& stride) const {
  constexpr i64 kSets = 4096, kWays = 8;  // bytes of all sets, a line of each
  const i64 apart = stride.assumed() * bytes(from());
  return apart % kSets == 0 ? kWays : apart % (kSets / 2) == 0 ? 2 * kWays : 0;
}

// Columns as wide as a line of the source, all rows in each, so that a line is used up while it is
// near even where all rows lie in one set of a cache (rows of 4 KiB to panels of 96 f32: 1.14
// cycles an element instead of 1.36). Where those of the target alone lie so, few of them at a
// time, in each as many rows of the source as fill a line of it. (Zen 5, f32, 384 rows of 256
// elements to as many of the target 2 and 4 KiB apart, cycles a line: 6.7 and 8.6, where all of
// the target's rows are written line by line 44 and 56, by half lines, columns as above, 6.9 and
// 26; 8 and 16 at once 8.0 and 15.7. Rows 1 KiB apart are as fast either way. Where the source's
// lie so, too, it takes 1.4 to 1.7 times as long from memory.) What is left goes to smaller rows of
// the ISA.
void PackWriter::tiles(const TransposeFit& f, const Cursor& c) {
  const BoxDigit &rows = f.inside[f.rows], &column = f.inside[f.column];
  const auto fill = [](i64 all, i64 bytes, i64& whole) {
    const i64 line = std::max<i64>(1, kLine / bytes);
    if (whole = all; all > line) whole -= all % line;
    return whole > line ? whole / line : 1;
  };
  const i64 width = f.row->columns;
  if (column.count < width) return last_columns(f, c);
  i64 chunks = rows.count / f.step, tiles = column.count / width;
  const i64 at_once = rows_at_once(to_stride(column));
  const bool by_target =
      job_.ahead == 0 && chunks > 1 && at_once > 0 && rows_at_once(from_stride(rows)) == 0;
  if (by_target) {
    const i64 lines = fill(chunks, f.row->bytes * f.row->rows, chunks);
    const i64 most = std::max<i64>(1, at_once / width);
    if (tiles > most) tiles -= tiles % most;
    const i64 some = std::min(tiles, most);
    const BoxDigit nest[] = {steps(column, tiles / some, some * width),
                             steps(rows, lines, chunks / lines * f.step),
                             steps(column, some, width), steps(rows, chunks / lines, f.step)};
    loops(Digits(nest), c, [&](const Cursor& inside) { apply(f, inside); });
  } else {
    const i64 lines = fill(tiles, f.row->bytes * width, tiles);
    const BoxDigit nest[] = {steps(column, lines, tiles / lines * width),
                             steps(rows, chunks, f.step), steps(column, tiles / lines, width)};
    loops(Digits(nest).first(2), c, [&](const Cursor& line) {
      ask_ahead(f, nest[2].count * width, line);
      loops(Digits(nest).last(1), line, [&](const Cursor& inside) { apply(f, inside); });
    });
  }
  std::vector<BoxDigit> rest = f.inside;
  if ((rest[f.rows].count -= chunks * f.step) > 0) {
    rest[f.column].count = tiles * width;
    elements(rest, moved(c, rows, chunks * f.step));
  }
  rest = f.inside;
  if ((rest[f.column].count -= tiles * width) > 0) elements(rest, moved(c, column, tiles * width));
}

// What is left of columns, of all rows.
void PackWriter::last_columns(const TransposeFit& f, const Cursor& c) {
  const BoxDigit& rows = f.inside[f.rows];
  const BoxDigit chunks = steps(rows, rows.count / f.step, f.step);
  loops({&chunks, 1}, c, [&](const Cursor& inside) { apply(f, inside); });
  std::vector<BoxDigit> rest = f.inside;
  if ((rest[f.rows].count -= chunks.count * f.step) > 0)
    elements(rest, moved(c, rows, chunks.count * f.step));
}

// Moves a tile, or what is left of one.
void PackWriter::apply(const TransposeFit& f, const Cursor& c) {
  static constexpr std::string_view kSources[] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
  static constexpr std::string_view kTargets[] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"};
  std::vector<std::pair<std::string_view, std::string>> values;
  for (size_t i = 0; i < f.sources.size(); ++i)
    values.emplace_back(kSources[i], at(source(c), f.sources[i]));
  for (size_t i = 0; i < std::size(kTargets); ++i)
    values.emplace_back(kTargets[i],
                        at(target(c), static_cast<i64>(i) * to_stride(f.inside[f.column])));
  const i64 columns = f.inside[f.column].count;
  values.emplace_back("n", fmt::format("{}", columns));
  w_.code(expand(columns < f.row->columns ? f.row->partial : f.row->code, values));
}

void PackWriter::each(const BoxDigit& d, const Cursor& c) {
  const i64 size = std::min(d.count, from() == to() ? kUnrolledElements : kUnrolledConversions);
  if (size == 0) return;
  const BoxDigit blocks = steps(d, d.count / size, size);
  loops({&blocks, 1}, c, [&](const Cursor& inside) {
    for (i64 i = 0; i < size; ++i) move_one(moved(inside, d, i));
  });
  for (i64 i = blocks.count * size; i < d.count; ++i) move_one(moved(c, d, i));
}

// Whether n elements are sooner converted as a part of a vector than one by one, by the number of
// instructions. (G: unpack of 44 rows of f32 to bf16, the kernel as a whole: rows of 12, AVX-512,
// 0.85 of the time; of 3, AVX2, 0.60.)
bool PackWriter::fewer_as_vector(const Conversion& v, i64 n) const {
  constexpr int kLocal = 2;  // by way of a local array
  if (v.load->partial.empty()) return false;
  const Conversion one = find_conversion(isa_, from(), to(), false);
  const int part =
      count(v.load->partial_uops) +
      (v.store->partial.empty() ? count(v.store->uops) + kLocal : count(v.store->partial_uops));
  return part < n * (count(one.load->uops) + count(one.store->uops));
}

// What is left behind the last whole vector, the vector that ends where the run ends takes: some
// elements are converted twice, where up to fifteen would be converted one by one.
void PackWriter::run(i64 n, const Cursor& c) {
  const BoxDigit unit = {1, 1, 1};
  ask_ahead(source(c), n);
  if (from() == to() && copy_vectors(n, c)) return;
  if (from() == to())
    return w_.line("__builtin_memcpy({}, {}, {});", target(c), source(c), n * bytes(to()));
  const Conversion v = find_conversion(isa_, from(), to(), true);
  const i64 width = v.load ? v.load->lanes * v.load->group : 0;
  if (n < width && fewer_as_vector(v, n)) return convert(v, c, n);
  if (n < width || width == 0) return each({n, 1, 1}, c);
  const BoxDigit vectors = {n / width, width, width};
  if (vectors.count > kUnrolledVectors)
    loops({&vectors, 1}, c, [&](const Cursor& inside) { convert(v, inside, width); });
  else
    for (i64 i = 0; i < vectors.count; ++i) convert(v, moved(c, vectors, i), width);
  if (n % width > 0) convert(v, moved(c, unit, n - width), width);
}

// A memcpy, of which GCC makes moves of 16 bytes, and of more than 256 bytes `rep movs`, which
// takes long to begin; of a loop over vectors, too, but not with four in each step. (Zen 3, 48
// bytes 5.3 and 3.7 cycles, 64 4.9 and 2.9, 128 8.4 and 4.3, 256 16.9 and 9.7, 384 73 and 21, 1 KiB
// 118 and 51; 4 KiB take the same.)
bool PackWriter::copy_vectors(i64 n, const Cursor& c) {
  constexpr i64 kMost = 2048;
  const Conversion v = find_conversion(isa_, Dtype::f32, Dtype::f32, true);
  const i64 size = bytes(to());
  const i64 width = v.load ? v.load->lanes * bytes(Dtype::f32) / size : 0;
  if (n < width || n * size > kMost || width == 0) return false;
  const auto place = [&](const std::string& pointer, i64 at_element, bool reads) {
    const std::string p = at(pointer, at_element);
    if (to() == Dtype::f32) return p;
    return fmt::format("reinterpret_cast<{}float*>({})", reads ? "const " : "", p);
  };
  const auto vector = [&](const Cursor& begin, i64 at_element) {
    const std::string value = names_.fresh("v");
    w_.line("{} {};", isa_.register_type(v.load->reg, v.load->lanes), value);
    w_.code(expand(v.load->code, {{"p", place(source(begin), at_element, true)}, {"r0", value}}));
    w_.code(expand(v.store->code, {{"p", place(target(begin), at_element, false)}, {"r0", value}}));
  };
  const i64 step = kUnrolledVectors * width;
  const BoxDigit blocks = {n / step, step, step};
  loops({&blocks, 1}, c, [&](const Cursor& inside) {
    for (i64 i = 0; i < step; i += width) vector(inside, i);
  });
  for (i64 i = n / step * step; i + width <= n; i += width) vector(c, i);
  if (n % width > 0) vector(c, n - width);
  return true;
}

// A vector of the first n elements.
void PackWriter::convert(const Conversion& v, const Cursor& c, i64 n) {
  const std::string value = names_.fresh("v");
  w_.line("{} {};", isa_.register_type(v.load->reg, v.load->lanes), value);
  std::vector<Offset> offsets;
  for (i64 i = 0; i < n; ++i) offsets.push_back(i);
  read_vector(w_, names_, *v.load, from(), source(c), offsets, value);
  write_vector(w_, names_, *v.store, to(), target(c), offsets, value);
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

// For as many lines as adjacent elements take, behind each of which another one begins a line.
// Between the rows of a copy, where leaves do not do it (ask.h): asked for all at once, before it
// begins, they come no sooner than it ends. (Zen 4, f32 16x2048x2048 from L3 by AVX2, copies of 32
// x 64: 1607 us, all at once 2850, nothing asked for 3323.)
void PackWriter::ask_ahead(const std::string& source, i64 elements) {
  if (job_.ahead == 0) return;
  const i64 size = bytes(from()), fixed = job_.ahead.fixed();
  const std::string row = at(source, job_.ahead + -fixed);
  const i64 lines = ceil_div(elements * size, kLine);
  if (lines <= kUnrolledLines) {
    for (i64 i = 0; i < lines; ++i)
      w_.code(ask(isa_.prefetch_to_l2, from(), row, fixed * size + i * kLine));
    return;
  }
  const std::string i = open_loop(w_, names_, lines);
  const std::string line = stepped(w_, names_, const_pointer(from()), "src", row, i, kLine / size);
  w_.code(ask(isa_.prefetch_to_l2, from(), line, fixed * size));
  w_.close();
}

// For columns of all rows of a transpose, those of one line once.
void PackWriter::ask_ahead(const TransposeFit& f, i64 columns, const Cursor& c) {
  if (job_.ahead == 0) return;
  const i64 row = columns * (f.row->dense_rows ? f.row->rows : 1) * f.row->bytes / bytes(from());
  i64 last = -1;
  for (const Offset& source : f.sources) {
    if (last >= 0 && source.assumed() < last) continue;
    last = source.assumed() + std::max(row, kLine / bytes(from()));
    ask_ahead(at(this->source(c), source), row);
  }
}

}  // namespace

std::string pack_function(Functions& functions, const Isa& isa, const PackJob& job) {
  const Dtype from = job.into_packed ? job.other_type : job.packed_type;
  const Dtype to = job.into_packed ? job.packed_type : job.other_type;
  const std::string params = fmt::format("const {}* __restrict src, {}* __restrict dst{}",
                                         c_type(from), c_type(to), stride_params(job.other)) +
                             length_params(job.elastic);
  return functions.add(job.into_packed ? "pack" : "unpack", params, PackWriter(isa, job).body());
}

Body copy_body(const Isa& isa, const PackJob& job) { return PackWriter(isa, job).body(); }

std::string pack_args(const PackJob& job) {
  return stride_args(job.other) + length_args(job.elastic);
}

std::string fill_function(Functions& functions, const Ref& out, const Extents& extent,
                          double value) {
  Writer w(1);
  Names names;
  fill(w, names, whole_box(out.map, extent), out.dtype, value);
  return functions.add("fill", mutable_pointer(out.dtype) + " dst" + stride_params(out.map),
                       w.body());
}

}  // namespace morello
