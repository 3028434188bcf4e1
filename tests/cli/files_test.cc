#include "cli/files.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "cli/exit.h"
#include "cli/process.h"

namespace morello {
namespace {

namespace fs = std::filesystem;

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string failure(OutputFiles& files) {
  try {
    files.write();
  } catch (const Failure& f) {
    return f.text;
  }
  return "";
}

// An old time, so that a write shows.
fs::file_time_type age(const std::string& path) {
  const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(path, time);
  return fs::last_write_time(path);
}

TEST_CASE("files are written with their directories, and only when they change") {
  const TemporaryDirectory d;
  const std::string same = d.path() + "/same", other = d.path() + "/other",
                    stamp = d.path() + "/stamp", deep = d.path() + "/a/b/deep";
  put(same, "text");
  put(other, "text");
  put(stamp, "");
  const auto same_time = age(same), other_time = age(other), stamp_time = age(stamp);
  OutputFiles files;
  files.add("--a", same, "text");
  files.add("--b", other, "texts");
  files.add("--c", deep, "deep");
  files.add("--d", stamp, "", true);
  files.write();
  CHECK(fs::last_write_time(same) == same_time);
  CHECK(fs::last_write_time(other) != other_time);
  CHECK(fs::last_write_time(stamp) != stamp_time);
  CHECK(contents(other) == "texts");
  CHECK(contents(deep) == "deep");
  CHECK(listing(d.path()) == std::vector<std::string>{"a", "other", "same", "stamp"});
}

TEST_CASE("one failure leaves all files as they were") {
  const TemporaryDirectory d;
  put(d.path() + "/old", "old");
  put(d.path() + "/file", "");
  for (const std::string bad : {"/dev/full", "/file/below", ""}) {
    const std::string path = bad[0] == '/' && bad[1] == 'd' ? bad : d.path() + bad;
    OutputFiles files;
    files.add("--a", d.path() + "/new", "new");
    files.add("--b", d.path() + "/old", "changed");
    files.add("--c", path, "text");
    CHECK(failure(files).starts_with("morello: error: cannot "));
    CHECK(contents(d.path() + "/old") == "old");
    CHECK(listing(d.path()) == std::vector<std::string>{"file", "old"});
  }
}

TEST_CASE("symbolic links stay, and so do devices") {
  const TemporaryDirectory d;
  put(d.path() + "/real", "old");
  fs::create_symlink("real", d.path() + "/link");
  OutputFiles files;
  files.add("--a", d.path() + "/link", "new");
  files.add("--b", "/dev/null", "gone");
  files.write();
  CHECK(fs::is_symlink(d.path() + "/link"));
  CHECK(contents(d.path() + "/real") == "new");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("two outputs in one file are refused") {
  const TemporaryDirectory d;
  put(d.path() + "/real", "");
  fs::create_symlink("real", d.path() + "/link");
  OutputFiles files;
  files.add("--a", d.path() + "/real", "a");
  CHECK_THROWS_AS(files.add("--b", d.path() + "/link", "b"), Failure);
}

TEST_CASE("the temporary directory disappears with its contents") {
  std::string path;
  {
    const TemporaryDirectory d;
    path = d.path();
    fs::create_directories(path + "/a/b");
    put(path + "/a/b/c", "text");
  }
  CHECK_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace morello
