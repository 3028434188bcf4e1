// PatchworkSearch: the search for kernels whose sizes are known at run time only
// (optimize_patchwork.cc says what it is).
#pragma once

#include <map>
#include <optional>

#include "search/optimize.h"
#include "search/piece_sizes.h"
#include "search/tables_in_memory.h"

namespace morello {

// One program's place among all.
struct Wanted {
  std::vector<i64> extents;  // of all dims
  bool adds = false;
  bool beside = false;
  bool trial = false;               // of the family of another piece
  std::vector<i64> multiples = {};  // per dim: 0, or it is elastic and any multiple of this
  auto operator<=>(const Wanted&) const = default;
};

class PatchworkSearch {
 public:
  PatchworkSearch(const Computation& c, const Machine& machine, const Isa& isa,
                  const SearchOptions& options);
  std::variant<Optimum, StopReason> run();

 private:
  // A choice: the largest piece per dim of loops_, and the loop that is divided among threads, or
  // -1.
  struct Plan {
    std::vector<i64> largest;
    int divided = -1;
    Cost cost = Cost::infinite();
  };

  void set_menus(bool coarse);
  std::vector<i64> menu(int dim, bool coarse) const;
  bool exact(int dim) const;
  i64 parallel_loops() const;
  int most_sizes(int combinations) const;
  i64 earned() const { return parallel_loops() == 1 ? 4096 : 64; }
  bool is_reduction(size_t loop) const { return c_.dims[loops_[loop]].reduction; }
  Wanted wanted(const std::vector<i64>& pieces) const;
  std::vector<Family> families_of(const Computation& part) const;
  using Found = std::pair<Optimum, std::shared_ptr<const Computation>>;
  const Found* program(const Wanted& w, std::vector<Family> families = {});
  Cost cost_of(const Wanted& w, const std::vector<Family>& families = {});
  Cost nominal_cost(const Plan& p, const std::vector<Family>& families = {});
  std::vector<std::pair<Wanted, i64>> weighed() const;
  struct Packing;
  std::vector<Packing> packings() const;
  Cost cost_below(const Packing& p, Cost best);
  Plan best_plan(int divided);
  Plan best_plan();
  void choose_packing();
  i64 threads_from(const Plan& p);
  struct Elastic {
    int dim;
    i64 multiple;  // 0: it is not
    i64 size;      // at most
  };
  Wanted wanted(const Plan& p, std::span<const Elastic> elastic) const;
  Cost cost_if_any(const Wanted& w);
  MultiplesCost sum_cost(const Plan& p, size_t loop);
  PiecedDim from_menu(const Plan& p, size_t loop) const;
  bool elastic_pays();
  PiecedDim pieced_sum(const Plan& p, size_t loop, bool elastic);
  PiecedDim pieced(const Plan& p, size_t loop, int most, bool elastic, std::vector<Elastic> sums);
  std::vector<PiecedDim> parallel_dims(const Plan& p, bool elastic,
                                       const std::vector<Elastic>& sums);
  Wanted wanted(const Plan& p, const Patchwork& work, const std::vector<int>& which,
                bool adds) const;
  const Found* program(const Plan& p, const Patchwork& work, size_t number);
  std::variant<Optimum, StopReason> finish(const Plan& p, bool elastic);

  const Computation& c_;
  const Machine& machine_;
  const Isa& isa_;
  SearchOptions options_;
  TablesInMemory kept_;
  std::vector<int> loops_;               // dims, reductions last
  std::vector<std::vector<i64>> menus_;  // per loop, ascending
  bool sums_ = false;
  const std::vector<Family> nominal_;  // families for the nominal size
  std::map<Wanted, Found> found_;
  std::optional<Family> like_;
  std::optional<StopReason> stopped_;
  SearchStats stats_;
};

}  // namespace morello
