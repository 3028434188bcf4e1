// The loop over pieces of rows (impl/rows.h) as code, around one function for every Fusion.
#include "impl/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/nest.h"
#include "codegen/operand.h"
#include "codegen/pieces.h"
#include "codegen/workspace.h"
#include "spec/positions.h"
#include "spec/rows.h"

namespace morello {
namespace {

// Where code is to be short, leaves are functions of their own: compilers take each once, then, and
// not once in each of its callers. (Attention of 8 heads, 1 to 8 rows and 1024 positions, for
// AVX-512, AVX2 and any CPU: GCC 12 2.2 s and Clang 14 3.4, with these 1.7 and 1.4. By AVX2 it took
// up to 1.17 of the time.)
class RowsWriter {
 public:
  RowsWriter(Library& library, const AnyRows& rows, const KernelSpec& spec, std::string stem)
      : rows_(rows),
        spec_(spec),
        library_(library),
        stem_(std::move(stem)),
        loop_(library.loops++),
        extent_(extent(rows.size.name)) {}

  NestCode code() {
    if (rows_.sums) of_ = positions(spec_);
    const bool cut = !has_every_number(rows_.pieces, rows_.size);
    const KernelSpec each = of_ ? of_->part : cut ? among_rows(spec_) : spec_;
    for (size_t i = 0; i < rows_.programs.size(); ++i)
      programs_.push_back(emit(rows_.programs[i], with_rows(each, rows_.pieces.sizes[i]),
                               fmt::format("{}piece_{}_", stem_, i)));
    if (of_) {
      join_ = emit(rows_.sums->join, of_->join, stem_ + "join_");
      rest_ = emit(rows_.sums->rest, of_->rest, stem_ + "rest_");
    }
    gather();
    for (const RunTimeSize& s : spec_.sizes()) out_.sizes.push_back(s.name);
    piece_tables(w_, loop_, rows_.pieces, of_.has_value() || rows_.apart);
    run();
    out_.functions += w_.text();
    return std::move(out_);
  }

 private:
  NestCode emit(const RowsPiece& piece, const KernelSpec& spec, const std::string& stem) {
    return piece.fusion ? emit_fusion(library_, *piece.fusion, stem)
                        : RowsWriter(library_, *piece.rows, spec, stem).code();
  }

  // A stride of a part, or of the rest, whose tensors have other numbers: what is kept lies in
  // results, and what the part makes are parameters of the rest.
  int from_part(int symbol) const {
    const int kept = symbol / kMostDigits - params() - (of_ ? of_->sums() : 0);
    return !of_ || kept < 0 ? symbol : stride_symbol(place_of(kept), symbol % kMostDigits);
  }
  int from_rest(int symbol) const {
    const int tensor = symbol / kMostDigits, made = static_cast<int>(of_->part.results.size());
    return tensor < params() + made ? from_part(symbol)
                                    : stride_symbol(tensor - made, symbol % kMostDigits);
  }
  int params() const { return static_cast<int>(spec_.params.size()); }
  // The tensor in whose memory something is kept.
  int place_of(int kept) const { return params() + of_->kept[static_cast<size_t>(kept)]; }

  void take(const NestCode& p) {
    out_.functions += p.functions;
    out_.workspace_bytes = std::max(out_.workspace_bytes, p.workspace_bytes);
    out_.parallel |= p.parallel;
    for (const auto& [tensor, packer] : p.packers) {
      const auto [known, is_new] = out_.packers.emplace(tensor, packer);
      MORELLO_CHECK(is_new || known->second == packer, "pieces that pack in several orders");
    }
  }

  void gather() {
    for (const NestCode& p : programs_) {
      take(p);
      for (const int s : p.strides) out_.strides.insert(from_part(s));
    }
    // A loop goes on by one that programs need not.
    const std::vector<const Param*> all = tensors();
    for (size_t t = 0; t < all.size(); ++t)
      if (!row_elements(*all[t], rows_.size.name)) out_.strides.insert(stride_of_rows(t));
    if (!of_) return;
    for (const NestCode* p : {&join_, &rest_}) take(*p);
    for (const int s : rest_.strides) out_.strides.insert(from_rest(s));
    i64 bytes = 0;
    for (int i = 0; i < of_->sums(); ++i) {
      const Param& p = of_->part.result(static_cast<size_t>(i));
      places_.push_back(bytes);
      bytes += round_up_to_line(count_elements(extents(p.shape)) * morello::bytes(p.dtype));
    }
    places_.push_back(bytes);
    if (kRuns * bytes > kLocalBytes) out_.workspace_bytes += kRuns * bytes;
  }
  bool sums_in_workspace() const { return kRuns * places_.back() > kLocalBytes; }

