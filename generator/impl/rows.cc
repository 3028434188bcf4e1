#include "impl/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "impl/lines.h"
#include "spec/rows.h"

namespace morello {
namespace {

using lines::fail;
using lines::Line;
using lines::Reader;

// Of the program for pieces of a size, in a line of its own.
std::string piece_head(const RunTimeSize& size, i64 rows) {
  return fmt::format("{}={}:", size.name, rows);
}

class RowsParser {
 public:
  RowsParser(std::string_view text, const KernelSpec& spec, const Machine& machine, const Isa& isa)
      : lines_(lines::split_lines(text)), spec_(spec), machine_(machine), isa_(isa) {}

  Result<AnyRows> run() {
    try {
      return program();
    } catch (const lines::Failure& f) {
      return f.diagnostic;
    }
  }

 private:
  AnyRows program() {
    if (lines_.empty()) fail(Line{}, 1, 1, "empty program");
    const RunTimeSize& size = spec_.sizes().front();
    Reader r(lines_[0], 0);
    for (const std::string& word : {std::string("pieces"), std::string("of"), size.name + ":"})
      r.expect(word);
    AnyRows rows{.size = size, .pieces = {}, .programs = {}};
    while (!r.done()) rows.pieces.sizes.push_back(r.number("a number of rows"));
    if (std::string why = sizes_problem(rows.pieces, size); !why.empty())
      fail(lines_[0], lines_[0].words[0], why);
    at_ = 1;
    for (const i64 n : rows.pieces.sizes) rows.programs.push_back(piece(piece_head(size, n), n));
    if (at_ < lines_.size()) fail(lines_[at_], lines_[at_].words[0], "there is no such piece");
    choose_rests(rows);
    return rows;
  }

  RowsPiece piece(const std::string& head, i64 rows) {
    if (at_ == lines_.size())
      fail(lines_.back(), lines_.back().words[0], fmt::format("no `{}` behind it", head));
    Reader r(lines_[at_++], 0);
    r.expect(head);
    RowsPiece out{.fusion = nullptr, .cost_cycles = r.number("a number of cycles", 0)};
    r.expect("cycles");
    r.end();
    const size_t begin = at_;
    while (at_ < lines_.size() && lines_[at_].indent > 0) ++at_;
    Result<Fusion> fusion = parse_fusion(outdented(begin, at_), with_rows(spec_, rows), machine_,
                                         isa_, {rows, spec_.sizes().front().nominal()});
    if (!fusion) throw lines::Failure{fusion.error()};
    out.fusion = std::make_shared<const Fusion>(std::move(*fusion));
    return out;
  }

  // These lines, at the same numbers.
  std::string outdented(size_t begin, size_t end) const {
    std::string out;
    int number = 1;
    for (size_t i = begin; i < end; ++i) {
      for (; number < lines_[i].number; ++number) out += '\n';
      out += lines_[i].text.substr(std::min<size_t>(2, static_cast<size_t>(lines_[i].indent)));
    }
    return out + '\n';
  }

