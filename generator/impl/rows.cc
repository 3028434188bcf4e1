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
             const Isa& isa, RowShare share, bool apart)
      : lines_(std::move(lines)),
        spec_(spec),
        machine_(machine),
        isa_(isa),
        share_(share),
        apart_(apart) {}

  AnyRows program() {
    if (lines_.empty()) fail(Line{}, 1, 1, "empty program");
    const RunTimeSize& size = rows_size(spec_);
    Reader r(lines_[0], 0);
    for (const std::string& word : {std::string("pieces"), std::string("of"), size.name + ":"})
      r.expect(word);
    AnyRows rows{.size = size, .pieces = {}, .programs = {}};
    rows.apart = apart_;
    while (!r.done()) rows.pieces.sizes.push_back(r.number("a number of rows"));
    if (std::string why = sizes_problem(rows.pieces, size); !why.empty())
      fail(lines_[0], lines_[0].words[0], why);
    at_ = 1;
    const bool cut = !has_every_number(rows.pieces, size);
    std::optional<Positions> of;
    if (cut && sums_positions(spec_)) of = positions(spec_);
    const KernelSpec each = of ? of->part : cut ? among_rows(spec_) : spec_;
    for (const i64 n : rows.pieces.sizes)
      rows.programs.push_back(
          piece(piece_head(size, n), with_rows(each, n), share_.part(n, size.nominal()), apart_));
    if (of) {
      RowsPiece join = piece("join:", of->join, {}, false);
      const bool apart = apart_ || !of->kept.empty();
      rows.sums = JoinedSums{std::move(join), piece("rest:", of->rest, share_, apart)};
    }
    if (at_ < lines_.size()) fail(lines_[at_], lines_[at_].words[0], "there is no such piece");
    choose_rests(rows);
    return rows;
  }

 private:
  RowsPiece piece(const std::string& head, const KernelSpec& spec, RowShare share, bool apart) {
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
          RowsParser(lines::split_lines(text), spec, machine_, isa_, share, apart).program());
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
  const RowShare share_;  // of the whole kernel
  const bool apart_;      // AnyRows::apart
  size_t at_ = 0;
};

// Calls visit(position of a run of elements among all rows, position in the part, length): dense
// row-major values of rows [at, at + count) of `rows`, which are numbered along an axis.
void each_run(const Param& p, int axis, i64 rows, i64 at, i64 count, auto visit) {
  i64 outside = 1, inside = 1;
  for (int a = 0; a < static_cast<int>(p.shape.size()); ++a)
    if (a != axis) (a < axis ? outside : inside) *= p.shape[static_cast<size_t>(a)].extent;
  for (i64 i = 0; i < outside; ++i)
    visit((i * rows + at) * inside, i * count * inside, count * inside);
}

using Values = std::vector<std::vector<double>>;

// Some rows of parameters of a kernel that expects what there is.
Values rows_of(const KernelSpec& spec, i64 count, const Cut& cut, const Values& params) {
  Values given = params;
  for (size_t p = 0; p < params.size(); ++p) {
    const int axis = rows_axis(spec.params[p], rows_size(spec).name);
    if (axis < 0) continue;
    given[p].clear();
    each_run(spec.params[p], axis, count, cut.at, cut.length, [&](i64 from, i64, i64 n) {
      given[p].insert(given[p].end(), params[p].begin() + from, params[p].begin() + from + n);
    });
  }
  return given;
}

// Of a result of a kernel that expects what there is, some rows to their place among all.
void put_rows(const KernelSpec& spec, size_t result, const Cut& cut,
              const std::vector<double>& values, std::vector<double>& made) {
  const Param& p = spec.result(result);
  const int axis = rows_axis(p, rows_size(spec).name);
  if (axis < 0) {
    made = values;
    return;
  }
  const i64 count = p.shape[static_cast<size_t>(axis)].extent;
  each_run(p, axis, count, cut.at, cut.length, [&](i64 to, i64 from, i64 n) {
    std::copy(values.begin() + from, values.begin() + from + n, made.begin() + to);
  });
}

