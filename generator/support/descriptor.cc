#include "support/descriptor.h"

#include <cerrno>

namespace morello {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return false;
  }
  return true;
}

std::ptrdiff_t read_up_to(int fd, char* out, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::read(fd, out + done, bytes - done);
    if (n == 0) break;
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (errno != EINTR)
      return -1;
  }
  return static_cast<std::ptrdiff_t>(done);
}

}  // namespace morello
