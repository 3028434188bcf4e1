#include "cli/child.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/exit.h"

extern char** environ;

namespace morello {
namespace {

volatile std::sig_atomic_t caught = 0;
volatile pid_t child = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void on_signal(int signal) {
  caught = signal;
  if (child > 0) ::kill(child, signal);
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int s : kSignals) ::sigaction(s, &action, nullptr);
}

void check_caught() {
  if (caught != 0) throw Failure{static_cast<ExitCode>(128 + caught), "", false};
}

// Signals wait while the child is born: none may come between fork and the note of its id.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int s : kSignals) sigaddset(&signals, s);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

// Starts the program with its standard output in a pipe; returns the reading end, or sets error.
int start(const std::vector<std::string>& words, int& error) {
  int ends[2];
  if (::pipe(ends) != 0) return error = errno, -1;
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  {
    const SignalsHeld held;
    posix_spawnattr_setsigmask(&attributes, &held.before());
    pid_t pid = 0;
    error = ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
    child = error == 0 ? pid : 0;
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error == 0) return ends[0];
  ::close(ends[0]);
  return -1;
}

std::string read_and_close(int fd) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0)
      out.append(buffer, static_cast<size_t>(n));
    else if (n == 0 || errno != EINTR)
      break;
  }
  ::close(fd);
  return out;
}

}  // namespace

Interruptible::Interruptible() {
  caught = 0;
  set_handlers(on_signal);
}

Interruptible::~Interruptible() { set_handlers(SIG_DFL); }

std::string run(const std::vector<std::string>& words) {
  check_caught();
  int error = 0;
  const int fd = start(words, error);
  if (fd < 0) fail(kInternal, fmt::format("cannot run {}: {}", words[0], std::strerror(error)));
  std::string out = read_and_close(fd);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  check_caught();
  if (WIFSIGNALED(status))
    fail(kInternal, fmt::format("{} ended by signal {}", words[0], WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    fail(kInternal, fmt::format("{} failed with exit code {}", words[0], WEXITSTATUS(status)));
  return out;
}

}  // namespace morello