Values room_for_results(const KernelSpec& spec) {
  Values out;
  for (size_t i = 0; i < spec.results.size(); ++i)
    out.emplace_back(static_cast<size_t>(count_elements(extents(spec.result(i).shape))));
  return out;
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

// Of a kernel for so much of what has a name.
std::vector<double> interpret_piece(const RowsPiece& piece, const KernelSpec& spec,
                                    const Counts& counts, const Values& params) {
  return piece.fusion ? interpret(*piece.fusion, params)
                      : interpret(*piece.rows, spec, counts, params);
}

std::vector<double> interpret_sums(const AnyRows& rows, const KernelSpec& spec,
                                   const Counts& counts, const Values& params) {
  const Positions of = positions(spec);
  const i64 count = counts.at(rows.size.name);
  const KernelSpec part = expecting(of.part, counts);
  const auto kept_from = static_cast<size_t>(of.sums());
  Values sums, all = room_for_results(part);
  for (const Cut& cut : cuts(rows.pieces, count, true)) {
    const RowsPiece& piece = rows.programs[static_cast<size_t>(cut.which)];
    Values more = apart(with_rows(part, cut.length),
                        interpret(*piece.fusion, rows_of(spec, count, cut, params)));
    for (size_t i = kept_from; i < more.size(); ++i) put_rows(part, i, cut, more[i], all[i]);
    more.resize(kept_from);
    if (cut.at == 0) {
      sums = std::move(more);
      continue;
    }
    sums.insert(sums.end(), more.begin(), more.end());
    sums = apart(of.join, interpret(*rows.sums->join.fusion, sums));
  }
  Values given = params;
  given.insert(given.end(), sums.begin(), sums.end());
  given.insert(given.end(), all.begin() + of.sums(), all.end());
  return interpret_piece(rows.sums->rest, of.rest, counts, given);
}

// Of a program, which is one for the instruction set and the threads of another one.
std::string problem_beside(const Fusion& f, const Fusion& first) {
  for (const StageProgram& p : f.programs)
    if (p.problem.family.isa != first.programs[0].problem.family.isa)
      return "another instruction set";
  if (f.threads != first.threads) return "other threads";
  return verify(f);
}

std::string verify_beside(const AnyRows& rows, const Fusion& first) {
  if (std::string why = sizes_problem(rows.pieces, rows.size); !why.empty()) return why;
  if (rows.programs.size() != rows.pieces.sizes.size())
    return fmt::format("{} programs for {} pieces", rows.programs.size(), rows.pieces.sizes.size());
  const auto problem = [&](const std::string& head, const RowsPiece& piece) {
    const std::string why =
        piece.fusion ? problem_beside(*piece.fusion, first) : verify_beside(*piece.rows, first);
    return why.empty() ? why : fmt::format("{} {}", head, why);
  };
  for (size_t i = 0; i < rows.programs.size(); ++i)
    if (std::string why = problem(piece_head(rows.size, rows.pieces.sizes[i]), rows.programs[i]);
        !why.empty())
      return why;
  if (!rows.sums) return "";
  if (std::string why = problem("join:", rows.sums->join); !why.empty()) return why;
  return problem("rest:", rows.sums->rest);
}

}  // namespace

bool has_every_number(const PiecedDim& pieces, const RunTimeSize& size) {
  return pieces.has_every_size() && pieces.sizes.front() == size.bound;
}

void choose_rests(AnyRows& rows) {
  if (rows.sums || rows.apart) return;
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
    return RowsParser(lines::split_lines(text), spec, machine, isa, {}, false).program();
  } catch (const lines::Failure& f) {
    return f.diagnostic;
  }
}

std::vector<double> interpret(const AnyRows& rows, const KernelSpec& spec, const Counts& counts,
                              const Values& params) {
  const KernelSpec all = expecting(spec, counts);
  if (rows.sums) return interpret_sums(rows, all, counts, params);
  Values made = room_for_results(all);
  const i64 count = counts.at(rows.size.name);
  for (const Cut& cut : cuts(rows.pieces, count, rows.apart)) {
    const RowsPiece& piece = rows.programs[static_cast<size_t>(cut.which)];
    const KernelSpec part = with_rows(all, cut.length);
    const Values some =
        apart(part, interpret_piece(piece, part, counts, rows_of(all, count, cut, params)));
    for (size_t i = 0; i < made.size(); ++i) put_rows(all, i, cut, some[i], made[i]);
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
  const std::vector<const Fusion*> all = fusions(rows);
  if (all.empty()) return "no programs";
  if (std::string why = verify_beside(rows, *all.front()); !why.empty()) return why;
  std::map<int, std::string> orders;
  for (const Fusion* f : all)
    for (const auto& [param, order] : packed_orders(*f))
      if (orders.emplace(param, order).first->second != order)
        return "programs that find what is packed in several orders";
  return "";
}

}  // namespace morello
