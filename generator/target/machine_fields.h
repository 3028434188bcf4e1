// The keys of a machine file as tables: parsing, printing and docs/machines.md follow them.
#pragma once

#include <span>
#include <variant>

#include "target/machine.h"

namespace morello {

// One number of a machine file. Cycles, and operations per cycle, are written with up to three
// decimals and kept in thousandths; every other number is an integer.
template <class T>
struct MachineField {
  std::string_view key;
  std::variant<int T::*, i64 T::*> member;
  bool decimals = false;
  i64 least = 0;
  i64 most = 0;           // of the stored value, so thousandths where `decimals`
  bool optional = false;  // left out, it is 0

  i64 get(const T& object) const {
    return std::visit([&](auto m) { return static_cast<i64>(object.*m); }, member);
  }
  void set(T& object, i64 value) const {
    if (const auto* narrow = std::get_if<int T::*>(&member))
      object.** narrow = static_cast<int>(value);
    if (const auto* wide = std::get_if<i64 T::*>(&member)) object.** wide = value;
  }
};

std::span<const MachineField<Machine>> machine_fields();  // top of the file, after name and isa
std::span<const MachineField<Pipes>> pipe_fields();       // [core] and [core512]
std::span<const MachineField<Machine>> core_fields();     // [core], after those
std::span<const MachineField<LevelDesc>> level_fields(Level l);  // [L1] [L2] [L3] [memory]
std::string_view level_table(Level l);                           // "L1" "L2" "L3" "memory"

// "1.067" for 1067; trailing zeros are not written.
std::string decimal(i64 thousandths);

}  // namespace morello
