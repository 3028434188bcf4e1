// What a leaf asks for that lies farther away: lines of its output, and what copies and views read
// at their next step.
#include <fmt/format.h>

#include "codegen/access.h"
#include "codegen/leaf_writer.h"
#include "spec/sizes.h"

namespace morello {

// Most lines of an output that are asked for before its sums.
constexpr i64 kMostLinesBefore = 8;

// Into how many equal parts the loop over the innermost reduction falls for what is asked for at
// their beginnings; 1: nothing is, but before it.
i64 LeafWriter::times_in_loop() const {
  i64 times = 1;
  if (outer_.empty())
    for (const LeafAsk& a : job_.asks)
      if (iterations() % a.asking.times == 0 && iterations() > a.asking.times)
        times = std::max(times, a.asking.times);
  return times;
}

void LeafWriter::ask_next(size_t i) {
  const Asking& asking = job_.asks[i].asking;
  w_.line("{0}(ask{1}, asked{1});", asking.function, i);
  w_.line("asked{} += {};", i, asking.share);
}

void LeafWriter::ask_before() {
  for (size_t i = 0; i < job_.asks.size(); ++i) {
    if (job_.asks[i].asking.times == times_in_loop()) continue;
    w_.open("for (std::ptrdiff_t part = 0; part < {}; ++part)", job_.asks[i].asking.times);
    ask_next(i);
    w_.close();
  }
}

// Where the lines of a row of the output tile begin, if it starts with a line, one element of each.
std::vector<Offset> LeafWriter::lines_of_row(Extents row) const {
  std::vector<Offset> lines;
  const i64 vectors = f_.lane >= 0 ? count_[f_.lane] : 1;
  for (i64 i = 0; i < vectors; ++i) {
    if (f_.lane >= 0) row[f_.lane] = i;
    const std::vector<Offset> offsets = output_offsets(row);
    const i64 in_row = f_.lane >= 0 ? i * unit_[f_.lane] : 0;
    if (adjacent(offsets) && in_row * bytes(job_.refs[out_].dtype) % kLine == 0)
      lines.push_back(offsets[0]);
  }
  return lines;
}

// Rows that lie evenly apart along one dim, more than are asked for at once, if a loop over a
// reduction has iterations enough.
std::optional<LeafWriter::OutputRows> LeafWriter::rows_in_turn() const {
  const Extents counts = output_instances();
  OutputRows rows;
  for (int d = 0; d < static_cast<int>(c_.dims.size()); ++d) {
    if (d == f_.lane || counts[d] == 1) continue;
    if (rows.dim >= 0) return std::nullopt;
    rows.dim = d;
  }
  if (rows.dim < 0 || inner_ < 0 || f_.lane < 0) return std::nullopt;
  rows.count = counts[rows.dim];
  rows.lines = lines_of_row({});
  const bool loops = elastic(inner_) ? slots_per_iteration() > 1 : iterations() >= rows.count;
  if (!loops || rows.count * static_cast<i64>(rows.lines.size()) <= kMostLinesBefore)
    return std::nullopt;
  rows.step = job_.refs[out_].map.advance(rows.dim, 1);
  for (Extents row{}; row[rows.dim] < rows.count; ++row[rows.dim]) {
    std::vector<Offset> lines = rows.lines;
    for (Offset& line : lines) line += row[rows.dim] * rows.step;
    if (lines != lines_of_row(row)) return std::nullopt;
  }
  if (masks_lanes()) return rows;
  Extents last{};
  last[f_.lane] = counts[f_.lane] - 1;
  rows.lines.push_back(output_offsets(last).back());  // rows may begin anywhere in a line
  return rows;
}

void LeafWriter::ask_for_lines(const std::string& row, const std::vector<Offset>& lines) {
  for (const Offset& o : lines) w_.code(expand(f_.isa->prefetch, {{"p", at(row, o)}}));
}

// The lines of the output tile, before the sums or beside them. What is asked for at once takes the
// buffers that loads of the first iterations need, but where the last of several rows is asked for
// a branch is predicted wrongly. (Emerald Rapids, f32, of the time of leaves that do not ask.
// AVX-512, 8 x 48: 1000x64x1000, all 24 lines at first 1.05, half of them and then the others
// 1.03, two rows and six others by twos 0.96, row by row 0.97, with the line of a row's last
// element 0.94; 1000x16x1000 0.89. AVX2, 6 x 16: 512^3 and 1024^3 1.00, row by row 1.02.)
void LeafWriter::ask_for_output() {
  if (job_.call.ahead_operand != out_) return;
  asked_rows_ = rows_in_turn();
  if (asked_rows_) {
    asked_rows_->name = names_.fresh("row");
    w_.line("std::ptrdiff_t {} = 0;", asked_rows_->name);
    return;
  }
  Extents rows = output_instances();
  if (f_.lane >= 0) rows[f_.lane] = 1;
  each(rows, [&](const Extents& row) { ask_for_lines(pointer(out_), lines_of_row(row)); });
}

// In an iteration over a reduction: the next row.
void LeafWriter::ask_for_row() {
  if (!asked_rows_) return;
  const OutputRows& rows = *asked_rows_;
  w_.open("if ({} < {})", rows.name, rows.count);
  const std::string row = fmt::format("{} + {} * {}", pointer(out_), rows.name, text(rows.step));
  ask_for_lines(row, rows.lines);
  w_.line("++{};", rows.name);
  w_.close();
}

}  // namespace morello
