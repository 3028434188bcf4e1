#include "run/draw.h"

#include <fmt/format.h>

#include <map>

#include "run/artist.h"
#include "target/isa.h"

namespace morello::run {
namespace {

constexpr i64 kMostWork = 1'000'000;  // points of one kernel's iteration space

// Of one stage.
class Single : public Artist {
 public:
  using Artist::Artist;

  std::string kernel() {
    const i64 kind = pick(random_, 0, 99);
    for (;;) {
      work_ = 1;
      sizes_.clear();
      names_ = {"a", "b", "x", "w", "i", "base", "packed", "body", "data", "run", "m0", "acc"};
      const std::string text = kind < 45   ? matmul()
                               : kind < 70 ? random_composition(random_, false)
                               : kind < 80 ? binary()
                               : kind < 90 ? convert()
                                           : reduction();
      if (work_ <= kMostWork && (sizes_.empty() || parse_spec("f" + text))) return text;
    }
  }

 private:
  std::vector<i64> shape(int least_rank, int most_rank) {
    std::vector<i64> s(static_cast<size_t>(pick(random_, least_rank, most_rank)));
    for (i64& extent : s) work_ *= extent = size();
    return s;
  }

  // Few outputs and a long sum: for more than one thread, the sum has to be divided.
  std::vector<i64> tall() {
    const std::vector<i64> s = {pick(random_, 1, 5), pick(random_, 1, 9),
                                pick(random_, 1, 40) * size()};
    for (const i64 extent : s) work_ *= extent;
    return s;
  }

  std::string name() {
    const std::string one = any(names_);
    std::erase(names_, one);
    return one;
  }

  // One extent in a few is known at run time only, wherever it occurs. What is refused (packed,
  // some sums, blocks) is drawn again.
  std::string size_text(i64 extent) {
    const auto known = sizes_.find(extent);
    if (known != sizes_.end()) return known->second;
    if (!run_time_ || !one_in(3)) return sizes_[extent] = std::to_string(extent);
    const std::string name = fmt::format("n{}", sizes_.size());
    sizes_[extent] = name;
    const i64 granule = any<i64>({1, 1, 1, 2, 3, 4, 8, 16}),
              most = pick(random_, 1, 40 / granule + 1);
    std::string text = granule == 1 ? name : fmt::format("{}%{}", name, granule);
    if (one_in(3)) return text + fmt::format(" to {}", granule * pick(random_, 1, 20));
    return text + fmt::format(" near {}", granule * most);
  }

  std::string layout(size_t rank) { return Artist::layout(rank, true); }

  std::string tensor(const std::string& dtype, const std::vector<i64>& s, bool may_pack = false) {
    std::string shape;
    for (const i64 extent : s) shape += (shape.empty() ? "" : ",") + size_text(extent);
    return fmt::format("{}[{}]{}", dtype, shape,
                       may_pack && one_in(3) ? " packed" : layout(s.size()));
  }

  std::string matmul() {
    std::vector<i64> batch;
    for (i64 more = pick(random_, -2, 2); more > 0; --more) batch.push_back(pick(random_, 1, 4));
    for (const i64 b : batch) work_ *= b;
    const std::vector<i64> mnk = one_in(4) ? tall() : shape(3, 3);
    const auto with = [&](i64 rows, i64 columns, size_t batch_rank) {
      std::vector<i64> s(batch.end() - static_cast<std::ptrdiff_t>(batch_rank), batch.end());
      s.insert(s.end(), {rows, columns});
      return s;
    };
    // One operand has all batch dimensions, the other all, the inner ones, or none.
    const auto some = static_cast<size_t>(pick(random_, 0, static_cast<i64>(batch.size())));
    const bool left = one_in(2);
    const bool integers = one_in(4);
    const std::string a = name(), b = name();
    const std::vector<std::string> wide = {"f32", "bf16", "f16"};
    return fmt::format("({}: {}, {}: {}): {}{} = matmul({}, {})", a,
                       tensor(any(integers ? kBytes : wide),
                              with(mnk[0], mnk[2], left ? batch.size() : some), true),
                       b,
                       tensor(any(integers ? kBytes : wide),
                              with(mnk[2], mnk[1], left ? some : batch.size()), true),
                       any(integers ? std::vector<std::string>{"i32", "i16"} : wide),
                       layout(batch.size() + 2), a, b);
  }

  std::string binary() {
    const std::vector<i64> s = shape(1, 3);
    const std::string dtype = any<std::string>({"f32", "bf16", "f16", "i32"});
    const std::string a = name(), b = one_in(5) ? a : name();
    const std::string more = a == b ? "" : fmt::format(", {}: {}", b, tensor(dtype, s));
    return fmt::format("({}: {}{}): {}{} = {}({}, {})", a, tensor(dtype, s), more,
                       any<std::string>({dtype, "f32"}), layout(s.size()),
                       any<std::string>({"add", "mul"}), a, b);
  }

