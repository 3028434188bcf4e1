// From specs to results: searched, emitted, compiled as a consumer would, run between guard pages.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "run/draw.h"
#include "search/optimize.h"

namespace morello::run {

struct Toolchain {
  std::string compiler;  // "g++"
  std::string flags;     // "-O2"
};

// g++ and clang++ where this build knows them.
std::vector<std::string> known_compilers();

// Kernels of one program.
class Batch {
 public:
  // Files go to `directory`, which is made anew.
  explicit Batch(std::string directory);

  // Searches for a kernel; `machine` must outlive the batch. Returns what is wrong, or "".
  std::string add(const Drawn& drawn, const Machine& machine);
  // Gives up on a kernel whose search takes longer than this many Specs per family; add() then
  // returns kTooLong and the batch is as it was.
  void set_budget(i64 max_specs) { max_specs_ = max_specs; }
  static constexpr std::string_view kTooLong = "too long";
  // CPU seconds of the search for the kernel added last, all its instruction sets.
  double search_seconds() const { return kernels_.back().seconds; }
  const std::string& spec() const { return kernels_.back().drawn.spec; }

  // Of the kernel added last: its stages, its results, and the programs of its variants as text.
  size_t stages() const { return kernels_.back().spec.stages.size(); }
  size_t results() const { return kernels_.back().spec.results.size(); }
  std::vector<std::string> programs() const;

  // CPU seconds that it takes to compile a translation unit with nothing but the header of one
  // kernel, for the kernel that takes longest, of all or of the longest header only; and what is
  // wrong, or "". Beside other work a compiler takes up to twice as long: what takes more than
  // `most` is to be timed when there is none (compile_seconds()).
  struct Slow {
    std::string command, spec;
  };
  struct Longest {
    double seconds = 0;
    std::string spec;
    std::string problem;
    std::vector<Slow> slow = {};
  };
  Longest compile_alone(const Toolchain& toolchain, bool all, double most) const;

  // Emits several headers and a program that includes all of them; compiles and runs it. Returns ""
  // or everything that is known of the failures. `arguments`: see run_subjects().
  std::string check(const Toolchain& toolchain, const std::string& arguments);
  // Of the programs that ran well: outputs, and how many the reference could not check.
  struct Outputs {
    i64 all = 0, unchecked = 0, hard = 0, hard_unchecked = 0;
    // Kernels, each with its sizes and once for each compiler; those of whose plain outputs most
    // are unknown.
    int kernels = 0, unknown = 0;
    std::vector<double> widths;  // of the reference's intervals: the median of each kernel
  };
  const Outputs& outputs() const { return outputs_; }

 private:
  struct Kernel {
    Drawn drawn;
    KernelSpec spec;
    KernelCode code;
    const Machine* machine;
    double seconds = 0;
  };
  struct Sources {
    std::vector<std::string> headers, compiled;
  };
  Sources emit() const;
  std::string header_alone(const Kernel& k) const;
  static std::string write_alone(const Toolchain& toolchain, const Kernel& k,
                                 const std::string& header, const std::string& directory);
  std::string describe(const Kernel& k) const;
  std::string search(Kernel& k);
  void count_outputs(const std::string& printed);

  std::string directory_;
  std::deque<Kernel> kernels_;  // their addresses stay
  int programs_ = 0;
  Outputs outputs_;
  i64 max_specs_ = 0;
};

std::string read_text(const std::string& path);
// CPU seconds of a command, the least of several times.
double compile_seconds(const std::string& command);

}  // namespace morello::run
