// The operands of a kernel: where they lie in memory and what they hold.
#ifndef MORELLO_TESTBENCH_INPUTS_H_
#define MORELLO_TESTBENCH_INPUTS_H_

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstring>
#include <iterator>
#include <tuple>
#include <vector>

#include "morello/aligned.h"
#include "numbers.h"

namespace morello::testbench {

struct Buffer {
  Type type;
  std::int64_t elements;
  std::size_t packed_bytes;
  void (*pack)(const void*, void*);
};

enum class Values {
  random,  // floats in [-1, 1), integers of the full range
  edges,   // zeros of both signs, ones, powers of two; the ends of integer ranges
  wild     // the same with subnormal numbers, and few infinities, NaN and the largest
};
enum class Place {
  line,   // begins at a cache line
  end,    // ends where a page begins that nobody may touch
  begin,  // begins where such a page ends
  odd     // as few elements before such a page that it begins one behind a cache line
};
struct Inputs {
  Values values = Values::random;
  Place place = Place::line;
  std::uint64_t seed = 0x9E3779B97F4A7C15U;
};

// Bytes at such a place; what touches a page beside them ends the program. Without such pages they
// always begin at a cache line.
class Memory {
 public:
  Memory(std::size_t bytes, [[maybe_unused]] std::size_t element, [[maybe_unused]] Place place) {
#if defined(__unix__)
    if (place != Place::line) {
      map(bytes, element, place);
      return;
    }
#endif
    plain_ = AlignedBuffer<unsigned char>(bytes);
    data_ = plain_.data();
  }
  Memory(Memory&& other) noexcept
      : plain_(std::move(other.plain_)),
        data_(other.data_),
        base_(other.base_),
        mapped_(other.mapped_) {
    other.base_ = nullptr;
  }
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
#if defined(__unix__)
    if (base_ != nullptr) munmap(base_, mapped_);
#endif
  }
  unsigned char* data() { return data_; }

 private:
#if defined(__unix__)
  void map(std::size_t bytes, std::size_t element, Place place) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes + kCacheLine + page - 1) / page * page;
    mapped_ = inside + 2 * page;
    void* all = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    base_ = static_cast<unsigned char*>(all);
    if (mprotect(base_ + page, inside, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = base_ + page;
    if (place == Place::begin) return;
    data_ += inside - bytes;
    if (place == Place::odd)
      data_ -= (reinterpret_cast<std::uintptr_t>(data_) - element) % kCacheLine;
  }
#endif

  AlignedBuffer<unsigned char> plain_;
  unsigned char* data_ = nullptr;
  unsigned char* base_ = nullptr;
  std::size_t mapped_ = 0;
};

// xorshift64*: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed != 0 ? seed : 1) {}
  std::uint64_t bits() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DU;
  }

 private:
  std::uint64_t state_;
};

// One wild float of so many is not finite or the largest: it spoils every sum that it is part of.
inline float wild_float(Type t, std::uint64_t bits, std::int64_t rare) {
  const float sign = (bits & 1) != 0 ? -1.0F : 1.0F;
  if (static_cast<std::int64_t>(bits >> 8) % rare == 0) {
    const float largest = t == Type::f32 ? FLT_MAX : t == Type::bf16 ? 0x1.FEp127F : 65504.0F;
    const float kinds[] = {static_cast<float>(kInfinity), static_cast<float>(kNan), largest};
    return sign * kinds[(bits >> 1) % 3];
  }
  constexpr float kEdges[] = {0.0F, 1.0F, 0.5F, 2.0F, 0x1p-10F, 0x1p10F};
  const float subnormal = t == Type::f16 ? 0x1.8p-20F : 0x1.8p-130F;
  const std::uint64_t kind = (bits >> 1) % 8;
  return sign * (kind < 6 ? kEdges[kind] : subnormal);
}

inline float float_of(Type t, Values values, std::uint64_t bits, std::int64_t rare) {
  constexpr float kEdges[] = {0.0F, -0.0F, 1.0F, -1.0F, 0.5F, -2.0F, 0x1p-10F, -0x1p10F};
  if (values == Values::wild) return wild_float(t, bits, rare);
  if (values == Values::edges) return kEdges[bits & 7];
  return static_cast<float>(bits >> 8) * 0x1p-23F - 1.0F;
}

inline void fill(Type t, unsigned char* data, std::int64_t count, Random& random, Values values,
                 std::int64_t rare) {
  constexpr std::uint32_t kEnds[] = {0, 1, 0xFFFFFFFFU, 0x7FFFFFFFU, 0x80000000U, 2, 0x7F, 0x80};
  const bool ends = values != Values::random;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random.bits() >> 32;
    const std::uint32_t n = ends ? kEnds[bits & 7] : static_cast<std::uint32_t>(bits);
    switch (t) {
      case Type::f32:
        at<float>(data, i) = float_of(t, values, bits, rare);
        break;
      case Type::bf16:
        at<std::uint16_t>(data, i) = bf16_from_float(float_of(t, values, bits, rare));
        break;
      case Type::f16:
        at<std::uint16_t>(data, i) = f16_from_float(float_of(t, values, bits, rare));
        break;
      case Type::i32:
        at<std::uint32_t>(data, i) = n;
        break;
      case Type::i16:
        at<std::uint16_t>(data, i) = static_cast<std::uint16_t>(ends ? n >> 16 | (n & 1) : n);
        break;
      case Type::i7:  // 7 bits, with their sign
        at<std::int8_t>(data, i) = static_cast<std::int8_t>(static_cast<int>(n & 0x7F) - 64);
        break;
      default:
        data[i] = static_cast<unsigned char>(n);
        break;
    }
  }
}

// How many elements of its operands an element of a stage is made of, for one of them.
template <class Stage>
std::int64_t terms() {
  std::int64_t count = 1;
  for (int d = 0; d < Stage::kDims; ++d)
    if (Stage::kReduction[d]) count *= Stage::kExtents[d];
  return count;
}
template <class... Stage>
std::int64_t all_terms(const std::tuple<Stage...>*) {
  return (terms<Stage>() + ...);
}

template <class S>
struct Data {
  std::vector<Memory> plain;   // parameters, then results
  std::vector<Memory> packed;  // empty where the kernel takes the plain one
  std::vector<void*> arguments;
  Memory workspace;

  explicit Data(const Inputs& inputs) : workspace(S::Info::workspace_bytes, 1, inputs.place) {
    Random random(inputs.seed);
    const std::int64_t rare =
        4 * all_terms(static_cast<const typename S::Stages*>(nullptr));  // some stay as they are
    for (int b = 0; b < S::kParams + static_cast<int>(std::size(S::kResults)); ++b) {
      const Buffer& s = S::buffers()[b];
      const std::size_t size = size_of(s.type), bytes = size * static_cast<std::size_t>(s.elements);
      plain.emplace_back(bytes, size, inputs.place);
      packed.emplace_back(s.packed_bytes, size, inputs.place);
      // What the kernel forgets to write must not look right.
      std::memset(plain.back().data(), 0xFF, bytes);
      if (b < S::kParams)
        fill(s.type, plain.back().data(), s.elements, random, inputs.values, rare);
      if (s.pack != nullptr) s.pack(plain.back().data(), packed.back().data());
      arguments.push_back(s.pack != nullptr ? packed.back().data() : plain.back().data());
    }
  }
  template <class... Hook>
  void run(Hook... hook) {
    S::call(arguments.data(), static_cast<void*>(workspace.data()), hook...);
  }
};

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_INPUTS_H_
