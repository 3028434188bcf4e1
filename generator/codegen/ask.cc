// Lines come while something else is done, and a core waits for few at a time: asked for all at
// once they hold up what comes behind them, so every leaf asks for its share. (Granite Rapids, f32
// by AVX-512 from L3, copies of 32 x 64, three leaves behind each: 16x2048x2048 1259 us as nobody
// asks, 1318 where the copy does, 1347 all lines before the first leaf, 1164 a third before each;
// 35x700x2048, six leaves, 801, 757 and 707. With one leaf behind a copy neither helps.)
#include "codegen/ask.h"

#include <algorithm>

#include "codegen/access.h"
#include "impl/copy_box.h"
#include "spec/sizes.h"

namespace morello {
namespace {

constexpr size_t kMostBoxes = 4;
// Most lines that a leaf asks for at once. (Zen 5, f32 16x2048x6144 from memory, copies that ask
// for the next one. AVX-512, 32 x 192, 48 lines a leaf: all before it 3360 us, 24 and then 24 in
// its middle 2360, four times 12 2350; 64 x 192, 96 lines, 3750, 2490 and 2380. AVX2, 64 x 48, 24
// lines 4130, two times 12 3700.)
constexpr i64 kMostAtOnce = 16;
// Shares of fewer parts each are divided evenly, in lines, rather than cheaply.
constexpr i64 kFewParts = 4;
// To GCC a function that does nothing but ask does nothing, and it drops its calls.
constexpr std::string_view kEffect = "__asm__ volatile(\"\");";

// A box as rows of adjacent elements.
struct Rows {
  std::vector<BoxDigit> digits;  // from row to row, the longest way first
  Offset begin = {};
  i64 count = 1, lines = 1;
  i64 at_once = 1;  // lines of a part; the last one of a row may overlap the one before
  i64 pieces() const { return ceil_div(lines, at_once); }
  i64 parts() const { return count * pieces(); }
};

Rows rows_of(const Box& box, i64 element_bytes) {
  Rows rows{.digits = box.digits, .begin = box.other};
  i64 adjacent = 1;
  for (bool found = true; found;) {
    const auto next = std::find_if(rows.digits.begin(), rows.digits.end(),
                                   [&](const BoxDigit& d) { return d.other == Offset(adjacent); });
    found = next != rows.digits.end();
    if (!found) break;
    adjacent *= next->count;
    rows.digits.erase(next);
  }
  std::erase_if(rows.digits, [](const BoxDigit& d) { return d.count == 1; });
  std::stable_sort(rows.digits.begin(), rows.digits.end(), [](const auto& a, const auto& b) {
    return a.other.assumed() > b.other.assumed();
  });
  for (const BoxDigit& d : rows.digits) rows.count *= d.count;
  rows.lines = ceil_div(adjacent * element_bytes, kLine);
  return rows;
}

class AskWriter {
 public:
  AskWriter(std::string_view instruction, const PackJob& job, const std::vector<Box>& boxes,
            i64 leaves, bool within);
  Body body();
  i64 share() const { return share_; }
  i64 times() const { return times_; }

 private:
  void divide(i64 shares);
  i64 in_parts(i64 most_lines);
  void ask_for(const Rows& r, const std::string& part);

