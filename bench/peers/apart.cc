#include "bench/peers/apart.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace morello::bench {
namespace {

// What one process says to the other: to take a turn, to print; that this is done.
enum Word : char { kEnded = 0, kTurn, kPrint, kDone };

void say(int socket, Word word) {
  const char c = word;
  // The other one may have ended, which is found when it should answer.
  static_cast<void>(send(socket, &c, 1, MSG_NOSIGNAL));
}

Word hear(int socket) {
  char c = kEnded;
  return read(socket, &c, 1) == 1 ? static_cast<Word>(c) : kEnded;
}

std::vector<pid_t> other_threads() {
  std::vector<pid_t> out;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
    if (const pid_t id = std::stoi(thread.path().filename()); id != getpid()) out.push_back(id);
  return out;
}

// All threads of this process are there: the calling one gets a processor, the others what is left.
void spread_threads() {
  const std::vector<pid_t> threads = other_threads();
  cpu_set_t all, first;
  if (threads.empty() || sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2)
    return;
  CPU_ZERO(&first);
  for (std::size_t cpu = 0; CPU_COUNT(&first) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &first);
  cpu_set_t others;
  CPU_XOR(&others, &all, &first);
  sched_setaffinity(0, sizeof(first), &first);
  for (const pid_t id : threads) sched_setaffinity(id, sizeof(others), &others);
}

bool runs(pid_t thread) {
  std::ifstream stat(fmt::format("/proc/self/task/{}/stat", thread));
  const std::string text(std::istreambuf_iterator<char>(stat), {});
  const std::size_t name_end = text.rfind(')');  // the state comes behind the name
  return name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0;
}

// Workers spin when they have nothing more to do, XNNPACK's for 20 ms.
void wait_until_others_sleep() {
  constexpr int kTries = 500;
  const std::vector<pid_t> others = other_threads();
  for (int t = 0; t < kTries && std::any_of(others.begin(), others.end(), runs); ++t)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void take_turns(const Comparison& part, bool first, const Rounds& how, int socket) {
  spread_threads();
  const std::vector<Turn> turns = part.turns(how);
  std::vector<std::vector<double>> seconds(turns.size());
  const auto done = [&] {
    wait_until_others_sleep();
    say(socket, kDone);
  };
  for (done(); hear(socket) == kTurn; done())
    for (std::size_t t = 0; t < turns.size(); ++t) seconds[t].push_back(turns[t]());
  std::vector<Times> times;
  for (const std::vector<double>& list : seconds) times.push_back(times_of(list));
  if (first) part.print_row();
  part.print(times);
  done();
}

class Process {
 public:
  Process(const Part& part, bool first, const Rounds& how) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
      throw std::runtime_error("no socket to a process of its own");
    std::fflush(nullptr);
    socket_ = ends[0];
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::_Exit(be(part, first, how, ends[1]));
    }
    close(ends[1]);
    if (pid_ < 0) throw std::runtime_error("no process of its own");
    wait();
  }
  Process(const Process&) = delete;
  ~Process() {
    close(socket_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  void ask(Word word) {
    say(socket_, word);
    wait();
  }

 private:
  static int be(const Part& part, bool first, const Rounds& how, int socket) {
    try {
      part([&](const Comparison& made) { take_turns(made, first, how, socket); });
      return 0;
    } catch (const std::exception& e) {
      fmt::print(stderr, "{}\n", e.what());
      return 1;
    }
  }
  void wait() const {
    if (hear(socket_) != kDone)
      throw std::runtime_error("a process ended before its comparison did");
  }

  int socket_ = -1;
  pid_t pid_ = -1;
};

}  // namespace

void measure_apart(const std::vector<Part>& parts, const Rounds& how) {
  std::vector<std::unique_ptr<Process>> processes;
  for (const Part& part : parts)
    processes.push_back(std::make_unique<Process>(part, processes.empty(), how));
  for (int round = 0; round < how.rounds; ++round)
    for (const auto& process : processes) process->ask(kTurn);
  for (const auto& process : processes) process->ask(kPrint);
}

}  // namespace morello::bench
