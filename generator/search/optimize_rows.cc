// Kernels of several stages for a number of rows or positions that is known at run time only
// (impl/rows.h): how large pieces are, and a program for each, which optimize_fusion() finds for so
// many. So it does, or this search again, for what is made of sums over positions.
//
// The largest piece is chosen by the cost of a kernel of nominal size, as in optimize_patchwork.cc:
// all rows at once, or pieces of fewer until these cost more; of those that cost about the same the
// smallest, which leaves less behind. Below it come the sizes that piece_sizes.h chooses, or, where
// the bound is so small, all that there are.
//
// What is packed ahead of time lies in the order that the program for the nominal size would like;
// parameters and results where they would lie for that size.
#include <algorithm>
#include <map>
#include <optional>

#include "impl/rows.h"
#include "search/optimize.h"
#include "search/piece_sizes.h"
#include "search/tables_in_memory.h"
#include "spec/positions.h"
#include "spec/rows.h"
#include "spec/sizes.h"

namespace morello {
namespace {

// From one size that is looked at to the next.
constexpr i64 kRatio = 4;
// How many sizes pieces have, and a bound of how many granules or fewer has a program for each.
struct Menu {
  int sizes;
  i64 exact;
};
// By how many programs there may be (variants.h). Where pieces are made of pieces of another size,
// those have `inside` programs, and both sizes fewer pieces, because they multiply.
struct Allowance {
  int programs;
  Menu menu, outside;
  int inside;
};
constexpr Allowance kAllowances[] = {
    {kMostPrograms, {6, 8}, {4, 2}, kMostPrograms / 2},
    {kMostPrograms / 2, {5, 4}, {3, 2}, kMostPrograms / 2},
    {0, {3, 2}, {2, 2}, kFewestPrograms},
};

const Allowance& allowance(int programs) {
  return *std::find_if(std::begin(kAllowances), std::end(kAllowances),
                       [&](const Allowance& a) { return programs >= a.programs; });
}

// What a size has to save (parallel_pieces()).
constexpr i64 kEarned = 64;

class RowsSearch {
 public:
  RowsSearch(const KernelSpec& spec, const Machine& machine, const Isa& isa,
             const SearchOptions& options)
      : machine_(machine),
        isa_(isa),
        options_(options),
        size_(rows_size(spec)),
        is_outer_(spec.sizes().size() > 1),
        allowed_(is_outer_ ? allowance(options.programs).outside
                           : allowance(options.programs).menu),
        share_(options.piece.share) {
    if (is_outer_) options_.programs = allowance(options.programs).inside;
    list_sizes();
    if (!exact() && sums_positions(spec)) sums_ = positions(spec);
    each_ = sums_ ? sums_->part : exact() ? spec : among_rows(spec);
    if (!options_.tables && options_.max_specs == 0) options_.tables = &kept_;
    if (options_.max_specs > 0)
      options_.max_specs =
          ceil_div(options_.max_specs, static_cast<i64>(menu_.size()) + (sums_ ? 2 : 0));
    if (options_.piece.bytes > 0) return;  // this is some of a kernel
    Counts nominal;
    for (const RunTimeSize& s : spec.sizes()) nominal[s.name] = s.nominal();
    const KernelSpec all = expecting(spec, nominal);
    for (const Param& p : all.params) options_.piece.bytes += bytes_of(p);
    for (size_t i = 0; i < all.results.size(); ++i) options_.piece.bytes += bytes_of(all.result(i));
  }

  std::variant<Optimum, StopReason> run() {
    if (sums_ && !find_join()) return stopped_;
    if (!choose_orders()) return stopped_;
    const std::optional<i64> chosen = exact()     ? menu_.back()
                                      : is_outer_ ? least_outer()
                                                  : largest();
    if (!chosen) return stopped_;
    const i64 largest = *chosen;
    AnyRows rows{.size = size_, .pieces = {}, .programs = {}};
    rows.apart = options_.piece.apart;
    rows.pieces = exact() ? PiecedDim{0, {menu_.rbegin(), menu_.rend()}, 0} : pieces(largest);
    for (const i64 n : rows.pieces.sizes) {
      const Optimum* piece = program(n);
      if (!piece) return stopped_;
      rows.programs.push_back(piece_of(*piece));
    }
    Cost total = nominal_cost(largest);
    if (sums_) {
      const std::optional<Optimum> rest = find_rest();
      if (!rest) return stopped_;
      total = total + rest->cost;
      rows.sums = JoinedSums{piece_of(*join_), piece_of(*rest)};
    }
    choose_rests(rows);
    const Optimum& largest_piece = *program(largest);
    Optimum best{largest_piece.problem, largest_piece.impl, total, stats_, 0, {}};
    best.rows = std::make_shared<const AnyRows>(std::move(rows));
    return best;
  }

 private:
  static i64 bytes_of(const Param& p) { return count_elements(extents(p.shape)) * bytes(p.dtype); }
  static RowsPiece piece_of(const Optimum& o) {
    return {o.fusion, o.rows, static_cast<i64>(o.cost.value() / 1000)};
  }

  void list_sizes() {
    const i64 nominal = std::min(size_.nominal(), kMostGranules * size_.granule);
    for (i64 n = size_.granule; n < nominal; n *= kRatio) menu_.push_back(n);
    menu_.push_back(nominal);
    if (!exact()) return;
    menu_.clear();
    for (i64 n = size_.granule; n <= size_.bound; n += size_.granule) menu_.push_back(n);
  }