  // Parameters, then results.
  std::vector<const Param*> tensors() const {
    std::vector<const Param*> out;
    for (const Param& p : spec_.params) out.push_back(&p);
    for (size_t i = 0; i < spec_.results.size(); ++i) out.push_back(&spec_.result(i));
    return out;
  }

  int stride_of_rows(size_t tensor) const {
    return stride_symbol(static_cast<int>(tensor), rows_digit(*tensors()[tensor], rows_.size.name));
  }

  void run() {
    std::string params;
    const std::vector<const Param*> all = tensors();
    for (size_t t = 0; t < all.size(); ++t)
      params += fmt::format(
          "{} tensor{}, ",
          t < spec_.params.size() ? const_pointer(all[t]->dtype) : mutable_pointer(all[t]->dtype),
          t);
    params +=
        fmt::format("std::ptrdiff_t {}", fmt::join(extents_of(out_.sizes), ", std::ptrdiff_t "));
    for (const int s : out_.strides)
      params += ", [[maybe_unused]] std::ptrdiff_t " + stride_name(s);
    if (out_.workspace_bytes > 0) params += ", unsigned char* workspace";
    if (out_.parallel) params += ", const ::morello::Parallel& pool";
    w_.open("MORELLO_UNUSED MORELLO_TARGET static void {}run({}) noexcept", stem_, params);
    w_.line("if ({} < {}) return;", extent_, rows_.pieces.sizes.back());  // nothing to do
    of_ ? sum_pieces() : all_pieces();
    w_.close();
  }

  void all_pieces() {
    if (rows_.apart) return all_apart();
    w_.line("int whole = 0;");
    largest_piece(w_, loop_, rows_.pieces, "whole", extent_);
    w_.open("for (std::ptrdiff_t at{0} = 0; at{0} < {1};)", loop_, extent_);
    next_piece(w_, loop_, rows_.pieces, "whole", extent_);
    each_piece(given_params(true) + given_results(true));
    w_.line("at{0} += sizes{0}[which{0}];", loop_);
    w_.close();
  }

  // None of which overlap.
  void all_apart() {
    next_apart();
    each_piece(given_params(true) + given_results(true));
    w_.line("at{0} += sizes{0}[which{0}];", loop_);
    w_.close();
  }
  void next_apart() {
    w_.line("int which{} = 0;", loop_);
    w_.open("for (std::ptrdiff_t at{0} = 0; at{0} < {1};)", loop_, extent_);
    largest_piece(w_, loop_, rows_.pieces, fmt::format("which{}", loop_),
                  fmt::format("{} - at{}", extent_, loop_));
  }

  // Sums so far, those of a piece, and where both become one.
  void sum_pieces() {
    const i64 each = places_.back();
    const bool outside = sums_in_workspace();
    if (!outside) {
      w_.line("alignas(64) unsigned char kept[{}];", kRuns * each);
      w_.line("MORELLO_SHARED(kept);");
    }
    w_.line("unsigned char* sums = {};", outside ? "workspace" : "kept");
    w_.line("unsigned char* more = sums + {};", each);
    w_.line("unsigned char* both = more + {};", each);
    if (outside) w_.line("workspace += {};", kRuns * each);
    next_apart();
    w_.line("unsigned char* to = at{} == 0 ? sums : more;", loop_);
    each_piece(given_params(true) + run_of_sums("to", true) + kept(true));
    w_.line("at{0} += sizes{0}[which{0}];", loop_);
    w_.line("if (to == sums) continue;");
    w_.line("{}join_run({}{}{}{});", stem_, run_of_sums("sums", false).substr(2),
            run_of_sums("more", false), run_of_sums("both", true),
            behind(join_, [](int s) { return s; }));
    w_.line("unsigned char* free = sums;");
    w_.line("sums = both;");
    w_.line("both = free;");
    w_.close();
    w_.line("{}rest_run({}{}{}{}{});", stem_, given_params(false), run_of_sums("sums", false),
            kept(false), given_results(false), behind(rest_, [&](int s) { return from_rest(s); }));
  }

