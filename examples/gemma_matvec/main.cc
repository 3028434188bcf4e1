// y = x * w: one row of 2048 by 2048 x 16384 weights in bf16, the shape of a feed-forward layer of
// a small language model when it writes one word. CMakeLists.txt declares the kernels ffw and ffw2
// (the same with two threads); the build searched for them. Here they are used, checked, and timed
// beside the plain loops, the hand-written kernel and the memory of this machine.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "ffw.h"
#include "ffw2.h"
#include "morello/runtime.h"
#include "yardstick.h"

namespace {

using Bf16s = morello::AlignedBuffer<std::uint16_t>;
using yardstick::kColumns;
using yardstick::kInner;

// What the calls below take for granted; another spec would need a workspace here.
static_assert(morello::ffw_info::workspace_bytes == 0);
static_assert(morello::ffw2_info::workspace_bytes == 0);

constexpr std::size_t kWeightBytes = kInner * kColumns * sizeof(std::uint16_t);

struct Options {
  int rounds = 9;
  bool json = false;
};

struct Inputs {
  Bf16s x{kInner};
  Bf16s w{kInner * kColumns};             // [kInner][kColumns], as the spec says
  Bf16s w_by_columns{kInner * kColumns};  // [kColumns][kInner]
  Bf16s w_expert{kInner * kColumns};
  morello::AlignedBuffer<std::byte> w_ffw{morello::ffw_info::packed_w_bytes};
  morello::AlignedBuffer<std::byte> w_ffw2{morello::ffw2_info::packed_w_bytes};
};

// Signed, so that sums cancel and a wrong element cannot hide; the same on every machine.
void fill_random(Bf16s& values, std::uint64_t seed) {
  std::uint64_t state = seed;
  for (std::uint16_t& v : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    v = morello::bf16_from_float(static_cast<float>(static_cast<std::int32_t>(state >> 32)) *
                                 0x1p-31F);
  }
}

void transpose(const Bf16s& w, Bf16s& out) {
  constexpr std::size_t kBlock = 32;
  for (std::size_t jb = 0; jb < kColumns; jb += kBlock) {
    for (std::size_t p = 0; p < kInner; ++p) {
      for (std::size_t j = jb; j < jb + kBlock; ++j) out[j * kInner + p] = w[p * kColumns + j];
    }
  }
}

void prepare(Inputs& in) {
  fill_random(in.x, 1);
  fill_random(in.w, 2);
  morello::ffw_pack_w(in.w.data(), in.w_ffw.data());
  morello::ffw2_pack_w(in.w.data(), in.w_ffw2.data());
  transpose(in.w, in.w_by_columns);
  yardstick::pack(in.w.data(), in.w_expert.data());
}

// The products in double, and how far a sum of kInner of them in float may be off, in any order.
struct Reference {
  std::vector<double> y = std::vector<double>(kColumns);
  std::vector<double> bound = std::vector<double>(kColumns);

  explicit Reference(const Inputs& in) {
    for (std::size_t p = 0; p < kInner; ++p) {
      const double x = morello::bf16_to_float(in.x[p]);
      for (std::size_t j = 0; j < kColumns; ++j) {
        const double product = x * morello::bf16_to_float(in.w[p * kColumns + j]);
        y[j] += product;
        bound[j] += std::fabs(product) * (kInner * 0x1p-24);
      }
    }
  }

  // True when every output is within its bound.
  bool verify(const std::string& name, const std::vector<float>& got) const {
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < kColumns; ++j) {
      if (std::fabs(got[j] - y[j]) <= bound[j]) continue;  // NaN is wrong, too
      if (wrong++ == 0) {
        std::fprintf(stderr, "%s: y[%zu] is %g, should be %g within %g\n", name.c_str(), j,
                     static_cast<double>(got[j]), y[j], bound[j]);
      }
    }
    if (wrong != 0) std::fprintf(stderr, "%s: %zu wrong of %zu\n", name.c_str(), wrong, kColumns);
    return wrong == 0;
  }
};

