#include "search/piece_sizes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

#include "spec/sizes.h"

namespace morello {
namespace {

// Extents between one and its double that are looked at.
constexpr i64 kExtents = 8;
// Between an elastic reduction's largest piece and its granule may lie one of so many granules, or
// so many times that.
constexpr i64 kBetween = 8;
// "About the least": within this part of the cost.
constexpr i64 kSame = 64;
// What smaller pieces take for what the largest leaves behind, beside its share of the largest.
// (f32 of m, k and n near 384 by AVX2: at 100 its sums were pieces of 256 and rests, for pieces of
// 64, and it took 1.02 of the time.)
constexpr i64 kRestPercent = 125;
// In units of Proportion: where e times as much is taken. One part in n is an n-th of it.
constexpr i64 kNatural = 1477;

// 1024 times the logarithm to base 2, rounded down: the same on all machines.
i64 logarithm(i64 n) {
  constexpr int kBits = 10, kFraction = 31;
  auto x = static_cast<std::uint64_t>(std::max<i64>(n, 1));
  const int whole = std::bit_width(x) - 1;
  x = whole > kFraction ? x >> (whole - kFraction) : x << (kFraction - whole);  // from 1 to 2
  i64 out = whole;
  for (int i = 0; i < kBits; ++i) {
    x = x * x >> kFraction;
    const std::uint64_t bit = x >> (kFraction + 1);
    out = 2 * out + static_cast<i64>(bit);
    x >>= bit;
  }
  return out;
}

// What means are over, in granules.
std::vector<i64> extents_looked_at(const PiecedDim& d) {
  std::vector<i64> out;
  for (i64 n = 1; n * d.sizes.back() <= 2 * d.sizes.front(); n += 1 + n / kExtents)
    out.push_back(n);
  return out;
}

// Of all extents: pieces take so many cycles.
Proportion mean_over_extents(const PiecedDim& d, bool reduction, const std::vector<i64>& cycles) {
  const i64 granule = d.sizes.back();
  Proportion sum = 0;
  for (const i64 n : extents_looked_at(d)) {
    i64 all = 0;
    for (const Cut& cut : cuts(d, n * granule, reduction)) {
      const i64 whole = cycles[static_cast<size_t>(cut.which)];
      all += reduction ? ceil_div(whole * cut.length, d.extent(cut.which)) : whole;
    }
    sum += logarithm(all);
  }
  return sum;
}

class ChosenPieces {
 public:
  ChosenPieces(WholePieces kind, int dim, i64 granule, i64 largest, const PieceCost& cost)
      : kind_(kind), granule_(granule), largest_(largest), cost_(cost), best_{dim, {largest}, 0} {
    if (largest > granule) best_.sizes.push_back(granule);
    least_ = mean(best_);
  }

  // The size below which all are elastic: the largest one, if there may be no other.
  void choose_elastic(int most) {
    const PiecedDim plain = best_;
    for (i64 size = 2 * granule_; size <= largest_; size *= 2) {
      if (size < largest_ && most < 3) continue;
      if (!cycles(size, true).finite()) continue;
      PiecedDim d = plain;
      if (size < largest_) d.sizes.insert(d.sizes.end() - 1, size);
      d.elastic = static_cast<int>(std::ssize(d.sizes)) - 1;
      take(d);
    }
  }

  // Whether another size was worth it.
  bool choose_another(i64 earned) {
    const PiecedDim before = best_;
    const Proportion had = least_;
    const i64 below = before.elastic > 0 ? before.extent(before.elastic) : granule_;
    for (i64 size = 2 * below; size < largest_; size *= 2) {
      PiecedDim d = before;
      const auto at = std::lower_bound(d.sizes.begin(), d.sizes.end(), size, std::greater<>());
      if (*at == size) continue;
      d.sizes.insert(at, size);
      if (d.elastic > 0) ++d.elastic;
      take(d);
    }
    if ((had - least_) * earned >= std::ssize(extents_looked_at(before)) * kNatural) return true;
    best_ = before;
    return false;
  }

  // Sizes were chosen one after the other: some may be better twice as large, or half.
  void move_sizes() {
    for (Proportion had = kNone; least_ < had;) {
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

  PiecedDim chosen(int most, i64 earned) {
    while (std::ssize(best_.sizes) < most && choose_another(earned)) continue;
    move_sizes();
    return best_;
  }

 private:
  Cost cycles(i64 size, bool elastic) {
    const auto [known, added] = known_.try_emplace({size, elastic});
    if (added) known->second = cost_(size, elastic);
    return known->second;
  }

  void take(const PiecedDim& d) {
    const Proportion here = mean(d);
    if (here >= least_) return;
    least_ = here;
    best_ = d;
  }

  Proportion mean(PiecedDim d) {
    std::vector<i64> each;
    for (int i = 0; i < static_cast<int>(std::ssize(d.sizes)); ++i) {
      const Cost cost = cycles(d.extent(i), d.is_elastic(i));
      if (!cost.finite()) return kNone;
      each.push_back(static_cast<i64>(cost.value() / 1000));
    }
    if (kind_ == WholePieces::kParallel) choose_rests(d, each);
    return mean_over_extents(d, kind_ == WholePieces::kSummed, each);
  }

  const WholePieces kind_;
  const i64 granule_, largest_;
  const PieceCost& cost_;
  std::map<std::pair<i64, bool>, Cost> known_;
  PiecedDim best_;
  Proportion least_ = kNone;
};

}  // namespace

Cost cost_in_pieces(Cost each, i64 extent, i64 largest) {
  const i64 rest = extent % largest;
  return in_proportion(static_cast<i64>(each.value()), 100 * (extent - rest) + kRestPercent * rest,
                       100 * largest);
}

std::optional<std::pair<i64, Cost>> largest_size(std::span<const i64> menu,
                                                 const std::function<Cost(i64 size)>& cost) {
  std::vector<std::pair<i64, Cost>> tried;
  Cost least = Cost::infinite();
  const auto about = [&](Cost c) {
    return c.finite() && c.value() <= least.value() + least.value() / kSame;
  };
  for (size_t i = menu.size(); i-- > 0;) {
    tried.emplace_back(menu[i], cost(menu[i]));
    least = std::min(least, tried.back().second);
    if (least.finite() && !about(tried.back().second)) break;  // smaller ones cost more
  }
  if (!least.finite()) return std::nullopt;
  return *std::find_if(tried.rbegin(), tried.rend(),
                       [&](const auto& t) { return about(t.second); });
}

PiecedDim parallel_pieces(int dim, i64 granule, i64 largest, int most, i64 earned,
                          const PieceCost& cost) {
  ChosenPieces pieces(WholePieces::kParallel, dim, granule, largest, cost);
  pieces.choose_elastic(most);
  return pieces.chosen(most, earned);
}

PiecedDim fixed_pieces(WholePieces kind, i64 granule, i64 largest, int most, i64 earned,
                       const PieceCost& cost) {
  return ChosenPieces(kind, 0, granule, largest, cost).chosen(most, earned);
}

Proportion mean_of_sum(const PiecedDim& d, const MultiplesCost& cost) {
  std::vector<i64> cycles;
  for (int i = 0; i < static_cast<int>(std::ssize(d.sizes)); ++i) {
    const Cost here = cost(d.is_elastic(i) ? d.sizes[static_cast<size_t>(i)] : 0, d.extent(i));
    if (!here.finite()) return kNone;
    cycles.push_back(static_cast<i64>(here.value() / 1000));
  }
  return mean_over_extents(d, true, cycles);
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
