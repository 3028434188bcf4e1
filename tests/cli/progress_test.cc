#include "cli/progress.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace morello {
namespace {

// What `use` makes Progress print when stderr is `fd`.
template <class Use>
void with_stderr(int fd, Use use) {
  const int before = ::dup(STDERR_FILENO);
  ::dup2(fd, STDERR_FILENO);
  use();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
}

std::string read_some(int fd) {
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  std::array<char, 4096> buffer{};
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : "";
}

struct Terminal {
  int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  int slave = -1;
  Terminal() {
    if (master < 0) {  // no /dev/pts, as in a bare chroot
      MESSAGE("skipped: this system has no pseudo terminals");
      return;
    }
    REQUIRE(::grantpt(master) == 0);
    REQUIRE(::unlockpt(master) == 0);
    slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
    REQUIRE(slave >= 0);
  }
  ~Terminal() {
    ::close(slave);
    ::close(master);
  }
};

void set(SearchProgress& counters) {
  counters.done = 3;
  counters.families = 12;
  counters.specs = 8'000'000;
  counters.entries = 1'400'000;
  counters.best = Cost::cycles(1500).value();
}

void search_for(std::chrono::milliseconds time, Progress::Kind kind) {
  SearchProgress counters;
  set(counters);
  const Progress progress("ffw avx2", kind, counters);
  std::this_thread::sleep_for(time);
}

TEST_CASE("a long search shows a line on a terminal and takes it away") {
  const Terminal t;
  if (t.master < 0) return;
  std::string text;
  with_stderr(t.slave, [&] {
    SearchProgress counters;
    set(counters);
    const Progress progress("ffw avx2", Progress::Kind::kTerminal, counters);
    // A busy machine may wake the thread late.
    for (int i = 0; i < 600 && text.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      text = read_some(t.master);
    }
  });
  text += read_some(t.master);
  CHECK(text.starts_with("\rffw avx2: "));
  CHECK(text.find(" s, 3 of 12 families, ") != std::string::npos);
  CHECK(text.find("k specs/s, 1.4M entries, best 1.5e+03 cycles\x1b[K") != std::string::npos);
  CHECK(text.ends_with("\r\x1b[K"));
}

TEST_CASE("a short one, or one that was told so, shows nothing") {
  const Terminal t;
  if (t.master < 0) return;
  with_stderr(t.slave, [] {
    search_for(std::chrono::milliseconds(10), Progress::Kind::kTerminal);
    search_for(std::chrono::milliseconds(2300), Progress::Kind::kOff);
  });
  CHECK(read_some(t.master) == "");
}

TEST_CASE("a pipe never sees the line of a terminal") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  with_stderr(ends[1],
              [] { search_for(std::chrono::milliseconds(2300), Progress::Kind::kTerminal); });
  CHECK(read_some(ends[0]) == "");
  ::close(ends[0]);
  ::close(ends[1]);
}

#ifdef MORELLO_LONG
TEST_CASE("a log gets a line every ten seconds") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  with_stderr(ends[1], [] { search_for(std::chrono::milliseconds(13000), Progress::Kind::kLog); });
  const std::string text = read_some(ends[0]);
  CHECK(text.starts_with("morello: ffw avx2: 10 s, 3 of 12 families, "));
  CHECK(text.find('\n') == text.size() - 1);
  ::close(ends[0]);
  ::close(ends[1]);
}
#endif

}  // namespace
}  // namespace morello