  void each_piece(const std::string& args) {
    w_.open("switch (which{})", loop_);
    for (size_t i = 0; i < programs_.size(); ++i) {
      const bool last = i + 1 == programs_.size();
      w_.line("{}: {}piece_{}_run({}{}); break;", last ? "default" : fmt::format("case {}", i),
              stem_, i, args, behind(programs_[i], [&](int s) { return from_part(s); }));
    }
    w_.close();
  }

  // Pointers to parameters, or to those of a piece's rows.
  std::string given_params(bool moved) const {
    std::string out;
    for (size_t t = 0; t < spec_.params.size(); ++t)
      out += (t == 0 ? "" : ", ") + pointer(t, moved);
    return out;
  }
  std::string given_results(bool moved) const {
    std::string out;
    const size_t params = spec_.params.size();
    for (size_t t = params; t < params + spec_.results.size(); ++t) out += ", " + pointer(t, moved);
    return out;
  }
  std::string kept(bool moved) const {
    std::string out;
    for (int i = 0; i < static_cast<int>(of_->kept.size()); ++i)
      out += ", " + pointer(static_cast<size_t>(place_of(i)), moved);
    return out;
  }
  std::string pointer(size_t t, bool moved) const {
    const Param& p = *tensors()[t];
    const std::optional<i64> row = row_elements(p, rows_.size.name);
    if (row == 0 || !moved) return fmt::format("tensor{}", t);
    const std::string by = row ? fmt::format("{}", *row) : stride_name(stride_of_rows(t));
    return fmt::format("tensor{} + at{} * {}", t, loop_, by);
  }
  // Of a run that begins there.
  std::string run_of_sums(const std::string& begin, bool made) const {
    std::string out;
    for (size_t i = 0; i + 1 < places_.size(); ++i) {
      const Dtype type = of_->part.result(i).dtype;
      const std::string pointer = made ? mutable_pointer(type) : const_pointer(type);
      const std::string at = places_[i] == 0 ? begin : fmt::format("{} + {}", begin, places_[i]);
      out += fmt::format(", static_cast<{}>(static_cast<{}void*>({}))", pointer,
                         made ? "" : "const ", at);
    }
    return out;
  }
  static std::string extent(const std::string& size) { return "extent_" + size; }
  static std::vector<std::string> extents_of(const std::vector<std::string>& sizes) {
    std::vector<std::string> out;
    for (const std::string& s : sizes) out.push_back(extent(s));
    return out;
  }
  // What a program takes behind pointers; its strides are symbols of others here.
  static std::string behind(const NestCode& p, const auto& symbol) {
    std::string out;
    for (const std::string& e : extents_of(p.sizes)) out += ", " + e;
    for (const int s : p.strides) out += ", " + stride_name(symbol(s));
    if (p.workspace_bytes > 0) out += ", workspace";
    if (p.parallel) out += ", pool";
    return out;
  }

  static constexpr i64 kRuns = 3;  // of sums

  const AnyRows& rows_;
  const KernelSpec& spec_;
  Library& library_;
  const std::string stem_;
  const size_t loop_;         // its number
  const std::string extent_;  // how much of the size there is
  std::optional<Positions> of_;
  std::vector<NestCode> programs_;
  NestCode join_, rest_;
  std::vector<i64> places_;  // of sums in a run of them, and its bytes
  NestCode out_;
  Writer w_;
};

}  // namespace

NestCode emit_nest(const AnyRows& rows, const KernelSpec& spec, bool brief) {
  Library library{.functions = Functions(brief)};
  library.brief = brief;
  NestCode out = RowsWriter(library, rows, spec, "").code();
  out.functions = library.text() + out.functions;
  return out;
}

}  // namespace morello
