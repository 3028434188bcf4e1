#include "target/machine.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "target/isa.h"
#include "target/machine_fields.h"
#include "target/machines.h"
#include "toy_machine.h"

namespace morello {
namespace {

using test::kToyMachine;

TEST_CASE("a machine file reads as it stands and prints as it was") {
  const Result<Machine> m = parse_machine(kToyMachine, "toy.toml");
  REQUIRE_MESSAGE(m.ok(), m.error().str());
  CHECK(m->name == "toy");
  CHECK(m->cores == 4);
  CHECK(m->parallel_millicycles == 5'000'000);
  CHECK(m->core.store == 1000);
  CHECK(m->core512->store == 500);
  CHECK(m->pipes(256).load == 2000);
  CHECK(m->pipes(512).load == 1500);
  CHECK(m->levels[kL1].bytes == 32768);
  CHECK(m->levels[kL2].line_millicycles == 2125);
  CHECK(m->levels[kL2].prefetched_millicycles == 2100);
  CHECK(m->levels[kL2].shared_line_millicycles == 2001);
  CHECK(m->levels[kL3].shared_by == 4);
  CHECK(m->levels[kMemory].latency_millicycles == 300'000);
  CHECK(m->toml() == kToyMachine);
}

TEST_CASE("a machine without 512-bit vectors") {
  std::string text(kToyMachine);
  const size_t from = text.find("[core512]");
  text.erase(from, text.find("[L1]") - from);
  const Result<Machine> m = parse_machine(text, "toy.toml");
  REQUIRE_MESSAGE(m.ok(), m.error().str());
  CHECK(m->pipes(512) == m->core);
  CHECK(m->toml() == text);
}

// Keys that a file may leave out: behind which line they stand, and what then holds.
struct OptionalKeys {
  std::string_view behind, keys;
  bool (*given)(const Machine&), (*left_out)(const Machine&);
};
constexpr OptionalKeys kOptionalKeys[] = {
    {"prefetched_line_cycles = 9\n", "stream_line_cycles = 7.5\n",
     [](const Machine& m) {
       return m.levels[kMemory].stream_millicycles == 7'500 &&
              m.levels[kL3].stream_millicycles == 0;
     },
     [](const Machine& m) { return m.levels[kMemory].stream_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "stream_line_cycles = 7.5\nrows_line_cycles = 9.5\n",
     [](const Machine& m) {
       return m.levels[kMemory].rows_millicycles == 9'500 && m.levels[kL3].rows_millicycles == 0;
     },
     [](const Machine& m) { return m.levels[kMemory].rows_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "next_rows_line_cycles = 6.5\n",
     [](const Machine& m) {
       return m.levels[kMemory].next_rows_millicycles == 6'500 &&
              m.levels[kL3].next_rows_millicycles == 0;
     },
     [](const Machine& m) { return m.levels[kMemory].next_rows_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "next_pieces_line_cycles = 5.5\nnext_piece_cycles = 35\n",
     [](const Machine& m) {
       const LevelDesc &memory = m.levels[kMemory], &l3 = m.levels[kL3];
       return memory.next_pieces_millicycles == 5'500 &&
              memory.next_piece_start_millicycles == 35'000 && l3.next_pieces_millicycles == 0 &&
              l3.next_piece_start_millicycles == 0;
     },
     [](const Machine& m) {
       return m.levels[kMemory].next_pieces_millicycles == 0 &&
              m.levels[kMemory].next_piece_start_millicycles == 0;
     }},
    {"prefetched_line_cycles = 9\n", "asked_copy_line_cycles = 5.25\n",  // less than shared
     [](const Machine& m) {
       return m.levels[kMemory].asked_copy_millicycles == 5'250 &&
              m.levels[kL3].asked_copy_millicycles == 0;
     },
     [](const Machine& m) { return m.levels[kMemory].asked_copy_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "asked_by_leaves_line_cycles = 5.5\n",  // less than shared
     [](const Machine& m) {
       return m.levels[kMemory].asked_by_leaves_millicycles == 5'500 &&
              m.levels[kMemory].asks_ahead() && !m.levels[kL3].asks_ahead();
     },
     [](const Machine& m) { return !m.levels[kMemory].asks_ahead(); }},
    {"prefetched_line_cycles = 9\n", "asked_view_line_cycles = 5.5\n",  // less than shared
     [](const Machine& m) {
       return m.levels[kMemory].asked_view_millicycles == 5'500 && !m.levels[kMemory].asks_ahead();
     },
     [](const Machine& m) { return m.levels[kMemory].asked_view_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "asked_panel_line_cycles = 5.5\n",
     [](const Machine& m) {
       return m.levels[kMemory].asked_panel_millicycles == 5'500 && !m.levels[kMemory].asks_ahead();
     },
     [](const Machine& m) { return m.levels[kMemory].asked_panel_millicycles == 0; }},
    {"store_per_cycle = 1\n", "l2_overlap_percent = 95\n",
     [](const Machine& m) {
       return m.overlap_percent(kL2, 256) == 95 && m.overlap_percent(kL2, 512) == 95;
     },
     [](const Machine& m) { return m.overlap_percent(kL2, 256) == 0; }},
    {"store_per_cycle = 0.5\n", "l2_overlap_percent = 90\n",  // of [core512] alone
     [](const Machine& m) {
       return m.overlap_percent(kL2, 256) == 0 && m.overlap_percent(kL2, 512) == 90;
     },
     [](const Machine& m) { return m.overlap_percent(kL2, 512) == 0; }},
    {"store_per_cycle = 1\n", "l3_overlap_percent = 95\n",
     [](const Machine& m) {
       return m.overlap_percent(kL3, 256) == 95 && m.overlap_percent(kL3, 512) == 95 &&
              m.overlap_percent(kL2, 256) == 0 && m.overlap_percent(kMemory, 256) == 0;
     },
     [](const Machine& m) { return m.overlap_percent(kL3, 256) == 0; }},
    {"store_per_cycle = 0.5\n", "followed_loads = 96\n",
     [](const Machine& m) {
       return m.pipes(256).followed_loads == 0 && m.pipes(512).followed_loads == 96;
     },
     [](const Machine& m) { return m.pipes(512).followed_loads == 0; }},
    {"prefetched_line_cycles = 9\n", "asked_copy_line_cycles = 5\nasked_row_cycles = 20.5\n",
     [](const Machine& m) { return m.levels[kMemory].asked_row_millicycles == 20'500; },
     [](const Machine& m) { return m.levels[kMemory].asked_row_millicycles == 0; }},
    {"scheduler = 97\n", "crowded_percent = 50\n",
     [](const Machine& m) { return m.crowded_percent == 50; },
     [](const Machine& m) { return m.crowded_percent == 0; }},
    {"prefetched_line_cycles = 9\n", "lone_line_cycles = 12.5\n",
     [](const Machine& m) { return m.levels[kMemory].lone_millicycles == 12'500; },
     [](const Machine& m) { return m.levels[kMemory].lone_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "window_line_cycles = 7.5\n",
     [](const Machine& m) { return m.levels[kMemory].window_millicycles == 7500; },
     [](const Machine& m) { return m.levels[kMemory].window_millicycles == 0; }},
    {"prefetched_line_cycles = 2.1\n", "stored_line_cycles = 4.5\n",
     [](const Machine& m) { return m.levels[kL2].stored_millicycles == 4500; },
     [](const Machine& m) { return m.levels[kL2].stored_millicycles == 0; }},
    {"prefetched_line_cycles = 4.2\n", "streams_percent = 85\n",
     [](const Machine& m) { return m.levels[kL3].streams_percent == 85; },
     [](const Machine& m) { return m.levels[kL3].streams_percent == 0; }},
    {"prefetched_line_cycles = 9\n", "row_cycles = 30.5\n",
     [](const Machine& m) { return m.levels[kMemory].row_millicycles == 30'500; },
     [](const Machine& m) { return m.levels[kMemory].row_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "stream_line_cycles = 9\npiece_cycles = 3.5\n",
     [](const Machine& m) { return m.levels[kMemory].piece_start_millicycles() == 3'500; },
     [](const Machine& m) { return m.levels[kMemory].piece_start_millicycles() == 0; }},
    {"prefetched_line_cycles = 4.2\n", "leaf_start_cycles = 27.5\n",
     [](const Machine& m) { return m.levels[kL3].leaf_start_millicycles == 27'500; },
     [](const Machine& m) { return m.levels[kL3].leaf_start_millicycles == 0; }},
    {"bytes = 8388608\n", "kept_percent = 40\n",
     [](const Machine& m) { return m.levels[kL3].kept_percent == 40; },
     [](const Machine& m) { return m.levels[kL3].kept_percent == 0; }},
    {"prefetched_line_cycles = 9\n", "prefetch_to = 2\n",
     [](const Machine& m) {
       return m.levels[kMemory].prefetch_to == kL2 && m.levels[kL3].prefetch_to == 0;
     },
     [](const Machine& m) { return m.levels[kMemory].prefetch_to == 0; }},
    {"prefetch_bytes = 4096\n", "asked_overlap_percent = 75\n",
     [](const Machine& m) { return m.asked_overlap_percent == 75; },
     [](const Machine& m) { return m.asked_overlap_percent == 0; }},
    {"two_streams_percent = 93\n", "four_streams_percent = 65\n",
     [](const Machine& m) {
       return m.streams_percent(1) == 100 && m.streams_percent(2) == 93 &&
              m.streams_percent(3) == 93 && m.streams_percent(4) == 65 &&
              m.streams_percent(8) == 65;
     },
     [](const Machine& m) { return m.streams_percent(2) == 93 && m.streams_percent(4) == 0; }},
    {"two_streams_percent = 93\n", "four_streams_percent = 65\nfar_row_bytes = 8192\n",
     [](const Machine& m) { return m.far_row_bytes == 8192; },
     [](const Machine& m) { return m.far_row_bytes == 0; }},
    {"two_streams_percent = 93\n", "streamed_bytes = 1048576\nstreamed_line_cycles = 12.5\n",
     [](const Machine& m) {
       return m.streamed_bytes == 1'048'576 && m.streamed_line_millicycles == 12'500 &&
              m.written_line_millicycles == 0;
     },
     [](const Machine& m) { return m.streamed_bytes == 0; }},
    {"two_streams_percent = 93\n",
     "streamed_bytes = 4096\nstreamed_line_cycles = 12\nwritten_line_cycles = 1.5\n",
     [](const Machine& m) { return m.written_line_millicycles == 1'500; },
     [](const Machine& m) { return m.written_line_millicycles == 0; }},
    {"two_streams_percent = 93\n",
     "streamed_bytes = 4096\nstreamed_line_cycles = 12\nwritten_behind_bytes = 8192\n",
     [](const Machine& m) { return m.written_behind_bytes == 8192; },
     [](const Machine& m) { return m.written_behind_bytes == 0; }},
    {"two_streams_percent = 93\n",
     "streamed_bytes = 4096\nstreamed_line_cycles = 12\nstreamed_shared_line_cycles = 5.5\n",
     [](const Machine& m) { return m.streamed_shared_millicycles == 5'500; },
     [](const Machine& m) { return m.streamed_shared_millicycles == 0; }},
    {"vector_per_cycle = 3\n", "fma_and_shuffle_per_cycle = 2.6\n",
     [](const Machine& m) {
       return m.core.fma_and_shuffle == 2'600 && m.core512->fma_and_shuffle == 0;
     },
     [](const Machine& m) { return m.core.fma_and_shuffle == 0; }},
    {"store_per_cycle = 1\n", "divide_cycles = 3.2\n",
     [](const Machine& m) { return m.core.divide_millicycles == 3'200; },
     [](const Machine& m) { return m.core.divide_millicycles == 0; }},
};

TEST_CASE("keys that may be left out") {
  for (const OptionalKeys& row : kOptionalKeys) {
    CAPTURE(row.keys);
    std::string text(kToyMachine);
    text.insert(text.find(row.behind) + row.behind.size(), row.keys);
    const Result<Machine> m = parse_machine(text, "toy.toml");
    REQUIRE_MESSAGE(m.ok(), m.error().str());
    CHECK(row.given(*m));
    CHECK(m->toml() == text);
    CHECK(row.left_out(*parse_machine(kToyMachine, "toy.toml")));
  }
}

TEST_CASE("shipped machine files") {
  CHECK(shipped_machines() == std::vector<std::string>{"alderlake", "graniterapids", "haswell",
                                                       "skylake", "skylake-server", "x86-64-v3",
                                                       "zen1", "zen2", "zen3", "zen4", "zen5"});
  for (const MachineFile& f : machine_files()) {
    CAPTURE(f.name);
    const Result<Machine> m = parse_machine(f.text, std::string(f.name));
    REQUIRE_MESSAGE(m.ok(), m.error().str());
    CHECK(m->name == f.name);
    CHECK(f.text.starts_with("# "));  // says what it is and where the numbers are from
    const Result<Machine> again = parse_machine(m->toml(), "again");
    REQUIRE_MESSAGE(again.ok(), again.error().str());
    CHECK(*again == *m);
    CHECK(*load_machine(std::string(f.name)) == *m);
    // The keys come in the order in which they print, so that files compare line by line.
    const std::string printed = m->toml();
    CHECK(f.text.substr(f.text.find("name =")) == printed.substr(printed.find("name =")));
  }
}

TEST_CASE("load_machine") {
  CHECK(load_machine("zen6").error().str() ==
        "error: unknown machine `zen6`; did you mean `zen1`?\n"
        "note: shipped machines: alderlake, graniterapids, haswell, skylake, skylake-server, "
        "x86-64-v3, zen1, zen2, zen3, zen4, zen5\n"
        "note: or the path of a .toml file, or `native`\n");
  CHECK(load_machine("").error().text == "unknown machine ``");
  CHECK(load_machine("/nowhere/x.toml").error().str() ==
        "error: cannot read the machine file `/nowhere/x.toml`: No such file or directory\n");
  const std::string path = fmt::format("{}/toy_{}.toml", MORELLO_TEST_DIRECTORY, getpid());
  std::ofstream(path) << kToyMachine;
  CHECK(*load_machine(path) == *parse_machine(kToyMachine, ""));
  std::ofstream(path) << "isa = 1\n";
  CHECK(load_machine(path).error().str() == path + ": error: missing key `name`\n");
  unlink(path.c_str());
}

TEST_CASE("docs/machines.md explains every key and names every shipped file") {
  std::ostringstream text;
  text << std::ifstream(MORELLO_TEST_DOCS "/machines.md").rdbuf();
  std::vector<std::string> words = shipped_machines();
  for (const auto& f : machine_fields()) words.emplace_back(f.key);
  for (const auto& f : pipe_fields()) words.emplace_back(f.key);
  for (const auto& f : core_fields()) words.emplace_back(f.key);
  for (const auto& f : level_fields(kL1)) words.emplace_back(f.key);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(text.str().find(fmt::format("\n| `{}` | ", word)) != std::string::npos);
  }
}

TEST_CASE("names of levels and decimals") {
  CHECK(level_name(kRegisters) == "reg");
  CHECK(level_name(kMemory) == "mem");
  CHECK(level_table(kMemory) == "memory");
  CHECK(decimal(0) == "0");
  CHECK(decimal(1) == "0.001");
  CHECK(decimal(1070) == "1.07");
  CHECK(decimal(500'000) == "500");
}

}  // namespace
}  // namespace morello
