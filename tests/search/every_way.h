// Every way to search one space: with and without each pruning, with each kind of memo, with a memo
// that is new or filled by other searches, with one thread and with several. All have to give the
// same cost and, from the same space, the same program.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "search/solver.h"

namespace morello {

// kFilledHere: by a search of the same space within half the limits; kSaved: that, frozen as it is
// saved and used from there (only SpatialMemos are); kShared: by all searches before that left a
// memo of this signature and kind.
enum class History { kNew, kFilledHere, kSaved, kShared };
enum class MemoKind { kSpatial, kFlat, kExact };

struct Way {
  Pruning pruning;  // `bounds` is the business of optimize()
  MemoKind memo = MemoKind::kSpatial;
  History history = History::kNew;
  int threads = 1;
  std::string str() const;
};

// All of them; some, in which any two settings of any two things meet.
std::span<const Way> every_way();
std::span<const Way> pairs_of_ways();

struct Answer {
  Cost cost;
  std::string program;  // empty where there is none
  bool operator==(const Answer&) const = default;
};

class Searches {
 public:
  Answer search(const Problem& problem, const Way& way);

 private:
  std::map<std::pair<MemoKind, std::string>, std::unique_ptr<Memo>> shared_;
};

}  // namespace morello
