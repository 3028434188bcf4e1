#include "every_way.h"

#include <array>
#include <mutex>
#include <set>
#include <thread>

#include "plain_memo.h"
#include "search/spatial_memo.h"

namespace morello {
namespace {

constexpr int kMostThreads = 4;
constexpr int kThreadNumbers[] = {1, 2, kMostThreads};

// A way as the numbers of its settings, and how many there are of each.
using Settings = std::array<int, 6>;
constexpr Settings kCounts = {2, 2, 2, 3, 4, 3};

Way way(const Settings& s) {
  return {
      .pruning = {.bounds = true, .incumbents = s[0] == 0, .boxes = s[1] == 0, .keys = s[2] == 0},
      .memo = static_cast<MemoKind>(s[3]),
      .history = static_cast<History>(s[4]),
      .threads = kThreadNumbers[s[5]]};
}

std::vector<Settings> every_settings() {
  std::vector<Settings> all;
  for (Settings s{};;) {
    all.push_back(s);
    size_t i = 0;
    while (i < s.size() && ++s[i] == kCounts[i]) s[i++] = 0;
    if (i == s.size()) return all;
  }
}

using Pair = std::array<int, 4>;  // two things and their settings

std::set<Pair> pairs(const Settings& s) {
  std::set<Pair> out;
  for (int a = 0; a < static_cast<int>(s.size()); ++a)
    for (int b = 0; b < a; ++b)
      out.insert({a, s[static_cast<size_t>(a)], b, s[static_cast<size_t>(b)]});
  return out;
}

// Greedily: the next one is the first with the most pairs that are still missing.
std::vector<Way> cover_pairs() {
  const std::vector<Settings> all = every_settings();
  std::set<Pair> missing;
  for (const Settings& s : all) missing.merge(pairs(s));
  std::vector<Way> out;
  while (!missing.empty()) {
    const Settings* best = nullptr;
    size_t most = 0;
    for (const Settings& s : all) {
      size_t n = 0;
      for (const Pair& p : pairs(s)) n += missing.count(p);
      if (n > most) {
        most = n;
        best = &s;
      }
    }
    for (const Pair& p : pairs(*best)) missing.erase(p);
    out.push_back(way(*best));
  }
  return out;
}

// A memo for several threads made of one for one.
template <class Plain>
class Locked final : public Memo {
 public:
  bool find(const Key& key, const Limits& limits, Entry& found) const override {
    std::lock_guard lock(mutex_);
    return memo_.find(key, limits, found);
  }
  void insert(const Key& key, const Limits& asked, const Entry& entry) override {
    std::lock_guard lock(mutex_);
    memo_.insert(key, asked, entry);
  }
  MemoSize size() const override {
    std::lock_guard lock(mutex_);
    return memo_.size();
  }

 private:
  mutable std::mutex mutex_;
  Plain memo_;
};

std::unique_ptr<Memo> make_memo(MemoKind kind) {
  if (kind == MemoKind::kFlat) return std::make_unique<Locked<FlatMemo>>();
  if (kind == MemoKind::kExact) return std::make_unique<Locked<ExactMemo>>();
  return std::make_unique<SpatialMemo>(kMostThreads);
}

void search_within_half(const Space& space, Memo& memo, const Pruning& pruning) {
  Limits half = space.capacity();
  for (i64& bytes : half.bytes) bytes /= 2;
  Solver(space, memo, {.pruning = pruning}).solve(space.problem().root(), half);
}

std::unique_ptr<Memo> saved(const Memo& memo) {
  auto used = std::make_unique<SpatialMemo>(kMostThreads);
  const bool usable = used->use(static_cast<const SpatialMemo&>(memo).frozen(""));
  MORELLO_CHECK(usable, "what was frozen is a map");
  return used;
}

}  // namespace

std::string Way::str() const {
  constexpr const char* kMemos[] = {"spatial", "flat", "exact"};
  constexpr const char* kHistories[] = {"new", "filled here", "saved", "shared"};
  return fmt::format("incumbents {} boxes {} keys {} memo {} {} threads {}", pruning.incumbents,
                     pruning.boxes, pruning.keys, kMemos[static_cast<int>(memo)],
                     kHistories[static_cast<int>(history)], threads);
}

std::span<const Way> every_way() {
  static const std::vector<Way> ways = [] {
    std::vector<Way> out;
    for (const Settings& s : every_settings()) out.push_back(way(s));
    return out;
  }();
  return ways;
}

std::span<const Way> pairs_of_ways() {
  static const std::vector<Way> ways = cover_pairs();
  return ways;
}

Answer Searches::search(const Problem& problem, const Way& way) {
  const Space space(problem, way.pruning);
  std::unique_ptr<Memo> fresh;
  Memo *memo = nullptr, *sums = nullptr;
  if (way.history == History::kShared) {
    const auto shared = [&](const std::string& signature) {
      std::unique_ptr<Memo>& table = shared_[{way.memo, signature}];
      if (!table) table = make_memo(way.memo);
      return table.get();
    };
    memo = shared(space.signature());
    if (const std::string of_sums = space.signature_of_sums(); !of_sums.empty())
      sums = shared(of_sums);
  } else {
    fresh = make_memo(way.memo);
    memo = fresh.get();
  }
  if (way.history == History::kFilledHere || way.history == History::kSaved)
    search_within_half(space, *memo, way.pruning);
  if (way.history == History::kSaved && way.memo == MemoKind::kSpatial) fresh = saved(*memo);
  if (fresh) memo = fresh.get();
  const Spec root = problem.root();
  const Limits capacity = space.capacity();
  Solver solver(space, *memo, {.pruning = way.pruning}, sums);
  std::vector<std::thread> helpers;
  for (int i = 1; i < way.threads; ++i)
    helpers.emplace_back([&, i] { solver.help(root, capacity, i, way.threads); });
  const Cost cost = solver.solve(root, capacity).cost;
  for (std::thread& t : helpers) t.join();
  if (!cost.finite()) return {cost, ""};
  return {cost, print(problem, *solver.extract(root, capacity))};
}

}  // namespace morello
