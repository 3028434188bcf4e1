// AlignedBuffer<T>: a fixed number of elements, 64-byte aligned, value-initialised, movable.
//
// Generated kernels accept any address; a buffer that begins at a cache line spares them loads
// that straddle two lines. The number of bytes is rounded up to whole lines, so that a buffer
// never shares its last line with its neighbour either.
#ifndef MORELLO_ALIGNED_H_
#define MORELLO_ALIGNED_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace morello {

constexpr std::size_t kCacheLine = 64;

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "elements are plain data");
  static_assert(alignof(T) <= kCacheLine, "elements are aligned to a line at most");

 public:
  AlignedBuffer() noexcept = default;
  explicit AlignedBuffer(std::size_t size) : data_(allocate(size)), size_(size) {
    std::uninitialized_value_construct_n(data_, size);
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer() { ::operator delete (data_, std::align_val_t{kCacheLine}); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

 private:
  struct alignas(kCacheLine) Line {
    unsigned char bytes[kCacheLine];
  };
  using Lines = std::allocator<Line>;  // aligns, and refuses what overflows

  static std::size_t lines(std::size_t size) noexcept {
    const std::size_t greatest = static_cast<std::size_t>(-1);
    if (size > greatest / sizeof(T)) return greatest;
    const std::size_t bytes = size * sizeof(T);
    return bytes / kCacheLine + (bytes % kCacheLine != 0 ? 1 : 0);
  }
  static T* allocate(std::size_t size) {
    if (size == 0) return nullptr;
    return reinterpret_cast<T*>(Lines().allocate(lines(size)));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace morello

#endif  // MORELLO_ALIGNED_H_
