// Is the cost model right? For kernels of different character: programs spread over the range of
// costs, measured against each other; how well cost and time agree. README.md says how to use it to
// justify a constant.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "bench/model_report.h"
#include "bench/model_run.h"

namespace morello::bench {
namespace {

// One of every character: tiny, resident in L1, in L2, beyond it; odd, tall, flat; one row; all
// leaf kernels; no reduction; threads.
const Subject kSubjects[] = {
    {"f32_16", 1, "(a: f32[16,16], b: f32[16,16]): f32 = matmul(a, b)"},
    {"f32_64", 1, "(a: f32[64,64], b: f32[64,64]): f32 = matmul(a, b)"},
    {"f32_256", 1, "(a: f32[256,256], b: f32[256,256]): f32 = matmul(a, b)"},
    {"f32_100x77x300", 1, "(a: f32[100,77], b: f32[77,300]): f32 = matmul(a, b)"},
    {"f32_1000x64x64", 1, "(a: f32[1000,64], b: f32[64,64]): f32 = matmul(a, b)"},
    {"f32_16x2048x512", 1, "(a: f32[16,2048], b: f32[2048,512]): f32 = matmul(a, b)"},
    {"f32_1x2048x1024", 1, "(a: f32[1,2048], b: f32[2048,1024]): f32 = matmul(a, b)"},
    {"bf16_1x2048x4096_p", 1, "(a: bf16[1,2048], b: bf16[2048,4096] packed): f32 = matmul(a, b)"},
    {"bf16_1x2048x2048", 1, "(a: bf16[1,2048], b: bf16[2048,2048]): f32 = matmul(a, b)"},
    {"bf16_64x512x512", 1, "(a: bf16[64,512], b: bf16[512,512]): f32 = matmul(a, b)"},
    {"u8i8_256", 1, "(a: u8[256,256], b: i8[256,256]): i32 = matmul(a, b)"},
    {"u8i8_1x2048x4096_p", 1, "(a: u8[1,2048], b: i8[2048,4096] packed): i32 = matmul(a, b)"},
    {"add_512x500", 1, "(a: f32[512,500], b: f32[512,500]): f32 = add(a, b)"},
    {"convert_300x1000", 1, "(x: bf16[300,1000]): f32 = convert(x)"},
    {"sum_600x700_axis0", 1, "(x: f32[600,700]): f32 = reduce_sum(x, axis=0)"},
    {"sum_600x700_axis1", 1, "(x: f32[600,700]): f32 = reduce_sum(x, axis=1)"},
    {"f32_512_2", 2, "(a: f32[512,512], b: f32[512,512]): f32 = matmul(a, b)"},
};

struct Options {
  std::string only, machine = "native", isa = "avx2", json, svg;
  std::vector<std::string> specs;
  bool draw = false, build = false, measure = false, verbose = false;
  double longest = 0.05;
  BuildOptions how;
  SampleOptions sampling;
  Rounds rounds{.rounds = 15};
};

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// What is wrong with one of --spec.
std::string no_subject(const std::string& text) {
  const size_t at = text.find('=');
  if (at == 0 || at == std::string::npos || text.find_first_of("/(") < at)
    return "'" + text +
           "': write name=spec, as in 'tall=(a: f32[900,8], b: f32[8,8]): f32 = " + "matmul(a, b)'";
  const Result<KernelSpec> spec = parse_spec(text.substr(at + 1));
  return spec ? "" : spec.error().str();
}

void declare(CLI::App& app, Options& o) {
  app.add_option("--directory", o.how.directory, "Where programs and times are kept")->required();
  app.add_flag("--draw", o.draw, "Add programs");
  app.add_flag("--build", o.build, "Compile them");
  app.add_flag("--measure", o.measure, "Time them; without it, times of before count");
  app.add_flag("--verbose", o.verbose, "Print every program, by its time");
  app.add_option("--only", o.only, "Kernels whose name contains this");
  app.add_option("--spec", o.specs, "Kernels, name=spec each, instead of those that are here")
      ->check(no_subject);
  app.add_option("--machine", o.machine, "As for morello");
  app.add_option("--isa", o.isa, "Instruction set");
  app.add_option("--programs", o.sampling.programs, "Programs drawn for each kernel");
  app.add_option("--range", o.sampling.range,
                 "The dearest costs so many times as much as the best");
  app.add_option("--seed", o.sampling.seed, "Of the drawing");
  app.add_option("--longest", o.longest, "Seconds, at 4 GHz by the model, of the slowest program");
  app.add_option("--rounds", o.rounds.rounds, "Every program is timed once in each");
  app.add_option("--compiler", o.how.compiler, "Command and flags");
  app.add_option("-j", o.how.jobs, "Compilers at a time");
  app.add_option("--json", o.json, "Write everything there");
  app.add_option("--svg", o.svg, "Draw cost against time there");
}

Ranking ranking(const Corpus& corpus) {
  Ranking r{corpus.subject().name, {}};
  for (const Candidate& c : corpus.programs)
    if (c.sample.cost.finite() && c.seconds > 0)
      r.points.push_back({c.sample.cost.as_cycles(), c.seconds,
                          c.sample.problem.family.str(corpus.spec().computation()) + "\n" +
                              print(c.sample.problem, *c.sample.impl)});
  return r;
}

void print_points(const Ranking& r) {
  std::vector<Point> points = r.points;
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.seconds < b.seconds; });
  for (const Point& p : points)
    fmt::print("{:.2f} us, {:.0f} cycles, {:.2f} GHz\n{}\n", p.seconds * 1e6, p.cycles,
               p.cycles / p.seconds * 1e-9, p.program);
}

