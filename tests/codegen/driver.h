// Included by the drivers that compile_and_run() writes: buffers between inaccessible pages, a pool
// of plain threads, and files of raw values.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// `bytes` bytes that begin right after, or end right before, a page that cannot be touched; what is
// left of the other page is filled and looked at again.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool at_end) : bytes_(bytes) {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (bytes + page - 1) / page * page + (bytes == 0 ? page : 0);
    total_ = inner_ + 2 * page;
    void* all = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    all_ = static_cast<unsigned char*>(all);
    first_ = all_ + page;
    mprotect(all_, page, PROT_NONE);
    mprotect(first_ + inner_, page, PROT_NONE);
    std::memset(first_, 0xff, inner_);
    data_ = at_end ? first_ + inner_ - bytes : first_;
  }
  ~Guarded() { munmap(all_, total_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(static_cast<void*>(data_));
  }
  void load(const std::string& path) {
    std::FILE* f = std::fopen(path.c_str(), "rb");
    if (f == nullptr || std::fread(data_, 1, bytes_, f) != bytes_) std::abort();
    std::fclose(f);
  }
  void save(const std::string& path) const {
    std::FILE* f = std::fopen(path.c_str(), "wb");
    if (f == nullptr || std::fwrite(data_, 1, bytes_, f) != bytes_) std::abort();
    std::fclose(f);
  }
  void check(const char* what) const {
    for (unsigned char* p = first_; p != first_ + inner_; ++p) {
      if ((p < data_ || p >= data_ + bytes_) && *p != 0xff) {
        std::fprintf(stderr, "%s: wrote outside a buffer\n", what);
        std::exit(3);
      }
    }
  }

 private:
  std::size_t bytes_, inner_ = 0, total_ = 0;
  unsigned char *all_ = nullptr, *first_ = nullptr, *data_ = nullptr;
};

// Every index on a thread of its own.
inline void run_on_threads(void* context, std::size_t n, void (*body)(void*, std::size_t) noexcept,
                           void* data) noexcept {
  if (context == nullptr) std::abort();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n; ++i) threads.emplace_back(body, data, i);
  for (std::thread& t : threads) t.join();
}
