// Machine: what the cost model knows of a computer. Read from a machine file (TOML, see
// docs/machines.md and share of shipped files in target/machines/) or written by
// `morello machine detect`. Level 0 is the register file, 1..3 the caches, 4 memory.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/diag.h"

namespace morello {

using Level = int;
inline constexpr Level kRegisters = 0;
inline constexpr Level kL1 = 1;
inline constexpr Level kL2 = 2;
inline constexpr Level kL3 = 3;
inline constexpr Level kMemory = 4;
inline constexpr int kLevels = 5;
std::string_view level_name(Level l);  // "reg" "L1" "L2" "L3" "mem"

// One place that holds data. Times are thousandths of a core cycle, so that the file's decimals are
// exact integers here.
struct LevelDesc {
  i64 bytes = 0;      // capacity of one instance; memory: 0 (unlimited)
  int line = 64;      // bytes
  int shared_by = 1;  // cores that share one instance
  // Sustained cost of bringing one line one level nearer: one core, one sequential stream, without
  // software prefetch; and the same with it (equal where it changes nothing).
  i64 line_millicycles = 0;
  i64 prefetched_millicycles = 0;
  i64 latency_millicycles = 0;  // of the first line of a stream
  // Lower bound per line of the traffic of all cores of the instance together: n cores that stream
  // at once wait at least n times this for each of their lines.
  i64 shared_line_millicycles = 0;
  // As line_millicycles, for a line of one long stream that no software prefetches; 0: the same.
  i64 stream_millicycles = 0;
  // The same in rows that leaves read side by side; 0: as in as many streams.
  i64 rows_millicycles = 0;
  // A line of such rows where the leaf before has asked for them, to L2; 0: not known, and none
  // does.
  i64 next_rows_millicycles = 0;
  // The same of pieces of such rows, to L1 where that has room, and what each piece costs besides.
  // 0: not known, and none asks for them.
  i64 next_pieces_millicycles = 0;
  i64 next_piece_start_millicycles = 0;
  // Of L2: of what leaves read again and again, a line beside lines from memory; 0: as alone.
  i64 beside_memory_millicycles = 0;
  // As line_millicycles where no neighbour of a line is read with it; 0: the same.
  i64 lone_millicycles = 0;
  // As line_millicycles in windows; 0: the same.
  i64 window_millicycles = 0;
  // Of L2: as line_millicycles, for a line of a leaf's output that it has not asked for; 0: the
  // same, and leaves ask for lines of outputs from farther away only.
  i64 stored_millicycles = 0;
  // What several streams from here take of the time of one, at the least; 0: what the machine says.
  int streams_percent = 0;
  // What a row of less than a stream costs besides its lines where it is copied or brought nearer
  // and the next one lies apart; 0: nothing.
  i64 row_millicycles = 0;
  // What each part of a matrix has at least from which leaves read rows far apart.
  i64 far_part_bytes = 0;
  // What it costs that leaves come anew to a piece of a row along the reduction; 0: as a row does.
  i64 piece_millicycles = 0;
  // What a leaf waits at most where rows begin that it reads along the reduction and that lie
  // apart; 0: not known.
  i64 leaf_start_millicycles = 0;
  // What is waited for a line that a copy reads and that was asked for, to L2, beside the
  // arithmetic between: by the copy before it; by leaves, two or more, which do it where that is
  // known and their load pipes have time. 0: not known.
  i64 asked_copy_millicycles = 0;
  i64 asked_by_leaves_millicycles = 0;
  // The same of what no copy reads, but leaves where it lies; 0: they do not ask for it.
  i64 asked_view_millicycles = 0;
  // The same of a part of a packed operand; what nobody asked for is waited for then by those who
  // use it first. 0: they do not ask for it, and it hides behind what these compute.
  i64 asked_panel_millicycles = 0;
  // What a row costs besides where those that copies ask for begin anew at every step. 0: nothing.
  i64 asked_row_millicycles = 0;
  Level prefetch_to = 0;  // the cache that software prefetch brings lines to from here; 0: L1
  int kept_percent = 0;   // of `bytes`: what a kernel finds here when it is called again; 0: 87.5
  // Whether it matters if leaves read something once.
  bool once_counts() const {
    return next_rows_millicycles > 0 || next_pieces_millicycles > 0 ||
           beside_memory_millicycles > 0;
  }
  // So many percent of `bytes`, but no more than is kept.
  i64 room(int percent) const {
    return bytes * (kept_percent > 0 ? std::min(kept_percent, percent) : percent) / 100;
  }
  i64 piece_start_millicycles() const {
    return piece_millicycles > 0 ? piece_millicycles : row_millicycles;
  }
  bool asks_ahead() const { return asked_copy_millicycles > 0 || asked_by_leaves_millicycles > 0; }
  i64 asked_by_copy_millicycles() const {  // where it asks although nothing is known of it
    return asked_copy_millicycles > 0 ? asked_copy_millicycles : line_millicycles;
  }
  i64 least_asked_millicycles() const {
    const i64 by_copy = asked_by_copy_millicycles();
    return asked_by_leaves_millicycles > 0 ? std::min(asked_by_leaves_millicycles, by_copy)
                                           : by_copy;
  }
  bool operator==(const LevelDesc&) const = default;
};

// What a core does per cycle with vectors of one width, in thousandths of an operation.
struct Pipes {
  i64 fma = 2000;
  i64 bf16 = 2000;  // products of pairs of bf16, on the fma pipes
  i64 alu = 2000;
  i64 vector = 3000;        // fma and alu together: they share pipes
  i64 fma_and_shuffle = 0;  // multiply-adds and shuffles together; 0: no less than `vector`
  i64 load = 2000;
  i64 store = 1000;
  i64 divide_millicycles = 0;  // of a whole vector, beside other work; 0: see Uops
  // Of lines that come from L2 beside arithmetic, and from L3 as a stream, what that hides. 0: 80,
  // as of others; with 512 bits what is hidden with 256.
  int l2_overlap_percent = 0;
  int l3_overlap_percent = 0;
  // Load instructions that the L1's prefetcher follows at once, each by the distance between its
  // own addresses, where lines of L2 come later than if it followed none. 0: they do not.
  int followed_loads = 0;
  bool operator==(const Pipes&) const = default;
};

struct Machine {
  std::string name;
  std::string isa;  // widest ISA name the CPU runs among those the generator knows
  int cores = 1;
  std::array<LevelDesc, kLevels> levels;  // [kRegisters] unused
  Pipes core;                             // with vectors of up to 256 bits
  std::optional<Pipes> core512;           // with 512 bits; none: as with 256
  int issue_per_cycle = 4;
  int fma_latency = 4;
  int scheduler = 97;  // vector instructions that may wait for operands
  // Of the default price of rows that crowd one another out of L1 (Space::crowded_out): what of it
  // arithmetic does not hide. 0: all.
  int crowded_percent = 0;
  i64 parallel_millicycles = 0;  // start and end of one parallel region
  i64 prefetch_bytes = 0;        // distance at which software prefetch hides most; 0 never
  // What of lines that leaves ask for ahead of time from memory arithmetic hides. 0: nearly all.
  int asked_overlap_percent = 0;
  // Time of reading what is packed ahead of time in two streams and in four, one being 100. 0: not
  // known, and that nothing is read so.
  int two_streams_percent = 100;
  int four_streams_percent = 0;
  // Rows that lie far apart, of so many bytes and more, take as long as one stream. 0: none do.
  i64 far_row_bytes = 0;
  // A result of so many bytes has left the caches before anybody reads it, whatever level they fit:
  // every line that was stored is written back to memory. 0: not known, and nothing is stored past
  // the caches; else that costs so much a line.
  i64 streamed_bytes = 0;
  i64 streamed_line_millicycles = 0;
  // Lower bound per such line of all cores together, as LevelDesc's; 0: that of memory.
  i64 streamed_shared_millicycles = 0;
  i64 written_line_millicycles = 0;  // to write one back; 0: as reading one from memory
  // Of what was just stored past the caches, so much is written while memory is read again.
  i64 written_behind_bytes = 0;

