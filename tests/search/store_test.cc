// The store when nothing goes wrong, its notes, its budget. Faults: store_faults_test.cc.
#include "search/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "search/store_fixture.h"
#include "search/xxh64.h"

namespace morello {
namespace {

namespace fs = std::filesystem;

// What xxhsum 0.8.1 prints.
TEST_CASE("XXH64") {
  struct Row {
    std::string text;
    std::uint64_t sum;
  };
  const Row rows[] = {
      {"", 0xef46db3751d8e999},
      {"a", 0xd24ec4f1a98c6e5b},
      {"abc", 0x44bc2cf5ad770999},
      {"message digest", 0x066ed728fceeb3be},
      {"abcdefghijklmnopqrstuvwxyz", 0xcfe1f278fa89835c},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       0xe04a477f19ee145d},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(xxh64(row.text) == row.sum);
  }
  CHECK(xxh64("", 0x9e3779b1) == 0xac75fda2929b17ef);
}

TEST_CASE("what is saved is loaded, by this store and by others") {
  const Scratch d;
  const std::string directory = d.path() + "/a/b";
  MemoStore store(directory);
  std::string note;
  CHECK(store.load("one", &note) == "");
  CHECK_FALSE(fs::exists(d.path() + "/a"));
  CHECK(store.list().empty());
  const std::string odd("\0x\n", 3), large(5 << 20, 'y');
  for (const auto& [signature, payload] :
       {std::pair<std::string, std::string>{"one", "1"}, {"two", odd}, {"", large}, {odd, "4"}})
    CHECK(save(store, signature, payload) == "");
  for (int i = 0; i < 2; ++i) {
    MemoStore other(directory);
    CHECK(other.load("one", &note) == "1");
    CHECK(other.load("two", &note) == odd);
    CHECK(other.load("", &note) == large);
    CHECK(other.load(odd, &note) == "4");
    CHECK(other.load("three", &note) == "");
  }
  CHECK(note == "");
  CHECK(whole_tables(directory) == 4);
}

TEST_CASE("update merges with what is there, and writes only what is new") {
  const Scratch d;
  MemoStore store(d.path());
  std::string note, seen;
  const auto append = [&](const char* text) {
    store.update(
        "s",
        [&](std::string_view old) {
          seen = old;
          return seen + text;
        },
        &note);
  };
  append("a");
  CHECK(seen == "");
  append("b");
  CHECK(seen == "a");
  const auto file = [&] {
    struct stat s;
    REQUIRE(::stat(store.path("s").c_str(), &s) == 0);
    return s.st_ino;
  };
  const ino_t before = file();
  append("");
  CHECK(file() == before);
  CHECK(save(store, "s", "") == "");  // nothing to save is not a reason to forget
  CHECK(store.load("s", &note) == "ab");
  CHECK_THROWS_AS(store.update(
                      "s", [](std::string_view) -> std::string { throw 3; }, &note),
                  int);
  append("c");
  CHECK(store.load("s", &note) == "abc");
  CHECK(note == "");
  CHECK(whole_tables(d.path()) == 1);
}

TEST_CASE("threads lose nothing, with one store or several") {
  const Scratch d;
  MemoStore shared(d.path(), {.lock_wait = 60'000});
  std::vector<std::thread> threads;
  std::vector<std::string> notes(8);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      MemoStore own(d.path(), {.lock_wait = 60'000});
      for (int i = 0; i < 25; ++i)
        (t % 2 ? own : shared)
            .update(
                i % 2 ? "odd" : "even", [](std::string_view old) { return std::string(old) + "x"; },
                &notes[static_cast<size_t>(t)]);
    });
  for (std::thread& t : threads) t.join();
  std::string note;
  CHECK(shared.load("even", &note).size() == 8 * 13);
  CHECK(shared.load("odd", &note).size() == 8 * 12);
  for (const std::string& n : notes) CHECK(n == "");
  CHECK(whole_tables(d.path()) == 2);
}

std::string header(std::uint64_t version) {
  std::string text = "morelloT" + std::string(32, '\0');
  text[8] = static_cast<char>(version);
  return text;
}

// What lies where the table should be; what load() says; whether the next update() repairs it.
TEST_CASE("tables that cannot be used") {
  struct Row {
    std::string file, note;
  };
  const Row rows[] = {
      {"", "it is truncated"},
      {"morelloT", "it is truncated"},
      {std::string(100, 'x'), "it is not a table"},
      {header(2), "it is of another version than 1"},
      {header(1), "it is damaged"},
      {header(1) + "x", "it is truncated or damaged"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.note);
    const Scratch d;
    MemoStore store(d.path());
    const std::string path = store.path("s");
    put(path, row.file);
    std::string note;
    CHECK(store.load("s", &note) == "");
    CHECK(note == fmt::format("memo table {}: {}; it is not used", path, row.note));
    CHECK(save(store, "s", "new") == "");
    CHECK(store.load("s", &note) == "new");
    CHECK(whole_tables(d.path()) == 1);
  }
}

TEST_CASE("a table of another signature under the same name") {
  const Scratch d;
  MemoStore store(d.path());
  REQUIRE(save(store, "machine zen4", "4") == "");
  fs::copy_file(store.path("machine zen4"), store.path("machine zen5"));
  std::string note;
  CHECK(store.load("machine zen5", &note) == "");
  CHECK(note == fmt::format("memo table {}: it is of something else; it is not used",
                            store.path("machine zen5")));
  std::string seen = "none";
  store.update(
      "machine zen5", [&](std::string_view old) { return seen = old, "5"; }, &note);
  CHECK(seen == "");
  note = "";
  CHECK(store.load("machine zen5", &note) == "5");
  CHECK(store.load("machine zen4", &note) == "4");
  CHECK(note == "");
}

TEST_CASE("something else in the place of the table, the lock or the directory") {
  const Scratch d;
  MemoStore store(d.path());
  std::string note;
  const std::string table = store.path("s");
  const std::string lock = table.substr(0, table.size() - 5) + ".lock";

  fs::create_directories(table);
  CHECK(store.load("s", &note) == "");
  CHECK(note == "memo table " + table + ": it is not a file; it is not used");
  CHECK(save(store, "s", "new") == "memo table " + table + ": not saved: Is a directory");
  CHECK(listing(d.path()).size() == 1);
  fs::remove(table);

  // Opening a pipe must not wait for the other end.
  REQUIRE(::mkfifo(table.c_str(), 0600) == 0);
  CHECK(store.load("s", &note) == "");
  CHECK(save(store, "s", "new") == "");
  CHECK(whole_tables(d.path()) == 1);

  fs::create_directories(lock);
  CHECK(save(store, "s", "newer") ==
        "memo table " + table + ": not saved: no lock: Is a directory");
  fs::remove(lock);
  fs::create_symlink("/dev/null", lock);
  CHECK(save(store, "s", "newer") ==
        "memo table " + table + ": not saved: no lock: Too many levels of symbolic links");
  note = "";
  CHECK(store.load("s", &note) == "new");
  CHECK(note == "");

  put(d.path() + "/file", "");
  MemoStore below(d.path() + "/file/below"), in_place(d.path() + "/file");
  for (MemoStore* s : {&below, &in_place}) {
    CHECK(save(*s, "s", "new") ==
          fmt::format("memo table {}: not saved: Not a directory", s->path("s")));
    CHECK(s->load("s", &note) == "");
    CHECK(note == fmt::format("memo table {}: Not a directory; it is not used", s->path("s")));
    CHECK(s->list().empty());
    CHECK(s->clear().tables == 0);
  }
}

TEST_CASE("a lock that is not given back costs its wait once") {
  using Clock = std::chrono::steady_clock;
  const Scratch d;
  MemoStore store(d.path(), {.lock_wait = 200});
  for (const char* s : {"s", "t"}) REQUIRE(save(store, s, "old") == "");
  const std::string table = store.path("s");
  const std::string lock = table.substr(0, table.size() - 5) + ".lock";
  const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(::flock(fd, LOCK_EX) == 0);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 100; ++i)
    CHECK(save(store, "s", "new") ==
          "memo table " + table + ": not saved: another process is writing it");
  CHECK(Clock::now() - start >= std::chrono::milliseconds(200));
  CHECK(Clock::now() - start < std::chrono::seconds(10));
  CHECK(save(store, "t", "new") == "");
  std::string note;
  CHECK(store.load("s", &note) == "old");
  const MemoStore::Cleared cleared = store.clear();
  CHECK(cleared.tables == 1);
  CHECK(cleared.problem == table + ": another process is writing it");
  ::close(fd);
  CHECK(store.clear().tables == 1);
  CHECK(listing(d.path()).empty());
}

TEST_CASE("the budget keeps the tables that were used last") {
  const Scratch d;
  const i64 kilo = 1000;
  const std::string payload(100 * kilo, 'x');
  const auto age = [&](const std::string& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  {
    MemoStore store(d.path());
    for (const char* s : {"a", "b", "c", "d"}) REQUIRE(save(store, s, payload) == "");
    int hours = 10;
    for (const char* s : {"a", "b", "c", "d"}) age(store.path(s), --hours);
    std::string note;
    CHECK(store.load("a", &note) == payload);  // used: the youngest now
  }
  MemoStore store(d.path(), {.budget = 350 * kilo});
  CHECK(save(store, "e", payload) == "");
  std::vector<std::string> kept;
  for (const MemoStore::Table& t : store.list()) kept.push_back(t.signature);
  std::sort(kept.begin(), kept.end());
  CHECK(kept == std::vector<std::string>{"a", "d", "e"});
  // Too large at all: what is there stays.
  CHECK(save(store, "a", std::string(351 * kilo, 'x')) ==
        fmt::format(
            "memo table {}: not saved: 351041 bytes are more than the budget of the directory",
            store.path("a")));
  CHECK(store.list().size() == 3);
}

TEST_CASE("a process looks after the budget while it writes") {
  const Scratch d;
  MemoStore store(d.path(), {.budget = 1'000'000});
  for (int i = 0; i < 100; ++i)
    REQUIRE(save(store, std::to_string(i), std::string(50'000, 'x')) == "");
  i64 bytes = 0;
  for (const MemoStore::Table& t : store.list()) bytes += t.bytes;
  CHECK(bytes > 900'000);
  CHECK(bytes < 1'000'000 + 2 * 1'000'000 / 16);
}

TEST_CASE("leftovers of killed writers go, files of others stay") {
  const Scratch d;
  const std::string ours = d.path() + "/0123456789abcdef";
  const std::vector<std::string> others = {"readme", "0123456789abcdef.txt", "0123.memo",
                                           "0123456789ABCDEF.memo", "0123456789abcdef.x.tmp"};
  for (const std::string& name : others) put(d.path() + "/" + name, "");
  for (const char* tail : {".17.tmp", ".4000000.tmp", ".lock"}) put(ours + tail, "part");
  MemoStore store(d.path());
  CHECK(save(store, "s", "new") == "");
  std::vector<std::string> want = others;
  want.push_back(fs::path(store.path("s")).filename());
  std::sort(want.begin(), want.end());
  CHECK(listing(d.path()) == want);
  put(ours + ".memo", "not a table");
  put(ours + ".17.tmp", "part");
  CHECK(store.list().size() == 2);
  CHECK(store.list()[0].problem == "it is truncated");
  const MemoStore::Cleared cleared = store.clear();
  CHECK(cleared.tables == 2);
  CHECK(cleared.bytes == 11 + 40 + 1 + 3);
  CHECK(cleared.problem == "");
  want = others;
  std::sort(want.begin(), want.end());
  CHECK(listing(d.path()) == want);
}

}  // namespace
}  // namespace morello