// body(begin, end) over the columns, in one equal part for each thread.
void split_columns(morello::Parallel pool, std::size_t threads,
                   const std::function<void(std::size_t, std::size_t)>& body) {
  struct Work {
    const std::function<void(std::size_t, std::size_t)>& body;
    std::size_t part;
  } work{body, kColumns / threads};
  if (threads == 1) return body(0, kColumns);
  pool.run(
      pool.context, threads,
      [](void* data, std::size_t i) noexcept {
        const Work& w = *static_cast<Work*>(data);
        w.body(i * w.part, (i + 1) * w.part);
      },
      &work);
}

enum class Kind { kRead, kPlain, kExpert, kMorello };

struct Contender {
  Kind kind;
  std::string name;
  std::size_t threads;
  std::function<void(float* y)> run;
  std::vector<double> seconds = {};

  double median() const {
    std::vector<double> sorted = seconds;
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    return sorted[sorted.size() / 2];
  }
};

void add_contenders(std::vector<Contender>& list, const Inputs& in, morello::Parallel pool,
                    std::size_t threads) {
  if (threads == 1) {
    list.push_back({Kind::kMorello, "morello::ffw", 1,
                    [&in](float* y) { morello::ffw(in.x.data(), in.w_ffw.data(), y); }});
  } else {
    list.push_back({Kind::kMorello, "morello::ffw2", threads, [&in, pool](float* y) {
                      morello::ffw2(in.x.data(), in.w_ffw2.data(), y, pool);
                    }});
  }
  using Product =
      void (*)(const std::uint16_t*, const std::uint16_t*, float*, std::size_t, std::size_t);
  const auto add_product = [&](Kind kind, const char* name, Product product, const Bf16s& w) {
    list.push_back({kind, name, threads, [&in, &w, product, pool, threads](float* y) {
                      split_columns(pool, threads, [&](std::size_t begin, std::size_t end) {
                        product(in.x.data(), w.data(), y, begin, end);
                      });
                    }});
  };
  const auto add_read = [&](const char* name, void (*read)(const void*, std::size_t)) {
    list.push_back({Kind::kRead, name, threads, [&in, read, pool, threads](float*) {
                      split_columns(pool, threads, [&](std::size_t begin, std::size_t end) {
                        read(in.w_by_columns.data() + begin * kInner,
                             (end - begin) * kInner * sizeof(std::uint16_t));
                      });
                    }});
  };
  add_product(Kind::kPlain, "plain loop, by rows", yardstick::plain_by_rows, in.w);
  add_product(Kind::kPlain, "plain loop, by columns", yardstick::plain_by_columns, in.w_by_columns);
  if (!yardstick::supported()) return;
  add_product(Kind::kExpert, "hand-written AVX2", yardstick::expert, in.w_expert);
  add_read("loads alone, 1 stream", yardstick::read_1_stream);
  add_read("loads alone, 2 streams", yardstick::read_2_streams);
  add_read("loads alone, 4 streams", yardstick::read_4_streams);
}

// Every round runs every contender: what else the machine does meets all of them alike. Each first
// makes some calls that are not timed. The weights are larger than most caches, and a cache with an
// adaptive policy takes a dozen passes to settle on what it keeps of them: a Zen 5 with 32 MiB
// reads 39 GB/s at first and 58 in the end.
void measure(std::vector<Contender>& list, int rounds) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSettling = 16;
  constexpr int kTimed = 8;
  std::vector<float> y(kColumns);
  for (int round = 0; round < rounds; ++round) {
    for (Contender& contender : list) {
      for (int call = 0; call < kSettling; ++call) contender.run(y.data());
      for (int call = 0; call < kTimed; ++call) {
        const Clock::time_point start = Clock::now();
        contender.run(y.data());
        contender.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      }
    }
  }
}

// The shortest median of a kind; infinity when there is none.
double best(const std::vector<Contender>& list, Kind kind, std::size_t threads) {
  double seconds = HUGE_VAL;
  for (const Contender& c : list) {
    if (c.kind == kind && c.threads == threads) seconds = std::min(seconds, c.median());
  }
  return seconds;
}

