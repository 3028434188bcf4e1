// FusionSearch: the search for kernels of several stages (optimize_fusion.cc says what it is), and
// the choices it has, for proofs that list them all.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "search/optimize.h"

namespace morello {

// In steps of a tile one stage asks for what the next steps read of a parameter, so that who reads
// it first finds it near (fusion_ask.cc).
struct Asking {
  int tensor = -1, stage = -1;
  Level from = kMemory;  // where it lies
  i64 bytes = 0;         // so far behind what the stage reads itself
  Level to = kL1;
  bool operator==(const Asking&) const = default;
};

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
  bool no_nearer = false;     // in steps that are of no use without others in them
  i64 behind_lines = 0;       // that a step before has stored past the caches: written meanwhile
  std::optional<Asking> asking = {};
};

// A choice, before its parts are looked at.
struct Option {
  int cut = -1;  // the stage that the second part begins with
  int dim = -1;  // that is tiled
  i64 tile = 0;
  bool parallel = false;
  bool coarse = false;
  bool saves = false;  // memory: less lies between stages at a time
  i64 longer = 0;      // the next longer tile, or all there is; 0: parallel
  std::optional<Asking> asking = {};
};

// The cheapest program for one of these problems; none: there is no program.
struct StageProblem {
  std::shared_ptr<const Computation> computation;
  std::vector<Bounded> problems = {};
};

