// File descriptors: closed when they go out of scope, read and written in full.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace morello {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // Some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// Whether all was written; errno says why not.
bool write_all(int fd, std::string_view text);

// How many of `bytes` could be read: fewer at the end of the file. -1: errno says why.
std::ptrdiff_t read_up_to(int fd, char* out, std::size_t bytes);

}  // namespace morello
