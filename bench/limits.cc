#include "bench/limits.h"

#include <algorithm>
#include <cstdint>

#include "morello/aligned.h"
#include "morello/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace morello::bench {
namespace {

// body(thread) on every thread of the pool.
template <class Body>
void on_all_threads(ThreadPool& pool, const Body& body) {
  pool.run(
      static_cast<std::size_t>(pool.size()),
      [](void* data, std::size_t thread) noexcept { (*static_cast<const Body*>(data))(thread); },
      const_cast<Body*>(&body));
}

#if defined(__x86_64__)

// Twelve accumulators cover a latency of six cycles at two instructions a cycle. The loop is
// written out, so that no compiler can decide otherwise. The sums stay 0: 0 * 0 + 0, which is as
// fast as any other and never subnormal.
constexpr int kAccumulators = 12;
constexpr int kRepeats = 2;  // of all accumulators in one iteration

#define MORELLO_ALL_REGISTERS                                                              \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14"
#define MORELLO_ZERO(r) "vxorps %%xmm" #r ",%%xmm" #r ",%%xmm" #r "\n"
#define MORELLO_FMA256(r) "vfmadd231ps %%ymm12,%%ymm13,%%ymm" #r "\n"
#define MORELLO_FMA512(r) "vfmadd231ps %%zmm12,%%zmm13,%%zmm" #r "\n"
#define MORELLO_MADD256(r) \
  "vpmaddwd %%ymm12,%%ymm13,%%ymm14\nvpaddd %%ymm14,%%ymm" #r ",%%ymm" #r "\n"
#define MORELLO_MADDUBS256(r)                                              \
  "vpmaddubsw %%ymm12,%%ymm13,%%ymm14\nvpmaddwd %%ymm12,%%ymm14,%%ymm14\n" \
  "vpaddd %%ymm14,%%ymm" #r ",%%ymm" #r "\n"
#define MORELLO_DOT256(r) "%{vex%} vpdpbusd %%ymm12,%%ymm13,%%ymm" #r "\n"
#define MORELLO_DOT512(r) "vpdpbusd %%zmm12,%%zmm13,%%zmm" #r "\n"
#define MORELLO_TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define MORELLO_FMA_LOOP(FMA)                                              \
  asm volatile(MORELLO_TWELVE(MORELLO_ZERO) MORELLO_ZERO(12)               \
                   MORELLO_ZERO(13) ".p2align 5\n1:\n" MORELLO_TWELVE(FMA) \
                       MORELLO_TWELVE(FMA) "dec %0\njnz 1b\nvzeroupper\n"  \
               : "+r"(iterations)                                          \
               :                                                           \
               : MORELLO_ALL_REGISTERS, "cc")

void fma_loop_256(std::int64_t iterations) { MORELLO_FMA_LOOP(MORELLO_FMA256); }
void fma_loop_512(std::int64_t iterations) { MORELLO_FMA_LOOP(MORELLO_FMA512); }
void madd_loop_256(std::int64_t iterations) { MORELLO_FMA_LOOP(MORELLO_MADD256); }
void maddubs_loop_256(std::int64_t iterations) { MORELLO_FMA_LOOP(MORELLO_MADDUBS256); }
void dot_loop_256(std::int64_t iterations) { MORELLO_FMA_LOOP(MORELLO_DOT256); }
void dot_loop_512(std::int64_t iterations) { MORELLO_FMA_LOOP(MORELLO_DOT512); }

#define MORELLO_AVX2 __attribute__((target("avx2")))

// Two cache lines. The empty asm uses the loaded values, so the compiler can neither drop the loads
// nor merge them; without a loop, because every instruction more leaves fewer loads in flight.
MORELLO_AVX2 inline void touch(const char* p) {
  const __m256i* v = reinterpret_cast<const __m256i*>(p);
  const __m256i v0 = _mm256_loadu_si256(v), v1 = _mm256_loadu_si256(v + 1),
                v2 = _mm256_loadu_si256(v + 2), v3 = _mm256_loadu_si256(v + 3);
  asm volatile("" : : "x"(v0), "x"(v1), "x"(v2), "x"(v3));
}

MORELLO_AVX2 void read_1(const char* p, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 128) touch(p + i);
}

MORELLO_AVX2 void read_2(const char* p, std::size_t bytes) {
  const std::size_t half = bytes / 2;
  for (std::size_t i = 0; i < half; i += 128) {
    touch(p + i);
    touch(p + half + i);
  }
}

