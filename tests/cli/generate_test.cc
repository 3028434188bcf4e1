// morello generate: what it writes, that the bytes depend on nothing else, and that nothing partial
// is left behind.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/files.h"
#include "cli/output.h"
#include "cli/process.h"

namespace morello {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words generate(const Words& more) {
  Words words{"generate", "--spec", kTiny, "--name", "tiny", "--machine", "x86-64-v3"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("without --header the header goes to standard output, and nothing else anywhere") {
  const Ran ran = morello(generate({}));
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  CHECK(ran.out.find("void tiny(const float* a, const void* b, float* out") != std::string::npos);
  CHECK(ran.out.find("// machine: x86-64-v3 (fnv1a ") != std::string::npos);
  CHECK(ran.out.find("namespace morello {") != std::string::npos);
}

TEST_CASE("all files at once") {
  const TemporaryDirectory d;
  const std::string p = d.path() + "/";
  const Ran ran = morello(
      generate({"--header", p + "in/tiny.h", "--source", p + "tiny.cc", "--impl", p + "tiny.impl",
                "--stats", p + "tiny.json", "--stamp", p + "stamp", "--namespace", "my::kernels"}));
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  CHECK(ran.out.find("tiny avx2: ") == 0);
  CHECK(ran.out.find(" s CPU, ") != std::string::npos);
  CHECK(ran.out.find("\ntiny scalar: ") != std::string::npos);
  CHECK(listing(d.path()) == Words{"in", "stamp", "tiny.cc", "tiny.impl", "tiny.json"});
  CHECK(contents(p + "stamp") == "");
  CHECK(contents(p + "tiny.cc").find("#include \"tiny.h\"") != std::string::npos);
  CHECK(contents(p + "in/tiny.h").find("namespace my::kernels {") != std::string::npos);
  CHECK(contents(p + "tiny.impl")
            .starts_with("# tiny(a: f32[4,8], b: f32[8,16] packed): f32[4,16] = matmul(a, b)\n"
                         "# isa avx2, threads 1, "));
  const Ran quiet = morello(generate({"--header", p + "in/tiny.h", "--quiet"}));
  CHECK(quiet.code == 0);
  CHECK(quiet.out == "");
}

TEST_CASE("statistics have every key") {
  const TemporaryDirectory d;
  REQUIRE(morello(generate({"--stats", d.path() + "/s"})).code == 0);
  const std::string json = contents(d.path() + "/s");
  for (const char* key :
       {"machine", "kernels", "name", "isa", "spec", "threads", "seconds", "specs", "candidates",
        "memo_hits", "boxes", "memo_bytes", "compression", "log10_programs", "cost", "family",
        "families_tried", "families_skipped", "peak_rss_bytes"}) {
    CAPTURE(key);
    CHECK(json.find(fmt::format("\"{}\": ", key)) != std::string::npos);
  }
  const Ran valid = shell("command -v python3 >/dev/null || exit 0\npython3 -m json.tool < " +
                          d.path() + "/s >/dev/null");
  CHECK(valid.code == 0);
  CHECK(valid.err == "");
}

TEST_CASE("several kernels from one file, instruction sets in the order of the table") {
  const TemporaryDirectory d;
  const std::string file = d.path() + "/k.spec";
  std::ofstream(file) << "# two\none(a: f32[4]): f16 = convert(a)\n"
                         "two(a: f32[4], b: f32[4]): f32 = a + b\n";
  const Words words{"generate", "--spec-file",       file, "--machine", "zen5",
                    "--isa",    "scalar,avx2,avx512"};
  const Ran ran = morello(words);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("struct one_info") != std::string::npos);
  CHECK(ran.out.find("struct two_info") != std::string::npos);
  CHECK(ran.out.find("isas = \"avx512,avx2,scalar\"") != std::string::npos);
  // Those of the machine when nothing is said.
  CHECK(shell(fmt::format("{} generate --spec-file - --machine zen5 < {}", MORELLO_BINARY, file))
            .out == ran.out);
}

TEST_CASE("StableHLO text by the ending of the file's name, and by --hlo") {
  const TemporaryDirectory d;
  const std::string file = d.path() + "/half.mlir", other = d.path() + "/half.txt";
  for (const std::string& name : {file, other})
    std::ofstream(name) << "module {\n  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "    %c = stablehlo.constant dense<0.5> : tensor<4xf32>\n"
                           "    %0 = stablehlo.multiply %a, %c : tensor<4xf32>\n"
                           "    return %0 : tensor<4xf32>\n  }\n}\n";
  const auto header = [](const std::string& option, const std::string& value) {
    return morello({"generate", option, value, "--machine", "zen5", "--isa", "scalar"});
  };
  const Ran ran = header("--spec-file", file);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("void half(const float* a, float* out)") != std::string::npos);
  // Nothing of where it came from is left.
  CHECK(header("--hlo", other).out == ran.out);
  CHECK(header("--spec", "half(a: f32[4]): f32 = a * 0.5").out == ran.out);
}

TEST_CASE("one instruction set needs no fallback") {
  const Ran ran = morello(generate({"--isa", "avx2"}));
  CHECK(ran.code == 0);
  CHECK(ran.out.find("isas = \"avx2\"") != std::string::npos);
}

TEST_CASE("the bytes depend on the arguments alone") {
  const TemporaryDirectory d;
  fs::create_directories(d.path() + "/other");
  const char* spec = "(a: f32[48,64], b: bf16[64,80] packed): bf16 = matmul(a, b)";
  const auto bytes = [&](const Words& more, const Setting& setting) {
    Words words{"generate",  "--spec",    spec,        "--name", "k",
                "--machine", "x86-64-v3", "--threads", "4",      "--header",
                "k.h",       "--source",  "k.cc",      "--impl", "k.impl"};
    words.insert(words.end(), more.begin(), more.end());
    Setting here = setting;
    if (here.directory.empty()) here.directory = d.path();
    const Ran ran = morello(words, here);
    CHECK(ran.code == 0);
    CHECK(ran.err == "");
    std::string all;
    for (const char* name : {"/k.h", "/k.cc", "/k.impl"}) {
      all += contents(here.directory + name);
      fs::remove(here.directory + name);
    }
    return all;
  };
  const std::string expected = bytes({"-j", "1"}, {});
  CHECK(expected.size() > 1000);
  CHECK(bytes({"-j", "2"}, {}) == expected);
  CHECK(bytes({"-j", "7", "--progress", "off"}, {}) == expected);
  CHECK(bytes({}, {{}, d.path() + "/other", -1}) == expected);
  CHECK(bytes({}, {{"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8"}, "", -1}) == expected);
  CHECK(bytes({}, {{"LC_ALL=C", "TZ=Asia/Tokyo", "COLUMNS=20"}, "", -1}) == expected);
  CHECK(bytes({}, {{}, "", 077}) == expected);
  CHECK(bytes({"--max-specs", "1000000000"}, {}) == expected);
  CHECK(expected.find(d.path()) == std::string::npos);
}

TEST_CASE("files are created with the user's umask") {
  const TemporaryDirectory d;
  for (const int umask : {022, 077}) {
    const std::string header = fmt::format("{}/{}.h", d.path(), umask);
    REQUIRE(morello(generate({"--header", header}), {{}, "", umask}).code == 0);
    struct stat s {};
    REQUIRE(::stat(header.c_str(), &s) == 0);
    CHECK((s.st_mode & 0777) == (0666U & ~static_cast<unsigned>(umask)));
  }
}

TEST_CASE("a second run leaves the header alone and renews the stamp") {
  const TemporaryDirectory d;
  const std::string header = d.path() + "/t.h", stamp = d.path() + "/stamp";
  const auto words = generate({"--header", header, "--stamp", stamp});
  REQUIRE(morello(words).code == 0);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const std::string& file : {header, stamp}) fs::last_write_time(file, old);
  const auto header_time = fs::last_write_time(header), stamp_time = fs::last_write_time(stamp);
  REQUIRE(morello(words).code == 0);
  CHECK(fs::last_write_time(header) == header_time);
  CHECK(fs::last_write_time(stamp) != stamp_time);
}

TEST_CASE("a run that is killed leaves nothing or everything") {
  const TemporaryDirectory d;
  const std::string expected = morello(generate({"--header-name", "t.h"})).out;
  int killed = 0;
  for (int delay = 0; delay < 40; ++delay) {
    const std::string directory = fmt::format("{}/{}", d.path(), delay);
    fs::create_directories(directory);
    const pid_t pid = start_morello(generate({"--header", directory + "/t.h"}));
    ::usleep(static_cast<useconds_t>(delay) * 250);
    ::kill(pid, SIGTERM);
    killed += wait_for(pid) == 128 + SIGTERM;
    const Words left = listing(directory);
    CHECK((left == Words{} || left == Words{"t.h"}));
    if (!left.empty()) CHECK(contents(directory + "/t.h") == expected);
  }
  CHECK(killed > 0);
}

TEST_CASE("digest") {
  // Reference values of 64-bit FNV-1a.
  CHECK(digest("") == "cbf29ce484222325");
  CHECK(digest("foobar") == "85944171f73967e8");
}

TEST_CASE("JSON strings") { CHECK(json_string("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\""); }

}  // namespace
}  // namespace morello
