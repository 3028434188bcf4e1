#include "search/xxh64.h"

#include <array>
#include <bit>
#include <cstring>

namespace morello {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                        kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                        kPrime5 = 0x27D4EB2F165667C5;

// In the byte order of the machine; the published values are those of little-endian ones.
template <class T>
T take(const char*& p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  p += sizeof value;
  return value;
}

std::uint64_t round(std::uint64_t sum, std::uint64_t word) {
  return std::rotl(sum + word * kPrime2, 31) * kPrime1;
}

// Four independent sums, so that their multiplications overlap.
std::uint64_t sum_of_stripes(const char*& p, const char* end, std::uint64_t seed) {
  std::array<std::uint64_t, 4> sums = {seed + kPrime1 + kPrime2, seed + kPrime2, seed,
                                       seed - kPrime1};
  while (end - p >= 32)
    for (std::uint64_t& s : sums) s = round(s, take<std::uint64_t>(p));
  std::uint64_t h = std::rotl(sums[0], 1) + std::rotl(sums[1], 7) + std::rotl(sums[2], 12) +
                    std::rotl(sums[3], 18);
  for (const std::uint64_t s : sums) h = (h ^ round(0, s)) * kPrime1 + kPrime4;
  return h;
}

}  // namespace

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  std::uint64_t h = bytes.size() >= 32 ? sum_of_stripes(p, end, seed) : seed + kPrime5;
  h += bytes.size();
  while (end - p >= 8) h = std::rotl(h ^ round(0, take<std::uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (end - p >= 4) h = std::rotl(h ^ take<std::uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
  while (p < end) h = std::rotl(h ^ take<unsigned char>(p) * kPrime5, 11) * kPrime1;
  h = (h ^ h >> 33) * kPrime2;
  h = (h ^ h >> 29) * kPrime3;
  return h ^ h >> 32;
}

}  // namespace morello
