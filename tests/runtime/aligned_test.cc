#include "morello/aligned.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace morello {
namespace {

TEST_CASE("aligned, zeroed, writable to the end of its last line") {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{3}, std::size_t{16}, std::size_t{1000}}) {
    AlignedBuffer<float> buffer(size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % kCacheLine == 0);
    CHECK(buffer.size() == size);
    CHECK(std::size_t(buffer.end() - buffer.begin()) == size);
    float sum = 0;
    for (float& v : buffer) {
      sum += v;
      v = 1;
    }
    CHECK(sum == 0);
    CHECK(buffer[size - 1] == 1);
  }
}

TEST_CASE("empty") {
  const AlignedBuffer<int> none;
  const AlignedBuffer<int> zero(0);
  CHECK(none.empty());
  CHECK(zero.empty());
  CHECK(zero.data() == nullptr);
  CHECK(zero.begin() == zero.end());
}

TEST_CASE("moving hands the elements over") {
  AlignedBuffer<int> a(5);
  a[4] = 7;
  const int* data = a.data();
  AlignedBuffer<int> b(std::move(a));
  CHECK(b.data() == data);
  CHECK(a.empty());  // NOLINT: what a moved-from buffer is, is part of the contract
  AlignedBuffer<int> c(2);
  c = std::move(b);
  CHECK(c.data() == data);
  CHECK(c[4] == 7);
  c = AlignedBuffer<int>();
  CHECK(c.empty());
}

TEST_CASE("a size that cannot be is refused") {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  for (const std::size_t size : {kHuge, kHuge / sizeof(double), kHuge / sizeof(double) + 2}) {
    CHECK_THROWS_AS(AlignedBuffer<double>{size}, std::bad_alloc);
  }
}

}  // namespace
}  // namespace morello