// For each dim those of which every step has all of its rows, next to one another: stages share
// nothing along either that they do not along both, and tensors have one within the other.
std::vector<std::vector<int>> dims_around(const Graph& g, int begin, int end);

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

  // The program that run() finds costs less.
  Cost at_most();

  const std::shared_ptr<const Graph>& graph() const { return graph_; }
  // To be called first: what candidates there are depends on it. Once is enough.
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
  // What a group of one other stage is searched for, and what a program of such a cost takes there.
  StageProblem problem(const Group& g);
  Cost called(const Group& g, Cost program) const;

 private:
  // A group, once for all that are the same, and what is known of it.
  struct Node;
  struct Candidate {
    Option option;
    Cost base, bound;
    std::vector<std::pair<Node*, i64>> parts;  // as in Sum
  };
  struct Node {
    Group group;
    std::optional<Cost> bound = {};
    Solved solved = {};
    bool exact = false;
    Cost at_least = {};                                     // if it is not
    std::optional<std::vector<Candidate>> candidates = {};  // of one that will be asked for again
  };
  // Of a part of one stage.
  struct Program {
    std::optional<Optimum> best = {};
    Cost at_least = {};  // if it is not known
  };
  // Tensors that lie in buffers of their own, what memory those are, and dims: of a run of stages.
  struct Touched {
    std::vector<int> tensors, memory, dims;
    std::vector<std::vector<int>> around;  // dims_around()
  };

  bool stored_past_caches(int stage) const;
  void list_uses();
  Touched list(int begin, int end) const;
  const Touched& touched(const Group& g) const { return touched_.at({g.begin, g.end}); }
  std::string key(const Group& g) const;
  Node& node(Group g);
  void touch(Group& g, Level near) const;
  i64 bytes_of(int tensor, const GraphExtents& extents) const;
  i64 bytes_in_sets(int tensor, const GraphExtents& extents) const;
  i64 footprint(const Group& g) const;
  i64 room(Level level, bool beside) const;
  Level nearest(i64 bytes, int threads, bool beside) const;
  Level nearest(const Group& g) const;
  bool depends(const Group& g, int tensor, int dim) const;
  bool asks(const Group& g) const {  // one of its stages
    return g.asking && g.begin <= g.asking->stage && g.asking->stage < g.end;
  }
  void list_askers();
  bool may_ask_for(const Group& g, int tensor) const;
  i64 bytes_of_run(int tensor, const GraphExtents& step, int dim) const;
  std::vector<int> askers(const Group& g, int tensor) const;
  std::vector<Asking> ways_to_ask(const Group& g, const Option& o) const;
  Cost begins_to_ask(const Asking& a) const;

  Group first(const Group& g, int cut) const;
  Group second(const Group& g, int cut) const;
  Group keeping(const Group& g, const std::vector<int>& tensors) const;
  Group step(const Group& g, const Option& o, i64 extent, bool first) const;
  Group in_steps(const Group& g, int dim, i64 extent) const;  // of such an extent
  bool gains(const Group& g, const Option& o) const;
  i64 neighbours(const Group& g, int dim) const;
  Sum one_by_one(const Group& g) const;
  i64 leaving(const Group& g) const;
  i64 lines_behind(const Group& step, int dim) const;
  Cost hidden_behind(const Group& stage, i64 lines) const;
  Cost written_behind(const Group& stage, Cost cost, i64 lines) const;
  Cost all_written_behind(const Group& stage, Cost cost) const;
  static Cost call();
  Cost bring(const Group& g, const Option& o) const;
  Cost storing(const Group& g, const std::vector<int>& stored) const;
  Cost written_again(const Group& g, int cut) const;
  // What both parts of a cut touch, and where the second finds some of it, or all.
  struct Left {
    int memory;
    Level level;
    i64 gone;  // lines that have to come from the next level
  };
  std::vector<Left> left_near(const Group& g, int cut) const;
  bool passes(int memory, int cut) const;
  std::optional<Left> left(const Group& g, int cut, int memory) const;
  Cost coming_back(const Group& g, int cut) const;
  Cost crossing(const Group& g, int cut) const;

  struct Batches {
    std::set<int> dims = {};
    bool several = false, feed_threads = false;
  };
  Batches batches(const Group& g) const;
  void add_tiles(const Group& g, const Batches& batches, int dim, bool coarse,
                 std::vector<Option>& out);
  bool waits(const Group& g, int dim) const;
  bool keeps_panels(int stage, int dim, i64 tile) const;
  bool may_tile(int dim, int begin, int end);
  Level nearest_in_steps(const Group& g, int tensor, int begin, int end);
  Level first_level(const Group& g, int tensor, int stage);
  Level least_level(const Group& g, int stage, int operand);
  Cost starts() const;
  Cost bound(const Group& g);
  Cost bound(Node& n);
  Candidate candidate(const Group& g, const Option& o);
  Group near(const Group& g, int stage);
  Group near_others(const Group& g, int stage);
  Bound stage_bound(const Group& g, int stage);
  Bound stage_bounds(const Group& g);
  bool pays(const Group& g);
  bool keeps_much(const Group& g) const;
  Solved solve_stage(const Group& g, Cost enough);
  std::vector<Candidate> candidates(const Group& g);
  Solved solve_options(Node& n, Cost enough);
  Solved solve(Node& n, Cost enough);
  Cost price(const Candidate& c, Cost enough);

  Part part(const Group& g, int stage) const;
  std::shared_ptr<const Computation> computation(const Group& g, int stage) const;
  bool keeps_dims(const Group& g, int stage) const;
  void keep_orders(const Computation& c, int stage, std::vector<Family>& among) const;
  std::vector<Family> families_of(const Computation& c, int stage) const;
  const Optimum* program(const Group& part_of, Cost enough);
  SearchOptions cheaper_than(Cost enough) const;

  FusedPtr build(const Group& g, Fusion& out);

  const Machine& machine_;
  const Isa& isa_;
  SearchOptions options_;
  std::shared_ptr<const Graph> graph_;
  const Graph& g_;
  struct Use {
    std::vector<AxisMap> axes;  // of an operand, in dims of the Graph
    // Of a parameter or a result: elements between neighbours along each axis, the innermost
    // first; none where there are blocks.
    std::vector<std::pair<size_t, i64>> strides;
  };
  std::vector<std::vector<Use>> uses_;              // of each tensor
  std::vector<std::set<int>> along_;                // these dims
  std::vector<std::vector<int>> askers_;            // stages that might ask for a parameter
  std::map<std::pair<int, int>, Touched> touched_;  // by begin and end
  std::unordered_map<std::string, Node> nodes_;
  std::unordered_map<std::string, Program> programs_;
  std::vector<std::shared_ptr<const Computation>> kept_computations_;  // that problems point to
  std::unordered_map<std::string, Bound> bounds_;
  std::vector<Space::Copies> copies_;  // by stage
  std::vector<bool> leaves_;    // by stage: what it makes leaves the caches, and no other reads it
  std::vector<char> may_tile_;  // by dim, begin and end; 0: not asked yet, 1: no, 2: yes
  std::vector<std::optional<Family>> like_;  // per stage: how it is packed ahead of time
  SearchStats stats_;
  // It has no program that finds what is packed in the order that it has.
  bool cannot_unpack_ = false;
  bool packing_chosen_ = false, budget_ = false;
};

}  // namespace morello
