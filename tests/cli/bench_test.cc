#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "cli/bench/subject.h"
#include "cli/bench/texts.h"
#include "cli/files.h"
#include "cli/process.h"

namespace morello {
namespace {

// But for what costs alone ask for: no operator is made of these.
TEST_CASE("the driver's reference has every function") {
  std::string_view numbers;
  for (const TextFile& f : bench_files())
    if (f.path == "numbers.h") numbers = f.text;
  for (const FnDef& f : fn_table())
    if (f.fn != Fn::kRounded && f.fn != Fn::kExpNonpositive)
      CHECK_MESSAGE(numbers.find(fmt::format("Bounds {}_of(", f.name)) < numbers.size(), f.name);
}

// Every type, layout and body goes through the driver's reference.
TEST_CASE("bench compiles, verifies and times") {
  const TemporaryDirectory d;
  std::ofstream(d.path() + "/k.spec")
      << "mm(a: bf16[3,5] col, b: f32[5,7] packed): bf16 = matmul(a, b)\n"
         "mi(a: u8[3,10], b: i8[10,7]): i32 = matmul(a, b)\n"
         "add(a: i32[9], b: i32[9]): i32 = a + b\n"
         "square(a: f32[2,9]): f32 = a * a\n"
         "half(a: f32[9,3]): f16 col = convert(a)\n"
         "sum(a: f32[4,6]): f32 = reduce_sum(a, axis=0)\n"
         "norm(a: bf16[4,40], g: f32[40]): bf16 = layer_norm(a, 0.00001, axis=1) * g\n"
         "pair(a: f32[8,8], b: f32[8,8]): f32 = matmul(h, b) where h: bf16 = relu(matmul(a, b))\n"
         "groups(x: f32[1,5,5,4], k: f32[3,3,2,6], m: f32[3,3,2,8]): f32 = conv2d(pad(y, axis=3, "
         "low=1, high=1), m, groups=4) where y = relu(conv2d(pad(x, axis=1, low=1, high=1), k, "
         "groups=2))\n"
         "both(a: f32[6,10]): (y: bf16 col, m: f32, h: f32[6,10] order(1/5, 0, 1%5)) where "
         "h = exp(a), m = reduce_max(h, axis=1), y = h - broadcast(m, axis=1)\n";
  const Ran ran = morello({"bench", "--spec-file", d.path() + "/k.spec", "--machine", "zen5",
                           "--threads", "2", "--rounds", "1", "--json", d.path() + "/b.json"},
                          {{"TMPDIR=" + d.path()}, "", -1});
  CHECK(ran.err == "");
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("mm(a: bf16[3,5] col, b: f32[5,7] packed): bf16[3,7] = matmul(a, b)\n"
                     "  verified 21 of 21 outputs; worst error ") == 0);
  CHECK(ran.out.find(" GFLOP/s, ") != std::string::npos);
  CHECK(ran.out.find(" cycles, 2 stages\n") != std::string::npos);
  CHECK(ran.out.find("verified 126 of 126 outputs") != std::string::npos);
  CHECK(ran.out.find(" GOP/s, ") != std::string::npos);
  const std::string json = contents(d.path() + "/b.json");
  for (const char* key : {"machine", "rounds", "kernels", "spec", "isa", "threads",
                          "seconds_median", "seconds_best", "operations_per_second",
                          "bytes_per_second", "model_cycles", "outputs", "checked", "worst_error"})
    CHECK(json.find(fmt::format("\"{}\": ", key)) != std::string::npos);
  CHECK(listing(d.path()) == std::vector<std::string>{"b.json", "k.spec"});
}

// One result is right, and the other is not.
TEST_CASE("bench compares every result") {
  const TemporaryDirectory d;
  const std::string compiler = d.path() + "/cxx";
  std::ofstream(compiler) << "#!/bin/sh\nfor i; do case $i in -I*) dir=${i#-I};; esac; done\n"
                             "sed -i 's/T(3)/T(4)/' $dir/subjects.h\nexec c++ \"$@\"\n";
  ::chmod(compiler.c_str(), 0755);
  const Ran ran =
      morello({"bench", "--spec", "(a: f32[4]): (y: f32, z: f32) where y = a * a, z = a + 3",
               "--machine", "x86-64-v3", "--rounds", "1"},
              {{"CXX=" + compiler}, "", -1});
  CHECK(ran.code == 1);
  CHECK(ran.err.find("wrong results: 4 of 8 outputs checked") != std::string::npos);
}

TEST_CASE("bench refuses a kernel that computes something else") {
  const TemporaryDirectory d;
  // A compiler that first breaks the kernel: every product becomes a sum.
  const std::string compiler = d.path() + "/cxx";
  std::ofstream(compiler) << "#!/bin/sh\nfor i; do case $i in -I*) dir=${i#-I};; esac; done\n"
                             "sed -i 's/ \\* a_1/ + a_1/; s/fn::mul_of(in/fn::add_of(in/' "
                             "$dir/subjects.h\nexec c++ \"$@\"\n";
  ::chmod(compiler.c_str(), 0755);
  const Ran ran = morello({"bench", "--spec", "(a: f32[4], b: f32[4]): f32 = a * b", "--machine",
                           "x86-64-v3", "--rounds", "1"},
                          {{"CXX=" + compiler}, "", -1});
  CHECK(ran.code == 1);
  CHECK(ran.out == "");
  CHECK(ran.err ==
        "morello: error: wrong results: 4 of 4 outputs checked, avx2: "
        "(a: f32[4], b: f32[4]): f32[4] = mul(a, b)\n");
}

TEST_CASE("bench cleans up when the compiler fails, is missing, or the user has had enough") {
  const TemporaryDirectory d;
  const std::vector<std::string> words{"bench", "--spec", kTiny, "--machine", "zen5"};
  const auto with = [&](const std::string& cxx) {
    return Setting{{"TMPDIR=" + d.path(), "CXX=" + cxx}, "", -1};
  };
  const Ran fails = morello(words, with("false"));
  CHECK(fails.code == 1);
  CHECK(fails.err == "morello: error: false failed with exit code 1\n");
  const Ran missing = morello(words, with("no-such-compiler -x"));
  CHECK(missing.code == 1);
  CHECK(missing.err == "morello: error: cannot run no-such-compiler: No such file or directory\n");
  CHECK(listing(d.path()).empty());

  const TemporaryDirectory other;
  const std::string patient = other.path() + "/cxx";
  std::ofstream(patient) << "#!/bin/sh\nexec sleep 1000\n";
  ::chmod(patient.c_str(), 0755);
  const pid_t pid = start_morello(words, with(patient));
  for (int i = 0; i < 6000 && listing(d.path()).empty(); ++i) ::usleep(10000);
  CHECK(listing(d.path()).size() == 1);
  ::kill(pid, SIGTERM);
  CHECK(wait_for(pid) == 128 + SIGTERM);
  CHECK(listing(d.path()).empty());
}

TEST_CASE("the reference follows the computation, not the kernel") {
  const Result<KernelSpec> spec =
      parse_spec("(a: f32[4,8], b: f32[8,16] col): f32[4,16] = matmul(a, b)");
  REQUIRE(spec.ok());
  const std::string text = subjects_text({*spec}, {"k.h"});
  CHECK(text.find("return fn::mul_of(in[0], in[1]);") != std::string::npos);
  CHECK(text.find("constexpr bool kReduction[] = {false, false, true, false};") !=
        std::string::npos);
}

}  // namespace
}  // namespace morello
