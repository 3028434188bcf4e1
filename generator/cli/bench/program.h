// The programs of morello_add_test() and morello_add_benchmark(); their main() is written by CMake.
//
//   [--runs N] [--seed N]          verify (the default): kinds of inputs and places in memory in
//                                  turn; then again with other seeds
//   --bench [--rounds N] [--json FILE]   verify once, then time
#ifndef MORELLO_TESTBENCH_PROGRAM_H_
#define MORELLO_TESTBENCH_PROGRAM_H_

#include "driver.h"

namespace morello::testbench {

class Program {
 public:
  Program(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--bench") {
        bench_ = true;
        continue;
      }
      if (i + 1 == argc) usage(word);
      const char* value = argv[++i];
      if (word == "--runs")
        runs_ = number(word, value);
      else if (word == "--seed")
        seed_ = static_cast<std::uint64_t>(number(word, value));
      else if (word == "--rounds")
        rounds_ = number(word, value);
      else if (word == "--json")
        json_ = value;
      else
        usage(word);
    }
  }

  void bench() { bench_ = true; }
  // What follows are the kernels that those before are compared with, one by one.
  void baseline() { baseline_ = true; }

  template <class S>
  void operator()(S) {
    bench_ ? time<S>() : test<S>();
  }

  int finish() {
    if (bench_) print_times();
    if (!json_.empty() && !write_json()) return 1;
    if (failed_ == 0) std::printf("%d kernels right\n", count_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  struct Row {
    std::string name, isa;
    double median = 0, best = 0, ops = 0, bytes = 0, cycles = 0;
  };

  [[noreturn]] static void usage(const std::string& word) {
    std::fprintf(stderr,
                 "%s is not understood. Allowed: --runs N --seed N | --bench --rounds N "
                 "--json FILE\n",
                 word.c_str());
    std::exit(2);
  }
  static int number(const std::string& word, const char* text) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > 1'000'000'000) usage(word);
    return static_cast<int>(value);
  }

  template <class S>
  bool check(const Checked& c, int run, const char* what) {
    if (c.wrong == 0) return true;
    ++failed_;
    std::printf("%s (%s), run %d, %s: %lld of %lld outputs are wrong\n", S::Info::name,
                S::selected(), run, what, static_cast<long long>(c.wrong),
                static_cast<long long>(c.checked));
    return false;
  }

  struct Kind {
    Values values;
    Place place;
    const char* what;
  };
  template <class S>
  void all_runs() {
    static constexpr Kind kKinds[] = {
        {Values::random, Place::end, "random numbers"},
        {Values::edges, Place::begin, "edge values"},
        {Values::wild, Place::end, "NaN, infinities and subnormal numbers"},
        {Values::random, Place::odd, "at odd addresses"},
    };
    for (int r = 1; r <= runs_; ++r) {
      const Kind& kind = kKinds[(r - 1) % 4];
      const Inputs inputs{kind.values, kind.place, seed_ + static_cast<std::uint64_t>(r)};
      if (!check<S>(run<S>(inputs, 0).checked, r, kind.what)) return;
    }
  }

  // With what this CPU gets, and where it can be asked for with the fallback, which runs anywhere.
  template <class S>
  void test() {
    ++count_;
    all_runs<S>();
    const char* last = std::strrchr(S::Info::isas, ',');
    if (last == nullptr || !S::select(last + 1)) return;
    all_runs<S>();
    S::select(nullptr);
  }

  template <class S>
  void time() {
    ++count_;
    const Report r = run<S>(Inputs{}, rounds_);
    if (!check<S>(r.checked, 1, "random numbers")) return;
    (baseline_ ? baselines_ : rows_)
        .push_back({S::Info::name, S::selected(), r.times.median, r.times.best,
                    static_cast<double>(S::Info::flops), static_cast<double>(S::Info::bytes),
                    static_cast<double>(S::Info::model_cycles)});
  }

  void print_times() const {
    std::printf("%-24s %-12s %12s %12s %10s %10s %14s%s\n", "kernel", "isa", "median us", "best us",
                "Gop/s", "GB/s", "model cycles", baselines_.empty() ? "" : "   baseline us  speed");
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& r = rows_[i];
      std::printf("%-24s %-12s %12.3f %12.3f %10.2f %10.2f %14.0f", r.name.c_str(), r.isa.c_str(),
                  r.median * 1e6, r.best * 1e6, r.ops / r.median / 1e9, r.bytes / r.median / 1e9,
                  r.cycles);
      if (i < baselines_.size())
        std::printf(" %13.3f %6.2f", baselines_[i].median * 1e6, baselines_[i].median / r.median);
      std::printf("\n");
    }
  }

  static void write_rows(std::FILE* f, const char* key, const std::vector<Row>& rows) {
    std::fprintf(f, "  \"%s\": [", key);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& r = rows[i];
      std::fprintf(f,
                   "%s\n    {\"name\": \"%s\", \"isa\": \"%s\", \"seconds_median\": %.9g, "
                   "\"seconds_best\": %.9g, \"operations_per_second\": %.6g, "
                   "\"bytes_per_second\": %.6g, \"model_cycles\": %.0f}",
                   i == 0 ? "" : ",", r.name.c_str(), r.isa.c_str(), r.median, r.best,
                   r.ops / r.median, r.bytes / r.median, r.cycles);
    }
    std::fprintf(f, "\n  ]");
  }
  bool write_json() const {
    std::FILE* f = std::fopen(json_.c_str(), "w");
    if (f != nullptr) {
      std::fprintf(f, "{\n");
      write_rows(f, "kernels", rows_);
      std::fprintf(f, ",\n");
      write_rows(f, "baselines", baselines_);
      std::fprintf(f, "\n}\n");
    }
    if (f != nullptr && std::fclose(f) == 0) return true;
    std::perror(json_.c_str());
    return false;
  }

  bool bench_ = false, baseline_ = false;
  int runs_ = 4, rounds_ = 11, count_ = 0, failed_ = 0;
  std::uint64_t seed_ = 1;
  std::string json_;
  std::vector<Row> rows_, baselines_;
};

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_PROGRAM_H_
