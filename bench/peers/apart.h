// Parts of a comparison in processes of their own.
//
// Thread pools get in each other's way even when their turns are over: where another library's
// thread still spins when a worker is woken, that is put on its caller's processor, and stays there
// for 10 ms and more after the other one has become idle (two cores of an EPYC 9004, Linux 6.18; it
// seems that no idle processor is looked for where all were busy until now). So with more than one
// thread everybody has a process, with operands and threads of its own; the calling thread has a
// processor, and the others share what is left. Rounds go from one process to the next when its
// threads sleep, and who has no turn waits in read().
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "bench/peers/comparison.h"

namespace morello::bench {

// Makes a part of a comparison, calls what it is given with it, and needs it no more.
using Part = std::function<void(const std::function<void(const Comparison&)>&)>;

// Makes each part in a copy of this process, which must have one thread as yet, measures them in
// the same rounds and prints them as one comparison, of the first one's row. Throws
// std::runtime_error where there are no more processes, or one ended before its time.
void measure_apart(const std::vector<Part>& parts, const Rounds& how);

// Adds to a comparison what somebody computes with `Setting`: operands, and where results go.
template <class Setting>
using Party = std::function<void(const Setting&, Comparison&)>;

// make() -> Setting, with row(). By one thread all parties share a setting and a process: they read
// the same pages of memory, which differ in how well the caches hold them.
template <class Make, class Setting = std::invoke_result_t<Make>>
void measure_parties(int threads, const Make& make, const std::vector<Party<Setting>>& parties,
                     const Rounds& how) {
  const auto part = [&](std::size_t begin, std::size_t end) -> Part {
    return [&, begin, end](const std::function<void(const Comparison&)>& with) {
      const Setting setting = make();
      Comparison all(setting.row());
      for (std::size_t p = begin; p < end; ++p) parties[p](setting, all);
      with(all);
    };
  };
  std::vector<Part> parts;
  const std::size_t each = threads == 1 ? parties.size() : 1;
  for (std::size_t p = 0; p < parties.size(); p += each) parts.push_back(part(p, p + each));
  measure_apart(parts, how);
}

}  // namespace morello::bench
