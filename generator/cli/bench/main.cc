// The program of `morello bench`: results go to standard output as "key value" lines.
#include "driver.h"
#include "subjects.h"

struct Print {
  int rounds;

  template <class S>
  void operator()(S) const {
    const morello::testbench::Report r = morello::testbench::run<S>({}, rounds);
    std::printf("isa %s\nops %llu\nbytes %llu\n", S::selected(),
                static_cast<unsigned long long>(S::Info::flops),
                static_cast<unsigned long long>(S::Info::bytes));
    std::printf("outputs %lld\nchecked %lld\nwrong %lld\nworst %.3f\n",
                static_cast<long long>(r.checked.outputs),
                static_cast<long long>(r.checked.checked), static_cast<long long>(r.checked.wrong),
                r.checked.worst);
    std::printf("median %.9e\nbest %.9e\n", r.times.median, r.times.best);
  }
};

int main(int argc, char** argv) {
  morello::testbench::subjects::each_bench(Print{argc > 1 ? std::atoi(argv[1]) : 11});
  return 0;
}
