// What this machine can do at best, measured: the arithmetic and the memory that a kernel is
// compared with. As tasks, to run in the same rounds as the kernels; as numbers, for a first look.
#pragma once

#include <cstddef>
#include <optional>

#include "bench/rounds.h"
#include "morello/thread_pool.h"

namespace morello::bench {

// f32 multiply-adds in registers with vectors of 256 (AVX2) or 512 bits (AVX-512), on all threads
// of the pool; `amount` counts two operations for each element. Nothing when the processor lacks
// the instruction. The pool must outlive the task.
std::optional<Task> fma_task(int vector_bits, ThreadPool& pool);

// Exact products of bytes: with vpdpbusd; without it, of all bytes by vpmaddwd and vpaddd, of u8 by
// seven bits by vpmaddubsw before them.
enum class Products { kVnni, kBytes, kSevenBits };

// The same of those; those without VNNI are AVX2's only.
std::optional<Task> dot_task(int vector_bits, Products products, ThreadPool& pool);

// Loads `bytes` bytes (rounded down to whole parts of 1 KiB) at `data` once, the threads of the
// pool sharing them, each with 1, 2 or 4 sequential streams of 256-bit loads. `amount` counts
// bytes. Nothing when the processor lacks AVX2.
std::optional<Task> read_task(const void* data, std::size_t bytes, int streams, ThreadPool& pool);

// Operations per second; nothing when the processor cannot.
std::optional<double> fma_peak(int vector_bits, int threads);

// Bytes per second on as many bytes, with the number of streams that is fastest here.
std::optional<double> read_bandwidth(std::size_t bytes, int threads);

}  // namespace morello::bench
