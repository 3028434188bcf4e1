#include "bench/model_run.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/program.h"
#include "morello/thread_pool.h"

namespace morello::bench {

std::string library_of(const Corpus& corpus, const BuildOptions& options, size_t i);

namespace {

// The operands as the user has them: packed ones in row order.
Computation given_operands(const KernelSpec& spec) {
  Computation c = spec.computation();
  for (Operand& o : c.operands) {
    if (!o.packed) continue;
    o.packed = false;
    o.layout = Layout::row(static_cast<int>(o.shape.size()));
  }
  return c;
}

// What the programs of one corpus share: operands and the expected values of some outputs.
class Operands {
 public:
  explicit Operands(const KernelSpec& spec) : spec_(spec), c_(given_operands(spec)) {
    for (int t = 0; t < c_.tensors(); ++t) maps_.push_back(given_address(c_, t));
    for (size_t p = 0; p < spec.params.size(); ++p) {
      const size_t t = tensor_of(static_cast<int>(p));
      plain_.push_back(random_values(spec.params[p].dtype, maps_[t].elements, p + 1));
    }
    plain_.push_back(Bytes(static_cast<size_t>(out_map().elements * bytes(spec.result().dtype))));
    sample_outputs();
  }
  std::vector<Bytes>& plain() { return plain_; }
  void spoil_output() { std::fill(plain_.back().begin(), plain_.back().end(), 0xFF); }

  // Wrong outputs among the sampled ones.
  int wrong() const {
    int count = 0;
    for (const Expected& e : expected_)
      if (!(std::fabs(element(c_.output().dtype, plain_.back().data(), e.at) - e.value) <=
            e.tolerance))
        ++count;
    return count;
  }

 private:
  struct Expected {
    i64 at = 0;
    double value = 0, tolerance = 0;
  };

  const AddressMap& out_map() const { return maps_[static_cast<size_t>(c_.inputs())]; }

  // The first tensor of the computation that a parameter is.
  size_t tensor_of(int param) const {
    const auto& args = spec_.arguments();
    const auto i = static_cast<size_t>(std::find(args.begin(), args.end(), param) - args.begin());
    return i < static_cast<size_t>(c_.inputs()) ? i : i + 1;
  }

  double value_of(size_t argument, const Extents& point) const {
    const auto inputs = static_cast<size_t>(c_.inputs());
    const size_t tensor = argument < inputs ? argument : argument + 1;
    return element(c_.tensor(static_cast<int>(tensor)).dtype,
                   plain_[static_cast<size_t>(spec_.arguments()[argument])].data(),
                   maps_[tensor].offset(point));
  }

  void sample_outputs() {
    i64 outputs = 1;
    for (const Dim& d : c_.dims) outputs *= d.reduction ? 1 : d.extent;
    const i64 count = std::min<i64>(outputs, 499);
    for (i64 i = 0; i < count; ++i) {
      i64 rest = count == outputs ? i : i * (outputs - 1) / (count - 1);
      Extents point{};
      for (size_t d = c_.dims.size(); d-- > 0;) {
        if (c_.dims[d].reduction) continue;
        point[d] = rest % c_.dims[d].extent;
        rest /= c_.dims[d].extent;
      }
      expected_.push_back(reference(point));
    }
  }

  Expected reference(Extents point) const {
    double sum = 0, magnitude = 0, count = 0;
    const auto inputs = static_cast<size_t>(c_.inputs());
    std::vector<double> in(inputs), extras;
    for (size_t a = inputs; a < spec_.arguments().size(); ++a) extras.push_back(value_of(a, point));
    for (bool more = true; more; ++count) {
      for (size_t a = 0; a < inputs; ++a) in[a] = value_of(a, point);
      const double term = evaluate(c_.body, in, extras);
      sum += term;
      magnitude += std::fabs(term);
      more = false;
      for (size_t d = c_.dims.size(); d-- > 0 && !more;) {
        if (!c_.dims[d].reduction) continue;
        more = ++point[d] < c_.dims[d].extent;
        if (!more) point[d] = 0;
      }
    }
    Expected e{out_map().offset(point), sum, 0};
    const Dtype out = c_.output().dtype;
    if (is_float(c_.compute) || is_float(out)) {
      e.tolerance = unit_of(out) * std::fabs(sum) +
                    (4 * std::sqrt(count) + 2) * 0x1p-24 * magnitude + 0x1p-25;
    }
    if (c_.finish.empty()) return e;
    const double near = evaluate(c_.finish, in, extras, sum + e.tolerance);
    e.value = evaluate(c_.finish, in, extras, sum);
    e.tolerance = 2 * std::fabs(near - e.value) + unit_of(out) * std::fabs(e.value) + 0x1p-20;
    return e;
  }

  static double unit_of(Dtype t) {
    return t == Dtype::bf16 ? 0x1p-8 : t == Dtype::f16 ? 0x1p-10 : 0x1p-23;
  }

  const KernelSpec& spec_;
  Computation c_;
  std::vector<AddressMap> maps_;
  std::vector<Bytes> plain_;  // parameters, then the output
  std::vector<Expected> expected_;
};

// Compiled programs with their arguments.
class Loaded {
 public:
  Loaded(const Corpus& corpus, const BuildOptions& options, Operands& operands) {
    for (size_t i = 0; i < corpus.programs.size(); ++i) {
      Running p{Program(library_of(corpus, options, i), i), {}, {}};
      p.work = Bytes(p.program.workspace_bytes());
      for (size_t a = 0; a < operands.plain().size(); ++a)
        p.arguments.push_back(argument(p.program, a, operands));
      programs_.push_back(std::move(p));
    }
  }
  void run(size_t i, const Parallel& pool) {
    Running& p = programs_[i];
    p.program.call(p.arguments.data(), p.work.data(), pool);
  }

 private:
  struct Running {
    Program program;
    std::vector<void*> arguments;
    Bytes work;
  };

  void* argument(const Program& program, size_t param, Operands& operands) {
    unsigned char* plain = operands.plain()[param].data();
    const size_t bytes = program.packed_bytes(param);
    if (bytes == 0) return plain;
    Bytes packed(bytes);
    program.pack(param, plain, packed.data());
    return packed_.keep(std::move(packed))->data();
  }

  std::vector<Running> programs_;
  PackedOperands packed_;
};

// One processor for programs that use one thread.
class Pinned {
 public:
  explicit Pinned(bool pin) {
    sched_getaffinity(0, sizeof before_, &before_);
    if (!pin) return;
    int last = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &before_)) last = cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

void measure_programs(Corpus& corpus, const BuildOptions& options, const Rounds& how) {
  Operands operands(corpus.spec());
  Loaded loaded(corpus, options, operands);
  ThreadPool pool(corpus.subject().threads);
  const Pinned pinned(corpus.subject().threads == 1);
  const Parallel hook = pool;
  std::vector<Task> tasks;
  for (size_t i = 0; i < corpus.programs.size(); ++i) {
    operands.spoil_output();
    loaded.run(i, hook);
    MORELLO_CHECK(operands.wrong() == 0, "wrong result of\n{}",
                  print(corpus.programs[i].sample.problem, *corpus.programs[i].sample.impl));
    tasks.push_back({"", 1, [&loaded, &hook, i] { loaded.run(i, hook); }});
  }
  const std::vector<Times> times = times_of_rounds(tasks, how);
  for (size_t i = 0; i < times.size(); ++i) {
    corpus.programs[i].seconds = times[i].median;
    corpus.programs[i].spread = times[i].spread;
  }
}

}  // namespace morello::bench
