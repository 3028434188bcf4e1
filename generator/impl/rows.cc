#include "impl/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "impl/lines.h"
#include "spec/positions.h"
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
  RowsParser(std::vector<Line> lines, const KernelSpec& spec, const Machine& machine,
             const Isa& isa)
      : lines_(std::move(lines)), spec_(spec), machine_(machine), isa_(isa) {}

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
    const bool cut = !has_every_number(rows.pieces, size);
    std::optional<Positions> of;
    if (cut && sums_positions(spec_)) of = positions(spec_);
    const KernelSpec each = of ? of->part : cut ? among_rows(spec_) : spec_;
    for (const i64 n : rows.pieces.sizes)
      rows.programs.push_back(piece(piece_head(size, n), with_rows(each, n), {n, size.nominal()}));
    if (of) {
      RowsPiece join = piece("join:", of->join, {});
      rows.sums = JoinedSums{std::move(join), piece("rest:", of->rest, {})};
    }
    if (at_ < lines_.size()) fail(lines_[at_], lines_[at_].words[0], "there is no such piece");
    choose_rests(rows);
    return rows;
  }

 private:
  RowsPiece piece(const std::string& head, const KernelSpec& spec, RowShare share) {
    if (at_ == lines_.size())
      fail(lines_.back(), lines_.back().words[0], fmt::format("no `{}` behind it", head));
    Reader r(lines_[at_++], 0);
    r.expect(head);
    RowsPiece out{.cost_cycles = r.number("a number of cycles", 0)};
    r.expect("cycles");
    r.end();
    const size_t begin = at_;
    while (at_ < lines_.size() && lines_[at_].indent > 0) ++at_;
    const std::string text = outdented(begin, at_);
    if (!spec.sizes().empty()) {
      out.rows = std::make_shared<const AnyRows>(
          RowsParser(lines::split_lines(text), spec, machine_, isa_).program());
      return out;
    }
    Result<Fusion> fusion = parse_fusion(text, spec, machine_, isa_, share);
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

  const std::vector<Line> lines_;
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

using Values = std::vector<std::vector<double>>;

// Some rows of parameters.
Values rows_of(const KernelSpec& spec, i64 count, const Cut& cut, const Values& params) {
  Values given = params;
  for (size_t p = 0; p < params.size(); ++p) {
    if (rows_axis(spec.params[p]) < 0) continue;
    given[p].clear();
    each_run(spec.params[p], count, cut.at, cut.length, [&](i64 from, i64, i64 n) {
      given[p].insert(given[p].end(), params[p].begin() + from, params[p].begin() + from + n);
    });
  }
  return given;
}

// Results of some rows, one behind the other, to their places among all.
void put_rows(const KernelSpec& spec, i64 count, const Cut& cut, const std::vector<double>& values,
              Values& made) {
  const KernelSpec part = with_rows(spec, cut.length);
  auto next = values.begin();
  for (size_t i = 0; i < made.size(); ++i) {
    const auto begin = next;
    next += count_elements(extents(part.result(i).shape));
    if (rows_axis(spec.result(i)) < 0)
      std::copy(begin, next, made[i].begin());
    else
      each_run(spec.result(i), count, cut.at, cut.length, [&](i64 to, i64 from, i64 n) {
        std::copy(begin + from, begin + from + n, made[i].begin() + to);
      });
  }
}

// Results one behind the other, each by itself.
Values apart(const KernelSpec& spec, const std::vector<double>& values) {
  Values out;
  auto next = values.begin();
  for (size_t i = 0; i < spec.results.size(); ++i) {
    const auto begin = next;
    next += count_elements(extents(spec.result(i).shape));
    out.emplace_back(begin, next);
  }
  return out;
}

std::vector<double> interpret_sums(const AnyRows& rows, const KernelSpec& spec, i64 count,
                                   const Values& params) {
  const Positions of = positions(spec);
  Values sums;
  for (const Cut& cut : cuts(rows.pieces, count, true)) {
    const RowsPiece& piece = rows.programs[static_cast<size_t>(cut.which)];
    Values more = apart(of.part, interpret(*piece.fusion, rows_of(spec, count, cut, params)));
    if (cut.at == 0) {
      sums = std::move(more);
      continue;
    }
    sums.insert(sums.end(), more.begin(), more.end());
    sums = apart(of.join, interpret(*rows.sums->join.fusion, sums));
  }
  Values given = params;
  given.insert(given.end(), sums.begin(), sums.end());
  const RowsPiece& rest = rows.sums->rest;
  return rest.fusion ? interpret(*rest.fusion, given)
                     : interpret(*rest.rows, of.rest, count, given);
}

// Of a program, which is one for the instruction set and the threads of another one.
std::string problem_beside(const RowsPiece& piece, const Fusion& first) {
  if (piece.rows) return verify(*piece.rows);
  const Fusion& f = *piece.fusion;
  for (const StageProgram& p : f.programs)
    if (p.problem.family.isa != first.programs[0].problem.family.isa)
      return "another instruction set";
  if (f.threads != first.threads) return "other threads";
  return verify(f);
}

}  // namespace

