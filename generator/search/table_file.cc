#include "search/table_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "search/xxh64.h"
#include "support/descriptor.h"

namespace morello {
namespace {

constexpr std::array<char, 8> kMagic = {'m', 'o', 'r', 'e', 'l', 'l', 'o', 'T'};
constexpr std::uint64_t kVersion = 1;
constexpr std::time_t kRenewAfter = 3600;

// In the byte order of the machine: one of the other order reads a version that nobody knows.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint64_t version = kVersion;
  std::uint64_t signature_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t checksum = 0;  // of the fields above, then the signature, then the payload
};
static_assert(sizeof(Header) == 40);

std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::uint64_t checksum(const Header& header, std::string_view signature, std::string_view payload) {
  const std::string_view fields = bytes_of(header).substr(0, offsetof(Header, checksum));
  return xxh64(payload, xxh64(signature, xxh64(fields)));
}

Header header_of(std::string_view signature, std::string_view payload) {
  Header header;
  header.signature_bytes = signature.size();
  header.payload_bytes = payload.size();
  header.checksum = checksum(header, signature, payload);
  return header;
}

std::string system_problem(TableFile& file) {
  file.unreadable = true;
  return std::strerror(errno);
}

std::string read_bytes(int fd, TableFile& file, char* out, std::uint64_t bytes) {
  const std::ptrdiff_t n = read_up_to(fd, out, bytes);
  if (n < 0) return system_problem(file);
  return static_cast<std::uint64_t>(n) == bytes ? "" : "it is truncated";
}

// Fills in all but the payload.
std::string read_head(int fd, TableFile& file, Header& header) {
  struct stat s;
  if (::fstat(fd, &s) != 0) return system_problem(file);
  if (!S_ISREG(s.st_mode)) return "it is not a file";
  file.bytes = s.st_size;
  std::string problem = read_bytes(fd, file, reinterpret_cast<char*>(&header), sizeof header);
  if (!problem.empty()) return problem;
  if (header.magic != kMagic) return "it is not a table";
  if (header.version != kVersion) return fmt::format("it is of another version than {}", kVersion);
  // Lengths that do not add up never reach an allocation.
  const std::uint64_t rest = static_cast<std::uint64_t>(s.st_size) - sizeof header;
  if (header.signature_bytes > rest || header.payload_bytes != rest - header.signature_bytes)
    return "it is truncated or damaged";
  file.signature.resize(header.signature_bytes);
  return read_bytes(fd, file, file.signature.data(), header.signature_bytes);
}

void renew_time(int fd) {
  struct stat s;
  if (::fstat(fd, &s) == 0 && std::time(nullptr) - s.st_mtim.tv_sec > kRenewAfter)
    ::futimens(fd, nullptr);  // in a directory of somebody else it fails, and that is fine
}

TableFile read(const std::string& path, bool whole, bool renew) {
  TableFile file;
  // Not blocking: a pipe in the place of the table must not wait for a writer.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    file.absent = errno == ENOENT;
    if (!file.absent) file.problem = system_problem(file);
    return file;
  }
  try {
    Header header;
    file.problem = read_head(fd.get(), file, header);
    if (!whole || !file.problem.empty()) return file;
    file.payload.resize(header.payload_bytes);
    file.problem = read_bytes(fd.get(), file, file.payload.data(), header.payload_bytes);
    if (file.problem.empty() && checksum(header, file.signature, file.payload) != header.checksum)
      file.problem = "it is damaged";
  } catch (const std::bad_alloc&) {
    file.unreadable = true;
    file.problem = "it is too large for the memory";
  }
  if (renew && file.problem.empty()) renew_time(fd.get());
  return file;
}

// A file that grows beyond the limit of the process must be an error of write(), not the end of
// the program. The signal is sent to this thread, and taken away here.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const int error = errno;
    const timespec now = {0, 0};
    if (!sigismember(&before_, SIGXFSZ)) sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t signal_, before_;
};

bool write_parts(int fd, std::string_view signature, std::string_view payload) {
  const NoSizeSignal none;
  const Header header = header_of(signature, payload);
  return write_all(fd, bytes_of(header)) && write_all(fd, signature) && write_all(fd, payload);
}

}  // namespace

TableFile read_table(const std::string& path, bool renew) { return read(path, true, renew); }

TableFile read_table_head(const std::string& path) { return read(path, false, false); }

std::string write_table(const std::string& path, std::string_view signature,
                        std::string_view payload) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) return std::strerror(errno);
  if (write_parts(fd.get(), signature, payload) && fd.close()) return "";
  const std::string problem = std::strerror(errno);
  ::unlink(path.c_str());
  return problem;
}

i64 table_bytes(std::string_view signature, std::string_view payload) {
  return static_cast<i64>(sizeof(Header) + signature.size() + payload.size());
}

}  // namespace morello
