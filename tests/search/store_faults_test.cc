// What disks, limits and kill -9 can do to a store: it answers right or not at all, never crashes,
// and leaves whole tables behind.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "long.h"
#include "search/store_fixture.h"

namespace morello {
namespace {

namespace fs = std::filesystem;
constexpr int kLonger = kLong ? 20 : 1;

std::string random_text(size_t bytes, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string text(bytes + 8, '\0');
  for (size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&text[i], &word, 8);
  }
  text.resize(bytes);
  return text;
}

// Loads from `file` in the place of a table: empty and a note, or exactly the payload.
class Damage {
 public:
  Damage() : store_(d_.path()) {
    REQUIRE(save(store_, kSignature, payload_) == "");
    good_ = contents(store_.path(kSignature));
    REQUIRE(good_.size() == 40 + std::strlen(kSignature) + payload_.size());
  }
  const std::string& good() const { return good_; }

  // Whether the damage was seen.
  bool seen(const std::string& file) {
    put(store_.path(kSignature), file);
    std::string note;
    const std::string got = store_.load(kSignature, &note);
    return got.empty() && !note.empty();
  }
  // Whether the next update repairs it.
  bool repaired() {
    std::string note, old = "none";
    store_.update(
        kSignature, [&](std::string_view o) { return old = o, payload_; }, &note);
    return old.empty() && note.empty() && contents(store_.path(kSignature)) == good_;
  }
  int whole() const { return whole_tables(d_.path()); }

 private:
  static constexpr const char* kSignature = "sources 0123, machine zen5, threads 1";
  Scratch d_;
  MemoStore store_;
  std::string payload_ = random_text(kLonger == 1 ? 1 << 18 : 1 << 20, 1);
  std::string good_;
};

TEST_CASE("truncation") {
  Damage damage;
  const size_t size = damage.good().size();
  std::vector<size_t> lengths;
  for (size_t n = 0; n < 100; ++n) lengths.push_back(n);
  for (size_t n = 4096; n < size; n += 4096) lengths.push_back(n);
  lengths.push_back(size - 1);
  for (const size_t n : lengths) {
    CAPTURE(n);
    CHECK(damage.seen(damage.good().substr(0, n)));
    if (n % 32768 == 0) CHECK(damage.repaired());
  }
  CHECK(damage.seen(damage.good() + "x"));
  CHECK(damage.repaired());
  CHECK(damage.whole() == 1);
}

TEST_CASE("flipped bits") {
  Damage damage;
  std::mt19937 random(2);
  std::vector<size_t> bits;
  for (size_t b = 0; b < 8 * 100; ++b) bits.push_back(b);  // all of header and signature
  for (int i = 0; i < 1000 * kLonger; ++i) bits.push_back(random() % (8 * damage.good().size()));
  for (const size_t b : bits) {
    CAPTURE(b);
    std::string file = damage.good();
    file[b / 8] = static_cast<char>(file[b / 8] ^ 1 << b % 8);
    CHECK(damage.seen(file));
  }
  for (int i = 0; i < 200 * kLonger; ++i) {  // and a whole stretch of other bytes
    std::string file = damage.good();
    const size_t at = random() % file.size(), n = 1 + random() % 5000;
    file.replace(at, n, random_text(std::min(n, file.size() - at), random()));
    CHECK((file == damage.good() || damage.seen(file)));
  }
  CHECK(damage.repaired());
  CHECK(damage.whole() == 1);
}

// --- killed writers ------------------------------------------------------------------------------

constexpr int kWriters = 4;

// What the writers of one table keep there: how often each has updated it, and bytes that follow
// from that, so that a mixture of two states would show.
struct State {
  std::array<std::uint64_t, kWriters> counts = {};

  std::string text() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t c : counts) sum = 31 * sum + c;
    std::string text(reinterpret_cast<const char*>(counts.data()), sizeof counts);
    return text + random_text(500'000 + sum % 100'000, static_cast<unsigned>(sum));
  }
  // Whether `text` is a state, or empty.
  static bool parse(std::string_view text, State& state) {
    state = {};
    if (text.empty()) return true;
    if (text.size() < sizeof state.counts) return false;
    std::memcpy(state.counts.data(), text.data(), sizeof state.counts);
    return state.text() == text;
  }
};

