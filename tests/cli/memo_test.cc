// --memo and morello memo, with the real program: whatever lies in the directory, the same bytes.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "cli/files.h"
#include "cli/process.h"
#include "long.h"

namespace morello {
namespace {

namespace fs = std::filesystem;
constexpr int kLonger = kLong ? 10 : 1;

constexpr const char* kKernels =
    "one(a: f32[24,32], b: f32[32,48] packed): f32 = matmul(a, b)\n"
    "two(a: f32[48,32], b: f32[32,48] packed): f32 = matmul(a, b)\n"
    "sum(a: f32[48,96]): f32 = reduce_sum(a, axis=1)\n";

// What generate prints: the header, without a memo or with one.
class Generate {
 public:
  Generate() {
    std::ofstream(spec()) << kKernels;
    want_ = run({"--no-memo"});
    REQUIRE(want_.code == 0);
    REQUIRE(want_.err == "");
  }
  const std::string& header() const { return want_.out; }
  std::string memo() const { return d_.path() + "/memo"; }

  // What it says on standard error; the header and the exit code are checked.
  std::string with_memo() const {
    const Ran ran = run({"--memo", memo()});
    CHECK(ran.code == 0);
    CHECK((ran.out == want_.out));  // not printed: it is long
    return ran.err;
  }
  std::vector<std::string> arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {
        "generate", "--spec-file", spec(), "--machine",
        "zen5",     "-j",          "1"};  // so that the tables are always the same
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> tables() const {
    std::vector<std::string> paths;
    for (const std::string& name : listing(memo())) {
      CHECK(name.ends_with(".memo"));
      paths.push_back(memo() + "/" + name);
    }
    return paths;
  }

 private:
  std::string spec() const { return d_.path() + "/kernels.spec"; }
  Ran run(const std::vector<std::string>& more) const {
    return morello(arguments(more), {{"MORELLO_CACHE_DIR=" + d_.path() + "/unused"}, "", -1});
  }

  TemporaryDirectory d_;
  Ran want_;
};

void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_CASE("cold and warm searches find the same") {
  const Generate g;
  CHECK(g.with_memo() == "");
  const size_t tables = g.tables().size();
  CHECK(tables > 3);
  CHECK(g.with_memo() == "");
  CHECK(g.tables().size() == tables);
  const Ran explained = morello({"explain", "--spec", kTiny, "--machine", "zen5"});
  for (int i = 0; i < 2; ++i) {
    const Ran ran = morello({"explain", "--spec", kTiny, "--machine", "zen5", "--memo", g.memo()});
    CHECK(ran.out == explained.out);
    CHECK(ran.err == "");
  }
}

TEST_CASE("real tables, damaged") {
  const Generate g;
  REQUIRE(g.with_memo() == "");
  const std::vector<std::string> tables = g.tables();
  std::vector<std::string> good;
  for (const std::string& t : tables) good.push_back(contents(t));
  std::mt19937 random(11);
  const auto damage_all = [&](auto change) {
    for (size_t i = 0; i < tables.size(); ++i) put(tables[i], change(good[i]));
    const std::string said = g.with_memo();
    CHECK(said.find("it is not used") != std::string::npos);
    CHECK(lines(said) <= 5);  // one for each reason, not for each table
    CHECK(g.with_memo() == "");
    CHECK(g.tables().size() == tables.size());
  };
  damage_all([](const std::string&) { return ""; });
  for (int i = 0; i < 6 * kLonger; ++i) {
    damage_all([&](const std::string& t) { return t.substr(0, random() % t.size()); });
    damage_all([&](std::string t) {
      char& c = t[random() % t.size()];
      c = static_cast<char>(c ^ 1 << random() % 8);
      return t;
    });
    damage_all([&](std::string t) {
      t[random() % 40] ^= 1;  // somewhere in its header
      return t;
    });
  }
  // Every table under the name of another one.
  for (size_t i = 0; i < tables.size(); ++i) put(tables[i], good[(i + 1) % tables.size()]);
  CHECK(g.with_memo().find("it is of something else; it is not used") != std::string::npos);
  CHECK(g.with_memo() == "");
}

TEST_CASE("places where nothing can be kept") {
  const Generate g;
  put(g.memo(), "a file");
  CHECK(g.with_memo().find("not saved: Not a directory\n") != std::string::npos);
  CHECK(contents(g.memo()) == "a file");
  fs::remove(g.memo());
  CHECK(g.with_memo() == "");
  for (const std::string& t : g.tables()) {
    fs::remove(t);
    fs::create_directory(t);
  }
  const std::string said = g.with_memo();
  CHECK(said.find("it is not a file; it is not used\n") != std::string::npos);
  CHECK(said.find("not saved: Is a directory\n") != std::string::npos);
  CHECK(lines(said) == 2);
  g.tables();
}

// A limit on the size of files stands for a full disk: the header goes to standard output.
TEST_CASE("tables that do not fit") {
  const Generate g;
  const Ran ran = shell(fmt::format("(ulimit -f 1; {} {} || echo FAILED) | cat", MORELLO_BINARY,
                                    fmt::join(g.arguments({"--memo", g.memo()}), " ")));
  CHECK((ran.out == g.header()));
  CHECK(ran.err.find("not saved: File too large\n") != std::string::npos);
  g.tables();
  CHECK(g.with_memo() == "");
}

// A disk of 16 KiB, a few tables, in a name space of its own; then the same disk with what fitted,
// read-only.
TEST_CASE("a full and a read-only disk") {
  const Generate g;
  fs::create_directory(g.memo());
  const std::string mount = fmt::format("mount -t tmpfs -o size=16k none {}", g.memo());
  if (shell(fmt::format("unshare -m sh -c '{}'", mount)).code != 0) {
    MESSAGE("left out: no right to mount a file system");
    return;
  }
  std::string words;
  for (const std::string& w : g.arguments({"--memo", g.memo()})) words += " " + w;
  const Ran ran = shell(
      fmt::format("unshare -m sh -e -c '{0}; {1}{2}; mount -o remount,ro {3}; {1}{2}; ls {3} >&2'",
                  mount, MORELLO_BINARY, words, g.memo()));
  CHECK(ran.code == 0);
  CHECK((ran.out == g.header() + g.header()));
  CAPTURE(ran.err);
  CHECK(ran.err.find("not saved: No space left on device\n") != std::string::npos);
  CHECK(ran.err.find("not saved: no lock: Read-only file system\n") != std::string::npos);
  CHECK(ran.err.find(".memo\n") != std::string::npos);
  CHECK(ran.err.find(".tmp\n") == std::string::npos);
  CHECK(ran.err.find(".lock\n") == std::string::npos);
}

TEST_CASE("kill -9 at random moments, four at a time") {
  const Generate g;
  std::mt19937 random(12);
  std::vector<pid_t> running(4, 0);
  for (int i = 0; i < 40 * kLonger; ++i) {
    pid_t& pid = running[random() % running.size()];
    if (pid != 0) {
      ::kill(pid, SIGKILL);
      wait_for(pid);
    }
    pid = start_morello(g.arguments({"--memo", g.memo()}));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40));
    if (i % 10 == 9) CHECK(g.with_memo() == "");
  }
  for (const pid_t pid : running)
    if (pid != 0) wait_for(pid);
  CHECK(g.with_memo() == "");
  std::string last = g.memo();
  CHECK(
      morello({"generate", "--spec", kTiny, "--name", "last", "--machine", "zen4", "--memo", last})
          .err == "");
  g.tables();
}

