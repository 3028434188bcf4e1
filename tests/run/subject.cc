#include "run/subject.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "morello/cpu.h"
#include "morello/thread_pool.h"
#include "run/evaluate.h"
#include "run/reference.h"

namespace morello::run {
namespace {

// What is being done, for the handler of faults.
char phase[256] = "";

void on_fault(int signal) {
  const char* what = signal == SIGSEGV || signal == SIGBUS ? "outside a buffer: " : "fault: ";
  for (const char* text : {what, static_cast<const char*>(phase), "\n"})
    if (write(STDOUT_FILENO, text, std::strlen(text)) < 0) _exit(3);
  _exit(3);
}

// `bytes` bytes that begin right after, or end right before, a page that cannot be touched.
class Guarded {
 public:
  Guarded(std::size_t bytes, bool at_end) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    inner_ = std::max(page, (bytes + page - 1) / page * page);
    total_ = inner_ + 2 * page;
    void* all = mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    all_ = static_cast<unsigned char*>(all);
    first_ = all_ + page;
    if (mprotect(first_, inner_, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = at_end ? first_ + (inner_ - bytes) : first_;
    std::memset(first_, kUntouched, inner_);
  }
  ~Guarded() { munmap(all_, total_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  unsigned char* data() const { return data_; }
  void fill(const Bytes& bytes) {
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  void freeze() {
    if (mprotect(first_, inner_, PROT_READ) != 0) std::abort();
  }
  Bytes copy() const { return Bytes(data_, data_ + bytes_); }
  // Whether the rest of the pages is as it was.
  bool kept() const {
    const auto untouched = [](unsigned char c) { return c == kUntouched; };
    return std::all_of(first_, data_, untouched) &&
           std::all_of(data_ + bytes_, first_ + inner_, untouched);
  }

 private:
  std::size_t bytes_, inner_ = 0, total_ = 0;
  unsigned char *all_ = nullptr, *first_ = nullptr, *data_ = nullptr;
};

bool runs_here(const char* isa) {
  const bool avx512 =
      has_avx512f() && has_avx512bw() && has_avx512dq() && has_avx512vl() && has_fma();
  if (std::strcmp(isa, "avx512_bf16") == 0) return avx512 && has_avx512_vnni() && has_avx512_bf16();
  if (std::strcmp(isa, "avx512_vnni") == 0) return avx512 && has_avx512_vnni();
  if (std::strcmp(isa, "avx512") == 0) return avx512;
  const bool avx2 = has_avx2() && has_fma();
  if (std::strcmp(isa, "avx2_vnni") == 0) return avx2 && has_avx_vnni();
  if (std::strcmp(isa, "avx2") == 0) return avx2;
  return std::strcmp(isa, "scalar") == 0;
}

// Of all runs in this process; how wide the reference's intervals are.
Compared plain, hard;
double width = 0;

std::string text(const Compared& c) {
  return std::to_string(c.unchecked) + " of " + std::to_string(c.outputs) + " outputs unchecked";
}

// Equal bytes, but for which NaN a NaN is: a compiler may swap the operands of an addition in one
// copy of a function and not in another.
bool same(Type t, const Bytes& a, const Bytes& b) {
  if (a == b) return true;
  const auto size = static_cast<std::size_t>(bytes_of(t));
  for (std::size_t i = 0; i < a.size(); i += size)
    if (!std::equal(&a[i], &a[i] + size, &b[i]) &&
        !(std::isnan(decode(t, &a[i])) && std::isnan(decode(t, &b[i]))))
      return false;
  return true;
}

// Of all results.
bool same(const Subject& s, const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  for (int r = 0; r < s.results; ++r)
    if (!same(s.result[r].tensor.type, a[static_cast<std::size_t>(r)],
              b[static_cast<std::size_t>(r)]))
      return false;
  return true;
}

const char* name_of(Kind kind) {
  return kind == Kind::kPlain ? "plain" : kind == Kind::kHard ? "hard" : "large";
}

// One subject on one set of values.
class Check {
 public:
  Check(const Subject& s, Kind kind, std::uint64_t seed, const Options& options)
      : s_(s), kind_(kind), options_(options) {
    Numbers numbers(seed);
    for (int p = 0; p < s.params; ++p) {
      const Tensor& t = s.param[p];
      const Bytes row_major = make_values(t.type, elements(t), kind, rare(), numbers);
      inputs_.push_back(placed(t, row_major));
      Tensor dense = t;
      dense.digits = t.rank;
      std::memset(dense.stride, 0, sizeof dense.stride);
      for (int a = 0; a < t.rank; ++a) dense.order[a] = {a, 1, 0};
      values_.push_back(read(dense, row_major.data()));
    }
  }

  std::string run() {
    for (int v = 1; v < s_.variants; ++v) {
      if (!runs_here(s_.variant[v].isa)) continue;
      std::vector<Bytes> first;
      for (const bool at_end : {true, false}) {
        if (options_.one_place && !at_end) continue;
        std::string problem = variant(s_.variant[v], at_end, first);
        if (problem.empty() && std::strcmp(s_.variant[v].isa, s_.selected()) == 0)
          problem = variant(s_.variant[0], at_end, first);
        if (!problem.empty()) return std::string(phase) + ": " + problem;
      }
    }
    return "";
  }

 private:
  // Elements that one output is made of, so that about a third of the outputs meet nothing rare.
  i64 rare() const {
    double most = 0;
    for (int r = 0; r < s_.results; ++r) most = std::max(most, reads(s_, s_.result[r].node));
    return static_cast<i64>(std::min(most, 1e9)) + 2;
  }

  // Of a variant that may take subnormal numbers for 0, or of the others.
  const Reference& expected(bool flushes) {
    std::optional<Reference>& known = expected_[flushes && may_flush(s_)];
    if (!known) {
      known = reference(s_, values_, flushes);
      if (kind_ == Kind::kPlain) width = std::max(width, median_width(*known));
    }
    return *known;
  }

  // Without a pool, and with pools of one thread up to more than there are tasks. The bytes must be
  // the same() as in every other run of this variant.
  std::string variant(const Variant& v, bool at_end, std::vector<Bytes>& first) {
    for (const int threads : {0, 1, 2, 3, 16}) {
      if (threads > 0 && !s_.threaded) continue;
      const std::string with = threads > 0 ? ", pool of " + std::to_string(threads) : "";
      std::snprintf(phase, sizeof phase, "%s, %s values, buffers at the %s, %s%s", s_.name,
                    name_of(kind_), at_end ? "end" : "beginning",
                    v.isa == nullptr ? "the chosen one" : v.isa, with.c_str());
      std::vector<Bytes> out;
      std::string problem = once(v, threads, at_end, false, out);
      if (problem.empty() && s_.in_place >= 0) {
        std::vector<Bytes> there;
        problem = once(v, threads, at_end, true, there);
        if (problem.empty() && !same(s_, there, out))
          problem = "other bytes than with a result elsewhere";
      }
      if (problem.empty() && !first.empty() && !same(s_, out, first))
        problem = "other bytes than before";
      if (!problem.empty()) return problem;
      first = std::move(out);
    }
    return "";
  }

  // In place: the result where a parameter is.
  std::string once(const Variant& v, int threads, bool at_end, bool in_place,
                   std::vector<Bytes>& out) {
    Call call{};
    std::vector<std::unique_ptr<Guarded>> buffers;
    const auto buffer = [&](std::size_t bytes) -> Guarded& {
      return *buffers.emplace_back(std::make_unique<Guarded>(bytes, at_end));
    };
    for (int p = 0; p < s_.params; ++p) {
      Guarded& in = buffer(inputs_[static_cast<std::size_t>(p)].size());
      in.fill(inputs_[static_cast<std::size_t>(p)]);
      in.freeze();
      call.inputs[p] = in.data();
      if (!s_.param[p].packed) continue;
      Guarded& packed = buffer(s_.packed_bytes[p]);
      v.pack[p](in.data(), packed.data());
      packed.freeze();
      call.inputs[p] = packed.data();
    }
    std::vector<Guarded*> results;
    for (int r = 0; r < s_.results; ++r) {
      const Tensor& t = s_.result[r].tensor;
      results.push_back(&buffer(static_cast<std::size_t>(buffer_elements(t) * bytes_of(t.type))));
      call.outputs[r] = results.back()->data();
    }
    if (in_place) {
      results[0]->fill(inputs_[static_cast<std::size_t>(s_.in_place)]);
      call.inputs[s_.in_place] = results[0]->data();
    }
    if (s_.workspace_bytes > 0) call.workspace = buffer(s_.workspace_bytes).data();
    if (threads > 0) call.pool = pool(threads);
    v.run(call);
    for (const auto& b : buffers)
      if (!b->kept()) return "wrote beside a buffer";
    Values made;
    for (int r = 0; r < s_.results; ++r) {
      const Tensor& t = s_.result[r].tensor;
      out.push_back(results[static_cast<std::size_t>(r)]->copy());
      if (!gaps_kept(t, out.back().data())) return "wrote beside the elements of a result";
      for (const double x : read(t, out.back().data())) made.push_back(x);
    }
    const char* isa = v.isa != nullptr ? v.isa : s_.selected();
    const bool flushes = std::strcmp(isa, "avx512_bf16") == 0;
    Compared compared;
    const std::string problem = difference(s_, expected(flushes), made, compared);
    // Of hard values much is uncertain; where plain ones are, the test is worth little.
    if (problem.empty() && kind_ == Kind::kPlain && !options_.may_be_unknown &&
        2 * compared.unchecked > compared.outputs)
      return text(compared);
    Compared& all = kind_ == Kind::kPlain ? plain : hard;
    all.outputs += compared.outputs;
    all.unchecked += compared.unchecked;
    return problem;
  }

  static ThreadPool& pool(int threads) {
    static std::map<int, ThreadPool> pools;
    return pools.try_emplace(threads, threads).first->second;
  }

  const Subject& s_;
  const Kind kind_;
  const Options options_;
  std::vector<Bytes> inputs_;
  std::vector<Values> values_;
  std::optional<Reference> expected_[2];
};

// In a child: the answer is what it prints and its exit code.
int check_in_child(const Subject& s, std::uint64_t seed, const Options& options) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    std::snprintf(phase, sizeof phase, "%s", s.name);
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
      std::signal(signal, on_fault);
    std::printf("%s: ", s.name);
    std::fflush(stdout);
    const char* problem = check_subject(s, seed, options);
    const std::string well = "ok, " + text(plain) + ", of hard values " + text(hard);
    if (problem != nullptr)
      std::printf("%s\n", problem);
    else
      std::printf("%s, width %.1e\n", well.c_str(), width);
    std::fflush(stdout);
    _exit(problem != nullptr ? 1 : 0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) std::abort();
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("ended by signal %d\n", WTERMSIG(status));
  return 4;
}

}  // namespace

const char* check_subject(const Subject& s, std::uint64_t seed, const Options& options) {
  static std::string problem;
  problem = Check(s, Kind::kPlain, seed, options).run();
  if (problem.empty() && options.hard_values)
    problem = Check(s, Kind::kHard, seed + 1, options).run();
  Options once = options;
  once.one_place = true;
  if (problem.empty() && options.hard_values)
    problem = Check(s, Kind::kLarge, seed + 2, once).run();
  return problem.empty() ? nullptr : problem.c_str();
}

int run_subjects(const Subject* subjects, std::size_t count, int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  Options options;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "soft") == 0) options.hard_values = false;
    if (std::strcmp(argv[i], "once") == 0) options.one_place = true;
    if (std::strcmp(argv[i], "unknown") == 0) options.may_be_unknown = true;
  }
  int failed = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (check_in_child(subjects[i], seed + 2 * i, options) != 0) {
      std::printf("FAIL %s\n", subjects[i].name);
      ++failed;
    }
  return failed == 0 ? 0 : 1;
}

}  // namespace morello::run