using Counters = std::array<std::atomic<std::uint64_t>, kWriters>;

[[noreturn]] void write_forever(const std::string& directory, int writer, Counters& saved) {
  MemoStore store(directory, {.lock_wait = 60'000});
  for (;;) {
    std::string note;
    bool good = true;
    store.update(
        "s",
        [&](std::string_view old) {
          State state;
          good = State::parse(old, state);
          ++state.counts[static_cast<size_t>(writer)];
          return state.text();
        },
        &note);
    if (!good || !note.empty()) ::_exit(3);
    ++saved[static_cast<size_t>(writer)];
  }
}

pid_t start_writer(const std::string& directory, int writer, Counters& saved) {
  const pid_t pid = ::fork();
  if (pid == 0) write_forever(directory, writer, saved);
  return pid;
}

std::string temporary_of(const std::string& table, pid_t writer) {
  return fmt::format("{}.{}.tmp", table.substr(0, table.size() - std::strlen(".memo")), writer);
}

// Waits for a random moment and says who is to die: anybody, or every other time somebody who is
// writing then, because most of the time a writer waits or computes.
size_t victim(const std::string& table, const std::array<pid_t, kWriters>& writers,
              std::mt19937& random) {
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
  for (int tries = random() % 2 ? 20'000 : 0; tries > 0; --tries)
    for (size_t w = 0; w < kWriters; ++w)
      if (fs::exists(temporary_of(table, writers[w]))) {
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 100);
        while (std::chrono::steady_clock::now() < end) {
        }
        return w;
      }
  return random() % kWriters;
}

TEST_CASE("kill -9 among four writers") {
  const Scratch d;
  void* memory =
      ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  Counters& saved = *new (memory) Counters{};
  std::array<pid_t, kWriters> writers;
  for (int w = 0; w < kWriters; ++w)
    writers[static_cast<size_t>(w)] = start_writer(d.path(), w, saved);

  std::mt19937 random(3);
  MemoStore reader(d.path());
  std::array<std::uint64_t, kWriters> kills = {};
  int in_the_middle = 0;
  for (int i = 0; i < 60 * kLonger; ++i) {
    const size_t w = victim(reader.path("s"), writers, random);
    REQUIRE(::kill(writers[w], SIGKILL) == 0);
    REQUIRE(wait_for(writers[w]) == 128 + SIGKILL);  // it had found no fault so far
    ++kills[w];
    in_the_middle += fs::exists(temporary_of(reader.path("s"), writers[w]));
    std::string note;
    State state;
    CHECK(State::parse(reader.load("s", &note), state));
    CHECK(note == "");
    writers[w] = start_writer(d.path(), static_cast<int>(w), saved);
  }
  for (const pid_t pid : writers) {
    ::kill(pid, SIGKILL);
    wait_for(pid);
  }
  std::string note;
  State state;
  REQUIRE(State::parse(reader.load("s", &note), state));
  for (size_t w = 0; w < kWriters; ++w) {
    // Killed between the rename and its own count, a writer has saved one more than it knows.
    CHECK(state.counts[w] >= saved[w]);
    CHECK(state.counts[w] <= saved[w] + kills[w] + 1);
    CHECK(saved[w] > 0);
  }
  MESSAGE("updates ", saved[0] + saved[1] + saved[2] + saved[3],
          ", killed in the middle of one: ", in_the_middle);
  MemoStore next(d.path());
  CHECK(save(next, "t", "next") == "");
  CHECK(whole_tables(d.path()) == 2);
  ::munmap(memory, sizeof(Counters));
}

// --- disks ---------------------------------------------------------------------------------------

constexpr int kNotAllowed = 77;

// A file system of its own for this process, at `path`.
bool mount_small_disk(const std::string& path) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", path.c_str(), "tmpfs", 0, "size=256k") == 0;
}

// In a child: 0 is success, else the number of the step that failed.
template <class F>
void on_small_disk(F steps) {
  const Scratch d;
  const int result =
      in_child([&] { return mount_small_disk(d.path()) ? steps(d.path()) : kNotAllowed; });
  if (result == kNotAllowed)
    MESSAGE("left out: no right to mount a file system");
  else
    CHECK(result == 0);
}

TEST_CASE("a full disk") {
  on_small_disk([](const std::string& directory) {
    MemoStore store(directory);
    const std::string half = random_text(100'000, 4);
    if (save(store, "s", half) != "") return 1;
    for (const size_t bytes : {200'000, 160'000, 1'000'000})
      if (!save(store, "s", random_text(bytes, 5)).ends_with("not saved: No space left on device"))
        return 2;
    std::string note;
    if (store.load("s", &note) != half || !note.empty()) return 3;
    if (whole_tables(directory) != 1) return 4;
    if (save(store, "t", "small") != "") return 5;
    return whole_tables(directory) == 2 ? 0 : 6;
  });
}

TEST_CASE("a read-only disk") {
  on_small_disk([](const std::string& directory) {
    MemoStore store(directory);
    if (save(store, "s", "old") != "") return 1;
    put(store.path("damaged"), "xxx");
    if (::mount("none", directory.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=256k") != 0)
      return kNotAllowed;
    std::string note;
    if (store.load("s", &note) != "old" || !note.empty()) return 2;
    for (const char* s : {"s", "t", "damaged"})
      if (!save(store, s, "new").ends_with("not saved: no lock: Read-only file system")) return 3;
    if (store.load("damaged", &note) != "" || note.empty()) return 4;
    if (store.clear().problem.empty()) return 5;
    MemoStore below(directory + "/below");
    if (!save(below, "s", "new").ends_with("not saved: Read-only file system")) return 6;
    return listing(directory).size() == 2 ? 0 : 7;
  });
}

TEST_CASE("a limit on the size of files") {
  const Scratch d;
  const std::string old = random_text(50'000, 6);
  MemoStore store(d.path());
  REQUIRE(save(store, "s", old) == "");
  const int result = in_child([&] {
    const rlimit limit = {100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    for (const size_t bytes : {99'960, 100'000, 1'000'000})
      if (!save(store, "s", random_text(bytes, 7)).ends_with("not saved: File too large")) return 2;
    sigset_t pending;
    ::sigpending(&pending);
    return sigismember(&pending, SIGXFSZ) ? 3 : 0;
  });
  CHECK(result == 0);  // not 128 + SIGXFSZ
  std::string note;
  CHECK(store.load("s", &note) == old);
  CHECK(whole_tables(d.path()) == 1);
}

TEST_CASE("no file descriptors") {
  const Scratch d;
  MemoStore store(d.path());
  REQUIRE(save(store, "s", "old") == "");
  const int result = in_child([&] {
    const rlimit limit = {3, 3};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    std::string note;
    if (store.load("s", &note) != "" || !note.ends_with("Too many open files; it is not used"))
      return 2;
    return save(store, "s", "new").ends_with("Too many open files") ? 0 : 3;
  });
  CHECK(result == 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MORELLO_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MORELLO_SANITIZED
#endif
#endif

// Sanitizers need more address space than that, and end the program where new would throw.
#ifndef MORELLO_SANITIZED
TEST_CASE("a table that is too large for the memory") {
  const Scratch d;
  MemoStore store(d.path());
  REQUIRE(save(store, "s", "old") == "");
  // A hole of 1 TiB with lengths that add up.
  const std::string table = store.path("s");
  std::string header = contents(table).substr(0, 40);
  const std::uint64_t payload = (std::uint64_t{1} << 40) - 40 - 1;
  std::memcpy(header.data() + 24, &payload, 8);
  put(table, header);
  fs::resize_file(table, std::uint64_t{1} << 40);
  const int large = in_child([&] {
    const rlimit limit = {rlim_t{1} << 36, rlim_t{1} << 36};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 1;
    std::string note;
    if (store.load("s", &note) != "") return 2;
    return note.ends_with("it is too large for the memory; it is not used") ? 0 : 3;
  });
  CHECK(large == 0);
}
#endif

}  // namespace
}  // namespace morello
