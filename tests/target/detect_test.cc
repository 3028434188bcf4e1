// Detection on computers that hwloc makes up (HWLOC_SYNTHETIC), so that nothing depends on this
// one.
#include <doctest/doctest.h>

#include <cstdlib>

#include "target/machine.h"

namespace morello {
namespace {

Detection detect(const char* synthetic) {
  setenv("HWLOC_SYNTHETIC", synthetic, 1);
  Detection d = detect_machine();
  unsetenv("HWLOC_SYNTHETIC");
  return d;
}

const std::string kUnknown =
    "the CPU's model is unknown: transfer costs and pipes are those of x86-64-v3";

// "cores 4; L1 32768/1 L2 262144/1 L3 8388608/4 mem 4": bytes and sharing.
std::string summary(const Machine& m) {
  std::string text = fmt::format("cores {};", m.cores);
  for (Level l = kL1; l <= kL3; ++l) {
    const LevelDesc& d = m.levels[static_cast<size_t>(l)];
    text += fmt::format(" {} {}/{}", level_name(l), d.bytes, d.shared_by);
  }
  return text + fmt::format(" mem {}", m.levels[kMemory].shared_by);
}

struct Row {
  const char* synthetic;
  std::string summary;
  std::vector<std::string> notes;  // after kUnknown
};
const Row kRows[] = {
    {"pack:1 l3:1(size=16777216) l2:4(size=524288) l1d:1(size=32768) core:1 pu:2",
     "cores 4; L1 32768/1 L2 524288/1 L3 16777216/4 mem 4",
     {}},
    {"pack:2 l3:1(size=33554432) l2:2(size=1048576) l1d:2(size=49152) core:1 pu:1",
     "cores 8; L1 49152/1 L2 1048576/2 L3 33554432/4 mem 8",
     {}},
    {"node:1 core:2 pu:1",
     "cores 2; L1 32768/1 L2 262144/1 L3 8388608/2 mem 2",
     {"hwloc knows no L1: took 32768 bytes shared by 1 from x86-64-v3",
      "hwloc knows no L2: took 262144 bytes shared by 1 from x86-64-v3",
      "hwloc knows no L3: took 8388608 bytes shared by 2 from x86-64-v3"}},
    {"pu:3",
     "cores 3; L1 32768/1 L2 262144/1 L3 8388608/3 mem 3",
     {"hwloc knows no cores: took its 3 hardware threads",
      "hwloc knows no L1: took 32768 bytes shared by 1 from x86-64-v3",
      "hwloc knows no L2: took 262144 bytes shared by 1 from x86-64-v3",
      "hwloc knows no L3: took 8388608 bytes shared by 3 from x86-64-v3"}},
    {"l2:2(size=2097152) l1d:1(size=65536) core:2 pu:1",
     "cores 4; L1 65536/2 L2 2097152/2 L3 8388608/4 mem 4",
     {"hwloc knows no L3: took 8388608 bytes shared by 4 from x86-64-v3"}},
    // The second level is larger than the generic third.
    {"l2:1(size=16777216) l1d:2(size=65536) core:1 pu:1",
     "cores 2; L1 65536/1 L2 16777216/2 L3 16777216/2 mem 2",
     {"hwloc knows no L3: took 16777216 bytes shared by 2 from x86-64-v3"}},
    {"l3:1(size=8388608) l2:2(size=262144) l1d:2(size=1048576) core:1 pu:1",
     "cores 4; L1 32768/1 L2 262144/1 L3 8388608/4 mem 4",
     {"hwloc's caches make no sense (`bytes` in [L2] must be at least that of [L1], 1048576): took "
      "those of x86-64-v3"}},
    {"l3:1(size=8388608) l2:1(size=262144) l1d:1(size=512) core:1 pu:1",
     "cores 1; L1 32768/1 L2 262144/1 L3 8388608/1 mem 1",
     {"hwloc's caches make no sense (`bytes` in [L1] must be an integer from 1024 to "
      "1099511627776): took those of x86-64-v3"}},
};

TEST_CASE("synthetic computers") {
  for (const Row& row : kRows) {
    CAPTURE(row.synthetic);
    const Detection d = detect(row.synthetic);
    CHECK(d.machine.name == "native-x86-64-v3");
    CHECK(d.machine.isa == "avx2");
    CHECK(summary(d.machine) == row.summary);
    std::vector<std::string> notes = {kUnknown};
    notes.insert(notes.end(), row.notes.begin(), row.notes.end());
    CHECK(d.notes == notes);
    const Result<Machine> again = parse_machine(d.machine.toml(), "detected");
    REQUIRE_MESSAGE(again.ok(), again.error().str());
    CHECK(*again == d.machine);
  }
}

struct FileRow {
  std::string_view vendor, family, model, machine, note;
};
constexpr FileRow kFileRows[] = {
    {"AuthenticAMD", "23", "113", "native-zen2", ""},
    {"AuthenticAMD", "23", "8", "native-zen1", ""},
    {"GenuineIntel", "6", "173", "native-graniterapids", ""},
    {"GenuineIntel", "6", "167", "native-skylake", ""},  // no large L2: a Rocket Lake indeed
    {"AuthenticAMD", "23", "9999", "native-x86-64-v3",
     "no shipped machine file for AuthenticAMD family 23 model 9999: transfer costs and pipes are "
     "those of x86-64-v3"},
};

// What lstopo writes on a CPU of this model, with one core and no cache.
void export_topology(const std::string& path, const FileRow& row) {
  std::FILE* out = std::fopen(path.c_str(), "w");
  REQUIRE(out != nullptr);
  fmt::print(out, R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" allowed_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" allowed_nodeset="0x00000001" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
      <info name="CPUVendor" value="{}"/>
      <info name="CPUFamilyNumber" value="{}"/>
      <info name="CPUModelNumber" value="{}"/>
      <object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3"/>
      <object type="Core" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4">
        <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
        <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="6"/>
      </object>
    </object>
  </object>
</topology>
)",
             row.vendor, row.family, row.model);
  std::fclose(out);
}

// A topology exported elsewhere says which CPU it was; the pipes follow that, not this computer.
TEST_CASE("a computer from a file") {
  const std::string path = std::string(MORELLO_TEST_DIRECTORY) + "/zen2.xml";
  for (const FileRow& row : kFileRows) {
    CAPTURE(row.model);
    export_topology(path, row);
    setenv("HWLOC_XMLFILE", path.c_str(), 1);
    const Detection d = detect_machine();
    unsetenv("HWLOC_XMLFILE");
    CHECK(d.machine.name == row.machine);
    CHECK(d.machine.cores == 1);
    REQUIRE(d.notes.size() == (row.note.empty() ? 3 : 4));  // no cache is in the file
    if (!row.note.empty()) CHECK(d.notes[0] == row.note);
  }
}

TEST_CASE("this computer, whatever it is") {
  const Detection d = detect_machine();
  const Result<Machine> again = parse_machine(d.machine.toml(), "detected");
  REQUIRE_MESSAGE(again.ok(), again.error().str());
  CHECK(*again == d.machine);
  CHECK(detect_machine().machine == d.machine);
  CHECK(*load_machine("native") == d.machine);
}

}  // namespace
}  // namespace morello
