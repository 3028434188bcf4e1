#include "cli/process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/files.h"

namespace morello {
namespace {

[[noreturn]] void become(const std::vector<std::string>& words, const Setting& setting) {
  for (const std::string& e : setting.environment) ::putenv(const_cast<char*>(e.c_str()));
  if (!setting.directory.empty() && ::chdir(setting.directory.c_str()) != 0) ::_exit(126);
  if (setting.umask >= 0) ::umask(static_cast<mode_t>(setting.umask));
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

pid_t start(const std::vector<std::string>& words, const Setting& setting, const std::string& out,
            const std::string& err) {
  // The test program's own signal handlers must not run in the child.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0)
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) ::signal(s, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid != 0) return pid;
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
  become(words, setting);
}

Ran run_words(const std::vector<std::string>& words, const Setting& setting) {
  const TemporaryDirectory directory;
  const std::string out = directory.path() + "/out", err = directory.path() + "/err";
  const int code = wait_for(start(words, setting, out, err));
  return {code, contents(out), contents(err)};
}

std::vector<std::string> with_program(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), MORELLO_BINARY);
  return arguments;
}

}  // namespace

Ran morello(const std::vector<std::string>& arguments, const Setting& setting) {
  return run_words(with_program(arguments), setting);
}

Ran shell(const std::string& script, const Setting& setting) {
  return run_words({"/bin/sh", "-e", "-c", script}, setting);
}

pid_t start_morello(const std::vector<std::string>& arguments, const Setting& setting) {
  return start(with_program(arguments), setting, "/dev/null", "/dev/null");
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> listing(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace morello
