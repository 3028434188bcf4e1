// Every program for a kernel of several stages: all trees of cuts and tiles that the rules of
// search/README.md (kernels of several stages) allow, each with its cost. Nothing is remembered,
// bounded or left out, but that parts of one stage which are the same Computation in the same place
// are searched once.
#pragma once

#include <optional>
#include <vector>

#include "search/fusion_search.h"

namespace morello {

struct FusedProgram {
  FusedPtr root;
  Cost cost;
};

// What stands in a call: the cheapest program for the part of the stage, or every one of them.
enum class Inner { kCheapest, kEvery };

class EveryFusion {
 public:
  EveryFusion(const Graph& graph, const Machine& machine, const Isa& isa, int threads, Inner inner,
              size_t most);

  // Empty if there are more than `most`.
  const std::vector<FusedProgram>& programs() const { return programs_; }
  // One of them. A call of one program is also one of any other for the same part.
  Fusion fusion(const FusedPtr& root) const;

  // Every program for the part of a stage that a call is for; none if there are too many.
  struct Call {
    Cost cost;
    StageProgram program;
  };
  std::vector<Call> calls(int program) const;
  // Of that program, without calling it.
  Cost cost(int program) const;

 private:
  struct Known {
    int stage;
    StageProblem problem;
    std::vector<int> programs;  // in the table
  };

  std::vector<FusedProgram> all(const Group& g);
  std::vector<FusedProgram> calls_of(const Group& one_stage);
  void combine(const Group& g, const Option& o, const std::vector<std::vector<FusedProgram>>& parts,
               std::vector<FusedProgram>& chosen, std::vector<FusedProgram>& out);
  bool steps_again(const Group& g, const Option& o) const;
  FusedPtr node(const Group& g, const Option& o, const std::vector<FusedProgram>& parts) const;
  std::vector<Call> cheapest(const StageProblem& p, int stage) const;
  std::optional<std::vector<Call>> every(const StageProblem& p, int stage) const;

  const Machine& machine_;
  const Isa& isa_;
  Inner inner_;
  size_t most_;
  int threads_;
  FusionSearch search_;  // for its choices and their costs only
  std::vector<Known> known_;
  std::vector<StageProgram> table_;
  std::vector<size_t> problem_of_;  // of programs in the table: where in known_
  std::vector<Cost> cost_of_;
  std::vector<FusedProgram> programs_;
  bool overflow_ = false;
};

}  // namespace morello