  // With a program for every size.
  bool exact() const { return size_.bound > 0 && size_.bound / size_.granule <= allowed_.exact; }

  std::optional<Optimum> taken(std::variant<Optimum, StopReason> result) {
    if (const StopReason* why = std::get_if<StopReason>(&result)) {
      stopped_ = *why;
      return std::nullopt;
    }
    stats_ += std::get<Optimum>(result).stats;
    return std::get<Optimum>(std::move(result));
  }

  const Optimum* program(i64 rows) {
    if (const auto known = found_.find(rows); known != found_.end())
      return known->second ? &*known->second : nullptr;
    if (stopped_ == StopReason::kBudget) return nullptr;
    options_.piece.share = share_.part(rows, size_.nominal());
    std::optional<Optimum>& here = found_[rows];
    here = taken(search(with_rows(each_, rows), options_));
    return here ? &*here : nullptr;
  }

  // Those of the whole kernel, if there are any.
  bool choose_orders() {
    const bool packs = std::any_of(each_.params.begin(), each_.params.end(),
                                   [](const Param& p) { return p.packed; });
    if (!is_outer_) {
      const Optimum* all = program(menu_.back());
      if (all) options_.piece.orders.merge(packed_orders(*all->fusion));
      return all != nullptr;
    }
    if (!packs || !options_.piece.orders.empty()) return true;
    KernelSpec whole = with_rows(each_, menu_.back());
    whole = with_rows(whole, rows_size(whole).nominal());
    SearchOptions options = options_;
    options.piece.share = {};
    const std::optional<Optimum> all = taken(optimize_fusion(whole, machine_, isa_, options));
    if (all) options_.piece.orders.merge(packed_orders(*all->fusion));
    return all.has_value();
  }

  std::optional<i64> largest() {
    const auto found = largest_size(menu_, [&](i64 size) { return nominal_cost(size); });
    return found ? std::optional(found->first) : std::nullopt;
  }

  // The same from the smallest on, as long as more at a time save something: every size is a whole
  // search for pieces of the other one. (softmax of `[b,m,64]` took 167 s from the largest, of
  // which pieces of one `b` came.)
  std::optional<i64> least_outer() {
    size_t best = 0;
    while (best + 1 < menu_.size()) {
      const Cost now = nominal_cost(menu_[best]), next = nominal_cost(menu_[best + 1]);
      if (!now.finite() && !next.finite()) break;
      if (now.finite() && (!next.finite() || !saves(next, now))) break;
      ++best;
    }
    return nominal_cost(menu_[best]).finite() ? std::optional(menu_[best]) : std::nullopt;
  }

  // More than a part in kEarned.
  static bool saves(Cost now, Cost before) {
    return now.value() < before.value() - before.value() / kEarned;
  }

  // Sums lie near, and few.
  bool find_join() {
    SearchOptions options = options_;
    options.piece = {};
    join_ = taken(optimize_fusion(sums_->join, machine_, isa_, options));
    return join_.has_value();
  }

  // In the orders that the pieces have.
  std::optional<Optimum> find_rest() {
    SearchOptions options = options_;
    options.piece.share = share_;
    options.piece.apart |= !sums_->kept.empty();
    return taken(search(sums_->rest, options));
  }

  std::variant<Optimum, StopReason> search(const KernelSpec& spec, const SearchOptions& options) {
    return spec.sizes().empty() ? optimize_fusion(spec, machine_, isa_, options)
                                : optimize_rows(spec, machine_, isa_, options);
  }

  Cost cost(i64 rows) {
    const Optimum* found = program(rows);
    if (!found) return Cost::infinite();
    return found->cost + Cost::cycles(kTurnCycles) + (join_ ? join_->cost : Cost());
  }

  Cost nominal_cost(i64 largest) {
    const Cost each = cost(largest);
    return each.finite() ? cost_in_pieces(each, size_.nominal(), largest) : each;
  }

  PiecedDim pieces(i64 largest) {
    const auto price = [&](i64 size, bool elastic) {
      const bool listed = std::find(menu_.begin(), menu_.end(), size) != menu_.end();
      return listed && !elastic ? cost(size) : Cost::infinite();
    };
    return fixed_pieces(
        sums_ || options_.piece.apart ? WholePieces::kSummed : WholePieces::kParallel,
        size_.granule, largest, allowed_.sizes, kEarned, price);
  }

  const Machine& machine_;
  const Isa& isa_;
  SearchOptions options_;
  const RunTimeSize size_;
  const bool is_outer_;  // pieces are made of pieces of another size
  const Menu allowed_;
  const RowShare share_;   // of the whole kernel
  std::vector<i64> menu_;  // ascending
  std::optional<Positions> sums_;
  KernelSpec each_;  // what pieces are of
  TablesInMemory kept_;
  std::optional<Optimum> join_;
  std::map<i64, std::optional<Optimum>> found_;
  StopReason stopped_ = StopReason::kNoImplementation;
  SearchStats stats_;
};

}  // namespace

std::variant<Optimum, StopReason> optimize_rows(const KernelSpec& spec, const Machine& machine,
                                                const Isa& isa, const SearchOptions& options) {
  return RowsSearch(spec, machine, isa, options).run();
}

}  // namespace morello