  std::string convert() {
    const std::vector<i64> s = shape(1, 4);
    const bool floats = one_in(2);
    const std::string a = name();
    return fmt::format(
        "({}: {}): {}{} = convert({})", a,
        tensor(floats ? any<std::string>({"f32", "bf16", "f16"})
                      : any<std::string>({"i32", "i16", "u8", "i8", "i7"}),
               s),
        floats ? any<std::string>({"f32", "bf16", "f16"}) : any<std::string>({"f32", "i32", "i16"}),
        layout(s.size()), a);
  }

  std::string reduction() {
    const std::vector<i64> s = shape(1, 4);
    const bool floats = one_in(2);
    const std::string a = name();
    const size_t rank = std::max<size_t>(1, s.size() - 1);
    return fmt::format("({}: {}): {}{} = {}({}, axis={})", a,
                       tensor(floats ? any<std::string>({"f32", "bf16", "f16"})
                                     : any<std::string>({"i32", "i16", "u8", "i8", "i7"}),
                              s),
                       floats ? any<std::string>({"f32", "bf16"}) : "i32", layout(rank),
                       any<std::string>({"reduce_sum", "reduce_max", "reduce_min",
                                         floats ? "reduce_mean" : "reduce_max"}),
                       a, pick(random_, 0, static_cast<i64>(s.size()) - 1));
  }

  i64 work_ = 1;
  const bool run_time_ = one_in(3);
  std::map<i64, std::string> sizes_;  // what is written for an extent
  std::vector<std::string> names_;
};

// Windows over pictures, mostly with zeros around them: of every type, in any order, in steps, with
// gaps, in groups of channels.
class Pictures : public Artist {
 public:
  using Artist::Artist;

  std::string kernel() {
    for (;;) {
      const Axis h = axis(), w = axis();
      const i64 images = one_in(2) ? 1 : pick(random_, 1, 3);
      const i64 channels = one_in(4) ? size() : pick(random_, 1, 40);
      const i64 groups = one_in(3) ? channels : one_in(4) && channels % 2 == 0 ? 2 : 1;
      const i64 each = groups > 4 ? 1 : one_in(4) ? size() : pick(random_, 1, 20);
      const i64 products = images * h.outputs() * w.outputs() * h.window * w.window * channels;
      if (products * each > kMostWork) continue;
      const std::string x = dtype_, k = bytes_ ? any(kBytes) : one_in(3) ? any(floats_) : x;
      const std::string result = bytes_ ? "i32" : one_in(2) ? "f32" : any(floats_);
      const std::string windows = fmt::format(
          "conv2d({}, k{}{}{})", padded(padded("x", 1, h), 2, w),
          steps("stride", h.stride, w.stride), steps("dilation", h.dilation, w.dilation),
          groups > 1 ? fmt::format(", groups={}", groups) : "");
      const std::string number =
          one_in(5) ? fmt::format("n near {}", images) : fmt::format("{}", images);
      return fmt::format("(x: {}[{},{},{},{}]{}, k: {}[{},{},{},{}]{}): {}{} = {}", x, number,
                         h.length, w.length, channels, layout(4, one_in(2)), k, h.window, w.window,
                         channels / groups, each * groups, one_in(2) ? " packed" : axes(4), result,
                         layout(4, true), !bytes_ && one_in(4) ? "relu(" + windows + ")" : windows);
    }
  }

 private:
  // Of a picture, in pixels.
  struct Axis {
    i64 length, window, stride, dilation, low, high;
    i64 reach() const { return dilation * (window - 1) + 1; }
    i64 outputs() const { return (low + length + high - reach()) / stride + 1; }
  };

  // Zeros as many as windows may reach beyond the picture, or so many that some windows have
  // nothing else.
  Axis axis() {
    for (;;) {
      Axis a{pick(random_, 1, 24),
             any<i64>({1, 2, 3, 3, 3, 5, 7}),
             any<i64>({1, 1, 2, 3}),
             any<i64>({1, 1, 1, 2, 3}),
             0,
             0};
      if (!one_in(4)) {
        a.low = pick(random_, 0, a.reach());
        a.high = pick(random_, 0, a.reach());
      }
      if (a.low + a.length + a.high >= a.reach()) return a;
    }
  }

  static std::string padded(const std::string& x, int axis, const Axis& a) {
    return a.low + a.high == 0
               ? x
               : fmt::format("pad({}, axis={}, low={}, high={})", x, axis, a.low, a.high);
  }

  static std::string steps(std::string_view name, i64 high, i64 wide) {
    if (high == wide) return high == 1 ? "" : fmt::format(", {}={}", name, high);
    return fmt::format(", {0}_h={1}, {0}_w={2}", name, high, wide);
  }

