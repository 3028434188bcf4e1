// check, explain, machine, --help, --version.
#include <doctest/doctest.h>

#include <fstream>

#include "cli/files.h"
#include "cli/process.h"
#include "target/machine.h"

namespace morello {
namespace {

TEST_CASE("check prints the canonical form, which checks to itself") {
  const Ran ran =
      morello({"check", "--spec", "( a : f32[4, 8] row,b: f32[8,16] ) : f32 = matmul(a,b)"});
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  CHECK(ran.out ==
        "(a: f32[4,8], b: f32[8,16]): f32[4,16] = matmul(a, b)\n"
        "  (a: f32[m,k], b: f32[k,n]) -> f32[m,n]: in0 * in1, sum over k; m=4 n=16 k=8\n");
  const std::string canonical = ran.out.substr(0, ran.out.find('\n'));
  CHECK(morello({"check", "--spec", canonical}).out == ran.out);
}

TEST_CASE("explain") {
  const Ran ran =
      morello({"explain", "--spec", kTiny, "--machine", "zen5", "--isa", "scalar,avx2"});
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  CHECK(ran.out.find("machine      zen5, avx2\n") != std::string::npos);
  CHECK(ran.out.find("\n\nkernel       ") != std::string::npos);
  CHECK(ran.out.find("machine      zen5, scalar\n") != std::string::npos);
  CHECK(ran.out.find("families, cheapest bound first\n") != std::string::npos);
  // One instruction set: the machine's.
  const Ran one = morello({"explain", "--spec", kTiny, "--machine", "zen5"});
  CHECK(one.out.find("machine      zen5, avx512_bf16\n") != std::string::npos);
  CHECK(one.out.find("scalar\n") == std::string::npos);
}

TEST_CASE("machine list and show") {
  const Ran list = morello({"machine", "list"});
  CHECK(list.code == 0);
  CHECK(list.out.find("x86-64-v3\n") != std::string::npos);
  for (const std::string& name : shipped_machines()) {
    const Ran show = morello({"machine", "show", name});
    CHECK(show.code == 0);
    const Result<Machine> machine = parse_machine(show.out, name);
    REQUIRE(machine.ok());
    CHECK(machine->name == name);
    CHECK(machine->toml() == show.out);
  }
}

TEST_CASE("machine detect") {
  const Setting synthetic{{"HWLOC_SYNTHETIC=pack:1 l3:1(size=8388608) l2:4(size=1048576) "
                           "l1d:1(size=32768) core:1 pu:1"},
                          "",
                          -1};
  const Ran printed = morello({"machine", "detect"}, synthetic);
  CHECK(printed.code == 0);
  const Result<Machine> machine = parse_machine(printed.out, "detected");
  REQUIRE(machine.ok());
  CHECK(machine->cores == 4);
  CHECK(machine->levels[kL2].bytes == 1048576);
  CHECK(machine->levels[kL3].shared_by == 4);

  const TemporaryDirectory d;
  const std::string file = d.path() + "/m.toml";
  const Ran written = morello({"machine", "detect", "--output", file}, synthetic);
  CHECK(written.code == 0);
  CHECK(written.out == "");
  CHECK(contents(file) == printed.out);
  CHECK(morello({"machine", "show", file}).out == printed.out);
  // The file and `native` mean the same machine.
  const auto header = [&](const std::string& name) {
    return morello({"generate", "--spec", kTiny, "--name", "t", "--machine", name}, synthetic).out;
  };
  CHECK(header(file) == header("native"));
}

TEST_CASE("machine files with lines of every allowed size") {
  const TemporaryDirectory d;
  Machine machine = *load_machine("zen5");
  for (int line : {16, 32, 64, 128, 256, 512, 1024}) {
    CAPTURE(line);
    for (LevelDesc& level : machine.levels) level.line = line;
    const std::string file = d.path() + "/m.toml";
    std::ofstream(file) << machine.toml();
    // Rows of b share lines or not, those of a lie a page apart.
    const Ran ran =
        morello({"generate", "--spec", "(a: f32[5,1024], b: f32[1024,20]): f32 = matmul(a, b)",
                 "--name", "t", "--machine", file});
    CHECK(ran.code == 0);
    CHECK(ran.err == "");
    CHECK(ran.out.find("void t(const float* a") != std::string::npos);
  }
}

TEST_CASE("a machine file that is wrong") {
  const TemporaryDirectory d;
  const std::string file = d.path() + "/m.toml";
  std::ofstream(file) << "name = \"x\"\nisa = 3\n";
  const Ran ran = morello({"check", "--spec", kTiny});
  CHECK(ran.code == 0);
  const Ran wrong = morello({"generate", "--spec", kTiny, "--name", "t", "--machine", file});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.starts_with(file + ":2:"));
}

TEST_CASE("help and version") {
  const Ran help = morello({"--help"});
  CHECK(help.code == 0);
  for (const char* command :
       {"generate", "check", "explain", "machine", "bench", "testbench", "memo"})
    CHECK(help.out.find(fmt::format("\n  {}", command)) != std::string::npos);
  const Ran one = morello({"machine", "detect", "--help"});
  CHECK(one.code == 0);
  CHECK(one.out.find("Usage: morello machine detect [OPTIONS]") != std::string::npos);
  const Ran version = morello({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("morello "));
  CHECK(version.out.find(" (sources ") != std::string::npos);
}

}  // namespace
}  // namespace morello