  std::vector<Line> lines_;
  const KernelSpec& spec_;
  const Machine& machine_;
  const Isa& isa_;
  size_t at_ = 0;
};

// Calls visit(position of a run of elements among all rows, position in the part, length): dense
// row-major values of rows [at, at + count) of `rows`.
void each_run(const Param& p, i64 rows, i64 at, i64 count, auto visit) {
  const auto axis = static_cast<size_t>(rows_axis(p));
  i64 outside = 1, inside = 1;
  for (size_t a = 0; a < p.shape.size(); ++a)
    if (a != axis) (a < axis ? outside : inside) *= p.shape[a].extent;
  for (i64 i = 0; i < outside; ++i)
    visit((i * rows + at) * inside, i * count * inside, count * inside);
}

}  // namespace

void choose_rests(AnyRows& rows) {
  std::vector<i64> cycles;
  for (const RowsPiece& p : rows.programs) cycles.push_back(p.cost_cycles + kTurnCycles);
  choose_rests(rows.pieces, cycles);
}

std::string print(const AnyRows& rows) {
  std::string out =
      fmt::format("pieces of {}: {}\n", rows.size.name, fmt::join(rows.pieces.sizes, " "));
  for (size_t i = 0; i < rows.programs.size(); ++i) {
    out += fmt::format("{} {} cycles\n", piece_head(rows.size, rows.pieces.sizes[i]),
                       rows.programs[i].cost_cycles);
    const std::string text = print(*rows.programs[i].fusion);
    for (const Line& line : lines::split_lines(text)) out += fmt::format("  {}\n", line.text);
  }
  return out;
}

Result<AnyRows> parse_rows(std::string_view text, const KernelSpec& spec, const Machine& machine,
                           const Isa& isa) {
  return RowsParser(text, spec, machine, isa).run();
}

std::vector<double> interpret(const AnyRows& rows, const KernelSpec& spec, i64 count,
                              const std::vector<std::vector<double>>& params) {
  std::vector<std::vector<double>> made;
  const KernelSpec all = with_rows(spec, count);
  for (size_t i = 0; i < spec.results.size(); ++i)
    made.emplace_back(static_cast<size_t>(count_elements(extents(all.result(i).shape))));
  for (const Cut& cut : cuts(rows.pieces, count, false)) {
    std::vector<std::vector<double>> given = params;
    for (size_t p = 0; p < params.size(); ++p) {
      if (rows_axis(spec.params[p]) < 0) continue;
      given[p].clear();
      each_run(spec.params[p], count, cut.at, cut.length, [&](i64 from, i64, i64 n) {
        given[p].insert(given[p].end(), params[p].begin() + from, params[p].begin() + from + n);
      });
    }
    const RowsPiece& piece = rows.programs[static_cast<size_t>(cut.which)];
    const std::vector<double> values = interpret(*piece.fusion, given);
    auto next = values.begin();
    for (size_t i = 0; i < made.size(); ++i) {
      const Param& result = spec.result(i);
      const auto begin = next;
      next += count_elements(extents(with_rows(spec, cut.length).result(i).shape));
      if (rows_axis(result) < 0)
        std::copy(begin, next, made[i].begin());
      else
        each_run(result, count, cut.at, cut.length, [&](i64 to, i64 from, i64 n) {
          std::copy(begin + from, begin + from + n, made[i].begin() + to);
        });
    }
  }
  std::vector<double> out;
  for (const std::vector<double>& m : made) out.insert(out.end(), m.begin(), m.end());
  return out;
}

std::map<int, std::string> packed_orders(const Fusion& f) {
  std::map<int, std::string> out;
  for (const StageProgram& p : f.programs) {
    const Computation all = stage_part(*f.graph, p.stage, whole(*f.graph), {});
    for (int o = 0; o < all.inputs(); ++o)
      if (all.operands[static_cast<size_t>(o)].packed)
        out.emplace(f.graph->tensor_of(p.stage, o), packed_order_text(p.problem.family, all, o));
  }
  return out;
}

std::string verify(const AnyRows& rows) {
  if (std::string why = sizes_problem(rows.pieces, rows.size); !why.empty()) return why;
  if (rows.programs.size() != rows.pieces.sizes.size())
    return fmt::format("{} programs for {} pieces", rows.programs.size(), rows.pieces.sizes.size());
  for (size_t i = 0; i < rows.programs.size(); ++i) {
    const Fusion& f = *rows.programs[i].fusion;
    const std::string head = piece_head(rows.size, rows.pieces.sizes[i]);
    for (const StageProgram& p : f.programs)
      if (p.problem.family.isa != rows.programs[0].fusion->programs[0].problem.family.isa)
        return head + " another instruction set";
    if (f.threads != rows.programs[0].fusion->threads) return head + " other threads";
    if (packed_orders(f) != packed_orders(*rows.programs[0].fusion))
      return head + " packed in another order";
    if (std::string why = verify(f); !why.empty()) return fmt::format("{} {}", head, why);
  }
  return "";
}

}  // namespace morello
