// What sums of lanes cost where lanes run along the reduction, and what is made of them
// (impl/folding.h).
#include <algorithm>

#include "search/leaf_work.h"

namespace morello {

// What sums of lanes take, where lanes run along the reduction.
void Space::describe_folds(const AddressMap& output) {
  const Kernel& k = *family().kernel;
  if (!k.lanes_reduce) return;
  for (int d = 0; d < dims(); ++d)
    if (!computation().dims[d].reduction) registers_at_once_ *= family().quantum[d];
  folding_ = folding(family(), computation(), output);
  const Uops shuffle = {.alu = 1, .shuffle = 1};
  const Uops& join = k.join.empty() ? folding_.join->uops : k.join_uops;
  fold_ = k.ordered_uops;
  for (int i = 0; i < folding_.row->shuffles; ++i) fold_ += shuffle;
  for (size_t i = 0; i < kFold - 1 + folding_.row->halves.size(); ++i) fold_ += join;
  fold_alone_ = k.ordered_uops;
  for (int lanes = k.lanes; lanes > 1; lanes /= 2) {
    fold_alone_ += shuffle;
    fold_alone_ += join;
  }
}

// Registers summed along lanes, and what becomes of the sums. Of a bound, each is a part of as
// large a fold as the family's tile has and, where that can be, of a store of four: linear in their
// number.
void Space::add_folds(const Spec& s, i64 registers, Rounding rounding, Work& w) const {
  const bool packed = s.place[computation().inputs()].packed;
  const i64 most = std::min(kFold, registers_at_once_);
  if (rounding == Rounding::kDown && most >= kLeastFold) {
    const bool together = folding_.together >= 0 && !packed;
    Work fours;
    fours.add(fold_, registers);
    if (together) add_stores(s, registers, {}, fours);
    w.add(fours.share(most), 1);
    if (!together) add_stores(s, registers, {}, w);
    if (!packed) w.add(least_finish(registers, most), 1);
    return;
  }
  const Folds n = folds_of(folding_, computation(), s.extent);
  const i64 together = packed ? 0 : n.together;
  w.add(fold_, n.folds);
  w.add(fold_alone_, n.alone);
  add_stores(s, together, {}, w);
  add_stores(s, registers - together * kFold, {}, w);
  if (packed) return;
  if (folding_.made) w.add(folding_.finish_of_four, n.folds);
  w.add(finished_, folding_.made ? n.alone : registers);
}

// What is made of so many sums, by fours of which `most` are in use or one by one.
Space::Work Space::least_finish(i64 registers, i64 most) const {
  Work alone, fours;
  alone.add(finished_, registers);
  if (!folding_.made) return alone;
  fours.add(folding_.finish_of_four, registers);
  return fours.share(most).least(alone);
}

}  // namespace morello
