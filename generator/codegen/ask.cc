// Lines come while something else is done, and a core waits for few at a time: asked for all at
// once they hold up what comes behind them, so every leaf asks for its share. (Granite Rapids, f32
// by AVX-512 from L3, copies of 32 x 64, three leaves behind each: 16x2048x2048 1259 us as nobody
// asks, 1318 where the copy does, 1347 all lines before the first leaf, 1164 a third before each;
// 35x700x2048, six leaves, 801, 757 and 707. With one leaf behind a copy neither helps.)
#include "codegen/ask.h"

#include <algorithm>
#include <numeric>

#include "codegen/access.h"
#include "impl/copy_box.h"
#include "spec/sizes.h"

namespace morello {
namespace {

constexpr size_t kMostBoxes = 4;
// To GCC a function that does nothing but ask does nothing, and it drops its calls.
constexpr std::string_view kEffect = "__asm__ volatile(\"\");";

// A box as rows of adjacent elements.
struct Rows {
  std::vector<BoxDigit> digits;  // from row to row, the longest way first
  Offset begin = {};
  i64 count = 1, lines = 1;
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
            i64 leaves);
  Body body();
  i64 share() const { return share_; }

 private:
  i64 parts(const Rows& r) const { return by_line_ ? r.count * r.lines : r.count; }
  void ask_for(const Rows& r, const std::string& part);

  std::string_view instruction_;
  const PackJob& job_;
  std::vector<Rows> rows_;
  bool by_line_ = false;  // parts are lines, else rows
  i64 parts_ = 0, share_ = 0;
  bool exact_ = false;  // the shares are all parts and no more
  Writer w_{1};
};

AskWriter::AskWriter(std::string_view instruction, const PackJob& job,
                     const std::vector<Box>& boxes, i64 leaves)
    : instruction_(instruction), job_(job) {
  for (const Box& box : boxes) rows_.push_back(rows_of(box, bytes(job.other_type)));
  const auto total = [&] {
    return std::accumulate(rows_.begin(), rows_.end(), i64{0},
                           [&](i64 sum, const Rows& r) { return sum + parts(r); });
  };
  by_line_ = total() < leaves || std::any_of(rows_.begin(), rows_.end(), [](const Rows& r) {
               return r.lines > kUnrolledLines;
             });
  parts_ = total();
  share_ = ceil_div(parts_, leaves);
  exact_ = share_ * leaves == parts_;
}

Body AskWriter::body() {
  w_.line("{}", kEffect);
  w_.open("for (std::ptrdiff_t part = asked; part < asked + {}; ++part)", share_);
  if (!exact_) w_.line("if (part >= {}) return;", parts_);
  i64 before = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const bool last = i + 1 == rows_.size();
    if (!last) w_.open("if (part < {})", before + parts(rows_[i]));
    ask_for(rows_[i], before == 0 ? "part" : fmt::format("(part - {})", before));
    if (!last) w_.otherwise();
    before += parts(rows_[i]);
  }
  for (size_t i = 0; i < rows_.size(); ++i) w_.close();
  return w_.body();
}

void AskWriter::ask_for(const Rows& r, const std::string& part) {
  const i64 size = bytes(job_.other_type), fixed = (job_.ahead + r.begin).fixed();
  std::string row = at("src", job_.ahead + r.begin + -fixed);
  i64 inner = by_line_ ? r.lines : 1;
  if (inner > 1) row += fmt::format(" + {} % {} * {}", part, inner, kLine / size);
  for (size_t i = r.digits.size(); i-- > 0;) {
    const BoxDigit& d = r.digits[i];
    const std::string quotient = inner == 1 ? part : fmt::format("{} / {}", part, inner);
    const std::string digit = i == 0 ? quotient : fmt::format("{} % {}", quotient, d.count);
    row += fmt::format(" + {} * {}", digit, text(d.other));
    inner *= d.count;
  }
  w_.line("{} row = {};", const_pointer(job_.other_type), row);
  for (i64 line = 0; line < (by_line_ ? 1 : r.lines); ++line)
    w_.code(ask(instruction_, job_.other_type, "row", fixed * size + line * kLine));
}

}  // namespace

std::optional<Asking> ask_function(Functions& functions, const Isa& isa, const PackJob& job,
                                   Level to, i64 leaves) {
  if (leaves < 2) return std::nullopt;
  const std::vector<Box> boxes = element_boxes(job.packed, job.other, job.extent);
  if (boxes.size() > kMostBoxes) return std::nullopt;
  AskWriter writer(to == kL1 ? isa.prefetch : isa.prefetch_to_l2, job, boxes, leaves);
  const std::string params = fmt::format("{} src, std::ptrdiff_t asked{}",
                                         const_pointer(job.other_type), stride_params(job.other));
  return Asking{functions.add("ask", params, writer.body()), writer.share()};
}

}  // namespace morello