MORELLO_AVX2 void read_4(const char* p, std::size_t bytes) {
  const std::size_t quarter = bytes / 4;
  for (std::size_t i = 0; i < quarter; i += 128) {
    touch(p + i);
    touch(p + quarter + i);
    touch(p + 2 * quarter + i);
    touch(p + 3 * quarter + i);
  }
}

bool can_fma(int vector_bits) {
  return vector_bits == 512 ? has_avx512f() : has_avx2() && has_fma();
}
bool can_dot(int vector_bits) {
  return vector_bits == 512 ? has_avx512f() && has_avx512_vnni() : has_avx_vnni();
}

#else

constexpr int kAccumulators = 1;
constexpr int kRepeats = 1;
void fma_loop_256(std::int64_t) {}
void fma_loop_512(std::int64_t) {}
void madd_loop_256(std::int64_t) {}
void maddubs_loop_256(std::int64_t) {}
void dot_loop_256(std::int64_t) {}
void dot_loop_512(std::int64_t) {}
void read_1(const char*, std::size_t) {}
void read_2(const char*, std::size_t) {}
void read_4(const char*, std::size_t) {}
bool can_fma(int) { return false; }
bool can_dot(int) { return false; }

#endif

constexpr std::size_t kPart = 1024;  // what every number of streams divides into whole loops

// A loop over all accumulators, `products` in each of their updates.
Task arithmetic(const char* name, void (*loop)(std::int64_t), int vector_bits, int products,
                ThreadPool& pool) {
  constexpr std::int64_t kIterations = 4096;
  const double per_thread = 2.0 * products * kAccumulators * kRepeats * kIterations;
  return Task{std::string(name) + ", " + std::to_string(vector_bits) + " bits",
              per_thread * pool.size(),
              [loop, &pool] { on_all_threads(pool, [loop](std::size_t) { loop(kIterations); }); }};
}

}  // namespace

std::optional<Task> fma_task(int vector_bits, ThreadPool& pool) {
  if (!can_fma(vector_bits)) return std::nullopt;
  return arithmetic("fma", vector_bits == 512 ? fma_loop_512 : fma_loop_256, vector_bits,
                    vector_bits / 32, pool);
}

std::optional<Task> dot_task(int vector_bits, Products products, ThreadPool& pool) {
  if (products != Products::kVnni) {
    if (vector_bits != 256 || !can_fma(256)) return std::nullopt;
    return products == Products::kBytes ? arithmetic("madd", madd_loop_256, 256, 16, pool)
                                        : arithmetic("maddubs", maddubs_loop_256, 256, 32, pool);
  }
  if (!can_dot(vector_bits)) return std::nullopt;
  return arithmetic("dot", vector_bits == 512 ? dot_loop_512 : dot_loop_256, vector_bits,
                    vector_bits / 8, pool);
}

std::optional<Task> read_task(const void* data, std::size_t bytes, int streams, ThreadPool& pool) {
  if (!has_avx2()) return std::nullopt;
  const auto read = streams == 1 ? read_1 : streams == 2 ? read_2 : read_4;
  const std::size_t threads = static_cast<std::size_t>(pool.size());
  const std::size_t each = bytes / threads / kPart * kPart;
  // Few bytes: several passes in a call, or the call would cost more than the loads.
  const std::size_t passes =
      each == 0 ? 0 : std::max<std::size_t>(1, (std::size_t{1} << 18) / each);
  const char* begin = static_cast<const char*>(data);
  const auto share = [=](std::size_t thread) {
    for (std::size_t p = 0; p < passes; ++p) read(begin + thread * each, each);
  };
  return Task{"read, streams: " + std::to_string(streams),
              static_cast<double>(each * passes * threads),
              [share, &pool] { on_all_threads(pool, share); }};
}

std::optional<double> fma_peak(int vector_bits, int threads) {
  ThreadPool pool(threads);
  const std::optional<Task> task = fma_task(vector_bits, pool);
  if (!task) return std::nullopt;
  return task->amount / median_seconds({*task})[0];
}

std::optional<double> read_bandwidth(std::size_t bytes, int threads) {
  if (!has_avx2()) return std::nullopt;
  ThreadPool pool(threads);
  AlignedBuffer<unsigned char> data(bytes);
  std::vector<Task> tasks;
  for (const int streams : {1, 2, 4}) {
    tasks.push_back(*read_task(data.data(), bytes, streams, pool));
  }
  // At 20 GB/s or more, enough for a dozen passes.
  const double slot = std::max(5e-3, 12 * static_cast<double>(bytes) / 20e9);
  const std::vector<double> medians = median_seconds(tasks, {.slot_seconds = slot});
  return tasks[0].amount / *std::min_element(medians.begin(), medians.end());
}

}  // namespace morello::bench
