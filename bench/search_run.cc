#include "bench/search_run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "bench/rounds.h"
#include "search/count.h"
#include "search/optimize.h"
#include "search/stored_tables.h"

namespace morello::bench {
namespace {

// All of Measured but the nest: what a pipe can carry as it is.
struct Numbers {
  double cpu, wall, rss, cycles, log10_programs;
  SearchStats stats;
};

Numbers search(const SearchRun& run, std::string& nest) {
  SearchOptions options;
  options.threads = run.threads;
  options.jobs = run.jobs;
  std::optional<MemoStore> store;
  std::optional<StoredTables> tables;
  std::variant<Optimum, StopReason> found;
  const auto all = [&] {
    if (!run.tables.empty()) {
      store.emplace(run.tables);
      tables.emplace(*store, [](const std::string& note) { fmt::print(stderr, "{}\n", note); });
      options.tables = &*tables;
    }
    found = optimize(run.spec->computation(), *run.machine, *run.isa, options);
  };
  Numbers n{};
  n.wall = seconds([&] { n.cpu = process_seconds(all); });
  const Optimum* best = std::get_if<Optimum>(&found);
  if (best == nullptr) {
    fmt::print(stderr, "no implementation of {}\n", run.spec->str());
    std::_Exit(5);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  n.rss = static_cast<double>(usage.ru_maxrss) * 1024;
  n.cycles = best->cost.as_cycles();
  n.stats = best->stats;
  if (run.count) n.log10_programs = log10_programs(Space(best->problem));
  nest =
      best->problem.family.str(run.spec->computation()) + "\n" + print(best->problem, *best->impl);
  return n;
}

void write_all(int fd, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t n = ::write(fd, at, size);
    if (n <= 0) std::_Exit(1);
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

Measured measure(const SearchRun& run) {
  int ends[2];
  MORELLO_CHECK(::pipe(ends) == 0, "no pipe");
  std::fflush(stdout);
  const pid_t child = ::fork();
  MORELLO_CHECK(child >= 0, "no process");
  if (child == 0) {
    std::string nest;
    const Numbers n = search(run, nest);
    write_all(ends[1], &n, sizeof(n));
    write_all(ends[1], nest.data(), nest.size());
    std::_Exit(0);
  }
  ::close(ends[1]);
  const std::string text = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  Numbers n{};
  MORELLO_CHECK(text.size() > sizeof(n), "a short answer");
  std::copy_n(text.data(), sizeof(n), reinterpret_cast<char*>(&n));
  return {n.cpu, n.wall, n.rss, n.cycles, n.log10_programs, n.stats, text.substr(sizeof(n))};
}

}  // namespace morello::bench
