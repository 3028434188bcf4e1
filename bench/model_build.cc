#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/model_run.h"
#include "bench/program.h"
#include "codegen/emit.h"

namespace morello::bench {
namespace {

constexpr size_t kInUnit = 5;  // programs per library

void write_if_changed(const std::string& path, const std::string& text) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream old;
  old << in.rdbuf();
  if (in && old.str() == text) return;
  std::ofstream(path, std::ios::binary) << text;
}

std::string unit_text(const Corpus& corpus, size_t first, size_t last) {
  std::string out = "#include \"morello/parallel.h\"\n";
  for (size_t i = first; i < last; ++i) {
    const Sample& s = corpus.programs[i].sample;
    KernelCode code{&corpus.spec(), "kernel", corpus.subject().threads, {}};
    code.variants.push_back({s.problem, s.impl, 0});
    EmitOptions options;
    options.space = fmt::format("p{}", i);
    options.header_name = fmt::format("p{}.h", i);
    options.machine = "";
    out += emit_header({code}, options).header + glue(corpus.spec(), i, corpus.subject().threads);
  }
  return out;
}

}  // namespace

// The library of program i; its functions end in _i.
std::string library_of(const Corpus& corpus, const BuildOptions& options, size_t i) {
  return fmt::format("{}/{}_{}.so", options.directory, corpus.subject().name, i / kInUnit);
}

void build_programs(const Corpus& corpus, const BuildOptions& options) {
  namespace fs = std::filesystem;
  std::vector<std::string> commands;
  for (size_t first = 0; first < corpus.programs.size(); first += kInUnit) {
    const std::string library = library_of(corpus, options, first);
    const std::string stem = library.substr(0, library.size() - 3);
    const size_t last = std::min(first + kInUnit, corpus.programs.size());
    write_if_changed(stem + ".cc", unit_text(corpus, first, last));
    if (fs::exists(library) && fs::last_write_time(library) > fs::last_write_time(stem + ".cc"))
      continue;
    commands.push_back(fmt::format(
        "{0} -std=c++17 -O2 -fPIC -I{1} -c {2}.cc -o {2}.o && {0} -shared {2}.o -o {2}.so",
        options.compiler, MORELLO_BENCH_RUNTIME, stem));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < options.jobs; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = static_cast<size_t>(t); i < commands.size();
           i += static_cast<size_t>(options.jobs))
        MORELLO_CHECK(std::system(commands[i].c_str()) == 0, "failed: {}", commands[i]);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace morello::bench
