// Machine files that are refused: what is said of them.

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "target/machine.h"
#include "toy_machine.h"

namespace morello {
namespace {

using test::kToyMachine;

// One edit of kToyMachine and what it leads to.
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
     R"(toy.toml:18:1: error: unknown key `colour` in [core]; allowed: fma_per_cycle, bf16_per_cycle, alu_per_cycle, vector_per_cycle, fma_and_shuffle_per_cycle, load_per_cycle, store_per_cycle, divide_cycles, l2_overlap_percent, l3_overlap_percent, followed_loads, issue_per_cycle, fma_latency, scheduler, crowded_percent
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
     R"(toy.toml:27:1: error: unknown key `fma_latency` in [core512]; allowed: fma_per_cycle, bf16_per_cycle, alu_per_cycle, vector_per_cycle, fma_and_shuffle_per_cycle, load_per_cycle, store_per_cycle, divide_cycles, l2_overlap_percent, l3_overlap_percent, followed_loads
  fma_latency = 4
  ^~~~~~~~~~~
)"},
    {"[L3]", "[L4]", R"(toy.toml:46:2: error: unknown key `L4`; did you mean `L1`?
  [L4]
   ^~
)"},
    {"[memory]", "[memory]\nbytes = 1",
     R"(toy.toml:56:1: error: unknown key `bytes` in [memory]; allowed: line, shared_by, line_cycles, prefetched_line_cycles, stream_line_cycles, rows_line_cycles, next_rows_line_cycles, next_pieces_line_cycles, next_piece_cycles, beside_memory_line_cycles, lone_line_cycles, window_line_cycles, stored_line_cycles, streams_percent, far_part_bytes, row_cycles, piece_cycles, leaf_start_cycles, asked_copy_line_cycles, asked_by_leaves_line_cycles, asked_view_line_cycles, asked_panel_line_cycles, asked_row_cycles, prefetch_to, shared_line_cycles, latency_cycles
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
    {"shared_line_cycles = 6", "next_pieces_line_cycles = 11.5\nshared_line_cycles = 6",
     R"(toy.toml:60:27: error: `next_pieces_line_cycles` in [memory] must be at most `line_cycles`, 11
  next_pieces_line_cycles = 11.5
                            ^~~~
)"},
    {"shared_line_cycles = 2.001", "next_pieces_line_cycles = 2.5\nshared_line_cycles = 2.001",
     R"(toy.toml:43:27: error: `next_pieces_line_cycles` in [L2] has no effect: only what lies in [L3] or [memory] is prefetched
  next_pieces_line_cycles = 2.5
                            ^~~
)"},
    {"shared_line_cycles = 6", "next_piece_cycles = 35\nshared_line_cycles = 6",
     R"(toy.toml:60:21: error: `next_piece_cycles` in [memory] has no effect without `next_pieces_line_cycles`
  next_piece_cycles = 35
                      ^~
)"},
    {"shared_line_cycles = 2.001", "beside_memory_line_cycles = 2.05\nshared_line_cycles = 2.001",
     R"(toy.toml:43:29: error: `beside_memory_line_cycles` in [L2] must be at least `line_cycles`, 2.125
  beside_memory_line_cycles = 2.05
                              ^~~~
)"},
    {"shared_line_cycles = 6", "beside_memory_line_cycles = 12\nshared_line_cycles = 6",
     R"(toy.toml:60:29: error: `beside_memory_line_cycles` in [memory] has no effect: it is of all that leaves read again and again, and in [L2]
  beside_memory_line_cycles = 12
                              ^~
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
    {"shared_line_cycles = 6", "far_part_bytes = 512\nshared_line_cycles = 6",
     R"(toy.toml:60:18: error: `far_part_bytes` in [memory] needs `four_streams_percent`
  far_part_bytes = 512
                   ^~~
)"},
    {"shared_line_cycles = 2.001", "far_part_bytes = 512\nshared_line_cycles = 2.001",
     R"(toy.toml:43:18: error: `far_part_bytes` in [L2] has no effect: only from [L3] and [memory] are rows streams
  far_part_bytes = 512
                   ^~~
)"},
    {"shared_line_cycles = 2.001", "leaf_start_cycles = 3\nshared_line_cycles = 2.001",
     R"(toy.toml:43:21: error: `leaf_start_cycles` in [L2] has no effect: only for [L3] and [memory] do leaves wait
  leaf_start_cycles = 3
                      ^
)"},
    {"shared_line_cycles = 6", "lone_line_cycles = 10.5\nshared_line_cycles = 6",
     R"(toy.toml:60:20: error: `lone_line_cycles` in [memory] must be at least `line_cycles`, 11
  lone_line_cycles = 10.5
                     ^~~~
)"},
    {"latency_cycles = 14", "latency_cycles = 14\nstored_line_cycles = 2",
     R"(toy.toml:45:22: error: `stored_line_cycles` in [L2] must be at least `line_cycles`, 2.125
  stored_line_cycles = 2
                       ^
)"},
    {"shared_line_cycles = 6", "stored_line_cycles = 11.5\nshared_line_cycles = 6",
     R"(toy.toml:60:22: error: `stored_line_cycles` in [memory] has no effect: only in [L2] do stores of vectors wait for more than `line_cycles` and `prefetched_line_cycles` say
  stored_line_cycles = 11.5
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
  std::string text(kToyMachine);
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

}  // namespace
}  // namespace morello
