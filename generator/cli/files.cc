#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/exit.h"
#include "support/descriptor.h"

namespace morello {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void io_error(const std::string& what, const std::string& path, int error) {
  fail(kInternal, fmt::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

// Whether all could be read; errno says why not.
bool read_all(int fd, std::string& out) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) return true;
    if (n > 0)
      out.append(buffer, static_cast<size_t>(n));
    else if (errno != EINTR)
      return false;
  }
}

bool has_content(const std::string& path, const std::string& text) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string old;
  return fd.get() >= 0 && read_all(fd.get(), old) && old == text;
}

// Devices and pipes are written to, never replaced.
bool is_special(const std::string& path) {
  struct stat s;
  return ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

void write_special(const std::string& path, const std::string& text) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0 || !write_all(fd.get(), text) || !fd.close()) io_error("write", path, errno);
}

// Behind a symbolic link, so that the link survives.
std::string real_target(const std::string& path) {
  std::error_code ignored;
  const fs::path target = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return target.empty() ? path : target.string();
}

// Signals that end a program wait until the files are complete or gone.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) sigaddset(&signals, s);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

std::string read_file(const std::string& path) {
  const bool standard = path == "-";
  const Descriptor fd(standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (fd.get() < 0 || !read_all(fd.get(), text))
    io_error("read", standard ? "standard input" : path, errno);
  return text;
}

void print_out(const std::string& text) {
  if (!write_all(STDOUT_FILENO, text)) io_error("write", "standard output", errno);
}

void OutputFiles::add(const std::string& option, const std::string& path, std::string text,
                      bool always) {
  if (path.empty()) usage_error(option + ": the name of the file is empty");
  File f{option, path, real_target(path), std::move(text), "", always};
  for (const File& other : files_)
    if (other.target == f.target && !is_special(f.target))
      usage_error(fmt::format("{} and {} name the same file: {}", other.option, option, path));
  files_.push_back(std::move(f));
}

// Everything that can fail for lack of rights or space happens here.
void OutputFiles::prepare(File& f) {
  if (is_special(f.target)) return write_special(f.target, f.text);
  if (!f.always && has_content(f.target, f.text)) return;
  if (fs::is_directory(f.target)) io_error("write", f.path, EISDIR);
  const fs::path directory = fs::path(f.target).parent_path();
  std::error_code error;
  if (!directory.empty()) fs::create_directories(directory, error);
  if (error) io_error("create the directory of", f.path, error.value());

  const std::string temporary = fmt::format("{}.{}.tmp", f.target, ::getpid());
  ::unlink(temporary.c_str());  // of a process with our id that was killed
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) io_error("write", f.path, errno);
  f.temporary = temporary;
  if (!write_all(fd.get(), f.text) || !fd.close()) io_error("write", f.path, errno);
}

void OutputFiles::write() {
  const SignalsWait wait;
  try {
    for (File& f : files_) prepare(f);
    for (File& f : files_) {
      if (f.temporary.empty()) continue;
      if (std::rename(f.temporary.c_str(), f.target.c_str()) != 0) io_error("write", f.path, errno);
      f.temporary.clear();
    }
  } catch (const Failure&) {
    for (const File& f : files_)
      if (!f.temporary.empty()) ::unlink(f.temporary.c_str());
    throw;
  }
}

TemporaryDirectory::TemporaryDirectory() {
  const char* parent = std::getenv("TMPDIR");
  path_ = fmt::format("{}/morello.XXXXXX", parent && *parent ? parent : "/tmp");
  if (::mkdtemp(path_.data()) == nullptr) io_error("create a directory in", path_, errno);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // nothing a destructor could do about it
  fs::remove_all(path_, ignored);
}

}  // namespace morello