struct Row {
  const Contender* contender;
  double seconds, gb_per_second, of_read, over_plain, over_expert;
};

std::vector<Row> rows(const std::vector<Contender>& list) {
  std::vector<Row> result;
  for (const Contender& c : list) {
    const double seconds = c.median();
    const auto ratio = [&](Kind kind) {
      const double other = best(list, kind, c.threads);
      return std::isinf(other) ? 0 : other / seconds;
    };
    result.push_back({&c, seconds, kWeightBytes / seconds * 1e-9, ratio(Kind::kRead),
                      ratio(Kind::kPlain), ratio(Kind::kExpert)});
  }
  return result;
}

void print_table(const std::vector<Row>& table) {
  std::printf("%-8s%-24s%10s%8s%14s%15s%14s\n", "threads", "", "us", "GB/s", "of read rate",
              "x plain loop", "x by hand");
  for (const Row& r : table) {
    std::printf("%-8zu%-24s%10.1f%8.1f%12.1f %%%15.2f%14.2f\n", r.contender->threads,
                r.contender->name.c_str(), r.seconds * 1e6, r.gb_per_second, r.of_read * 100,
                r.over_plain, r.over_expert);
  }
}

void print_json(const std::vector<Row>& table) {
  std::printf("{\"verified\": true, \"bytes\": %zu, \"rows\": [", kWeightBytes);
  const char* separator = "\n";
  for (const Row& r : table) {
    std::printf(
        "%s  {\"name\": \"%s\", \"threads\": %zu, \"us\": %.2f, \"gb_per_second\": %.3f, "
        "\"of_read_bandwidth\": %.4f, \"over_plain_loop\": %.4f, \"over_hand_written\": %.4f}",
        separator, r.contender->name.c_str(), r.contender->threads, r.seconds * 1e6,
        r.gb_per_second, r.of_read, r.over_plain, r.over_expert);
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

// False, with a message, when the command line is wrong.
bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      char* end = nullptr;
      const long rounds = std::strtol(argv[++i], &end, 10);
      if (*end != '\0' || rounds < 1 || rounds > 1000000) {
        std::fprintf(stderr, "--rounds takes a number from 1 to 1000000, not '%s'\n", argv[i]);
        return false;
      }
      options.rounds = static_cast<int>(rounds);
    } else {
      std::fprintf(stderr, "unknown argument '%s'\nusage: %s [--rounds N] [--json]\n", argv[i],
                   argv[0]);
      return false;
    }
  }
  return true;
}

bool verify_all(const std::vector<Contender>& list, const Inputs& in) {
  const Reference reference(in);
  bool good = true;
  for (const Contender& c : list) {
    if (c.kind == Kind::kRead) continue;
    std::vector<float> y(kColumns, NAN);
    c.run(y.data());
    good = reference.verify(c.name, y) && good;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 2;
  // Messages leave standard output to the JSON.
  std::FILE* log = options.json ? stderr : stdout;

  Inputs in;
  prepare(in);
  const bool two_cores = morello::ThreadPool(0).size() >= 2;
  morello::ThreadPool pool(two_cores ? 2 : 1);
  std::vector<Contender> list;
  add_contenders(list, in, pool, 1);
  if (two_cores) add_contenders(list, in, pool, 2);

  std::fprintf(log, "1 x %zu by %zu x %zu, bf16 -> f32, %zu MiB of weights\n", kInner, kInner,
               kColumns, kWeightBytes >> 20);
  if (!verify_all(list, in)) return 1;
  std::fprintf(log, "verified: all %zu outputs of every version, against double precision\n",
               kColumns);
  if (!two_cores) std::fprintf(log, "one processor: two threads are not measured\n");
  if (!yardstick::supported()) std::fprintf(log, "no AVX2: less to compare with\n");

  measure(list, options.rounds);
  const std::vector<Row> table = rows(list);
  if (options.json) {
    print_json(table);
  } else {
    print_table(table);
  }
  return 0;
}