  int streams_percent(i64 streams) const {
    return streams == 1 ? 100 : streams < 4 ? two_streams_percent : four_streams_percent;
  }
  int overlap_percent(Level from, int vector_bits) const {
    if (from != kL2 && from != kL3) return 0;
    const auto key = from == kL2 ? &Pipes::l2_overlap_percent : &Pipes::l3_overlap_percent;
    const int own = pipes(vector_bits).*key;
    return own > 0 ? own : core.*key;
  }
  const Pipes& pipes(int vector_bits) const {
    return vector_bits > 256 && core512 ? *core512 : core;
  }
  std::string toml() const;  // canonical text; parse_machine(toml()) gives the same
  bool operator==(const Machine&) const = default;
};

// Errors carry file:line:col; unknown keys, missing keys and senseless values are errors.
Result<Machine> parse_machine(std::string_view toml, const std::string& file);

// Names of the shipped machine files, sorted; their text is compiled in.
std::vector<std::string> shipped_machines();
// A shipped name, a path of a .toml file, or "native" (detect_machine()).
Result<Machine> load_machine(const std::string& name_or_path);

struct Detection {
  Machine machine;
  std::vector<std::string> notes;  // one line per value that could not be found, and what was taken
};
// Sizes, sharing and cores from hwloc (honours HWLOC_XMLFILE, HWLOC_SYNTHETIC), transfer costs and
// pipes from the shipped file nearest to this CPU. Never fails, never measures time.
Detection detect_machine();

}  // namespace morello
