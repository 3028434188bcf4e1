#include "search/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <tuple>

#include "search/table_file.h"
#include "search/xxh64.h"
#include "support/descriptor.h"

namespace morello {
namespace fs = std::filesystem;
namespace {

constexpr i64 kTrimShare = 16;  // a trim after every such part of the budget

std::string text_of(const char* what, int error) {
  return fmt::format("{}: {}", what, std::strerror(error));
}

// The right to write one table, given back at the end of its life.
class WriteLock {
 public:
  WriteLock(std::string path, int wait_ms) : path_(std::move(path)) {
    using namespace std::chrono;
    const steady_clock::time_point end = steady_clock::now() + milliseconds(wait_ms);
    for (microseconds pause(100);; pause = std::min(2 * pause, microseconds(20'000))) {
      if (attempt()) return;
      if (steady_clock::now() >= end) break;
      std::this_thread::sleep_for(pause);
    }
    timed_out_ = true;
    problem_ = "another process is writing it";
  }
  ~WriteLock() {
    if (!held()) return;
    ::unlink(path_.c_str());  // while it is held: nobody else can take this file for the lock now
    ::close(fd_);
  }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  bool held() const { return fd_ >= 0; }
  bool timed_out() const { return timed_out_; }
  const std::string& problem() const { return problem_; }

 private:
  // Whether that is the end of it: held, or a problem that waiting does not solve.
  bool attempt() {
    const int fd =
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (fd < 0) {
      problem_ = text_of("no lock", errno);
      return true;
    }
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(fd);
      if (error == EWOULDBLOCK || error == EINTR) return false;
      problem_ = text_of("no lock", error);
      return true;
    }
    // Its last holder may have removed it between our open() and our flock().
    struct stat ours, there;
    if (::fstat(fd, &ours) == 0 && ::stat(path_.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev) {
      fd_ = fd;
      return true;
    }
    ::close(fd);
    return false;
  }

  std::string path_;
  int fd_ = -1;
  bool timed_out_ = false;
  std::string problem_;
};

// What lies in the directory under one name.
struct Files {
  bool table = false;
  std::vector<std::string> left;  // temporary files and locks
};

// By stem: DIRECTORY/HASH. Names that we would not give are not ours.
std::map<std::string, Files> scan(const std::string& directory) {
  std::map<std::string, Files> found;
  std::error_code error;
  for (fs::directory_iterator i(directory, error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().filename().string();
    const size_t dot = name.find_first_not_of("0123456789abcdef");
    if (dot != 16) continue;
    const std::string tail = name.substr(dot), stem = directory + "/" + name.substr(0, dot);
    const bool temporary = tail.size() > 5 && tail.ends_with(".tmp") &&
                           tail.find_first_not_of("0123456789", 1) == tail.size() - 4;
    if (tail == ".memo")
      found[stem].table = true;
    else if (tail == ".lock" || temporary)
      found[stem].left.push_back(i->path().string());
  }
  return found;
}

// Nobody else writes this table now.
void remove_leftovers(const Files& files) {
  for (const std::string& path : files.left)
    if (!path.ends_with(".lock")) ::unlink(path.c_str());
}

}  // namespace

MemoStore::MemoStore(std::string directory, StoreOptions options)
    : directory_(std::move(directory)), options_(options), written_(options.budget) {}

static std::string stem_of(const std::string& directory, const std::string& signature) {
  return fmt::format("{}/{:016x}", directory, xxh64(signature));
}

std::string MemoStore::path(const std::string& signature) const {
  return stem_of(directory_, signature) + ".memo";
}

std::string MemoStore::load(const std::string& signature, std::string* note) {
  const std::string path = this->path(signature);
  TableFile file = read_table(path, true);
  if (file.absent) return "";
  if (file.problem.empty() && file.signature != signature) file.problem = "it is of something else";
  if (file.problem.empty()) return std::move(file.payload);
  *note = fmt::format("memo table {}: {}; it is not used", path, file.problem);
  return "";
}

void MemoStore::update(const std::string& signature,
                       const std::function<std::string(std::string_view)>& merge,
                       std::string* note) {
  const std::string stem = stem_of(directory_, signature);
  const std::string problem = save(stem, signature, merge);
  if (!problem.empty()) *note = fmt::format("memo table {}.memo: not saved: {}", stem, problem);
  i64 written = written_.load();
  if (written > options_.budget / kTrimShare && written_.compare_exchange_strong(written, 0))
    trim(stem);
}

// The problem, or empty.
std::string MemoStore::save(const std::string& stem, const std::string& signature,
                            const std::function<std::string(std::string_view)>& merge) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) return error.message();
  const WriteLock lock(stem + ".lock", patient_ ? options_.lock_wait : 0);
  if (lock.timed_out()) patient_ = false;
  if (!lock.held()) return lock.problem();