// Adaptive caches settle slowly: a slot is a dozen calls of a program that streams its operands at
// 10 GB/s.
Rounds rounds_of(const Corpus& corpus, Rounds how) {
  i64 total = 0;
  for (const Operand& o : corpus.spec().computation().operands) {
    i64 elements = bytes(o.dtype);
    for (i64 n : o.shape) elements *= n;
    total += elements;
  }
  how.cpu_time = corpus.subject().threads == 1;
  how.slot_seconds = std::max(how.slot_seconds, 12 * static_cast<double>(total) / 10e9);
  return how;
}

std::optional<Ranking> judge(const Subject& subject, const Machine& machine, const Isa& isa,
                             const Options& o) {
  Corpus corpus(subject, machine, isa);
  const std::string path = fmt::format("{}/{}.programs", o.how.directory, subject.name);
  if (const int dropped = corpus.parse(read(path)); dropped > 0)
    fmt::print(stderr, "{}: {} programs of before are not in the space\n", subject.name, dropped);
  if (o.draw) corpus.draw(o.sampling);
  if (o.build) build_programs(corpus, o.how);
  if (o.measure) measure_programs(corpus, o.how, rounds_of(corpus, o.rounds));
  if (o.draw || o.measure) std::ofstream(path) << corpus.text();
  corpus.reprice();
  Ranking r = ranking(corpus);
  if (r.points.empty()) return std::nullopt;
  if (o.verbose) print_points(r);
  return r;
}

// Those of the options, by one thread, or else all that are here.
std::vector<Subject> subjects(const Options& o) {
  if (o.specs.empty()) return {std::begin(kSubjects), std::end(kSubjects)};
  std::vector<Subject> out;
  for (const std::string& text : o.specs) {
    const size_t at = text.find('=');
    out.push_back({text.substr(0, at), 1, text.substr(at + 1)});
  }
  return out;
}

int run(const Options& given) {
  Options o = given;
  const Result<Machine> machine = load_machine(o.machine);
  const Isa* isa = find_isa(o.isa);
  if (!machine || !isa) {
    fmt::print(stderr, "{}\n", machine ? "unknown instruction set" : machine.error().str());
    return 2;
  }
  o.sampling.most = Cost::cycles(static_cast<i64>(o.longest * 4e9));
  std::filesystem::create_directories(o.how.directory);
  std::vector<Ranking> rankings;
  for (const Subject& s : subjects(o)) {
    if (s.name.find(o.only) == std::string::npos) continue;
    if (std::optional<Ranking> r = judge(s, *machine, *isa, o)) rankings.push_back(std::move(*r));
  }
  fmt::print("{}", table(rankings));
  if (!o.json.empty()) std::ofstream(o.json) << json(rankings, machine->name);
  if (!o.svg.empty()) std::ofstream(o.svg) << svg(rankings);
  return 0;
}

}  // namespace
}  // namespace morello::bench

int main(int argc, char** argv) {
  morello::bench::Options options;
  CLI::App app("How well the cost model's order of programs agrees with their times");
  morello::bench::declare(app, options);
  CLI11_PARSE(app, argc, argv);
  return morello::bench::run(options);
}
