// optimize(): the cheapest program for a Computation on a machine.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "impl/fusion.h"
#include "impl/patchwork.h"
#include "impl/rows.h"
#include "search/solver.h"
#include "search/tables.h"
#include "search/variants.h"

namespace morello {

// What a kernel has to know that is a piece of one of more rows (optimize_rows.cc).
struct PieceOfRows {
  i64 bytes = 0;  // of all its parameters and results together
  RowShare share = {};
  bool apart = false;  // AnyRows::apart
  // The orders in which parameters are packed ahead of time (packed_order_text()), chosen by
  // others.
  std::map<int, std::string> orders = {};
};

struct SearchOptions {
  int threads = 1;  // what the kernel may use at run time
  // About so many programs for sizes known at run time, from kFewestPrograms on.
  int programs = kMostPrograms;
  int jobs = 1;                 // what the search may use; never changes the answer
  i64 max_specs = 0;            // deterministic budget per family; 0: none
  bool count_programs = false;  // fill in Optimum::log10_programs
  // Shares solved Specs with other searches; null: none. Not used with a budget, which would then
  // depend on what others have solved.
  Tables* tables = nullptr;
  Pruning pruning = {};
  // Kernels of several stages: whether tiles that could save little are searched, too
  // (FusionSearch::pays() and gains()).
  bool small_gains = false;
  // The families to choose among; none: all that the instruction set has for the computation.
  std::vector<Family> families = {};
  // Those whose bound is no less are not searched: what has to be beaten is known.
  Cost bounds_below = Cost::infinite();
  Part part = {};
  PieceOfRows piece = {};
  // For progress on a terminal; may be called from any thread at any time.
  SearchProgress* progress = nullptr;
};

struct FamilyResult {
  Family family;
  int threads = 1;
  Cost lower_bound;
  Cost cost = Cost::infinite();  // infinite and skipped: the bound could not win
  bool skipped = false;
};

struct Optimum {
  Problem problem;  // where sizes are known at run time only, of the largest piece
  ImplPtr impl;
  Cost cost;
  SearchStats stats;
  double log10_programs = 0;           // programs of the winning family's space
  std::vector<FamilyResult> families;  // in order of their bounds
  // Where sizes are known at run time only: all pieces. The cost is then that of nominal sizes.
  std::shared_ptr<const Patchwork> patchwork = nullptr;
  // Of a kernel of several stages: all of it. Problem and program are those of the dearest part.
  std::shared_ptr<const Fusion> fusion = nullptr;
  // The same for a number of rows that is known at run time only; the fusion is in there.
  std::shared_ptr<const AnyRows> rows = nullptr;
};

// A family, serial or with threads, and what none of its programs can beat (Space::lower_bound).
struct Bounded {
  Problem problem;
  Cost bound;
};
// Some families with as many threads as there are parts, as such a part of a kernel: cheapest bound
// first; the order of the families decides among equals, then fewer threads. `known` is kept for
// other parts of the same computation.
std::vector<Bounded> by_bound(const Computation& c, const Machine& machine,
                              std::span<const Family> families,
                              const std::map<int, Part>& by_threads,
                              Space::Copies* known = nullptr);
// Serial and with so many threads; beside other tasks only with those.
std::vector<Bounded> by_bound(const Computation& c, const Machine& machine,
                              std::span<const Family> families, int threads, const Part& part = {},
                              Space::Copies* known = nullptr);
std::vector<Bounded> by_bound(const Computation& c, const Machine& machine, const Isa& isa,
                              int threads);

enum class StopReason { kNoImplementation, kBudget };

// The answer does not depend on options.jobs.
std::variant<Optimum, StopReason> optimize(const KernelSpec& spec, const Machine& machine,
                                           const Isa& isa, const SearchOptions& options);
std::variant<Optimum, StopReason> optimize(const Computation& c, const Machine& machine,
                                           const Isa& isa, const SearchOptions& options);

// The cheapest of all programs for these problems, which are in the order of their bounds.
std::variant<Optimum, StopReason> optimize_among(std::span<const Bounded> problems,
                                                 const SearchOptions& options);
// The same for a computation whose sizes are all known (optimize.cc), and where some are not
// (optimize_patchwork.cc): optimize() is one of them.
std::variant<Optimum, StopReason> optimize_known(const Computation& c, const Machine& machine,
                                                 const Isa& isa, const SearchOptions& options);
std::variant<Optimum, StopReason> optimize_patchwork(const Computation& c, const Machine& machine,
                                                     const Isa& isa, const SearchOptions& options);
// Of several stages: these, if that costs less than `enough` (optimize_fusion.cc), or whatever
// Graphs they can become (optimize_spec.cc).
std::variant<Optimum, StopReason> optimize_graph(Graph graph, const Machine& machine,
                                                 const Isa& isa, const SearchOptions& options,
                                                 Cost enough = Cost::infinite());
std::variant<Optimum, StopReason> optimize_fusion(const KernelSpec& spec, const Machine& machine,
                                                  const Isa& isa, const SearchOptions& options);
// The same where rows have no number (optimize_rows.cc).
std::variant<Optimum, StopReason> optimize_rows(const KernelSpec& spec, const Machine& machine,
                                                const Isa& isa, const SearchOptions& options);

}  // namespace morello
