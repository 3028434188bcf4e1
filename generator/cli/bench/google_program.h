// The program of morello_add_benchmark(... ENGINE google): every kernel is a benchmark of Google
// Benchmark, which reads the command line, times and prints; main() is written by CMake.
#ifndef MORELLO_TESTBENCH_GOOGLE_PROGRAM_H_
#define MORELLO_TESTBENCH_GOOGLE_PROGRAM_H_

#include <benchmark/benchmark.h>

#include <memory>

#include "driver.h"

namespace morello::testbench {

class GoogleProgram {
 public:
  GoogleProgram(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) std::exit(2);
  }

  // What follows are the kernels that those before are compared with.
  void baseline() { prefix_ = "baseline/"; }

  template <class S>
  void operator()(S) {
    // Real time: the threads of a kernel's pool are not this one.
    benchmark::RegisterBenchmark((prefix_ + S::Info::name).c_str(), [this](benchmark::State& s) {
      time<S>(s);
    })->UseRealTime();
  }

  int finish() {
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return failed_ ? 1 : 0;
  }

 private:
  // One kernel's operands, checked once: the library calls a benchmark several times before it
  // knows how many iterations to time.
  template <class S>
  struct Prepared {
    Data<S> data{Inputs{}};
    Checked checked;
  };

  template <class S, class... Hook>
  Prepared<S>& prepared(Hook... hook) {
    static constexpr char kOwner = 0;  // its address is S's own
    if (owner_ != &kOwner) {
      prepared_.reset();  // weights may be large
      auto made = std::make_shared<Prepared<S>>();
      made->data.run(hook...);
      made->checked = verify(made->data);
      if (made->checked.wrong == 0) settle(made->data, hook...);
      prepared_ = std::move(made);
      owner_ = &kOwner;
    }
    return *static_cast<Prepared<S>*>(prepared_.get());
  }

  template <class S>
  void time(benchmark::State& state) {
    if constexpr (S::kThreads > 1) {
      ThreadPool pool(S::kThreads);
      loop<S>(state, static_cast<Parallel>(pool));
    } else {
      loop<S>(state);
    }
  }

  template <class S, class... Hook>
  void loop(benchmark::State& state, Hook... hook) {
    Prepared<S>& kernel = prepared<S>(hook...);
    if (kernel.checked.wrong > 0) {
      failed_ = true;
      state.SkipWithError((std::to_string(kernel.checked.wrong) + " of " +
                           std::to_string(kernel.checked.checked) + " outputs are wrong")
                              .c_str());
      return;
    }
    for (auto _ : state) {
      kernel.data.run(hook...);
      benchmark::ClobberMemory();
    }
    const auto rate = [](auto per_call) {
      return benchmark::Counter(static_cast<double>(per_call),
                                benchmark::Counter::kIsIterationInvariantRate,
                                benchmark::Counter::kIs1000);
    };
    state.counters[S::kFloat ? "flops" : "ops"] = rate(S::Info::flops);
    state.counters["bytes"] = rate(S::Info::bytes);
    state.counters["model_cycles"] = static_cast<double>(S::Info::model_cycles);
    state.SetLabel(S::selected());
  }

  std::string prefix_;
  std::shared_ptr<void> prepared_;
  const void* owner_ = nullptr;
  bool failed_ = false;
};

}  // namespace morello::testbench

#endif  // MORELLO_TESTBENCH_GOOGLE_PROGRAM_H_
