// Wrong command lines: the whole of stderr, and the exit code.
#include <doctest/doctest.h>

#include "cli/files.h"
#include "cli/process.h"

namespace morello {
namespace {

struct Row {
  std::vector<std::string> arguments;  // TINY stands for a spec, DIR for an empty directory
  int code;
  std::string err;  // HINT stands for the line that names the --help of generate
};

const Row kRows[] = {
    {{},
     2,
     "morello: error: a command is missing (allowed: generate, check, explain, machine, bench, "
     "testbench, "
     "memo)\n"
     "Try `morello --help`.\n"},
    {{""},
     2,
     "morello: error: unknown command `` (allowed: generate, check, explain, machine, bench, "
     "testbench, "
     "memo)\n"
     "Try `morello --help`.\n"},
    {{"generat"},
     2,
     "morello: error: unknown command `generat`; did you mean `generate`? (allowed: generate, "
     "check, explain, machine, bench, testbench, memo)\nTry `morello --help`.\n"},
    {{"--spec", "x"}, 2, "morello: error: unknown option `--spec`\nTry `morello --help`.\n"},
    {{"machine"},
     2,
     "morello: error: a command is missing (allowed: list, show, detect)\n"
     "Try `morello machine --help`.\n"},
    {{"machine", "lst"},
     2,
     "morello: error: unknown command `lst`; did you mean `list`? (allowed: list, show, detect)\n"
     "Try `morello machine --help`.\n"},
    {{"machine", "show"},
     2,
     "morello: error: which machine? NAME is missing\nTry `morello machine show --help`.\n"},
    {{"machine", "show", "zen4", "zen5"},
     2,
     "morello: error: unexpected argument `zen5`\nTry `morello machine show --help`.\n"},
    {{"machine", "show", "zn5"},
     2,
     "morello: error: unknown machine `zn5`; did you mean `zen5`?\n"
     "note: shipped machines: alderlake, graniterapids, haswell, skylake, skylake-server, "
     "x86-64-v3, zen1, zen2, "
     "zen3, zen4, "
     "zen5\nnote: or the path of a .toml file, or `native`\n"},
    {{"machine", "detect", "--outptu", "x"},
     2,
     "morello: error: unknown option `--outptu`; did you mean `--output`?\n"
     "Try `morello machine detect --help`.\n"},
    {{"check"},
     2,
     "morello: error: --spec, --spec-file or --hlo is missing\nTry `morello check --help`.\n"},
    {{"check", "generate"},
     2,
     "morello: error: unexpected argument `generate`\nTry `morello check --help`.\n"},
    {{"check", "(a: f32[4]): f32 = convert(a)"},
     2,
     "morello: error: unexpected argument `(a: f32[4]): f32 = convert(a)`\n"
     "Try `morello check --help`.\n"},
    {{"check", "--spec"},
     2,
     "morello: error: --spec: the value is missing\nTry `morello check --help`.\n"},
    {{"check", "--spec", "TINY", "--spec", "TINY"},
     2,
     "morello: error: --spec is given more than once\nTry `morello check --help`.\n"},
    {{"check", "--spec", "TINY", "--spec-file", "x"},
     2,
     "morello: error: --spec and --spec-file exclude each other\nTry `morello check --help`.\n"},
    {{"check", "--spec-file", "k.spec", "--hlo", "x"},
     2,
     "morello: error: --spec-file and --hlo exclude each other\nTry `morello check --help`.\n"},
    {{"check", "--hlo", "/dev/null"},
     3,
     "/dev/null:1:1: error: there is no public function here: `func.func public @main(...)`\n"},
    {{"check", "--spec", "TINY", "--name", "f"},
     2,
     "morello: error: unknown option `--name`\nTry `morello check --help`.\n"},
    {{"check", "--spec", "TINY", "-x"},
     2,
     "morello: error: unknown option `-x`\nTry `morello check --help`.\n"},
    {{"check", "--spec-file", "DIR/none.spec"},
     1,
     "morello: error: cannot read DIR/none.spec: No such file or directory\n"},
    {{"check", "--spec-file", "DIR"}, 1, "morello: error: cannot read DIR: Is a directory\n"},
    {{"check", "--spec", "(a: f23[4]): f32 = convert(a)"},
     3,
     "<spec>:1:5: error: unknown element type `f23`; allowed: f32, bf16, f16, i32, i16, u8, "
     "i8, i7\n  (a: f23[4]): f32 = convert(a)\n      ^~~\n"},
    {{"generate", "--spec", "TINY"},
     2,
     "morello: error: the kernel has no name: write one before its `(` or give --name\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "int"},
     2,
     "morello: error: --name `int`: it is a C++ keyword\nHINT"},
    {{"generate", "--spec-file", "/dev/null", "--name", "f"},
     3,
     "/dev/null:1:1: error: expected a kernel, such as (a: f32[4,8], b: f32[8,16]): f32 = "
     "matmul(a, b); got the end of the text\n"},
    {{"generate", "--spec", "f(a: f32[4]): f32 = convert(a) g(a: f32[4]): f32 = convert(a)",
      "--name", "h"},
     2,
     "morello: error: --name is for one kernel, but <spec> has 2\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--thread", "2"},
     2,
     "morello: error: unknown option `--thread`; did you mean `--threads`?\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--threads", "0"},
     2,
     "morello: error: --threads: Value 0 not in range 1 to 1024\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--threads", "1025"},
     2,
     "morello: error: --threads: Value 1025 not in range 1 to 1024\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--threads", "two"},
     2,
     "morello: error: --threads: Value two not in range 1 to 1024\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--threads="},
     2,
     "morello: error: --threads: the value is missing\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "-j", "0"},
     2,
     "morello: error: --jobs: Value 0 not in range 1 to 1024\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--isa", "avx2,avx2"},
     2,
     "morello: error: --isa: `avx2` is given twice\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--isa", "avx3,scalar"},
     2,
     "morello: error: --isa: unknown instruction set `avx3`; did you mean `avx2`? (allowed: "
     "avx512_bf16, avx512_vnni, avx512, avx2_vnni, avx2, "
     "scalar)\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--isa", "avx2,"},
     2,
     "morello: error: --isa: unknown instruction set `` (allowed: avx512_bf16, avx512_vnni, "
     "avx512, avx2_vnni, avx2, scalar)\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--isa", ""},
     2,
     "morello: error: --isa: unknown instruction set `` (allowed: avx512_bf16, avx512_vnni, "
     "avx512, avx2_vnni, avx2, scalar)\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "DIR/none.toml"},
     2,
     "morello: error: cannot read the machine file `DIR/none.toml`: No such file or directory\n"},
    {{"generate", "--spec", "TINY", "--name", "f", "--namespace", "a::"},
     2,
     "morello: error: --namespace `a::`: ``: a name is a letter followed by letters, digits and "
     "underscores\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--namespace", "a::class"},
     2,
     "morello: error: --namespace `a::class`: `class`: it is a C++ keyword\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--progress", "on"},
     2,
     "morello: error: --progress: on not in {auto,log,off}\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "zen5", "--max-specs", "3"},
     5,
     "morello: error: f avx512: --max-specs 3 is too small to find the best program\n"},
    {{"generate", "--spec", "TINY", "--name", "f", "--source", "DIR/f.cc"},
     2,
     "morello: error: --source needs --header: the source includes the header\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--header-name", "a\"b"},
     2,
     "morello: error: --header-name: quotes, backslashes and line ends do not fit in an "
     "#include\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "zen5", "--header", ""},
     2,
     "morello: error: --header: the name of the file is empty\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "zen5", "--header", "DIR/f.h",
      "--impl", "DIR/./f.h"},
     2,
     "morello: error: --header and --impl name the same file: DIR/./f.h\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "zen5", "--header", "/dev/full"},
     1,
     "morello: error: cannot write /dev/full: No space left on device\n"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "zen5", "--header", "DIR/f.h",
      "--stamp", "/dev/null/x/stamp"},
     1,
     "morello: error: cannot create the directory of /dev/null/x/stamp: Not a directory\n"},
    {{"generate", "--spec", "TINY", "--name", "f", "--machine", "zen5", "--header", "DIR"},
     1,
     "morello: error: cannot write DIR: Is a directory\n"},
    {{"generate", "--spec", "TINY", "--name", "f", "--memo", "DIR", "--no-memo"},
     2,
     "morello: error: --memo and --no-memo exclude each other\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--memo"},
     2,
     "morello: error: --memo: the value is missing\nHINT"},
    {{"generate", "--spec", "TINY", "--name", "f", "--memo-budget", "0"},
     2,
     "morello: error: --memo-budget: Value 0 not in range 1 to 1073741824\nHINT"},
    {{"memo"},
     2,
     "morello: error: a command is missing (allowed: stats, clear)\nTry `morello memo --help`.\n"},
    {{"memo", "clear", "--no-memo"},
     2,
     "morello: error: unknown option `--no-memo`; did you mean `--memo`?\n"
     "Try `morello memo clear --help`.\n"},
    {{"bench", "--spec", "TINY", "--rounds", "0"},
     2,
     "morello: error: --rounds: Value 0 not in range 1 to 100000\nTry `morello bench --help`.\n"},
};

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

TEST_CASE("wrong command lines") {
  for (const Row& row : kRows) {
    const TemporaryDirectory directory;
    std::vector<std::string> arguments;
    for (const std::string& a : row.arguments)
      arguments.push_back(replaced(replaced(a, "TINY", kTiny), "DIR", directory.path()));
    CAPTURE(row.err);
    const Ran ran = morello(arguments);
    CHECK(ran.code == row.code);
    CHECK(ran.out == "");
    const std::string hint = "Try `morello generate --help`.\n";
    CHECK(ran.err == replaced(replaced(row.err, "HINT", hint), "DIR", directory.path()));
    CHECK(listing(directory.path()).empty());
  }
}

TEST_CASE("a full disk behind standard output is an error") {
  for (const char* command : {"--version", "--help", "machine list", "machine show zen5"}) {
    const Ran ran = shell(std::string(MORELLO_BINARY) + " " + command + " > /dev/full");
    CHECK(ran.code == 1);
    CHECK(ran.err == "morello: error: cannot write standard output: No space left on device\n");
  }
}

}  // namespace
}  // namespace morello