  std::string_view instruction_;
  const PackJob& job_;
  std::vector<Rows> rows_;
  i64 parts_ = 0, share_ = 0, times_ = 1;
  bool exact_ = false;  // the shares are all parts and no more
  Writer w_{1};
};

AskWriter::AskWriter(std::string_view instruction, const PackJob& job,
                     const std::vector<Box>& boxes, i64 leaves, bool within)
    : instruction_(instruction), job_(job) {
  for (const Box& box : boxes) rows_.push_back(rows_of(box, bytes(job.other_type)));
  i64 lines = 0;
  for (const Rows& r : rows_) lines += r.count * r.lines;
  if (within)
    while (lines > leaves * times_ * kMostAtOnce) times_ *= 2;  // as steps of sums are divided
  const i64 shares = leaves * times_;
  divide(shares);
  share_ = ceil_div(parts_, shares);
  exact_ = share_ * shares == parts_;
}

// Rows in as few parts of so many lines at most as there are, and as even ones.
i64 AskWriter::in_parts(i64 most_lines) {
  parts_ = 0;
  for (Rows& r : rows_) {
    r.at_once = ceil_div(r.lines, ceil_div(r.lines, most_lines));
    parts_ += r.parts();
  }
  return parts_;
}

// Where a part lies takes divisions, so that a part is a row, or some lines of a long one, and a
// line only where there are too few of those for all shares. (Zen 5, f32 16x1024x1536 by AVX-512
// from L3, rows of twelve lines, copies of 16 x 192: line by line 301 us, by four 251; 32 x 192 329
// and 267.)
void AskWriter::divide(i64 shares) {
  const bool long_rows = std::any_of(rows_.begin(), rows_.end(),
                                     [](const Rows& r) { return r.lines > kUnrolledLines; });
  const i64 parts = in_parts(kUnrolledLines);
  const bool even = parts % shares == 0 || parts >= kFewParts * shares;
  if (parts < shares || (long_rows && !even)) in_parts(1);
}

Body AskWriter::body() {
  w_.line("{}", kEffect);
  w_.open("for (std::ptrdiff_t part = asked; part < asked + {}; ++part)", share_);
  if (!exact_) w_.line("if (part >= {}) return;", parts_);
  i64 before = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const bool last = i + 1 == rows_.size();
    if (!last) w_.open("if (part < {})", before + rows_[i].parts());
    ask_for(rows_[i], before == 0 ? "part" : fmt::format("(part - {})", before));
    if (!last) w_.otherwise();
    before += rows_[i].parts();
  }
  for (size_t i = 0; i < rows_.size(); ++i) w_.close();
  return w_.body();
}

void AskWriter::ask_for(const Rows& r, const std::string& part) {
  const i64 size = bytes(job_.other_type), fixed = (job_.ahead + r.begin).fixed();
  std::string row = at("src", job_.ahead + r.begin + -fixed);
  i64 inner = r.pieces();
  if (inner > 1) {
    const std::string lines = fmt::format("{} % {} * {}", part, inner, r.at_once * kLine / size);
    const i64 last = (r.lines - r.at_once) * kLine / size;
    const bool overlaps = r.lines % r.at_once != 0;
    row += overlaps ? fmt::format(" + ({0} < {1} ? {0} : {1})", lines, last) : " + " + lines;
  }
  for (size_t i = r.digits.size(); i-- > 0;) {
    const BoxDigit& d = r.digits[i];
    const std::string quotient = inner == 1 ? part : fmt::format("{} / {}", part, inner);
    const std::string digit = i == 0 ? quotient : fmt::format("{} % {}", quotient, d.count);
    row += fmt::format(" + {} * {}", digit, text(d.other));
    inner *= d.count;
  }
  w_.line("{} row = {};", const_pointer(job_.other_type), row);
  for (i64 line = 0; line < r.at_once; ++line)
    w_.code(ask(instruction_, job_.other_type, "row", fixed * size + line * kLine));
}

}  // namespace

std::optional<Asking> ask_function(Functions& functions, const Isa& isa, const PackJob& job,
                                   Level to, i64 leaves, bool within) {
  const std::string_view instruction = to == kL1 ? isa.prefetch : isa.prefetch_to_l2;
  if (leaves < 2 || instruction.empty()) return std::nullopt;
  const std::vector<Box> boxes = element_boxes(job.packed, job.other, job.extent);
  if (boxes.size() > kMostBoxes) return std::nullopt;
  AskWriter writer(instruction, job, boxes, leaves, within && stride_params(job.other).empty());
  const std::string params = fmt::format("{} src, std::ptrdiff_t asked{}",
                                         const_pointer(job.other_type), stride_params(job.other));
  return Asking{functions.add("ask", params, writer.body()), writer.share(), writer.times()};
}

}  // namespace morello