  const std::vector<std::string> floats_ = {"f32", "f32", "bf16", "f16"};
  const bool bytes_ = one_in(6);
  const std::string dtype_ = any(bytes_ ? kBytes : floats_);
};

// Threads and instruction sets.
Drawn drawn(Random& random, std::string spec) {
  Artist artist(random);
  Drawn d;
  d.spec = std::move(spec);
  d.threads = static_cast<int>(pick(random, 1, 6));
  std::vector<std::string> isas;
  for (const Isa* isa : isa_table()) isas.emplace_back(isa->name);
  const std::string all = fmt::format("{}", fmt::join(isas, ","));
  d.isas = artist.any(isas);
  if (d.isas != isas.back() && !artist.one_in(10)) d.isas += "," + isas.back();
  if (artist.one_in(5)) d.isas = all;
  return d;
}

}  // namespace

Drawn draw(Random& random, const std::string& name) {
  constexpr int kOfPictures = 8;  // one in so many
  if (Artist(random).one_in(kOfPictures)) return draw_convolution(random, name);
  return drawn(random, name + Single(random).kernel());
}

Drawn draw_convolution(Random& random, const std::string& name) {
  for (;;) {
    std::string spec = name + Pictures(random).kernel();
    if (parse_spec(spec)) return drawn(random, std::move(spec));
  }
}

Drawn draw_composition(Random& random, const std::string& name, std::span<const Step> steps,
                       int& refused) {
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    std::string spec = name + composition(random, steps);
    if (parse_spec(spec)) return drawn(random, std::move(spec));
    ++refused;
  }
  MORELLO_CHECK(false, "the language takes no {}", composition(random, steps));
}

Machine odd_machine(Random& random) {
  Machine m = *load_machine("x86-64-v3");
  m.name = "odd";
  m.parallel_millicycles = pick(random, 1, 50) * 1000;
  m.prefetch_bytes = 64 * pick(random, 0, 20);
  m.core512 = {.fma = 500 * pick(random, 1, 4), .store = 500 * pick(random, 1, 4)};
  i64 bytes = 64 * pick(random, 4, 40);
  for (Level l = kL1; l <= kMemory; ++l) {
    LevelDesc& level = m.levels[l];
    level.bytes = l == kMemory ? 0 : bytes;
    level.line_millicycles = pick(random, 1, 12) * 1000;
    level.prefetched_millicycles = level.line_millicycles - pick(random, 0, 800);
    level.shared_line_millicycles = pick(random, 100, 1000);
    if (l >= kL3) level.prefetch_to = pick(random, 0, 2);
    if (l >= kL3 && pick(random, 0, 1) == 1)
      level.asked_copy_millicycles = level.line_millicycles / 3;
    if (l >= kL3 && pick(random, 0, 1) == 1)
      level.asked_by_leaves_millicycles = level.line_millicycles / 4;
    if (l >= kL3 && pick(random, 0, 1) == 1)
      level.asked_view_millicycles = level.line_millicycles / 5;
    if (l >= kL3 && pick(random, 0, 1) == 1)
      level.asked_panel_millicycles = level.line_millicycles / 6;
    if (l >= kL3 && pick(random, 0, 1) == 1) {
      level.stream_millicycles =
          std::max(level.shared_line_millicycles, level.line_millicycles / 2);
      level.row_millicycles = pick(random, 0, 9) * 1000;
      if (pick(random, 0, 1) == 1) level.rows_millicycles = level.line_millicycles;
    }
    if (l >= kL3 && pick(random, 0, 1) == 1)
      level.next_rows_millicycles = level.line_millicycles / 3;
    if (l >= kL3 && pick(random, 0, 1) == 1) {
      level.next_pieces_millicycles = level.line_millicycles / 4;
      level.next_piece_start_millicycles = pick(random, 0, 40) * 1000;
    }
    if (l == kL2 && pick(random, 0, 1) == 1)
      level.beside_memory_millicycles = 2 * level.line_millicycles;
    if (l >= kL3) level.leaf_start_millicycles = pick(random, 0, 1) * pick(random, 1, 99) * 1000;
    if (l == kL3) level.streams_percent = static_cast<int>(pick(random, 0, 100));
    bytes = bytes * pick(random, 2, 9) + 64 * pick(random, 0, 9);
  }
  m.two_streams_percent = static_cast<int>(pick(random, 40, 100));
  if (pick(random, 0, 1) == 1) m.asked_overlap_percent = static_cast<int>(pick(random, 50, 98));
  if (pick(random, 0, 1) == 1)
    m.four_streams_percent = static_cast<int>(pick(random, 20, m.two_streams_percent));
  m.core.load = 500 * pick(random, 2, 5);
  m.core512->load = 500 * pick(random, 1, 4);
  m.core512->fma_and_shuffle = 1000 * pick(random, 0, 4);
  return m;
}

}  // namespace morello::run
