#include "target/machine.h"

#include "target/machine_fields.h"

namespace morello {

static constexpr i64 kMaxCycles = i64{1'000'000'000} * 1000;

// Positive where a zero would make something free that is not.
static constexpr MachineField<Machine> kMachineFields[] = {
    {"cores", &Machine::cores, false, 1, 4096},
    {"parallel_cycles", &Machine::parallel_millicycles, true, 0, kMaxCycles},
    {"prefetch_bytes", &Machine::prefetch_bytes, false, 0, i64{1} << 20},
    {"asked_overlap_percent", &Machine::asked_overlap_percent, false, 50, 98, true},
    {"two_streams_percent", &Machine::two_streams_percent, false, 1, 100},
    {"four_streams_percent", &Machine::four_streams_percent, false, 1, 100, true},
    {"far_row_bytes", &Machine::far_row_bytes, false, 1, i64{1} << 30, true},
    {"streamed_bytes", &Machine::streamed_bytes, false, 1, i64{1} << 40, true},
    {"streamed_line_cycles", &Machine::streamed_line_millicycles, true, 1, kMaxCycles, true},
    {"streamed_shared_line_cycles", &Machine::streamed_shared_millicycles, true, 1, kMaxCycles,
     true},
    {"written_line_cycles", &Machine::written_line_millicycles, true, 1, kMaxCycles, true},
    {"written_behind_bytes", &Machine::written_behind_bytes, false, 1, i64{1} << 20, true},
};
static constexpr MachineField<Pipes> kPipeFields[] = {
    {"fma_per_cycle", &Pipes::fma, true, 100, 16'000},
    {"bf16_per_cycle", &Pipes::bf16, true, 100, 16'000},
    {"alu_per_cycle", &Pipes::alu, true, 100, 16'000},
    {"vector_per_cycle", &Pipes::vector, true, 100, 32'000},
    {"fma_and_shuffle_per_cycle", &Pipes::fma_and_shuffle, true, 100, 32'000, true},
    {"load_per_cycle", &Pipes::load, true, 100, 16'000},
    {"store_per_cycle", &Pipes::store, true, 100, 16'000},
    {"divide_cycles", &Pipes::divide_millicycles, true, 100, 100'000, true},
    {"l2_overlap_percent", &Pipes::l2_overlap_percent, false, 80, 100, true},
    {"l3_overlap_percent", &Pipes::l3_overlap_percent, false, 80, 100, true},
    {"followed_loads", &Pipes::followed_loads, false, 1, 256, true},
};
static constexpr MachineField<Machine> kCoreFields[] = {
    {"issue_per_cycle", &Machine::issue_per_cycle, false, 1, 64},
    {"fma_latency", &Machine::fma_latency, false, 1, 64},
    {"scheduler", &Machine::scheduler, false, 1, 4096},
    {"crowded_percent", &Machine::crowded_percent, false, 1, 100, true},
};
static constexpr MachineField<LevelDesc> kLevelFields[] = {
    // First: memory has all but these two.
    {"bytes", &LevelDesc::bytes, false, 1024, i64{1} << 40},
    {"kept_percent", &LevelDesc::kept_percent, false, 1, 100, true},
    {"line", &LevelDesc::line, false, 16, 1024},
    {"shared_by", &LevelDesc::shared_by, false, 1, 4096},
    {"line_cycles", &LevelDesc::line_millicycles, true, 1, kMaxCycles},
    {"prefetched_line_cycles", &LevelDesc::prefetched_millicycles, true, 1, kMaxCycles},
    {"stream_line_cycles", &LevelDesc::stream_millicycles, true, 1, kMaxCycles, true},
    {"rows_line_cycles", &LevelDesc::rows_millicycles, true, 1, kMaxCycles, true},
    {"next_rows_line_cycles", &LevelDesc::next_rows_millicycles, true, 1, kMaxCycles, true},
    {"next_pieces_line_cycles", &LevelDesc::next_pieces_millicycles, true, 1, kMaxCycles, true},
    {"next_piece_cycles", &LevelDesc::next_piece_start_millicycles, true, 1, kMaxCycles, true},
    {"beside_memory_line_cycles", &LevelDesc::beside_memory_millicycles, true, 1, kMaxCycles, true},
    {"lone_line_cycles", &LevelDesc::lone_millicycles, true, 1, kMaxCycles, true},
    {"window_line_cycles", &LevelDesc::window_millicycles, true, 1, kMaxCycles, true},
    {"stored_line_cycles", &LevelDesc::stored_millicycles, true, 1, kMaxCycles, true},
    {"streams_percent", &LevelDesc::streams_percent, false, 1, 100, true},
    {"far_part_bytes", &LevelDesc::far_part_bytes, false, 1, i64{1} << 40, true},
    {"row_cycles", &LevelDesc::row_millicycles, true, 1, kMaxCycles, true},
    {"piece_cycles", &LevelDesc::piece_millicycles, true, 1, kMaxCycles, true},
    {"leaf_start_cycles", &LevelDesc::leaf_start_millicycles, true, 1, kMaxCycles, true},
    {"asked_copy_line_cycles", &LevelDesc::asked_copy_millicycles, true, 1, kMaxCycles, true},
    {"asked_by_leaves_line_cycles", &LevelDesc::asked_by_leaves_millicycles, true, 1, kMaxCycles,
     true},
    {"asked_view_line_cycles", &LevelDesc::asked_view_millicycles, true, 1, kMaxCycles, true},
    {"asked_panel_line_cycles", &LevelDesc::asked_panel_millicycles, true, 1, kMaxCycles, true},
    {"asked_row_cycles", &LevelDesc::asked_row_millicycles, true, 1, kMaxCycles, true},
    {"prefetch_to", &LevelDesc::prefetch_to, false, kL1, kL2, true},
    {"shared_line_cycles", &LevelDesc::shared_line_millicycles, true, 1, kMaxCycles},
    {"latency_cycles", &LevelDesc::latency_millicycles, true, 1, kMaxCycles},
};

std::span<const MachineField<Machine>> machine_fields() { return kMachineFields; }
std::span<const MachineField<Pipes>> pipe_fields() { return kPipeFields; }
std::span<const MachineField<Machine>> core_fields() { return kCoreFields; }
std::span<const MachineField<LevelDesc>> level_fields(Level l) {
  const std::span<const MachineField<LevelDesc>> all = kLevelFields;
  return l == kMemory ? all.subspan(2) : all;
}

std::string_view level_name(Level l) {
  static constexpr std::string_view kNames[kLevels] = {"reg", "L1", "L2", "L3", "mem"};
  MORELLO_CHECK(l >= 0 && l < kLevels, "level {}", l);
  return kNames[l];
}

std::string_view level_table(Level l) { return l == kMemory ? "memory" : level_name(l); }

std::string decimal(i64 thousandths) {
  std::string text = fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

template <class T>
static void print_fields(std::string& out, std::span<const MachineField<T>> fields,
                         const T& object) {
  for (const MachineField<T>& f : fields) {
    const i64 value = f.get(object);
    if (f.optional && value == 0) continue;
    out += fmt::format("{} = {}\n", f.key, f.decimals ? decimal(value) : std::to_string(value));
  }
}

std::string Machine::toml() const {
  std::string out = "# Morello machine file; docs/machines.md explains the keys.\n";
  out += fmt::format("name = \"{}\"\nisa = \"{}\"\n", name, isa);
  print_fields(out, machine_fields(), *this);
  out += "\n[core]\n";
  print_fields(out, pipe_fields(), core);
  print_fields(out, core_fields(), *this);
  if (core512) {
    out += "\n[core512]\n";
    print_fields(out, pipe_fields(), *core512);
  }
  for (Level l = kL1; l <= kMemory; ++l) {
    out += fmt::format("\n[{}]\n", level_table(l));
    print_fields(out, level_fields(l), levels[static_cast<size_t>(l)]);
  }
  return out;
}

}  // namespace morello
