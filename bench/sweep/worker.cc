// Draws kernels, searches for them, and times them beside oneDNN, plain loops and our own kernels
// of their steps, with one instruction set; bench_sweep runs this program and reads what it prints
// (bench/peers/report.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <thread>

#include "bench/peers/apart.h"
#include "bench/peers/report.h"
#include "bench/sweep/draw.h"
#include "bench/sweep/library.h"
#include "bench_peers.h"
#include "morello/cpu.h"

namespace morello::bench {
namespace {

struct Drawn {
  std::string name;
  Case c;
  std::string library = {};
};

std::vector<Drawn> draw(const Kind& kind, std::uint64_t seed, int count) {
  // Kinds do not depend on one another.
  for (const char letter : kind.name) seed = 31 * seed + static_cast<unsigned char>(letter);
  Random random(seed);
  std::vector<Drawn> out;
  while (static_cast<int>(out.size()) < count) {
    std::optional<Case> c = kind.draw(random);
    if (c && c->operations >= kind.least && c->operations <= kind.most)
      out.push_back({fmt::format("{}_{}", kind.name, out.size()), std::move(*c)});
  }
  return out;
}

// The one that its operands are for.
std::string isa_of(const Case& c) {
  if (!kAvx512) return "avx2";
  const Dtype type = c.operands[0].type;
  if (type == Dtype::u8 && has_avx512_vnni()) return "avx512_vnni";
  if (type == Dtype::bf16 && has_avx512_bf16()) return "avx512_bf16";
  return "avx512";
}

void build_all(std::vector<Drawn>& all, const Building& how, int jobs) {
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < jobs; ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < all.size();)
        all[i].library = build(all[i].c, all[i].name, isa_of(all[i].c), how);
    });
  for (std::thread& t : threads) t.join();
}

// The same operands for everybody. What one makes is compared with what ours has made: tests/run
// compares that with a reference.
class Setting {
 public:
  explicit Setting(const Drawn& drawn) : drawn_(drawn), c_(drawn.c) {
    for (size_t i = 0; i < c_.operands.size(); ++i) {
      const Tensor& t = c_.operands[i];
      // oneDNN adds pairs of products of bytes in 16 bits.
      const Dtype values = t.type == Dtype::i8 ? Dtype::i7 : t.type;
      c_.data.push_back(std::make_shared<Bytes>(random_values(values, t.elements(), i + 1)));
    }
    c_.data.push_back(std::make_shared<Bytes>(
        static_cast<size_t>(c_.result().elements() * bytes(c_.result().type))));
  }
  const Case& c() const { return c_; }
  const std::string& library() const { return drawn_.library; }
  Comparison::Row row() const {
    double all = 0;
    for (const auto& data : c_.data) all += static_cast<double>(data->size());
    return {drawn_.name, c_.spec(), c_.operations, all, 1};
  }
  Wanted wanted() const {
    return {c_.data.back(), [this] { return error(); }};
  }

 private:
  double at(i64 i) const { return element(c_.result().type, c_.data.back()->data(), i); }
  double error() const {
    const i64 n = c_.result().elements();
    if (ours_.empty())
      for (i64 i = 0; i < n; ++i) ours_.push_back(at(i));
    const double allowed = is_float(c_.result().type) ? 1.0 / 64 : 0x1p-10;
    double worst = 0;
    for (i64 i = 0; i < n; ++i) {
      const double x = ours_[static_cast<size_t>(i)];
      const double off = std::fabs(at(i) - x) / (allowed * (1 + std::fabs(x)));
      if (!(off <= worst)) worst = off;
    }
    return worst;
  }

  const Drawn& drawn_;
  Case c_;
  mutable std::vector<double> ours_;
};

void measure(const Drawn& drawn, const Rounds& how) {
  std::vector<Party<Setting>> parties = {[](const Setting& s, Comparison& all) {
    for (Contender& c : loaded(s.c(), s.library(), isa_of(s.c())))
      all.add(std::move(c), s.wanted(), 1);
  }};
#define MORELLO_PEER(peer)                                                  \
  parties.push_back([](const Setting& s, Comparison& all) {                 \
    for (Contender & c : peer(s.c())) all.add(std::move(c), s.wanted(), 1); \
  });
  MORELLO_BENCH_PEERS(MORELLO_PEER)
#undef MORELLO_PEER
  measure_parties(
      1, [&] { return Setting(drawn); }, parties, how);
}

int run(int argc, char** argv) {
  std::uint64_t seed = 1;
  int count = 10, jobs = 1;
  Building building{.directory = "sweep"};
  const Asked asked = parse_worker(argc, argv, "bench_sweep", [&](CLI::App& app) {
    app.add_option("--seed", seed);
    app.add_option("--count", count);
    app.add_option("--jobs", jobs);
    app.add_option("--directory", building.directory);
    app.add_option("--machine", building.machine);
  });
  // Sources include headers beside them by their whole names.
  building.directory = std::filesystem::absolute(building.directory).string();
  std::filesystem::create_directories(building.directory);
  for (const Kind& kind : kKinds) {
    if (kind.name.find(asked.only) == std::string_view::npos) continue;
    std::vector<Drawn> all = draw(kind, seed, count);
    build_all(all, building, jobs);
    for (const Drawn& drawn : all) {
      if (drawn.library.empty()) return 1;
      measure(drawn, asked.how);
    }
  }
  return 0;
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  try {
    return morello::bench::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
