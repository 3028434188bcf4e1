// Generated kernels of several stages beside what a user would call instead, beside the same in
// several kernels, and beside what the model says, with each instruction set that this processor
// has (worker.cc).
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "bench/graphs/table.h"
#include "bench/peers/compare.h"

namespace morello::bench {
namespace {

double seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What it takes to generate each kernel with nothing kept from before, with one thread.
void time_searches(Column& column) {
  for (Compared& w : column.works) {
    const std::string command = fmt::format(
        "'{}' generate --no-memo -j 1 --machine '{}' --isa {} --threads {} --name f --quiet "
        "--header "
        "/dev/null --spec '{}'",
        MORELLO_BENCH_GENERATOR, MORELLO_BENCH_MACHINE, w.times.front().runs, w.threads, w.spec);
    const double before = seconds_of_children();
    if (std::system(command.c_str()) == 0)
      w.facts["search_seconds"] = seconds_of_children() - before;
    else
      fmt::print(stderr, "failed: {}\n", command);
  }
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  using namespace morello::bench;
  CLI::App app("Generated kernels of several stages beside other libraries");
  bool searches = true;
  app.add_flag("!--no-searches", searches, "Do not time what searching for the kernels takes");
  return compare(app, argc, argv,
                 {{"AVX2", MORELLO_PROGRAM_AVX2, runs_avx2()},
                  {"AVX-512", MORELLO_PROGRAM_AVX512, runs_avx512()}},
                 {.markdown = graphs_markdown, .complete = [&](Column& column) {
                    if (searches) time_searches(column);
                  }});
}