TEST_CASE("memo stats and clear") {
  const Generate g;
  const Setting setting{{"MORELLO_CACHE_DIR=" + g.memo()}, "", -1};
  const Ran none = morello({"memo", "stats"}, setting);
  CHECK(none.out.ends_with(" 0 tables\n"));
  REQUIRE(g.with_memo() == "");
  const size_t tables = g.tables().size();
  const Ran some = morello({"memo", "stats"}, setting);
  CHECK(some.code == 0);
  CHECK(some.err == "");
  CHECK(lines(some.out) == tables + 2);
  CHECK(some.out.ends_with(fmt::format(" {} tables\n", tables)));
  CHECK(some.out.find(" zen5 avx2 fma_f32x8 ") != std::string::npos);
  CHECK(some.out.find(" zen5 scalar ") != std::string::npos);
  put(g.tables()[0], "x");
  const Ran json = morello({"memo", "stats", "--json"}, setting);
  CHECK(json.out.find("\"problem\": \"it is truncated\"") != std::string::npos);
  CHECK(json.out.find("\"usable\": true,\n      \"problem\": \"\",\n      \"specs\": ") !=
        std::string::npos);
  const Ran cleared = morello({"memo", "clear"}, setting);
  CHECK(cleared.out.starts_with(fmt::format("{} tables removed, ", tables)));
  CHECK(g.tables().empty());
}

TEST_CASE("which directory, and how large") {
  const TemporaryDirectory d;
  const Setting unset{{"MORELLO_CACHE_DIR="}, d.path(), -1};
  for (const char* command : {"stats", "clear"})
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--memo", ""}}) {
      std::vector<std::string> words = {"memo", command};
      words.insert(words.end(), more.begin(), more.end());
      const Ran ran = morello(words, unset);
      CHECK(ran.code == 2);
      CHECK(
          ran.err ==
          fmt::format("morello: error: which directory? Give --memo DIR or set MORELLO_CACHE_DIR\n"
                      "Try `morello memo {} --help`.\n",
                      command));
    }
  // The option, then the variable, then none.
  struct Row {
    std::vector<std::string> environment, options;
    std::vector<std::string> made;
  };
  const Row rows[] = {
      {{"MORELLO_CACHE_DIR="}, {}, {}},
      {{"MORELLO_CACHE_DIR=v"}, {}, {"v"}},
      {{"MORELLO_CACHE_DIR=v"}, {"--memo", "o"}, {"o"}},
      {{"MORELLO_CACHE_DIR=v"}, {"--memo", ""}, {}},
      {{"MORELLO_CACHE_DIR=v"}, {"--no-memo"}, {}},
      {{"MORELLO_CACHE_DIR=v"}, {"--max-specs", "1000000"}, {}},
      {{"MORELLO_CACHE_DIR=v", "MORELLO_CACHE_BUDGET=1"}, {}, {"v"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.environment[0]);
    CAPTURE(fmt::format("{}", fmt::join(row.options, " ")));
    std::vector<std::string> words = {"explain", "--spec", kTiny, "--machine", "zen5"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    CHECK(morello(words, {row.environment, d.path(), -1}).err == "");
    CHECK(listing(d.path()) == row.made);
    for (const std::string& name : row.made) fs::remove_all(d.path() + "/" + name);
  }
  for (const char* budget : {"0", "x", "1x", "1073741825", "-1"}) {
    const Ran ran = morello({"explain", "--spec", kTiny, "--memo", "o"},
                            {{fmt::format("MORELLO_CACHE_BUDGET={}", budget)}, d.path(), -1});
    CHECK(ran.code == 2);
    CHECK(ran.err.starts_with(fmt::format(
        "morello: error: MORELLO_CACHE_BUDGET: `{}` is not a number of MiB\n", budget)));
  }
}

}  // namespace
}  // namespace morello
