// What the generated kernel is compared with. All of these compute columns [begin, end) of
// y = x * w with bf16 inputs and f32 sums, so that threads can share the columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace yardstick {

constexpr std::size_t kInner = 2048;
constexpr std::size_t kColumns = 16384;

// The plain loops (plain.cc), compiled with -O3 -ffast-math -march=native. Which of the two the
// compiler makes faster depends on the machine, so both are measured.
// Weights [kInner][kColumns]: add a multiple of a row of weights to y.
void plain_by_rows(const std::uint16_t* x, const std::uint16_t* w, float* y, std::size_t begin,
                   std::size_t end);
// Weights [kColumns][kInner]: one dot product for each output.
void plain_by_columns(const std::uint16_t* x, const std::uint16_t* w, float* y, std::size_t begin,
                      std::size_t end);

// The hand-written kernel (yardstick.cc). False where this processor has no AVX2 and FMA; then
// nothing below may be called.
bool supported();
constexpr std::size_t kPanel = 32;  // begin and end are multiples of twice this
// From [kInner][kColumns] to the order that expert() reads.
void pack(const std::uint16_t* w, std::uint16_t* packed);
void expert(const std::uint16_t* x, const std::uint16_t* packed, float* y, std::size_t begin,
            std::size_t end);

// Loads every byte once and computes nothing: the time in which no kernel can beat the memory.
// The bytes are read as 1, 2 or 4 streams side by side; a multiple of 1024 of them.
void read_1_stream(const void* data, std::size_t bytes);
void read_2_streams(const void* data, std::size_t bytes);
void read_4_streams(const void* data, std::size_t bytes);

}  // namespace yardstick