  const std::string table = stem + ".memo";
  TableFile old = read_table(table, true);
  if (old.unreadable) return old.problem;  // what it has must not be lost
  if (!old.problem.empty() || old.signature != signature) old.payload.clear();
  const std::string payload = merge(old.payload);
  if (payload.empty() || payload == old.payload) return "";
  const i64 bytes = table_bytes(signature, payload);
  if (bytes > options_.budget)
    return fmt::format("{} bytes are more than the budget of the directory", bytes);

  const std::string temporary = fmt::format("{}.{}.tmp", stem, ::getpid());
  ::unlink(temporary.c_str());  // of a killed process with our id
  if (std::string problem = write_table(temporary, signature, payload); !problem.empty())
    return problem;
  if (std::rename(temporary.c_str(), table.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return std::strerror(reason);
  }
  written_ += bytes;
  return "";
}

// What killed writers left, then tables until the budget holds; never the table of `keep`.
void MemoStore::trim(const std::string& keep) {
  struct Old {
    fs::file_time_type time;
    std::string stem;
    i64 bytes;
  };
  std::vector<Old> tables;
  i64 total = 0;
  for (const auto& [stem, files] : scan(directory_)) {
    if (!files.left.empty())
      if (const WriteLock lock(stem + ".lock", 0); lock.held()) remove_leftovers(files);
    std::error_code error;
    if (!files.table || !fs::is_regular_file(stem + ".memo", error)) continue;
    const auto bytes = static_cast<i64>(fs::file_size(stem + ".memo", error));
    const fs::file_time_type time = fs::last_write_time(stem + ".memo", error);
    if (error) continue;  // just removed by somebody else
    total += bytes;
    if (stem != keep) tables.push_back({time, stem, bytes});
  }
  std::sort(tables.begin(), tables.end(), [](const Old& a, const Old& b) {
    return std::tie(a.time, a.stem) < std::tie(b.time, b.stem);
  });
  for (const Old& t : tables) {
    if (total <= options_.budget) return;
    const WriteLock lock(t.stem + ".lock", 0);
    if (lock.held() && ::unlink((t.stem + ".memo").c_str()) == 0) total -= t.bytes;
  }
}

std::vector<MemoStore::Table> MemoStore::list() const {
  std::vector<Table> tables;
  for (const auto& [stem, files] : scan(directory_)) {
    if (!files.table) continue;
    TableFile file = read_table_head(stem + ".memo");
    if (!file.absent)
      tables.push_back(
          {stem + ".memo", std::move(file.signature), file.bytes, std::move(file.problem)});
  }
  return tables;
}

MemoStore::Cleared MemoStore::clear() {
  Cleared cleared;
  const auto failed = [&](const std::string& path, const std::string& why) {
    if (cleared.problem.empty()) cleared.problem = fmt::format("{}: {}", path, why);
  };
  for (const auto& [stem, files] : scan(directory_)) {
    const std::string table = stem + ".memo";
    const WriteLock lock(stem + ".lock", 0);
    if (!lock.held()) {
      failed(table, lock.problem());
      continue;
    }
    remove_leftovers(files);
    if (!files.table) continue;
    std::error_code error;
    const auto bytes = static_cast<i64>(fs::file_size(table, error));
    if (::unlink(table.c_str()) != 0) {
      failed(table, std::strerror(errno));
      continue;
    }
    ++cleared.tables;
    cleared.bytes += error ? 0 : bytes;
  }
  return cleared;
}

}  // namespace morello
