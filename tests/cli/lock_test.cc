// Lock files: what is in one is not searched for, and gives the same bytes; what is out of date is
// said, and the file itself reads and prints.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <span>

#include "cli/files.h"
#include "cli/lock_file.h"
#include "cli/process.h"

namespace morello {
namespace {

using Words = std::vector<std::string>;

// A kernel of every kind: types, threads, packed operands, sizes and strides known at run time
// only.
constexpr const char* kKernels =
    "mm(a: f32[40,70], b: f32[70,90] packed): f32 = matmul(a, b)\n"
    "vec(x: bf16[1,500], w: bf16[500,96] packed): f32 = matmul(x, w)\n"
    "act(a: bf16[7,300], b: f32[300,33] col, c: f32[33]): bf16 = gelu_tanh(matmul(a, b) + c)\n"
    "ints(a: u8[33,70], b: i8[70,45]): i32 col = matmul(a, b)\n"
    "sum(x: f32[60,500]): f32 = reduce_sum(x, axis=1)\n"
    "each(a: f32[m to 8], b: f32[m]): f32 = a * b\n"
    "rows(a: f32[m near 16,70], b: f32[70,24] packed): f32 = matmul(a, b)\n"
    "both(x: bf16[1,k%8 near 64], w: bf16[k,n%16 near 64] col strided): f32 = matmul(x, w)\n"
    // Of several stages: with sums that are divided between steps of tiles, and that are not.
    "soft(x: f32[9,300]): f32 = softmax(x, axis=1)\n"
    "row(x: f32[1,4000000]): f32 = softmax(x, axis=1)\n"
    "norm(x: f32[5,200]): bf16 = layer_norm(x, 1, axis=1)\n"
    "attend(q: f32[8,16], k: f32[300,16], v: f32[300,16], m: f32[8,300]): f32 = "
    "matmul(softmax(matmul(q, transpose(k)) * 0.25 + m, axis=1), v)\n"
    "mlp(x: bf16[4,32], w: bf16[32,64] packed, v: bf16[32,64] packed, u: bf16[64,32] packed): "
    "f32 = matmul(h, u) where h: bf16 = gelu_tanh(matmul(x, w)) * matmul(x, v)\n"
    "any(x: bf16[m near 40,32] strided, w: bf16[32,64] packed, v: bf16[32,64] packed): bf16 = "
    "gelu_tanh(matmul(x, w)) * matmul(x, v)\n"
    "positions(q: f32[3,8], k: f32[n near 40,8], v: f32[n,9]): (o: bf16[3,9], p: f32[3,n]) where "
    "p = softmax(matmul(q, transpose(k)), axis=1), o = matmul(p, v)\n"
    "two_names(q: f32[m near 12,8], k: f32[n near 40,8] strided): f32[m,n] = "
    "softmax(matmul(q, transpose(k)), axis=1)\n";

struct Project {
  TemporaryDirectory d;
  std::string p = d.path() + "/";