bool has_every_number(const PiecedDim& pieces, const RunTimeSize& size) {
  return pieces.has_every_size() && pieces.sizes.front() == size.bound;
}

void choose_rests(AnyRows& rows) {
  if (rows.sums) return;
  std::vector<i64> cycles;
  for (const RowsPiece& p : rows.programs) cycles.push_back(p.cost_cycles + kTurnCycles);
  choose_rests(rows.pieces, cycles);
}

std::vector<const Fusion*> fusions(const AnyRows& rows) {
  std::vector<const Fusion*> out;
  const auto add = [&](const RowsPiece& piece) {
    if (piece.fusion) return out.push_back(piece.fusion.get());
    const std::vector<const Fusion*> inside = fusions(*piece.rows);
    out.insert(out.end(), inside.begin(), inside.end());
  };
  for (const RowsPiece& p : rows.programs) add(p);
  if (rows.sums) add(rows.sums->rest);
  return out;
}

std::string print(const AnyRows& rows) {
  std::string out =
      fmt::format("pieces of {}: {}\n", rows.size.name, fmt::join(rows.pieces.sizes, " "));
  const auto add = [&](const std::string& head, const RowsPiece& piece) {
    out += fmt::format("{} {} cycles\n", head, piece.cost_cycles);
    const std::string text = piece.fusion ? print(*piece.fusion) : print(*piece.rows);
    for (const Line& line : lines::split_lines(text)) out += fmt::format("  {}\n", line.text);
  };
  for (size_t i = 0; i < rows.programs.size(); ++i)
    add(piece_head(rows.size, rows.pieces.sizes[i]), rows.programs[i]);
  if (rows.sums) {
    add("join:", rows.sums->join);
    add("rest:", rows.sums->rest);
  }
  return out;
}

Result<AnyRows> parse_rows(std::string_view text, const KernelSpec& spec, const Machine& machine,
                           const Isa& isa) {
  try {
    return RowsParser(lines::split_lines(text), spec, machine, isa).program();
  } catch (const lines::Failure& f) {
    return f.diagnostic;
  }
}

std::vector<double> interpret(const AnyRows& rows, const KernelSpec& spec, i64 count,
                              const Values& params) {
  if (rows.sums) return interpret_sums(rows, spec, count, params);
  Values made;
  const KernelSpec all = with_rows(spec, count);
  for (size_t i = 0; i < spec.results.size(); ++i)
    made.emplace_back(static_cast<size_t>(count_elements(extents(all.result(i).shape))));
  for (const Cut& cut : cuts(rows.pieces, count, false)) {
    const RowsPiece& piece = rows.programs[static_cast<size_t>(cut.which)];
    put_rows(spec, count, cut, interpret(*piece.fusion, rows_of(spec, count, cut, params)), made);
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
  const Fusion& first = *fusions(rows).front();
  for (size_t i = 0; i < rows.programs.size(); ++i) {
    const std::string head = piece_head(rows.size, rows.pieces.sizes[i]);
    if (packed_orders(*rows.programs[i].fusion) != packed_orders(first))
      return head + " packed in another order";
    if (std::string why = problem_beside(rows.programs[i], first); !why.empty())
      return fmt::format("{} {}", head, why);
  }
  if (!rows.sums) return "";
  if (std::string why = problem_beside(rows.sums->join, first); !why.empty()) return "join: " + why;
  if (std::string why = problem_beside(rows.sums->rest, first); !why.empty()) return "rest: " + why;
  std::map<int, std::string> orders;
  for (const Fusion* f : fusions(rows))
    for (const auto& [param, order] : packed_orders(*f))
      if (orders.emplace(param, order).first->second != order)
        return "rest: packed in another order";
  return "";
}

}  // namespace morello
