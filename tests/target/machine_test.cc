#include "target/machine.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "target/isa.h"
#include "target/machine_fields.h"
#include "target/machines.h"

namespace morello {
namespace {

constexpr std::string_view kGood = R"(# Morello machine file; docs/machines.md explains the keys.
name = "toy"
isa = "avx2"
cores = 4
parallel_cycles = 5000
prefetch_bytes = 4096
two_streams_percent = 93

[core]
fma_per_cycle = 2
bf16_per_cycle = 2
alu_per_cycle = 2
vector_per_cycle = 3
load_per_cycle = 2
store_per_cycle = 1
issue_per_cycle = 4
fma_latency = 4
scheduler = 97

[core512]
fma_per_cycle = 1
bf16_per_cycle = 0.5
alu_per_cycle = 1
vector_per_cycle = 2
load_per_cycle = 1.5
store_per_cycle = 0.5

[L1]
bytes = 32768
line = 64
shared_by = 1
line_cycles = 1
prefetched_line_cycles = 1
shared_line_cycles = 1
latency_cycles = 7

[L2]
bytes = 262144
line = 64
shared_by = 2
line_cycles = 2.125
prefetched_line_cycles = 2.1
shared_line_cycles = 2.001
latency_cycles = 14

[L3]
bytes = 8388608
line = 64
shared_by = 4
line_cycles = 4.5
prefetched_line_cycles = 4.2
shared_line_cycles = 1.5
latency_cycles = 45

[memory]
line = 64
shared_by = 4
line_cycles = 11
prefetched_line_cycles = 9
shared_line_cycles = 6
latency_cycles = 300
)";

TEST_CASE("a machine file reads as it stands and prints as it was") {
  const Result<Machine> m = parse_machine(kGood, "toy.toml");
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
  CHECK(m->toml() == kGood);
}

TEST_CASE("a machine without 512-bit vectors") {
  std::string text(kGood);
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
    {"prefetched_line_cycles = 4.2\n", "streams_percent = 85\n",
     [](const Machine& m) { return m.levels[kL3].streams_percent == 85; },
     [](const Machine& m) { return m.levels[kL3].streams_percent == 0; }},
    {"prefetched_line_cycles = 9\n", "row_cycles = 30.5\n",
     [](const Machine& m) { return m.levels[kMemory].row_millicycles == 30'500; },
     [](const Machine& m) { return m.levels[kMemory].row_millicycles == 0; }},
    {"prefetched_line_cycles = 9\n", "stream_line_cycles = 9\npiece_cycles = 3.5\n",
     [](const Machine& m) { return m.levels[kMemory].piece_start_millicycles() == 3'500; },
     [](const Machine& m) { return m.levels[kMemory].piece_start_millicycles() == 0; }},
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
    std::string text(kGood);
    text.insert(text.find(row.behind) + row.behind.size(), row.keys);
    const Result<Machine> m = parse_machine(text, "toy.toml");
    REQUIRE_MESSAGE(m.ok(), m.error().str());
    CHECK(row.given(*m));
    CHECK(m->toml() == text);
    CHECK(row.left_out(*parse_machine(kGood, "toy.toml")));
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

// One edit of kGood and what it leads to.
struct Wrong {
  std::string_view from, to, message;
};
constexpr Wrong kWrong[] = {
    {"isa = \"avx2\"", "isa = \"avx3\"",
     R"(toy.toml:3:7: error: unknown instruction set `avx3`; allowed: avx512_bf16, avx512_vnni, avx512, avx2_vnni, avx2, scalar
  isa = "avx3"
        ^~~~~~
)"},
    {"name = \"toy\"", "name = \"to*/y\"",
     R"(toy.toml:2:8: error: `name` must be 1 to 64 letters, digits, `-`, `_` or `.`
  name = "to*/y"
         ^~~~~~~
)"},
    {"name = \"toy\"", "name = 7", R"(toy.toml:2:8: error: `name` must be a string
  name = 7
         ^
)"},
    {"cores = 4\n", "cores = 0\n", R"(toy.toml:4:9: error: `cores` must be an integer from 1 to 4096
  cores = 0
          ^
)"},
    {"cores = 4\n", "cores = 4.5\n",
     R"(toy.toml:4:9: error: `cores` must be an integer from 1 to 4096
  cores = 4.5
          ^~~
)"},
    {"cores = 4\n", "", "toy.toml: error: missing key `cores`\n"},
    {"prefetch_bytes = 4096", "prefetch_bytes = 4000",
     R"(toy.toml:6:18: error: `prefetch_bytes` must be a multiple of the line of [L1], 64
  prefetch_bytes = 4000
                   ^~~~
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nstreamed_bytes = 4096",
     R"(toy.toml:8:18: error: `streamed_bytes` needs `streamed_line_cycles`
  streamed_bytes = 4096
                   ^~~~
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nstreamed_line_cycles = 9",
     R"(toy.toml:8:24: error: `streamed_line_cycles` needs `streamed_bytes`
  streamed_line_cycles = 9
                         ^
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nwritten_line_cycles = 9",
     R"(toy.toml:8:23: error: `written_line_cycles` needs `streamed_bytes`
  written_line_cycles = 9
                        ^
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nfar_row_bytes = 9",
     R"(toy.toml:8:17: error: `far_row_bytes` needs `four_streams_percent`
  far_row_bytes = 9
                  ^
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nwritten_behind_bytes = 9",
     R"(toy.toml:8:24: error: `written_behind_bytes` needs `streamed_bytes`
  written_behind_bytes = 9
                         ^
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nstreamed_shared_line_cycles = 9",
     R"(toy.toml:8:31: error: `streamed_shared_line_cycles` needs `streamed_bytes`
  streamed_shared_line_cycles = 9
                                ^
)"},
    {"two_streams_percent = 93", "two_streams_percent = 93\nstreamed_bytes = 0",
     R"(toy.toml:8:18: error: `streamed_bytes` must be an integer from 1 to 1099511627776
  streamed_bytes = 0
                   ^
)"},
    {"prefetch_bytes", "prefech_bytes",
     R"(toy.toml:6:1: error: unknown key `prefech_bytes`; did you mean `prefetch_bytes`?
  prefech_bytes = 4096
  ^~~~~~~~~~~~~
)"},
    {"fma_latency = 4", "fma_latency = 4\ncolour = 1",
     R"(toy.toml:18:1: error: unknown key `colour` in [core]; allowed: fma_per_cycle, bf16_per_cycle, alu_per_cycle, vector_per_cycle, fma_and_shuffle_per_cycle, load_per_cycle, store_per_cycle, divide_cycles, l2_overlap_percent, l3_overlap_percent, issue_per_cycle, fma_latency, scheduler, crowded_percent
  colour = 1
  ^~~~~~
)"},
    {"fma_latency = 4\n", "", R"(toy.toml:9:1: error: missing key `fma_latency` in [core]
  [core]
  ^~~~~~
)"},
    {"store_per_cycle = 0.5", "store_per_cycle = 0.05",
     R"(toy.toml:26:19: error: `store_per_cycle` in [core512] must be a number with at most three decimals from 0.1 to 16
  store_per_cycle = 0.05
                    ^~~~
)"},
    {"load_per_cycle = 1.5\n", "",
     R"(toy.toml:20:1: error: missing key `load_per_cycle` in [core512]
  [core512]
  ^~~~~~~~~
)"},
    {"store_per_cycle = 0.5", "store_per_cycle = 0.5\nfma_latency = 4",
     R"(toy.toml:27:1: error: unknown key `fma_latency` in [core512]; allowed: fma_per_cycle, bf16_per_cycle, alu_per_cycle, vector_per_cycle, fma_and_shuffle_per_cycle, load_per_cycle, store_per_cycle, divide_cycles, l2_overlap_percent, l3_overlap_percent
  fma_latency = 4
  ^~~~~~~~~~~
)"},
    {"[L3]", "[L4]", R"(toy.toml:46:2: error: unknown key `L4`; did you mean `L1`?
  [L4]
   ^~
)"},
    {"[memory]", "[memory]\nbytes = 1",
     R"(toy.toml:56:1: error: unknown key `bytes` in [memory]; allowed: line, shared_by, line_cycles, prefetched_line_cycles, stream_line_cycles, rows_line_cycles, next_rows_line_cycles, lone_line_cycles, window_line_cycles, streams_percent, row_cycles, piece_cycles, asked_copy_line_cycles, asked_by_leaves_line_cycles, asked_view_line_cycles, asked_row_cycles, prefetch_to, shared_line_cycles, latency_cycles
  bytes = 1
  ^~~~~
)"},
    {"bytes = 32768", "bytes = 524288",
     R"(toy.toml:38:9: error: `bytes` in [L2] must be at least that of [L1], 524288
  bytes = 262144
          ^~~~~~
)"},
    {"bytes = 32768", "bytes = -32768",
     R"(toy.toml:29:9: error: `bytes` in [L1] must be an integer from 1024 to 1099511627776
  bytes = -32768
          ^~~~~~
)"},
    {"bytes = 32768", "bytes = \"32 KiB\"",
     R"(toy.toml:29:9: error: `bytes` in [L1] must be an integer from 1024 to 1099511627776
  bytes = "32 KiB"
          ^~~~~~~~
)"},
    {"line = 64", "line = 0",
     R"(toy.toml:30:8: error: `line` in [L1] must be an integer from 16 to 1024
  line = 0
         ^
)"},
    {"line = 64", "line = 48", R"(toy.toml:30:8: error: `line` in [L1] must be a power of two
  line = 48
         ^~
)"},
    {"shared_by = 4", "shared_by = 8",
     R"(toy.toml:49:13: error: `shared_by` in [L3] must be at most `cores`, 4
  shared_by = 8
              ^
)"},
    {"shared_by = 4", "shared_by = 1",
     R"(toy.toml:49:13: error: `shared_by` in [L3] must be at least that of [L2], 2
  shared_by = 1
              ^
)"},
    {"line_cycles = 2.125", "line_cycles = 2.1255",
     R"(toy.toml:41:15: error: `line_cycles` in [L2] must be a number with at most three decimals from 0.001 to 1000000000
  line_cycles = 2.1255
                ^~~~~~
)"},
    {"line_cycles = 2.125", "line_cycles = nan",
     R"(toy.toml:41:15: error: `line_cycles` in [L2] must be a number with at most three decimals from 0.001 to 1000000000
  line_cycles = nan
                ^~~
)"},
    {"line_cycles = 11", "line_cycles = 0",
     R"(toy.toml:58:15: error: `line_cycles` in [memory] must be a number with at most three decimals from 0.001 to 1000000000
  line_cycles = 0
                ^
)"},
    {"prefetched_line_cycles = 9", "prefetched_line_cycles = 12",
     R"(toy.toml:59:26: error: `prefetched_line_cycles` in [memory] must be at most `line_cycles`, 11
  prefetched_line_cycles = 12
                           ^~
)"},
    {"shared_line_cycles = 6", "shared_line_cycles = 9.5",
     R"(toy.toml:60:22: error: `shared_line_cycles` in [memory] must be at most `prefetched_line_cycles`, 9
  shared_line_cycles = 9.5
                       ^~~
)"},
    {"shared_line_cycles = 6", "stream_line_cycles = 12\nshared_line_cycles = 6",
     R"(toy.toml:60:22: error: `stream_line_cycles` in [memory] must be at most `line_cycles`, 11
  stream_line_cycles = 12
                       ^~
)"},
    {"shared_line_cycles = 6", "stream_line_cycles = 5\nshared_line_cycles = 6",
     R"(toy.toml:60:22: error: `stream_line_cycles` in [memory] must be at least `shared_line_cycles`, 6
  stream_line_cycles = 5
                       ^
)"},
    {"shared_line_cycles = 6",
     "stream_line_cycles = 7\nrows_line_cycles = 11.5\nshared_line_cycles = 6",
     R"(toy.toml:61:20: error: `rows_line_cycles` in [memory] must be at most `line_cycles`, 11
  rows_line_cycles = 11.5
                     ^~~~
)"},
    {"shared_line_cycles = 6", "rows_line_cycles = 9\nshared_line_cycles = 6",
     R"(toy.toml:60:20: error: `rows_line_cycles` in [memory] has no effect: only in [L3] and [memory], with `stream_line_cycles`, do rows come as streams
  rows_line_cycles = 9
                     ^
)"},
    {"shared_line_cycles = 6", "next_rows_line_cycles = 11.5\nshared_line_cycles = 6",
     R"(toy.toml:60:25: error: `next_rows_line_cycles` in [memory] must be at most `line_cycles`, 11
  next_rows_line_cycles = 11.5
                          ^~~~
)"},
    {"shared_line_cycles = 2.001", "next_rows_line_cycles = 2.5\nshared_line_cycles = 2.001",
     R"(toy.toml:43:25: error: `next_rows_line_cycles` in [L2] has no effect: only what lies in [L3] or [memory] is prefetched
  next_rows_line_cycles = 2.5
                          ^~~
)"},
    {"shared_line_cycles = 6", "streams_percent = 90\nshared_line_cycles = 6",
     R"(toy.toml:60:19: error: `streams_percent` in [memory] has no effect: only [L3] gains less by streams than [memory], of which `two_streams_percent` and `four_streams_percent` are
  streams_percent = 90
                    ^~
)"},
    {"shared_line_cycles = 6", "asked_row_cycles = 20\nshared_line_cycles = 6",
     R"(toy.toml:60:20: error: `asked_row_cycles` in [memory] has no effect: without `asked_copy_line_cycles` or `asked_by_leaves_line_cycles` there copies ask for nothing
  asked_row_cycles = 20
                     ^~
)"},
    {"shared_line_cycles = 2.001", "row_cycles = 3\nshared_line_cycles = 2.001",
     R"(toy.toml:43:14: error: `row_cycles` in [L2] has no effect: only in [L3] and [memory] are rows streams
  row_cycles = 3
               ^
)"},
    {"shared_line_cycles = 2.001", "piece_cycles = 3\nshared_line_cycles = 2.001",
     R"(toy.toml:43:16: error: `piece_cycles` in [L2] has no effect: only in [L3] and [memory] are rows streams
  piece_cycles = 3
                 ^
)"},
    {"shared_line_cycles = 6", "piece_cycles = 3\nshared_line_cycles = 6",
     R"(toy.toml:60:16: error: `piece_cycles` in [memory] has no effect without `stream_line_cycles`
  piece_cycles = 3
                 ^
)"},
    {"shared_line_cycles = 6", "lone_line_cycles = 10.5\nshared_line_cycles = 6",
     R"(toy.toml:60:20: error: `lone_line_cycles` in [memory] must be at least `line_cycles`, 11
  lone_line_cycles = 10.5
                     ^~~~
)"},
    {"shared_line_cycles = 6", "window_line_cycles = 11.5\nshared_line_cycles = 6",
     R"(toy.toml:60:22: error: `window_line_cycles` in [memory] must be at most `line_cycles`, 11
  window_line_cycles = 11.5
                       ^~~~
)"},
    {"shared_line_cycles = 6", "asked_copy_line_cycles = 11.5\nshared_line_cycles = 6",
     R"(toy.toml:60:26: error: `asked_copy_line_cycles` in [memory] must be at most `line_cycles`, 11
  asked_copy_line_cycles = 11.5
                           ^~~~
)"},
    {"shared_line_cycles = 2.001", "asked_copy_line_cycles = 3\nshared_line_cycles = 2.001",
     R"(toy.toml:43:26: error: `asked_copy_line_cycles` in [L2] has no effect: only what lies in [L3] or [memory] is prefetched
  asked_copy_line_cycles = 3
                           ^
)"},
    {"shared_line_cycles = 6", "prefetch_to = 3\nshared_line_cycles = 6",
     R"(toy.toml:60:15: error: `prefetch_to` in [memory] must be an integer from 1 to 2
  prefetch_to = 3
                ^
)"},
    {"shared_line_cycles = 2.001", "prefetch_to = 2\nshared_line_cycles = 2.001",
     R"(toy.toml:43:15: error: `prefetch_to` in [L2] has no effect: only what lies in [L3] or [memory] is prefetched
  prefetch_to = 2
                ^
)"},
    {"latency_cycles = 300", "latency_cycles = 30",
     R"(toy.toml:61:18: error: `latency_cycles` in [memory] must be at least that of [L3], 45
  latency_cycles = 30
                   ^~
)"},
};

std::string edited(const Wrong& row) {
  std::string text(kGood);
  const size_t at = text.find(row.from);
  REQUIRE(at != text.npos);
  return text.replace(at, row.from.size(), row.to);
}

TEST_CASE("wrong machine files") {
  for (const Wrong& row : kWrong) {
    CAPTURE(row.to);
    const Result<Machine> m = parse_machine(edited(row), "toy.toml");
    REQUIRE(!m.ok());
    CHECK(m.error().str() == row.message);
  }
}

// What is no TOML is described by the parser of toml++, in its words; the place is ours to keep.
TEST_CASE("no TOML") {
  for (const auto& [text, line] : {std::pair("name = \n", 1), std::pair("a = 1\na = 2\n", 2),
                                   std::pair("[core\n", 1), std::pair("a = \"\xff\"\n", 1)}) {
    const Result<Machine> m = parse_machine(text, "x.toml");
    REQUIRE(!m.ok());
    CHECK(m.error().file == "x.toml");
    CHECK(m.error().line == line);
    CHECK(m.error().text != "");
  }
  CHECK(parse_machine("", "x.toml").error().str() == "x.toml: error: missing key `name`\n");
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
  std::ofstream(path) << kGood;
  CHECK(*load_machine(path) == *parse_machine(kGood, ""));
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