  Project() { std::ofstream(p + "k.spec") << kKernels; }
  Ran generate(const std::string& header, const Words& more) const {
    Words words{"generate", "--spec-file",     p + "k.spec",
                "--header", p + header + ".h", "--header-name",
                "k.h",      "--impl",          p + header + ".impl"};
    words.insert(words.end(), more.begin(), more.end());
    return morello(words);
  }
};

TEST_CASE("what is locked is written without a search, byte for byte") {
  const Project project;
  const std::string& p = project.p;
#ifdef MORELLO_LONG
  const std::vector<const char*> machines = {"x86-64-v3", "graniterapids"};
#else
  const std::vector<const char*> machines = {"x86-64-v3"};
#endif
  for (const char* machine : machines)
    for (const char* threads : {"1", "2"}) {
      CAPTURE(machine);
      CAPTURE(threads);
      const Words common{"--machine", machine,    "--threads",     threads,
                         "--lock",    p + "lock", "--lock-target", "all"};
      Words first = common, second = common;
      first.emplace_back("--update-lock");
      // A search would need more than one sub-problem.
      second.insert(second.end(), {"--locked", "--max-specs", "1"});
      const Ran a = project.generate("first", first);
      CHECK(a.err == "");
      REQUIRE(a.code == 0);
      const std::string lock = contents(p + "lock");
      const Ran b = project.generate("second", second);
      CHECK(b.err == "");
      REQUIRE(b.code == 0);
      CHECK(b.out.find(" (from the lock file)\n") != std::string::npos);
      CHECK(b.out.find("not from the lock file") == std::string::npos);
      CHECK(contents(p + "first.h") == contents(p + "second.h"));
      CHECK(contents(p + "first.impl") == contents(p + "second.impl"));
      // An update with nothing to do changes nothing.
      first.insert(first.end(), {"--max-specs", "1"});
      CHECK(project.generate("first", first).code == 0);
      CHECK(contents(p + "lock") == lock);
    }
}

TEST_CASE("what is out of date is searched for, or said") {
  const TemporaryDirectory d;
  const std::string p = d.path() + "/";
  const auto tiny = [&](const std::string& spec, const std::string& machine, const Words& more) {
    Words words{"generate",   "--spec", spec,       "--name",        "tiny",
                "--machine",  machine,  "--isa",    "scalar",        "--header",
                p + "tiny.h", "--lock", p + "lock", "--lock-target", "t"};
    words.insert(words.end(), more.begin(), more.end());
    return morello(words);
  };
  const std::string other = "(a: f32[4,9], b: f32[9,16] packed): f32 = matmul(a, b)";
  const Ran missing = tiny(kTiny, "zen5", {"--locked", "--update-command", "make t.update"});
  CHECK(missing.code == 4);
  CHECK(missing.err == "morello: error: " + p +
                           "lock is out of date, and a search is not allowed:\n"
                           "  tiny scalar: it has no entry\nTo update it:\n  make t.update\n");
  CHECK(tiny(kTiny, "zen5", {}).out.find(" (not from the lock file: it has no entry)\n") !=
        std::string::npos);
  REQUIRE(tiny(kTiny, "zen5", {"--update-lock"}).code == 0);
  CHECK(tiny(kTiny, "zen5", {"--locked"}).code == 0);

  const struct {
    std::string spec, machine;
    Words more;
    std::string why;
  } rows[] = {
      {other,
       "zen5",
       {},
       "  tiny scalar: its spec is `tiny(a: f32[4,9], b: f32[9,16] packed): "
       "f32[4,16] = matmul(a, b)`, the lock file has `tiny(a: f32[4,8], "},
      {kTiny, "zen4", {}, "  tiny scalar: its machine is zen4 (sha256 "},
      {kTiny,
       "zen5",
       {"--threads", "2"},
       "  tiny scalar: it may use 2 threads, the lock file says 1\n"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    Words more = row.more;
    more.emplace_back("--locked");
    const Ran ran = tiny(row.spec, row.machine, more);
    CHECK(ran.code == 4);
    CHECK(ran.err.find(row.why) != std::string::npos);
    CHECK(tiny(row.spec, row.machine, row.more).code == 0);
  }
  // Another target's entries stay.
  CHECK(morello({"generate", "--spec", kTiny, "--name", "tiny", "--machine", "zen5", "--isa",
                 "scalar", "--lock", p + "lock", "--lock-target", "u", "--update-lock"})
            .code == 0);
  CHECK(tiny(kTiny, "zen5", {"--locked"}).code == 0);
  CHECK(listing(d.path()) == Words{"lock", "tiny.h"});
}

TEST_CASE("targets that share a file may be updated at the same time") {
  const TemporaryDirectory d;
  std::vector<pid_t> running;
  constexpr int kTargets = 8;
  for (int i = 0; i < kTargets; ++i)
    running.push_back(start_morello({"generate", "--spec", kTiny, "--name", "tiny", "--machine",
                                     "zen5", "--isa", "scalar", "--lock", d.path() + "/lock",
                                     "--lock-target", fmt::format("t{}", i), "--update-lock"}));
  for (const pid_t pid : running) CHECK(wait_for(pid) == 0);
  const Result<LockFile> lock = parse_lock(contents(d.path() + "/lock"), "lock");
  REQUIRE(lock.ok());
  CHECK(lock->kernels.size() == kTargets);
  CHECK(lock->outputs.size() == kTargets);
  CHECK(listing(d.path()) == Words{"lock"});
}

// Replaces the first `from` of a file.
void edit(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = contents(path);
  const size_t at = text.find(from);
  CAPTURE(from);
  REQUIRE(at != std::string::npos);
  std::ofstream(path) << text.replace(at, from.size(), to);
}

struct Edit {
  const char *from, *to;
  int code;
  const char* why;
};

void check_edits(const char* spec, std::span<const Edit> rows) {
  const TemporaryDirectory d;
  const std::string lock = d.path() + "/lock";
  const auto locked = [&](const char* mode) {
    return morello({"generate", "--spec", spec, "--name", "tiny", "--machine", "zen5", "--isa",
                    "scalar", "--lock", lock, "--lock-target", "t", mode});
  };
  for (const Edit& row : rows) {
    CAPTURE(row.to);
    std::filesystem::remove(lock);
    REQUIRE(locked("--update-lock").code == 0);
    edit(lock, row.from, row.to);
    const Ran ran = locked("--locked");
    CHECK(ran.code == row.code);
    CHECK(ran.err.find(row.why) != std::string::npos);
    CAPTURE(ran.err);
    CHECK(ran.out == "");
  }
}

TEST_CASE("a lock file that somebody edited") {
  check_edits(
      kTiny,
      std::vector<Edit>{
          {"version = 1", "version = 9", 4, "version 9 of lock files is not known"},
          {"version = 1", "version = 1 1", 4, "lock:2:13: error: "},
          {"threads = 1\n", "", 4, ": error: a kernel lacks `threads`"},
          {"threads = 1\n", "threads = \"1\"\n", 4, "`threads` of a kernel has the wrong type"},
          {"threads = 1\n", "threads = 0\n", 4, "`threads` of a kernel is 0"},
          {"threads = 1\n", "thread = 1\nthreads = 1\n", 4, "unknown key `thread` in a kernel"},
          {"family = \"", "family = \"x", 4, "this generator cannot use its entry: no family `x"},
          {"nest = \"\"\"\n", "nest = \"\"\"\nloop k by 3\n  ", 4, "cannot use its entry: "},
          {"nest = \"\"\"\n", "nest = \"\"\"\nturn\n", 4, "cannot use its entry: no node `turn`"},
          {"  call\n", "  hole m=4 n=2 k=8 a@L1 b@L1 packed out@L1\n", 4,
           "cannot use its entry: the program has a hole"},
          {"\n[[kernel.program]]", "nest = \"call\"\n[[kernel.program]]", 4,
           "cannot use its entry: a kernel of one stage has programs, not one nest"},
          {"output_sha256 = \"", "output_sha256 = \"0", 1, "a bug of Morello, please report it"},
      });
}

TEST_CASE("an entry of elastic pieces that somebody edited") {
  check_edits(
      "(a: f32[2,k to 64], b: f32[k,n to 24]): f32 = matmul(a, b)",
      std::vector<Edit>{
          {"elastic = 1}", "elastic = 0}", 4, "`elastic` of an element of `pieces` is 0"},
          {"elastic = 1}", "elastic = true}", 4,
           "`elastic` of an element of `pieces` has the wrong type"},
          {"elastic = 1}", "elastic = 9}", 4, "cannot use its entry: k is elastic from piece 9 on"},
          {"sizes = [64, 1]", "sizes = [65536, 1]", 4,
           "cannot use its entry: a piece of k has 4096 granules at most"},
          {"elastic = [\"k\"]", "elastic = [1]", 4, "`elastic` of a program is a list of dims"},
          {"elastic = [\"k\"]", "elastic = [\"m\"]", 4,
           "other dims are elastic than those of its piece"},
          {"output_sha256 = \"", "output_sha256 = \"0", 1, "a bug of Morello, please report it"},
      });
}

TEST_CASE("an entry of several stages that somebody edited") {
  check_edits(
      "(x: f32[4,8]): f32 = softmax(x, axis=1)",
      std::vector<Edit>{
          {"threads = 1\n", "threads = 2\n", 4, "it may use 1 threads, the lock file says 2"},
          {"nest = \"\"\"\n", "nest = \"\"\"\nthreads 2\n", 4,
           "cannot use its entry: a nest for 2 threads"},
          {"nest = \"\"\"\n", "nest = \"\"\"\nsums together\n", 4, "cannot use its entry: "},
          {"nest = \"\"\"\n", "nest = \"\"\"\nturn\n", 4,
           "cannot use its entry: expected `t1`, got `turn`"},
          {"out: ", "out adding: ", 4, "cannot use its entry: stage 3 adds in another step"},
          {"@L1", "@L0", 4, "cannot use its entry: no level `L0`; did you mean `L1`?"},
          {"sum_f32 ", "mus_f32 ", 4, "cannot use its entry: no family `mus_f32 "},
          {"      call\n", "      hole i=1 k=8 x@L1 out@L1\n", 4,
           "cannot use its entry: the program has a hole"},
          {"nest", "program", 4, "error: `program` is an array"},
          {"cycles = ", "pieces = [{dim = \"k\", sizes = [8]}]\ncycles = ", 4,
           "cannot use its entry: a kernel of several stages has one nest"},
          {"output_sha256 = \"", "output_sha256 = \"0", 1, "a bug of Morello, please report it"},
      });
}

TEST_CASE("a lock file prints what it reads") {
  LockFile lock;
  LockedKernel k{
      .target = "b",
      .name = "k",
      .isa = "avx2",
      .spec = "k(): \"\\",
      .machine = "m",
      .machine_sha256 = "00",
      .threads = 2,
      .cycles = 7,
      .pieces = {{"n", {64, 16}}, {"k", {256, 8, 1}, 1}},
      .divided = 2,
      .divided_from = 32,
      .nest = "t0 in out\nloop m by 2\n",
      .programs = {{1, 5, "family", "loop n by 4\n  call\n"}, {2, 6, "f", "call\n", {"k", "n"}}}};
  lock.replace("b", {k}, {{"b", "11", "22"}});
  k.target = "a";
  k.pieces = {};
  k.divided = 1;
  k.divided_from = 0;
  lock.replace("a", {k}, {});
  const Result<LockFile> read = parse_lock(lock.toml(), "lock");
  REQUIRE(read.ok());
  CHECK(read->kernels == lock.kernels);
  CHECK(read->outputs == lock.outputs);
  CHECK(read->toml() == lock.toml());
  CHECK(lock.kernels[0].target == "a");
}

}  // namespace
}  // namespace morello
