#include "search/piece_sizes.h"

#include <algorithm>
#include <map>

namespace morello {
namespace {

// A size saves one part in so many of what there was without it, at least.
constexpr i64 kEarned = 64;
// Extents between one and its double that are looked at.
constexpr i64 kExtents = 8;
// Between an elastic reduction's largest piece and its granule may lie one of so many granules, or
// so many times that.
constexpr i64 kBetween = 8;

class ParallelPieces {
 public:
  ParallelPieces(int dim, i64 granule, i64 largest, const PieceCost& cost)
      : granule_(granule), largest_(largest), cost_(cost), best_{dim, {largest}, 0} {
    if (largest > granule) best_.sizes.push_back(granule);
    least_ = mean(best_);
  }

  // The size below which all are elastic.
  void choose_elastic() {
    const PiecedDim plain = best_;
    for (i64 size = 2 * granule_; size <= largest_; size *= 2) {
      if (!cycles(size, true).finite()) continue;
      PiecedDim d = plain;
      if (size < largest_) d.sizes.insert(d.sizes.end() - 1, size);
      d.elastic = static_cast<int>(std::ssize(d.sizes)) - 1;
      take(d);
    }
  }

  // Whether another size was worth it.
  bool choose_another() {
    const PiecedDim before = best_;
    const Cost had = least_;
    const i64 below = before.elastic > 0 ? before.extent(before.elastic) : granule_;
    for (i64 size = 2 * below; size < largest_; size *= 2) {
      PiecedDim d = before;
      const auto at = std::lower_bound(d.sizes.begin(), d.sizes.end(), size, std::greater<>());
      if (*at == size) continue;
      d.sizes.insert(at, size);
      if (d.elastic > 0) ++d.elastic;
      take(d);
    }
    if (least_.value() <= had.value() / kEarned * (kEarned - 1)) return true;
    best_ = before;
    return false;
  }

  // Sizes were chosen one after the other: some may be better twice as large, or half.
  void move_sizes() {
    for (Cost had = Cost::infinite(); least_ < had;) {
      had = least_;
      const PiecedDim before = best_;
      const size_t end = before.sizes.size() - (before.elastic > 0 ? 2 : 1);
      for (size_t i = 1; i < end; ++i)
        for (const i64 size : {before.sizes[i] * 2, before.sizes[i] / 2}) {
          PiecedDim d = before;
          d.sizes[i] = size;
          if (size < d.sizes[i - 1] && size > d.sizes[i + 1]) take(d);
        }
    }
  }

  const PiecedDim& best() const { return best_; }

 private:
  Cost cycles(i64 size, bool elastic) {
    const auto [known, added] = known_.try_emplace({size, elastic});
    if (added) known->second = cost_(size, elastic);
    return known->second;
  }

  void take(const PiecedDim& d) {
    const Cost cost = mean(d);
    if (cost >= least_) return;
    least_ = cost;
    best_ = d;
  }

  Cost mean(PiecedDim d) {
    std::vector<i64> each;
    for (int i = 0; i < static_cast<int>(std::ssize(d.sizes)); ++i) {
      const Cost cost = cycles(d.extent(i), d.is_elastic(i));
      if (!cost.finite()) return cost;
      each.push_back(static_cast<i64>(cost.value() / 1000));
    }
    choose_rests(d, each);
    Cost sum;
    for (i64 n = 1; n * granule_ <= 2 * largest_; n += 1 + n / kExtents) {
      i64 all = 0;
      for (const Cut& cut : cuts(d, n * granule_, false))
        all += each[static_cast<size_t>(cut.which)];
      sum = sum + Cost::milli(all * 1000 / n);
    }
    return sum;
  }

  const i64 granule_, largest_;
  const PieceCost& cost_;
  std::map<std::pair<i64, bool>, Cost> known_;
  PiecedDim best_;
  Cost least_;
};

}  // namespace

PiecedDim parallel_pieces(int dim, i64 granule, i64 largest, int most, const PieceCost& cost) {
  ParallelPieces pieces(dim, granule, largest, cost);
  pieces.choose_elastic();
  while (std::ssize(pieces.best().sizes) < most && pieces.choose_another()) continue;
  pieces.move_sizes();
  return pieces.best();
}

PiecedDim elastic_pieces(int dim, i64 granule, i64 largest, const MultiplesCost& cost) {
  PiecedDim out{dim, {}, 1};
  if (largest == granule) return out;
  const Cost alone = cost(granule, largest);
  Cost best = alone;
  if (alone.finite()) out.sizes = {largest, granule};
  for (i64 size = granule * kBetween; size < largest; size *= kBetween) {
    if (largest % size != 0) continue;
    const Cost both = cost(size, largest) + cost(granule, size);
    if (!both.finite() || both >= best || (alone.finite() && both + both >= alone)) continue;
    best = both;
    out.sizes = {largest, size, granule};
  }
  return out;
}

}  // namespace morello
