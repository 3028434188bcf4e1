// Rewrite: one way to turn a Spec into smaller ones; one file each in rewrites/, listed in
// CMakeLists.txt (the order of the list is the order of candidates, and so the tie-break). The laws
// they obey are in README.md beside this file.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "search/memo.h"
#include "search/space.h"

namespace morello {

// One proposal. Its cost is cost.base + sum weight[i] * cost of child[i]; what it `takes` of the
// caches is taken from the limits of all children.
struct Candidate {
  Decision decision;  // decision.rewrite is filled in by the search
  AffineCost cost;
  Spec child[AffineCost::kMaxChildren];
  Limits takes;

  void add(const Spec& s, i64 weight) {
    child[cost.children] = s;
    cost.add(weight);
  }
};

// Whether what a candidate takes is still there, and what it then leaves to its children.
inline bool has_room(const Candidate& c, const Limits& limits) { return fits(c.takes, limits); }
inline Limits inside(const Candidate& c, Limits limits) {
  for (int i = 0; i < Limits::kCount; ++i) limits.bytes[i] -= c.takes.bytes[i];
  return limits;
}

// A reference to a callable; never stored. Fills in which rewrite a decision is of.
class Emit {
 public:
  template <class F>
  requires(!std::same_as<F, Emit>) Emit(F& f)
      : object_(&f), call_([](void* o, const Candidate& c) { (*static_cast<F*>(o))(c); }) {}
  Emit of(std::int16_t rewrite) const {
    Emit e = *this;
    e.rewrite_ = rewrite;
    return e;
  }
  void operator()(Candidate& c) const {
    c.decision.rewrite = rewrite_;
    call_(object_, c);
  }

 private:
  void* object_;
  void (*call_)(void*, const Candidate&);
  std::int16_t rewrite_ = -1;
};

struct Rewrite {
  std::string_view name;
  void (*expand)(const Space& space, const Spec& spec, Emit emit);
  // The node a decision stands for, with the programs found for the candidate's children.
  ImplPtr (*build)(const Space& space, const Spec& spec, const Decision& d,
                   std::span<const ImplPtr> children);
};

std::span<const Rewrite* const> rewrite_table();

// Every candidate of a Spec, in order, decisions complete. Specs that may still be divided among
// threads (threads > 1) have parallel loops only; the serial program is a root of its own.
void expand(const Space& space, const Spec& spec, Emit emit);
// The node of a complete decision.
ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
              std::span<const ImplPtr> children);
// The node of a candidate, with holes for its children.
ImplPtr build_open(const Space& space, const Spec& spec, const Candidate& c);
// The move in each step of a loop that asks for what the next step moves, which one rewrite makes
// together with the loop; null where there is none.
const Move* asking_move(const Impl& impl);
// The other way round: the children that the rewrite of a node left to the search, in the order of
// the candidate's; so not the fill that to_accumulate makes itself.
std::vector<ImplPtr> searched_children(const Impl& impl);

ImplPtr make_impl(auto node) { return std::make_shared<const Impl>(Impl{std::move(node)}); }

}  // namespace morello
