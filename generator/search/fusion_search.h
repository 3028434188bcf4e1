// FusionSearch: the search for kernels of several stages (optimize_fusion.cc says what it is), and
// the choices it has, for proofs that list them all.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "search/optimize.h"

namespace morello {

struct Group {
  int begin = 0, end = 0;  // stages
  GraphExtents extents;
  std::vector<Level> level;  // per tensor
  Buffers buffers;
  int threads = 1;
  bool beside = false;        // in one of several tasks
  std::set<int> tiled = {};   // dims
  std::set<int> behind = {};  // dims of which this is not the first step: sums over them go on
  bool carries = false;       // carried stages have something to do (Graph::online)
  bool coarse = false;        // in tiles for the sake of what lies between stages only
};

// A choice, before its parts are looked at.
struct Option {
  Cost bound;
  int cut = -1;  // the stage that the second part begins with
  int dim = -1;  // that is tiled
  i64 tile = 0;
  bool parallel = false;
  bool coarse = false;
};

// A program of one of these families; none: there is no program.
struct StageProblem {
  std::shared_ptr<const Computation> computation;
  std::vector<Family> families;
  Part part;
  int threads = 1;
};

// Sizes of steps in which sums over a dim are divided.
std::vector<i64> steps_of_sum(i64 extent);

struct Solved {
  Cost cost = Cost::infinite();
  Option choice;
};

class FusionSearch {
 public:
  FusionSearch(Graph graph, const Machine& machine, const Isa& isa, const SearchOptions& options);
  // A program that costs less than `enough`.
  std::variant<Optimum, StopReason> run(Cost enough);

  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  // To be called first: what candidates there are depends on it.
  void choose_packing();
  Group root() const;
  // No program for a group is cheaper: one that uses one thread only, and one in which threads
  // begin together at least once.
  struct Bound {
    Cost serial = Cost::infinite(), shared = Cost::infinite();
  };
  Bound both_bounds(const Group& g);
  // All choices for a group of several stages.
  std::vector<Option> options(const Group& g);
  // What a choice costs: a part of it that is known, and the programs of what it leaves to solve,
  // so many times: first and second part of a cut; of a tile the first step, those behind it if
  // there are some, and the rest. All of them need a program.
  struct Sum {
    Cost base;
    std::vector<std::pair<Group, i64>> parts;
  };
  Sum sum(const Group& g, const Option& o) const;
  // What the first part of a cut makes for the second; what a tile keeps from step to step.
  std::vector<int> stored(const Group& g, int cut) const;
  std::vector<int> kept(const Group& g, const Option& o) const;
  // A stage that has nothing to do.
  bool idle(const Group& g, int stage) const { return !g.carries && g_.is_carried(stage); }
  // What a group of one other stage is searched for, and what calling that costs besides.
  StageProblem problem(const Group& g) const;
  static Cost call();

 private:
  struct Known {
    Solved solved = {};
    bool exact = false;
    Cost at_least = {};                               // if it is not
    std::optional<std::vector<Option>> options = {};  // of one that will be asked for again
  };

  std::string key(const Group& g) const;
  std::vector<int> tensors(const Group& g) const;
  void touch(Group& g, Level near) const;
  i64 bytes_of(int tensor, const GraphExtents& extents) const;
  i64 footprint(const Group& g) const;
  Level nearest(i64 bytes, const Group& g) const;
  bool depends(const Group& g, int tensor, int dim) const;

  Group first(const Group& g, int cut) const;
  Group second(const Group& g, int cut) const;
  Group keeping(const Group& g, const std::vector<int>& tensors) const;
  Group step(const Group& g, const Option& o, i64 extent, bool first) const;
  Cost bring(const Group& g, const Option& o) const;
  Cost storing(const Group& g, const std::vector<int>& stored) const;

  struct Batches {
    std::set<int> dims = {};
    bool several = false, feed_threads = false;
  };
  Batches batches(const Group& g) const;
  void add_tiles(const Group& g, const Batches& batches, int dim, bool coarse,
                 std::vector<Option>& out);
  bool keeps_panels(int stage, int dim, i64 tile) const;
  bool may_tile(int dim, int begin, int end);
  Level nearest_in_steps(const Group& g, int tensor, int begin, int end);
  Level first_level(const Group& g, int tensor, int stage);
  Level least_level(const Group& g, int stage, int operand);
  Cost starts() const;
  Cost bound(const Group& g);
  Cost bound(const Sum& s);
  Group near(const Group& g, int stage);
  Group near_others(const Group& g, int stage);
  Bound stage_bound(const Group& g, int stage);
  bool pays(const Group& g);
  bool keeps_much(const Group& g) const;
  Solved solve_stage(const Group& g);
  Solved solve_options(const Group& g, Known& known, Cost enough);
  Solved solve(const Group& g, Cost enough);
  Cost price(const Group& g, const Option& o, Cost enough);

  Part part(const Group& g, int stage) const;
  std::shared_ptr<const Computation> computation(const Group& g, int stage) const;
  bool keeps_dims(const Group& g, int stage) const;
  std::vector<Family> families_of(const Computation& c, int stage) const;
  const Optimum* program(const Group& part_of);

  FusedPtr build(const Group& g, Fusion& out);

  const Machine& machine_;
  const Isa& isa_;
  SearchOptions options_;
  std::shared_ptr<const Graph> graph_;
  const Graph& g_;
  std::map<std::string, Known> known_;
  std::map<std::string, std::optional<Optimum>> programs_;
  std::vector<std::shared_ptr<const Computation>> kept_computations_;  // that problems point to
  std::map<std::string, Bound> bounds_;
  std::vector<char> may_tile_;  // by dim, begin and end; 0: not asked yet, 1: no, 2: yes
  std::vector<std::optional<Family>> like_;  // per stage: how it is packed ahead of time
  SearchStats stats_;
  bool budget_ = false;
};

}  // namespace morello
