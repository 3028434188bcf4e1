// What the pages show of a terminal is what happens. In a ```console block, lines with "$ " are
// commands and the others are their output, compared byte by byte; with MORELLO_UPDATE_DOCS in the
// environment the page is rewritten instead. Each command line of a ```sh block is run here or
// belongs to a test named in the table below.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "docs/markdown.h"

namespace morello {
namespace {

constexpr const char* kPages[] = {"README.md", "generator/README.md", "generator/search/README.md",
                                  "docs/nests.md"};

struct Elsewhere {
  std::string_view command;
  std::string_view script;  // that runs it; empty: the command itself is a script
};
constexpr Elsewhere kElsewhere[] = {
    {"./demo", ""},
    {"./check", ""},
    {"build/examples/gemma_matvec/gemma_matvec", "examples/gemma_matvec/CMakeLists.txt"},
    {"cmake --build build --target bench_kernels", "bench/CMakeLists.txt"},
    {"build/bench/bench_kernels", "bench/CMakeLists.txt"},
    {"bench/peers/run", ""},
    {"bench/graphs/run", ""},
};

// One directory for all commands of a page, so that one can use what another has written.
class Shell {
 public:
  Shell() {
    char name[] = "/tmp/morello_docs_XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    directory_ = name;
    const std::string bin = std::filesystem::path(MORELLO_BINARY).parent_path().string();
    const char* path = std::getenv("PATH");
    ::setenv("PATH", (bin + ":" + (path == nullptr ? "" : path)).c_str(), 1);
  }
  ~Shell() { std::filesystem::remove_all(directory_); }

  // Both streams, in order.
  std::string run(const std::string& command, int& code) {
    const std::string line = "cd " + directory_ + " && { " + command + "\n} 2>&1 </dev/null";
    FILE* pipe = ::popen(line.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string out;
    char buffer[4096];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    const int status = ::pclose(pipe);
    code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return out;
  }

 private:
  std::string directory_;
};

// No blanks at the ends of lines, no empty lines at the end.
std::string tidied(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);
    out += c;
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

// A command may go on in the next line after a backslash.
bool goes_on(const std::string& line) { return line.ends_with("\\"); }

// The block as it should be: the commands of `fence` with what they print now.
std::string played(const Fence& fence, Shell& shell) {
  std::string out;
  std::string command;
  size_t begin = 0;
  while (begin < fence.text.size()) {
    const size_t end = fence.text.find('\n', begin);
    const std::string line = fence.text.substr(begin, end - begin);
    begin = end + 1;
    if (command.empty() && !line.starts_with("$ ")) continue;
    out += line + "\n";
    command += (command.empty() ? line.substr(2) : line) + "\n";
    if (goes_on(line)) continue;
    int code = 0;
    CAPTURE(command);
    out += tidied(shell.run(command, code));
    CHECK(code == 0);
    command.clear();
  }
  return out;
}

void rewrite(const Page& page, const std::vector<std::string>& texts) {
  std::ofstream out(source_path(page.path));
  size_t next = 0, skip = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    if (next < page.fences.size() && page.fences[next].line == static_cast<int>(i) + 1) {
      const std::string& old = page.fences[next].text;
      skip = static_cast<size_t>(std::count(old.begin(), old.end(), '\n'));
      out << texts[next++];
    }
    if (skip > 0)
      --skip;
    else
      out << page.lines[i] << "\n";
  }
}

TEST_CASE("terminals on the pages show what happens") {
  const bool update = std::getenv("MORELLO_UPDATE_DOCS") != nullptr;
  size_t sessions = 0;
  for (const char* path : kPages) {
    const Page page = read_page(path);
    Shell shell;
    std::vector<std::string> texts;
    for (const Fence& f : page.fences) {
      texts.push_back(f.text);
      if (f.kind != "console") continue;
      ++sessions;
      INFO(path, ":", f.line, "; MORELLO_UPDATE_DOCS=1 rewrites the page");
      texts.back() = played(f, shell);
      if (!update) CHECK(texts.back() == f.text);
    }
    if (update) rewrite(page, texts);
  }
  CHECK(sessions >= 5);
}

const Elsewhere* elsewhere(const std::string& line) {
  for (const Elsewhere& e : kElsewhere)
    if (line == e.command || line.starts_with(std::string(e.command) + " ")) return &e;
  return nullptr;
}

void check_script(const Elsewhere& e) {
  CAPTURE(e.command);
  const std::string path = source_path(std::string(e.script.empty() ? e.command : e.script));
  REQUIRE(std::filesystem::exists(path));
  if (e.script.empty()) {
    const auto mode = std::filesystem::status(path).permissions();
    CHECK((mode & std::filesystem::perms::owner_exec) != std::filesystem::perms::none);
  }
}

TEST_CASE("commands on the pages work") {
  for (const char* path : kPages) {
    const Page page = read_page(path);
    Shell shell;
    for (const Fence& f : page.fences) {
      if (f.kind != "sh") continue;
      std::string command;
      size_t begin = 0;
      for (size_t end; (end = f.text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const std::string line = f.text.substr(begin, end - begin);
        command += line + "\n";
        if (line.empty() || goes_on(line)) continue;
        CAPTURE(path);
        CAPTURE(command);
        if (const Elsewhere* e = elsewhere(line)) {
          check_script(*e);
        } else {
          int code = 0;
          REQUIRE_MESSAGE(command.starts_with("morello "), "nothing runs this command");
          CAPTURE(shell.run(command, code));
          CHECK(code == 0);
        }
        command.clear();
      }
    }
  }
}

}  // namespace
}  // namespace morello
