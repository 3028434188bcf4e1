// Element types as numbers: encoding, rounding, and values worth running a kernel on.
#pragma once

#include <cstring>
#include <vector>

#include "run/subject.h"

namespace morello::run {

using Bytes = std::vector<unsigned char>;
using Values = std::vector<double>;

int bytes_of(Type t);
bool is_float(Type t);

// The nearest value of a float type (ties to even, overflow to infinity), by arithmetic.
double round_to(Type t, double value);
// The value of the element at p.
double decode(Type t, const unsigned char* p);
// Stores a value that the type has.
void encode(Type t, double value, unsigned char* p);

// Numbers of our own, the same everywhere.
class Numbers {
 public:
  // Not a multiple of next()'s own step, or seeds that follow one another would give the same
  // numbers, one further.
  explicit Numbers(std::uint64_t seed) : state_(seed * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  i64 below(i64 n) { return static_cast<i64>(next() % static_cast<std::uint64_t>(n)); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  std::uint64_t state_;
};

enum class Kind {
  kPlain,  // signed, of similar size; integers over the whole range of small types
  kHard,   // floats: denormals and zeros, now and then NaN, infinity, the largest; integers:
           // extremes
  kLarge,  // floats: as plain ones, but so large that a rounding is no small number; integers:
           // plain
};

// `count` elements, one after the other. About one hard float in `rare` is not finite or huge: they
// spoil every sum they are part of, and some outputs should stay as they are.
Bytes make_values(Type t, i64 count, Kind kind, i64 rare, Numbers& numbers);

// Where the element with these indices lies; the buffer's number of elements.
i64 offset(const Tensor& t, const i64* index);
i64 buffer_elements(const Tensor& t);
bool is_strided(const Tensor& t);
i64 elements(const Tensor& t);

// Row-major elements scattered into the tensor's own order, and back as values. What is no element,
// between rows that lie apart and in the blocks at the end, is kUntouched.
Bytes placed(const Tensor& t, const Bytes& row_major);
Values read(const Tensor& t, const unsigned char* data);
// Whether what is no element is as it was.
bool gaps_kept(const Tensor& t, const unsigned char* data);

constexpr unsigned char kUntouched = 0xff;  // NaN in every float type

}  // namespace morello::run
