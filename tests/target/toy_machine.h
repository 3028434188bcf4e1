// A machine file that is read as it stands.
#pragma once

#include <string_view>

namespace morello::test {

inline constexpr std::string_view kToyMachine =
    R"(# Morello machine file; docs/machines.md explains the keys.
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

}  // namespace morello::test
